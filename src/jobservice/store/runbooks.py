"""Owns the statements of runbooks: what was done by the procedures of a schedule, as the trail has it. Reads only."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from jobservice.store.database import Row, Transaction


async def transcript(
    transaction: Transaction, schedule: str, *, actions: Collection[str], most: int
) -> tuple[Row, ...]:
    """The latest acts of `actions` on a schedule and its occurrences, the newest first."""
    rows = await transaction.rows("runbooks/transcript", schedule=schedule, actions=list(actions), most=most)
    return tuple(rows)


async def schedule_of(transaction: Transaction, occurrence: UUID) -> str | None:
    """Of which schedule an occurrence is; None where there is none in the tenant."""
    row = await transaction.row("runbooks/schedule_of", occurrence=occurrence)
    return None if row is None else str(row["schedule"])
