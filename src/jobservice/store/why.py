"""Owns the statements that fetch what it takes to say why something does not run. Decides nothing (`rules/why.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobservice.store.database import Row, Transaction
from jobservice.store.items import readable

COUNTED_MOST = 1_000
"""Where the count of what waits before stops, for each schedule of the lock."""
_NEAR = 20
"""Runs of skipped instants that begin before an instant and are looked at for one that covers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is asked about: an occurrence by id, a schedule, or an instant of one."""

    occurrence: str | None = None
    schedule: str | None = None
    at: datetime | None = None


async def meant(transaction: Transaction, about: About, *, now: datetime) -> Row | None:
    """The occurrence that is meant; None where the tenant has none, or the id is none."""
    if about.occurrence is not None and not readable(about.occurrence):
        return None
    return await transaction.row(
        "why/meant", occurrence=about.occurrence, schedule=about.schedule, at=about.at, now=now
    )


async def around(
    transaction: Transaction,
    *,
    schedule: str,
    sharing: Sequence[str],
    lock: str,
    occurrence: str | None,
    at: datetime | None,
    due: datetime | None,
    now: datetime,
    silent_seconds: float,
) -> Row:
    """What stands around an occurrence or an instant; `sharing`: the schedules that have its lock. A Worker is silent that was
    not heard of for so many seconds."""
    row = await transaction.row(
        "why/around",
        schedule=schedule,
        sharing=list(sharing),
        lock=lock,
        occurrence=occurrence,
        at=at,
        due=due,
        now=now,
        silent=silent_seconds,
        most=COUNTED_MOST,
        near=_NEAR,
    )
    assert row is not None  # noqa: S101  # there is one row whatever there is
    return row
