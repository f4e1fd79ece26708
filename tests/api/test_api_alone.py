"""The API alone starts no occurrence: it has neither the code for it nor the right."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from jobservice.store.database import Database
from tests.api.conftest import Api

DUE = """
insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)
values ('acme', 'payouts.rescore', jobs.now() - interval '1 minute', '2025b', 'payouts.rescore', jobs.now())
returning id
"""

ATTEMPTS = {
    "plans": "insert into jobs.schedules (tenant, schedule, definition, planned_until) values ('acme', 'x', '', now())",
    "makes": "insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)"
    " values ('acme', 'x', now(), '', 'x', now())",
    "claims": "update jobs.occurrences set state = 'processing', holder = jobs.uuid7(), fence = fence + 1",
    "ends": "update jobs.occurrences set state = 'completed', ended_at = now()",
    "removes": "delete from jobs.occurrences",
    "selects items": "insert into jobs.occurrence_items (occurrence, key, tenant, number, label)"
    " values (jobs.uuid7(), 'k', 'acme', 1, 'k')",
    "moves a cursor": "insert into jobs.cursors (tenant, name, position, occurrence, fence)"
    " values ('acme', 'c', 'p', jobs.uuid7(), 1)",
    "takes a duty": "update jobs.duties set fence = fence + 1",
    "is a Worker": "insert into jobs.workers (incarnation, version, host) values (jobs.uuid7(), '', '')",
}


@pytest.mark.requirement("run-scheduled-jobs-in-worker")
async def test_what_is_due_stays_due_however_much_the_api_is_asked(
    api: Api, superuser: psycopg.Connection[Any]
) -> None:
    (row,) = superuser.execute(DUE).fetchone() or (None,)
    before = superuser.execute("select * from jobs.occurrences").fetchall()
    client = await api.of("o.lind")
    for path in ("/v1/schedules", "/v1/occurrences", f"/v1/occurrences/{row}", "/v1/workers", "/readyz", "/metrics"):
        answer = await client.get(path)
        assert answer.status_code == 200, (path, answer.text)
    await api.push("one", inputs={"invoice": "INV-1"})
    assert superuser.execute("select * from jobs.occurrences").fetchall() == before
    for table in ("workers", "duties", "occurrence_attempts", "occurrence_items", "schedules"):
        assert superuser.execute(f"select * from jobs.{table}").fetchall() == [], table


@pytest.mark.requirement("run-scheduled-jobs-in-worker")
@pytest.mark.parametrize("what", ATTEMPTS)
async def test_its_role_may_not(database: Database, superuser: psycopg.Connection[Any], what: str) -> None:
    superuser.execute("insert into jobs.tenants (id, name) values ('acme', 'Acme')")
    superuser.execute(DUE)

    async def attempt() -> None:
        async with database.transaction("acme") as transaction:
            await transaction.connection.execute(ATTEMPTS[what].encode())

    # What ends is a trigger's matter: the role may write the columns for a replay.
    with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation)):
        await attempt()
