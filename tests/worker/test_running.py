"""One attempt at an occurrence: what it works through, how it ends, and that nothing of it stays."""

from __future__ import annotations

import asyncio
import gc
from contextvars import ContextVar
from dataclasses import replace

import pytest

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.application import JobCall, JobItem, NewWorkItem, Outcome, done, failed, refused, retry, uncertain
from jobservice.worker.run import Run
from jobservice.worker.run_ending import Counts
from tests.usecases.desk import NOTES
from tests.worker.runs_stage import AT, HOUR, ITSELF, RunStage, keys, push_note, selection_of


async def test_a_run_works_through_its_whole_selection_and_completes(runs: RunStage) -> None:
    occurrence = runs.due()
    ending = await runs.attempt(occurrence)
    assert (ending.attempt, ending.state, ending.error) == (AttemptEnding.COMPLETED, OccurrenceState.COMPLETED, None)
    assert ending.counts == Counts(done=7)
    assert (ending.position, ending.selected_all) == ("item-07", True)
    assert runs.items(occurrence) == dict.fromkeys(keys(7), "done")
    assert runs.notes() == keys(7)
    kept = "select number, label, given, attempts, sentence, fence from jobs.occurrence_items where key = 'item-05'"
    assert runs.rows(kept) == [(5, "Item-05", {"n": 3}, 1, "noted", 1)]


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_a_run_sees_and_writes_its_own_tenant_alone(runs: RunStage) -> None:
    acme, globex = runs.due(), runs.due(tenant="globex")
    runs.function = push_note
    assert (await runs.attempt(globex)).state is OccurrenceState.COMPLETED
    assert (runs.notes("globex"), runs.notes("acme")) == (keys(7), [])
    assert runs.items(acme) == {}
    assert runs.rows("select distinct tenant from jobs.occurrence_items") == [("globex",)]
    lease, taken = runs.claim(acme)
    other = replace(taken, tenant="globex")
    with pytest.raises(Exception, match=str(acme)):
        await runs.runner().run(lease, other)
    assert runs.items(acme) == {}, "another tenant's transaction does not even find the occurrence"


async def test_an_occurrence_without_a_selection_is_one_item(runs: RunStage) -> None:
    runs.schedule = ITSELF
    occurrence = runs.due()
    ending = await runs.attempt(occurrence)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=1))
    assert runs.rows("select key, number, label, outcome, attempts from jobs.occurrence_items") == [
        ("itself", 1, "The job", "done", 1)
    ]
    assert runs.notes() == ["itself"]


@pytest.mark.requirement("bound-job-retries")
async def test_an_occurrence_that_is_its_own_item_is_tried_again_and_fails_with_its_sentence(runs: RunStage) -> None:
    async def no(call: JobCall, item: JobItem) -> Outcome:
        await call.push(NOTES, NewWorkItem(key=f"attempt {call.attempt}", title="t"))
        return failed(f"no {call.attempt}")

    runs.schedule, runs.function = ITSELF, no
    occurrence = runs.due()
    endings = [await runs.attempt(occurrence) for _ in range(3)]
    assert [(each.attempt, each.error) for each in endings] == [
        (AttemptEnding.RETRY, "no 1"),
        (AttemptEnding.RETRY, "no 2"),
        (AttemptEnding.FAILED, "no 3"),
    ]
    assert [each.retry_after for each in endings] == [10.0, 20.0, None]
    assert [each.counts for each in endings] == [Counts(unfinished=1), Counts(unfinished=1), Counts(failed=1)]
    assert (endings[-1].state, endings[-1].cause) == (OccurrenceState.DEAD_LETTER, DeadCause.FAILED)
    assert runs.rows("select outcome, attempts, sentence from jobs.occurrence_items") == [("failed", 3, "no 3")]
    assert runs.notes() == [], "no effect of what was not done stays"


@pytest.mark.requirement("tolerate-duplicate-execution")
async def test_an_occurrence_that_was_done_and_could_not_say_so_is_not_run_again(runs: RunStage) -> None:
    runs.schedule = ITSELF
    occurrence = runs.due()
    lease, taken = runs.claim(occurrence)
    await runs.runner().run(lease, taken)

    async def never(call: JobCall, item: JobItem) -> Outcome:
        raise AssertionError("it was done before")

    runs.function = never
    ending = await runs.attempt(occurrence)  # the Worker was lost before it could settle
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=1))


@pytest.mark.parametrize("missing", ["schedule", "use case", "selection"])
async def test_what_the_records_do_not_have_any_more_is_a_dead_letter_that_names_it(
    runs: RunStage, missing: str
) -> None:
    lease, taken = runs.claim(runs.due())
    runner = runs.runner()
    if missing == "schedule":
        taken = replace(taken, schedule="t.gone")
    elif missing == "use case":
        del runner.application.use_cases["t.do"]
    else:
        del runner.application.selections["t.things"]
    ending = await runner.run(lease, taken)
    assert (ending.state, ending.cause) == (OccurrenceState.DEAD_LETTER, DeadCause.UNRUNNABLE)
    named = {"schedule": "t.gone", "use case": "t.do", "selection": "t.things"}[missing]
    assert ending.error is not None
    assert named in ending.error


ODD = {
    "item-02": refused("Closed."),
    "item-03": failed("Not today."),
    "item-04": uncertain("Nobody knows.", reference="r"),
}


async def test_refused_is_final_and_uncertain_ends_as_a_dead_letter_without_a_retry(runs: RunStage) -> None:
    called: list[str] = []

    async def odd(call: JobCall, item: JobItem) -> Outcome:
        called.append(item.key)
        if item.key == "item-03" and call.attempt == 2:
            return done("at last")
        return ODD.get(item.key, done("yes"))

    runs.function = odd
    occurrence = runs.due()
    first = await runs.attempt(occurrence)
    assert (first.attempt, first.state) == (AttemptEnding.RETRY, OccurrenceState.SCHEDULED)
    assert first.error == "1 of 7 items is to be tried again: Not today."
    assert first.counts == Counts(done=4, refused=1, failed=1, unfinished=1)
    called.clear()
    second = await runs.attempt(occurrence)
    assert called == ["item-03"], "what has an outcome is not run again, an uncertain one least of all"
    assert (second.state, second.cause) == (OccurrenceState.DEAD_LETTER, DeadCause.FAILED)
    assert second.error == "1 of 7 items is uncertain."
    assert second.counts == Counts(done=5, refused=1, failed=1)
    assert runs.items(occurrence) == {
        **dict.fromkeys(keys(7), "done"),
        "item-02": "refused",
        "item-04": "uncertain",
    }


PLACE: ContextVar[str] = ContextVar("place", default="outside")


@pytest.mark.requirement("use-execution-scopes")
async def test_nothing_of_a_run_stays_after_it(runs: RunStage) -> None:
    async def marks(call: JobCall, item: JobItem) -> Outcome:
        PLACE.set(item.key)
        return await push_note(call, item)

    runs.function, runs.selection = marks, selection_of(keys(40))
    await runs.attempt(runs.due(at=AT - HOUR))  # whatever is made once for all is made
    gc.collect()
    tasks, lent = asyncio.all_tasks(), runs.database.figures()
    before = lent["pool_size"] - lent["pool_available"]
    lease, taken = runs.claim(runs.due())
    ending = await runs.runner().run(lease, taken)
    assert ending.counts == Counts(done=40)
    assert PLACE.get() == "outside", "what a handler sets is gone with its run"
    assert asyncio.all_tasks() == tasks
    figures = runs.database.figures()
    assert figures["pool_size"] - figures["pool_available"] == before
    assert runs.room.places._value == runs.room.most
    del ending
    gc.collect()
    assert [each for each in gc.get_objects() if isinstance(each, Run) and each.taken is taken] == []
    assert (lease.bound, lease.task) == (None, None)


@pytest.mark.requirement("RETRY-04")
async def test_try_again_later_is_counted_and_its_delay_is_bounded(runs: RunStage) -> None:
    runs.schedule = ITSELF
    asked = iter((1.0, 999_999_999.0, 1.0))

    async def busy(call: JobCall, item: JobItem) -> Outcome:
        return retry("The target answers 503.", after_seconds=next(asked))

    runs.function = busy
    occurrence = runs.due()
    endings = [await runs.attempt(occurrence) for _ in range(3)]
    assert [each.retry_after for each in endings] == [1.0, 60.0, None]
    assert [each.state for each in endings] == ["scheduled", "scheduled", "dead-letter"]
    assert {each.error for each in endings} == {"The target answers 503."}


@pytest.mark.requirement("RETRY-04")
@pytest.mark.parametrize("asked", [-3_600.0, 0.0, float("-inf"), float("nan")])
async def test_a_date_in_the_past_means_now(runs: RunStage, asked: float) -> None:
    runs.schedule = ITSELF

    async def past(call: JobCall, item: JobItem) -> Outcome:
        return retry("Busy.", after_seconds=asked)

    runs.function = past
    assert (await runs.attempt(runs.due())).retry_after == 0.0


async def test_of_several_the_longest_wait_counts_and_one_without_a_wish_the_back_off(runs: RunStage) -> None:
    asks: dict[str, Outcome] = {"item-01": retry("a", after_seconds=5), "item-02": retry("b", after_seconds=25)}

    async def busy(call: JobCall, item: JobItem) -> Outcome:
        return asks.get(item.key, done("yes"))

    runs.function = busy
    assert (await runs.attempt(runs.due())).retry_after == 25.0
    asks["item-03"] = failed("c")
    assert (await runs.attempt(runs.due(at=AT + HOUR))).retry_after == 10.0
