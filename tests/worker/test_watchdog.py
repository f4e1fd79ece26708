"""A loop that does not turn: the culprit is named and ended, the others given back, and the process replaced."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from structlog.testing import capture_logs

from jobservice.store.database import Database
from jobservice.worker.leased_work import RowLease
from jobservice.worker.process import Worker
from jobservice.worker.watchdog import Watchdog
from tests.worker.fake_work import FakeWork


@dataclass
class Blocked:
    """A Worker in a thread of its own, whose loop is blocked by what its work does. Replacing it is only noted."""

    url: str
    work: FakeWork
    limit: float | None = None
    replaced: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    incarnation: UUID = field(default_factory=uuid4)

    def block(self) -> None:
        """Stand still, with the loop, until the test says otherwise."""
        self.go_on.wait(30)

    async def _live(self) -> None:
        database = await Database.open(self.url, name="blocked", most=4)
        stop = asyncio.Event()
        worker = Worker(
            database=database, duties=(), leased=(self.work,), stop=stop, grace=0.0, incarnation=self.incarnation
        )
        loop = asyncio.get_running_loop()

        def replace() -> None:
            self.replaced.set()
            loop.call_soon_threadsafe(stop.set)

        worker.watchdog = Watchdog(
            url=self.url, holder=worker.incarnation, replace=replace, look_seconds=0.05, least=0.2, limit=self.limit
        )
        await worker.run()
        await database.close()

    async def until_replaced(self) -> float:
        """Run until the watchdog replaced it, and to its end; how long the first took, seconds."""
        thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)
        began = time.monotonic()
        thread.start()
        try:
            assert await asyncio.to_thread(self.replaced.wait, 8), "nobody saw that the loop does not turn"
            return time.monotonic() - began
        finally:
            self.go_on.set()
            await asyncio.to_thread(thread.join, 20)


@pytest.mark.requirement("bound-job-duration")
async def test_a_run_that_blocks_the_loop_past_its_bound_is_ended_and_the_others_are_given_back(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    """The blocking is done in a task that the run's own task started: it is found all the same."""

    async def inner() -> None:
        blocked.block()

    async def carry(lease: RowLease) -> None:
        if lease.grant.id == culprit:
            await asyncio.sleep(0.2)  # the others have begun
            lease.bound = time.monotonic() + 0.3
            await asyncio.create_task(inner())
        await asyncio.Event().wait()

    work = FakeWork(carry_as=carry, lease=30.0)
    culprit, *others = work.add(3)
    blocked = Blocked(database_url("jobs_worker"), work)
    with capture_logs() as logs:
        seconds = await blocked.until_replaced()
    assert seconds < 5
    assert list(work.overran) == [culprit]
    assert "past its duration bound and blocked its Worker" in work.overran[culprit]
    assert sorted(work.given_back[:2]) == sorted(others)
    said = next(line for line in logs if line["event"] == "event-loop-blocked")
    assert (said["alarm"], said["row"], said["tenant"]) == (True, str(culprit), "acme")
    assert any("in block" in line for line in said["where"]), "the log shows where it stands"
    assert superuser.execute("select stopped_at is not null from jobs.workers").fetchall() == [(True,)]


@pytest.mark.requirement("bound-job-duration")
async def test_a_loop_that_stands_still_for_too_long_is_left_before_the_others_lose_their_leases(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    """Within its own bound, but beyond what the other leases of the process allow: half the shortest lease."""

    async def carry(lease: RowLease) -> None:
        if lease.grant.id == culprit:
            lease.bound = time.monotonic() + 3_600
            await asyncio.sleep(0.1)
            blocked.block()
        await asyncio.Event().wait()

    work = FakeWork(carry_as=carry, lease=1.6)
    culprit, other = work.add(2)
    blocked = Blocked(database_url("jobs_worker"), work)
    blocked.incarnation = UUID(int=8)
    for name, holder in (("its own", blocked.incarnation), ("another's", UUID(int=7))):
        superuser.execute(
            "insert into jobs.duties (name, holder, expires_at) values (%s, %s, jobs.now())", (name, holder)
        )
    seconds = await blocked.until_replaced()
    assert seconds < 1.6 + 1.0
    assert list(work.overran) == [culprit]
    assert "duration bound" not in work.overran[culprit]
    assert other in work.given_back
    held = superuser.execute("select name, holder from jobs.duties order by name").fetchall()
    assert held == [("another's", UUID(int=7)), ("its own", None)]


async def test_whoever_else_blocks_the_loop_is_nobodys_overrun(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    class Looks(FakeWork):
        async def take(self, *given: Any) -> Any:
            if self.began:
                blocked.block()
            return await FakeWork.take(self, *given)

    work = Looks(every=0.1)
    rows = work.add(1)
    blocked = Blocked(database_url("jobs_worker"), work, limit=0.4)
    with capture_logs() as logs:
        await blocked.until_replaced()
    assert work.overran == {}
    assert work.given_back[0] == rows[0]
    assert next(line for line in logs if line["event"] == "event-loop-blocked")["row"] is None


async def test_a_loop_that_turns_slowly_is_left_alone(database_url: Callable[[str], str], clean: None) -> None:
    turned = asyncio.Event()

    async def carry(lease: RowLease) -> None:
        lease.bound = time.monotonic()  # over its bound at once: the runner ends it, not the watchdog
        for _ in range(6):
            time.sleep(0.1)  # noqa: ASYNC251  # the block that is tested
            await asyncio.sleep(0)
        turned.set()
        lease.over = True

    work = FakeWork(carry_as=carry)
    database = await Database.open(database_url("jobs_worker"), name="slow", most=4)
    stop = asyncio.Event()
    replaced: list[bool] = []
    worker = Worker(database=database, duties=(), leased=(work,), stop=stop)
    worker.watchdog = Watchdog(
        url="", holder=worker.incarnation, replace=lambda: replaced.append(True), look_seconds=0.05, least=0.4
    )
    work.add(1)
    running = asyncio.create_task(worker.run())
    await asyncio.wait_for(turned.wait(), 20)
    stop.set()
    await running
    await database.close()
    assert replaced == []
    assert work.overran == {}
