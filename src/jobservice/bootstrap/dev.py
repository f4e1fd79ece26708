"""Owns `jobservice dev`: everything on one machine, for trying and for working on it.

Embedded PostgreSQL, owned by this process; API and Worker as two child processes, each with its own role's address
alone; demo people whose tokens lie in a file of this user's. Starts again what dies of them, PostgreSQL included; stops
its children first, then PostgreSQL.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import structlog

from jobservice.application import Application
from jobservice.bootstrap import demo, process
from jobservice.bootstrap.children import Child, child_environment
from jobservice.bootstrap.companions import HOST, Beside, beside
from jobservice.bootstrap.kept_server import KeptServer
from jobservice.bootstrap.keyring import make_keyring, read_keys
from jobservice.bootstrap.public_keys import write_public_keys
from jobservice.cluster import SUPERUSER, Cluster
from jobservice.embedded import EmbeddedServer, default_folder, prepare_folder
from jobservice.migrate import SERVICE_ROLES, migrate
from jobservice.records import RecordSet
from jobservice.rules.keys import Keys
from jobservice.settings import (
    APPLICATION,
    DATABASE_URL,
    DELIVERY_URL,
    DEPLOYMENT,
    JOB_VIEWS,
    KEYRING,
    PUBLIC_KEYS,
    SEALS,
    AlreadyRuns,
    StartRefused,
)
from jobservice.store.database import Database
from jobservice.store.statements import statement

DATABASE = "jobs"
OWNER, API, WORKER, VIEWS = "jobs_owner", "jobs_api", "jobs_worker", "jobs_views"
GRACE = "PT5S"
"""How long the Worker ends what it has begun: less than a child may take to end."""
DEPLOYMENT_NAME = "demo"
PUBLIC = "public-keys.json"
MAIL = "mail"
HEADS = "seals"
"""The folder where the demo people's mail is put."""
NO_REST = "code.rest=PT0S"
"""In a demo a phone confirms as soon as it is enrolled (MONEY.md 16)."""
PEOPLE = "people"

_log = structlog.get_logger("jobservice.dev")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dev:
    """What a person asked for. `data` None = the platform's own place; `port` 0 = any free one."""

    data: Path | None
    port: int
    application: str
    assignments: Sequence[str]


async def run_dev(wanted: Dev, *, until_stdin_closes: bool = False) -> None:
    """Run everything until SIGTERM or SIGINT; StartRefused with sentences where something is not right."""
    process.harden()
    stop = process.stop_event(until_stdin_closes=until_stdin_closes)
    application = process.load_application(wanted.application)
    records = process.load_records(application, process.parse_overrides(wanted.assignments))
    listener = _listen(wanted.port)
    try:
        data = prepare_folder(wanted.data or default_folder())
        server = await asyncio.to_thread(_start, data)
        try:
            await asyncio.to_thread(prepare_database, server.cluster, process.families_of(records))
            make_keyring(data / "keyring")
            keys = read_keys(data / "keyring")
            write_public_keys(keys.public(), data / PUBLIC)
            (data / MAIL).mkdir(mode=0o700, exist_ok=True)
            url = f"http://{HOST}:{listener.getsockname()[1]}"
            tokens = await _unless(stop, _fill(server.cluster, data, application, records, keys, url))
            if tokens is not None:
                companions = beside(application.companions, data)
                children = _children(wanted, server.cluster, data, listener, companions)
                told = {f"{name}_url": address for name, address in companions.addresses.items()}
                await _supervise(server.cluster, children, stop, {"url": url, "tokens_file": str(tokens), **told})
        finally:
            await asyncio.to_thread(server.stop)
            _log.info("dev-stopped")
    finally:
        listener.close()


def _start(data: Path) -> EmbeddedServer:
    """Start PostgreSQL; where another process owns the folder, say where its people's tokens lie, and refuse."""
    try:
        return EmbeddedServer.start(data)
    except AlreadyRuns:
        if (tokens := demo.tokens_file(data / PEOPLE)).exists():
            process.say("running", tokens_file=str(tokens))
        raise


def prepare_database(cluster: Cluster, families: frozenset[str] = frozenset()) -> None:
    """Make the roles and the database that are missing, and migrate; blocks."""
    with psycopg.connect(cluster.url(SUPERUSER, "postgres"), autocommit=True) as connection:
        present = {name for (name,) in connection.execute(statement("deployment/embedded_roles")).fetchall()}
        for role, create in {OWNER: "deployment/create_jobs_owner", **SERVICE_ROLES}.items():
            if role not in present:
                connection.execute(statement(create))
        if connection.execute(statement("deployment/embedded_database")).fetchone() is None:
            connection.execute(statement("deployment/create_database"))
    for name in migrate(cluster.url(OWNER, DATABASE), families=families).applied:
        _log.info("migrated", file=name)


async def _unless(stop: asyncio.Event, filling: Coroutine[object, object, Path]) -> Path | None:
    """What `filling` returns; None where `stop` came first: it is broken off, and the next start fills again."""
    working, stopping = asyncio.create_task(filling), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        return None
    finally:
        stopping.cancel()


async def _fill(
    cluster: Cluster, data: Path, application: Application, records: RecordSet, keys: Keys, url: str
) -> Path:
    owner = await Database.open(cluster.url(OWNER, DATABASE), name="jobservice dev", most=2)
    api = await Database.open(cluster.url(API, DATABASE), name="jobservice dev", most=2)
    try:
        await demo.make_people(owner)
        await demo.enrol_people(owner, keys, data / PEOPLE)
        await demo.seed(owner, api, application, records)
        return await demo.write_tokens(owner, data / PEOPLE, url=url)
    finally:
        await api.close()
        await owner.close()


def _children(
    wanted: Dev, cluster: Cluster, data: Path, listener: socket.socket, companions: Beside
) -> tuple[Child, ...]:
    common = {APPLICATION: wanted.application, DEPLOYMENT: DEPLOYMENT_NAME}
    assignments = [word for assignment in (NO_REST, *wanted.assignments) for word in ("--set", assignment)]
    descriptor = listener.fileno()
    return (
        Child(
            name="api",
            arguments=("api", "--descriptor", str(descriptor), *assignments),
            environment=child_environment(
                **common,
                **{
                    DATABASE_URL: cluster.url(API, DATABASE),
                    KEYRING: str(data / "keyring"),
                    JOB_VIEWS: f"{DATABASE}={cluster.url(VIEWS, DATABASE)}",
                },
            ),
            descriptors=(descriptor,),
        ),
        Child(
            name="worker",
            arguments=("worker", "--set", f"worker.grace={GRACE}", *assignments),
            environment=child_environment(
                **common,
                **companions.variables,
                **{
                    DATABASE_URL: cluster.url(WORKER, DATABASE),
                    PUBLIC_KEYS: str(data / PUBLIC),
                    DELIVERY_URL: (data / MAIL).as_uri(),
                    SEALS: str(data / HEADS),
                },
            ),
        ),
        *companions.children,
    )


async def _supervise(
    cluster: Cluster, children: Sequence[Child], stop: asyncio.Event, ready: Mapping[str, str]
) -> None:
    kept = KeptServer(cluster=cluster)
    keeping = [
        asyncio.create_task(kept.keep(stop), name="database"),
        *(asyncio.create_task(child.keep(stop), name=child.name) for child in children),
    ]
    telling = asyncio.create_task(_tell(children, ready), name="tell")
    try:
        await asyncio.gather(*keeping)
    finally:
        stop.set()
        telling.cancel()
        for task in (*keeping, telling):
            with suppress(asyncio.CancelledError, StartRefused):
                await task


async def _tell(children: Sequence[Child], ready: Mapping[str, str]) -> None:
    for child in children:
        await child.ready.wait()
    process.say("ready", **ready)


def _listen(port: int) -> socket.socket:
    """The listening socket: kept here, so that an API started again answers at the same address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise StartRefused(f"Port {port} of {HOST} is not free: {error.strerror}. Choose another --port.") from error
    listener.listen(128)
    return listener
