"""Owns the statements of cursors: where saga-driving jobs go on. Decides nothing."""

from __future__ import annotations

from jobservice.store.database import Transaction
from jobservice.store.occurrence_items import RunLease


async def read(transaction: Transaction, name: str) -> str | None:
    """The key of the item that the cursor stands behind; None before the first."""
    row = await transaction.row("cursors/read", name=name)
    return None if row is None else str(row["position"])


async def move(transaction: Transaction, lease: RunLease, name: str, *, was: str | None, position: str) -> bool:
    """Move a cursor from where it was read; False where another run moved it meanwhile."""
    written = await transaction.run("cursors/move", **lease.parameters(), name=name, was=was, position=position)
    return written > 0
