"""Owns the statements of cursors: where saga-driving jobs go on. Decides nothing."""

from __future__ import annotations

from jobservice.store.database import Transaction
from jobservice.store.occurrence_items import RunLease


async def read(transaction: Transaction, lease: RunLease, name: str) -> tuple[str | None, bool]:
    """The key of the item that the cursor stands behind (None before the first), and whether another run moved it since
    this one had its first attempt."""
    row = await transaction.row("cursors/read", **lease.parameters(), name=name)
    return (None, False) if row is None else (str(row["position"]), bool(row["moved"]))


async def move(transaction: Transaction, lease: RunLease, name: str, *, was: str | None, position: str) -> bool:
    """Move a cursor from where it was read; False where another run moved it meanwhile."""
    written = await transaction.run("cursors/move", **lease.parameters(), name=name, was=was, position=position)
    return written > 0
