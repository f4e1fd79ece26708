"""Owns the statements of cursors: where saga-driving jobs go on. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

from jobservice.store.database import Transaction
from jobservice.store.occurrence_items import RunLease


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a cursor stands, as a run reads it. `number`: of the item of this run that it stands behind; 0: it is none."""

    position: str | None = None
    """The key of the item that it stands behind; None before the first."""
    moved: bool = False
    """Whether another run moved it since this one had its first attempt."""
    number: int = 0


async def read(transaction: Transaction, lease: RunLease, name: str) -> Found:
    """Where a cursor stands."""
    row = await transaction.row("cursors/read", **lease.parameters(), name=name)
    return Found() if row is None else Found(**row)


async def move(transaction: Transaction, lease: RunLease, name: str, *, was: str | None, position: str) -> bool:
    """Move a cursor from where it was read; False where another run moved it meanwhile."""
    written = await transaction.run("cursors/move", **lease.parameters(), name=name, was=was, position=position)
    return written > 0
