"""What is left when a Worker dies, stops or loses its lease: nobody calls twice, and whoever comes next asks."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from jobservice.application import Outcome, OutwardOrder, done, refused
from jobservice.worker.process import Pace, Worker
from tests.conftest import Clock
from tests.worker.plans_stage import LEASE, SECOND, Stage, hangs_on, loses_before
from tests.worker.test_process import until

pytestmark = pytest.mark.requirement("MONEY-3")
QUICK = Pace(beat=0.05, first_pause=0.05, longest_pause=0.4)


async def dies_in_its_call(stage: Stage, plan: dict[str, Any], *, booked: bool) -> None:
    """A Worker takes the plan and dies during the first call: nothing of it is given back."""
    made = asyncio.Event()
    stage.bank.odd = {stage.key(plan): hangs_on(made)}
    lease = await stage.take()
    assert lease is not None
    working = asyncio.create_task(stage.applying().carry(lease))
    await made.wait()
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working
    stage.bank.odd = {}
    if booked:
        stage.bank.book(stage.turn(plan)["outward_key"])


@pytest.mark.parametrize(("booked", "turn"), [(True, "done"), (False, "uncertain")])
async def test_the_next_worker_asks_what_became_of_a_call_and_goes_on(
    stage: Stage, clock: Clock, booked: bool, turn: str
) -> None:
    plan = await stage.desk.confirmed(3)
    await dies_in_its_call(stage, plan, booked=booked)
    assert stage.turns(plan) == ["running", "not-started", "not-started"]
    assert stage.item(plan)["expires_at"].startswith("9999-12-31")
    assert await stage.take(SECOND) is None, "the lease still runs"
    clock.advance(LEASE + 1)
    await stage.apply(SECOND)
    assert stage.turns(plan) == [turn, "done", "done"]
    assert len(stage.bank.calls) == len(set(stage.bank.calls)) == 3
    assert stage.plan(plan)["state"] == "done", "and it took no code"


async def test_what_the_bank_refused_meanwhile_is_refused(stage: Stage, clock: Clock) -> None:
    plan = await stage.desk.confirmed(1)
    await dies_in_its_call(stage, plan, booked=False)

    async def refuses(key: str) -> Outcome:
        return refused("No such account.")

    stage.bank.look_up = refuses  # type: ignore[method-assign]  # this bank answers otherwise
    clock.advance(LEASE + 1)
    await stage.apply(SECOND)
    assert stage.turns(plan) == ["refused"]
    assert stage.item(plan)["holder"] is None


@pytest.mark.parametrize("state", ["paused", "aborted"])
async def test_a_call_of_a_plan_that_was_stopped_meanwhile_is_asked_about_too(
    stage: Stage, clock: Clock, state: str
) -> None:
    plan = await stage.desk.confirmed(2)
    await dies_in_its_call(stage, plan, booked=True)
    await (stage.desk.pause(plan) if state == "paused" else stage.desk.abort(plan))
    clock.advance(LEASE + 1)
    await stage.apply(SECOND)
    assert stage.turns(plan) == ["done", "not-started"]
    after = stage.plan(plan)
    assert (after["state"], after["holder"]) == (state, None)
    assert (after["accounted_at"] is None) is (state == "paused")
    assert stage.counted(plan) == [("GBP", 2_000, 2) if state == "paused" else ("GBP", 1_000, 1)]


async def test_an_answer_after_the_lease_was_lost_is_evidence_and_changes_nothing(stage: Stage, clock: Clock) -> None:
    plan = await stage.desk.confirmed(1)
    asked, answer = asyncio.Event(), asyncio.Event()

    async def late(order: OutwardOrder) -> Outcome:
        asked.set()
        await answer.wait()
        return done("Paid.", reference=stage.bank.book(order.key))

    stage.bank.odd = {stage.key(plan): late}
    lease = await stage.take()
    assert lease is not None
    first = asyncio.create_task(stage.applying().carry(lease))
    await asked.wait()
    clock.advance(LEASE + 1)
    await stage.apply(SECOND)
    assert stage.turns(plan) == ["uncertain"]
    before = stage.item(plan), stage.turn(plan), stage.plan(plan)
    answer.set()
    await first
    assert (stage.item(plan), stage.turn(plan), stage.plan(plan)) == before
    kept = "select source, outcome, reference, fence from jobs.plan_evidence where plan = %s"
    assert stage.rows(kept, plan) == [("late-answer", "done", "B-1", 1)]
    assert stage.rows("select count(*) from jobs.releases") == [(0,)]
    assert not await stage.applying().give_back(lease), "it was lost"


async def test_a_worker_that_was_away_calls_nothing_under_its_old_lease(stage: Stage) -> None:
    plan = await stage.desk.confirmed(2)
    lease = await stage.take()
    assert lease is not None

    async def away(call: Any, item: Any) -> Outcome:
        lease.deadline = 0.0
        return done("Said so, and then it was stopped for a while.")

    stage.release = away
    await stage.carry(lease)
    assert stage.bank.calls == []
    assert stage.turns(plan) == ["running", "not-started"]
    stage.release = stage.applying().application.use_cases["t.note"]
    await stage.apply(SECOND)
    assert stage.turns(plan)[0] == "uncertain"


async def test_a_lost_lease_begins_nothing_more(stage: Stage, clock: Clock) -> None:
    plan = await stage.desk.confirmed(2)

    async def overtaken(order: OutwardOrder) -> Outcome:
        clock.advance(LEASE + 1)
        other = await stage.take(SECOND)
        assert other is not None
        return done("Paid.", reference=stage.bank.book(order.key))

    stage.bank.odd = {stage.key(plan): overtaken}
    lease = await stage.take()
    assert lease is not None
    await stage.applying().carry(lease)
    assert stage.turns(plan) == ["running", "not-started"]
    assert len(stage.bank.calls) == 1


async def test_two_workers_never_apply_one_plan_at_once_and_several_plans_run(stage: Stage) -> None:
    first, second = await stage.desk.confirmed(1), await stage.desk.plan(await stage.desk.pushed(1), "k.rao")
    await stage.desk.confirm(second, person="k.rao")
    taken = [await stage.take(), await stage.take(SECOND), await stage.take(SECOND)]
    assert taken[2] is None
    assert {str(lease.grant.id) for lease in taken[:2] if lease} == {first["id"], second["id"]}


async def test_a_worker_that_stops_ends_its_turns_and_gives_its_plans_back(stage: Stage) -> None:
    plan = await stage.desk.confirmed(20)
    stop = asyncio.Event()

    async def stops(order: OutwardOrder) -> Outcome:
        stop.set()
        await asyncio.sleep(0.02)
        return done("Paid.", reference=stage.bank.book(order.key))

    stage.bank.odd = {stage.key(plan, 3): stops}
    worker = Worker(database=stage.database, duties=(), leased=(stage.applying(),), stop=stop, pace=QUICK)
    await asyncio.wait_for(worker.run(), 20)
    turns = stage.turns(plan)
    assert turns.count("done") >= 3
    assert set(turns) == {"done", "not-started"}
    after = stage.plan(plan)
    assert (after["state"], after["holder"], after["expires_at"]) == ("applying", None, None)
    await stage.apply(SECOND)
    assert set(stage.turns(plan)) == {"done"}
    assert len(stage.bank.calls) == len(set(stage.bank.calls)) == 20


async def test_a_worker_renews_its_leases_while_a_call_takes_long(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)
    stop, made = asyncio.Event(), asyncio.Event()
    stage.bank.odd = {stage.key(plan): hangs_on(made)}
    stage.lease, stage.send_seconds = 0.3, 1.2
    worker = Worker(database=stage.database, duties=(), leased=(stage.applying(),), stop=stop, pace=QUICK)
    running = asyncio.create_task(worker.run())
    await made.wait()
    taken = stage.plan(plan)["expires_at"]
    await until(lambda: stage.turns(plan) == ["uncertain"])
    stop.set()
    await running
    assert stage.plan(plan)["fence"] == 1, "nobody else had it"
    assert stage.turn(plan)["ended_at"] > taken


async def test_an_unknown_call_of_a_forged_plan_is_never_called_released(stage: Stage, clock: Clock) -> None:
    plan = await stage.desk.confirmed(1)
    await dies_in_its_call(stage, plan, booked=True)
    stage.change("update jobs.plans set signature = sha256('x')")
    clock.advance(LEASE + 1)
    await stage.apply(SECOND)
    assert stage.turns(plan) == ["uncertain"]
    assert stage.bank.questions == []


async def test_a_lost_answer_with_a_silent_bank_is_uncertain_once(stage: Stage, clock: Clock) -> None:
    plan = await stage.desk.confirmed(1)
    stage.bank.odd = {stage.key(plan): loses_before}
    stage.bank.answers = False
    await stage.apply()
    clock.advance(LEASE + 1)
    assert await stage.take(SECOND) is None
    assert stage.rows("select count(*) from jobs.items where about is not null") == [(1,)]
