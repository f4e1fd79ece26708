"""The run that brings payouts forward: what waits in applying plans is tried at once, by its plan, and nothing else moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.application import Outcome, OutwardOrder, retry
from jobservice.rules.schedules import Confirmed
from jobservice.store import confirmed_turns
from jobservice.store.database import Database, Transaction
from jobservice.worker.recovering import Recovering
from jobservice.worker.recovery_proof import RecoveryProof
from jobservice.worker.run_confirmed import Proof, proof_by
from jobservice.worker.run_ending import Ending, RunLost
from tests.conftest import Clock, People
from tests.usecases.desk import RELEASE_MANY
from tests.usecases.money_desk import KEYS
from tests.usecases.recovery_desk import MONEY, recovery_desk
from tests.worker.plans_stage import SECOND, Stage
from tests.worker.runs_stage import JOB, RunStage

OPENS = replace(JOB, selection=Confirmed(command=RELEASE_MANY), runs="t.release", batch_size=2)
LATER = 3_600.0
"""Seconds after which the bank asks to be called again."""
pytestmark = pytest.mark.requirement("MONEY-1")


async def says_closed(order: OutwardOrder) -> Outcome:
    """The bank has not opened yet."""
    return retry("Closed.", after_seconds=LATER)


@pytest.fixture
def opens(runs: RunStage) -> RunStage:
    """The schedule that brings payouts forward."""
    runs.schedule = OPENS
    return runs


async def waiting(stage: Stage, count: int = 1) -> dict[str, Any]:
    """A confirmed plan whose payouts all wait for an hour, in the hands of nobody."""
    plan = await stage.desk.confirmed(count)
    stage.bank.odd |= {stage.key(plan, number): says_closed for number in range(1, count + 1)}
    lease = await stage.take()
    assert lease is not None
    lease.stopping = lambda: set(stage.turns(plan)) == {"waiting"}
    await stage.carry(lease)
    assert set(stage.turns(plan)) == {"waiting"}
    stage.bank.odd.clear()
    return plan


def money(stage: Stage) -> Any:
    """All that only a plan's own turn may change, and who has the plans."""
    return (
        stage.rows("select plan, item, turn, attempts, turn_fence, sent_at from jobs.plan_items order by 1, 2"),
        stage.rows("select id, state, holder, fence, expires_at from jobs.plans order by 1"),
        stage.rows("select count(*) from jobs.releases"),
        stage.rows("select id, state, holder, fence, held, plan from jobs.items order by 1"),
    )


def due_now(stage: Stage, plan: dict[str, Any]) -> list[bool]:
    """Whether the next try of each payout is due, by number."""
    return [
        bool(due)
        for (due,) in stage.rows(
            "select try_at <= jobs.now() from jobs.plan_items where plan = %s order by number", plan
        )
    ]


def said(opens: RunStage, occurrence: UUID) -> list[tuple[str, str]]:
    """Outcome and sentence of each item of a run, in their order."""
    query = "select outcome, sentence from jobs.occurrence_items where occurrence = %s order by number"
    return [tuple(row) for row in opens.rows(query, occurrence)]


async def run(opens: RunStage, occurrence: UUID, proof: Proof | None = None) -> Ending:
    """One attempt, settled."""
    lease, taken = opens.claim(occurrence)
    runner = opens.runner()
    if proof is not None:
        runner.proof = proof
    ending = await runner.run(lease, taken)
    opens.settle(occurrence, ending)
    return ending


async def test_what_waits_is_tried_at_once_by_its_plan_and_the_run_moves_nothing(
    stage: Stage, opens: RunStage, clock: Clock
) -> None:
    plan = await waiting(stage, 3)
    clock.advance(60)  # the phone shows another code
    other = await stage.desk.confirmed(1)
    before, occurrence = money(stage), opens.due()
    opens.people.connection.execute("listen jobs_work")
    ending = await run(opens, occurrence)
    assert any(each.payload == "plans" for each in opens.people.connection.notifies(timeout=5)), "who applies is woken"
    opens.people.connection.execute("unlisten *")
    assert (ending.state, ending.counts.done) == (OccurrenceState.COMPLETED, 3)
    name = stage.plan(plan)["name"]
    assert said(opens, occurrence) == [("done", f"Brought forward: plan {name} tries it now")] * 3
    assert due_now(stage, plan) == [True, True, True]
    assert money(stage) == before
    assert stage.turns(other) == ["not-started"]
    await stage.apply(SECOND)  # an hour before its time: under its own lease, limits and signature
    assert (stage.turns(plan), stage.plan(plan)["state"]) == (["done"] * 3, "done")
    assert len(stage.rows("select 1 from jobs.releases")) == 3


async def test_a_worker_that_applies_the_plan_sees_it_without_being_told(stage: Stage, opens: RunStage) -> None:
    plan = await stage.desk.confirmed(2)
    stage.bank.odd = {stage.key(plan): says_closed}
    lease = await stage.take()
    assert lease is not None
    applying = asyncio.create_task(stage.carry(lease))
    async with asyncio.timeout(10):
        while stage.turns(plan) != ["waiting", "done"]:  # noqa: ASYNC110  # a row says it
            await asyncio.sleep(0.02)
        stage.bank.odd.clear()
        assert (await run(opens, opens.due())).counts.done == 1
        await applying
    assert stage.turns(plan) == ["done", "done"]


async def paused(stage: Stage, plan: dict[str, Any]) -> None:
    await stage.desk.pause(plan)


async def aborted(stage: Stage, plan: dict[str, Any]) -> None:
    await stage.desk.abort(plan)


async def money_stopped(stage: Stage, plan: dict[str, Any]) -> None:
    await stage.desk.stop()


async def command_stopped(stage: Stage, plan: dict[str, Any]) -> None:
    stage.change(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'bulk-command', %s, 'm.ito', 'Odd')",
        RELEASE_MANY,
    )


async def window_over(stage: Stage, plan: dict[str, Any]) -> None:
    stage.change("update jobs.plans set apply_until = jobs.now() where id = %s", plan)


async def other_command(stage: Stage, plan: dict[str, Any]) -> None:
    stage.change("update jobs.plans set command = 't.other' where id = %s", plan)


Change = Callable[[Stage, dict[str, Any]], Awaitable[None]]
LEFT: dict[Change, str] = {
    paused: "is paused: nothing of it is tried.",
    aborted: "is aborted: nothing of it is tried.",
    money_stopped: "Money is stopped: nothing is tried before somebody starts it.",
    command_stopped: "A stop holds it still: nothing is tried before that is lifted.",
    window_over: "applies is over.",
}


@pytest.mark.requirement("MONEY-20")
@pytest.mark.parametrize("change", [*LEFT, other_command])
async def test_what_no_plan_may_try_now_is_not_selected(stage: Stage, opens: RunStage, change: Change) -> None:
    plan = await waiting(stage)
    await change(stage, plan)
    before, occurrence = money(stage), opens.due()
    ending = await run(opens, occurrence)
    assert (ending.state, said(opens, occurrence)) == (OccurrenceState.COMPLETED, [])
    assert due_now(stage, plan) in ([False], [None])
    assert money(stage) == before


async def had_its_turn(stage: Stage, plan: dict[str, Any]) -> None:
    stage.change("update jobs.plan_items set turn = 'done', ended_at = jobs.now() where plan = %s", plan)


@pytest.mark.requirement("MONEY-20")
@pytest.mark.parametrize(("change", "sentence"), [*LEFT.items(), (had_its_turn, "meanwhile: done.")])
async def test_what_changed_since_it_was_selected_is_refused_and_left(
    stage: Stage, opens: RunStage, monkeypatch: pytest.MonkeyPatch, change: Change, sentence: str
) -> None:
    plan, locked = await waiting(stage), confirmed_turns.lock
    before: list[Any] = []

    async def lock(transaction: Transaction, of: UUID, number: int) -> bool:
        await change(stage, plan)
        before.append((money(stage), due_now(stage, plan)))
        return await locked(transaction, of, number)

    monkeypatch.setattr(confirmed_turns, "lock", lock)
    occurrence = opens.due()
    ending = await run(opens, occurrence)
    ((outcome, told),) = said(opens, occurrence)
    assert (outcome, ending.counts.refused) == ("refused", 1)
    assert told.endswith(sentence)
    assert (money(stage), due_now(stage, plan)) == before[0]


async def test_plans_of_another_tenant_are_not_brought_forward(stage: Stage, opens: RunStage) -> None:
    plan = await waiting(stage)
    ending = await run(opens, opens.due(tenant="globex"))
    assert (ending.state, ending.counts.done) == (OccurrenceState.COMPLETED, 0)
    assert due_now(stage, plan) == [False]


async def test_a_lost_lease_brings_nothing_forward(
    stage: Stage, opens: RunStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, locked = await waiting(stage), confirmed_turns.lock
    occurrence = opens.due()

    async def lock(transaction: Transaction, of: UUID, number: int) -> bool:
        stage.change("update jobs.occurrences set fence = fence + 1")
        return await locked(transaction, of, number)

    monkeypatch.setattr(confirmed_turns, "lock", lock)
    with pytest.raises(RunLost):
        await run(opens, occurrence)
    assert due_now(stage, plan) == [False]
    assert opens.refusals() == [("item", 1)]


async def test_a_payout_that_waits_again_within_a_run_is_not_tried_over_and_over(
    stage: Stage, opens: RunStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, forward, tried = await waiting(stage, 3), confirmed_turns.forward, []

    async def and_closed_again(*given: Any) -> str | None:
        tried.append(given[-1])
        name = await forward(*given)
        await given[0].connection.execute(
            "update jobs.plan_items set try_at = jobs.now() + interval '1 hour' where plan = %s and number = %s",
            given[-2:],
        )
        return name

    monkeypatch.setattr(confirmed_turns, "forward", and_closed_again)
    ending = await run(opens, opens.due())
    assert (ending.counts.done, sorted(tried)) == (3, [1, 2, 3])
    assert due_now(stage, plan) == [False] * 3


RECOVERY = UUID(int=5)


def asked_again(opens: RunStage, occurrence: UUID, **columns: Any) -> None:
    """The occurrence as a replay, a start by hand, or a recovery leaves it."""
    columns = {"state": "scheduled", "ended_at": None, "cause": None, "selected_all": False, **columns}
    values = ", ".join(f"{name} = %s" for name in columns)
    opens.people.connection.execute(
        f"update jobs.occurrences set {values}, fence_base = fence where id = %s", (*columns.values(), occurrence)
    )


@pytest.mark.requirement("MONEY-1", "run-manual-jobs-under-their-guard", "audit-manual-replay")
@pytest.mark.parametrize(
    "columns",
    [{"replays": 1}, {"origin": "manual"}, {"replays": 1, "recovery": RECOVERY}, {"recovery": RECOVERY}],
    ids=["replayed", "by-hand", "recovery-without-proof", "made-by-a-recovery"],
)
async def test_what_a_person_asked_for_needs_a_recovery_that_is_proven(
    stage: Stage, opens: RunStage, columns: dict[str, Any]
) -> None:
    plan, asked = await waiting(stage), []
    occurrence = opens.due()

    async def refuses(transaction: Transaction, recovery: UUID, of: UUID) -> bool:
        asked.append((recovery, of))
        return False

    before = money(stage)
    for proof in (None, refuses):  # a Worker without keys, and one whose keys do not say so
        asked_again(opens, occurrence, **columns)
        ending = await run(opens, occurrence, proof)
        assert (ending.attempt, ending.state) == (AttemptEnding.FAILED, OccurrenceState.DEAD_LETTER)
        assert ending.cause is DeadCause.UNRUNNABLE
        assert "a recovery that was confirmed with a code" in (ending.error or "")
    assert asked == ([(RECOVERY, occurrence)] if "recovery" in columns else [])
    assert (money(stage), due_now(stage, plan), said(opens, occurrence)) == (before, [False], [])
    assert [line["alarm"] for line in opens.logs if line["event"] == "money-run-unproven"] == [True, True]


@pytest.mark.requirement("audit-manual-replay")
async def test_a_proven_replay_brings_forward_anew_what_waits_again(stage: Stage, opens: RunStage) -> None:
    plan, occurrence = await waiting(stage, 2), opens.due()
    assert (await run(opens, occurrence)).counts.done == 2
    stage.change("update jobs.plan_items set try_at = jobs.now() + interval '1 hour'")
    asked_again(opens, occurrence, replays=1, recovery=RECOVERY)

    async def holds(transaction: Transaction, recovery: UUID, of: UUID) -> bool:
        return (recovery, of, transaction.tenant) == (RECOVERY, occurrence, "acme")

    ending = await run(opens, occurrence, holds)
    assert (ending.state, ending.counts.done) == (OccurrenceState.COMPLETED, 4)
    assert due_now(stage, plan) == [True, True]


TAMPERED = {
    "reason": "update jobs.recoveries set reason = 'Another reason'",
    "row": "update jobs.recovery_rows set row_version = row_version + 1",
    "signature": "update jobs.recoveries set signature = sha256('forged')",
}


@pytest.mark.requirement("MONEY-1", "MONEY-19", "audit-manual-replay")
@pytest.mark.parametrize("forged", [None, *TAMPERED])
async def test_a_morning_is_replayed_by_finance_alone_and_only_as_it_was_confirmed(
    database: Database, worker_database: Database, people: People, runs: RunStage, clock: Clock, forged: str | None
) -> None:
    desk = recovery_desk(database, people)
    desk.planned()
    stage = Stage(desk=desk.money, database=worker_database)
    runs.schedule = desk.service.records.schedules[MONEY]
    plan, occurrence = await waiting(stage), UUID(desk.dead(MONEY))
    clock.advance(60)  # the phone shows another code
    made = await desk.make(person="m.ito")
    await desk.confirm(made, "m.ito", code=desk.money.code())
    await stage.run_duty(Recovering(records=desk.service.records, deployment="test", proof=RecoveryProof(KEYS.public)))
    assert runs.rows("select replays, recovery::text, state from jobs.occurrences") == [(1, made["id"], "scheduled")]
    if forged is not None:
        stage.change(TAMPERED[forged])
    ending = await run(runs, occurrence, proof_by(RecoveryProof(KEYS.public)))
    assert ending.state is (OccurrenceState.COMPLETED if forged is None else OccurrenceState.DEAD_LETTER)
    assert due_now(stage, plan) == [forged is None]
