"""Owns the statements of the overview: how many schedules, occurrences, Workers and plans need somebody, and what waits in
queues. Each counts to a most. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobservice.store.database import Row, Transaction
from jobservice.store.items import Reach

COUNTED_MOST = 10_000
"""Where a count of occurrences stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFigures:
    """What waits in a queue. `looked` over the most: there is more, and each figure is at least so much."""

    queue: str
    looked: int
    open: int
    unclaimed: int
    oldest_at: datetime | None
    unclaimed_out: Sequence[dict[str, Any]]


async def schedules(transaction: Transaction, ids: Sequence[str], *, now: datetime, late: datetime, urgent: int) -> Row:
    """How many of these schedules are `parked`, `disabled`, `late`, and the ids of the most `urgent`."""
    row = await transaction.row("overview/schedules", schedules=list(ids), now=now, late=late, urgent=urgent)
    assert row is not None  # noqa: S101  # an aggregate has a row
    return row


async def work(transaction: Transaction, *, now: datetime, silent_seconds: float, keep_seconds: float) -> Row:
    """`dead`, `retrying`, `processing`, `recoveries`, `plans`; Workers `live`, `draining`, `silent`."""
    row = await transaction.row("overview/work", now=now, silent=silent_seconds, keep=keep_seconds, most=COUNTED_MOST)
    assert row is not None  # noqa: S101  # it selects from one row
    return row


async def queues(
    transaction: Transaction, ids: Sequence[str], within: Reach, *, now: datetime, most: int
) -> list[QueueFigures]:
    """What waits in each of these queues, within reach."""
    given = {"queues": list(ids), "now": now, "most": most}
    if within.customers is None and within.workspaces is None:
        rows = await transaction.rows("overview/queues", **given)
    else:
        rows = await transaction.rows("overview/queues_within", **given, **within.parameters())
    return [QueueFigures(**row) for row in rows]
