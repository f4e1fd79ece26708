"""Owns the statements about the database itself: who a process is to it, which version it has, whether it is a demo's."""

from __future__ import annotations

from datetime import datetime

from jobservice.store.database import Row, Transaction


async def standing(transaction: Transaction, service_role: str) -> Row:
    """role, server_version, superuser, bypasses, owner, service (is a member of `service_role`), migrated, clock."""
    row = await transaction.row("deployment/standing", service_role=service_role)
    assert row is not None  # noqa: S101  # the current role has a row
    return row


async def version(transaction: Transaction) -> str | None:
    """The migration that the database has reached; None before the first."""
    row = await transaction.row("deployment/version")
    return None if row is None else str(row["version"])


async def demo(transaction: Transaction) -> Row:
    """people (of a demo are here), marked (as a demo's database)."""
    row = await transaction.row("deployment/demo")
    assert row is not None  # noqa: S101  # a select without from has a row
    return row


async def families(transaction: Transaction) -> Row:
    """families (that have tables), engine (whether its tables are here)."""
    row = await transaction.row("engine/families")
    assert row is not None  # noqa: S101  # a select without from has a row
    return row


async def mark_demo(transaction: Transaction) -> None:
    """Mark the database as a demo's (owner only)."""
    await transaction.run("deployment/mark_demo")


async def now(transaction: Transaction) -> datetime:
    """The database's clock, UTC."""
    row = await transaction.row("items/now")
    assert row is not None  # noqa: S101  # a select without from has a row
    clock: datetime = row["now"]
    return clock


async def is_seeded(transaction: Transaction) -> bool:
    """Whether the example's content was put in before (owner only)."""
    return await transaction.row("deployment/seeded") is not None


async def mark_seeded(transaction: Transaction) -> None:
    """Keep that the example's content is in (owner only)."""
    await transaction.run("deployment/mark_seeded")
