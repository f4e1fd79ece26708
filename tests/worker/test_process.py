"""A Worker process's life: known by its incarnation, patient while the database is away, gone in good order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from jobservice.migrate import migrate
from jobservice.store.database import Database
from jobservice.worker.fenced import Lease, LeaseLost
from jobservice.worker.process import Pace, Worker
from tests.conftest import Clock, Server

QUICK = Pace(beat=0.05, first_pause=0.05, longest_pause=0.4)


@dataclass(kw_only=True)
class Counting:
    """A duty that counts its runs, and how many run at once."""

    name: str = "counting"
    every: float = 0.0
    lease: float = 30.0
    wakes: frozenset[str] = frozenset()
    runs: int = 0
    inside: int = 0
    most: int = 0
    holders: set[object] = field(default_factory=set)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """One unit of work that lets others run meanwhile."""
        async with lease.transaction() as transaction:
            self.inside += 1
            self.most = max(self.most, self.inside)
            await transaction.connection.execute("select pg_sleep(0.002)")
            self.inside -= 1
        self.runs += 1
        self.holders.add(lease.holder)
        return {}


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until that is so."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # what is waited for is in the database or a log
            await asyncio.sleep(0.01)


def waits(logs: Sequence[MutableMapping[str, Any]]) -> list[MutableMapping[str, Any]]:
    """The lines that say the database is waited for."""
    return [line for line in logs if line["event"] == "worker-waits"]


async def test_two_workers_run_a_duty_one_at_a_time(
    worker_database: Database, superuser: psycopg.Connection[Any]
) -> None:
    stop, duty = asyncio.Event(), Counting()
    workers = [Worker(database=worker_database, duties=(duty,), stop=stop, pace=QUICK) for _ in range(2)]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    await until(lambda: duty.runs >= 30 and len(duty.holders) == 2)
    stop.set()
    await asyncio.gather(*running)
    assert duty.most == 1
    rows = superuser.execute("select incarnation, stopped_at is not null from jobs.workers").fetchall()
    assert sorted(rows) == sorted((worker.incarnation, True) for worker in workers)
    assert superuser.execute("select holder, expires_at from jobs.duties").fetchall() == [(None, None)]


async def test_a_stop_hands_the_lease_back_unfinished(
    worker_database: Database, superuser: psycopg.Connection[Any]
) -> None:
    stop = asyncio.Event()

    class Long(Counting):
        async def run_once(self, lease: Lease) -> Mapping[str, int]:
            self.runs += 1
            while not lease.stopping():  # noqa: ASYNC110  # as a duty in the middle of its work
                await asyncio.sleep(0.01)
            return {}

    duty = Long(every=3600)
    running = asyncio.create_task(Worker(database=worker_database, duties=(duty,), stop=stop, pace=QUICK).run())
    await until(lambda: duty.runs == 1)
    stop.set()
    await running
    assert superuser.execute("select holder, finished_at, fence from jobs.duties").fetchall() == [(None, None, 1)]


async def test_a_lost_lease_ends_the_run_and_says_so(worker_database: Database, clock: Clock) -> None:
    stop, other = asyncio.Event(), asyncio.Event()

    class Slow(Counting):
        async def run_once(self, lease: Lease) -> Mapping[str, int]:
            self.runs += 1
            clock.advance(60)
            with suppress(LeaseLost):
                async with lease.transaction():
                    pytest.fail("wrote without the lease")
            other.set()
            raise LeaseLost(self.name)

    with capture_logs() as logs:
        running = asyncio.create_task(
            Worker(database=worker_database, duties=(Slow(every=3600),), stop=stop, pace=QUICK).run()
        )
        await until(other.is_set)
        await until(lambda: any(line["event"] == "lease-lost" for line in logs))
        stop.set()
        await running


async def test_a_duty_that_breaks_pauses_alone_and_goes_on(worker_database: Database) -> None:
    stop = asyncio.Event()

    class Broken(Counting):
        async def run_once(self, lease: Lease) -> Mapping[str, int]:
            self.runs += lease.fence > 0
            raise ZeroDivisionError

    broken, sound = Broken(name="broken"), Counting(name="sound")
    with capture_logs() as logs:
        running = asyncio.create_task(
            Worker(database=worker_database, duties=(broken, sound), stop=stop, pace=QUICK).run()
        )
        await until(lambda: broken.runs >= 3 and sound.runs >= 3)
        stop.set()
        await running
    failures = [line for line in logs if line["event"] == "worker-step-failed"]
    assert {line["step"] for line in failures} == {"broken"}
    assert abs(len(failures) - broken.runs) <= 1


async def test_a_database_stopped_and_started_again(spare_server: Server) -> None:
    migrate(spare_server.url("jobs_owner", "jobs"))
    database = await Database.open(spare_server.url("jobs_worker", "jobs"), name="worker", most=5, wait_seconds=0.3)
    stop, in_the_middle = asyncio.Event(), asyncio.Event()

    class Stopped(Counting):
        async def run_once(self, lease: Lease) -> Mapping[str, int]:
            if self.runs == 2 and not in_the_middle.is_set():
                async with lease.transaction():
                    in_the_middle.set()
                    await asyncio.to_thread(spare_server.cluster.stop)
            return await Counting.run_once(self, lease)

    duty = Stopped(every=0.05)
    worker = Worker(database=database, duties=(duty,), stop=stop, pace=QUICK)
    try:
        with capture_logs() as logs:
            running = asyncio.create_task(worker.run())
            await until(in_the_middle.is_set)
            await until(lambda: {line["step"] for line in waits(logs)} >= {"counting", "heartbeat"})
            await until(lambda: len([line for line in waits(logs) if line["step"] == "counting"]) >= 3)
            pauses = [line["seconds"] for line in waits(logs) if line["step"] == "counting"]
            reached = duty.runs
            await asyncio.to_thread(spare_server.cluster.start)
            await until(lambda: duty.runs >= reached + 3)
            stop.set()
            await running
    finally:
        await database.close()
    assert max(pauses) <= QUICK.longest_pause * 1.5
    assert {line["code"] for line in waits(logs)} == {"database-away"}
    assert [line["duty"] for line in logs if line["event"] == "lease-kept"] == ["counting"]
    assert [line for line in logs if line["event"] == "worker-step-failed"] == []
    with spare_server.superuser("jobs") as connection:
        assert connection.execute("select stopped_at is not null from jobs.workers").fetchall() == [(True,)]
