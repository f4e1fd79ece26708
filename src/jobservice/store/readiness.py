"""Owns the statement that shows whether the database is the one this code needs."""

from __future__ import annotations

from jobservice.store.database import Transaction


async def schema_version(transaction: Transaction) -> str | None:
    """The migration that the database has reached; None where it has none."""
    row = await transaction.row("readiness/schema_version")
    return None if row is None else str(row["reached"])
