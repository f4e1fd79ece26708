"""A run that is its own item: its transaction begins with its first effect; without one its row comes with its completion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from jobcontract.states import OccurrenceState
from jobservice.application import JobCall, JobItem, Outcome, done, retry
from jobservice.store.database import Transaction
from jobservice.worker.occurrences import Occurrences
from jobservice.worker.run import Run
from tests.worker.runs_stage import ITSELF, SECOND, RunStage, push_note


async def test_a_run_that_did_nothing_here_is_written_with_its_completion(runs: RunStage) -> None:
    async def looks(_call: JobCall, _item: JobItem) -> Outcome:
        return done("seen") if len(tries) > 1 else retry("not yet", after_seconds=1.0)

    tries: list[int] = []
    runs.schedule, runs.function = ITSELF, looks
    occurrence = runs.due()
    kept = "select key, number, label, outcome, attempts, sentence, fence, ended_at is null from jobs.occurrence_items"
    for expected in (
        [("itself", 1, "The job", None, 1, "not yet", 1, True)],
        [("itself", 1, "The job", "done", 2, "seen", 2, False)],
    ):
        tries.append(1)
        lease, _ = runs.claim(occurrence)
        await worker_of(runs).carry(lease)
        assert lease.over
        assert runs.rows(kept) == expected
    assert runs.rows("select state, done, unfinished from jobs.occurrences") == [("completed", 1, 0)]


async def test_a_run_that_did_nothing_here_under_a_lost_lease_writes_no_item(runs: RunStage) -> None:
    async def looks(_call: JobCall, _item: JobItem) -> Outcome:
        runs.claim(occurrence, holder=SECOND)
        return done("seen")

    runs.schedule, runs.function = ITSELF, looks
    occurrence = runs.due()
    lease, _ = runs.claim(occurrence)
    await worker_of(runs).carry(lease)
    assert runs.items(occurrence) == {}
    assert runs.refusals() == [("completion", 1)]


async def test_a_use_case_that_waits_holds_no_transaction_until_its_first_effect(runs: RunStage) -> None:
    waits, goes = asyncio.Event(), asyncio.Event()

    async def slow(call: JobCall, item: JobItem) -> Outcome:
        waits.set()
        await goes.wait()
        return await push_note(call, item)

    runs.schedule, runs.function = ITSELF, slow
    open_ones = (
        "select count(*) from pg_stat_activity where datname = current_database() and usename = 'jobs_worker'"
        " and state ~ '^idle in transaction'"
    )
    task, _ = await runs.begun(runs.due())
    await waits.wait()
    assert runs.rows(open_ones) == [(0,)]
    goes.set()
    assert (await task).item is None
    assert runs.notes() == ["itself"]
    assert runs.rows("select outcome from jobs.occurrence_items") == [("done",)]


async def test_an_effect_that_is_begun_as_the_use_case_ends_leaves_nothing_open(
    runs: RunStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, goes = asyncio.Event(), asyncio.Event()
    begin = Run.transaction

    @asynccontextmanager
    async def slowly(self: Run, **how: Any) -> AsyncIterator[Transaction]:
        opening.set()
        await goes.wait()
        async with begin(self, **how) as transaction:
            yield transaction

    pushing: list[asyncio.Task[Outcome]] = []

    async def careless(call: JobCall, item: JobItem) -> Outcome:
        pushing.append(asyncio.create_task(push_note(call, item)))
        await opening.wait()
        return done("did not wait for what it began")

    monkeypatch.setattr(Run, "transaction", slowly)
    runs.schedule, runs.function = ITSELF, careless
    occurrence = runs.due()
    ending = await runs.attempt(occurrence)
    assert ending.state is OccurrenceState.COMPLETED
    goes.set()
    await asyncio.wait(pushing)
    assert pushing[0].cancelled() or pushing[0].exception() is not None
    assert runs.notes() == []
    figures = runs.database.figures()
    assert figures["pool_available"] == figures["pool_size"]


def worker_of(runs: RunStage) -> Occurrences:
    """A Worker's occurrences over the stage's runner."""
    return Occurrences(
        database=runs.database,
        schedules={ITSELF.id: ITSELF},
        deployment="tests",
        runner=runs.runner(),
        settled=lambda _: True,
        jitter=lambda: 0.0,
    )
