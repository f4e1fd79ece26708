"""Owns whether a manual schedule may be run now: the windows of its guard, in UTC. Pure; the clock is handed in."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from jobcontract.errors import ErrorCode
from jobservice.rules.claims import Denied
from jobservice.rules.schedules import Guard, Window

_WEEK = 7


def is_open(guard: Guard | None, now: datetime) -> bool:
    """Whether it may be run at `now`; without windows at any time."""
    windows = () if guard is None else guard.windows
    return not windows or any(_holds(each, now) for each in windows)


def opens_next(guard: Guard, now: datetime) -> datetime | None:
    """When the next window opens, later than `now`, UTC; None where it has none."""
    today = now.astimezone(UTC)
    found = [
        opening
        for window in guard.windows
        for days in range(_WEEK + 1)
        if (opening := datetime.combine(today.date() + timedelta(days=days), window.start, UTC)) > today
        and opening.isoweekday() in window.days
    ]
    return min(found, default=None)


def decide_run(schedule: str, guard: Guard | None, windows: str, now: datetime) -> Denied | None:
    """Why it is not run at `now`, naming the next window; None where it may be. `windows`: of its guard, in words."""
    if guard is None or is_open(guard, now):
        return None
    following = opens_next(guard, now)
    when = "" if following is None else f" It may be run next from {following:%Y-%m-%d %H:%M} UTC."
    return Denied(
        kind=ErrorCode.GUARD_REFUSED,
        sentence=f"{schedule} may be run {windows}, and it is {now.astimezone(UTC):%a %H:%M} UTC.{when}",
    )


def _holds(window: Window, now: datetime) -> bool:
    at = now.astimezone(UTC)
    if at.isoweekday() not in window.days or at.time() < window.start:
        return False
    return window.end == time.max or at.time() < window.end  # time.max: to the end of the day
