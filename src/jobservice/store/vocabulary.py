"""Owns the statements that tell what a filter of a queue may name: currencies, frequent values. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping

from jobservice.store.database import Transaction
from jobservice.store.items import Reach

VALUES_MOST = 20
"""Most values of one input that are offered."""
VALUE_LONGEST = 60
"""Longest value that is offered, in characters."""
LOOKED_MOST = 1_000
"""Waiting items, the first of the order, whose values are looked at."""


async def currencies(transaction: Transaction, queue: str, reach: Reach) -> tuple[str, ...]:
    """The currencies of the queue's unfinished items within reach, by code."""
    rows = await transaction.rows("items/currencies", queue=queue, **reach.parameters())
    return tuple(row["currency"] for row in rows)


async def input_values(transaction: Transaction, queue: str, reach: Reach) -> Mapping[str, tuple[str, ...]]:
    """Values of each input of the first waiting items, as text, the most frequent first."""
    rows = await transaction.rows(
        "items/input_values",
        queue=queue,
        now=transaction.began_at,
        rows=LOOKED_MOST,
        longest=VALUE_LONGEST,
        most=VALUES_MOST,
        **reach.parameters(),
    )
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        found[row["name"]] = (*found.get(row["name"], ()), row["value"])
    return found
