"""Owns how the rows of a plan are joined with their items. Decides nothing.

The rows are a moment old, and the statistics say of before that nobody holds anything: to the planner both sides are one
row, and every way of joining them costs the same. A nested loop that compares each with each is then as likely as one that
looks into an index, and so is a merge by the holder, whom all of them share: both take a square of fifty thousand.

Only for statements that say of both sides which plan it is: what is joined by hash is read whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jobservice.store.database import Transaction


@asynccontextmanager
async def whole_plan(transaction: Transaction) -> AsyncIterator[None]:
    """For statements about all rows of a plan: they are joined by hash, whatever the statistics say."""
    await transaction.row("plan_rows/join", otherwise="off")
    yield
    await transaction.row("plan_rows/join", otherwise="on")
