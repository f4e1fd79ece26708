"""Owns the server that everything is measured on: embedded PostgreSQL with its defaults, its databases, its people.

A folder that is kept is used again while nothing that its rows depend on has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click
import psycopg
from psycopg import sql

from benchmarks.seeding import (
    PUSHER,
    SAMPLES,
    Connection,
    api_clock,
    hold_head,
    multiply,
    push_samples,
    settle,
    without_indexes,
)
from examples.payments import application
from jobcontract.states import Role
from jobservice import records
from jobservice.bootstrap import process
from jobservice.bootstrap.dev import API, OWNER, prepare_database
from jobservice.bootstrap.keyring import make_keyring
from jobservice.cluster import SUPERUSER, Cluster
from jobservice.embedded import EmbeddedServer
from jobservice.records import RecordSet
from jobservice.store.database import Database
from jobservice.usecases import people
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service

ROOT = Path(__file__).parents[1]
TEMPLATE = "jobs"
LARGE, SMALL = "large", "small"
"""Databases with many rows and few; both have the tenant `TENANT`."""
TENANT = "leeds"
CLERKS, HOLDERS = 160, 40
"""People who claim, and people who hold what was claimed before."""
SETTINGS = {"claims.max": "1000", "listings.max": "100", "streams.max": "100"}
"""What is measured is not what one person may do: their bounds are raised to the most that a record may state."""
SOURCES = ("src/jobservice/store/migrations", "examples/payments", "benchmarks/seeding.py")
"""What the rows of a kept folder depend on."""


def clerk(number: int) -> str:
    """The id of one of the clerks."""
    return f"c.{number:03d}"


def holder(number: int) -> str:
    """The id of one of those who hold what was claimed before."""
    return f"h.{number:03d}"


@dataclass(slots=True)
class Ground:
    """A running server and what is in it."""

    folder: Path
    cluster: Cluster
    record_set: RecordSet
    rows: int
    tokens: dict[str, str] = field(default_factory=dict)
    """By database: the token of the first clerk."""

    def url(self, role: str, database: str) -> str:
        """The address of a database for a role."""
        return self.cluster.url(role, database)

    def superuser(self, database: str = "postgres") -> Connection:
        """A connection that may do everything, in autocommit."""
        return psycopg.connect(self.url(SUPERUSER, database), autocommit=True)

    @property
    def version(self) -> str:
        """The server's version."""
        with self.superuser() as connection:
            return str(connection.info.server_version // 10_000) + "." + str(connection.info.server_version % 100)

    @property
    def keyring(self) -> Path:
        """The folder of the API's keys."""
        return self.folder / "keyring"

    def actor(self, person: str, tenant: str = TENANT) -> Actor:
        """A clerk, signed in."""
        return Actor(person=person, tenant=tenant, role=Role.FINANCE, reference="benchmark")

    @asynccontextmanager
    async def service(self, database: str, *, role: str = API, most: int = 16) -> AsyncIterator[Service]:
        """The service over a database, in this process, under that role and with at most so many connections."""
        pool = await Database.open(self.url(role, database), name="benchmark", most=most)
        try:
            yield self.service_over(pool)
        finally:
            await pool.close()

    def service_over(self, pool: Database) -> Service:
        """The service over a pool that is open."""
        return Service(database=pool, records=self.record_set, application=application, deployment="benchmark")

    async def make(self, database: str, tenants: Mapping[str, int], *, held: Mapping[str, int] | None = None) -> None:
        """A database with so many payouts in each of the tenants, the first `held` of them held by others."""
        self._copy(database)
        owner = await Database.open(self.url(OWNER, database), name="benchmark", most=2)
        try:
            await _add_people(owner, tuple(tenants))
        finally:
            await owner.close()
        async with self.service(database) as service:
            await push_samples(service, await api_clock(service.database, SAMPLES))
        with self.superuser(database) as connection:
            told = _Told(f"{database}: payouts", sum(tenants.values()))
            with without_indexes(connection):
                for tenant, rows in tenants.items():
                    multiply(partial(self.superuser, database), tenant, rows, told.more)
            for tenant, many in (held or {}).items():
                hold_head(connection, tenant, many, people=HOLDERS)
            settle(connection)

    async def empty(self, database: str, tenants: Sequence[str]) -> None:
        """A database with these tenants and nothing in them: no people, no items."""
        self._copy(database)
        owner = await Database.open(self.url(OWNER, database), name="benchmark", most=1)
        try:
            for tenant in tenants:
                await people.add_tenant(owner, tenant=tenant, name=tenant.title())
        finally:
            await owner.close()

    def blank(self, database: str) -> str:
        """A database of that name without anything of ours, for a peer; its address for the superuser."""
        name = sql.Identifier(database)
        with self.superuser() as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(name))
            connection.execute(sql.SQL("create database {} template template0").format(name))
        return self.url(SUPERUSER, database)

    async def token(self, database: str, person: str) -> str:
        """A new token of a person."""
        owner = await Database.open(self.url(OWNER, database), name="benchmark", most=1)
        try:
            return (await people.create_token(owner, person=person, label="benchmark", hours=12)).token
        finally:
            await owner.close()

    async def ready(self, database: str, rows: int) -> None:
        """A database with `rows` payouts of one tenant: made now unless a kept folder has it as it has to be."""
        file = self.folder / f"{database}.json"
        wanted = {"rows": rows, "sources": digest()}
        if not file.exists() or json.loads(file.read_text("utf-8")) != wanted:
            file.unlink(missing_ok=True)
            await self.make(database, {TENANT: rows})
            file.write_text(json.dumps(wanted), "utf-8")

    def _copy(self, database: str) -> None:
        name, template = sql.Identifier(database), sql.Identifier(TEMPLATE)
        with self.superuser() as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(name))
            connection.execute(
                sql.SQL("create database {} owner {} template {}").format(name, sql.Identifier(OWNER), template)
            )


class _Told:
    """Says how far a long filling has come, at every tenth of it."""

    def __init__(self, what: str, whole: int) -> None:
        self._what, self._whole, self._done = what, whole, 0

    def more(self, rows: int) -> None:
        before, self._done = self._done, self._done + rows
        if before * 10 // self._whole != self._done * 10 // self._whole:
            click.echo(f"  {self._what} {self._done:,} of {self._whole:,}", err=True)


async def _add_people(owner: Database, tenants: tuple[str, ...]) -> None:
    for tenant in (SAMPLES, *tenants):
        await people.add_tenant(owner, tenant=tenant, name=tenant.title())
    await people.add_person(owner, person=PUSHER, name="Payment feed", contact="feed@example.org")
    for person in (*map(clerk, range(CLERKS)), *map(holder, range(HOLDERS))):
        await people.add_person(owner, person=person, name=f"Clerk {person}", contact=f"{person}@example.org")
        for tenant in tenants:
            await people.grant(owner, people.Grant(person=person, tenant=tenant, role=Role.FINANCE))


@contextmanager
def ground(keep: Path | None, rows: int) -> Iterator[Ground]:
    """The server, running in `keep` or in a folder that goes with it."""
    found, findings = records.check(application, overrides=SETTINGS)
    if found is None:
        raise click.ClickException("The example's records are not right:\n" + "\n".join(map(str, findings)))
    folder = keep.resolve() if keep is not None else _temporary()
    try:
        server = EmbeddedServer.start(folder)
        try:
            _renew(server.cluster, folder, process.families_of(found))
            make_keyring(folder / "keyring")
            yield Ground(folder=folder, cluster=server.cluster, record_set=found, rows=rows)
        finally:
            server.stop()
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def _renew(cluster: Cluster, folder: Path, families: frozenset[str]) -> None:
    """The empty database that others are copied from, anew where the migrations have changed."""
    file, wanted = folder / "template.json", json.dumps(digest())
    if not file.exists() or file.read_text("utf-8") != wanted:
        with psycopg.connect(cluster.url(SUPERUSER, "postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(TEMPLATE)))
    prepare_database(cluster, families)
    file.write_text(wanted, "utf-8")


def _temporary() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="jobs-benchmarks-"))
    if os.geteuid() == 0:
        folder.chmod(0o711)
    return folder


def digest() -> str:
    """Of everything that the rows depend on."""
    digest = hashlib.sha256()
    for name in SOURCES:
        path = ROOT / name
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if file.is_file() and file.suffix in (".sql", ".py", ".csv", ".yaml"):
                digest.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return digest.hexdigest()
