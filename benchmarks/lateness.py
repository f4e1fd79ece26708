"""Owns measuring how late runs begin: from a notification to the use case's first line, ten thousand schedules that are
all due at one instant, and what a Worker takes of a core while nothing is due.

Each Worker is a process of its own, started as a person starts one, planned for by its own planner. Its use case writes
when it began on the monotonic clock, which all processes of a machine share; the database's clock is tied to that one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psutil

from benchmarks import jobs
from benchmarks.figures import Figure, percentile
from benchmarks.ground import SETTINGS, TENANT, Ground
from benchmarks.processes import SERVICE, environ, program, said
from benchmarks.seeding import Connection
from jobservice.bootstrap.dev import PUBLIC, WORKER
from jobservice.bootstrap.keyring import read_keys
from jobservice.bootstrap.public_keys import write_public_keys
from jobservice.settings import APPLICATION, DATABASE_URL, DEPLOYMENT, PUBLIC_KEYS

PART = "lateness"
DATABASE = "lateness"
TENANTS, RECORDS = 100, 100
SLOTS = 64
"""`worker.slots` of the Workers that are stormed: how many occurrences of the single path one runs at once."""
AHEAD = 50
"""Seconds before their instant at which the Worker that plans and runs them is started."""
ROUNDS = 2
ALL_BEGUN_SECONDS = 120.0
NOTIFIED, NOTIFIED_ROUNDS = 200, 3
PAUSE = 0.03
"""Seconds between two notifications, so that the one before is settled."""
LOOK = 0.002
IDLE_SECONDS, IDLE_ROUNDS, IDLE_AFTER = 30.0, 2, 15.0
"""How long an idle Worker is watched, how often, and how long after its start."""

TIE = "select extract(epoch from jobs.now())::float8"
PLANNED = "select count(*) from jobs.occurrences where scheduled_at = %(at)s and state = 'scheduled'"
PUT = """
insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)
values (%(tenant)s, %(schedule)s, jobs.now(), 'benchmark', %(schedule)s, jobs.now())
"""
NOTHING_LEFT = "select not exists (select from jobs.occurrences where state = 'processing')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A Worker process. `beginnings`: the file to which its use case writes."""

    pid: int
    beginnings: Path

    def begun(self, since: int = 0) -> list[tuple[str, float]]:
        """The schedule and the monotonic instant of each beginning behind the first `since`."""
        lines = self.beginnings.read_text("utf-8").splitlines() if self.beginnings.exists() else []
        return [(line.split()[1], float(line.split()[2])) for line in lines[since:]]


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """How late runs begin, and what waiting costs."""
    async for figure in _storms(ground):
        yield figure
    async for figure in _notified(ground):
        yield figure
    yield await _idle(ground)


async def _storms(ground: Ground) -> AsyncIterator[Figure]:
    """All schedules due at one instant."""
    late: dict[str, list[float]] = {"single": [], "batch": []}
    middle: dict[str, list[float]] = {"single": [], "batch": []}
    for _ in range(ROUNDS):
        for path, found in late.items():
            seconds = await _storm(ground, path)
            found.append(percentile(seconds, 99))
            middle[path].append(percentile(seconds, 50))
    for path, limit in (("single", 6.0), ("batch", 2.0)):
        half = ", ".join(f"{each:.2f} s" for each in middle[path])
        yield Figure(
            part=PART,
            what=f"{TENANTS * RECORDS:,} schedules over {TENANTS} tenants due at one instant, one Worker process of"
            f" {SLOTS} slots, {path} path: p99 from the instant to the use case's first line",
            unit="s",
            rounds=tuple(late[path]),
            at_most=limit,
            note=f"p50 {half}",
        )


async def _storm(ground: Ground, path: str) -> list[float]:
    """How late each began, seconds; RuntimeError where not all were planned ahead, or not all began."""
    tenants = [f"t{number:03}" for number in range(TENANTS)]
    await ground.empty(DATABASE, tenants)
    many = TENANTS * RECORDS
    with ground.superuser(DATABASE) as connection:
        zero = _tie(connection)
        at = _instant(connection) + timedelta(seconds=AHEAD)
        identifiers = [f"late.{path}-{number:03}" for number in range(RECORDS)]
        with _worker(ground, identifiers, anchor=at, path=path) as worker:
            await asyncio.sleep(at.timestamp() - zero - time.monotonic() - 1.0)
            planned = connection.execute(PLANNED, {"at": at}).fetchone()
            if planned != (many,):
                raise RuntimeError(f"{planned!r} of {many:,} occurrences were planned a second before their instant")
            end = time.monotonic() + ALL_BEGUN_SECONDS
            while len(begun := worker.begun()) < many:
                if time.monotonic() > end:
                    raise RuntimeError(f"{len(begun):,} of {many:,} began")
                await asyncio.sleep(0.5)
    return [began + zero - at.timestamp() for _, began in begun]


async def _notified(ground: Ground) -> AsyncIterator[Figure]:
    """From the commit of an occurrence that is due to its use case's first line, one at a time."""
    await ground.empty(DATABASE, (TENANT,))
    middle, rare, with_commit = [], [], []
    schedule = "late.alone"
    with ground.superuser(DATABASE) as connection:
        far = _instant(connection) + timedelta(minutes=30)
        with _worker(ground, [schedule], anchor=far, path="single") as worker:
            await asyncio.sleep(IDLE_AFTER)
            done = 0
            for number in range(NOTIFIED_ROUNDS + 1):
                waited, whole = [], []
                for _ in range(NOTIFIED):
                    before, after, began = await _one(connection, worker, schedule, done)
                    waited.append((began - after) * 1_000)
                    whole.append((began - before) * 1_000)
                    done += 1
                if number:  # the first round warms caches and prepares statements
                    middle.append(percentile(waited, 50))
                    rare.append(percentile(waited, 99))
                    with_commit.append(percentile(whole, 50))
    what = "from the commit of an occurrence that is due to its use case's first line, an idle Worker"
    commit = ", ".join(f"{each:.1f}" for each in with_commit)
    note = f"from before the commit, which waits for the disk: {commit} ms"
    yield Figure(part=PART, what=f"{what}: p50", unit="ms", rounds=tuple(middle), at_most=5, note=note)
    yield Figure(part=PART, what=f"{what}: p99", unit="ms", rounds=tuple(rare), at_most=50)


async def _one(connection: Connection, worker: Running, schedule: str, done: int) -> tuple[float, float, float]:
    """Monotonic: before the commit, when it was answered, and the first line."""
    connection.execute("begin")
    connection.execute(PUT, {"tenant": TENANT, "schedule": schedule})
    before = time.monotonic()
    connection.execute("commit")
    after = time.monotonic()
    while not (begun := worker.begun(done)):
        if time.monotonic() > after + ALL_BEGUN_SECONDS:
            raise RuntimeError("an occurrence that was due did not begin")
        await asyncio.sleep(LOOK)
    while connection.execute(NOTHING_LEFT).fetchone() != (True,):  # noqa: ASYNC110  # it is settled in another process
        await asyncio.sleep(LOOK)
    await asyncio.sleep(PAUSE)
    return before, after, begun[0][1]


async def _idle(ground: Ground) -> Figure:
    """What the example's Worker with all its duties takes of a core while nothing but its own schedules is due."""
    await ground.empty(DATABASE, (TENANT,))
    public = ground.folder / PUBLIC
    write_public_keys(read_keys(ground.keyring).public(), public)
    shares = []
    assignments = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    with _process(ground, "examples.payments:application", assignments, {PUBLIC_KEYS: str(public)}) as pid:
        await asyncio.sleep(IDLE_AFTER)
        process = psutil.Process(pid)
        for _ in range(IDLE_ROUNDS):
            before, began = _used(process), time.monotonic()
            await asyncio.sleep(IDLE_SECONDS)
            shares.append((_used(process) - before) / (time.monotonic() - began) * 100)
    return Figure(
        part=PART,
        what=f"an idle Worker process of the example, all duties and one tenant: share of a core over {IDLE_SECONDS:g} s",
        unit="%",
        rounds=tuple(shares),
        at_most=1,
        note="the rounds follow each other, so that the example's schedules of each minute are in one of them",
    )


@contextmanager
def _worker(ground: Ground, identifiers: Sequence[str], *, anchor: datetime, path: str) -> Iterator[Running]:
    """A Worker process that plans and runs these schedules."""
    folder, beginnings = ground.folder / "records", ground.folder / "beginnings.txt"
    jobs.write_records(folder, identifiers, anchor=anchor, path=path)
    beginnings.unlink(missing_ok=True)
    more = {jobs.RECORDS: str(folder), jobs.BEGINNINGS: str(beginnings)}
    with _process(ground, "benchmarks.jobs:application", ("--set", f"worker.slots={SLOTS}"), more) as pid:
        yield Running(pid=pid, beginnings=beginnings)


@contextmanager
def _process(ground: Ground, application: str, assignments: Sequence[str], more: Mapping[str, str]) -> Iterator[int]:
    """`jobservice worker`, ready; its process."""
    environment = environ(
        {
            DATABASE_URL: ground.url(WORKER, DATABASE),
            APPLICATION: application,
            DEPLOYMENT: "benchmark",
            **more,
        }
    )
    arguments = ("worker", *assignments, "--until-stdin-closes")
    with program(SERVICE, arguments, environment, log=ground.folder / "worker.log") as process:
        said(process)
        yield process.pid


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _tie(connection: Connection) -> float:
    """The database's clock when the monotonic one was zero, seconds since 1970: the closest of some looks."""
    looks = []
    for _ in range(50):
        before = time.monotonic()
        row = connection.execute(TIE).fetchone()
        after = time.monotonic()
        if row is not None:
            looks.append((after - before, row[0] - (before + after) / 2))
    return float(min(looks)[1])


def _instant(connection: Connection) -> datetime:
    """The next whole second of the database's clock."""
    row = connection.execute("select date_trunc('second', jobs.now()) + interval '1 second'").fetchone()
    if row is None or not isinstance(row[0], datetime):
        raise RuntimeError("the database has no clock")
    return row[0]
