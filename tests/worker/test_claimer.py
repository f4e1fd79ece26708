"""Taking leased work: as much as there is room for, the moment it is due, and one row's trouble its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store.database import Database
from jobservice.worker import claimer
from jobservice.worker.claimer import Claimer
from jobservice.worker.duties import sleep
from jobservice.worker.held import Held
from jobservice.worker.leased_work import CARRIED, RowLease
from jobservice.worker.outage import Outage
from tests.fakes.waiting import eventually
from tests.worker.fake_work import FakeWork, at_once, forever

HOLDER = UUID(int=1)


@asynccontextmanager
async def claiming(work: FakeWork, database: Database) -> AsyncIterator[Claimer]:
    """A claimer at work, in a loop as the process's."""
    claims = Claimer(
        held=Held(work=work),
        holder=HOLDER,
        outage=Outage(database=database),
        stopping=lambda: False,
        leaving=asyncio.Event(),
    )

    async def loop() -> None:
        while True:
            claims.bell.clear()
            await sleep(await claims.step(woken=False), claims.bell)

    running = asyncio.create_task(loop())
    try:
        yield claims
    finally:
        running.cancel()
        for lease in claims.held.leases.values():
            if lease.task is not None:
                lease.task.cancel()
        await asyncio.sleep(0)


async def test_it_takes_what_there_is_room_for_and_more_when_a_row_is_settled(worker_database: Database) -> None:
    finish = asyncio.Event()

    async def until_told(lease: RowLease) -> None:
        assert CARRIED.get() is lease
        await finish.wait()
        lease.over = True

    work = FakeWork(most=3, carry_as=until_told)
    rows = work.add(8)
    async with claiming(work, worker_database) as claims:
        await eventually(lambda: len(work.began) == 3, what="as many began as there is room for")
        assert dict(claims.held.by_tenant()) == {"acme": 3}
        finish.set()
        await eventually(lambda: len(work.began) == 8, what="all began")
        assert work.taken == rows
    assert work.asked[0] == (3, {})
    assert all(most + sum(running.values()) <= 3 for most, running in work.asked)
    assert work.given_back == []
    assert work.holders == {HOLDER}


async def test_what_is_due_soon_begins_within_milliseconds(worker_database: Database) -> None:
    """The slow poll is half a minute away: what is due is known from the look before."""
    work = FakeWork(carry_as=at_once)
    rows = [*work.add(due_in=0.2), *work.add(due_in=0.35)]
    due = dict(work.waiting)
    async with claiming(work, worker_database):
        await eventually(lambda: len(work.began) == 2, what="both began", seconds=5)
    late = [work.began[row] - due[row] for row in rows]
    assert min(late) >= 0
    assert min(late) < 0.05, "the other may have waited for this machine"


async def test_a_bell_wakes_it_at_once_and_nothing_but_its_pace_does_otherwise(worker_database: Database) -> None:
    work = FakeWork(carry_as=at_once)
    async with claiming(work, worker_database) as claims:
        await eventually(lambda: len(work.asked) == 1, what="it looked")
        rung = time.monotonic()
        rows = work.add()
        claims.bell.set()
        await eventually(lambda: len(work.began) == 1, what="it began")
        assert work.began[rows[0]] - rung < 0.5
    slow = FakeWork(carry_as=at_once, every=0.05)
    async with claiming(slow, worker_database):
        await eventually(lambda: len(slow.asked) >= 2, what="it polls")


async def test_one_row_that_breaks_is_not_the_others_trouble(worker_database: Database) -> None:
    async def odd(lease: RowLease) -> None:
        if lease.grant.id == rows[0]:
            raise ZeroDivisionError
        if lease.grant.id == rows[1]:
            raise Refusal(ErrorCode.TIMED_OUT, "It took too long.")
        lease.over = True

    work = FakeWork(carry_as=odd)
    rows = work.add(3)
    with capture_logs() as logs:
        async with claiming(work, worker_database) as claims:
            await eventually(lambda: len(work.began) == 3 and not len(claims.held), what="all ended")
    assert sorted(work.given_back) == sorted(rows[:2])
    said = {line["row"]: line["event"] for line in logs if "row" in line}
    assert said == {str(rows[0]): "work-failed", str(rows[1]): "work-broken-off"}


async def test_what_was_given_back_is_not_taken_again_in_a_hot_loop(
    worker_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimer, "GIVEN_BACK_SECONDS", 0.1)

    async def broken(lease: RowLease) -> None:
        work.waiting[lease.grant.id] = 0.0  # it is free again
        raise Refusal(ErrorCode.TIMED_OUT, "It took too long.")

    work = FakeWork(carry_as=broken, most=1)
    work.add()
    began = time.monotonic()
    async with claiming(work, worker_database):
        await eventually(lambda: len(work.taken) >= 4, what="it is tried again")
    assert time.monotonic() - began >= 0.25


async def test_what_could_not_be_given_back_is_given_back_when_the_database_is_there_again(
    worker_database: Database,
) -> None:
    async def cut_off(lease: RowLease) -> None:
        work.is_away = True
        raise Refusal(ErrorCode.DATABASE_AWAY, "The database cannot be reached just now.")

    work = FakeWork(carry_as=cut_off)
    rows = work.add()
    async with claiming(work, worker_database) as claims:
        await eventually(lambda: claims.outage.away, what="the outage is known")
        assert (work.given_back, len(claims.held)) == ([], 1), "it still counts against the room"
        work.is_away = False
        await claims.outage.step(woken=True)
        await eventually(lambda: work.given_back == rows, what="it was given back")
        assert not len(claims.held)


async def test_a_row_that_is_cancelled_before_it_began_is_not_kept(worker_database: Database) -> None:
    work = FakeWork(carry_as=forever)
    held = Held(work=work)
    claims = Claimer(
        held=held,
        holder=HOLDER,
        outage=Outage(database=worker_database),
        stopping=lambda: False,
        leaving=asyncio.Event(),
    )
    rows = work.add()
    await claims.step(woken=False)
    held.cancel_asked(rows)
    await eventually(lambda: work.given_back == rows and not len(held), what="it was given back")
    assert work.began == {}
