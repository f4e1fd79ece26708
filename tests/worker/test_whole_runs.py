"""A whole Worker over real runs: woken by what is due, stopped by a person's cancel, and gone without an orphan lease."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from jobservice.application import JobCall, JobItem, NewWorkItem, Outcome, done
from jobservice.store.database import Database
from jobservice.worker.occurrences import Occurrences
from jobservice.worker.outage import Outage
from jobservice.worker.process import Worker
from tests.fakes.waiting import eventually
from tests.usecases.desk import NOTES
from tests.worker.runs_stage import ITSELF, RunStage
from tests.worker.test_process import QUICK

POLL = 60.0
"""Seconds: nothing that these tests wait for comes by the slow poll."""


@dataclass
class Waiting:
    """A handler that writes something, then waits for a day."""

    inside: asyncio.Event = field(default_factory=asyncio.Event)

    async def waits(self, call: JobCall, item: JobItem) -> Outcome:
        """Waits, with its transaction open."""
        await call.push(NOTES, NewWorkItem(key="hung", title=item.label))
        self.inside.set()
        await call.wait(86_400)
        return done("never")


@asynccontextmanager
async def working(runs: RunStage, *, grace: float = 20.0) -> AsyncIterator[Worker]:
    """A Worker that is at work; its end is waited for."""
    outage = Outage(database=runs.database)
    runner = runs.runner()
    work = Occurrences(
        database=runs.database,
        schedules=runner.records.schedules,
        deployment="test",
        runner=runner,
        settled=outage.settled,
        every=POLL,
    )
    worker = Worker(
        database=runs.database,
        duties=(),
        leased=(work,),
        stop=asyncio.Event(),
        grace=grace,
        pace=QUICK,
        outage=outage,
    )
    running = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop.set()
        worker.at_once.set()
        await running
        await work.close()


def one(runs: RunStage, occurrence: UUID) -> tuple[Any, ...]:
    """Its state, cause, attempts and holder, and how its last attempt ended."""
    (row,) = runs.rows(
        "select o.state, o.cause, o.attempts, o.holder, (select a.ending from jobs.occurrence_attempts as a"
        " where a.occurrence = o.id order by a.fence desc limit 1) from jobs.occurrences as o where o.id = %s",
        occurrence,
    )
    return tuple(row)


@pytest.mark.requirement("observe-job-cancellation")
async def test_what_a_person_cancels_in_a_long_wait_has_ended_within_a_second(
    runs: RunStage, database: Database
) -> None:
    """From the API's statement to the row that says so: notified, asked for, cancelled, rolled back, settled."""
    handler = Waiting()
    runs.schedule, runs.function = ITSELF, handler.waits
    async with working(runs):
        occurrence = runs.due()
        await asyncio.wait_for(handler.inside.wait(), 10)
        asked = time.monotonic()
        async with database.transaction("acme") as transaction:
            await transaction.run(
                "occurrences/cancel", tenant="acme", occurrence=str(occurrence), person="o.lind", reason="wrong file"
            )
        await eventually(lambda: one(runs, occurrence)[0] == "dead-letter", what="it has ended", seconds=5)
        took = time.monotonic() - asked
    assert one(runs, occurrence) == ("dead-letter", "cancelled", 1, None, "cancelled")
    assert took < 1.0
    assert runs.notes() == [], "what the step had written went with it"


@pytest.mark.requirement("stop-jobs-during-graceful-shutdown")
async def test_what_does_not_end_within_the_grace_leaves_no_lease_and_counts_no_attempt(runs: RunStage) -> None:
    handler = Waiting()
    runs.schedule, runs.function = ITSELF, handler.waits
    async with working(runs, grace=0.1) as worker:
        occurrence = runs.due()
        await asyncio.wait_for(handler.inside.wait(), 10)
        worker.stop.set()
    assert one(runs, occurrence) == ("scheduled", None, 0, None, "handed-back")
    assert runs.rows("select 1 from jobs.occurrences where holder is not null or expires_at is not null") == []
    assert runs.notes() == []
