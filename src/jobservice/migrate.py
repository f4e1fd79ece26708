"""Owns bringing a database to the code's version: one revision per SQL file, in order, each in its own transaction; then the
engine's tables, and those of the application's families of kinds.

alembic keeps the versions; the SQL runs through the driver's own connection, because alembic's and SQLAlchemy's ways
read `%` and `:x` in it. Runs as the owner, alone in a process; forward only.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import psycopg
from alembic.runtime.migration import MigrationContext, MigrationStep
from alembic.script.base import Script
from alembic.script.revision import RevisionMap
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import NullPool

from jobservice.settings import StartRefused
from jobservice.store.database import reason
from jobservice.store.owner import connect
from jobservice.store.revisions import Migration, known_migrations
from jobservice.store.statements import statement

LOCK = 0x6A6F6273
"""Key of the advisory lock that lets one process migrate at a time."""
LOOK_SECONDS = 0.2
"""Between two looks whether another process has ended migrating."""
ENGINE_SINCE = "0006"
"""The revision that hands jobs over to the engine."""
SERVICE_ROLES = {
    "jobs_api": "deployment/create_jobs_api",
    "jobs_worker": "deployment/create_jobs_worker",
    "jobs_purge": "deployment/create_jobs_purge",
    "jobs_views": "deployment/create_jobs_views",
}
"""Each service's role, and the statement that makes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What a run did: the file names applied, in order, the roles and the families of kinds that it made."""

    applied: tuple[str, ...]
    roles: tuple[str, ...]
    families: tuple[str, ...] = ()


def migrate(url: str, migrations: Sequence[Migration] | None = None, families: Collection[str] = ()) -> Migrated:
    """Apply what is missing to the database at `url`, and make the tables of `families`; blocks, also while another
    process migrates it.

    StartRefused where the server is older than PostgreSQL 15 or cannot be reached, the database is newer than
    `migrations` (None: the shipped ones), a service role is missing and may not be made here, a file fails (that
    file and all after it are then not applied), or the engine's tables cannot be made.
    """
    engine = create_engine("postgresql+psycopg://", creator=lambda: connect(url), poolclass=NullPool)
    with engine.connect() as connection:
        driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]  # psycopg's
        _lock(driver)
        roles = _ensure_roles(driver)
        _ensure_schema(driver)
        wanted = known_migrations() if migrations is None else migrations
        applied = _upgrade(connection, driver, wanted)
        driver.execute(statement("deployment/show_version_to_services"))
        driver.commit()
        made: tuple[str, ...] = ()
        if wanted[-1].revision >= ENGINE_SINCE:
            _make_engine(driver, url)
            made = _ensure_families(driver, families)
    return Migrated(applied=applied, roles=roles, families=made)


def _lock(driver: psycopg.Connection[Any]) -> None:
    """Wait until no other process migrates this database, without standing in the way of the one that does."""
    while True:
        row = driver.execute(statement("deployment/lock_migrations"), {"key": LOCK}).fetchone()
        driver.commit()
        if row is not None and row[0]:
            return
        time.sleep(LOOK_SECONDS)


def _ensure_roles(driver: psycopg.Connection[Any]) -> tuple[str, ...]:
    present = {name for (name,) in driver.execute(statement("deployment/service_roles")).fetchall()}
    missing = tuple(role for role in SERVICE_ROLES if role not in present)
    commands = "; ".join(f"create role {role} login" for role in missing)
    try:
        for role in missing:
            driver.execute(statement(SERVICE_ROLES[role]))
    except psycopg.errors.DuplicateObject:  # roles are the server's: another database's migration was first
        driver.rollback()
        return _ensure_roles(driver)
    except psycopg.errors.InsufficientPrivilege:
        driver.rollback()
        raise StartRefused(
            f"The role {' and '.join(missing)} is missing and this login may not make it. "
            f"Let an administrator of the server run: {commands};"
        ) from None
    driver.commit()
    return missing


def _ensure_schema(driver: psycopg.Connection[Any]) -> None:
    try:
        driver.execute(statement("deployment/create_schema"))
    except psycopg.errors.InsufficientPrivilege:
        driver.rollback()
        row = driver.execute(statement("deployment/whoami")).fetchone()
        database, owner = row or ("", "")
        raise StartRefused(
            "This login may not make the schema jobs. Let an administrator of the server run: "
            f'grant create on database "{database}" to "{owner}";'
        ) from None
    driver.commit()


def _upgrade(
    connection: Connection, driver: psycopg.Connection[Any], migrations: Sequence[Migration]
) -> tuple[str, ...]:
    scripts = _scripts(migrations, driver)
    revisions = RevisionMap(lambda: scripts)
    revisions.get_revisions("head")  # alembic links the scripts to each other on the first look
    applied: list[str] = []

    def steps(heads: tuple[str, ...], _: MigrationContext) -> Iterator[MigrationStep]:
        reached = heads[0] if heads else ""
        if reached and reached not in {migration.revision for migration in migrations}:
            raise StartRefused(newer_than_code(reached, migrations[-1].revision))
        for migration, script in zip(migrations, scripts, strict=True):
            if migration.revision > reached:
                applied.append(migration.name)
                yield MigrationStep.upgrade_from_script(revisions, script)

    context = MigrationContext.configure(
        connection,
        opts={
            "fn": steps,
            "version_table": "schema_version",
            "version_table_schema": "jobs",
            "transaction_per_migration": True,
        },
    )
    try:
        context.run_migrations()
        connection.commit()
    except psycopg.Error as error:
        raise StartRefused(
            f"Migration {applied[-1]} failed and was undone: {reason(error)} Nothing after it was applied."
        ) from error
    return tuple(applied)


def newer_than_code(reached: str, newest: str) -> str:
    """The sentence for a database that a newer release has migrated."""
    return (
        f"The database is at version {reached} and this code knows versions up to {newest} only. "
        "Run the newer release of the service."
    )


def _make_engine(driver: psycopg.Connection[Any], url: str) -> None:
    """The engine's own tables, by the engine's own migrations, and what the Worker may do with them."""
    # Only who migrates pays for the library: whoever else imports this file starts without it.
    from jobservice.engine.adapter_schema import make_schema  # noqa: PLC0415  # a second to import: only who migrates pays it

    try:
        make_schema(url)
        driver.execute(statement("engine/grant_worker"))
        driver.execute(statement("engine/grant_purge"))
    except Exception as error:  # the library raises the driver's errors, its wrapper's and its own
        raise StartRefused(
            f"The engine's tables could not be made in the schema jobs_engine: {reason(error)} "
            "What was applied before is there; put it right and run jobservice migrate again."
        ) from error
    driver.commit()


def _ensure_families(driver: psycopg.Connection[Any], families: Collection[str]) -> tuple[str, ...]:
    """Make the tables of families that have none; those that it made."""
    made = []
    for family in sorted(families):
        row = driver.execute(statement("engine/ensure_family"), {"family": family}).fetchone()
        if row is not None and row[0]:
            made.append(family)
    driver.commit()
    return tuple(made)


def _scripts(migrations: Sequence[Migration], driver: psycopg.Connection[Any]) -> tuple[Script, ...]:
    scripts: list[Script] = []
    before: str | None = None
    for migration in migrations:
        module = ModuleType(migration.name)
        module.revision = migration.revision  # type: ignore[attr-defined]  # what alembic reads of a script's module
        module.down_revision = before  # type: ignore[attr-defined]  # likewise
        module.upgrade = lambda sql=migration.sql: driver.execute(sql.encode())  # type: ignore[attr-defined]  # likewise
        scripts.append(Script(module, migration.revision, migration.name))
        before = migration.revision
    return tuple(scripts)
