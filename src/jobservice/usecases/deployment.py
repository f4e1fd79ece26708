"""Owns whether an API or Worker process may start on this database (MONEY.md 29, 30, 35), and the record that it did.

Every finding is a sentence that says what to do. It looks; what it writes is the row of a start (MONEY.md 31),
and that money is stopped in a restored database (MONEY.md 22).
"""

from __future__ import annotations

from collections.abc import Collection

from jobservice.store import audit, deployment, reconciling
from jobservice.store.database import Database, Row, Transaction, server_too_old

TRUE_CLOCK = "select clock_timestamp()"


async def check_start(database: Database, *, service_role: str, version: str) -> tuple[str, ...]:
    """Why a process of `service_role` whose code needs `version` must not start; empty where it may.

    Refusal DATABASE_AWAY where the database cannot be reached.
    """
    async with database.transaction(None) as transaction:
        standing = await deployment.standing(transaction, service_role)
        findings = _role_findings(standing, service_role)
        if findings:
            return findings
        if not standing["migrated"]:
            return ("The database has no tables of the service yet. Run as its owner: jobservice migrate.",)
        return (
            *_version_findings(await deployment.version(transaction), version),
            *_clock_findings(standing),
            *await _demo_findings(transaction),
        )


async def check_login(database: Database, *, service_role: str, version: str) -> tuple[str, ...]:
    """Why a command of the server must not run as this login: it is not `service_role`, or the database is not of this
    code's version; empty where it may. Refusal DATABASE_AWAY where the database cannot be reached."""
    async with database.transaction(None) as transaction:
        standing = await deployment.standing(transaction, service_role)
        findings = _role_findings(standing, service_role)
        if findings or not standing["migrated"]:
            return findings or ("The database has no tables of the service yet. Run as its owner: jobservice migrate.",)
        return _version_findings(await deployment.version(transaction), version)


async def check_families(database: Database, families: Collection[str]) -> tuple[str, ...]:
    """Why a process whose records declare kinds of jobs of `families` must not start: their tables, or the engine's, are
    not there. Refusal DATABASE_AWAY where the database cannot be reached."""
    async with database.transaction(None) as transaction:
        found = await deployment.families(transaction)
    if not found["engine"]:
        return ("The engine of background jobs has no tables yet. Run as the database's owner: jobservice migrate.",)
    missing = sorted(set(families) - set(found["families"] or ()))
    if missing:
        return (
            f"There are no tables yet for jobs of {', '.join(missing)}. Run as the database's owner, with "
            "JOBSERVICE_APPLICATION set as it is for this process: jobservice migrate.",
        )
    return ()


async def record_start(database: Database, *, process: str, digest: str, version: str) -> None:
    """Keep that a process started, and with which set of records."""
    async with database.transaction(None) as transaction:
        entry = audit.NewEntry(
            person=None,
            action="service-started",
            subject=process,
            outcome="done",
            detail={"records": digest, "version": version},
            reference=None,
        )
        await audit.add(transaction, entry)


async def stop_if_restored(database: Database) -> bool:
    """Stop the money of all tenants where this database is not the one in which it moved last (MONEY.md 22): another
    server, or one that a backup was restored to. Whether that is so; the first start in a database keeps which it is."""
    async with database.transaction(None) as transaction:
        return await reconciling.stop_if_restored(transaction)


def _role_findings(standing: Row, service_role: str) -> tuple[str, ...]:
    role = standing["role"]
    own = f"Give this process the address of {service_role} in JOBSERVICE_DATABASE_URL."
    too_old = server_too_old(standing["server_version"])
    if too_old is not None:
        return (too_old,)
    if standing["superuser"]:
        return (f"{role} is a superuser: no wall between tenants holds for it. {own}",)
    if standing["bypasses"]:
        return (f"{role} bypasses row security: no wall between tenants holds for it. {own}",)
    if standing["owner"]:
        return (f"{role} owns tables of the service and could change them. {own}",)
    if not standing["service"]:
        return (f"{role} is not {service_role}, whose rights this process needs. {own}",)
    return ()


def _version_findings(reached: str | None, needed: str) -> tuple[str, ...]:
    if reached is None or reached < needed:
        return (
            f"The database is at version {reached or 'none'} and this code needs {needed}. "
            "Run as its owner: jobservice migrate.",
        )
    if reached > needed:
        return (
            f"The database is at version {reached}, newer than this code ({needed}). Run the newer release of the service.",
        )
    return ()


def _clock_findings(standing: Row) -> tuple[str, ...]:
    if standing["clock"] == TRUE_CLOCK:
        return ()
    return (
        "jobs.now() of this database is not the true clock, as only in databases made by tests. Use another database.",
    )


async def _demo_findings(transaction: Transaction) -> tuple[str, ...]:
    demo = await deployment.demo(transaction)
    if demo["people"] and not demo["marked"]:
        return (
            "People of a demo are in this database, and it is not a demo's. "
            "Disable each (jobservice person list, jobservice person disable) or use another database.",
        )
    return ()
