"""Owns putting occurrences into a database and working through them as one Worker does, in this process: claiming,
running and settling are the service's own. Measures nothing itself but how long each claim took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from benchmarks.seeding import Connection
from jobservice.application import Application
from jobservice.records import RecordSet
from jobservice.store.database import Database
from jobservice.worker.leased_work import Taken
from jobservice.worker.occurrences import Occurrences
from jobservice.worker.process import Worker
from jobservice.worker.run_scope import SHARED, Room
from jobservice.worker.running import Runner

CONNECTIONS = 16 + SHARED
"""Of a Worker process, beside one for each slot; as `jobservice worker` has them."""
LEASE = 600.0
LOOK = 0.02
"""Least seconds between two looks whether all is done; ten times as long as a look takes, so that it takes little itself."""

SCHEDULES = """
insert into jobs.schedules (tenant, schedule, definition, planned_until)
select t.id, s, '', jobs.now()
from jobs.tenants as t
cross join unnest(%(schedules)s::text[]) as s
on conflict (tenant, schedule) do nothing
"""
PUT = """
insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)
select
    t.id, %(schedule)s, jobs.now() - make_interval(secs => g / 1e6), 'benchmark', %(schedule)s || g::text, jobs.now()
from generate_series(1, %(count)s) as g
inner join (select id, row_number() over (order by id) - 1 as number, count(*) over () as many from jobs.tenants) as t
    on t.number = g %% t.many
"""
CLEAR = "truncate jobs.occurrences, jobs.occurrence_attempts, jobs.occurrence_items"
COMPLETED = "select count(*) from jobs.occurrences where schedule = %(schedule)s and state = 'completed'"


def put(connection: Connection, schedule: str, count: int) -> None:
    """So many occurrences that are due now, shared out to all tenants, each under a lock of its own."""
    connection.execute(SCHEDULES, {"schedules": [schedule]})
    connection.execute(PUT, {"schedule": schedule, "count": count})


def clear(connection: Connection) -> None:
    """Take out what was measured before."""
    connection.execute(CLEAR)
    connection.execute("vacuum (analyze) jobs.schedules")
    connection.execute("checkpoint")


def completed(connection: Connection, schedule: str) -> int:
    """How many of them have completed."""
    row = connection.execute(COMPLETED, {"schedule": schedule}).fetchone()
    return 0 if row is None else int(row[0])


@dataclass(slots=True, kw_only=True, eq=False)
class TimedOccurrences(Occurrences):
    """Occurrences as a Worker takes them. `claims`: when each claim that found something began, and its seconds."""

    claims: list[tuple[float, float]] = field(default_factory=list)

    async def take(self, holder: UUID, most: int, running: Mapping[str, int]) -> Taken:
        """As the service's own."""
        began = time.perf_counter()
        # super() without arguments does not know a class with slots, which dataclass makes anew
        taken = await Occurrences.take(self, holder, most, running)
        if taken.grants:
            self.claims.append((began, time.perf_counter() - began))
        return taken


def worker_of(database: Database, records: RecordSet, application: Application, *, slots: int) -> TimedOccurrences:
    """Occurrences with their runner, as the Worker process wires them."""
    return TimedOccurrences(
        database=database,
        schedules=records.schedules,
        deployment="benchmark",
        runner=Runner(database=database, records=records, application=application, room=Room()),
        settled=lambda _: True,
        slots=slots,
        lease=LEASE,
    )


async def drain(work: Occurrences, connection: Connection, schedule: str, count: int) -> float:
    """Seconds until a Worker with all its loops has completed so many occurrences of the schedule, that are due."""
    stop = asyncio.Event()
    worker = Worker(database=work.database, duties=(), stop=stop, leased=(work,), incarnation=uuid4())
    began = time.perf_counter()
    running = asyncio.create_task(worker.run())
    try:
        while True:
            looked = time.perf_counter()
            if await asyncio.to_thread(completed, connection, schedule) >= count:
                return looked - began
            if running.done():
                raise RuntimeError("the Worker ended before its work")
            await asyncio.sleep(max(LOOK, 10 * (time.perf_counter() - looked)))
    finally:
        stop.set()
        await running
