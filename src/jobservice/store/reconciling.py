"""Owns the statements of a database that was restored: stopping money, comparing with the outside world, moving on
(MONEY.md 22). Decides nothing."""

from __future__ import annotations

from jobservice.store.database import Transaction


async def stop_if_restored(transaction: Transaction) -> bool:
    """Stop the money of all tenants where this is another database than the one in which it moved last; whether it is."""
    row = await transaction.row("reconciling/stop_if_restored")
    return row is not None and bool(row["restored"])
