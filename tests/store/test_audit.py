"""The trail's statements as the API's role: it adds and reads its tenant's, and can do nothing else."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from jobservice.store import audit

ENTRY = audit.NewEntry(person="m.ito", action="claim", subject="x", outcome="done", detail={"a": 1}, reference="r")


async def test_a_row_is_added_and_read_in_its_tenant_alone(database: Any, people: Any) -> None:
    async with database.transaction("acme") as transaction:
        await audit.add(transaction, ENTRY)
        (row,) = await audit.page(transaction, after=None, limit=5)
        assert (row["person_name"], row["detail"]) == ("Mina Ito", {"a": 1})
        assert row["at"] >= transaction.began_at
    async with database.transaction("globex") as transaction:
        assert await audit.page(transaction, after=None, limit=5) == []


@pytest.mark.parametrize(
    "change", ["update jobs.audit set action = 'x'", "delete from jobs.audit", "truncate jobs.audit"]
)
async def test_what_is_written_stays(
    database: Any,
    worker_database: Any,
    owner_database: Any,
    people: Any,
    superuser: psycopg.Connection[Any],
    change: str,
) -> None:
    async with database.transaction("acme") as transaction:
        await audit.add(transaction, ENTRY)
    refused = (psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation)
    for role in (database, worker_database, owner_database):
        with pytest.raises(refused):
            async with role.transaction("acme") as transaction:
                await transaction.connection.execute(change)
    with pytest.raises(refused):
        superuser.execute(change.encode())
    assert superuser.execute("select action from jobs.audit").fetchall() == [("claim",)]
