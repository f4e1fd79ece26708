"""Stops: who may hold work still and let it go on, what each holds and what not, and that nothing passes one that stands."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from jobcontract.errors import ErrorCode
from jobcontract.operating import StopScope
from jobcontract.stops import LiftOrder, StopOrder
from jobservice.rules.job_kinds import PLAN_APPLY
from jobservice.store import stops as stop_rows
from jobservice.usecases import money as switch
from jobservice.usecases import queues, stops
from jobservice.usecases.idempotency import Answered
from tests.usecases.desk import DISPUTES, PAYOUTS, RELEASE_MANY, once, refused_with
from tests.usecases.job_hand import FILE, KINDS, PLAIN
from tests.usecases.money_desk import WRONG, MoneyDesk

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")

QUEUE, COMMAND, KIND, TENANT = StopScope.QUEUE, StopScope.BULK_COMMAND, StopScope.JOB_KIND, StopScope.TENANT
NAMES = {QUEUE: PAYOUTS, COMMAND: RELEASE_MANY, KIND: FILE, TENANT: "acme"}
HOLD_MONEY = (COMMAND, KIND)


@pytest.fixture
def money(money: MoneyDesk) -> MoneyDesk:
    """The desk of money, whose records know kinds of jobs too."""
    kinds = {**money.service.records.job_kinds, **KINDS}
    return replace(money, service=replace(money.service, records=replace(money.service.records, job_kinds=kinds)))


async def stop(desk: MoneyDesk, scope: StopScope, person: str = "o.lind", *, name: str = "", **more: Any) -> Answered:
    order = StopOrder(scope=scope, name=name or NAMES[scope], reason=more.pop("reason", "Odd payouts"))
    return await stops.stop(desk.service, desk.actor(person), order, more.pop("request", None) or once())


async def lift(desk: MoneyDesk, scope: StopScope, person: str = "o.lind", *, code: str | None = None) -> Answered:
    order = LiftOrder(scope=scope, name=NAMES[scope], reason="All well", code=None if code is None else SecretStr(code))
    return await stops.lift(desk.service, desk.actor(person), order, once())


def in_force(desk: MoneyDesk) -> list[tuple[Any, ...]]:
    return desk.rows("select scope, name, by, reason from jobs.stops order by scope, name")


@pytest.mark.parametrize("scope", list(StopScope))
@pytest.mark.parametrize(
    ("person", "may"),
    [
        ("o.lind", True),
        ("m.ito", True),
        ("s.bell", False),
        ("s.audit", False),
        ("p.push", False),
        ("a.admin", False),
    ],
)
async def test_each_role_stops_or_is_refused(money: MoneyDesk, scope: StopScope, person: str, may: bool) -> None:
    if not may:
        await refused_with(ErrorCode.PERMISSION_MISSING, stop(money, scope, person))
        assert in_force(money) == []
        await stop(money, scope)
        await refused_with(ErrorCode.PERMISSION_MISSING, lift(money, scope, person))
        assert len(in_force(money)) == 1
        return
    answered = await stop(money, scope, person)
    assert in_force(money) == [(scope.value, NAMES[scope], person, "Odd payouts")]
    (shown,) = answered.body["stops"]
    assert (shown["by"]["id"], shown["reason"], shown["lifted_by_code"]) == (person, "Odd payouts", scope in HOLD_MONEY)
    assert money.audited()[-1] == (person, "stop-work", "done")
    told = money.rows("select person from jobs.notices where kind = 'work-stopped' order by 1")
    assert told == [("k.rao",), ("m.ito",), ("o.lind",)]


async def test_who_reads_sees_every_stop_and_a_queue_says_that_it_is_stopped(money: MoneyDesk) -> None:
    await stop(money, QUEUE)
    for person in ("m.ito", "o.lind", "s.bell", "s.audit", "a.admin"):
        seen = await stops.list_stops(money.service, money.actor(person))
        assert [(each.name, each.by.name, each.reason) for each in seen.stops] == [
            (PAYOUTS, "Olle Lind", "Odd payouts")
        ]
    await refused_with(ErrorCode.PERMISSION_MISSING, stops.list_stops(money.service, money.actor("p.push")))
    assert (await stops.list_stops(money.service, money.actor("g.fin"))).stops == ()
    said = {each.id: each.stopped for each in (await queues.list_queues(money.service, money.actor("m.ito"))).queues}
    assert said[DISPUTES] is None
    words = said[PAYOUTS] or ""
    assert words.startswith("Stopped by Olle Lind since ")
    assert words.endswith(" UTC: Odd payouts.")
    await stop(money, TENANT, reason="Fraud")
    everywhere = await queues.list_queues(money.service, money.actor("m.ito"))
    assert all(
        each.stopped is not None and "All work stopped by Olle Lind" in each.stopped for each in everywhere.queues
    )


@pytest.mark.parametrize("scope", [QUEUE, TENANT])
async def test_nothing_of_a_stopped_queue_is_claimed_acted_on_or_planned_and_items_come_in(
    money: MoneyDesk, scope: StopScope
) -> None:
    held = (await money.claim("m.ito", (await money.pushed(1))[0])).body["item"]
    free, of_rao = await money.pushed(2)
    theirs = (await money.claim("k.rao", of_rao)).body["item"]
    open_plan = await money.plan(await money.pushed(2))
    await stop(money, scope)
    for refused in (
        money.claim("m.ito", free),
        money.next("m.ito"),
        money.take_from("m.ito", theirs["id"], theirs["fence"]),
        money.act("m.ito", held, "reject", reason="No"),
        money.plan([free]),
    ):
        refusal = await refused_with(ErrorCode.WORK_STOPPED, refused)
        assert "Olle Lind: Odd payouts." in refusal.detail
        assert refusal.extra["stop"]["scope"] == scope.value  # type: ignore[index]  # members of JSON
    expected = ErrorCode.WORK_STOPPED if scope is QUEUE else ErrorCode.MONEY_STOPPED
    await refused_with(expected, money.confirm(open_plan))
    assert money.rows("select count(*) from jobs.acts") == [(0,)]
    await money.pushed(1)
    renewed = (await money.renew("m.ito", held["id"], held["fence"])).body["item"]
    await money.release("m.ito", held["id"], renewed["fence"])
    if scope is QUEUE:
        other = await money.push(DISPUTES)
        await money.claim("m.ito", other["id"])
    await lift(money, scope)
    await money.claim("m.ito", free)


@pytest.mark.requirement("MONEY-20")
async def test_no_plan_of_a_stopped_command_is_made_confirmed_or_resumed(money: MoneyDesk) -> None:
    paused = await money.confirmed(1)
    await money.pause(paused)
    open_plan = await money.plan(await money.pushed(1))
    (free,) = await money.pushed(1)
    await stop(money, COMMAND)
    await refused_with(ErrorCode.WORK_STOPPED, money.plan([free]))
    await refused_with(ErrorCode.WORK_STOPPED, money.confirm(open_plan, code=money.code(steps=1)))
    await refused_with(ErrorCode.WORK_STOPPED, money.resume(paused))
    assert money.rows("select state from jobs.plans order by made_at") == [("paused",), ("open",)]
    await money.claim("m.ito", free)
    assert not money.rows("select 1 from jobs.money_switches where stopped")


@pytest.mark.requirement("MONEY-20")
@pytest.mark.parametrize("scope", HOLD_MONEY)
async def test_what_holds_money_goes_on_by_the_code_of_another_person_in_finance(
    money: MoneyDesk, scope: StopScope
) -> None:
    await stop(money, scope, "m.ito")
    await refused_with(ErrorCode.PERMISSION_MISSING, lift(money, scope, "o.lind", code=WRONG))
    own = await refused_with(ErrorCode.PERMISSION_MISSING, lift(money, scope, "m.ito", code=money.code("m.ito")))
    assert "another person in finance" in own.detail
    assert money.spent("m.ito") == 0, "a code is not judged for what its person may not do"
    await refused_with(ErrorCode.WORK_STOPPED, lift(money, scope, "k.rao"))
    await refused_with(ErrorCode.CODE_WRONG, lift(money, scope, "k.rao", code=WRONG))
    assert len(in_force(money)) == 1
    answered = await lift(money, scope, "k.rao", code=money.code("k.rao"))
    assert answered.body["stops"] == []
    assert in_force(money) == []
    ((detail,),) = money.rows("select detail from jobs.audit where action = 'lift-stop' and outcome = 'done'")
    assert (detail["stopped_by"], detail["stopped_for"], detail["reason"]) == ("m.ito", "Odd payouts", "All well")
    again = await lift(money, scope, "k.rao", code=WRONG)
    assert again.status == 200, "nothing is held: nothing is done, and no code is judged"


async def test_a_kind_that_moves_no_money_goes_on_without_a_code(money: MoneyDesk) -> None:
    (shown,) = (await stop(money, KIND, name=PLAIN)).body["stops"]
    assert (shown["title"], shown["lifted_by_code"]) == ("Plain", False)
    order = LiftOrder(scope=KIND, name=PLAIN, reason="All well")
    answered = await stops.lift(money.service, money.actor("o.lind"), order, once())
    assert answered.body["stops"] == []
    # What the records do not have any more may have moved money.
    money.people.connection.execute(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'job-kind', 't.gone', 'm.ito', 'So')"
    )
    gone = LiftOrder(scope=KIND, name="t.gone", reason="All well")
    await refused_with(ErrorCode.PERMISSION_MISSING, stops.lift(money.service, money.actor("o.lind"), gone, once()))


@pytest.mark.requirement("MONEY-20")
async def test_a_stop_of_all_work_stops_money_too_and_lifting_it_starts_no_money(money: MoneyDesk) -> None:
    await stop(money, TENANT, reason="Fraud")
    stopped = (await switch.money(money.service, money.actor("m.ito"))).stopped
    assert stopped is not None
    assert (stopped.by.id if stopped.by else None, stopped.reason) == ("o.lind", "Fraud")
    await lift(money, TENANT)
    assert in_force(money) == []
    assert (await switch.money(money.service, money.actor("m.ito"))).stopped is not None
    assert (await switch.money(money.service, money.actor("g.fin"))).stopped is None


async def test_a_stop_that_stands_stays_as_it_is_and_money_that_was_stopped_keeps_its_reason(money: MoneyDesk) -> None:
    await money.stop("m.ito", reason="First")
    await stop(money, TENANT, reason="Second")
    await stop(money, TENANT, "k.rao", reason="Third")
    assert in_force(money) == [("tenant", "acme", "o.lind", "Second")]
    assert money.rows("select by, reason from jobs.money_switches where stopped") == [("m.ito", "First")]
    assert money.rows("select count(*) from jobs.audit where action = 'stop-work'") == [(1,)]


async def test_a_stop_stands_after_whoever_made_it_left(money: MoneyDesk) -> None:
    (free,) = await money.pushed(1)
    await stop(money, QUEUE)
    money.people.connection.execute("delete from jobs.memberships where person = 'o.lind'")
    for refused in (money.claim("m.ito", free), money.next("m.ito")):
        assert "by o.lind: Odd payouts" in (await refused_with(ErrorCode.WORK_STOPPED, refused)).detail
    seen = await stops.list_stops(money.service, money.actor("m.ito"))
    assert [(each.name, each.by.name) for each in seen.stops] == [(PAYOUTS, "o.lind")]
    await lift(money, QUEUE, "m.ito")
    await money.claim("m.ito", free)


@pytest.mark.parametrize(
    ("scope", "name"), [(QUEUE, "t.nosuch"), (COMMAND, PAYOUTS), (KIND, PLAN_APPLY), (TENANT, "globex")]
)
async def test_what_there_is_not_is_not_stopped(money: MoneyDesk, scope: StopScope, name: str) -> None:
    await refused_with(ErrorCode.NOT_FOUND, stop(money, scope, name=name))
    assert in_force(money) == []


@pytest.mark.parametrize("act", ["claim", "next"])
async def test_whoever_stops_waits_for_what_has_read_that_it_may_go_on(money: MoneyDesk, act: str) -> None:
    first, _ = await money.pushed(2)
    with money.people.connection.transaction():
        if act == "claim":  # it has the stop's lock, and waits for the item
            money.people.connection.execute("select 1 from jobs.items where id = %s for update", (first,))
        else:  # it has the lock, and waits for whoever counts the person's claims
            money.people.connection.execute(
                "select pg_advisory_xact_lock(hashtextextended(jsonb_build_array('acme', 'm.ito')::text, 6))"
            )
        claiming = asyncio.create_task(money.claim("m.ito", first) if act == "claim" else money.next("m.ito"))
        await waiting(money, 1)
        stopping = asyncio.create_task(stop(money, QUEUE))
        await waiting(money, 2)
        assert not stopping.done()
        assert in_force(money) == []
    assert (await claiming).body["item"]["holder"]["id"] == "m.ito"
    await stopping
    await refused_with(ErrorCode.WORK_STOPPED, money.next("m.ito"))


async def waiting(desk: MoneyDesk, many: int) -> None:
    """Until so many sessions wait for a lock."""
    question = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    async with asyncio.timeout(5):
        while desk.rows("select pg_stat_clear_snapshot()") and desk.rows(question) != [(many,)]:  # noqa: ASYNC110  # a row of the server
            await asyncio.sleep(0.01)


async def test_the_acting_statements_themselves_refuse(money: MoneyDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    held = (await money.claim("m.ito", (await money.pushed(1))[0])).body["item"]
    (free,) = await money.pushed(1)
    open_plan = await money.plan(await money.pushed(1))
    await stop(money, QUEUE)
    in_force_before = stop_rows.in_force

    async def overlooked(transaction: Any, **asked: Any) -> Any:
        return None, (await in_force_before(transaction, **asked))[1]

    monkeypatch.setattr(stop_rows, "in_force", overlooked)
    await refused_with(ErrorCode.CLAIM_LOST, money.claim("m.ito", free))
    await refused_with(ErrorCode.CLAIM_LOST, money.act("m.ito", held, "reject", reason="No"))
    await refused_with(ErrorCode.PLAN_EMPTY, money.plan([free]))
    with pytest.raises(RuntimeError, match="no longer as it was locked"):
        await money.confirm(open_plan)
    assert money.rows("select state from jobs.plans") == [("open",)]
