"""Plans in claims and acts: what an open plan's claim lets its owner and others do, and that nobody touches what a
confirmed plan holds."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors

from jobcontract.errors import ErrorCode
from jobcontract.plans import PlanOrder
from jobcontract.states import ItemState
from jobservice.usecases import plan_reading, plans
from jobservice.usecases.call import ItemCall
from tests.usecases.desk import PAYOUTS, RELEASE_MANY, Desk, once, refused_with

pytestmark = pytest.mark.requirement("MONEY-18")

HOLD = """
with confirmed as (
    update jobs.plans set state = 'applying', confirmed_at = jobs.now(), apply_until = jobs.now() + interval '1 hour',
        signing_key = 'k', signature = 's', started_at = jobs.now()
    where id = %(plan)s returning id, apply_until
)
update jobs.items as i set held = true, fence = fence + 1, expires_at = c.apply_until
from confirmed as c where i.plan = c.id
"""


async def planned(desk: Desk, person: str = "m.ito", *, held: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """An item in an open plan of a person, or one that the plan was confirmed with; and the plan."""
    item = await desk.push()
    order = PlanOrder(command=RELEASE_MANY, items=(item["id"],))
    plan = (await plans.make(desk.service, desk.actor(person), PAYOUTS, order, once())).body
    if held:
        desk.people.connection.execute(HOLD, {"plan": plan["id"]})
    return (await desk.detail(item["id"])).item.model_dump(mode="json"), dict(plan)


async def test_an_open_plans_claim_is_neither_renewed_nor_released_nor_claimed_again_item_by_item(desk: Desk) -> None:
    item, plan = await planned(desk)
    own = (
        desk.claim("m.ito", item["id"]),
        desk.renew("m.ito", item["id"], item["fence"]),
        desk.release("m.ito", item["id"], item["fence"]),
    )
    for each in own:
        refusal = await refused_with(ErrorCode.IN_PLAN, each)
        assert f"your plan {plan['name']}" in refusal.detail
    others = await refused_with(ErrorCode.CLAIM_HELD, desk.claim("k.rao", item["id"]))
    assert f"Mina Ito until {plan['expires_at'][:10]}" in others.detail
    assert plan["name"] in others.detail
    assert (await desk.next("k.rao")).body["item"] is None


async def test_what_is_in_a_plan_does_not_count_towards_the_most_that_a_person_may_hold(desk: Desk) -> None:
    for _ in range(2):
        await planned(desk)
    one = desk.with_settings(claims_max=1)
    assert (await one.claim("m.ito", (await desk.push())["id"])).status == 200
    await refused_with(ErrorCode.CLAIMS_MAX, one.claim("m.ito", (await desk.push())["id"]))
    await refused_with(ErrorCode.CLAIMS_MAX, one.next("m.ito"))


async def test_its_owner_may_act_on_an_item_and_then_the_plan_no_longer_holds_it_as_shown(desk: Desk) -> None:
    item, plan = await planned(desk)
    noted = (await desk.act("m.ito", item, "note", text="looked")).body["item"]
    assert (noted["plan"]["id"], noted["money_version"]) == (plan["id"], 1)
    asked = (await desk.act("m.ito", noted, "ask-evidence", question="why")).body["item"]
    assert (asked["plan"]["id"], asked["money_version"]) == (plan["id"], 2)
    rejected = (await desk.act("m.ito", asked, "reject", reason="no")).body["item"]
    assert (rejected["plan"], rejected["holder"], rejected["money_version"]) == (None, None, 3)


@pytest.mark.requirement("MONEY-7")
async def test_a_push_may_change_what_an_open_plan_has_and_a_colleague_may_break_its_claim(desk: Desk) -> None:
    item, plan = await planned(desk)
    changed = await desk.change(item["key"], 1, queue=PAYOUTS, minor=5, inputs={"invoice": "INV-1"})
    assert (changed["plan"]["id"], changed["money_version"]) == (plan["id"], 2)
    broken = (await desk.take_from("k.rao", item["id"], item["fence"])).body["item"]
    assert (broken["holder"]["id"], broken["plan"], broken["fence"]) == ("k.rao", None, item["fence"] + 1)


async def test_nobody_touches_what_a_confirmed_plan_holds_its_owner_included(desk: Desk) -> None:
    item, plan = await planned(desk, held=True)
    refused = (
        desk.claim("k.rao", item["id"]),
        desk.claim("m.ito", item["id"]),
        desk.renew("m.ito", item["id"], item["fence"]),
        desk.release("m.ito", item["id"], item["fence"]),
        desk.take_from("k.rao", item["id"], item["fence"]),
        desk.act("m.ito", item, "note", text="x"),
        desk.act("k.rao", item, "reject", reason="x"),
        desk.change(item["key"], 1, queue=PAYOUTS, minor=5, inputs={"invoice": "INV-1"}),
    )
    for each in refused:
        assert plan["name"] in (await refused_with(ErrorCode.IN_PLAN, each)).detail
    order = PlanOrder(command=RELEASE_MANY, items=(item["id"],))
    await refused_with(ErrorCode.PLAN_EMPTY, plans.make(desk.service, desk.actor("k.rao"), PAYOUTS, order, once()))
    again = (await desk.detail(item["id"])).item
    assert (again.plan.held, again.fence, again.money_version) == (True, item["fence"], item["money_version"])
    assert (await desk.next("k.rao")).body["item"] is None


async def test_at_the_end_of_the_apply_window_the_item_is_free_again(desk: Desk, clock: Any) -> None:
    item, _ = await planned(desk, held=True)
    clock.advance(3_601)
    free = (await desk.detail(item["id"])).item
    assert (free.holder, free.plan) == (None, None)
    assert (await desk.next("k.rao")).body["item"]["id"] == item["id"]
    assert (None, "claim-lapsed", "done") not in desk.audited()


async def test_whatever_statement_the_api_runs_what_is_held_stays(desk: Desk, database: Any) -> None:
    item, _ = await planned(desk, held=True)
    for change in (
        "money_version = money_version + 1",
        "holder = 'k.rao'",
        "plan = null, plan_name = null, held = false",
    ):
        with pytest.raises(errors.RestrictViolation):
            async with database.transaction("acme") as transaction:
                await transaction.connection.execute(
                    f"update jobs.items set {change} where id = %s".encode(), (item["id"],)
                )


async def test_an_items_detail_tells_what_confirmed_plans_did(desk: Desk) -> None:
    item, plan = await planned(desk, held=True)
    assert (await desk.detail((await planned(desk))[0]["id"])).turns == ()
    desk.people.connection.execute(
        "update jobs.plan_items set turn = 'uncertain', sentence = 'No answer.', outward_key = 'jc-1', sent_at = jobs.now(),"
        " ended_at = jobs.now() where item = %s",
        (item["id"],),
    )
    (turn,) = (await desk.detail(item["id"])).turns
    assert (turn.plan.name, turn.owner.id, turn.turn, turn.sentence) == (
        plan["name"],
        "m.ito",
        "uncertain",
        "No answer.",
    )
    desk.people.connection.execute("update jobs.items set expires_at = '9999-12-31' where id = %s", (item["id"],))
    other = await desk.push()
    order = PlanOrder(command=RELEASE_MANY, items=(item["id"], other["id"]))
    made = (await plans.make(desk.service, desk.actor("k.rao"), PAYOUTS, order, once())).body
    page, _ = await plan_reading.plan_exclusions(desk.service, desk.actor("k.rao"), made["id"], limit=10)
    assert "a person has to say first whether it was paid" in page.items[0].sentence


async def test_a_use_case_never_closes_an_item_as_released() -> None:
    with pytest.raises(ValueError, match="rejected or resolved"):
        await ItemCall.close(None, ItemState.RELEASED)  # type: ignore[arg-type]  # refused before it looks at anything
