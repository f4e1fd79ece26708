"""Owns the statements of hourly tallies: counting what ended by hour, and reading it. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from jobservice.store.database import Row, Transaction

LeaseKey = Mapping[str, object]
"""`name`, `holder` and `fence` of the duty's lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The database's clock, and up to when all that ended is in the tallies."""

    now: datetime
    until: datetime | None


async def mark(transaction: Transaction) -> Mark:
    """How far the tallies have come."""
    row = await transaction.row("tallies/mark")
    assert row is not None  # noqa: S101  # a select without from has a row
    return Mark(now=row["now"], until=row["until"])


async def recount(transaction: Transaction, lease: LeaseKey, *, since: datetime, now: datetime) -> int:
    """Count every hour from `since`, the beginning of one, up to that of `now` anew; how many rows changed."""
    return await transaction.run("tallies/recount", **lease, since=since, now=now)


async def move(transaction: Transaction, *, now: datetime) -> None:
    """All that ended before `now` is in the tallies."""
    await transaction.run("tallies/move", now=now)


async def remove(transaction: Transaction, *, before: datetime) -> int:
    """Remove the hours before an instant; how many rows."""
    return await transaction.run("tallies/remove", before=before)


async def trend(transaction: Transaction, *, since: datetime) -> list[Row]:
    """The hours of the tenant since an instant, the oldest first; one in which nothing ended has no row."""
    return list(await transaction.rows("overview/trend", since=since))
