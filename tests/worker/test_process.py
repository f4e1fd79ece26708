"""A Worker process's life: known by its incarnation, patient while the database is away, gone in good order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
import pytest
from structlog.testing import capture_logs

from jobservice.store.database import Database
from jobservice.worker import process
from jobservice.worker.fenced import Lease, LeaseLost
from jobservice.worker.leased_work import RowLease, Taken, Why
from jobservice.worker.process import Pace, Worker
from tests.conftest import Clock
from tests.worker.fake_work import FakeWork, deaf, forever

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


def order(logs: Sequence[MutableMapping[str, Any]]) -> list[str]:
    """What the Worker said of its own end, in order."""
    return [line["event"] for line in logs if line["event"].startswith("worker-") and line["event"] != "worker-started"]


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[asyncio.Task[None]]:
    """The Worker at work; it has to end by itself before the block does."""
    running = asyncio.create_task(worker.run())
    try:
        yield running
        async with asyncio.timeout(20):
            await running
    finally:
        running.cancel()
        await asyncio.wait({running})


def worker_of(database: Database, *leased: FakeWork, grace: float = 20.0) -> Worker:
    """A Worker with that leased work alone."""
    return Worker(database=database, duties=(), leased=leased, stop=asyncio.Event(), grace=grace, pace=QUICK, slots=3)


@pytest.mark.requirement("stop-jobs-during-graceful-shutdown")
async def test_polling_stops_first_then_what_runs_drains_then_the_duties_end(
    worker_database: Database, superuser: psycopg.Connection[Any]
) -> None:
    finish, seen = asyncio.Event(), []

    async def long(lease: RowLease) -> None:
        await finish.wait()
        seen.append((lease.stopping(), lease.live, lease.why))
        lease.over = True

    work = FakeWork(carry_as=long, lease=0.3, every=0.05)
    worker = worker_of(worker_database, work)
    with capture_logs() as logs:
        async with working(worker) as running:
            work.add(2)
            await until(lambda: len(work.began) == 2)
            worker.stop.set()
            await until(lambda: "worker-polling-stopped" in order(logs))
            asked, renewed = len(work.asked), len(work.renewals)
            work.add(1)
            await until(lambda: len(work.renewals) >= renewed + 2)
            assert not running.done()
            drains = superuser.execute("select draining_at is not null, stopped_at, slots from jobs.workers").fetchone()
            assert drains == (True, None, 3), "it says that it drains, and beats on"
            finish.set()
    assert len(work.asked) == asked, "nothing new was asked for"
    assert seen == [(True, True, None)] * 2, "what ran was neither cancelled nor lost, and could know"
    assert order(logs) == [
        "worker-draining",
        "worker-polling-stopped",
        "worker-drained",
        "worker-duties-ended",
        "worker-stopped",
    ]
    assert superuser.execute("select stopped_at is not null from jobs.workers").fetchone() == (True,)
    assert work.given_back == []


@pytest.mark.requirement("stop-jobs-during-graceful-shutdown")
@pytest.mark.parametrize("second_signal", [False, True])
async def test_what_does_not_end_within_the_grace_is_cancelled_and_given_back(
    worker_database: Database, second_signal: bool
) -> None:
    work = FakeWork(carry_as=forever)
    worker = worker_of(worker_database, work, grace=60.0 if second_signal else 0.1)
    rows = work.add(3)
    with capture_logs() as logs:
        async with working(worker):
            await until(lambda: len(work.began) == 3)
            worker.stop.set()
            if second_signal:
                await until(lambda: "worker-polling-stopped" in order(logs))
                worker.at_once.set()
    assert order(logs) == [
        "worker-draining",
        "worker-polling-stopped",
        "worker-grace-over",
        "worker-leases-given-back",
        "worker-duties-ended",
        "worker-stopped",
    ]
    assert work.cancelled_for == dict.fromkeys(rows, Why.STOPPING)
    assert sorted(work.given_back) == sorted(rows)
    assert not worker.abandoned
    assert [len(held) for held in worker.helds] == [0]


async def test_work_that_swallows_its_cancellation_is_left_and_its_lease_given_back(
    worker_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CANCELLED_SECONDS", 0.1)
    work = FakeWork(carry_as=deaf)
    worker = worker_of(worker_database, work, grace=0.0)
    rows = work.add(1)
    async with working(worker):
        await until(lambda: len(work.began) == 1)
        worker.stop.set()
    assert worker.abandoned
    assert work.given_back == rows


async def test_what_is_taken_while_the_worker_begins_to_stop_is_given_back_unbegun(worker_database: Database) -> None:
    inside, go_on = asyncio.Event(), asyncio.Event()

    class Slow(FakeWork):
        async def take(self, holder: UUID, most: int, running: Mapping[str, int]) -> Taken:
            inside.set()
            await go_on.wait()
            return await FakeWork.take(self, holder, most, running)

    work = Slow()
    rows = work.add(2)
    worker = worker_of(worker_database, work)
    async with working(worker):
        await inside.wait()
        worker.stop.set()
        go_on.set()
    assert work.began == {}
    assert sorted(work.given_back) == sorted(rows)


async def test_a_worker_whose_row_has_gone_makes_itself_known_again(
    worker_database: Database, superuser: psycopg.Connection[Any]
) -> None:
    worker = worker_of(worker_database)

    def known() -> int:
        return len(superuser.execute("select 1 from jobs.workers").fetchall())

    async with working(worker):
        await until(lambda: known() == 1)
        # In a thread: the row is locked while this loop's own transactions beat.
        await asyncio.to_thread(superuser.execute, "delete from jobs.workers")
        await until(lambda: known() == 1)
        worker.stop.set()
