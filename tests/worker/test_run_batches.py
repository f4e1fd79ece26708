"""The batch path: a batch in one transaction, the single path for a batch that does not go well, then batches again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from jobcontract.states import AttemptEnding, OccurrenceState
from jobservice.application import JobCall, JobItem, NewWorkItem, Outcome, done, failed, refused, uncertain
from jobservice.store import occurrence_items, occurrences
from jobservice.worker.leased_work import Why
from jobservice.worker.run_ending import Counts, Ending, RunLost
from tests.conftest import Clock
from tests.usecases.desk import NOTES
from tests.worker.runs_stage import (
    AT,
    FIRST,
    HOUR,
    ITSELF,
    JOB,
    LEASE,
    SECOND,
    RunStage,
    cancel,
    keys,
    push_note,
    selection_of,
)

BATCHES = replace(JOB, batch_path=True)
SMALL = replace(ITSELF, batch_path=True)


@pytest.fixture
def batches(runs: RunStage) -> RunStage:
    """The stage with a schedule on the batch path, over ten items in batches of three."""
    runs.schedule, runs.selection = BATCHES, selection_of(keys(10))
    return runs


def transactions(runs: RunStage) -> int:
    """In how many transactions the notes were pushed."""
    return int(runs.rows("select count(distinct placed_xid) from jobs.items")[0][0])


async def test_a_batch_is_one_transaction_and_leaves_no_row_an_item(batches: RunStage) -> None:
    occurrence = batches.due()
    ending = await batches.attempt(occurrence)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=10))
    assert (ending.position, ending.selected_all) == ("item-10", True)
    assert batches.notes() == keys(10)
    assert transactions(batches) == 4
    assert batches.items(occurrence) == {}


@pytest.mark.requirement("run-one-command-per-item-in-selection")
async def test_only_the_batch_that_does_not_go_well_goes_the_single_path(batches: RunStage) -> None:
    called: list[str] = []
    odd = {
        "item-04": refused("Closed."),
        "item-05": failed("Not today."),
        "item-10": uncertain("Who knows.", reference="r"),
    }

    async def notes(call: JobCall, item: JobItem) -> Outcome:
        called.append(item.key)
        outcome = await push_note(call, item)
        return odd.get(item.key, outcome)

    batches.function = notes
    occurrence = batches.due()
    ending = await batches.attempt(occurrence)
    assert (ending.attempt, ending.counts) == (AttemptEnding.RETRY, Counts(done=7, refused=1, failed=1, unfinished=1))
    assert batches.items(occurrence) == {
        "item-04": "refused",
        "item-05": None,
        "item-06": "done",
        "item-10": "uncertain",
    }
    assert [called.count(key) for key in keys(10)] == [1, 1, 1, 2, 1, 1, 1, 1, 1, 2]
    assert batches.notes() == [key for key in keys(10) if key not in odd]
    assert batches.rows("select number from jobs.occurrence_items order by 1") == [(4,), (5,), (6,), (10,)]
    called.clear()
    odd.clear()
    second = await batches.attempt(occurrence)
    assert called == ["item-05"]
    assert second.counts == Counts(done=8, refused=1, failed=1)
    assert second.error == "1 of 10 items is uncertain."


async def test_what_raises_and_what_waits_is_run_singly_too(batches: RunStage) -> None:
    async def raises(call: JobCall, item: JobItem) -> Outcome:
        await push_note(call, item)
        if item.key == "item-02" and not batches.rows("select 1 from jobs.occurrence_items"):
            raise RuntimeError("once")
        return done("yes")

    batches.function = raises
    ending = await batches.attempt(batches.due())
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=10))
    assert batches.notes() == keys(10)


@pytest.mark.requirement("tolerate-duplicate-execution")
@pytest.mark.parametrize("crash", ["before the commit", "after the commit"])
async def test_a_crash_at_the_end_of_a_batch_has_one_accepted_effect(
    batches: RunStage, monkeypatch: pytest.MonkeyPatch, crash: str
) -> None:
    true_advance, batch = occurrence_items.advance, 0

    async def dies(*values: Any, **more: Any) -> bool:
        nonlocal batch
        batch += 1
        if batch == 2 and crash == "before the commit":
            raise RuntimeError("gone")
        if batch == 3:
            raise RuntimeError("gone")
        written: bool = await true_advance(*values, **more)
        return written

    monkeypatch.setattr(occurrence_items, "advance", dies)
    occurrence = batches.due()
    lease, taken = batches.claim(occurrence)
    await batches.runner().run(lease, taken)  # never settled
    assert batches.notes() == keys(3 if crash == "before the commit" else 6)
    monkeypatch.setattr(occurrence_items, "advance", true_advance)
    ending = await batches.attempt(occurrence, holder=SECOND)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=10))
    assert batches.notes() == keys(10)


@pytest.mark.requirement("restrict-completion-by-fencing-value")
async def test_a_frozen_holder_that_wakes_in_a_batch_is_refused_with_all_its_effects(
    batches: RunStage, clock: Clock
) -> None:
    inside, wake = asyncio.Event(), asyncio.Event()

    async def freezes(call: JobCall, item: JobItem) -> Outcome:
        outcome = await push_note(call, item)
        if item.key == "item-05":
            inside.set()
            await wake.wait()
        return outcome

    batches.function = freezes
    occurrence = batches.due()
    frozen, lease = await batches.begun(occurrence)
    await inside.wait()
    clock.advance(LEASE + 1)
    other, taken = batches.claim(occurrence, holder=SECOND)
    wake.set()
    with pytest.raises(RunLost):
        await frozen
    assert (lease.lost, batches.notes(), batches.refusals()) == (True, keys(3), [("batch", 1)])
    batches.function = push_note
    assert (await batches.runner().run(other, taken)).counts == Counts(done=10)
    assert batches.notes() == keys(10)


@pytest.mark.requirement("restrict-completion-by-fencing-value")
async def test_a_batch_under_a_lease_that_ran_out_and_that_nobody_took_writes_nothing(
    batches: RunStage, clock: Clock
) -> None:
    async def outlasts(call: JobCall, item: JobItem) -> Outcome:
        if item.key == "item-05":
            clock.advance(LEASE + 1)
        return await push_note(call, item)

    batches.function = outlasts
    occurrence = batches.due()
    lease, taken = batches.claim(occurrence)
    with pytest.raises(RunLost):
        await batches.runner().run(lease, taken)
    assert (batches.notes(), batches.refusals()) == (keys(3), [("batch", 1)])
    assert batches.rows("select done, position from jobs.occurrences") == [(3, "item-03")]


async def test_a_selection_that_raises_leaves_the_batches_before_it(batches: RunStage) -> None:
    plain = selection_of(keys(10))

    async def breaks(selecting: Any, after: str | None, limit: int) -> Any:
        if after == "item-06":
            raise RuntimeError("secret")
        return await plain(selecting, after, limit)

    batches.selection = breaks
    ending = await batches.attempt(batches.due())
    assert (ending.attempt, ending.counts, ending.position) == (AttemptEnding.FAILED, Counts(done=6), "item-06")
    assert ending.error is not None
    assert "secret" not in ending.error


@pytest.mark.requirement("observe-job-cancellation")
async def test_a_batch_of_functions_that_never_wait_lets_itself_be_cancelled(batches: RunStage) -> None:
    began = asyncio.Event()
    many = [f"{number:05}" for number in range(20_000)]

    async def quick(call: JobCall, item: JobItem) -> Outcome:
        began.set()
        return done("")

    batches.function, batches.selection = quick, selection_of(many)
    attempt, lease = await batches.begun(batches.due(), batch_size=20_000)
    await began.wait()
    assert await cancel(attempt, lease, Why.CANCELLED) < 1.0
    assert attempt.result().counts == Counts()


async def together(runs: RunStage, occurrences: list[Any], **change: Any) -> list[Ending]:
    """One attempt at each, begun in the same moment by one Worker."""
    runner = runs.runner(**change)
    claimed = [runs.claim(occurrence) for occurrence in occurrences]
    return list(await asyncio.gather(*(runner.run(lease, taken) for lease, taken in claimed)))


async def test_small_runs_of_a_tenant_that_begin_together_share_a_transaction(runs: RunStage) -> None:
    runs.schedule = SMALL
    occurrences = [runs.due(at=AT + number * HOUR) for number in range(5)]
    others = [runs.due(at=AT + number * HOUR, tenant="globex") for number in range(2)]
    endings = await together(runs, occurrences + others)
    assert {each.state for each in endings} == {OccurrenceState.COMPLETED}
    assert {each.counts for each in endings} == {Counts(done=1)}
    assert transactions(runs) == 2, "one a tenant"
    assert runs.notes() == ["itself"] * 5
    assert runs.rows("select count(*) from jobs.occurrence_items") == [(0,)]


async def test_where_one_of_them_is_not_done_each_goes_its_own_way(runs: RunStage) -> None:
    async def odd(call: JobCall, item: JobItem) -> Outcome:
        await push_note(call, item)
        return failed("Not now.") if call.scheduled_at == AT + 2 * HOUR else done("yes")

    runs.schedule, runs.function = SMALL, odd
    endings = await together(runs, [runs.due(at=AT + number * HOUR) for number in range(4)])
    assert [each.state for each in endings] == ["completed", "completed", "scheduled", "completed"]
    assert endings[2].error == "Not now."
    assert runs.notes() == ["itself"] * 3
    assert runs.rows("select outcome from jobs.occurrence_items order by 1") == [("done",)] * 3 + [(None,)]


async def test_a_small_run_whose_lease_is_lost_takes_nothing_from_the_others(runs: RunStage, clock: Clock) -> None:
    runs.schedule = SMALL
    occurrences = [runs.due(at=AT + number * HOUR) for number in range(3)]
    runner = runs.runner()
    claimed = [runs.claim(occurrence) for occurrence in occurrences]
    runs.rows(
        "update jobs.occurrences set expires_at = jobs.now() - interval '1 s' where id = %s returning 1", occurrences[1]
    )
    endings = await asyncio.gather(*(runner.run(*each) for each in claimed), return_exceptions=True)
    assert [type(each) for each in endings] == [Ending, RunLost, Ending]
    assert runs.refusals() == [("batch", 1), ("item", 1)]
    assert runs.notes() == ["itself"] * 2


async def test_cancelling_one_of_them_undoes_its_part_and_the_others_are_done(runs: RunStage) -> None:
    inside = asyncio.Event()

    async def waits(call: JobCall, item: JobItem) -> Outcome:
        await push_note(call, item)
        if call.scheduled_at == AT + HOUR:
            inside.set()
            await call.wait(60)
        return done("yes")

    runs.schedule, runs.function = SMALL, waits
    runner = runs.runner()
    claimed = [runs.claim(runs.due(at=AT + number * HOUR)) for number in range(3)]
    tasks = [asyncio.create_task(runner.run(*each)) for each in claimed]
    await inside.wait()
    assert await cancel(tasks[1], claimed[1][0], Why.CANCELLED) < 1.0
    assert [(await task).state for task in tasks] == ["completed", "dead-letter", "completed"]
    assert runs.notes() == ["itself"] * 2


@pytest.mark.requirement("tolerate-duplicate-execution")
async def test_small_runs_that_could_not_say_that_they_were_done_are_not_run_again(runs: RunStage) -> None:
    runs.schedule = SMALL
    occurrences = [runs.due(at=AT + number * HOUR) for number in range(3)]
    await together(runs, occurrences)

    async def never(call: JobCall, item: JobItem) -> Outcome:
        raise AssertionError("it was done before")

    runs.function = never
    endings = await together(runs, occurrences)
    assert [(each.state, each.counts) for each in endings] == [("completed", Counts(done=1))] * 3


async def test_each_lease_of_those_that_share_is_compared(runs: RunStage) -> None:
    """A fence of before, or another holder's lease: nothing of the shared transaction stays."""
    runs.schedule = SMALL
    first, second = (runs.due(at=AT + number * HOUR) for number in range(2))
    stale = runs.claim(first)
    runs.rows("update jobs.occurrences set expires_at = jobs.now() where id = %s returning 1", first)
    runs.claim(first, holder=SECOND)
    other = runs.claim(second)
    runner = runs.runner()
    endings = await asyncio.gather(runner.run(*stale), runner.run(*other), return_exceptions=True)
    assert [type(each) for each in endings] == [RunLost, Ending]
    assert runs.rows("select holder, done from jobs.occurrences where id = %s", first) == [(SECOND, 0)]
    assert runs.notes() == ["itself"]
    assert FIRST != SECOND


async def test_a_push_into_a_batch_that_is_undone_leaves_its_key_free(batches: RunStage) -> None:
    async def shares_a_key(call: JobCall, item: JobItem) -> Outcome:
        pushed = await call.push(NOTES, NewWorkItem(key="one for all", title=item.key))
        return done(pushed)

    batches.function = shares_a_key
    ending = await batches.attempt(batches.due())
    assert ending.counts == Counts(done=10)
    assert batches.notes() == ["all"]


async def test_small_runs_that_did_nothing_in_the_database_write_nothing(runs: RunStage) -> None:
    """There is nothing that a second run would do twice: the completion says it all, and costs the only write."""

    async def nothing(call: JobCall, item: JobItem) -> Outcome:
        return done("nothing to do")

    runs.schedule, runs.function = SMALL, nothing
    before = "select sum(version), sum(done) from jobs.occurrences"
    occurrences = [runs.due(at=AT + number * HOUR) for number in range(3)]
    versions = runs.rows(before)
    endings = await together(runs, occurrences)
    assert [(each.state, each.counts) for each in endings] == [("completed", Counts(done=1))] * 3
    assert runs.rows(before) == versions


@pytest.mark.parametrize("batch_path", [True, False], ids=["batches", "single-path"])
async def test_before_an_attempt_is_settled_its_items_are_counted_as_it_will_say(
    batches: RunStage, batch_path: bool
) -> None:
    odd = {"item-04": refused("Closed."), "item-05": failed("No."), "item-10": uncertain("Who knows.", reference="r")}

    async def notes(call: JobCall, item: JobItem) -> Outcome:
        return odd.get(item.key) or done("")

    batches.function, batches.schedule = notes, replace(BATCHES, batch_path=batch_path)
    occurrence = batches.due()
    for counts in (Counts(done=7, refused=1, failed=1, unfinished=1), Counts(done=8, refused=1, failed=1)):
        lease, taken = batches.claim(occurrence)
        ending = await batches.runner().run(lease, taken)
        async with batches.database.transaction("acme") as transaction:
            counted = await occurrences.counted(transaction, str(occurrence))
        assert counted is not None
        assert (counted["done"], counted["refused"], counted["failed"], counted["unfinished"]) == (
            (counts.done, counts.refused, counts.failed, counts.unfinished)
        )
        assert ending.counts == counts
        batches.settle(occurrence, ending)
        odd.pop("item-05", None)
