"""Housekeeping: lapsed claims end in the history and on the item, streams are told, tables stay small."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobservice.store import duties as rows
from jobservice.store.database import Database
from jobservice.worker.fenced import Lease, take
from jobservice.worker.housekeeping import Housekeeping
from tests.conftest import Clock, People

Superuser = psycopg.Connection[Any]
HOLDER = UUID(int=7)
DUTY = Housekeeping(hints_keep=600, batch=3)


@pytest.fixture
async def lease(worker_database: Database) -> Lease:
    """Housekeeping, leased."""
    async with worker_database.transaction(None) as transaction:
        await rows.add_duty(transaction, DUTY.name)
    lease = await take(worker_database, DUTY, HOLDER)
    assert lease is not None
    return lease


def claimed(connection: Superuser, tenant: str, person: str, seconds: float) -> UUID:
    """An item whose claim has `seconds` left."""
    row = connection.execute(
        "insert into jobs.items (tenant, queue, title, created, pushed_by, changed_by, holder, taken_at, expires_at,"
        " fence) values (%s, 'q', 't', jobs.now(), 'x', 'x', %s, jobs.now(), jobs.now() + make_interval(secs => %s), 4)"
        " returning id, expires_at",
        (tenant, person, seconds),
    ).fetchone()
    assert row is not None
    connection.execute(
        "insert into jobs.claims (item, fence, tenant, queue, holder, taken_at, expires_at)"
        " values (%s, 4, %s, 'q', %s, jobs.now(), %s)",
        (row[0], tenant, person, row[1]),
    )
    identifier: UUID = row[0]
    return identifier


@pytest.mark.requirement("release-claims-past-their-lease", "MONEY-31")
async def test_lapsed_claims_of_every_tenant_end_and_live_ones_stay(
    lease: Lease, people: People, clock: Clock, database_url: Any
) -> None:
    lapsing = {claimed(people.connection, "acme", "m.ito", 10) for _ in range(7)}
    lapsing |= {claimed(people.connection, "globex", "g.fin", 10)}
    live = claimed(people.connection, "acme", "k.rao", 60)
    assert await DUTY.run_once(lease) == {}
    assert not await DUTY.wanted(lease.database, HOLDER)
    with psycopg.connect(database_url("jobs_api"), autocommit=True) as listener:
        listener.execute("listen jobs_hints")
        clock.advance(11)
        assert await DUTY.wanted(lease.database, HOLDER)
        assert await DUTY.run_once(lease) == {"claims": 8}
        told = [notification.payload for notification in listener.notifies(timeout=0.2)]
    assert set(told) == {"acme", "globex"}
    ended = people.connection.execute("select item from jobs.claims where ending = 'lapsed' and ended_at = expires_at")
    assert {item for (item,) in ended} == lapsing
    assert people.connection.execute(
        "select id, holder, fence from jobs.items where holder is not null"
    ).fetchall() == [(live, "k.rao", 4)]
    hints = people.connection.execute("select ref::uuid, version, tenant from jobs.hints").fetchall()
    assert {ref for ref, _, _ in hints} == lapsing
    assert {version for _, version, _ in hints} == {2}
    money = people.connection.execute("select distinct money_version, fence from jobs.items").fetchall()
    assert money == [(1, 4)]
    audited = people.connection.execute(
        "select a.subject::uuid, a.tenant = i.tenant, a.person, a.outcome, a.detail - 'holder',"
        " a.detail ->> 'holder' = c.holder"
        " from jobs.audit as a join jobs.items as i on i.id::text = a.subject join jobs.claims as c on c.item = i.id"
        " where a.action = 'claim-lapsed'"
    ).fetchall()
    assert sorted(audited) == [
        (item, True, None, "done", {"queue": "q", "fence": 4}, True) for item in sorted(lapsing)
    ], "one row each, in the item's own tenant, the service's own doing"


async def test_a_claim_renewed_at_the_last_moment_stays(lease: Lease, people: People, clock: Clock) -> None:
    item = claimed(people.connection, "acme", "m.ito", 10)
    clock.advance(11)
    # The history's row is late; the item's row, which decides, was renewed.
    people.connection.execute("update jobs.items set expires_at = jobs.now() + interval '60 s' where id = %s", (item,))
    assert await DUTY.run_once(lease) == {}
    assert people.connection.execute("select holder from jobs.items").fetchone() == ("m.ito",)


async def test_an_item_that_somebody_works_on_is_left_for_the_next_run(
    lease: Lease, people: People, clock: Clock, database_url: Any
) -> None:
    busy = claimed(people.connection, "acme", "m.ito", 10)
    claimed(people.connection, "acme", "m.ito", 10)
    clock.advance(11)
    with psycopg.connect(database_url("jobs_owner")) as working:
        working.execute("select 1 from jobs.items where id = %s for update", (busy,))
        assert await DUTY.run_once(lease) == {"claims": 1}
    assert await DUTY.run_once(lease) == {"claims": 1}


async def test_expired_keys_go_and_others_stay(lease: Lease, superuser: Superuser, clock: Clock) -> None:
    for number in range(8):
        superuser.execute(
            "insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)"
            " values ('acme', 'x', 'POST', '/', %s, '', 200, '{}', jobs.now() + make_interval(secs => %s))",
            (str(number), 10 if number < 7 else 100),
        )
    clock.advance(11)
    assert await DUTY.wanted(lease.database, HOLDER)
    assert await DUTY.run_once(lease) == {"keys": 7}
    assert not await DUTY.wanted(lease.database, HOLDER)
    assert superuser.execute("select key from jobs.idempotency_keys").fetchall() == [("7",)]


async def test_old_hints_go_and_the_floor_rises_over_them(lease: Lease, superuser: Superuser, clock: Clock) -> None:
    def floor() -> int:
        row = superuser.execute("select xid from jobs.hints_floor").fetchone()
        assert row is not None
        return int(row[0])

    for number in range(4):
        superuser.execute(
            "insert into jobs.hints (tenant, topic, queue, ref, version) values ('acme', 'item', 'q', %s, 1)",
            (str(number),),
        )
    before = floor()
    assert await DUTY.run_once(lease) == {}
    assert floor() == before
    assert not await DUTY.wanted(lease.database, HOLDER)
    clock.advance(601)
    assert await DUTY.wanted(lease.database, HOLDER)
    async with lease.database.transaction(None) as transaction:  # the lease has run out with the clock: take it anew
        taken = await rows.take_duty(transaction, DUTY.name, holder=HOLDER, fence=lease.fence, lease=30)
    assert taken is not None
    superuser.execute(
        "insert into jobs.hints (tenant, topic, queue, ref, version) values ('acme', 'item', 'q', 'new', 1)"
    )
    newest = superuser.execute("select xid, ref from jobs.hints order by id desc limit 2").fetchall()
    renewed = Lease(database=lease.database, duty=DUTY.name, holder=HOLDER, fence=taken, seconds=30)
    removed = 0
    async with asyncio.timeout(15):  # a transaction of another test process, in another database, holds hints back too
        while removed < 4:
            removed += (await DUTY.run_once(renewed)).get("hints", 0)
    assert superuser.execute("select ref from jobs.hints").fetchall() == [("new",)]
    assert floor() == newest[1][0] < newest[0][0]


async def test_a_stopping_worker_ends_after_its_unit_of_work(lease: Lease, people: People, clock: Clock) -> None:
    for _ in range(7):
        claimed(people.connection, "acme", "m.ito", 10)
    clock.advance(11)
    answers = iter((False, True, True, True))
    stopping = Lease(
        database=lease.database,
        duty=lease.duty,
        holder=lease.holder,
        fence=lease.fence,
        seconds=lease.seconds,
        stopping=lambda: next(answers),
    )
    assert await DUTY.run_once(stopping) == {"claims": 3}
