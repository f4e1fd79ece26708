"""A Worker that a person drains: it takes no lease of any kind, ends what it has, stays alive, and takes again when let."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest

from jobservice.store.database import Database
from jobservice.worker.fenced import Lease
from jobservice.worker.leased_work import RowLease
from jobservice.worker.process import Pace, Worker
from tests.conftest import Clock, People
from tests.occurrence_rows import OccurrenceRows
from tests.worker.fake_work import FakeWork
from tests.worker.occurrences_stage import Stage
from tests.worker.test_process import QUICK, Counting, until, working

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
ASK = "update jobs.workers set drain_asked_at = jobs.now(), drain_asked_by = 'o.lind', drain_reason = 'kernel'"
LET = "update jobs.workers set drain_asked_at = null, drain_asked_by = null, drain_reason = null"


class Long(Counting):
    """A duty that would run for ever."""

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Until it is to stop."""
        self.runs += 1
        while not lease.stopping():  # noqa: ASYNC110  # as a duty in the middle of its work
            await asyncio.sleep(0.01)
        return {}


def draining(superuser: psycopg.Connection[Any]) -> bool:
    """Whether the Worker says that it drains."""
    return superuser.execute("select draining_at is not null from jobs.workers").fetchone() == (True,)


async def written(superuser: psycopg.Connection[Any], statement: str, *, heard: bool = True) -> None:
    """Write it, and nobody is told unless `heard`: in a thread, as the Worker may be in the middle of a beat."""

    def write() -> None:
        with superuser.transaction():
            if not heard:
                superuser.execute("set local session_replication_role = replica")
            superuser.execute(statement.encode())

    await asyncio.to_thread(write)


async def test_it_takes_nothing_ends_what_it_has_and_takes_again(
    worker_database: Database, superuser: psycopg.Connection[Any]
) -> None:
    finish, ended = asyncio.Event(), []

    async def long(lease: RowLease) -> None:
        await finish.wait()
        ended.append(lease.why)
        lease.over = True

    work, duty = FakeWork(carry_as=long, every=0.02), Long(every=0.02, name="planner")
    worker = Worker(
        database=worker_database,
        duties=(duty,),
        leased=(work,),
        stop=asyncio.Event(),
        pace=Pace(beat=3_600, first_pause=0.05, longest_pause=0.4),  # it hears of it, and does not wait for a beat
    )
    (first,) = work.add()
    async with working(worker):
        await until(lambda: len(work.began) == 1 and duty.runs == 1)
        await written(superuser, ASK)
        await until(lambda: draining(superuser))
        await until(lambda: superuser.execute("select holder from jobs.duties").fetchone() == (None,))
        work.add()
        before = len(work.asked)
        superuser.execute("notify jobs_work, 'fake'")
        superuser.execute("notify jobs_work, 'drain'")
        await asyncio.sleep(0.3)  # nothing is to come: as many steps as there are in it
        assert (len(work.asked), duty.runs, list(work.began)) == (before, 1, [first])
        assert worker.drains
        assert ended == [], "what runs is not cut off"
        finish.set()
        await until(lambda: ended == [None])
        await written(superuser, LET)
        await until(lambda: len(work.began) == 2 and duty.runs == 2)
        assert not draining(superuser)
        worker.stop.set()


@pytest.mark.parametrize(
    ("hold", "free"),
    [
        (
            "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'tenant', 'acme', 'o.lind', 'x')",
            "delete from jobs.stops",
        ),
        (
            "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'x'",
            "update jobs.schedules set disabled_at = null, disabled_by = null, disabled_reason = null",
        ),
    ],
    ids=["stop", "schedule"],
)
async def test_what_is_let_go_is_taken_at_once_and_not_with_the_next_look(
    worker_database: Database, people: People, clock: Clock, hold: str, free: str
) -> None:
    rows = OccurrenceRows(people.connection)
    stage = Stage(worker_database, rows, clock)
    held, first = rows.add("s.one", due=-9), rows.add("s.two", tenant="globex")
    people.connection.execute(hold.encode())
    people.connection.execute(
        "update jobs.schedules set disabled_at = null, disabled_by = null, disabled_reason = null"
        " where tenant = 'globex'"
    )
    worker = Worker(
        database=worker_database, duties=(), leased=(stage.work(every=3_600.0),), stop=asyncio.Event(), pace=QUICK
    )
    async with working(worker):
        await until(lambda: rows.one(first)["state"] == "completed" and not len(worker.helds[0]))
        await asyncio.sleep(0.5)  # it looks once more after the row that ended: nothing else is to come
        assert rows.one(held)["state"] == "scheduled"
        await written(people.connection, free)
        await until(lambda: rows.one(held)["state"] == "completed")
        worker.stop.set()
    await stage.close()


async def test_it_reads_its_row_with_each_beat_and_stopping_is_not_undone_by_one(
    worker_database: Database, superuser: psycopg.Connection[Any]
) -> None:
    """The notification was lost, or it began with the row of a restored backup."""
    finish = asyncio.Event()

    async def long(lease: RowLease) -> None:
        await finish.wait()
        lease.over = True

    work = FakeWork(carry_as=long)
    worker = Worker(database=worker_database, duties=(), leased=(work,), stop=asyncio.Event(), pace=QUICK)
    work.add()
    async with working(worker):
        await until(lambda: len(work.began) == 1)
        await written(superuser, ASK, heard=False)
        await until(lambda: worker.drains and draining(superuser))
        await written(superuser, LET, heard=False)
        await until(lambda: not worker.drains and not draining(superuser))
        worker.stop.set()
        await until(lambda: draining(superuser))
        (beat,) = superuser.execute("select beat_at from jobs.workers").fetchone() or (None,)
        await until(lambda: superuser.execute("select beat_at > %s from jobs.workers", (beat,)).fetchone() == (True,))
        assert draining(superuser), "it ends: a beat does not say that it takes work"
        finish.set()
