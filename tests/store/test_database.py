"""The pool and the transaction: commit, rollback, one tenant a transaction, and the ground the tests stand on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store.database import Database
from tests.conftest import Clock, People


async def test_a_transaction_has_one_tenant_and_the_next_one_another(database: Database, people: People) -> None:
    seen = []
    for tenant in ("acme", "globex", None):
        async with database.transaction(tenant) as transaction:
            cursor = await transaction.connection.execute("select id from jobs.tenants")
            seen.append([row["id"] for row in await cursor.fetchall()])
    assert seen == [["acme"], ["globex"], []]


async def test_an_exception_takes_everything_back(owner_database: Database, superuser: psycopg.Connection[Any]) -> None:
    async def broken() -> None:
        async with owner_database.transaction(None) as transaction:
            await transaction.connection.execute("insert into jobs.tenants (id, name) values ('acme', 'Acme')")
            raise LookupError

    with pytest.raises(LookupError):
        await broken()
    assert superuser.execute("select count(*) from jobs.tenants").fetchone() == (0,)


async def test_a_slow_statement_is_a_refusal(database: Database) -> None:
    with pytest.raises(Refusal) as refused:
        async with database.transaction(None, statement_seconds=0.05) as transaction:
            await transaction.connection.execute("select pg_sleep(5)")
    assert refused.value.kind is ErrorCode.TIMED_OUT


async def test_a_server_that_is_not_there_is_a_refusal(tmp_path: Any) -> None:
    database = await Database.open(
        f"postgresql://jobs_api@/jobs?host={tmp_path}", name="away", most=1, wait_seconds=0.2
    )
    try:
        with pytest.raises(Refusal) as refused:
            async with database.transaction(None):
                pass
    finally:
        await database.close()
    assert refused.value.kind is ErrorCode.DATABASE_AWAY


async def test_a_pool_full_of_dead_connections_serves_the_next_request(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    """A restarted server kills all idle connections at once; who draws one of them must not wait for the others."""
    database = await Database.open(database_url("jobs_api"), name="many dead", most=20, wait_seconds=2.5)
    try:
        everyone = asyncio.Barrier(20)

        async def hold() -> None:
            async with database.transaction(None):
                await everyone.wait()

        await asyncio.gather(*(hold() for _ in range(20)))
        superuser.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'many dead'")
        for _ in range(3):
            async with database.transaction(None) as transaction:
                await transaction.connection.execute("select 1")
    finally:
        await database.close()


async def test_the_clock_moves_only_for_this_test(database: Database, clock: Clock) -> None:
    async def ahead() -> float:
        async with database.transaction(None) as transaction:
            cursor = await transaction.connection.execute(
                "select extract(epoch from jobs.now() - clock_timestamp())::float8 as ahead"
            )
            row = await cursor.fetchone()
            assert row is not None
            return float(row["ahead"])

    assert abs(await ahead()) < 1
    clock.advance(3600)
    assert abs(await ahead() - 3600) < 1
