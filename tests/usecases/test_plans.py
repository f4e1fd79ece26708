"""Making, changing and ending plans: what is taken, what is left out and why, whose claims these are, and until when."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from psycopg import errors

from jobcontract.errors import ErrorCode
from jobcontract.plans import DropPlan, KeepIn, PlanOrder, TakeOut
from jobcontract.states import ItemState, PlanState
from jobservice.store import plans as store
from jobservice.usecases import plan_reading, plans
from jobservice.usecases.plan_reading import AskedRows
from tests.usecases.desk import PAYOUTS, RELEASE_MANY, Desk, in_days, once, payout, refused_with

pytestmark = pytest.mark.requirement("MONEY-6")
PREVIEW = "show-a-preview-before-bulk-money-actions"
UNKNOWN = "00000000-0000-7000-8000-000000000000"


async def make(desk: Desk, person: str = "m.ito", *, request: Any = None, **what: Any) -> dict[str, Any]:
    """A plan as it is answered: of `items`, or of a `filter`, else of the whole queue."""
    order = PlanOrder(command=RELEASE_MANY, **(what or {"filter": ""}))
    return dict((await plans.make(desk.service, desk.actor(person), PAYOUTS, order, request or once())).body)


async def excluded(desk: Desk, plan: str) -> dict[str, tuple[str, str | None, str]]:
    page, _ = await plan_reading.plan_exclusions(desk.service, desk.actor("m.ito"), plan, limit=100)
    return {
        each.item: (each.reason.value, None if each.who is None else each.who.id, each.sentence) for each in page.items
    }


async def ids(desk: Desk, plan: str, person: str = "m.ito", **asked: Any) -> list[str]:
    """The items of a plan, in the order of a page."""
    page = await plan_reading.plan_items(desk.service, desk.actor(person), plan, AskedRows(**({"limit": 100} | asked)))
    return [each["item"] for each in json.loads(page.json)]


async def take_out(desk: Desk, plan: str, *items: str, person: str = "m.ito") -> dict[str, Any]:
    order = TakeOut(items=items)
    return dict((await plans.take_out(desk.service, desk.actor(person), plan, order, once())).body)


async def drop(desk: Desk, plan: str, person: str = "m.ito") -> dict[str, Any]:
    return dict((await plans.drop(desk.service, desk.actor(person), plan, DropPlan(), once())).body)


def for_open_items(desk: Desk) -> Desk:
    """The same desk, where what is run on the items of a plan is for open ones alone."""
    records = desk.service.records
    release = replace(records.use_cases["t.release"], states=frozenset({ItemState.OPEN}))
    records = replace(records, use_cases={**records.use_cases, release.id: release})
    return Desk(replace(desk.service, records=records), desk.people, desk.numbers)


@pytest.mark.requirement(PREVIEW)
@pytest.mark.requirement("MONEY-10")
@pytest.mark.requirement("MONEY-03")
async def test_a_plan_names_its_items_totals_and_largest_and_claims_every_one_for_its_owner(desk: Desk) -> None:
    items = [
        await desk.push(new=payout("K-1", 1_000)),
        await desk.push(new=payout("K-2", -300)),
        await desk.push(new=payout("K-3", 150_000, "JPY")),
    ]
    plan = await make(desk)
    sums = [(each["currency"], each["out_minor"], each["back_minor"], each["net_minor"]) for each in plan["totals"]]
    assert sums == [("GBP", 1_000, 300, 700), ("JPY", 150_000, 0, 150_000)]
    assert [(each["out_count"], each["back_count"]) for each in plan["totals"]] == [(1, 1), (1, 0)]
    assert [each["amount"]["minor"] for each in plan["largest"]] == [1_000, 150_000]
    assert (plan["count"], plan["payees"], plan["edition"], plan["state"], plan["excluded"]) == (3, 1, 1, "open", [])
    assert await ids(desk, plan["id"]) == sorted(each["id"] for each in items)
    for item in items:
        now = (await desk.detail(item["id"])).item
        assert (now.holder.id, now.plan.name, now.plan.held) == ("m.ito", plan["name"], False)
        assert (now.fence, now.money_version) == (item["fence"] + 1, item["money_version"])
        assert now.expires_at.isoformat().replace("+00:00", "Z") == plan["expires_at"]
    assert desk.audited()[-1] == ("m.ito", "make-plan", "done")
    topics = desk.people.connection.execute("select topic from jobs.hints order by id desc limit 2").fetchall()
    assert {topic for (topic,) in topics} == {"items", "plan"}


@pytest.mark.requirement(PREVIEW)
@pytest.mark.requirement("MONEY-12")
async def test_what_may_not_be_in_it_is_left_out_with_a_reason_each_and_foreign_ids_answer_as_unknown(
    desk: Desk, clock: Any
) -> None:
    desk = for_open_items(desk)
    free = await desk.push()
    mine = await desk.push()
    await desk.claim("m.ito", mine["id"])
    held = await desk.push()
    await desk.claim("k.rao", held["id"])
    lapsed = await desk.push()
    closed = await desk.push()
    taken = (await desk.claim("m.ito", closed["id"])).body["item"]
    await desk.act("m.ito", taken, "reject", reason="no")
    aside = await desk.push()
    taken = (await desk.claim("m.ito", aside["id"])).body["item"]
    until = in_days(1, (await desk.detail(aside["id"])).as_of)
    await desk.act("m.ito", taken, "set-aside", until=until, reason="later")
    dollars = await desk.push(new=payout("USD", 5, "USD"))
    planned = await desk.push()
    other = await make(desk, "k.rao", items=(planned["id"],))
    pushed, changed = await desk.push(), await desk.push()
    desk.people.connection.execute("update jobs.items set pushed_by = 'm.ito' where id = %s", (pushed["id"],))
    desk.people.connection.execute(
        "update jobs.items set amount_minor = 7, changed_by = 'm.ito' where id = %s", (changed["id"],)
    )
    desk.people.connection.execute(
        "update jobs.items set tenant = 'globex', pushed_by = 'g.push' where id = %s",
        ((foreign := await desk.push())["id"],),
    )
    elsewhere = await desk.push("t.disputes")
    every = (free, mine, held, lapsed, closed, aside, dollars, planned, pushed, changed, foreign, elsewhere)
    asked = (*(each["id"] for each in every), UNKNOWN, free["id"])
    plan = await make(desk, items=asked)
    assert await ids(desk, plan["id"]) == sorted((free["id"], mine["id"], lapsed["id"]))
    found = await excluded(desk, plan["id"])
    assert {item: (reason, who) for item, (reason, who, _) in found.items()} == {
        held["id"]: ("held", "k.rao"),
        closed["id"]: ("closed", None),
        aside["id"]: ("state-unfit", None),
        dollars["id"]: ("currency-without-limits", None),
        planned["id"]: ("in-plan", "k.rao"),
        pushed["id"]: ("pushed-by-owner", None),
        changed["id"]: ("changed-by-owner", None),
        foreign["id"]: ("unknown", None),
        elsewhere["id"]: ("unknown", None),
        UNKNOWN: ("unknown", None),
    }
    assert found[foreign["id"]][2] == found[UNKNOWN][2]
    assert found[planned["id"]][2] == f"It is in {other['name']}, a plan of Kiran Rao."
    assert "Kiran Rao until" in found[held["id"]][2]
    assert "Mina Ito pushed it" in found[pushed["id"]][2]
    assert "Release payouts has no limits for USD" in found[dollars["id"]][2]
    assert {each["reason"]: each["count"] for each in plan["excluded"]}["unknown"] == 3
    assert (await desk.detail(held["id"])).item.holder.id == "k.rao"
    endings = [(each.holder.id, each.ending) for each in (await desk.detail(mine["id"])).claims]
    assert endings == [("m.ito", "released")]


async def test_a_claim_that_lapsed_is_free_and_ends_in_the_history(desk: Desk, clock: Any) -> None:
    item = await desk.push()
    await desk.claim("k.rao", item["id"])
    clock.advance(61)
    plan = await make(desk)
    assert plan["count"] == 1
    assert [each.ending for each in (await desk.detail(item["id"])).claims] == ["lapsed"]
    assert (None, "claim-lapsed", "done") in desk.audited()


@pytest.mark.requirement("BULK-01")
async def test_a_filter_is_frozen_on_the_server_and_takes_what_it_shows_within_reach(desk: Desk) -> None:
    for number, invoice in enumerate(("INV-1", "INV-2", "INV-1")):
        await desk.push(new=payout(f"K-{number}", 100 + number, inputs={"invoice": invoice}, customer="north"))
    hidden = await desk.push(new=payout("S-1", customer="south"))
    narrowed = await make(desk, "m.ito", filter="")
    assert narrowed["count"] == 4
    await drop(desk, narrowed["id"])
    actor = desk.people.actor("k.rao", customers=("north",))
    order = PlanOrder(command=RELEASE_MANY, filter="input.invoice:INV-1")
    plan = (await plans.make(desk.service, actor, PAYOUTS, order, once())).body
    assert (plan["count"], plan["filter"], plan["excluded"]) == (2, "input.invoice:INV-1", [])
    named = PlanOrder(command=RELEASE_MANY, items=(hidden["id"],))
    refusal = await refused_with(ErrorCode.PLAN_EMPTY, plans.make(desk.service, actor, PAYOUTS, named, once()))
    assert refusal.extra["excluded"] == [{"reason": "unknown", "count": 1}]
    await refused_with(ErrorCode.FILTER_INVALID, make(desk, filter="colour:red"))


async def test_too_many_items_are_found_before_a_row_is_written(desk: Desk) -> None:
    items = [(await desk.push())["id"] for _ in range(3)]
    small = desk.with_settings(plan_max_items=2)
    for what in ({"filter": ""}, {"items": tuple(items)}):
        refusal = await refused_with(ErrorCode.PLAN_TOO_LARGE, make(small, **what))
        assert "plan.max-items" in refusal.detail
    assert "3 items" in refusal.detail
    counted = desk.people.connection.execute("select count(*) from jobs.plans").fetchone()[0]
    assert counted == 0
    assert (await make(small, items=(*items[:2], items[0])))["count"] == 2


async def test_nothing_left_names_the_reasons_and_leaves_nothing_behind(desk: Desk) -> None:
    await refused_with(ErrorCode.PLAN_EMPTY, make(desk))
    for _ in range(2):
        await desk.claim("k.rao", (await desk.push())["id"])
    refusal = await refused_with(ErrorCode.PLAN_EMPTY, make(desk))
    assert refusal.detail == "Nothing can go into the plan: 2 held by others."
    assert desk.people.connection.execute("select count(*) from jobs.plans").fetchone()[0] == 0
    assert desk.audited()[-1] == ("m.ito", "make-plan", "refused")


async def test_three_open_plans_a_person_and_expired_ones_do_not_count(desk: Desk, clock: Any) -> None:
    items = [(await desk.push())["id"] for _ in range(5)]
    for item in items[:3]:
        await make(desk, items=(item,))
    refusal = await refused_with(ErrorCode.PLANS_MAX, make(desk, items=(items[3],)))
    assert "You have 3 open plans" in refusal.detail
    await make(desk, "k.rao", items=(items[3],))
    clock.advance(901)
    again = await make(desk, items=(items[0],))
    assert again["count"] == 1
    listed = (await plan_reading.list_plans(desk.service, desk.actor("m.ito"), own=True, live=False)).plans
    assert [each.state for each in listed] == [PlanState.OPEN] + [PlanState.EXPIRED] * 3


async def test_plans_made_at_once_share_no_item_and_never_exceed_three(desk: Desk) -> None:
    items = [(await desk.push())["id"] for _ in range(8)]
    people = ("m.ito", "k.rao", "m.ito", "k.rao", "m.ito", "m.ito")
    made = await asyncio.gather(*(make(desk, each) for each in people), return_exceptions=True)
    done = [each for each in made if isinstance(each, dict)]
    assert sum(each["count"] for each in done) == len(items)
    assert len(done) == 1
    planned = desk.people.connection.execute("select count(*), count(distinct item) from jobs.plan_items").fetchone()
    assert planned == (8, 8)


@pytest.mark.requirement("HTTP-03")
async def test_the_same_key_makes_one_plan(desk: Desk) -> None:
    await desk.push()
    request = once("/plans", key="k")
    first = await make(desk, request=request)
    assert (await make(desk, request=request))["id"] == first["id"]
    assert desk.people.connection.execute("select count(*) from jobs.plans").fetchone()[0] == 1


@pytest.mark.requirement(PREVIEW)
async def test_taking_out_freezes_anew_under_the_same_name_and_gives_the_claim_back(desk: Desk, clock: Any) -> None:
    items = sorted([(await desk.push(new=payout(f"K-{n}", 100 * n)))["id"] for n in range(1, 5)])
    plan = await make(desk)
    digest = desk.people.connection.execute("select digest from jobs.plans").fetchone()[0]
    clock.advance(60)
    again = await take_out(desk, plan["id"], items[1])
    assert (again["id"], again["name"], again["edition"], again["count"]) == (plan["id"], plan["name"], 2, 3)
    assert (again["frozen_at"] > plan["frozen_at"], again["expires_at"] > plan["expires_at"]) == (True, True)
    assert again["version"] > plan["version"]
    assert (
        again["totals"][0]["out_minor"]
        == plan["totals"][0]["out_minor"] - (await desk.detail(items[1])).item.amount.minor
    )
    assert await ids(desk, plan["id"]) == [items[0], *items[2:]]
    rows = desk.people.connection.execute("select number from jobs.plan_items order by item").fetchall()
    assert [number for (number,) in rows] == [1, 2, 3]
    assert desk.people.connection.execute("select digest from jobs.plans").fetchone()[0] != digest
    out = (await desk.detail(items[1])).item
    assert (out.holder, out.plan) == (None, None)
    kept = (await desk.detail(items[0])).item
    assert kept.expires_at.isoformat().replace("+00:00", "Z") == again["expires_at"]
    assert await excluded(desk, plan["id"]) == {items[1]: ("taken-out", "m.ito", "Mina Ito took it out.")}
    await refused_with(ErrorCode.NOT_FOUND, take_out(desk, plan["id"], items[1]))
    refusal = await refused_with(ErrorCode.PLAN_EMPTY, take_out(desk, plan["id"], items[0], *items[2:]))
    assert "Drop the plan" in refusal.detail


async def test_only_its_owner_changes_a_plan_and_only_while_it_is_open(desk: Desk, clock: Any) -> None:
    items = [(await desk.push())["id"] for _ in range(2)]
    plan = await make(desk)
    await refused_with(ErrorCode.PERMISSION_MISSING, take_out(desk, plan["id"], items[0], person="k.rao"))
    await refused_with(ErrorCode.PERMISSION_MISSING, drop(desk, plan["id"], "k.rao"))
    await refused_with(ErrorCode.PERMISSION_MISSING, drop(desk, plan["id"], "o.lind"))
    await refused_with(ErrorCode.NOT_FOUND, drop(desk, UNKNOWN))
    await refused_with(ErrorCode.NOT_FOUND, drop(desk, "x"))
    clock.advance(900)
    for refused in (take_out(desk, plan["id"], items[0]), drop(desk, plan["id"])):
        assert "is expired" in (await refused_with(ErrorCode.PLAN_STATE, refused)).detail
    assert (await desk.next("k.rao")).body["item"]["id"] in items


async def test_dropping_gives_back_what_the_plan_still_holds_and_nothing_else(desk: Desk) -> None:
    items = [(await desk.push())["id"] for _ in range(3)]
    plan = await make(desk)
    fence = (await desk.detail(items[0])).item.fence
    await desk.take_from("k.rao", items[0], fence)
    broken = (await desk.detail(items[0])).item
    assert (broken.holder.id, broken.plan) == ("k.rao", None)
    dropped = await drop(desk, plan["id"])
    assert (dropped["state"], dropped["ended_by"]["id"]) == ("dropped", "m.ito")
    holders = [(await desk.detail(item)).item.holder for item in items]
    assert [each and each.id for each in holders] == ["k.rao", None, None]
    assert "is dropped" in (await refused_with(ErrorCode.PLAN_STATE, drop(desk, plan["id"]))).detail


async def test_the_service_ends_an_open_plan_under_either_role(desk: Desk, worker_database: Any) -> None:
    item = (await desk.push())["id"]
    plan = await make(desk)
    for expected in (1, 0):
        async with worker_database.transaction("acme") as transaction:
            found = await store.lock(transaction, plan["id"])
            assert found is not None
            ended = await plans.end_open(transaction, found, PlanState.EXPIRED, reason="Its time is over.", by=None)
            assert ended == expected
    shown = await plan_reading.read_plan(desk.service, desk.actor("m.ito"), plan["id"])
    assert (shown.state, shown.reason, shown.ended_by) == (PlanState.EXPIRED, "Its time is over.", None)
    assert (await desk.detail(item)).item.holder is None
    assert desk.audited()[-1] == (None, "expire-plan", "done")


@pytest.mark.requirement("MONEY-11")
async def test_a_warning_is_answered_with_a_reason_and_the_answer_stays_when_another_item_goes(desk: Desk) -> None:
    kept = await desk.push(new=payout("K-1", -300))
    gone = await desk.push(new=payout("K-2", 500))
    plan = await make(desk)

    async def answers() -> list[str | None]:
        page, _ = await plan_reading.plan_warnings(desk.service, desk.actor("m.ito"), plan["id"], limit=100)
        return [each.answer for each in page.warnings if (each.item, each.kind) == (kept["id"], "negative")]

    page, _ = await plan_reading.plan_warnings(desk.service, desk.actor("m.ito"), plan["id"], limit=100)
    warning = next(each for each in page.warnings if each.item == kept["id"] and each.kind == "negative")
    order = KeepIn(warning=warning.id, reason="A credit note")
    answered = await plans.keep_in(desk.service, desk.actor("m.ito"), plan["id"], order, once())
    assert answered.body["version"] > plan["version"]
    assert (answered.body["edition"], await answers()) == (1, ["A credit note"])
    await take_out(desk, plan["id"], gone["id"])
    assert await answers() == ["A credit note"]
    unknown = KeepIn(warning=UNKNOWN, reason="x")
    await refused_with(
        ErrorCode.NOT_FOUND, plans.keep_in(desk.service, desk.actor("m.ito"), plan["id"], unknown, once())
    )
    await refused_with(
        ErrorCode.PERMISSION_MISSING, plans.keep_in(desk.service, desk.actor("k.rao"), plan["id"], order, once())
    )


async def test_an_unknown_command_or_queue_is_named_and_who_may_not_release_makes_none(desk: Desk) -> None:
    await desk.push()
    order = PlanOrder(command="t.nothing", filter="")
    refusal = await refused_with(
        ErrorCode.NOT_FOUND, plans.make(desk.service, desk.actor("m.ito"), PAYOUTS, order, once())
    )
    assert RELEASE_MANY in refusal.detail
    order = PlanOrder(command=RELEASE_MANY, filter="")
    for queue in ("t.disputes", "t.nowhere"):
        await refused_with(ErrorCode.NOT_FOUND, plans.make(desk.service, desk.actor("m.ito"), queue, order, once()))
    for person in ("o.lind", "s.bell", "s.audit", "p.push"):
        await refused_with(ErrorCode.PERMISSION_MISSING, make(desk, person))


@pytest.mark.requirement("MONEY-12")
async def test_a_plan_has_room_for_whoever_approves_it_other_than_its_owner(desk: Desk) -> None:
    await desk.push()
    plan = await make(desk)
    write = "update jobs.plans set approved_by = %s where id = %s"
    with pytest.raises(errors.CheckViolation):
        desk.people.connection.execute(write, ("m.ito", plan["id"]))
    desk.people.connection.execute(write, ("k.rao", plan["id"]))
    shown = await plan_reading.read_plan(desk.service, desk.actor("m.ito"), plan["id"])
    assert shown.approved_by is not None
    assert shown.approved_by.name == "Kiran Rao"
