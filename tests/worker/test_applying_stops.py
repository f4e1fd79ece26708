"""Stops and pauses: what begins after one is nothing, what runs ends by itself, and the account adds up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import SecretStr

from jobcontract.operating import StopScope
from jobcontract.stops import LiftOrder, StopOrder
from jobservice.application import Call, Outcome, OutwardOrder, WorkItem, done
from jobservice.usecases import stops
from jobservice.worker.plan_keeper import PlanKeeper
from jobservice.worker.settling import Settling
from tests.conftest import Clock
from tests.usecases.desk import RELEASE_MANY, SETTINGS, once
from tests.worker.plans_stage import SECOND, Stage, loses_before

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")


def in_the_middle(stage: Stage, act: Any) -> Any:
    """A call during which somebody does something."""

    async def behave(order: OutwardOrder) -> Outcome:
        await act()
        return done("Paid.", reference=stage.bank.book(order.key))

    return behave


NAMES = {StopScope.BULK_COMMAND: RELEASE_MANY, StopScope.TENANT: "acme"}


async def stop_work(stage: Stage, scope: StopScope) -> None:
    """An operator holds the command, or everything, still."""
    order = StopOrder(scope=scope, name=NAMES[scope], reason="Odd")
    await stops.stop(stage.desk.service, stage.desk.actor("o.lind"), order, once())


@pytest.mark.requirement("MONEY-20")
async def test_no_item_begins_once_money_was_stopped_and_it_goes_on_without_a_code(stage: Stage) -> None:
    plan = await stage.desk.confirmed(3)
    stage.bank.odd = {stage.key(plan): in_the_middle(stage, stage.desk.stop)}
    await stage.apply()
    assert stage.turns(plan) == ["done", "not-started", "not-started"]
    assert (stage.plan(plan)["state"], stage.plan(plan)["holder"]) == ("applying", None)
    assert await stage.take() is None, "nobody takes it while money is stopped"
    await stage.desk.start("k.rao")
    await stage.apply(SECOND)
    assert stage.turns(plan) == ["done"] * 3


@pytest.mark.requirement("MONEY-20")
@pytest.mark.parametrize("scope", [StopScope.BULK_COMMAND, StopScope.TENANT])
async def test_an_applying_plan_of_what_was_stopped_waits_and_goes_on(stage: Stage, scope: StopScope) -> None:
    plan = await stage.desk.confirmed(3)
    stage.bank.odd = {stage.key(plan): in_the_middle(stage, lambda: stop_work(stage, scope))}
    await stage.apply()
    assert stage.turns(plan) == ["done", "not-started", "not-started"]
    assert (stage.plan(plan)["state"], stage.plan(plan)["holder"]) == ("applying", None)
    if scope is StopScope.TENANT:
        await stage.desk.start("k.rao")
    assert await stage.take() is None, "nobody takes it while its command is stopped"
    order = LiftOrder(scope=scope, name=NAMES[scope], reason="Well", code=SecretStr(stage.desk.code("k.rao", steps=1)))
    await stops.lift(stage.desk.service, stage.desk.actor("k.rao"), order, once())
    await stage.apply(SECOND)
    assert stage.turns(plan) == ["done"] * 3


@pytest.mark.requirement("MONEY-20")
async def test_the_statement_of_a_turn_reads_the_stop_by_itself(stage: Stage) -> None:
    plan = await stage.desk.confirmed(2)
    lease = await stage.take()
    assert lease is not None
    await stop_work(stage, StopScope.BULK_COMMAND)
    await stage.carry(lease)
    assert stage.turns(plan) == ["not-started", "not-started"]
    assert stage.bank.calls == []


@pytest.mark.requirement("MONEY-20")
async def test_a_pause_lets_what_runs_end_and_nothing_begin(stage: Stage) -> None:
    plan = await stage.desk.confirmed(3)
    stage.bank.odd = {stage.key(plan): in_the_middle(stage, lambda: stage.desk.pause(plan))}
    await stage.apply()
    assert stage.turns(plan) == ["done", "not-started", "not-started"]
    assert (stage.plan(plan)["state"], stage.plan(plan)["reason"]) == ("paused", "Odd")
    assert stage.item(plan, 2)["held"]
    await stage.desk.resume(plan)
    await stage.apply(SECOND)
    assert stage.turns(plan) == ["done"] * 3


@pytest.mark.requirement("MONEY-4", "MONEY-20")
async def test_an_abort_closes_the_account_with_what_had_no_turn(stage: Stage) -> None:
    plan = await stage.desk.confirmed(3)
    stage.bank.odd = {stage.key(plan): in_the_middle(stage, lambda: stage.desk.abort(plan))}
    await stage.apply()
    assert stage.turns(plan) == ["done", "not-started", "not-started"]
    assert stage.counted(plan) == [("GBP", 1_000, 1)]
    assert stage.item(plan, 2)["holder"] is None
    ((text,),) = stage.rows(
        "select text from jobs.notices where kind = 'plan-aborted' and person = 'm.ito' and text like '%%Planned%%'"
    )
    assert "Not started: 2 items, GBP 20.00 out" in text


@pytest.mark.requirement("MONEY-20")
@pytest.mark.parametrize("who", ["pause", "stop", "abort", "stop-command", "stop-all"])
async def test_whoever_stops_a_running_plan_does_not_wait_for_its_end(stage: Stage, who: str) -> None:
    async def slowly(call: Call, item: WorkItem) -> Outcome:
        await asyncio.sleep(0.02)
        return done("Slowly.")

    stage.release, stage.outward, stage.at_once, stage.tell = slowly, False, 4, 0.05
    plan = await stage.desk.confirmed(40)
    running = asyncio.create_task(stage.apply())
    while stage.rows("select count(*) from jobs.plan_items where turn = 'done'")[0][0] < 4:  # noqa: ASYNC110  # a row
        await asyncio.sleep(0.005)
    acts: dict[str, Any] = {
        "pause": lambda: stage.desk.pause(plan),
        "stop": stage.desk.stop,
        "stop-command": lambda: stop_work(stage, StopScope.BULK_COMMAND),
        "stop-all": lambda: stop_work(stage, StopScope.TENANT),
        "abort": lambda: stage.desk.abort(plan),
    }
    await acts[who]()
    done_then = stage.turns(plan).count("done")
    await running
    assert stage.turns(plan).count("done") == done_then, "nothing began after the answer"
    assert done_then < 40, "and the answer did not wait for the plan's end"


@pytest.mark.requirement("MONEY-5")
async def test_a_person_says_that_it_was_paid_and_the_worker_releases_it(stage: Stage) -> None:
    plan, review = await uncertain(stage)
    await stage.desk.was_paid(review)
    assert stage.turns(plan) == ["uncertain"], "the API writes no outcome"
    assert await stage.run_duty(Settling()) == {"settled": 1}
    assert stage.turns(plan) == ["done"]
    assert stage.item(plan)["state"] == "released"
    assert stage.rows("select said_by, reference, person from jobs.releases") == [("k.rao", "BANK-7", "m.ito")]
    assert stage.counted(plan) == [("GBP", 1_000, 1)]
    assert await stage.run_duty(Settling()) == {}


@pytest.mark.requirement("MONEY-5")
async def test_a_person_says_that_it_was_not_paid_and_the_item_can_be_planned_again(stage: Stage) -> None:
    plan, review = await uncertain(stage)
    await stage.desk.was_not_paid(review)
    assert await stage.run_duty(Settling()) == {"settled": 1}
    turn, item = stage.turn(plan), stage.item(plan)
    assert (turn["turn"], turn["outward_key"]) == ("failed", f"jc-{item['id']}")
    assert "not paid" in turn["sentence"]
    assert "The bank has nothing" in turn["sentence"]
    assert (item["state"], item["holder"], item["held"]) == ("open", None, False)
    assert stage.counted(plan) == [("GBP", 0, 0)]
    again = await stage.desk.plan([item["id"]])
    assert again["count"] == 1


@pytest.mark.requirement("MONEY-6")
async def test_an_open_plan_expires_and_its_items_are_free(stage: Stage, clock: Clock) -> None:
    plan = await stage.desk.plan(await stage.desk.pushed(2))
    assert await stage.run_duty(PlanKeeper()) == {}
    clock.advance(SETTINGS.plan_expiry + 1)
    assert await stage.run_duty(PlanKeeper()) == {"expired": 1}
    assert stage.plan(plan)["state"] == "expired"
    assert stage.rows("select count(*) from jobs.items where holder is not null or plan is not null") == [(0,)]


@pytest.mark.requirement("MONEY-18")
async def test_a_confirmed_plan_lapses_with_its_window(stage: Stage, clock: Clock) -> None:
    plan = await stage.desk.confirmed(2)
    lease = await stage.take()
    assert lease is not None
    lease.stopping = lambda: "done" in stage.turns(plan)
    await stage.carry(lease)
    clock.advance(SETTINGS.plan_window + 1)
    assert await stage.run_duty(PlanKeeper()) == {"lapsed": 1}
    assert stage.turns(plan) == ["done", "not-started"]
    assert (stage.item(plan, 2)["holder"], stage.item(plan, 2)["held"]) == (None, False)
    await stage.apply(SECOND)
    assert stage.plan(plan)["accounted_at"] is not None
    assert stage.counted(plan) == [("GBP", 1_000, 1)]


@pytest.mark.requirement("MONEY-18")
async def test_nothing_begins_after_the_window_even_before_the_plan_lapsed(stage: Stage, clock: Clock) -> None:
    plan = await stage.desk.confirmed(1)
    lease = await stage.take()
    assert lease is not None
    clock.advance(SETTINGS.plan_window + 1)
    await stage.carry(lease)
    assert (stage.turns(plan), stage.bank.calls) == (["not-started"], [])
    assert await stage.take() is None


@pytest.mark.requirement("MONEY-14")
async def test_an_armed_plan_begins_at_its_time(stage: Stage, clock: Clock) -> None:
    stage.desk = stage.desk.with_command(armed_above={"GBP": 1_000}, armed_seconds=60.0)
    plan = await stage.desk.confirmed(1)
    assert stage.plan(plan)["state"] == "armed"
    assert await stage.take() is None
    clock.advance(61)
    await stage.apply()
    assert stage.turns(plan) == ["done"]


async def uncertain(stage: Stage) -> tuple[dict[str, Any], dict[str, Any]]:
    """A plan whose one item is uncertain, and its review item as k.rao claimed it."""
    plan = await stage.desk.confirmed(1)
    stage.bank.odd = {stage.key(plan): loses_before}
    await stage.apply()
    ((review,),) = stage.rows("select id::text from jobs.items where about is not null")
    return plan, dict((await stage.desk.claim("k.rao", review)).body["item"])
