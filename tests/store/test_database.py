"""The pool and the transaction: commit, rollback, one tenant a transaction, and the ground the tests stand on."""

from __future__ import annotations

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
