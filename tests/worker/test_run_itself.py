"""A run that is its own item: its transaction begins with its first effect; without one its row comes with its completion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from jobservice.application import JobCall, JobItem, Outcome, done, retry
from jobservice.store.database import Transaction
from jobservice.worker.occurrences import Occurrences
from jobservice.worker.run import LateTransaction
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


async def test_a_transaction_that_comes_open_behind_the_end_of_its_block_is_given_back(runs: RunStage) -> None:
    runs.schedule = ITSELF
    lease, taken = runs.claim(runs.due())
    run = runs.runner()._prepared(lease, taken)
    begin, opened, goes = run.transaction, asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def slowly(**how: Any) -> AsyncIterator[Transaction]:
        async with begin(**how) as transaction:
            opened.set()
            await goes.wait()
            yield transaction

    async with LateTransaction(SlowRun(slowly)) as late:  # type: ignore[arg-type]  # it needs that of a run alone
        opening = asyncio.create_task(late.open())
        await opened.wait()
    goes.set()
    await asyncio.wait((opening,))
    assert opening.cancelled()
    assert late.transaction is None
    figures = runs.database.figures()
    assert figures["pool_available"] == figures["pool_size"]


@dataclass(frozen=True)
class SlowRun:
    """A run whose transactions take their time to begin."""

    transaction: Callable[..., AbstractAsyncContextManager[Transaction]]


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
