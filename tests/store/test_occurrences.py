"""A page of occurrences costs a page: whatever is asked for, however deep, no statement reads the whole table. And each is
in one of four states."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from jobcontract.states import OccurrenceState
from jobservice.store import occurrences as store
from jobservice.store.database import Database, Transaction
from jobservice.store.occurrences import Wanted
from jobservice.store.statements import statement

ROWS = 6_000
MOST_BLOCKS = 400
"""Of 8 KiB: a page of 51 rows, each found and fetched by itself."""
DEEPER = 20
"""Blocks more that a page may touch for beginning deep in a listing: walking there would touch hundreds."""
DEAD, PROCESSING, COMPLETED = OccurrenceState.DEAD_LETTER, OccurrenceState.PROCESSING, OccurrenceState.COMPLETED
ITEMS = (
    "with run as (select id from jobs.occurrences limit 1), added as ("
    " insert into jobs.occurrence_items (occurrence, key, tenant, number, label, outcome, ended_at)"
    " select r.id, n::text, 'acme', n, 'l', case when n % 100 = 0 then 'failed' else 'done' end, jobs.now()"
    " from run as r cross join generate_series(1, 25000) as n) select id::text from run"
)
"""One run of many items, a few of them failed."""
LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff"


@pytest.fixture
def filled(superuser: psycopg.Connection[Any], people: Any) -> datetime:
    """Occurrences of twenty schedules over thirty days, a few of them dead letters; the clock."""
    superuser.execute(
        "insert into jobs.occurrences (tenant, schedule, scheduled_at, due_at, lock, tzdata, state, ended_at, cause)"
        " select 'acme', 's-' || n % 20, jobs.now() - n * make_interval(secs => 432), jobs.now(), 'l', '2026f',"
        " case when n % 100 = 0 then 'dead-letter' else 'completed' end, jobs.now(),"
        f" case when n % 100 = 0 then 'failed' end from generate_series(1, {ROWS}) as n"
    )
    superuser.execute("vacuum analyze jobs.occurrences")  # what earlier tests left dead in the indexes is not to count
    row = superuser.execute("select jobs.now()").fetchone()
    assert row is not None
    now: datetime = row[0]
    return now


async def blocks(transaction: Transaction, name: str, parameters: dict[str, Any]) -> int:
    """How many blocks a statement touched."""
    explained = "explain (analyze, buffers, format json) " + statement(name)
    cursor = await transaction.connection.execute(explained, {"tenant": transaction.tenant, **parameters})
    row = await cursor.fetchone()
    assert row is not None
    plan = next(iter(row.values()))[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


@pytest.mark.requirement("persist-occurrence-state")
async def test_a_page_of_occurrences_or_items_touches_few_blocks_wherever_it_begins(
    database: Database, filled: datetime, superuser: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    async def rows(_: Transaction, name: str, /, **parameters: Any) -> list[Any]:
        asked.update(name=name, parameters=parameters)
        return []

    deep = (filled - timedelta(days=29), LAST)
    range_: dict[str, Any] = {"since": filled - timedelta(days=20), "until": filled - timedelta(days=19)}
    wanted = [
        Wanted(schedule=schedule, **more)
        for schedule in (None, "s-0", "s-7")
        for more in ({}, {"states": (DEAD,)}, {"states": (PROCESSING,)}, {"states": (COMPLETED, DEAD)}, range_)
    ]
    async with database.transaction("acme") as transaction:
        # A table of a test is small enough to be read whole; the real one never is.
        await transaction.connection.execute("set local enable_seqscan = off; set local enable_bitmapscan = off")
        for each in wanted:
            touched = []
            for behind in (None, deep):
                with monkeypatch.context() as patched:
                    patched.setattr(Transaction, "rows", rows)
                    await store.page(transaction, each, behind=behind, most=50)
                touched.append(await blocks(transaction, asked["name"], asked["parameters"]))
            assert touched[0] < MOST_BLOCKS, each
            assert touched[1] < touched[0] + DEEPER, each
        item = superuser.execute(ITEMS).fetchone()
        assert item is not None
        superuser.execute("vacuum analyze jobs.occurrence_items")
        for kind, number in ((-1, 0), (0, 20_000), (2, 10_000)):
            parameters = {"occurrence": item[0], "kind": kind, "number": number, "most": 50}
            assert await blocks(transaction, "occurrences/items", parameters) < MOST_BLOCKS, (kind, number)


@pytest.mark.requirement("persist-occurrence-state")
def test_the_store_knows_the_four_states(superuser: psycopg.Connection[Any]) -> None:
    checks = superuser.execute(
        "select pg_get_constraintdef(oid) from pg_constraint where conname = 'occurrences_state_check'"
    ).fetchall()
    assert [set(re.findall(r"'([^']+)'", check)) for (check,) in checks] == [set(OccurrenceState)]
    assert len(OccurrenceState) == 4
