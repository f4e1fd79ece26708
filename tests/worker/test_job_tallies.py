"""Tallies of jobs: what is folded and what is not yet are together what there is, after every change."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import psycopg
import pytest

from jobservice.store import job_tallies
from jobservice.store.database import Database
from jobservice.worker.job_tallies import JobTallies
from tests.conftest import People
from tests.store.test_roles import as_role
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


@pytest.mark.parametrize("role", ["jobs_api", "jobs_worker", "jobs_purge"])
def test_only_what_happens_to_jobs_writes_changes(
    people: People, database_url: Callable[[str], str], role: str
) -> None:
    with as_role(database_url(role), "acme") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(
            "insert into jobs.job_tally_changes (tenant, kind, status, unresolved, change) values ('acme', 'k', 'failed', true, 1)"
        )


@pytest.mark.parametrize(
    "act", ["insert into {} default values", "update {} set tenant = tenant", "delete from {}", "truncate {}"]
)
@pytest.mark.parametrize("table", ["jobs.job_tallies", "jobs.job_tally_changes"])
def test_the_api_writes_no_tallies(people: People, database_url: Callable[[str], str], act: str, table: str) -> None:
    with as_role(database_url("jobs_api"), "acme") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(act.format(table).encode())
