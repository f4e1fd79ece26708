"""Owns the statements that tell what a filter of a queue may name: currencies, frequent values. Decides nothing."""

from __future__ import annotations

from jobservice.store.database import Transaction
from jobservice.store.items import Reach


async def currencies(transaction: Transaction, queue: str, reach: Reach) -> tuple[str, ...]:
    """The currencies of the queue's unfinished items within reach, by code."""
    rows = await transaction.rows("items/currencies", queue=queue, **reach.parameters())
    return tuple(row["currency"] for row in rows)
