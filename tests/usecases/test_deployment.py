"""API and Worker refuse to start where a wall is missing, each time with a sentence of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from jobservice.migrate import migrate
from jobservice.store.database import Database
from jobservice.store.revisions import code_version
from jobservice.usecases.deployment import check_start, record_start
from jobservice.usecases.people import disable_person
from tests.conftest import Server

VERSION = code_version()


@pytest.fixture(scope="module")
def true_database(server: Server, worker_id: str) -> Iterator[str]:
    """A migrated database with the true clock: what a deployment has."""
    name = f"true_{worker_id}"
    server.create_database(name)
    migrate(server.url("jobs_owner", name))
    yield name
    server.drop_database(name)


@pytest.fixture
def admin(server: Server, true_database: str) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection to the true database."""
    with server.superuser(true_database) as connection:
        yield connection


@pytest.fixture
def look(server: Server, true_database: str) -> Callable[..., Any]:
    """`look(role)`: the findings of a process under that role."""

    async def findings(role: str, *, service_role: str = "jobs_api", version: str = VERSION) -> tuple[str, ...]:
        async with opened(server.url(role, true_database)) as database:
            return await check_start(database, service_role=service_role, version=version)

    return findings


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    """A pool for one look."""
    database = await Database.open(url, name="look", most=1)
    try:
        yield database
    finally:
        await database.close()


@pytest.mark.parametrize("role", ["jobs_api", "jobs_worker"])
async def test_each_service_role_may_start(look: Callable[..., Any], role: str) -> None:
    assert await look(role, service_role=role) == ()


@pytest.mark.requirement("MONEY-29")
async def test_a_superuser_is_refused(look: Callable[..., Any]) -> None:
    (sentence,) = await look("postgres")
    assert "postgres is a superuser" in sentence


@pytest.mark.requirement("MONEY-29")
async def test_an_owner_of_tables_is_refused(look: Callable[..., Any]) -> None:
    (sentence,) = await look("jobs_owner")
    assert "jobs_owner owns tables" in sentence


@pytest.mark.parametrize(
    ("attributes", "membership", "said"),
    [
        ("bypassrls", "jobs_api", "bypasses row security"),
        ("", "jobs_owner", "owns tables"),
        ("", "jobs_worker", "is not jobs_api"),
        ("", "jobs_api", None),
    ],
)
async def test_other_logins(
    admin: psycopg.Connection[Any],
    look: Callable[..., Any],
    worker_id: str,
    attributes: str,
    membership: str,
    said: str | None,
) -> None:
    login = f"login_{worker_id}"
    admin.execute(f"create role {login} login {attributes}".encode())
    admin.execute(f"grant {membership} to {login}".encode())
    try:
        findings = await look(login)
    finally:
        admin.execute(f"drop role {login}".encode())
    assert (findings == ()) if said is None else (said in findings[0])


@pytest.mark.requirement("MONEY-30")
async def test_another_clock_is_refused(admin: psycopg.Connection[Any], look: Callable[..., Any]) -> None:
    body = "create or replace function jobs.now() returns timestamptz language sql stable as '{}'"
    admin.execute(body.format("select clock_timestamp() + interval ''1 s''").encode())
    try:
        (sentence,) = await look("jobs_api")
    finally:
        admin.execute(body.format("select clock_timestamp()").encode())
    assert "not the true clock" in sentence


async def test_the_databases_of_these_tests_are_refused(
    database_url: Callable[[str], str],
) -> None:
    async with opened(database_url("jobs_api")) as database:
        (sentence,) = await check_start(database, service_role="jobs_api", version=VERSION)
    assert "not the true clock" in sentence


async def test_versions_must_agree(look: Callable[..., Any]) -> None:
    (older,) = await look("jobs_api", version="9999")
    assert "jobservice migrate" in older
    (newer,) = await look("jobs_api", version="0000")
    assert "newer than this code" in newer


async def test_an_empty_database_says_migrate(server: Server, worker_id: str) -> None:
    name = f"empty_{worker_id}"
    server.create_database(name)
    try:
        async with opened(server.url("jobs_api", name)) as database:
            (sentence,) = await check_start(database, service_role="jobs_api", version=VERSION)
    finally:
        server.drop_database(name)
    assert "jobservice migrate" in sentence


@pytest.mark.requirement("MONEY-35")
async def test_demo_people_need_a_demo_database(admin: psycopg.Connection[Any], look: Callable[..., Any]) -> None:
    admin.execute("insert into jobs.people (id, name, contact, demo) values ('d.emo', 'Demo', 'x', true)")
    try:
        for role in ("jobs_api", "jobs_worker"):
            (sentence,) = await look(role, service_role=role)
            assert "People of a demo" in sentence
        admin.execute("insert into jobs.marks values ('demo', 'x')")
        assert await look("jobs_api") == ()
    finally:
        admin.execute("delete from jobs.people")
        admin.execute("delete from jobs.marks")


@pytest.mark.requirement("MONEY-35")
async def test_disabling_the_people_of_a_demo_lets_a_process_start(
    admin: psycopg.Connection[Any], look: Callable[..., Any], server: Server, true_database: str
) -> None:
    admin.execute("insert into jobs.people (id, name, contact, demo) values ('d.emo', 'Demo', 'x', true)")
    try:
        (sentence,) = await look("jobs_api")
        assert "jobservice person disable" in sentence
        async with opened(server.url("jobs_owner", true_database)) as database:
            await disable_person(database, person="d.emo")
        for role in ("jobs_api", "jobs_worker"):
            assert await look(role, service_role=role) == ()
    finally:
        admin.execute("delete from jobs.people")


@pytest.mark.requirement("MONEY-31")
@pytest.mark.parametrize("role", ["jobs_api", "jobs_worker"])
async def test_a_start_is_recorded_and_nothing_else_without_a_tenant(
    superuser: psycopg.Connection[Any], database_url: Callable[[str], str], role: str
) -> None:
    async with opened(database_url(role)) as database:
        await record_start(database, process=role, digest="abc", version=VERSION)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with database.transaction(None) as transaction:
                await transaction.connection.execute(
                    "insert into jobs.audit (action, subject, outcome) values ('claim', 'x', 'done')"
                )
    assert superuser.execute("select tenant, action, subject, detail->>'records' from jobs.audit").fetchall() == [
        (None, "service-started", role, "abc")
    ]
