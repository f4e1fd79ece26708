"""Owns the least that any queue in PostgreSQL does: one table, claimed with SKIP LOCKED and completed under a fence, row
by row or in batches. Runs nothing, keeps no history, knows no tenant."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import psycopg

MAKE = """
create table if not exists job (
    id bigint generated always as identity primary key,
    state text not null default 'ready',
    run_at timestamptz not null default now(),
    holder text,
    expires_at timestamptz,
    fence bigint not null default 0,
    attempt integer not null default 0,
    ended_at timestamptz
);
create index if not exists job_ready on job (run_at, id) where state = 'ready';
create index if not exists job_lease on job (expires_at) where state = 'running';
truncate job
"""
FILL = "insert into job (run_at) select now() from generate_series(1, %s)"
CLAIM = """
with next as (
    select id from job where state = 'ready' and run_at <= now() order by run_at, id limit %s for update skip locked
)

update job as j
set state = 'running', holder = 'one', expires_at = now() + interval '30 s', fence = fence + 1, attempt = attempt + 1
from next as n
where j.id = n.id
returning j.id, j.fence
"""
COMPLETE = """
update job as j
set state = 'done', ended_at = now(), holder = null, expires_at = null
from unnest(%s::bigint[], %s::bigint[]) as d (id, fence)
where j.id = d.id and j.fence = d.fence and j.state = 'running'
"""


async def rate(url: str, jobs: int, *, connections: int, batch: int) -> float:
    """Jobs a second that many connections claim and complete, `batch` at once; RuntimeError where one is left."""
    opened = [await psycopg.AsyncConnection.connect(url, autocommit=True) for _ in range(connections)]
    try:
        await opened[0].execute(MAKE)
        await opened[0].execute(FILL, (jobs,))
        await opened[0].execute("vacuum (analyze) job")
        began = time.perf_counter()
        done = sum(await asyncio.gather(*(_empty(each, batch) for each in opened)))
        seconds = time.perf_counter() - began
    finally:
        for each in opened:
            await each.close()
    if done != jobs:
        raise RuntimeError(f"{done:,} of {jobs:,} jobs were completed")
    return jobs / seconds


async def _empty(connection: psycopg.AsyncConnection[Any], batch: int) -> int:
    done = 0
    while rows := await (await connection.execute(CLAIM, (batch,))).fetchall():
        completed = await connection.execute(COMPLETE, ([row[0] for row in rows], [row[1] for row in rows]))
        done += completed.rowcount
    return done
