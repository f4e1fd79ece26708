"""Owns measuring whether history slows claims down: claims beside ten million finished occurrences and beside ten
thousand, claims while retention removes a million rows, and claims while an old transaction keeps dead rows (PG-06).

A claim is the whole of it, as a Worker makes it: the look, the claim, the commit. Finished rows are made by statements,
with the indexes dropped meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from uuid import uuid4

import click

from benchmarks import jobs
from benchmarks.figures import Figure, percentile
from benchmarks.ground import Ground
from benchmarks.occurrences import CONNECTIONS, SCHEDULES, TimedOccurrences, drain, put, worker_of
from benchmarks.seeding import Connection
from jobservice.bootstrap.dev import WORKER
from jobservice.store import duties as duty_rows
from jobservice.store.database import Database
from jobservice.worker.fenced import give_back, take
from jobservice.worker.leased_work import RowLease
from jobservice.worker.retention import Retention

PART = "history"
MUCH, LITTLE, REMOVED, OLD = "history_much", "history_little", "history_removed", "history_old"
ROWS, FEW = 10_000_000, 10_000
REMOVED_ROWS = 1_000_000
PUSHED = 50_000
"""Short occurrences that go through while an old transaction is open."""
TENANTS = ("acme", "globex", "initech", "umbrella")
SLOTS = 16
CLAIMS, ROUNDS = 100, 5
"""Claims of a round."""
FILL = 250_000
"""Rows of one statement."""
ENDS = 50
"""Claims at the start and at the end whose middle is compared."""
SCHEDULE, SMALL, FINISHED = "benchmark.large", "benchmark.small", "benchmark.finished"

INDEXES = """
select format('drop index jobs.%I', i.indexname), i.indexdef
from pg_indexes as i
where
    i.schemaname = 'jobs'
    and i.tablename = 'occurrences'
    and not exists (select from pg_constraint as c where c.conname = i.indexname)
"""
CONSTRAINTS = """
select
    format('alter table jobs.occurrences drop constraint %I', c.conname),
    format('alter table jobs.occurrences add constraint %I %s', c.conname, pg_get_constraintdef(c.oid))
from pg_constraint as c
where c.conrelid = 'jobs.occurrences'::regclass and c.contype in ('p', 'u')
"""
FINISH = """
insert into jobs.occurrences (
    id, tenant, schedule, scheduled_at, tzdata, lock, due_at, state, attempts, fence, started_at, ended_at,
    selected_all, done
)
select
    gen_random_uuid(), (%(tenants)s::text[])[1 + g %% cardinality(%(tenants)s::text[])], %(schedule)s,
    jobs.now() - make_interval(days => %(days)s) - make_interval(secs => g), 'benchmark', %(schedule)s,
    jobs.now() - make_interval(days => %(days)s) - make_interval(secs => g), 'completed', 1, 1,
    jobs.now() - make_interval(days => %(days)s) - make_interval(secs => g),
    jobs.now() - make_interval(days => %(days)s) - make_interval(secs => g), true, 1
from generate_series(%(first)s::bigint, %(last)s::bigint) as g
"""
ATTEMPTS = """
insert into jobs.occurrence_attempts (
    occurrence, fence, tenant, attempt, worker, taken_at, started_at, expires_at, renewals, ended_at, ending
)
select id, 1, tenant, 1, gen_random_uuid(), due_at, due_at, due_at, 0, due_at, 'completed'
from jobs.occurrences
where schedule = %(schedule)s
"""
KEPT = "update jobs.schedules set kept_seconds = %(seconds)s where schedule = %(schedule)s"
LEFT = "select count(*) from jobs.occurrences where schedule = %(schedule)s"


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Claims beside history, beside retention, beside an old transaction."""
    yield await _beside_history(ground)
    async for figure in _beside_retention(ground):
        yield figure
    yield await _beside_old_transaction(ground)


async def _beside_history(ground: Ground) -> Figure:
    """The same claims in a database with much history and in one with little, in turn."""
    for database, rows in ((MUCH, ROWS), (LITTLE, FEW)):
        await ground.empty(database, TENANTS)
        with ground.superuser(database) as connection:
            finish(connection, rows, days=1)
    much: list[float] = []
    little: list[float] = []
    for number in range(ROUNDS + 1):
        for database, found in ((LITTLE, little), (MUCH, much)):
            seconds = await _claims(ground, database)
            if number:  # the first of each warms caches
                found.append(percentile(seconds, 99) * 1_000)
    return Figure(
        part=PART,
        what=f"a claim of {SLOTS} with {ROWS:,} finished occurrences in the table: p99 of {CLAIMS}",
        unit="ms",
        rounds=tuple(much),
        peer=f"with {FEW:,}",
        peer_rounds=tuple(little),
        at_most=1.5,
    )


async def _claims(ground: Ground, database: str, *, tidy: bool = True) -> list[float]:
    """Seconds of each claim of a round; `tidy`: what it left behind is vacuumed."""
    pool = await Database.open(ground.url(WORKER, database), name="benchmark", most=CONNECTIONS + SLOTS)
    try:
        with ground.superuser(database) as connection:
            put(connection, SCHEDULE, CLAIMS * SLOTS)
            work = _work(ground, pool)
            for _ in range(CLAIMS):
                await claim(work)
            await work.close()
            if tidy:
                connection.execute("vacuum (analyze) jobs.occurrences")
                connection.execute("checkpoint")
    finally:
        await pool.close()
    return [seconds for _, seconds in work.claims]


async def claim(work: TimedOccurrences) -> None:
    """Claim as many as there are slots, and run them to their end."""
    holder = uuid4()
    taken = await work.take(holder, SLOTS, {})
    deadline = time.monotonic() + 3_600
    await asyncio.gather(
        *(work.carry(RowLease(grant=grant, holder=holder, deadline=deadline)) for grant in taken.grants)
    )


def _work(ground: Ground, pool: Database) -> TimedOccurrences:
    records = jobs.records_with(ground.record_set, jobs.schedule(SCHEDULE), jobs.schedule(SMALL, batch=True))
    return worker_of(pool, records, jobs.application_over(0), slots=SLOTS)


async def _beside_retention(ground: Ground) -> AsyncIterator[Figure]:
    """Claims while retention removes rows, beside claims before it began."""
    await ground.empty(REMOVED, TENANTS)
    with ground.superuser(REMOVED) as connection:
        finish(connection, REMOVED_ROWS, days=100)
        connection.execute(ATTEMPTS, {"schedule": FINISHED})
        connection.execute("vacuum (analyze) jobs.occurrence_attempts")
        connection.execute(SCHEDULES, {"schedules": [FINISHED]})
        connection.execute(KEPT, {"seconds": 50 * 86_400, "schedule": FINISHED})
        await _claims(ground, REMOVED)
        quiet = [percentile(await _claims(ground, REMOVED, tidy=False), 99) * 1_000 for _ in range(ROUNDS)]
        pool = await Database.open(ground.url(WORKER, REMOVED), name="benchmark", most=CONNECTIONS + SLOTS)
        try:
            began = time.perf_counter()
            removing = asyncio.create_task(_remove(pool))
            during: list[float] = []
            while not removing.done():
                during.append(percentile(await _claims(ground, REMOVED, tidy=False), 99) * 1_000)
            seconds, runs = time.perf_counter() - began, await removing
        finally:
            await pool.close()
        row = connection.execute(LEFT, {"schedule": FINISHED}).fetchone()
        if row != (0,):
            raise RuntimeError(f"{row!r} of {REMOVED_ROWS:,} rows are left")
    middle = tuple(sorted(quiet)[len(quiet) // 2] for _ in during)
    yield Figure(
        part=PART,
        what=f"a claim of {SLOTS} while retention removes {REMOVED_ROWS:,} occurrences with their attempts: p99 of"
        f" {CLAIMS}, the middle of {len(during)} rounds",
        unit="ms",
        rounds=tuple(during),
        peer=f"the middle of {len(quiet)} rounds before",
        peer_rounds=middle,
        at_most=2,
    )
    yield Figure(
        part=PART,
        what=f"retention: {REMOVED_ROWS:,} occurrences with their attempts, beside those claims, in {runs} runs",
        unit="rows/s",
        rounds=(REMOVED_ROWS / seconds,),
    )


async def _remove(pool: Database) -> int:
    """Let the duty run, without its minute between two runs, until it finds nothing; how often it ran."""
    duty, runs = Retention(), 0
    async with pool.transaction(None) as transaction:
        await duty_rows.add_duty(transaction, duty.name)
    while True:
        lease = await take(pool, duty, uuid4(), woken=True)
        if lease is None:
            raise RuntimeError("somebody else has the lease of retention")
        done = await duty.run_once(lease)
        await give_back(lease, whole=True)
        if not done.get("occurrences"):
            return runs
        runs += 1


async def _beside_old_transaction(ground: Ground) -> Figure:
    """Short occurrences by the thousand while a transaction of before is open: the last claims beside the first."""
    await ground.empty(OLD, TENANTS)
    pool = await Database.open(ground.url(WORKER, OLD), name="benchmark", most=CONNECTIONS + SLOTS)
    try:
        with ground.superuser(OLD) as connection, ground.superuser(OLD) as old:
            put(connection, SMALL, PUSHED)
            connection.execute("analyze jobs.occurrences")
            old.execute("begin isolation level repeatable read")
            old.execute("select count(*) from jobs.occurrences")
            work = _work(ground, pool)
            seconds = await drain(work, connection, SMALL, PUSHED)
            # The first claims plan and prepare; they are nobody's measure.
            claims = [seconds for _, seconds in work.claims]
            warm = min(5, len(claims) // 4)
            ends = min(ENDS, (len(claims) - warm) // 3)
            first, last = claims[warm : warm + ends], claims[-ends:]
            old.execute("rollback")
    finally:
        await pool.close()
    return Figure(
        part=PART,
        what=f"the last {ends} claims of {PUSHED:,} short occurrences while a REPEATABLE READ transaction of before is"
        " open: middle",
        unit="ms",
        rounds=(percentile(last, 50) * 1_000,),
        peer=f"the first {ends}",
        peer_rounds=(percentile(first, 50) * 1_000,),
        at_most=10,
        note=f"{PUSHED / seconds:,.0f} occurrences a second, {len(claims):,} claims",
    )


def finish(connection: Connection, rows: int, *, days: int) -> None:
    """Make so many finished occurrences, one a second backwards from `days` ago, over all tenants."""
    connection.execute("set session_replication_role = replica")
    connection.execute("set synchronous_commit = off")
    connection.execute("set maintenance_work_mem = '512MB'")
    found = [*connection.execute(INDEXES).fetchall(), *connection.execute(CONSTRAINTS).fetchall()]
    for drop, _ in found:
        connection.execute(str(drop).encode())
    for first in range(1, rows + 1, FILL):
        last = min(first + FILL - 1, rows)
        values = {"tenants": list(TENANTS), "schedule": FINISHED, "days": days, "first": first, "last": last}
        connection.execute(FINISH, values)
        if last * 10 // rows != (first - 1) * 10 // rows:
            click.echo(f"  finished occurrences: {last:,} of {rows:,}", err=True)
    for _, create in found:
        connection.execute(str(create).encode())
    connection.execute("set session_replication_role = origin")
    connection.execute("vacuum (analyze) jobs.occurrences")
    connection.execute("checkpoint")
