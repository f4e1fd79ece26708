"""What each service role may read and write of a table, column by column: no more than its statements need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.conftest import People
from tests.store.test_roles import SERVICE_ROLES, as_role

AUDIT = "insert into jobs.audit (tenant, action, subject, outcome{} values ('acme', 'a', 's', 'done'{})"
ACTS = (
    "insert into jobs.acts (item, tenant, person, use_case, outcome, sentence, inputs, money_version{}"
    " select id, tenant, 'm.ito', 'u', 'done', 's', '{{}}', 1{} from jobs.items"
)


@pytest.fixture
def held(people: People) -> psycopg.Connection[Any]:
    """One held item with its claim, and one kept answer, in each of two tenants."""
    for tenant, person in (("acme", "m.ito"), ("globex", "g.fin")):
        people.connection.execute(
            "with item as (insert into jobs.items (tenant, queue, title, created, pushed_by, changed_by, holder,"
            " taken_at, expires_at, fence) values (%(t)s, 'q', 't', jobs.now(), 'x', 'x', %(p)s, jobs.now(),"
            " jobs.now(), 1) returning *) insert into jobs.claims (item, fence, tenant, queue, holder, taken_at,"
            " expires_at) select id, fence, tenant, queue, holder, taken_at, expires_at from item",
            {"t": tenant, "p": person},
        )
        people.connection.execute(
            "insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)"
            " values (%s, %s, 'POST', '/', 'k', '', 200, '{}', jobs.now())",
            (tenant, person),
        )
    return people.connection


@pytest.mark.requirement("MONEY-29")
@pytest.mark.parametrize("tenant", [None, "acme"])
@pytest.mark.parametrize(
    "attempt",
    [
        "select answer from jobs.idempotency_keys",
        "select digest from jobs.idempotency_keys",
        "select * from jobs.idempotency_keys",
        "update jobs.idempotency_keys set answer = '{}'",
        "select reason from jobs.claims",
        "select * from jobs.claims",
        "update jobs.claims set holder = 'k.rao'",
        "update jobs.claims set tenant = 'acme'",
        "update jobs.claims set fence = fence + 1",
        "update jobs.claims set expires_at = jobs.now()",
        "insert into jobs.acts (item, tenant) select id, tenant from jobs.items",
    ],
)
def test_the_worker_neither_reads_answers_nor_moves_a_claim(
    held: psycopg.Connection[Any], database_url: Callable[[str], str], attempt: str, tenant: str | None
) -> None:
    with as_role(database_url("jobs_worker"), tenant) as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute(attempt.encode())


@pytest.mark.requirement("MONEY-29")
@pytest.mark.parametrize(("tenant", "ended"), [(None, []), ("acme", [("acme",)])])
def test_the_worker_finds_lapsed_claims_of_all_tenants_and_ends_those_of_one(
    held: psycopg.Connection[Any], database_url: Callable[[str], str], tenant: str | None, ended: list[tuple[str]]
) -> None:
    with as_role(database_url("jobs_worker"), tenant) as connection:
        assert connection.execute("select tenant from jobs.claims order by 1").fetchall() == [("acme",), ("globex",)]
        connection.execute("update jobs.claims set ended_at = expires_at, ending = 'lapsed' where ended_at is null")
    assert held.execute("select tenant from jobs.claims where ended_at is not null").fetchall() == ended


@pytest.mark.requirement("MONEY-31")
@pytest.mark.parametrize("role", SERVICE_ROLES)
@pytest.mark.parametrize("insert", [AUDIT, ACTS], ids=["audit", "acts"])
@pytest.mark.parametrize(
    ("column", "value"),
    [(", at)", ", jobs.now() - interval '1 year'"), (", id) overriding system value", ", 1")],
    ids=["at", "id"],
)
def test_no_service_role_says_when_or_in_which_place_something_happened(
    held: psycopg.Connection[Any], database_url: Callable[[str], str], role: str, insert: str, column: str, value: str
) -> None:
    with as_role(database_url(role), "acme") as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute(insert.format(column, value).encode())


@pytest.mark.requirement("MONEY-31")
@pytest.mark.parametrize(
    ("role", "insert", "table"),
    [("jobs_api", AUDIT, "audit"), ("jobs_worker", AUDIT, "audit"), ("jobs_api", ACTS, "acts")],
)
def test_the_database_says_when_it_happened(
    held: psycopg.Connection[Any], database_url: Callable[[str], str], role: str, insert: str, table: str
) -> None:
    with as_role(database_url(role), "acme") as connection:
        connection.execute(insert.format(")", "").encode())
    query = f"select count(*) from jobs.{table} where at between jobs.now() - interval '1 hour' and jobs.now()"  # names of this test
    assert held.execute(query.encode()).fetchall() == [(1,)]
