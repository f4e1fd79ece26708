"""Owns schedules made by hand, for tests that need one and no record."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from jobcontract.states import MisfirePolicy, Repeated, ScheduleType, Skipped
from jobservice.rules.rhythms import Cron, Every, Rhythm
from jobservice.rules.schedules import Backoff, Itself, Misfire, Schedule

DAY = 86_400.0
ANCHOR = datetime(2026, 1, 5, 1, tzinfo=UTC)


def at(text: str) -> datetime:
    """An instant of UTC: `2026-03-10T02:00`, seconds where they matter."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def every(seconds: int, anchor: datetime = ANCHOR) -> Every:
    """A rhythm of so many seconds."""
    return Every(seconds=seconds, anchor=anchor)


def cron(
    expression: str,
    zone: str = "UTC",
    skipped: Skipped = Skipped.SKIP,
    repeated: Repeated = Repeated.FIRST,
) -> Cron:
    """A rhythm by the clock of a zone."""
    return Cron(expression=expression, zone=zone, skipped=skipped, repeated=repeated)


def misfire(policy: MisfirePolicy, after: float = 60.0, newest: int | None = None) -> Misfire:
    """A policy; each-interval keeps the newest two where nothing else is said."""
    if policy is MisfirePolicy.EACH_INTERVAL and newest is None:
        newest = 2
    return Misfire(policy=policy, after_seconds=after, newest=newest)


SKIP, ONCE, EACH = (misfire(policy) for policy in MisfirePolicy)


def schedule(identifier: str, rhythm: Rhythm | None, policy: Misfire | None = SKIP, **changes: Any) -> Schedule:
    """A schedule with that rhythm (None = a manual one); `changes` are its other fields."""
    made = Schedule(
        id=identifier,
        title=identifier.capitalize(),
        type=ScheduleType.MANUAL if rhythm is None else ScheduleType.SCHEDULED,
        rhythm=rhythm,
        reason=None,
        misfire=None if rhythm is None else policy,
        selection=Itself(),
        batch_size=1,
        runs="work",
        batch_path=False,
        cursor=None,
        lock=identifier,
        bound_seconds=60.0,
        attempts=3,
        backoff=Backoff(first_seconds=1.0, most_seconds=60.0),
        tenants=None,
        retention="kept",
        retention_seconds=30 * DAY,
        guard=None,
        runs_where=None,
    )
    return replace(made, **changes)
