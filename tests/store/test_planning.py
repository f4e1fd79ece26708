"""The planner's statements: nothing without its lease, nothing that somebody touched, no other tenant's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobcontract.states import OccurrenceOrigin, SkipPolicy
from jobservice.rules.misfires import Skip, Waiting
from jobservice.rules.planning import New, Plan
from jobservice.store import duties as duty_rows
from jobservice.store import planning as store
from jobservice.store.database import Database
from jobservice.store.planning import Key, Stated, Written
from tests.conftest import Clock, People
from tests.worker.planners import Ground

HOLDER = UUID(int=3)
KEY: Key = ("acme", "job")
LeaseKey = Mapping[str, object]


@pytest.fixture
async def lease(worker_database: Database) -> LeaseKey:
    """The planner's lease."""
    async with worker_database.transaction(None) as transaction:
        await duty_rows.add_duty(transaction, "planner")
        row = await duty_rows.lock_duty(transaction, "planner", holder=HOLDER, every=0.0)
        assert row is not None
        fence = await duty_rows.take_duty(transaction, "planner", holder=HOLDER, fence=row["fence"], lease=60.0)
    return {"name": "planner", "holder": HOLDER, "fence": fence}


@pytest.fixture
def ground(worker_database: Database, people: People, clock: Clock) -> Ground:
    """acme and globex."""
    return Ground(database=worker_database, superuser=people.connection, clock=clock)


@pytest.fixture
def now(ground: Ground) -> datetime:
    """The clock."""
    ((now,),) = ground.superuser.execute("select jobs.now()").fetchall()
    assert isinstance(now, datetime)
    return now


def stated(*keys: Key) -> list[Stated]:
    """What the records say of them."""
    return [Stated(key=key, definition="every minute", kept_seconds=864_000.0) for key in keys]


def written(key: Key, **plan: Any) -> Written:
    """A plan for a schedule."""
    whole = {"definition": "every minute", "planned_until": datetime.fromisoformat("2026-03-10T10:00Z"), **plan}
    return Written(key=key, plan=Plan(**whole), zone="UTC", lock=key[1])


def new(instant: datetime) -> New:
    """A planned occurrence."""
    return New(
        at=instant, local=None, clock=None, origin=OccurrenceOrigin.PLANNED, miss_at=instant + timedelta(seconds=60)
    )


def skip(first: datetime, **changes: Any) -> Skip:
    """A run of one skipped instant."""
    whole = {
        **{"first_at": first, "last_at": first, "count": 1, "policy": SkipPolicy.MISFIRE_SKIP, "cause": "So."},
        **changes,
    }
    return Skip(**whole)


def everything(ground: Ground) -> list[list[tuple[Any, ...]]]:
    """All rows that the planner may write."""
    return [ground.rows("*", table, "order by 1, 2") for table in ("schedules", "occurrences", "skipped_instants")]


@pytest.mark.requirement("restrict-completion-by-fencing-value")
async def test_nothing_is_written_without_the_lease(
    ground: Ground, worker_database: Database, lease: LeaseKey, now: datetime
) -> None:
    past, future = now - timedelta(seconds=120), now + timedelta(seconds=60)
    async with worker_database.transaction(None) as transaction:
        await store.add(transaction, lease, stated(KEY, ("acme", "none")), now=now)
        await store.write(transaction, lease, [written(KEY, occurrences=(new(past), new(future)))], now=now, tzdata="x")
    before = everything(ground)
    changes = written(
        KEY,
        definition="another",
        take_back=True,
        hold=True,
        occurrences=(new(future + timedelta(seconds=1)),),
        skips=(skip(past),),
        made_up=(past,),
        dropped=(past,),
        restored=((past, future),),
    )
    for stale in ({**lease, "fence": 0}, {**lease, "holder": UUID(int=4)}):
        async with worker_database.transaction(None) as transaction:
            await store.add(transaction, stale, stated(("globex", "job")), now=now)
            await store.touch(transaction, stale, stated(KEY), now=future)
            await store.retire(transaction, stale, [("acme", "none"), KEY], now=now)
            await store.write(transaction, stale, [changes], now=now, tzdata="x")
        assert everything(ground) == before
    async with worker_database.transaction(None) as transaction:
        await store.write(transaction, lease, [changes], now=now, tzdata="x")
    assert [left == right for left, right in zip(everything(ground), before, strict=True)] == [False] * 3


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant", "derive-stable-occurrence-identity")
async def test_what_somebody_touched_and_what_is_another_tenants_stays(
    ground: Ground, worker_database: Database, lease: LeaseKey, now: datetime
) -> None:
    future = [now + timedelta(seconds=each) for each in (10, 20, 30, 40)]
    other: Key = ("globex", "job")
    async with worker_database.transaction(None) as transaction:
        await store.add(transaction, lease, stated(KEY, other), now=now)
        plans = [written(key, occurrences=tuple(map(new, future))) for key in (KEY, other)]
        await store.write(transaction, lease, plans, now=now, tzdata="x")
    for change, instant in zip(
        (
            "fence = 1",
            "origin = 'manual'",
            "cancel_asked_at = jobs.now(), cancelled_by = 'o.lind', cancel_reason = 'no'",
        ),
        future,
        strict=False,
    ):
        ground.superuser.execute(
            f"update jobs.occurrences set {change} where tenant = 'acme' and scheduled_at = %s", (instant,)
        )
    async with worker_database.transaction(None) as transaction:
        done = await store.write(transaction, lease, [written(KEY, take_back=True)], now=now, tzdata="x")
    assert done["taken_back"] == 1
    assert ground.occurrences("job") == future[:3]
    assert ground.occurrences("job", "globex") == future


async def test_what_waits_is_what_was_missed_or_made_up_for(
    ground: Ground, worker_database: Database, lease: LeaseKey, now: datetime
) -> None:
    past = [now - timedelta(seconds=each) for each in (500, 400, 300, 30)]
    async with worker_database.transaction(None) as transaction:
        await store.add(transaction, lease, stated(KEY), now=now)
        plan = written(KEY, occurrences=tuple(map(new, past)), made_up=(past[1],))
        await store.write(transaction, lease, [plan], now=now, tzdata="x")
        await store.write(transaction, lease, [written(KEY, made_up=(past[1],))], now=now, tzdata="x")
    ground.superuser.execute("update jobs.occurrences set fence = 1, attempts = 1 where scheduled_at = %s", (past[2],))
    async with worker_database.transaction(None) as transaction:
        locked = await store.lock(transaction, ["job"], now=now, batch=10)
        waiting = await store.waiting(transaction, [KEY], now=now)
        assert await store.lock(transaction, ["other"], now=now, batch=10) == ()
    assert [(each.key, each.missed) for each in locked] == [(KEY, True)]
    assert waiting == {
        KEY: (Waiting(at=past[0], missed=True, made_up=False), Waiting(at=past[1], missed=False, made_up=True))
    }


@pytest.mark.requirement("define-misfire-recovery")
async def test_a_run_of_skips_grows_and_follows_what_it_is_merged_into(
    ground: Ground, worker_database: Database, lease: LeaseKey, now: datetime
) -> None:
    first, second, third, fourth = (now - timedelta(seconds=60 * each) for each in (5, 4, 3, 2))
    once = {"policy": SkipPolicy.MISFIRE_ONCE}
    async with worker_database.transaction(None) as transaction:
        await store.add(transaction, lease, stated(KEY), now=now)
        begun = written(KEY, occurrences=(new(second), new(third)), skips=(skip(first, merged_into=second, **once),))
        await store.write(transaction, lease, [begun], now=now, tzdata="x")
        more = written(KEY, dropped=(second,), skips=(skip(second, merged_into=third, follows=first, **once),))
        await store.write(transaction, lease, [more], now=now, tzdata="x")
        last = (skip(third, merged_into=fourth, follows=None, **once), skip(first, follows=None))
        apart = written(KEY, occurrences=(new(fourth),), dropped=(third,), skips=last)
        await store.write(transaction, lease, [apart, written(("globex", "job"))], now=now, tzdata="x")
    assert ground.occurrences("job") == [fourth]
    assert set(ground.skips("job")) == {
        (first, second, 2, "misfire-once", fourth),
        (first, first, 1, "misfire-skip", None),
        (third, third, 1, "misfire-once", fourth),
    }


async def test_figures_are_read_by_the_api_and_written_by_the_worker_alone(
    ground: Ground, worker_database: Database, database: Database
) -> None:
    async with worker_database.transaction(None) as transaction:
        await store.count(transaction, late_seconds=10.0)
        await store.count(transaction, late_seconds=10.0)
    assert await read(database) == {"schedules-parked": 0, "occurrences-late": 0, "dead-letters": 0}
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.transaction(None) as transaction:
            await store.count(transaction, late_seconds=10.0)


async def read(database: Database) -> Mapping[str, int]:
    """The figures, as this role sees them."""
    async with database.transaction(None) as transaction:
        return await store.figures(transaction)
