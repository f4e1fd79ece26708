"""Owns the statements that fold changes of tallies of jobs into the tallies."""

from __future__ import annotations

from jobservice.store.database import Transaction


async def waits(transaction: Transaction) -> bool:
    """Whether a change waits to be folded."""
    row = await transaction.row("job_tallies/waits")
    return row is not None and bool(row["waits"])


async def fold(transaction: Transaction, *, most: int) -> int:
    """Fold at most `most` changes, of all tenants; how many."""
    row = await transaction.row("job_tallies/fold", most=most)
    return 0 if row is None else int(row["changes"])
