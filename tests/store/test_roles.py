"""The walls in the database itself (MONEY.md 29 to 31): what each service role cannot do, whatever the code does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.conftest import CAST, People

GROWING = ("audit", "acts")
SERVICE_ROLES = ("jobs_api", "jobs_worker")
WALLED = ("items", "item_versions", "claims", "acts", "audit", "idempotency_keys", "hints", "memberships")
"""Tables with a tenant in every row."""


def as_role(url: str, tenant: str | None) -> psycopg.Connection[Any]:
    """A connection of that role with the tenant set (None = unset)."""
    connection = psycopg.connect(url)
    if tenant is not None:
        connection.execute("select set_config('jobs.tenant', %s, false)", (tenant,))
        connection.commit()
    return connection


@pytest.fixture
def filled(people: People) -> psycopg.Connection[Any]:
    """One row in every walled table for each of the two tenants."""
    connection = people.connection
    for tenant, person in (("acme", "m.ito"), ("globex", "g.fin")):
        row = connection.execute(
            "insert into jobs.items (tenant, queue, title, created, pushed_by, changed_by, holder, taken_at, expires_at,"
            " fence) values (%s, 'q', 't', jobs.now(), 'x', 'x', %s, jobs.now(), jobs.now(), 1) returning id",
            (tenant, person),
        ).fetchone()
        assert row is not None
        for insert in (
            "insert into jobs.item_versions (item, money_version, tenant, changed_by, state, title, inputs)"
            " values (%(id)s, 1, %(t)s, 'x', 'open', 't', '{}')",
            "insert into jobs.claims (item, fence, tenant, queue, holder, taken_at, expires_at)"
            " values (%(id)s, 1, %(t)s, 'q', %(p)s, jobs.now(), jobs.now())",
            "insert into jobs.acts (item, tenant, person, use_case, outcome, sentence, inputs, money_version)"
            " values (%(id)s, %(t)s, %(p)s, 'u', 'done', 's', '{}', 1)",
            "insert into jobs.audit (tenant, action, subject, outcome) values (%(t)s, 'a', 's', 'done')",
            "insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)"
            " values (%(t)s, %(p)s, 'POST', '/', 'k', '', 200, '{}', jobs.now())",
            "insert into jobs.hints (tenant, topic, queue, ref, version) values (%(t)s, 'item', 'q', 'r', 1)",
        ):
            connection.execute(insert, {"id": row[0], "t": tenant, "p": person})
    return connection


@pytest.mark.requirement("MONEY-29")
@pytest.mark.parametrize("table", WALLED)
def test_the_api_sees_one_tenant_and_without_one_nothing(
    filled: psycopg.Connection[Any], database_url: Callable[[str], str], table: str
) -> None:
    query = f"select distinct tenant from jobs.{table}".encode()
    assert filled.execute(query).fetchall() != []
    for tenant, seen in ((None, []), ("", []), ("acme", [("acme",)]), ("none", [])):
        with as_role(database_url("jobs_api"), tenant) as connection:
            assert connection.execute(query).fetchall() == seen


@pytest.mark.requirement("MONEY-29")
@pytest.mark.parametrize("role", SERVICE_ROLES)
def test_the_people_of_one_tenant_are_seen_and_without_one_nobody(
    people: People, database_url: Callable[[str], str], role: str
) -> None:
    for tenant in (None, "", "acme", "globex", "none"):
        there = {person for person, (_, home, _) in CAST.items() if home == tenant}
        with as_role(database_url(role), tenant) as connection:
            assert {person for (person,) in connection.execute("select id from jobs.people")} == there


@pytest.mark.requirement("MONEY-29")
def test_the_api_sees_the_one_tenant_itself_and_the_worker_the_ids_of_all(
    people: People, database_url: Callable[[str], str]
) -> None:
    for tenant, seen in ((None, []), ("", []), ("acme", [("acme",)]), ("none", [])):
        with as_role(database_url("jobs_api"), tenant) as connection:
            assert connection.execute("select id from jobs.tenants").fetchall() == seen
    with as_role(database_url("jobs_worker"), "acme") as connection:
        assert ("acme",) in connection.execute("select id from jobs.tenants").fetchall()
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("select name from jobs.tenants")


@pytest.mark.requirement("MONEY-29")
@pytest.mark.parametrize("table", ["items", "memberships"])
def test_the_worker_sees_one_tenant_of_what_is_not_bookkeeping(
    filled: psycopg.Connection[Any], database_url: Callable[[str], str], table: str
) -> None:
    query = f"select distinct tenant from jobs.{table}".encode()
    for tenant, seen in ((None, []), ("acme", [("acme",)])):
        with as_role(database_url("jobs_worker"), tenant) as connection:
            assert connection.execute(query).fetchall() == seen


@pytest.mark.requirement("MONEY-29")
@pytest.mark.parametrize(
    "insert",
    [
        "insert into jobs.audit (tenant, action, subject, outcome) values ('globex', 'a', 's', 'done')",
        "insert into jobs.items (tenant, queue, title, created, pushed_by, changed_by)"
        " values ('globex', 'q', 't', jobs.now(), 'x', 'x')",
        "update jobs.items set tenant = 'globex'",
    ],
)
def test_the_api_writes_into_its_tenant_alone(
    filled: psycopg.Connection[Any], database_url: Callable[[str], str], insert: str
) -> None:
    with as_role(database_url("jobs_api"), "acme") as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute(insert.encode())


@pytest.mark.requirement("MONEY-31")
@pytest.mark.parametrize("role", SERVICE_ROLES)
@pytest.mark.parametrize("table", GROWING)
@pytest.mark.parametrize("change", ["update jobs.{} set tenant = tenant", "delete from jobs.{}", "truncate jobs.{}"])
def test_no_service_role_changes_what_only_grows(
    filled: psycopg.Connection[Any], database_url: Callable[[str], str], role: str, table: str, change: str
) -> None:
    with as_role(database_url(role), "acme") as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute(change.format(table).encode())


@pytest.mark.requirement("MONEY-31")
@pytest.mark.parametrize("table", GROWING)
@pytest.mark.parametrize("change", ["update jobs.{} set tenant = tenant", "delete from jobs.{}", "truncate jobs.{}"])
def test_not_even_the_owner_changes_what_only_grows(
    filled: psycopg.Connection[Any], database_url: Callable[[str], str], table: str, change: str
) -> None:
    with as_role(database_url("jobs_owner"), None) as connection, pytest.raises(errors.RestrictViolation):
        connection.execute(change.format(table).encode())


@pytest.mark.requirement("MONEY-30")
@pytest.mark.parametrize("role", SERVICE_ROLES)
@pytest.mark.parametrize(
    "attempt",
    [
        "create or replace function jobs.now() returns timestamptz language sql stable as 'select now()'",
        "update test_clock.offset_now set seconds = 1",
        "create table jobs.mine (id integer)",
        "create function jobs.mine() returns integer language sql as 'select 1'",
        "alter table jobs.items disable row level security",
        "drop policy api on jobs.items",
        "select hash from jobs.tokens",
        "select * from jobs.people",
        "insert into jobs.marks values ('demo', 'x')",
        "update jobs.memberships set role = 'finance'",
        "set session_replication_role = replica",
        "set role jobs_owner",
    ],
)
def test_no_service_role_moves_a_wall(
    people: People, database_url: Callable[[str], str], role: str, attempt: str
) -> None:
    with as_role(database_url(role), "acme") as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute(attempt.encode())


@pytest.mark.requirement("MONEY-29")
def test_where_a_person_is_told_is_read_by_the_worker_alone(people: People, database_url: Callable[[str], str]) -> None:
    with as_role(database_url("jobs_worker"), "acme") as connection:
        assert connection.execute("select count(contact) from jobs.people").fetchone() != (0,)
    with as_role(database_url("jobs_api"), "acme") as connection, pytest.raises(errors.InsufficientPrivilege):
        connection.execute("select contact from jobs.people")


@pytest.mark.requirement("MONEY-29")
def test_row_security_is_forced_on_every_table(superuser: psycopg.Connection[Any]) -> None:
    open_tables = superuser.execute(
        "select relname from pg_class where relnamespace = 'jobs'::regnamespace and relkind = 'r'"
        " and not (relrowsecurity and relforcerowsecurity)"
    ).fetchall()
    assert open_tables == [("schema_version",)]  # one row, the version, which every process reads


def test_what_runs_with_its_owners_rights_finds_nothing_by_a_callers_path(superuser: psycopg.Connection[Any]) -> None:
    """Else a caller puts a table or an operator of their own before ours; and nobody calls it who was not given the right."""
    found = superuser.execute(
        "select p.oid::regprocedure::text, coalesce(array_to_string(p.proconfig, ' '), '') like '%search_path=pg_catalog, pg_temp%',"
        " exists (select 1 from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a where a.grantee = 0)"
        " from pg_proc as p where p.prosecdef and p.pronamespace in ('jobs'::regnamespace, 'jobs_engine'::regnamespace)"
    ).fetchall()
    assert len(found) > 1
    assert [name for name, fixed, _ in found if not fixed] == []
    assert [name for name, _, anybody in found if anybody] == []
