"""Owns the attic that tests of purging stand on: jobs, plans and the trail of acme, and whoever purges them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from jobservice.delivery.heads import Heads
from jobservice.store.database import Database
from jobservice.usecases.purge import Keeping, Purged, Purging, would_purge
from jobservice.worker.fenced import Lease
from jobservice.worker.job_notices import JobNotices
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from tests.conftest import Clock, People, Server
from tests.worker.jobs_stage import JobStage
from tests.worker.test_delivering import Postbox

DAY = 86_400.0
KEEPING = Keeping(jobs=90 * DAY, plans=365 * DAY, notices=90 * DAY, alarms=90 * DAY, audit=730 * DAY)
Role = Callable[[str], str]


@pytest.fixture
async def purge_database(clean: None, server: Server, database_name: str) -> AsyncIterator[Database]:
    """The Database as the purge's role."""
    database = await Database.open(server.url("jobs_purge", database_name), name="test purge", most=3)
    yield database
    await database.close()


@dataclass
class Attic:
    """Jobs, plans and the trail of acme, and whoever purges them."""

    database: Database
    stage: JobStage
    clock: Clock
    heads: Heads | None = None

    async def purge(self, *, stopping: Callable[[], bool] = lambda: False, **keeping: float) -> Purged:
        """One run."""
        kept = replace(KEEPING, **keeping)
        purging = Purging(database=self.database, keeping=kept, heads=self.heads, stopping=stopping)
        would = await would_purge(self.database, kept)
        done = await purging.run()
        assert done == would or stopping()
        return done

    async def failed(self, identity: str) -> str:
        """A job that failed, whose requester was told."""
        job = await self.stage.quiet(identity, "succeeded", "running", engine="SUCCESS")
        await self.stage.run(ReconcilingJobs())
        lease: Lease = await self.stage.lease(JobNotices(delivery=Postbox()))
        await JobNotices(delivery=Postbox()).run_once(lease)
        self.stage.past_the_walls(
            "update jobs.jobs set failure_effect_state = 'done' where failure_effect_state = 'due'"
        )
        return job

    def left(self) -> dict[str, int]:
        """How many rows there are of what belongs to jobs."""
        tables = (
            "jobs.jobs", "jobs.job_steps", "jobs.job_events", "jobs.job_notices", "jobs.job_notice_attempts",
            "jobs.job_causes", "jobs_engine.workflow_status", "jobs_engine.workflow_input",
        )  # fmt: skip
        return {table: self.stage.row(f"select count(*) as n from {table}")["n"] for table in tables}

    def said(self, action: str) -> list[tuple[str | None, dict[str, Any]]]:
        """Tenant and detail of the trail's entries of that action."""
        rows = self.stage.rows("select tenant, detail from jobs.audit where action = %s order by id", action)
        return [(row["tenant"], row["detail"]) for row in rows]


@pytest.fixture
def attic(purge_database: Database, worker_database: Database, people: People, clock: Clock) -> Attic:
    return Attic(database=purge_database, stage=JobStage(database=worker_database, people=people), clock=clock)
