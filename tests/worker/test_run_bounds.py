"""Bounds of a run: its duration, a person's cancel, a stopping Worker; and handlers that do not let themselves be ended."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.application import JobCall, JobItem, NewWorkItem, Outcome, done
from jobservice.worker.leased_work import Why
from jobservice.worker.run_ending import Counts, Ending, RunLost
from tests.usecases.desk import NOTES
from tests.worker.runs_stage import AT, HOUR, ITSELF, RunStage, cancel, keys, push_note, selection_of

HANGS = "item-03"


class Handlers:
    """Handlers of one item that do not end by themselves."""

    def __init__(self) -> None:
        self.inside = asyncio.Event()
        self.let_go = asyncio.Event()
        self.after: list[str] = []
        """What a handler met when it wanted to go on after it was left behind."""

    async def waits(self, call: JobCall, item: JobItem) -> Outcome:
        """Waits for ever."""
        if item.key in (HANGS, "itself"):
            await call.push(NOTES, NewWorkItem(key="hung", title="t"))
            self.inside.set()
            await call.wait(86_400)
        return await push_note(call, item)

    async def swallows(self, call: JobCall, item: JobItem) -> Outcome:
        """Swallows every cancellation, and goes on when it is let go."""
        if item.key in (HANGS, "itself"):
            await call.push(NOTES, NewWorkItem(key="hung", title="t"))
            self.inside.set()
            while not self.let_go.is_set():
                try:
                    await self.let_go.wait()
                except asyncio.CancelledError:
                    continue
            try:
                await call.push(NOTES, NewWorkItem(key="late", title="t"))
            except BaseException as error:
                self.after.append(type(error).__name__)
        return await push_note(call, item)


@pytest.fixture
def handlers() -> Handlers:
    """Handlers of this test's loop."""
    return Handlers()


async def settled(runs: RunStage, handlers: Handlers) -> None:
    """Let what was left behind go, and see that it ends and that the pool is whole."""
    handlers.let_go.set()
    async with asyncio.timeout(5):
        while runs.room.left_behind:
            await asyncio.wait(tuple(runs.room.left_behind))
    assert runs.room.places._value == runs.room.most


@pytest.mark.requirement("bound-job-duration")
@pytest.mark.parametrize("kind", ["waits", "swallows"])
async def test_a_handler_that_does_not_end_is_ended_at_the_bound_and_others_go_on(
    runs: RunStage, handlers: Handlers, kind: str
) -> None:
    runs.function = getattr(handlers, kind)
    occurrence, other = runs.due(), runs.due(at=AT + HOUR)
    lease, taken = runs.claim(occurrence)
    began = time.monotonic()
    hung = asyncio.create_task(runs.runner(bound_seconds=1.0).run(lease, taken))
    await handlers.inside.wait()
    assert lease.bound is not None
    assert 0 < lease.bound - began <= 2.0, "the watchdog can read it"
    runs.function = push_note
    assert (await runs.attempt(other)).counts == Counts(done=7)
    ending = await hung
    assert time.monotonic() - began < 4.0
    assert (ending.attempt, ending.state, ending.retry_after) == (
        AttemptEnding.OVER_BOUND,
        OccurrenceState.SCHEDULED,
        10.0,
    )
    cut = " It did not end when it was told to, and was cut off." if kind == "swallows" else ""
    assert ending.error == f"It ran longer than its bound of 1 s.{cut}"
    runs.settle(occurrence, ending)
    assert len(runs.room.left_behind) >= (1 if kind == "swallows" else 0)
    await settled(runs, handlers)
    assert handlers.after == ([] if kind == "waits" else ["OperationalError"]), "its connection is gone"
    assert runs.rows("select 1 from jobs.items where business_key in ('hung', 'late')") == []
    outcomes = list(runs.items(occurrence).values())
    assert runs.items(occurrence)[HANGS] is None
    assert ending.counts == Counts(done=outcomes.count("done"), unfinished=outcomes.count(None))
    assert ending.counts.done >= 2, "what was committed stays"
    ending = await runs.attempt(occurrence)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=7))
    assert runs.notes() == sorted(keys(7) * 2)


@pytest.mark.requirement("bound-job-duration")
async def test_at_the_last_attempt_it_is_a_dead_letter_that_says_so(runs: RunStage, handlers: Handlers) -> None:
    runs.function = handlers.waits
    ending = await runs.attempt(runs.due(), bound_seconds=0.1, attempts=1)
    assert (ending.attempt, ending.state, ending.cause) == (
        AttemptEnding.OVER_BOUND,
        OccurrenceState.DEAD_LETTER,
        DeadCause.OVER_BOUND,
    )


@pytest.mark.requirement("bound-job-duration")
async def test_handlers_left_behind_take_no_room_from_others(runs: RunStage, handlers: Handlers) -> None:
    """More of them than the room has places, one after another: each gave its connection back."""
    runs.schedule = ITSELF
    runs.function = handlers.swallows
    before = runs.database.figures()["pool_size"]
    for number in range(3):
        runs.room.most, runs.room.places = 2, asyncio.Semaphore(2)
        await runs.attempt(runs.due(at=AT + number * HOUR), bound_seconds=0.05, attempts=1)
        assert runs.room.places._value == 2
    runs.function = push_note
    assert (await runs.attempt(runs.due(at=AT - HOUR))).counts == Counts(done=1)
    runs.room.most = 2
    await settled(runs, handlers)
    assert runs.database.figures()["pool_size"] <= max(before, 3)


@pytest.mark.requirement("observe-job-cancellation")
@pytest.mark.parametrize("kind", ["waits", "swallows"])
@pytest.mark.parametrize("itself", [False, True], ids=["of a selection", "itself"])
async def test_a_persons_cancel_stops_within_a_second(
    runs: RunStage, handlers: Handlers, kind: str, *, itself: bool
) -> None:
    if itself:
        runs.schedule = ITSELF
    runs.function = getattr(handlers, kind)
    occurrence = runs.due()
    attempt, lease = await runs.begun(occurrence)
    await handlers.inside.wait()
    assert await cancel(attempt, lease, Why.CANCELLED) < 1.0
    ending = attempt.result()
    assert (ending.attempt, ending.state, ending.cause) == (
        AttemptEnding.CANCELLED,
        OccurrenceState.DEAD_LETTER,
        DeadCause.CANCELLED,
    )
    assert ending.error == "A person cancelled it while it ran."
    await settled(runs, handlers)
    assert runs.rows("select 1 from jobs.items where business_key in ('hung', 'late')") == []


async def test_a_stopping_worker_hands_back_what_it_did_not_end(runs: RunStage, handlers: Handlers) -> None:
    runs.function, runs.at_once = handlers.waits, 1
    occurrence = runs.due()
    attempt, lease = await runs.begun(occurrence)
    await handlers.inside.wait()
    await cancel(attempt, lease, Why.STOPPING)
    ending = attempt.result()
    assert (ending.attempt, ending.state, ending.retry_after) == (
        AttemptEnding.HANDED_BACK,
        OccurrenceState.SCHEDULED,
        0.0,
    )
    assert (ending.counts, ending.position) == (Counts(done=2, unfinished=1), "item-03")
    assert runs.notes() == keys(2)


@pytest.mark.parametrize("why", [Why.LOST, None])
async def test_of_what_was_lost_nothing_is_settled(runs: RunStage, handlers: Handlers, why: Any) -> None:
    runs.function = handlers.waits
    attempt, lease = await runs.begun(runs.due())
    await handlers.inside.wait()
    await cancel(attempt, lease, why)
    assert attempt.cancelled()


async def test_the_one_who_settles_can_wait_after_a_cancel(runs: RunStage, handlers: Handlers) -> None:
    """The cancellation is answered with the ending: it does not come back in whatever the same task awaits next."""
    runs.function = handlers.waits
    lease, taken = runs.claim(runs.due())
    runner = runs.runner()

    async def carries() -> tuple[Ending, int]:
        ending = await runner.run(lease, taken)
        async with asyncio.timeout(1):
            await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        return ending, task.cancelling()

    carrying = asyncio.create_task(carries())
    await handlers.inside.wait()
    lease.why = Why.CANCELLED
    carrying.cancel()
    ending, cancelling = await carrying
    assert (ending.attempt, cancelling) == (AttemptEnding.CANCELLED, 0)


async def test_a_handler_that_swallows_a_cancel_and_says_done_is_not_done(runs: RunStage) -> None:
    inside = asyncio.Event()

    async def quick(call: JobCall, item: JobItem) -> Outcome:
        await push_note(call, item)
        inside.set()
        try:
            await call.wait(60)
        except asyncio.CancelledError:
            return done("as if nothing was")
        return done("never")

    runs.function, runs.selection = quick, selection_of(keys(1))
    occurrence = runs.due()
    attempt, lease = await runs.begun(occurrence)
    await inside.wait()
    await cancel(attempt, lease, Why.CANCELLED)
    assert attempt.result().counts == Counts(unfinished=1)
    assert (runs.notes(), runs.items(occurrence)) == ([], {"item-01": None})


@pytest.mark.requirement("restrict-completion-by-fencing-value")
async def test_a_run_that_finds_its_lease_lost_waits_for_no_handler_that_swallows(
    runs: RunStage, handlers: Handlers
) -> None:
    async def loses(call: JobCall, item: JobItem) -> Outcome:
        if item.key == HANGS:
            return await handlers.swallows(call, item)
        await handlers.inside.wait()
        runs.rows("update jobs.occurrences set expires_at = jobs.now() returning 1")
        return await push_note(call, item)

    runs.function, runs.selection = loses, selection_of(keys(3))
    attempt, _ = await runs.begun(runs.due())
    async with asyncio.timeout(5):
        with pytest.raises(RunLost):
            await attempt
    assert len(runs.room.left_behind) >= 1
    await settled(runs, handlers)
    assert runs.rows("select count(*) from jobs.items") == [(0,)]


@pytest.mark.requirement("tolerate-duplicate-execution", "bound-job-duration")
@pytest.mark.parametrize("ended_by", ["its bound", "a stop"])
async def test_a_run_that_is_its_own_item_and_was_broken_off_runs_again(
    runs: RunStage, handlers: Handlers, ended_by: str
) -> None:
    """It left no row of its item, for nothing of it stayed: that is not what went well without one."""
    runs.schedule, runs.function = ITSELF, handlers.waits
    occurrence = runs.due()
    attempt, lease = await runs.begun(occurrence, bound_seconds=0.1 if ended_by == "its bound" else 30.0)
    await handlers.inside.wait()
    if ended_by == "a stop":
        await cancel(attempt, lease, Why.STOPPING)
    ending = await attempt
    assert ending.counts == Counts(unfinished=1)
    runs.settle(occurrence, ending)
    runs.function = push_note
    ending = await runs.attempt(occurrence)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=1))
    assert runs.notes() == ["itself"]


@pytest.mark.requirement("restrict-completion-by-fencing-value")
async def test_a_lease_that_ends_before_the_first_effect_is_no_failure_of_the_use_case(runs: RunStage) -> None:
    async def late(call: JobCall, item: JobItem) -> Outcome:
        lease.deadline = 0.0
        return await push_note(call, item)

    runs.schedule, runs.function = ITSELF, late
    lease, taken = runs.claim(runs.due())
    with pytest.raises(RunLost):
        await runs.runner(attempts=1).run(lease, taken)
    assert [line for line in runs.logs if line["event"] == "job-failed"] == []
