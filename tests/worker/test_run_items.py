"""The single path: one item a unit of work, whatever fails, is replayed, is frozen or is taken over in between."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.application import JobCall, JobItem, NewWorkItem, Outcome, done
from jobservice.store import occurrence_items
from jobservice.worker import run_items
from jobservice.worker.leased_work import Why
from jobservice.worker.run_ending import Counts, RunLost
from tests.conftest import Clock
from tests.usecases.desk import NOTES
from tests.worker.runs_stage import (
    AT,
    FIRST,
    HOUR,
    ITSELF,
    LEASE,
    SECOND,
    RunStage,
    cancel,
    keys,
    push_note,
    selection_of,
)

POISONED = "item-04"
SECRET = "password=hunter2 select * from jobs.items"


@pytest.mark.requirement("run-one-command-per-item-in-selection", "bound-job-retries")
async def test_one_poisoned_item_among_many_is_tried_alone_and_ends_the_run_as_a_dead_letter(runs: RunStage) -> None:
    called: list[tuple[str, int]] = []

    async def poisoned(call: JobCall, item: JobItem) -> Outcome:
        called.append((item.key, call.attempt))
        outcome = await push_note(call, item)
        if item.key == POISONED:
            raise RuntimeError(SECRET)
        return outcome

    runs.function = poisoned
    occurrence = runs.due()
    first = await runs.attempt(occurrence)
    assert (first.attempt, first.state, first.retry_after) == (AttemptEnding.RETRY, OccurrenceState.SCHEDULED, 10.0)
    assert first.counts == Counts(done=6, unfinished=1)
    ((logged,),) = ([each for each in runs.logs if each["event"] == "job-failed"],)
    assert first.error == (
        "1 of 7 items is to be tried again: Do it went wrong; nothing of it was done. "
        f"The Worker's log says more: {logged['reference']}."
    )
    assert (logged["item"], logged["exc_info"], logged["use_case"]) == (POISONED, True, "t.do")
    assert runs.notes() == [key for key in keys(7) if key != POISONED]
    assert sorted(called) == [(key, 1) for key in keys(7)]
    called.clear()
    second, third = await runs.attempt(occurrence), await runs.attempt(occurrence)
    assert called == [(POISONED, 2), (POISONED, 3)], "a failed item is retried without its batch"
    assert second.retry_after == 20.0
    assert (third.attempt, third.state, third.cause) == (
        AttemptEnding.FAILED,
        OccurrenceState.DEAD_LETTER,
        DeadCause.FAILED,
    )
    assert third.error is not None
    assert third.error.startswith("1 of 7 items failed: Do it went wrong;")
    assert third.counts == Counts(done=6, failed=1)
    assert runs.items(occurrence) == {**dict.fromkeys(keys(7), "done"), POISONED: "failed"}
    kept = str(runs.rows("select * from jobs.occurrence_items")) + third.error
    assert not any(word in kept for word in ("hunter2", "select *", "RuntimeError"))


@pytest.mark.parametrize("size", [1, 3, 7, 100])
@pytest.mark.requirement("run-one-command-per-item-in-selection")
async def test_a_selection_is_asked_for_batches_of_the_stated_size_to_its_end(runs: RunStage, size: int) -> None:
    asked: list[tuple[str | None, int]] = []
    plain = selection_of(keys(7))

    async def selection(selecting: Any, after: str | None, limit: int) -> Any:
        asked.append((after, limit))
        return await plain(selecting, after, limit)

    runs.selection = selection
    assert (await runs.attempt(runs.due(), batch_size=size)).counts == Counts(done=7)
    assert {limit for _, limit in asked} == {size}
    assert [after for after, _ in asked] == [None, *keys(7)[size - 1 :: size], *(["item-07"] if 7 % size else [])]
    assert runs.notes() == keys(7)


async def test_items_have_their_rows_before_any_is_begun(runs: RunStage) -> None:
    seen: list[int] = []

    async def looks(call: JobCall, item: JobItem) -> Outcome:
        seen.append(runs.rows("select count(*) from jobs.occurrence_items")[0][0])
        return done("yes")

    runs.function = looks
    await runs.attempt(runs.due())
    assert min(seen) == 3, "the whole batch of the first"


async def test_several_items_of_a_run_are_worked_on_at_once_and_no_more_than_stated(runs: RunStage) -> None:
    at_once = most = 0
    together = asyncio.Event()

    async def meets(call: JobCall, item: JobItem) -> Outcome:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if at_once == runs.at_once:
            together.set()
        await asyncio.wait_for(together.wait(), 5)
        at_once -= 1
        return done("met")

    runs.function, runs.selection = meets, selection_of(keys(12))
    assert (await runs.attempt(runs.due())).counts == Counts(done=12)
    assert most == runs.at_once


class Crash(Exception):
    """The process ends here."""


@pytest.mark.requirement("tolerate-duplicate-execution", "scope-command-idempotency-by-occurrence")
async def test_a_crash_between_effect_and_completion_has_one_accepted_effect(
    runs: RunStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of seven items, some are committed when the Worker dies; one dies with its effect made and not committed."""
    scopes: dict[str, set[str]] = {}

    async def notes_scope(call: JobCall, item: JobItem) -> Outcome:
        scopes.setdefault(item.key, set()).add(call.scope)
        return await push_note(call, item)

    runs.function, runs.at_once = notes_scope, 1
    occurrence = runs.due()
    true_end, ended = occurrence_items.end, 0

    async def dies_at_the_third(*values: Any) -> bool:
        nonlocal ended
        ended += 1
        if ended == 3:
            assert runs.notes() == keys(2), "the third is made, and nobody sees it"
            raise Crash
        written: bool = await true_end(*values)
        return written

    monkeypatch.setattr(occurrence_items, "end", dies_at_the_third)
    lease, taken = runs.claim(occurrence)
    await runs.runner().run(lease, taken)  # never settled: the process is gone
    monkeypatch.setattr(occurrence_items, "end", true_end)
    ending = await runs.attempt(occurrence, holder=SECOND)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=7))
    assert runs.notes() == keys(7)
    assert len(scopes) == 7
    assert {len(each) for each in scopes.values()} == {1}, "one scope an item, in every attempt"
    assert len(set.union(*scopes.values())) == 7


@pytest.mark.requirement("scope-command-idempotency-by-occurrence")
async def test_two_occurrences_of_one_schedule_have_scopes_of_their_own(runs: RunStage) -> None:
    runs.schedule = ITSELF
    for at in (AT, AT + HOUR):
        await runs.attempt(runs.due(at=at))
    await runs.attempt(runs.due(tenant="globex"))
    found = runs.rows("select business_key from jobs.items order by 1")
    assert [key for (key,) in found] == [
        "acme t.job@2026-03-04T01:30:00.000000Z itself",
        "acme t.job@2026-03-04T02:30:00.000000Z itself",
        "globex t.job@2026-03-04T01:30:00.000000Z itself",
    ]


@pytest.mark.requirement("restrict-completion-by-fencing-value")
@pytest.mark.parametrize("taker", [SECOND, FIRST], ids=["by another", "by itself"])
@pytest.mark.parametrize("itself", [False, True], ids=["of a selection", "itself"])
async def test_a_holder_that_was_frozen_in_an_item_wakes_and_is_refused_with_its_effects(
    runs: RunStage, clock: Clock, taker: UUID, *, itself: bool
) -> None:
    """Whoever took it over meanwhile, the same process too: then the fence alone tells."""
    inside, wake = asyncio.Event(), asyncio.Event()

    async def freezes(call: JobCall, item: JobItem) -> Outcome:
        await call.push(NOTES, NewWorkItem(key=f"frozen {item.key}", title="t"))
        inside.set()
        await wake.wait()
        return done("woken")

    runs.function, runs.at_once = freezes, 1
    runs.selection = selection_of(keys(1))
    if itself:
        runs.schedule = ITSELF
    occurrence = runs.due()
    frozen, lease = await runs.begun(occurrence)
    await inside.wait()
    clock.advance(LEASE + 1)
    other, taken = runs.claim(occurrence, holder=taker)
    wake.set()
    with pytest.raises(RunLost):
        await frozen
    assert (lease.lost, runs.notes(), runs.refusals()) == (True, [], [("item", 1)])
    runs.function = push_note
    ending = await runs.runner().run(other, taken)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=1))
    assert runs.notes() == ["itself" if itself else "item-01"]
    assert runs.rows("select outcome, fence from jobs.occurrence_items") == [("done", 2)]


@pytest.mark.requirement("restrict-completion-by-fencing-value")
@pytest.mark.parametrize("itself", [False, True], ids=["of a selection", "itself"])
async def test_a_lease_that_ran_out_and_that_nobody_took_writes_nothing_either(
    runs: RunStage, clock: Clock, *, itself: bool
) -> None:
    async def late(call: JobCall, item: JobItem) -> Outcome:
        clock.advance(LEASE + 1)
        return await push_note(call, item)

    runs.function, runs.at_once = late, 1
    if itself:
        runs.schedule = ITSELF
    occurrence = runs.due()
    lease, taken = runs.claim(occurrence)
    with pytest.raises(RunLost):
        await runs.runner().run(lease, taken)
    assert (runs.notes(), runs.refusals()) == ([], [("item", 1)])
    assert set(runs.items(occurrence).values()) == (set() if itself else {None})


async def test_nothing_begins_past_the_deadline_of_the_lease(runs: RunStage) -> None:
    occurrence = runs.due()
    lease, taken = runs.claim(occurrence)
    lease.deadline = 0.0
    with pytest.raises(RunLost):
        await runs.runner().run(lease, taken)
    assert runs.items(occurrence) == {}


@pytest.mark.requirement("restrict-completion-by-fencing-value")
@pytest.mark.parametrize("itself", [False, True], ids=["of a selection", "itself"])
async def test_a_row_that_a_frozen_worker_has_locked_does_not_hang_the_run(
    runs: RunStage, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, itself: bool
) -> None:
    """The others go on; the one is left for the next attempt, and is run once its lock is gone. No attempt is used up
    on it: it was the last one."""
    monkeypatch.setattr(run_items, "BUSY_PAUSES", (0.01, 0.01))
    inside = asyncio.Event()

    async def freezes(call: JobCall, item: JobItem) -> Outcome:
        await push_note(call, item)
        inside.set()
        await asyncio.Event().wait()
        return done("never")

    runs.function, runs.at_once = freezes, 1
    if itself:
        runs.schedule = ITSELF
    occurrence = runs.due()
    frozen, lease = await runs.begun(occurrence)
    await inside.wait()
    clock.advance(LEASE + 1)
    runs.function = push_note
    async with asyncio.timeout(5):  # sooner than the database would end a statement that waits
        ending = await runs.attempt(occurrence, holder=SECOND, attempts=2)
    rest = [] if itself else keys(6, 2)
    assert (ending.attempt, ending.counts) == (AttemptEnding.HANDED_BACK, Counts(done=len(rest), unfinished=1))
    assert (ending.retry_after, runs.notes()) == (20.0, rest)
    assert ending.error is not None
    assert "Another Worker was in the middle of it" in ending.error
    await cancel(frozen, lease, Why.LOST)
    ending = await runs.attempt(occurrence, holder=SECOND)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=len(rest) + 1))
    assert runs.notes() == (["itself"] if itself else keys(7))


@pytest.mark.requirement("tolerate-duplicate-execution")
@pytest.mark.parametrize("it_was", ["left", "done"])
async def test_a_row_whose_lock_goes_away_is_looked_at_in_the_same_attempt(
    runs: RunStage, database_url: Any, monkeypatch: pytest.MonkeyPatch, it_was: str
) -> None:
    """Run where it was left, and counted where the other one ended it."""
    occurrence = runs.due()
    lease, taken = runs.claim(occurrence)
    with psycopg.connect(database_url("jobs_owner")) as other:

        async def locks(call: JobCall, item: JobItem) -> Outcome:
            if item.key == "item-01":
                other.execute(
                    "update jobs.occurrence_items set outcome = 'done', ended_at = jobs.now() where key = 'item-03'"
                )
            return await push_note(call, item)

        true_sleep = asyncio.sleep

        async def frees(seconds: float) -> None:
            other.commit() if it_was == "done" else other.rollback()
            await true_sleep(0)

        monkeypatch.setattr(asyncio, "sleep", frees)
        runs.function, runs.at_once = locks, 1
        ending = await runs.runner().run(lease, taken)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=7))
    assert runs.notes() == [key for key in keys(7) if it_was == "left" or key != "item-03"]


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit()])
async def test_nothing_that_a_use_case_raises_ends_the_worker(runs: RunStage, raised: BaseException) -> None:
    async def ends_everything(call: JobCall, item: JobItem) -> Outcome:
        await push_note(call, item)
        if item.key == POISONED:
            raise raised
        return done("yes")

    runs.function = ends_everything
    occurrence = runs.due()
    ending = await runs.attempt(occurrence)
    assert ending.counts == Counts(done=6, unfinished=1)
    assert runs.items(occurrence)[POISONED] is None
    assert runs.notes() == [key for key in keys(7) if key != POISONED]


@pytest.mark.parametrize("returned", [None, "done", True, done])
async def test_what_is_no_outcome_is_a_failure(runs: RunStage, returned: Any) -> None:
    async def odd(call: JobCall, item: JobItem) -> Any:
        await push_note(call, item)
        return returned

    runs.schedule, runs.function = ITSELF, odd
    ending = await runs.attempt(runs.due(), attempts=1)
    assert (ending.state, ending.counts) == (OccurrenceState.DEAD_LETTER, Counts(failed=1))
    assert ending.error is not None
    assert "and no outcome" in ending.error
    assert runs.notes() == []


async def test_a_sentence_that_cannot_be_kept_is_replaced(runs: RunStage) -> None:
    async def odd(call: JobCall, item: JobItem) -> Outcome:
        return replace(done("x"), sentence="a\x00b" if item.key == "item-01" else "y" * 9_000)

    runs.function, runs.selection = odd, selection_of(keys(2))
    await runs.attempt(runs.due())
    kept = runs.rows("select length(sentence), sentence ~ 'cannot be shown' from jobs.occurrence_items order by key")
    assert kept == [(43, True), (4_000, False)]


async def test_a_holder_of_the_wrong_name_is_refused(runs: RunStage) -> None:
    occurrence = runs.due()
    lease, taken = runs.claim(occurrence, holder=SECOND)
    lease.holder = FIRST
    with pytest.raises(RunLost):
        await runs.runner().run(lease, taken)
    assert (runs.items(occurrence), runs.refusals()) == ({}, [("item", 1)])
