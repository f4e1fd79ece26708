"""Owns what every test stands on: a real PostgreSQL, a database of its own a test process, a clock that can be moved,
and the people. Keeps the developer's machine out: no configuration, zone or language of theirs is read.

One server a run, whose owner is the process that a person started: the processes under it start the server when the
first test asks for it (under a file lock), and the owner stops it when the run ends.
"""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cast import CAST as CAST
from tests.cast import TENANTS as TENANTS
from tests.cast import People as People
from tests.run_folders import RUN_PREFIX, RUNS, alone, cluster_in, freeze, remove_dead_runs, remove_run

DATABASE_OWNER = "jobs_owner"
TEMPLATE = "template_jobs"

CLOCK_BODY = """
create schema test_clock authorization jobs_owner;
create table test_clock.offset_now (seconds double precision not null);
alter table test_clock.offset_now owner to jobs_owner;
insert into test_clock.offset_now values (0);
grant usage on schema test_clock to public;
grant select on test_clock.offset_now to public;
create or replace function jobs.now() returns timestamptz language sql stable parallel safe as
$$ select clock_timestamp() + make_interval(secs => (select seconds from test_clock.offset_now)) $$;
"""

RESET = """
create procedure test_clock.reset() language plpgsql as
$$
begin
    set local session_replication_role = replica;
    {deletes}
    insert into jobs.hints_floor (xid) values (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1);
    update test_clock.offset_now set seconds = 0;
end
$$;
"""
"""A procedure: the server keeps the plans of what runs before every test."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the run's folder in the process that owns the run; freeze language, zone and configuration in every one."""
    worker = getattr(config, "workerinput", None)
    if worker is None:
        remove_dead_runs()
        folder = Path(tempfile.mkdtemp(prefix=RUN_PREFIX, dir=RUNS))
        folder.chmod(0o711)
        lock = os.open(folder / "alive", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        config.stash[RUN_LOCK] = lock
    else:
        folder = Path(worker["run_folder"])
    config.stash[RUN_FOLDER] = folder
    freeze(folder)


class RunFolder:
    """Hands the run's folder to each test process (a hook of xdist, known only where that is installed)."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Put the folder where the new process finds it."""
        node.workerinput["run_folder"] = str(node.config.stash[RUN_FOLDER])


def pytest_sessionstart(session: pytest.Session) -> None:
    """Register the hand-over before processes are started."""
    session.config.pluginmanager.register(RunFolder())
    dealt = session.config.getoption("dist", "no") == "loadgroup" or session.config.getoption("loadgroup", False)
    if dealt:  # the second is what a test process is told
        from tests.spreading import Spreading

        session.config.pluginmanager.register(Spreading())


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Nothing of what is imported and collected is garbage: the collector would look through it again and again."""
    gc.disable()
    try:
        if worker := getattr(session.config, "workerinput", None):
            from tests.spreading import import_own_share

            import_own_share(worker["workerid"], worker["workercount"])
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Modules and collected tests stay to the end: the collector need not walk them again and again, not even once."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # a test makes much and keeps little: looking often finds nothing


def pytest_unconfigure(config: pytest.Config) -> None:
    """The owner of the run stops the server and removes the folder."""
    lock = config.stash.get(RUN_LOCK, None)
    if lock is not None:
        remove_run(config.stash[RUN_FOLDER])
        os.close(lock)


RUN_FOLDER = pytest.StashKey[Path]()
RUN_LOCK = pytest.StashKey[int]()


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The run's PostgreSQL. `url(role, database)` is a libpq address; `superuser` connects as postgres."""

    cluster: Any

    def url(self, role: str, database: str) -> str:
        """The address of `database` for `role`."""
        return str(self.cluster.url(role, database))

    def superuser(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection that may do everything, for setting up."""
        return psycopg.connect(self.url("postgres", database), autocommit=True)

    def create_database(self, name: str, *, template: str = "template0") -> None:
        """A new database of the owner's, a copy of `template`."""
        with self.superuser() as connection:
            connection.execute(
                psycopg.sql.SQL("create database {} owner {} template {}").format(
                    psycopg.sql.Identifier(name),
                    psycopg.sql.Identifier(DATABASE_OWNER),
                    psycopg.sql.Identifier(template),
                )
            )

    def drop_database(self, name: str) -> None:
        """Remove a database and whoever is connected to it."""
        with self.superuser() as connection:
            connection.execute(
                psycopg.sql.SQL("drop database if exists {} with (force)").format(psycopg.sql.Identifier(name))
            )


@pytest.fixture(autouse=True)
def _apps_are_given_back() -> Iterator[None]:
    """The API applications of a test are the next one's."""
    yield
    if apps := sys.modules.get("tests.apps"):  # most tests have none, and import no API
        apps.give_back()


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest) -> Path:
    """A folder of this run, with a short path."""
    return request.config.stash[RUN_FOLDER]


@pytest.fixture(scope="session")
def server(run_folder: Path) -> Server:
    """The run's PostgreSQL 18, started by whoever asks first, with the roles and the template database.

    It gathers no statistics by itself: what other tests had left in a table a moment before decided how a statement ran.
    """
    server = Server(cluster=cluster_in(run_folder, autovacuum="off"))
    with alone(run_folder):
        if not (run_folder / "ready").exists():
            server.cluster.start()
            _prepare(server)
            (run_folder / "ready").touch()
    return server


def _prepare(server: Server) -> None:
    from jobservice.migrate import migrate

    with server.superuser() as connection:
        connection.execute(f"create role {DATABASE_OWNER} login createrole")
    server.create_database(TEMPLATE)
    migrate(server.url(DATABASE_OWNER, TEMPLATE))
    with server.superuser(TEMPLATE) as connection:
        connection.execute("set role jobs_owner; select jobs.ensure_family('payments'); reset role;")
        connection.execute(CLOCK_BODY)


@contextmanager
def spare(folder: Path) -> Iterator[Server]:
    """A PostgreSQL of a test's own in that folder, to stop and start; it has the owner's role and no database."""
    folder.mkdir(mode=0o711)
    folder.chmod(0o711)
    server = Server(cluster=cluster_in(folder))
    server.cluster.start()
    try:
        with server.superuser() as connection:
            connection.execute(f"create role {DATABASE_OWNER} login createrole")
        yield server
    finally:
        server.cluster.stop()
        shutil.rmtree(folder)


@pytest.fixture
def spare_server(run_folder: Path, worker_id: str) -> Iterator[Server]:
    """A PostgreSQL of this test's own, to stop and start; it has the roles and an empty database `jobs`."""
    with spare(run_folder / f"spare-{worker_id}") as server:
        server.create_database("jobs")
        yield server


@pytest.fixture(scope="session")
def database_name(server: Server, run_folder: Path, worker_id: str) -> str:
    """This test process's own database, a copy of the template."""
    name = f"jobs_{worker_id}"
    with alone(run_folder):  # a template is copied only while nobody is connected to it
        server.create_database(name, template=TEMPLATE)
    return name


@pytest.fixture(scope="session")
def _superuser(server: Server, database_name: str) -> Iterator[psycopg.Connection[Any]]:
    with server.superuser(database_name) as connection:
        connection.execute("set lock_timeout = '10s'")
        yield connection


@pytest.fixture(scope="session")
def _reset(_superuser: psycopg.Connection[Any]) -> None:
    tables = _superuser.execute(
        "select c.relnamespace::regnamespace::text, c.relname from pg_class as c "
        "where c.relnamespace in (to_regnamespace('jobs'), to_regnamespace('jobs_engine')) and c.relkind in ('r', 'p') "
        "and not c.relispartition and c.relname not in ('schema_version', 'dbos_migrations', 'dbos_datasource_migrations') order by 1, 2"
    ).fetchall()
    deletes = "\n".join(f'delete from {schema}."{name}";' for schema, name in tables)
    _superuser.execute(RESET.format(deletes=deletes).encode())


@pytest.fixture
def clean(_superuser: psycopg.Connection[Any], _reset: None) -> None:
    """An empty database at the true time; runs before the test."""
    _superuser.execute("call test_clock.reset()")


@pytest.fixture
def superuser(clean: None, _superuser: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """A connection that may do everything, to look and to set up past the walls."""
    return _superuser


@pytest.fixture
def database_url(clean: None, server: Server, database_name: str) -> Callable[[str], str]:
    """`database_url(role)`: the address of this test's database for jobs_owner, jobs_api or jobs_worker."""
    return lambda role: server.url(role, database_name)


async def _pool(server: Server, database_name: str, role: str) -> AsyncIterator[Any]:
    from jobservice.store.database import Database

    database = await Database.open(server.url(role, database_name), name=f"test {role}", most=60)
    yield database
    await database.close()


@pytest.fixture(scope="session")
async def _api_pool(server: Server, database_name: str) -> AsyncIterator[Any]:
    async for pool in _pool(server, database_name, "jobs_api"):
        yield pool


@pytest.fixture(scope="session")
async def _worker_pool(server: Server, database_name: str) -> AsyncIterator[Any]:
    async for pool in _pool(server, database_name, "jobs_worker"):
        yield pool


@pytest.fixture(scope="session")
async def _owner_pool(server: Server, database_name: str) -> AsyncIterator[Any]:
    async for pool in _pool(server, database_name, DATABASE_OWNER):
        yield pool


@pytest.fixture
async def database(clean: None, _api_pool: Any) -> Any:
    """`jobservice.store.database.Database` as the API's role."""
    return _api_pool


@pytest.fixture
async def worker_database(clean: None, _worker_pool: Any) -> Any:
    """The Database as the Worker's role."""
    return _worker_pool


@pytest.fixture
async def owner_database(clean: None, _owner_pool: Any) -> Any:
    """The Database as the owner."""
    return _owner_pool


@dataclass(frozen=True, slots=True)
class Clock:
    """The database's clock: `jobs.now()` of this test's database."""

    connection: psycopg.Connection[Any]

    def advance(self, seconds: float) -> None:
        """Move it forward (or, with a negative number, back)."""
        self.connection.execute("update test_clock.offset_now set seconds = seconds + %s", (seconds,))


@pytest.fixture
def clock(superuser: psycopg.Connection[Any]) -> Clock:
    """Moves the database's clock; every test begins at the true time."""
    return Clock(superuser)


@pytest.fixture
def people(superuser: psycopg.Connection[Any]) -> People:
    """acme and globex with the whole cast."""
    with superuser.cursor() as cursor:
        cursor.executemany("insert into jobs.tenants (id, name) values (%s, %s)", list(TENANTS.items()))
        cursor.executemany(
            "insert into jobs.people (id, name, contact) values (%s, %s, %s)",
            [(person, name, f"{person}@example.org") for person, (name, _, _) in CAST.items()],
        )
        cursor.executemany(
            "insert into jobs.memberships (person, tenant, role) values (%s, %s, %s)",
            [(person, tenant, role) for person, (_, tenant, role) in CAST.items()],
        )
    return People(superuser)
