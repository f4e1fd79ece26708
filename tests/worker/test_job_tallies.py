"""Tallies of jobs: what is folded and what is not yet are together what there is, after every change."""

from __future__ import annotations

import asyncio
import random

from jobservice.store import job_tallies
from jobservice.store.database import Database
from jobservice.worker.job_tallies import JobTallies
from tests.conftest import People
from tests.worker.jobs_stage import JobStage

CHANGES = (
    "update jobs.jobs set status = 'running', started_at = jobs.now(), version = version + 1 where status = 'pending'"
    " and id in (select id from jobs.jobs order by random() limit 3)",
    "update jobs.jobs set status = 'failed', settled_at = activity_at, failure_summary = 's', version = version + 1"
    " where settled_at is null and id in (select id from jobs.jobs order by random() limit 2)",
    "update jobs.jobs set resolution = 'resolved', resolved_at = jobs.now(), version = version + 1"
    " where status = 'failed' and resolution is null and id in (select id from jobs.jobs order by random() limit 2)",
    "update jobs.jobs set version = version + 1",
)
TRUE = (
    "select kind, status, status = 'failed' and resolution is null as unresolved, count(*) as count from jobs.jobs"
    " group by 1, 2, 3"
)
TALLIED = (
    "select kind, status, unresolved, sum(count)::bigint as count from (select kind, status, unresolved, count from"
    " jobs.job_tallies union all select kind, status, unresolved, change from jobs.job_tally_changes) as t"
    " group by 1, 2, 3 having sum(count) <> 0"
)


async def test_what_is_folded_and_what_waits_are_what_there_is(worker_database: Database, people: People) -> None:
    stage, chance = JobStage(database=worker_database, people=people), random.Random(7)  # noqa: S311  # not a secret

    async def change(number: int) -> None:
        await stage.submit(f"job-{number}")
        async with worker_database.transaction(None) as transaction:
            await transaction.connection.execute(chance.choice(CHANGES).encode())

    async def fold() -> None:
        async with worker_database.transaction(None) as transaction:
            await job_tallies.fold(transaction, most=chance.randint(1, 4))

    for number in range(40):
        await asyncio.gather(change(number), fold())
        assert sorted(map(str, stage.rows(TALLIED))) == sorted(map(str, stage.rows(TRUE)))
    assert len(stage.rows(TRUE)) >= 3, "pending, running, failed"
    await stage.run(JobTallies(batch=7))
    assert stage.rows("select 1 from jobs.job_tally_changes") == []
    assert sorted(map(str, stage.rows(TALLIED))) == sorted(map(str, stage.rows(TRUE)))
    assert not await JobTallies().wanted(worker_database, stage.holder)
