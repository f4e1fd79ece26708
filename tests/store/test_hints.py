"""The statements of hints: one snapshot a read, the tenant's rows alone, in the order of transactions."""

from __future__ import annotations

from typing import Any

import psycopg

from jobservice.store import hints


async def test_a_read_gives_rows_position_and_floor_of_one_snapshot(
    database: Any, people: Any, superuser: psycopg.Connection[Any]
) -> None:
    async with database.transaction("acme") as transaction:
        start = await hints.read(transaction, position=None, seen=())
    assert (start.hints, start.floor < start.position) == ((), True)
    for version in (1, 2):
        async with database.transaction("acme") as transaction:
            await hints.add(transaction, queue="q", item="i", version=version)
    async with database.transaction("acme") as transaction:
        read = await hints.read(transaction, position=start.position, seen=())
        assert [hint.version for _, hint in read.hints] == [1, 2]
        assert read.position >= start.position
        first = read.hints[0][0]
        again = await hints.read(transaction, position=start.position, seen=(first,))
        assert [hint.version for _, hint in again.hints] == [2]
        assert (await hints.read(transaction, position=read.position, seen=read.ahead)).hints == ()
    async with database.transaction("globex") as transaction:
        assert (await hints.read(transaction, position=start.position, seen=())).hints == ()


async def test_a_transaction_still_open_holds_the_position_back(
    database: Any, people: Any, server: Any, database_name: str
) -> None:
    with server.superuser(database_name) as other, other.transaction():
        row = other.execute("select pg_current_xact_id()::text::bigint").fetchone()
        async with database.transaction("acme") as transaction:
            await hints.add(transaction, queue="q", item="i", version=1)
        async with database.transaction("acme") as transaction:
            assert (await hints.read(transaction, position=1, seen=())).position <= row[0]
