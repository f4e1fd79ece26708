"""Owns the statements that read where schedules stand. Planning them is `store/planning.py`. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jobservice.store.database import Row, Transaction

COUNTED_MOST = 1_000
"""Where a count of occurrences stops."""


async def page(
    transaction: Transaction, schedules: Sequence[str], cursors: Sequence[str | None], *, now: datetime, recent: int
) -> list[Row]:
    """Where these schedules of the tenant stand, by id, with their last `recent` occurrences; `cursors` beside them."""
    return list(
        await transaction.rows(
            "schedules/page",
            schedules=list(schedules),
            cursors=list(cursors),
            now=now,
            recent=recent,
            most=COUNTED_MOST,
        )
    )


async def counts(transaction: Transaction, schedules: Sequence[str], *, now: datetime, late: datetime) -> Row:
    """How many of these schedules are `parked`, `disabled`, or `late`: due since before that instant and unstarted."""
    row = await transaction.row("schedules/counts", schedules=list(schedules), now=now, late=late)
    assert row is not None  # noqa: S101  # an aggregate has a row
    return row


async def skipped(transaction: Transaction, schedule: str, *, most: int) -> list[Row]:
    """The newest runs of instants that never ran."""
    return list(await transaction.rows("schedules/skipped", schedule=schedule, most=most))
