"""What waits of a schedule that is switched off, or of a tenant that is stopped, is not claimed; what was claimed goes on."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from jobservice.store import occurrence_leases as store
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import Look
from jobservice.worker.occurrence_lanes import Heads
from tests.conftest import Clock, People
from tests.occurrence_rows import EVERYTHING, Holder, OccurrenceRows, completed

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
OFF = "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'bank'"
ON = "update jobs.schedules set disabled_at = null, disabled_until = null, disabled_by = null, disabled_reason = null"
STOP = "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'tenant', 'acme', 'o.lind', 'fire')"
HOLDS = {
    "off": (f"{OFF} where tenant = 'acme' and schedule = 's.one'", ON),
    "stopped": (STOP, "delete from jobs.stops"),
}


@pytest.fixture
def rows(superuser: psycopg.Connection[Any], people: People) -> OccurrenceRows:
    """Occurrences of the test."""
    return OccurrenceRows(people.connection)


@pytest.fixture
def worker(worker_database: Database) -> Holder:
    """A Worker."""
    return Holder(worker_database)


async def looked(worker: Holder) -> Look:
    """What one look sees."""
    async with worker.database.transaction(None) as transaction:
        return await store.look(transaction, worker.runnable, EVERYTHING, free=10)


async def claimed(worker: Holder) -> list[UUID]:
    """What a Worker claims that did not look before, as it was told a moment ago that there is something."""
    async with worker.database.transaction(None) as transaction:
        shares = {"acme": 5, "globex": 5}
        found = await store.claim(transaction, worker.runnable, EVERYTHING, shares, holder=worker.id, lease=30.0)
    return [each.id for each in found]


@pytest.mark.parametrize("how", HOLDS)
async def test_what_is_held_is_seen_to_wait_and_neither_counted_nor_claimed(
    rows: OccurrenceRows, worker: Holder, how: str
) -> None:
    hold, free = HOLDS[how]
    held, theirs = rows.add(due=-60), rows.add(tenant="globex", due=-5)
    others = [] if how == "stopped" else [rows.add("s.two", due=-30)]
    coming = rows.add("s.three", due=300)
    rows.connection.execute(hold)
    seen = await looked(worker)
    counts = {each.tenant: each.count for each in seen.waiting}
    assert counts == {"acme": len(others), "globex": 1}
    assert seen.waiting[0].tenant == "acme", "it waits longest all the same: later looks begin there"
    assert seen.next_in is not None
    assert 250 < seen.next_in <= 300, "nobody looks again and again for what is held"
    assert set(await claimed(worker)) == {theirs, *others}
    assert rows.one(held)["state"] == "scheduled"
    heads = Heads()
    heads.saw(await looked(worker), heads.since(), 0.0)
    rows.connection.execute(free)
    async with worker.database.transaction(None) as transaction:
        again = await store.look(transaction, worker.runnable, heads.since(), free=10)
    assert [(each.tenant, each.count) for each in again.waiting] == [("acme", 1)], "seen at once when it is let go"
    assert await claimed(worker) == [held]
    assert rows.one(coming)["state"] == "scheduled"


async def test_the_time_for_which_a_schedule_is_off_ends_by_itself(
    rows: OccurrenceRows, worker: Holder, clock: Clock
) -> None:
    held = rows.add(due=-60)
    rows.connection.execute(f"{OFF}, disabled_until = jobs.now() + interval '1 hour'".encode())
    assert await worker.take() == []
    clock.advance(3_600)
    assert [each.id for each in await worker.take()] == [held]


@pytest.mark.parametrize("how", HOLDS)
async def test_what_was_claimed_goes_on_to_its_end_and_its_next_attempt_waits(
    rows: OccurrenceRows, worker: Holder, clock: Clock, how: str
) -> None:
    hold, free = HOLDS[how]
    first, lost = rows.add(lock="a"), rows.add(lock="b")
    taken = {each.id: each for each in await worker.take()}
    rows.connection.execute(hold)
    assert {each.id for each in await worker.renew(*taken.values())} == {first, lost}
    await worker.settle(completed(taken[first]))
    assert rows.one(first)["state"] == "completed"
    clock.advance(60)
    other = Holder(worker.database)
    async with other.database.transaction(None) as transaction:
        (lapsed,) = await store.lapsed(transaction, other.runnable, most=9, unknown_after=600)
        assert (lapsed.id, lapsed.waits) == (lost, True)
        loss = store.Loss(id=lost, fence=lapsed.fence, error="Worker was lost.", waits=lapsed.waits)
        assert (await store.lose(transaction, [loss], holder=other.id, lease=30.0))[0] == ()
    row = rows.one(lost)
    assert (row["state"], row["holder"], row["attempts"], row["fence"]) == ("scheduled", None, 1, 1)
    assert [each["ending"] for each in rows.attempts(lost)] == ["lost"]
    assert await worker.settle(completed(taken[lost])) == (), "the old Worker's word comes too late"
    assert await other.take() == []
    rows.connection.execute(free)
    (again,) = await other.take()
    assert (again.id, again.attempts, again.fence, again.fence_base) == (lost, 2, 2, 0)


async def test_attempts_are_kept_with_the_replay_that_they_belong_to(
    rows: OccurrenceRows, worker: Holder, clock: Clock
) -> None:
    found = rows.add()
    await worker.take()
    clock.advance(60)
    (taken,) = await worker.take_over()
    await worker.settle(completed(taken))
    rows.connection.execute(
        "update jobs.occurrences set state = 'scheduled', ended_at = null, attempts = 0, replays = 1, fence_base = fence"
    )
    (taken,) = await worker.take()
    assert (taken.fence, taken.fence_base, taken.attempts) == (3, 2, 1)
    assert await worker.hand_back(taken)
    (taken,) = await worker.take()
    clock.advance(60)
    (again,) = await Holder(worker.database).take_over()
    assert (again.fence, again.fence_base, again.attempts) == (5, 2, 2)
    clock.advance(60)
    async with worker.database.transaction(None) as transaction:
        (lapsed,) = await store.lapsed(transaction, worker.runnable, most=9, unknown_after=600)
        returned = await store.hand_back_unknown(transaction, (), holder=again.id, expired_too=True, error="x")
    assert lapsed.losses == 2, "those of this course, with this one"
    assert returned == frozenset()
    kept = [(each["fence"], each["attempt"], each["replay"], each["ending"]) for each in rows.attempts(found)]
    assert kept == [
        (1, 1, 0, "lost"),
        (2, 2, 0, "completed"),
        (3, 1, 1, "handed-back"),
        (4, 1, 1, "lost"),
    ]


@pytest.mark.parametrize("touch", ["take_back", "hold", "drop", "make_up", "restore", "waiting"])
async def test_the_planner_leaves_what_was_replayed_alone_though_nobody_ever_claimed_it(
    rows: OccurrenceRows, worker_database: Database, touch: str
) -> None:
    found = rows.add(due=-60)
    if touch == "take_back":
        rows.connection.execute("delete from jobs.occurrences")
        rows.connection.execute(
            "insert into jobs.occurrences (id, tenant, schedule, scheduled_at, tzdata, lock, due_at) values"
            " (%s, 'acme', 's.one', jobs.now() + interval '1 hour', 'test', 's.one', jobs.now())",
            [found],
        )
    rows.connection.execute(
        "update jobs.occurrences set replays = 1, origin = case when %s then 'made-up' else origin end",
        [touch == "waiting"],
    )
    rows.connection.execute(
        "insert into jobs.duties (name, holder, fence, expires_at) values ('planner', %s, 1, jobs.now() + interval '1 h')",
        [UUID(int=5)],
    )
    before = rows.one(found)
    at = before["scheduled_at"].isoformat()
    given = [{"tenant": "acme", "schedule": "s.one", "at": at, "miss_at": at, "merged_into": None}]
    async with worker_database.transaction(None) as transaction:
        values = {"name": "planner", "holder": UUID(int=5), "fence": 1, "now": (await looked_at(transaction))}
        many = {"tenants": ["acme"], "schedules": ["s.one"], "rows": Jsonb(given), "most": 9}
        if touch == "waiting":
            assert await transaction.rows("planning/waiting", **values, **many) == []
        else:
            await transaction.run(f"planning/{touch}", **values, **many)
    assert rows.one(found) == before


async def looked_at(transaction: Any) -> Any:
    """The database's clock."""
    row = await transaction.row("items/now")
    return row["now"]
