"""Finding and claiming: what a look reads does not grow with what was worked off (case PG-06)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import psycopg
import pytest

from jobservice.store.database import Database
from jobservice.store.statements import statement
from tests.conftest import Clock, People
from tests.occurrence_rows import EVERYTHING, OccurrenceRows
from tests.statistics import forget_statistics
from tests.worker.occurrences_stage import Stage


@pytest.fixture
async def stage(people: People, worker_database: Database, clock: Clock) -> AsyncIterator[Stage]:
    """The stage."""
    stage = Stage(worker_database, OccurrenceRows(people.connection), clock)
    yield stage
    await stage.close()


@pytest.fixture
def old_transaction(stage: Stage, database_url: Callable[[str], str]) -> Iterator[psycopg.Connection[Any]]:
    """One that was opened before everything, and stays."""
    with psycopg.connect(database_url("jobs_owner")) as connection:
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("select count(*) from jobs.occurrences")
        yield connection


@pytest.mark.requirement("PG-06")
async def test_an_old_transaction_does_not_slow_claims_down(
    stage: Stage, old_transaction: psycopg.Connection[Any]
) -> None:
    """What is read for a look does not grow with what was worked off; without its lower bound it does."""
    work, holder = stage.work(slots=500), stage.rows.worker()
    lane = work._lanes[0]

    async def read(*, whole: bool) -> int:
        since = EVERYTHING if whole else lane.heads.since()
        values = {
            "tenants": list(since.tenants),
            "heads": list(since.tenants.values()),
            "since": since.of("?"),
            "lapsed_since": since.lapsed or since.of("?"),
            "free": 1,
            **lane.runnable.parameters(),
        }
        async with stage.database.transaction(None) as transaction:
            await transaction.connection.execute("set local enable_seqscan = off")
            await transaction.connection.execute("set local enable_bitmapscan = off")
            cursor = await transaction.connection.execute(
                f"explain (analyze, format json) {statement('occurrence_leases/look')}".encode(), values
            )
            row = await cursor.fetchone()
            assert row is not None
            return fetches(row["QUERY PLAN"][0]["Plan"])

    for batch in range(3):
        for number in range(100):
            stage.rows.add(due=-600 + batch * 60, lock=f"lock {number}")
        lane.heads = type(lane.heads)()
        await asyncio.gather(*(work.carry(lease) for lease in await stage.take(work, holder)))
    await stage.take(work, holder)
    with stage.rows.connection.transaction():
        forget_statistics(stage.rows.connection)
    before, bounded = await read(whole=True), await read(whole=False)
    assert stage.rows.all("select count(*) from jobs.occurrences where state = 'completed'") == [{"count": 300}]
    assert before >= 300, "the dead entries are there"
    assert bounded <= 10


def fetches(plan: dict[str, Any]) -> int:
    """How many entries of the indexes of occurrences a plan had to look up in the table."""
    own = int(plan.get("Heap Fetches", 0)) if plan.get("Relation Name") == "occurrences" else 0
    return own + sum(fetches(each) for each in plan.get("Plans", ()))
