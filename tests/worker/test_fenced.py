"""The lease of a duty: one holder at a time, a fence that only rises, and nothing written without it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from jobservice.store import duties as rows
from jobservice.store.database import Database
from jobservice.worker.fenced import TAKEN_SECONDS, Fenced, Lease, LeaseLost, give_back, take
from tests.conftest import Clock

FIRST, SECOND = UUID(int=1), UUID(int=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """A duty that does nothing."""

    name: str = "idle"
    every: float = 10.0
    lease: float = 30.0
    wakes: frozenset[str] = frozenset()

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Nothing but its fence."""
        return {"fence": lease.fence}


DUTY = Idle()


@pytest.fixture
async def known(worker_database: Database) -> Database:
    """The Worker's database with the duty's row."""
    async with worker_database.transaction(None) as transaction:
        await rows.add_duty(transaction, DUTY.name)
    return worker_database


async def taken(database: Database, holder: UUID) -> Lease:
    """The lease, which must be free."""
    lease = await take(database, DUTY, holder)
    assert lease is not None
    return lease


async def test_one_holds_it_and_the_other_does_not(known: Database) -> None:
    lease = await taken(known, FIRST)
    assert lease.fence == 1
    assert await take(known, DUTY, SECOND) is None


async def test_its_own_lease_that_could_not_be_given_back_is_taken_again_at_once(known: Database) -> None:
    """The database went away in the middle of a run: when it is back, the duty does not stand still for a lease."""
    kept = await taken(known, FIRST)
    again = await taken(known, FIRST)
    assert again.fence == kept.fence + 1
    with pytest.raises(LeaseLost):
        async with kept.transaction():
            pytest.fail("what was left of the first run wrote beside the second")
    assert not await give_back(kept, whole=True)
    assert await give_back(again, whole=True)


async def test_a_whole_run_is_followed_by_a_pause_and_a_broken_one_is_not(known: Database, clock: Clock) -> None:
    assert await give_back(await taken(known, FIRST), whole=False)
    assert await give_back(await taken(known, SECOND), whole=True)
    assert await take(known, DUTY, FIRST) is None
    clock.advance(10)
    assert (await taken(known, FIRST)).fence == 3


async def test_a_lease_that_ended_is_taken_over_and_the_late_holder_writes_nothing(
    known: Database, clock: Clock, superuser: psycopg.Connection[Any]
) -> None:
    late = await taken(known, FIRST)
    clock.advance(31)
    current = await taken(known, SECOND)
    assert current.fence == late.fence + 1
    with pytest.raises(LeaseLost):
        async with late.transaction():
            pytest.fail("the unit of work began without the lease")
    assert not await give_back(late, whole=True)
    assert superuser.execute("select holder, fence from jobs.duties").fetchone() == (SECOND, 2)


async def test_a_lease_that_ended_is_lost_even_where_nobody_took_it(known: Database, clock: Clock) -> None:
    lease = await taken(known, FIRST)
    clock.advance(31)
    with pytest.raises(LeaseLost):
        async with lease.transaction():
            pytest.fail("the unit of work began without the lease")


async def test_each_unit_of_work_extends_the_lease(known: Database, clock: Clock) -> None:
    lease = await taken(known, FIRST)
    for _ in range(4):
        clock.advance(20)
        async with lease.transaction():
            pass
    assert await take(known, DUTY, SECOND) is None


async def test_nobody_takes_it_over_in_the_middle_of_a_unit_of_work(known: Database, clock: Clock) -> None:
    lease = await taken(known, FIRST)
    async with lease.transaction():
        clock.advance(3600)
        assert await take(known, DUTY, SECOND) is None


async def test_a_stale_fence_deletes_nothing(known: Database, superuser: psycopg.Connection[Any]) -> None:
    lease = await taken(known, FIRST)
    superuser.execute(
        "insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)"
        " values ('acme', 'x', 'POST', '/', 'k', '', 200, '{}', jobs.now() - interval '1 s')"
    )
    superuser.execute(
        "insert into jobs.hints (tenant, topic, queue, ref, version, at)"
        " values ('acme', 'item', 'q', 'r', 1, jobs.now() - interval '1 day')"
    )
    for stale in ({**lease.key, "fence": 0}, {**lease.key, "holder": uuid4()}):
        async with known.transaction(None) as transaction:
            assert await rows.expire_idempotency_keys(transaction, stale, batch=10) == 0
            assert await rows.remove_old_hints(transaction, stale, keep=1, batch=10) == 0
    async with known.transaction(None) as transaction:
        assert await rows.expire_idempotency_keys(transaction, lease.key, batch=10) == 1
    removed = 0
    async with asyncio.timeout(30):  # hints stay while anything that began before them runs on the server
        while not removed:
            async with known.transaction(None) as transaction:
                removed = await rows.remove_old_hints(transaction, lease.key, keep=1, batch=10)
            await asyncio.sleep(0)
    assert removed == 1


@dataclass(slots=True, kw_only=True)
class Noted:
    """A duty that notes its runs."""

    name: str = "idle"
    every: float = 3_600.0
    lease: float = 30.0
    wakes: frozenset[str] = frozenset({"noted"})
    runs: int = 0

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Note it."""
        assert lease.duty == self.name
        self.runs += 1
        return {}


@dataclass(slots=True, kw_only=True)
class Choosy(Noted):
    """One that can tell whether it has anything to do."""

    wants: bool = False

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # it asks nobody
        """As the test says."""
        return self.wants


def fenced(database: Database, duty: Noted, holder: UUID = FIRST) -> Fenced:
    """The duty as a Worker has it."""
    return Fenced(duty=duty, database=database, holder=holder, stopping=lambda: False)


async def test_a_bell_runs_it_before_its_time(known: Database) -> None:
    duty = Noted()
    of_worker = fenced(known, duty)
    assert await of_worker.step(woken=False) == duty.every
    await of_worker.step(woken=False)
    assert duty.runs == 1, "it is not due again"
    assert await of_worker.step(woken=True) == duty.every
    assert duty.runs == 2


async def test_woken_while_another_worker_is_at_it_looks_again_soon(known: Database) -> None:
    """The other one may have looked already, where what the bell was rung for had not yet been written."""
    duty = Noted()
    of_worker = fenced(known, duty, SECOND)
    busy = await taken(known, FIRST)
    assert await of_worker.step(woken=True) == TAKEN_SECONDS
    assert await give_back(busy, whole=True)
    await of_worker.step(woken=False)
    assert duty.runs == 1, "not due, and run all the same"
    await of_worker.step(woken=False)
    assert duty.runs == 1


async def test_one_that_has_nothing_to_do_takes_no_lease(known: Database, superuser: psycopg.Connection[Any]) -> None:
    duty = Choosy()
    of_worker = fenced(known, duty)
    await of_worker.step(woken=True)
    assert superuser.execute("select fence from jobs.duties").fetchone() == (0,)
    duty.wants = True
    await of_worker.step(woken=False)
    assert (duty.runs, superuser.execute("select fence from jobs.duties").fetchone()) == (1, (1,))
