"""Owns the duty that counts by hour what ended: the overview's sparklines, which no request counts anew.

Exact and idempotent: each run counts whole hours anew, from the one in which the last run looked, less what may be written
late; a run that was killed has written whole hours or nothing, and the next counts them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobservice.store import tallies as store
from jobservice.worker.fenced import Lease

LATE = timedelta(minutes=10)
"""What ended bears the instant of its statement, and is seen when its transaction commits: never so much later."""
LONGEST = timedelta(hours=25)
"""How far back a run counts at most: longer ago nothing is shown as a sparkline."""
KEPT = timedelta(days=31)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tallies:
    """The duty with its pace: what is shown is at most so many seconds old."""

    every: float = 30.0
    lease: float = 60.0
    name: str = "tallies"
    wakes: frozenset[str] = frozenset()

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Count the hours since the last run, remove those of long ago; nothing for the log, since there is always some."""
        async with lease.transaction(statement_seconds=30.0) as transaction:
            mark = await store.mark(transaction)
            await store.recount(transaction, lease.key, since=first_hour(mark.until, mark.now), now=mark.now)
            await store.move(transaction, now=mark.now)
            await store.remove(transaction, before=mark.now - KEPT)
        return {}


def first_hour(until: datetime | None, now: datetime) -> datetime:
    """The first hour to be counted anew, UTC; `until`: all that ended before is counted, but for what is written late."""
    start = now - LONGEST if until is None else max(until - LATE, now - LONGEST)
    return start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
