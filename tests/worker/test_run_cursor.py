"""Saga-driving runs: one item at a time, in order, and on behind the cursor, whatever ended the run before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.application import JobCall, JobItem, Outcome, Selecting, done, failed, refused, retry, uncertain
from jobservice.worker import run_items
from jobservice.worker.leased_work import Why
from jobservice.worker.run_ending import Counts, RunLost
from tests.conftest import Clock
from tests.worker.runs_stage import AT, HOUR, JOB, LEASE, SECOND, RunStage, cancel, keys, push_note, selection_of

DRIVING = replace(JOB, cursor="t.cursor")

pytestmark = pytest.mark.requirement("resume-driven-work-through-the-cursor")


@pytest.fixture
def driving(runs: RunStage) -> RunStage:
    """The stage with a schedule that has a cursor."""
    runs.schedule = DRIVING
    return runs


def noting(called: list[str], odd: Callable[[JobItem], Outcome | None] = lambda _: None) -> Any:
    """A use case that writes down what it was called for, and pushes a note."""

    async def function(call: JobCall, item: JobItem) -> Outcome:
        called.append(item.key)
        outcome = await push_note(call, item)
        return odd(item) or outcome

    return function


async def test_items_go_one_at_a_time_in_order_and_the_next_run_begins_behind_them(driving: RunStage) -> None:
    called: list[str] = []
    driving.function = noting(called)
    assert (await driving.attempt(driving.due())).counts == Counts(done=7)
    assert called == keys(7)
    assert driving.position() == "item-07"
    assert driving.rows("select occurrence = (select id from jobs.occurrences), fence, version from jobs.cursors") == [
        (True, 1, 7)
    ]
    called.clear()
    assert (await driving.attempt(driving.due(at=AT + HOUR))).counts == Counts()
    assert called == []


@pytest.mark.parametrize("outcome", [failed("Down."), retry("Down.", after_seconds=5)], ids=["failed", "retry"])
async def test_a_run_stops_at_what_is_not_done_and_the_next_attempt_starts_at_it(
    driving: RunStage, outcome: Outcome
) -> None:
    called: list[str] = []
    driving.function = noting(called, lambda item: outcome if item.key == "item-05" else None)
    occurrence = driving.due()
    first = await driving.attempt(occurrence)
    assert (first.attempt, first.state) == (AttemptEnding.RETRY, OccurrenceState.SCHEDULED)
    assert (driving.position(), called) == ("item-04", keys(5))
    assert driving.notes() == keys(4)
    called.clear()
    driving.function = noting(called)
    second = await driving.attempt(occurrence)
    assert called == keys(3, 5)
    assert (second.state, second.counts) == (OccurrenceState.COMPLETED, Counts(done=7))
    assert driving.notes() == keys(7)


async def test_after_the_last_attempt_the_next_run_starts_at_the_remainder(driving: RunStage) -> None:
    called: list[str] = []
    driving.function = noting(called, lambda item: failed("Down.") if item.key == "item-05" else None)
    ending = await driving.attempt(driving.due(), attempts=1)
    assert (ending.state, ending.cause) == (OccurrenceState.DEAD_LETTER, DeadCause.FAILED)
    assert ending.error == "1 of 6 items failed: Down."
    called.clear()
    driving.function = noting(called)
    assert (await driving.attempt(driving.due(at=AT + HOUR))).counts == Counts(done=3)
    assert called == keys(3, 5)
    assert (driving.position(), driving.notes()) == ("item-07", keys(7))


async def test_a_cursor_moves_behind_a_refusal_and_behind_what_nobody_knows_of(driving: RunStage) -> None:
    """No machine tries an uncertain one again, in another run neither; this run ends there, for a person to look."""
    called: list[str] = []
    odd = {"item-02": refused("Closed."), "item-03": uncertain("Nobody knows.", reference="r")}
    driving.function = noting(called, lambda item: odd.get(item.key))
    ending = await driving.attempt(driving.due())
    assert (ending.state, ending.cause) == (OccurrenceState.DEAD_LETTER, DeadCause.FAILED)
    assert ending.error == "1 of 3 items is uncertain: Nobody knows."
    assert (called, driving.position()) == (keys(3), "item-03")
    assert (await driving.attempt(driving.due(at=AT + HOUR))).counts == Counts(done=4)
    assert called == keys(7)


@pytest.mark.requirement("tolerate-duplicate-execution", "observe-job-cancellation")
@pytest.mark.parametrize("at", ["item-01", "item-04", "item-07"])
async def test_a_worker_that_is_gone_halfway_leaves_no_item_twice_and_none_out(driving: RunStage, at: str) -> None:
    called: list[str] = []
    inside = asyncio.Event()

    async def halts(call: JobCall, item: JobItem) -> Outcome:
        called.append(item.key)
        outcome = await push_note(call, item)
        if item.key == at:
            inside.set()
            await asyncio.Event().wait()
        return outcome

    driving.function = halts
    occurrence = driving.due()
    attempt, lease = await driving.begun(occurrence)
    await inside.wait()
    await cancel(attempt, lease, Why.LOST)
    before = keys(7)[: keys(7).index(at)]
    assert driving.notes() == before
    assert driving.position() == (before[-1] if before else None)
    again: list[str] = []
    driving.function = noting(again)
    ending = await driving.attempt(occurrence, holder=SECOND)
    assert again == keys(7)[len(before) :]
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=7))
    assert (driving.notes(), driving.position()) == (keys(7), "item-07")


@pytest.mark.requirement("restrict-completion-by-fencing-value")
async def test_a_frozen_holder_that_wakes_moves_no_cursor(driving: RunStage, clock: Clock) -> None:
    inside, wake = asyncio.Event(), asyncio.Event()

    async def freezes(call: JobCall, item: JobItem) -> Outcome:
        outcome = await push_note(call, item)
        if item.key == "item-03":
            inside.set()
            await wake.wait()
        return outcome

    driving.function = freezes
    occurrence = driving.due()
    frozen, _ = await driving.begun(occurrence)
    await inside.wait()
    clock.advance(LEASE + 1)
    driving.claim(occurrence, holder=SECOND)
    wake.set()
    with pytest.raises(RunLost):
        await frozen
    assert (driving.position(), driving.notes(), driving.refusals()) == ("item-02", keys(2), [("item", 1)])


@pytest.mark.parametrize("before", [0, 2], ids=["made", "moved"])
async def test_a_cursor_that_another_run_moved_is_not_moved_back(driving: RunStage, before: int) -> None:
    async def moves_it(call: JobCall, item: JobItem) -> Outcome:
        if item.key == keys(1, before + 1)[0]:
            driving.rows(
                "insert into jobs.cursors (tenant, name, position, occurrence, fence)"
                " values ('acme', 't.cursor', 'item-06', jobs.uuid7(), 1)"
                " on conflict (tenant, name) do update set position = 'item-06', occurrence = excluded.occurrence,"
                " moved_at = jobs.now() returning 1"
            )
        return await push_note(call, item)

    driving.function = moves_it
    occurrence = driving.due()
    ending = await driving.attempt(occurrence)
    assert (ending.attempt, ending.state) == (AttemptEnding.FAILED, OccurrenceState.SCHEDULED)
    assert ending.error == "Another run moved the cursor t.cursor meanwhile; this one goes on behind it later."
    assert (driving.position(), driving.notes()) == ("item-06", keys(before)), "the effect of the next went with it"
    driving.function = push_note
    await driving.attempt(occurrence)
    assert (driving.position(), driving.notes()) == ("item-07", [*keys(before), "item-07"])


def dropping(driving: RunStage, *gone: str) -> None:
    """From now on the selection gives those no more."""
    plain = selection_of(keys(7))

    async def selection(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
        return [item for item in await plain(selecting, after, 7) if item.key not in gone][:limit]

    driving.selection = selection


@pytest.mark.parametrize("before", [0, 3], ids=["first-run", "behind-an-earlier-run"])
async def test_what_was_left_is_tried_first_also_where_it_is_selected_no_more(driving: RunStage, before: int) -> None:
    """It was written when it was selected: an occurrence does not complete with an item that has no outcome."""
    called: list[str] = []
    stops = keys(1, before + 1)[0]
    if before:
        driving.selection = selection_of(keys(before))
        await driving.attempt(driving.due())
    driving.selection = selection_of(keys(7))
    driving.function = noting(called, lambda item: retry("Later.", after_seconds=1) if item.key == stops else None)
    occurrence = driving.due(at=AT + HOUR)
    first = await driving.attempt(occurrence)
    assert (first.state, called) == (OccurrenceState.SCHEDULED, [stops])
    driving.rows(
        "insert into jobs.occurrence_attempts (occurrence, fence, tenant, attempt, worker, taken_at, expires_at, renewals,"
        " ended_at, ending) values (%s, 1, 'acme', 1, jobs.uuid7(), jobs.now(), jobs.now(), 0, jobs.now(), 'retry')"
        " returning 1",
        occurrence,
    )
    called.clear()
    dropping(driving, stops)
    driving.function = noting(called)
    second = await driving.attempt(occurrence)
    assert called == keys(7 - before, before + 1)
    assert (second.state, second.counts) == (OccurrenceState.COMPLETED, Counts(done=7 - before))
    assert (driving.position(), driving.notes()) == ("item-07", keys(7))


async def test_what_another_run_went_past_is_not_done_again_and_not_left_open(driving: RunStage) -> None:
    """Nor by an attempt behind that, when this run has moved the cursor itself again."""
    called: list[str] = []

    def later(key: str) -> Any:
        return noting(called, lambda item: retry("Later.", after_seconds=1) if item.key == key else None)

    driving.function, driving.selection = later("item-02"), selection_of(keys(5))
    occurrence = driving.due()
    await driving.attempt(occurrence)
    driving.function = noting(called)
    assert (await driving.attempt(driving.due(at=AT + HOUR))).counts == Counts(done=4)
    called.clear()
    driving.function, driving.selection = later("item-07"), selection_of(keys(7))
    second = await driving.attempt(occurrence)
    assert (second.state, second.counts) == (OccurrenceState.SCHEDULED, Counts(done=2, refused=2, unfinished=1))
    driving.function = noting(called)
    third = await driving.attempt(occurrence)
    assert (called, driving.position(), driving.notes()) == (["item-06", "item-07", "item-07"], "item-07", keys(7))
    assert (third.state, third.counts) == (OccurrenceState.COMPLETED, Counts(done=3, refused=2))
    assert driving.rows("select distinct sentence from jobs.occurrence_items where outcome = 'refused'") == [
        ("Another run moved the cursor t.cursor past it. This one did nothing of it.",)
    ]


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_each_tenant_has_a_cursor_of_its_own(driving: RunStage) -> None:
    await driving.attempt(driving.due())
    ending = await driving.attempt(driving.due(tenant="globex"))
    assert ending.counts == Counts(done=7)
    assert driving.notes("globex") == keys(7)
    assert driving.rows("select tenant, position from jobs.cursors order by 1") == [
        ("acme", "item-07"),
        ("globex", "item-07"),
    ]


async def test_an_item_that_a_frozen_worker_has_locked_stops_the_run_there(
    driving: RunStage, database_url: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_items, "BUSY_PAUSES", (0.01, 0.01))
    inside = asyncio.Event()

    async def freezes(call: JobCall, item: JobItem) -> Outcome:
        if item.key == "item-03":
            inside.set()
            await asyncio.Event().wait()
        return done("yes")

    driving.function = freezes
    occurrence = driving.due()
    frozen, lease = await driving.begun(occurrence)
    await inside.wait()
    driving.rows("update jobs.occurrences set expires_at = jobs.now() - interval '1 second' returning 1")
    driving.function = push_note
    ending = await driving.attempt(occurrence, holder=SECOND)
    assert (ending.attempt, driving.position(), driving.notes()) == (AttemptEnding.HANDED_BACK, "item-02", [])
    await cancel(frozen, lease, Why.LOST)
    assert (await driving.attempt(occurrence)).counts == Counts(done=7)
