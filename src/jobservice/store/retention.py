"""Owns the statements that remove what is past its retention, in batches, under the duty's lease. Decides nothing.

What others hold is left out, never waited for; the floor of a schedule is raised before anything of it goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from jobservice.store.database import Transaction
from jobservice.store.planning import Key, LeaseKey

FIRST: Key = ("", "")
"""Before every schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A schedule with something at or before `until`, the end of its retention."""

    key: Key
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """Dead letters of a schedule that go within a while, and when the latest of them was scheduled."""

    key: Key
    count: int
    latest: datetime


async def holding(transaction: Transaction, *, now: datetime, after: Key, most: int) -> tuple[Holding, ...]:
    """The next schedules behind `after` that have something past their retention."""
    rows = await transaction.rows(
        "retention/holding", now=now, tenant_after=after[0], schedule_after=after[1], most=most
    )
    return tuple(Holding(key=(row["tenant"], row["schedule"]), until=row["until"]) for row in rows)


async def raise_floors(transaction: Transaction, lease: LeaseKey, holdings: Sequence[Holding]) -> tuple[Holding, ...]:
    """Raise the floors of these schedules; those that were, without what is just being planned."""
    rows = await transaction.rows("retention/raise_floors", **lease, **_columns(holdings))
    return tuple(Holding(key=(row["tenant"], row["schedule"]), until=row["until"]) for row in rows)


async def lock(transaction: Transaction, holdings: Sequence[Holding], *, each: int) -> tuple[UUID, ...]:
    """The oldest ended occurrences past retention, at most so many of each schedule, locked."""
    await transaction.run("retention/walk_in_order")
    rows = await transaction.rows("retention/lock", each=each, **_columns(holdings))
    return tuple(row["id"] for row in rows)


async def remove_items(transaction: Transaction, lease: LeaseKey, occurrences: Sequence[UUID], *, batch: int) -> int:
    """Remove at most `batch` items of these occurrences; how many."""
    return await transaction.run("retention/remove_items", **lease, occurrences=list(occurrences), batch=batch)


async def remove(transaction: Transaction, lease: LeaseKey, occurrences: Sequence[UUID]) -> int:
    """Remove these occurrences with their attempts; how many. Their items must be gone."""
    row = await transaction.row("retention/remove", **lease, occurrences=list(occurrences))
    assert row is not None  # noqa: S101  # an aggregate has a row
    return int(row["removed"])


async def remove_skips(transaction: Transaction, lease: LeaseKey, holdings: Sequence[Holding], *, batch: int) -> int:
    """Remove at most `batch` runs of skipped instants past retention; how many."""
    return await transaction.run("retention/remove_skips", **lease, batch=batch, **_columns(holdings))


async def remove_workers(transaction: Transaction, lease: LeaseKey, *, kept_seconds: float) -> int:
    """Remove the rows of Workers that were not heard of for so long; how many."""
    return await transaction.run("retention/remove_workers", **lease, kept=kept_seconds)


async def leaving(transaction: Transaction, *, now: datetime, ahead_seconds: float) -> tuple[Leaving, ...]:
    """The dead letters that go within `ahead_seconds`."""
    rows = await transaction.rows("retention/leaving", now=now, ahead=ahead_seconds)
    return tuple(
        Leaving(key=(row["tenant"], row["schedule"]), count=row["count"], latest=row["latest"]) for row in rows
    )


async def count_leaving(transaction: Transaction, number: int) -> None:
    """Keep their number for the metrics."""
    await transaction.run("retention/count_leaving", value=number)


def _columns(holdings: Sequence[Holding]) -> Mapping[str, Any]:
    return {
        "tenants": [each.key[0] for each in holdings],
        "schedules": [each.key[1] for each in holdings],
        "untils": [each.until for each in holdings],
    }
