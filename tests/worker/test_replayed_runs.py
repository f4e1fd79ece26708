"""Occurrences that run again: what is done stays done, what is not runs again, fences only rise, old words come too late."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.application import JobCall, JobItem, Outcome, failed, refused, retry, uncertain
from jobservice.rules.claims import Denied
from jobservice.rules.schedules import Itself
from jobservice.usecases.replays import Done, Order, discard_in, replay_in
from jobservice.worker.run_ending import Counts, RunLost
from tests.usecases.desk import RECORDS
from tests.worker.runs_stage import AT, HOUR, JOB, SECOND, RunStage, keys, push_note, selection_of

pytestmark = pytest.mark.requirement("audit-manual-replay")


def noting(called: list[str], odd: dict[str, Outcome] | None = None) -> Any:
    """A use case that writes down what it was called for, and pushes a note."""

    async def function(call: JobCall, item: JobItem) -> Outcome:
        called.append(item.key)
        outcome = await push_note(call, item)
        return (odd or {}).get(item.key, outcome)

    return function


async def again(runs: RunStage, occurrence: UUID) -> Done:
    """Have it run again, as the Worker does for a row of a recovery."""
    records = replace(RECORDS, schedules={runs.schedule.id: runs.schedule})
    async with runs.database.transaction("acme") as transaction:
        wanted = Order(occurrence=str(occurrence), person="o.lind", reason="the bank was down")
        done = await replay_in(transaction, records, "test", wanted)
    assert isinstance(done, Done)
    return done


def fences(runs: RunStage) -> tuple[int, int, int]:
    """Fence, base and attempts of the only occurrence."""
    ((found),) = runs.rows("select fence, fence_base, attempts from jobs.occurrences")
    return tuple(found)


@pytest.mark.parametrize("batch", [False, True], ids=["single", "batches"])
async def test_what_is_done_keeps_its_result_and_what_is_not_runs_again(runs: RunStage, batch: bool) -> None:
    called: list[str] = []
    odd = {"item-02": failed("Down."), "item-05": refused("Closed."), "item-06": uncertain("Who knows.", reference="r")}
    runs.schedule = replace(JOB, batch_path=batch)
    runs.function = noting(called, odd)
    occurrence = runs.due()
    ending = await runs.attempt(occurrence, attempts=1)
    assert (ending.state, ending.counts) == (OccurrenceState.DEAD_LETTER, Counts(done=4, refused=1, failed=2))
    told = await again(runs, occurrence)
    assert (told.replay, told.not_done) == (1, 3)
    called.clear()
    runs.function = noting(called)
    second = await runs.attempt(occurrence)
    assert sorted(called) == ["item-02", "item-05", "item-06"]
    assert (second.state, second.counts) == (OccurrenceState.COMPLETED, Counts(done=7))
    assert runs.notes() == keys(7)
    assert fences(runs) == (2, 1, 1)


async def test_a_replay_that_fails_uses_its_own_attempts_and_becomes_a_dead_letter_again(runs: RunStage) -> None:
    runs.function = noting([], {"item-03": retry("Down.", after_seconds=0)})
    occurrence = runs.due()
    for _ in range(2):  # two courses of two attempts
        assert (await runs.attempt(occurrence, attempts=2)).state is OccurrenceState.SCHEDULED
        last = await runs.attempt(occurrence, attempts=2)
        assert (last.state, last.cause) == (OccurrenceState.DEAD_LETTER, DeadCause.FAILED)
        assert last.counts == Counts(done=6, failed=1)
        told = await again(runs, occurrence)
    assert told.replay == 2
    assert fences(runs) == (4, 4, 0)
    runs.function = noting([])
    assert (await runs.attempt(occurrence, attempts=2)).counts == Counts(done=7)


async def test_a_run_that_is_its_own_item_runs_again_where_it_is_not_done(runs: RunStage) -> None:
    called: list[str] = []
    runs.schedule = replace(JOB, selection=Itself())
    runs.function = noting(called, {"itself": failed("Down.")})
    occurrence = runs.due()
    assert (await runs.attempt(occurrence, attempts=1)).state is OccurrenceState.DEAD_LETTER
    assert (await again(runs, occurrence)).not_done == 1
    runs.function = noting(called)
    assert (await runs.attempt(occurrence)).counts == Counts(done=1)
    assert (await again(runs, occurrence)).not_done == 0
    assert (await runs.attempt(occurrence)).counts == Counts(done=1)
    assert called == ["itself", "itself"], "what is done is not done again"


async def test_a_run_that_is_its_own_item_and_never_came_to_its_end_is_one_that_runs_again(runs: RunStage) -> None:
    runs.schedule = replace(JOB, selection=Itself())
    occurrence = runs.due()
    runs.people.connection.execute(
        "update jobs.occurrences set state = 'dead-letter', cause = 'worker-lost', ended_at = jobs.now()"
    )
    assert (await again(runs, occurrence)).not_done == 1


async def test_the_selection_goes_on_behind_what_was_selected(runs: RunStage) -> None:
    called: list[str] = []
    runs.function = noting(called)
    occurrence = runs.due()
    assert (await runs.attempt(occurrence)).counts == Counts(done=7)
    await again(runs, occurrence)
    runs.selection = selection_of(keys(9))
    called.clear()
    assert (await runs.attempt(occurrence)).counts == Counts(done=9)
    assert sorted(called) == keys(2, 8), "several run at once, in any order"


@pytest.mark.requirement("resume-driven-work-through-the-cursor")
async def test_a_cursor_is_never_moved_back_by_what_was_refused_before_it(runs: RunStage) -> None:
    called: list[str] = []
    odd: dict[str, Outcome] = {"item-02": refused("Closed."), "item-05": failed("Down.")}
    runs.schedule = replace(JOB, cursor="t.cursor")
    runs.function = noting(called, odd)
    occurrence = runs.due()
    assert (await runs.attempt(occurrence, attempts=1)).state is OccurrenceState.DEAD_LETTER
    assert (called, runs.position()) == (keys(5), "item-04")
    assert (await again(runs, occurrence)).not_done == 3  # item-06 was selected and never begun
    called.clear()
    runs.function = noting(called, {"item-05": failed("Down.")})
    assert (await runs.attempt(occurrence, attempts=1)).state is OccurrenceState.DEAD_LETTER
    assert (called, runs.position()) == (["item-02", "item-05"], "item-04")
    called.clear()
    runs.function = noting(called)
    assert (await runs.attempt(runs.due(at=AT + HOUR))).counts == Counts(done=3)
    assert (called, runs.position()) == (keys(3, 5), "item-07")


@pytest.mark.requirement("resume-driven-work-through-the-cursor")
async def test_what_another_run_went_past_meanwhile_is_refused_by_the_replay_and_not_done_twice(
    runs: RunStage,
) -> None:
    called: list[str] = []
    runs.schedule = replace(JOB, cursor="t.cursor")
    runs.function = noting(called, {"item-05": failed("Down.")})
    occurrence = runs.due()
    await runs.attempt(occurrence, attempts=1)
    runs.function = noting(called)
    assert (await runs.attempt(runs.due(at=AT + HOUR))).counts == Counts(done=3)
    await again(runs, occurrence)
    called.clear()
    ending = await runs.attempt(occurrence)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=4, refused=2))
    assert (called, runs.position()) == ([], "item-07")


@pytest.mark.requirement("restrict-completion-by-fencing-value", "generate-monotonic-fencing-values")
async def test_a_worker_from_before_the_replay_writes_nothing_any_more(runs: RunStage) -> None:
    occurrence = runs.due()
    lease, taken = runs.claim(occurrence)
    runs.people.connection.execute(
        "update jobs.occurrences set state = 'dead-letter', cause = 'worker-lost', ended_at = jobs.now(), holder = null,"
        " taken_at = null, expires_at = null"
    )
    await again(runs, occurrence)
    second = runs.claim(occurrence, holder=lease.holder)  # the very same Worker
    assert second[1].fence > taken.fence
    with pytest.raises(RunLost):
        await runs.runner().run(lease, taken)
    assert runs.notes() == []
    assert [fence for _, fence in runs.refusals()] == [taken.fence]
    assert (await runs.runner().run(*second)).attempt is AttemptEnding.COMPLETED


async def test_a_recoverys_row_says_why_it_is_not_replayed_and_writes_nothing(runs: RunStage) -> None:
    occurrence = runs.due()
    records = replace(RECORDS, schedules={runs.schedule.id: runs.schedule})
    wanted = Order(occurrence=str(occurrence), person="o.lind", reason="x", recovery=str(SECOND), version=1)
    async with runs.database.transaction("acme") as transaction:
        denied = await replay_in(transaction, records, "test", wanted)
        assert isinstance(denied, Denied)
        assert denied.kind is ErrorCode.OCCURRENCE_NOT_ENDED
    await runs.attempt(occurrence)
    ((version),) = runs.rows("select version from jobs.occurrences")[0]
    async with runs.database.transaction("acme") as transaction:
        assert isinstance(await discard_in(transaction, wanted), Denied)
        done = await replay_in(transaction, records, "test", replace(wanted, version=version))
        assert isinstance(done, Done)
    assert runs.rows("select recovery, replays from jobs.occurrences") == [(SECOND, 1)]
    assert runs.rows("select person, action, detail->>'recovery' from jobs.audit where action like '%%replay%%'") == [
        ("o.lind", "replay-occurrence", str(SECOND))
    ]
