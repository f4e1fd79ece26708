"""The database's absence: one place knows of it, everybody waits for that, and nobody's lease is reaped for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from jobservice.migrate import migrate
from jobservice.store.database import Database
from jobservice.worker.leased_work import RowLease, Why
from jobservice.worker.outage import Outage
from jobservice.worker.process import Pace, Worker
from tests.conftest import Server
from tests.fakes.waiting import eventually
from tests.worker.fake_work import FakeWork, forever
from tests.worker.test_process import Counting

QUICK = Pace(beat=0.05, first_pause=0.05, longest_pause=0.4)


@dataclass
class Hands:
    """A clock that is moved by hand."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")
async def test_after_an_outage_nobody_is_reaped_for_one_lease(worker_database: Database) -> None:
    """Leases that ran out meanwhile ran out for want of a database, not of a holder."""
    hands = Hands()
    outage = Outage(database=worker_database, clock=hands)
    assert outage.settled(30)
    outage.begin("gone")
    hands.now += 8
    assert not outage.settled(30), "while it is away nobody can say"
    await outage.step(woken=True)
    assert not outage.away
    hands.now += 29.9
    assert not outage.settled(30)
    hands.now += 0.1
    assert outage.settled(30)


async def test_an_outage_too_short_to_cost_anybody_a_lease_changes_nothing(worker_database: Database) -> None:
    hands = Hands()
    outage = Outage(database=worker_database, clock=hands)
    with capture_logs() as logs:
        for _ in range(3):
            outage.begin("one connection broke")
            await outage.step(woken=True)
    assert [(line["event"], line["reason"]) for line in logs] == [("database-blinked", "one connection broke")]
    outage.begin("one connection broke")
    hands.now += 4.9
    await outage.step(woken=True)
    assert outage.settled(30)
    assert not outage.settled(10), "a shorter lease may have run out"


@pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")
async def test_a_connection_lost_right_after_an_outage_does_not_make_it_forgotten(worker_database: Database) -> None:
    hands = Hands()
    outage = Outage(database=worker_database, clock=hands)
    for seconds in (60, 0, 2):
        outage.begin("gone")
        hands.now += seconds
        await outage.step(woken=True)
        hands.now += 1
        assert not outage.settled(30), "nobody could renew for a minute"
    hands.now += 27
    assert outage.settled(30)


async def test_all_wait_for_one_who_asks_and_it_says_how_long_it_was(worker_database: Database, tmp_path: Path) -> None:
    nowhere = await Database.open(f"postgresql://jobs_api@/jobs?host={tmp_path}", name="away", most=1)
    hands, over = Hands(), []
    try:
        outage = Outage(database=nowhere, clock=hands)
        outage.ended.append(lambda: over.append(hands.now))
        with capture_logs() as logs:
            for _ in range(3):
                outage.begin("gone")
            waiting = [asyncio.create_task(outage.over()) for _ in range(3)]
            pauses = [await outage.step(woken=True) for _ in range(2)]
            hands.now += 12
            outage.database = worker_database
            await outage.step(woken=False)
            await asyncio.gather(*waiting)
    finally:
        await nowhere.close()
    assert [line["event"] for line in logs] == ["database-away", "database-away", "database-there-again"]
    assert "No such file or directory" in logs[0]["reason"]
    assert (logs[2]["seconds"], logs[2]["reason"]) == (12.0, "gone")
    assert 0.25 <= pauses[0] <= 0.75 < 2 * pauses[1] <= 3.0, "growing, with jitter"
    assert over == [1_012.0]


@dataclass(kw_only=True)
class Runs:
    """Leased work that asks the database again and again, as a run does."""

    database: Database
    work: FakeWork = field(init=False)

    def __post_init__(self) -> None:
        self.work = FakeWork(database=self.database, carry_as=self.carry, lease=1.0, every=0.2)

    async def carry(self, lease: RowLease) -> None:
        """Two kinds of rows: one works on the database all the time, the other waits without it."""
        if len(self.work.taken) % 2:
            await forever(lease)
        while True:
            async with self.database.transaction(None) as transaction:
                await transaction.connection.execute("select pg_sleep(0.05)")


@asynccontextmanager
async def migrated(server: Server) -> AsyncIterator[Database]:
    """The Worker's database on that server."""
    migrate(server.url("jobs_owner", "jobs"))
    database = await Database.open(server.url("jobs_worker", "jobs"), name="worker", most=8, wait_seconds=0.3)
    try:
        yield database
    finally:
        await database.close()


@pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")
async def test_postgresql_stopped_under_load_and_started_again(spare_server: Server) -> None:
    """One line an interval for the whole process; what ran is given back, uncounted, and everything works on by itself."""
    async with migrated(spare_server) as database:
        duties = [Counting(name=name, every=0.05) for name in ("one", "two", "three")]
        runs = Runs(database=database)
        worker = Worker(database=database, duties=duties, leased=(runs.work,), stop=asyncio.Event(), pace=QUICK)
        with capture_logs() as logs:
            running = asyncio.create_task(worker.run())
            rows = runs.work.add(3)
            await eventually(lambda: len(runs.work.began) == 3 and all(duty.runs for duty in duties), what="work")
            await asyncio.to_thread(spare_server.cluster.stop)
            await eventually(lambda: len([line for line in logs if line["event"] == "database-away"]) >= 3, what="away")
            await eventually(lambda: not any(lease.live for lease in worker.helds[0].leases.values()), what="run out")
            reached = [duty.runs for duty in duties]
            asked = len(runs.work.asked)
            await asyncio.to_thread(spare_server.cluster.start)
            await eventually(lambda: sorted(runs.work.given_back) == sorted(rows), what="given back")
            await eventually(
                lambda: all(duty.runs > before for duty, before in zip(duties, reached, strict=True)), what="at work"
            )
            await eventually(lambda: len(runs.work.asked) > asked, what="it looks for work again")
            worker.stop.set()
            await running
        with spare_server.superuser("jobs") as connection:
            assert connection.execute("select stopped_at is not null from jobs.workers").fetchall() == [(True,)]
            assert connection.execute("select count(*) from jobs.duties where holder is not null").fetchone() == (0,)
    away = [line for line in logs if line["event"] == "database-away"]
    assert max(line["again_in_seconds"] for line in away) <= QUICK.longest_pause * 1.5
    assert [line["event"] for line in logs if line["event"] == "database-there-again"] == ["database-there-again"]
    noisy = {"worker-waits", "worker-step-failed", "work-failed", "leases-not-renewed", "worker-end-not-recorded"}
    assert [line for line in logs if line["event"] in noisy] == []
    assert Why.LOST in runs.work.cancelled_for.values(), "what waited was cancelled when its lease ran out"


async def test_a_worker_that_stops_while_the_database_is_away_does_not_wait_for_it(spare_server: Server) -> None:
    async with migrated(spare_server) as database:
        runs = Runs(database=database)
        worker = Worker(database=database, duties=(), leased=(runs.work,), stop=asyncio.Event(), pace=QUICK, grace=0.1)
        running = asyncio.create_task(worker.run())
        runs.work.add(2)
        await eventually(lambda: len(runs.work.began) == 2, what="work")
        await asyncio.to_thread(spare_server.cluster.stop)
        await eventually(lambda: any(lease.task is None or lease.task.done() for lease in held_by(worker)), what="away")
        with capture_logs() as logs:
            worker.stop.set()
            async with asyncio.timeout(15):
                await running
    said = [line["event"] for line in logs]
    assert said[-1] == "worker-stopped"
    assert "lease-kept" in said
    assert "worker-end-not-recorded" in said


def held_by(worker: Worker) -> list[RowLease]:
    """All leases of a Worker."""
    return [lease for held in worker.helds for lease in held.leases.values()]
