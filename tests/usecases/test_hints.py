"""Live hints: positions that never miss a transaction which committed late, resets, tenants."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from jobservice.store import hints as store
from jobservice.usecases.hints import HintBatch, read_hints
from tests.usecases.desk import Desk, payout

ADD = "insert into jobs.hints (tenant, topic, queue, ref, version) values (%s, 'item', 't.payouts', %s, 1)"


async def read(desk: Desk, before: HintBatch | None, tenant: str = "acme") -> HintBatch:
    if before is None:
        return await read_hints(desk.service.database, tenant, None)
    return await read_hints(desk.service.database, tenant, before.position, seen=before.seen)


def ids(batch: HintBatch) -> list[str]:
    assert not batch.reset
    return [each.id for each in batch.hints]


async def test_every_change_is_told_once_with_a_rising_version(desk: Desk) -> None:
    start = await read(desk, None)
    assert (start.hints, start.reset) == ((), False)
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    await desk.release("m.ito", item["id"], 1)
    first = await read(desk, start)
    assert [(each.id, each.queue, each.tenant, each.version) for each in first.hints] == [
        (item["id"], "t.payouts", "acme", version) for version in (1, 2, 3)
    ]
    assert ids(await read(desk, first)) == []


async def test_a_transaction_that_commits_after_a_higher_number_is_not_missed(
    desk: Desk, superuser: psycopg.Connection[Any], server: Any, database_name: str
) -> None:
    start = await read(desk, None)
    with server.superuser(database_name) as slow, slow.transaction():
        slow.execute(ADD, ("acme", "slow"))
        superuser.execute(ADD, ("acme", "fast"))
        first = await read(desk, start)
        assert ids(first) == ["fast"], "the slow one has the lower number and has not committed"
        assert ids(await read(desk, first)) == [], "told once"
    second = await read(desk, first)
    assert ids(second) == ["slow"]
    assert ids(await read(desk, second)) == []
    resumed = await read_hints(desk.service.database, "acme", first.position)
    assert {"slow", "fast"} <= set(ids(resumed)), "resuming repeats rather than misses"


async def test_what_was_told_is_not_told_again_while_the_position_creeps(
    desk: Desk, superuser: psycopg.Connection[Any], server: Any, database_name: str
) -> None:
    start = await read(desk, None)
    with server.superuser(database_name) as slower, slower.transaction():
        with server.superuser(database_name) as slow, slow.transaction():
            slow.execute(ADD, ("acme", "slow"))
            slower.execute(ADD, ("acme", "slower"))
            superuser.execute(ADD, ("acme", "fast"))
            first = await read(desk, start)
            assert ids(first) == ["fast"]
        second = await read(desk, first)
        assert ids(second) == ["slow"]
        assert second.position >= first.position
        third = await read(desk, second)
        assert ids(third) == []
    batch = await read(desk, third)
    assert ids(batch) == ["slower"]
    async with asyncio.timeout(60):  # a transaction of another database of the server may hold the position back
        while True:
            if batch.seen == frozenset():
                return
            await asyncio.sleep(0.02)
            batch = await read(desk, batch)
            assert ids(batch) == []


async def test_positions_never_go_back_and_nothing_is_lost_under_load(desk: Desk) -> None:
    batch = await read(desk, None)
    positions, told = [batch.position], []
    writing = asyncio.gather(*(desk.push() for _ in range(40)))
    while not writing.done():
        batch = await read(desk, batch)
        positions.append(batch.position)
        told += ids(batch)
    pushed = [each["id"] for each in await writing]
    batch = await read(desk, batch)
    told += ids(batch)
    assert positions == sorted(positions)
    assert sorted(told) == sorted(pushed), "each exactly once"


async def test_too_old_foreign_and_unreasonable_positions_are_reset(desk: Desk) -> None:
    start = await read(desk, None)
    await desk.push()
    desk.people.connection.execute("update jobs.hints_floor set xid = %s", (start.position,))
    old = await read(desk, start)
    assert (old.reset, old.hints) == (True, ())
    for position in (0, -5, old.position + 1_000_000, 2**63 - 1):
        assert (await read_hints(desk.service.database, "acme", position)).reset
    desk.people.connection.execute("update jobs.hints_floor set xid = 0")
    assert not (await read(desk, await read(desk, None))).reset, "beginning now, nothing was missed"


async def test_one_tenants_hints_are_no_other_tenants(desk: Desk) -> None:
    start = await read(desk, None, "globex")
    await desk.push()
    assert ids(await read(desk, start, "globex")) == []
    await desk.push(new=payout("G"), by="g.push")
    assert len(ids(await read(desk, start, "globex"))) == 1


@pytest.mark.requirement("PG-01")
async def test_more_than_a_batch_is_a_reset(desk: Desk, superuser: psycopg.Connection[Any]) -> None:
    start = await read(desk, None)
    superuser.execute(
        "insert into jobs.hints (tenant, topic, queue, ref, version)"
        " select 'acme', 'item', 't.payouts', n::text, 1 from generate_series(1, %s) as n",
        (store.BATCH_MAX,),
    )
    assert len(ids(await read(desk, start))) == store.BATCH_MAX
    superuser.execute(ADD, ("acme", "one more"))
    assert (await read(desk, start)).reset


@pytest.mark.requirement("PG-01")
async def test_the_notification_carries_the_tenant_alone(desk: Desk) -> None:
    async with await desk.service.database.connect() as listener:
        await listener.execute("listen jobs_hints")
        await desk.push(new=payout("P", payload={"text": "x" * 200_000}))
        async for heard in listener.notifies(timeout=20, stop_after=1):
            assert heard.payload == "acme"
            return
    raise AssertionError("nothing was heard")
