"""Owns how a schedule and a Worker are doing, each with its sentence for people. Pure: instants are handed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobcontract.states import ScheduleStanding, WorkerStanding

LATE_AFTER = timedelta(seconds=5)
"""Past its time by more than this and not started, an occurrence is late."""
BEAT = timedelta(seconds=5)
"""Between two heartbeats of a Worker."""
BEATS_MISSED = 3
"""So many heartbeats missed, a Worker is silent."""
_UNITS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Off:
    """That a person switched a schedule off; `until` None = until somebody switches it on."""

    at: datetime
    until: datetime | None
    by: str
    """Their name."""
    reason: str

    def holds(self, now: datetime) -> bool:
        """Whether it is off at `now`."""
        return self.until is None or self.until > now


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The occurrence of a schedule that runs now, at which attempt, since when."""

    scheduled_at: datetime
    since: datetime
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """The occurrence of a schedule that waits for its next attempt."""

    scheduled_at: datetime
    due_at: datetime
    attempts: int
    """Used up so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a schedule is in one tenant. `planned`: whether a Worker has seen its record."""

    planned: bool
    manual: bool
    parked: str | None
    """Why it cannot be computed."""
    off: Off | None
    waiting_since: datetime | None
    """When the oldest unstarted occurrence was due."""
    waiting: int
    running: Running | None
    retrying: Retrying | None
    attempts: int
    """As its record says."""
    next_at: datetime | None
    last_completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a schedule is doing, and a sentence that says so."""

    standing: ScheduleStanding
    words: str


def late_since(now: datetime) -> datetime:
    """What was due before this and has not started is late at `now`."""
    return now - LATE_AFTER


def schedule_standing(progress: Progress, now: datetime) -> Standing:
    """How a schedule is doing at `now`, the most urgent first. One that is disabled is not late: its instants wait for
    whoever disabled it."""
    if progress.parked is not None:
        return _standing(ScheduleStanding.PARKED, f"Cannot be computed: {progress.parked}")
    if progress.off is not None and progress.off.holds(now):
        return _standing(ScheduleStanding.DISABLED, _off(progress.off))
    if progress.waiting_since is not None and progress.waiting_since < late_since(now):
        return _standing(ScheduleStanding.LATE, _late(progress, progress.waiting_since, now))
    if progress.retrying is not None:
        return _standing(ScheduleStanding.RETRYING, _retrying(progress.retrying, progress.attempts, now))
    if progress.running is not None:
        return _standing(ScheduleStanding.RUNNING, _running(progress.running, now))
    if not progress.planned:
        return _standing(ScheduleStanding.UNPLANNED, "No Worker has seen its record yet. Is one running?")
    if progress.manual:
        return _standing(ScheduleStanding.MANUAL, "A person starts it." + _last(progress, now))
    return _standing(ScheduleStanding.ON_TIME, _on_time(progress, now))


def worker_standing(
    now: datetime, *, beat_at: datetime, draining_at: datetime | None, stopped_at: datetime | None
) -> WorkerStanding:
    """How a Worker process is doing at `now`: one that stopped is not silent, one that is silent may not drain."""
    if stopped_at is not None:
        return WorkerStanding.STOPPED
    if now - beat_at > BEATS_MISSED * BEAT:
        return WorkerStanding.SILENT
    return WorkerStanding.LIVE if draining_at is None else WorkerStanding.DRAINING


def lasting(length: timedelta) -> str:
    """A length of time in at most two units: `2 d 4 h`, `3 h 12 min`, `12 min`, `9 s`; never below `0 s`."""
    whole = max(0, int(length.total_seconds()))
    for size, unit, part, smaller in _UNITS:
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size:,} {unit} {rest} {smaller}" if rest else f"{whole // size:,} {unit}"
    return f"{whole // 60} min" if whole >= 60 else f"{whole} s"


def _standing(standing: ScheduleStanding, words: str) -> Standing:
    return Standing(standing=standing, words=words if words.endswith((".", "?", "!")) else f"{words}.")


def _off(off: Off) -> str:
    until = "" if off.until is None else f" until {_moment(off.until)}"
    return f"Disabled by {off.by}{until}: {off.reason}"


def _late(progress: Progress, since: datetime, now: datetime) -> str:
    words = f"Late by {lasting(now - since)}: what was due at {_moment(since)} has not started"
    if progress.waiting > 1:
        words += f", and {progress.waiting - 1:,} more {'wait' if progress.waiting > 2 else 'waits'}"
    if progress.running is not None:
        words += (
            f"; that of {_moment(progress.running.scheduled_at)} runs since {lasting(now - progress.running.since)}"
        )
    return words


def _retrying(retrying: Retrying, attempts: int, now: datetime) -> str:
    what = f"attempt {retrying.attempts + 1:,} of {attempts:,} of the run of {_moment(retrying.scheduled_at)}"
    if retrying.due_at <= now:
        return f"Waits for {what}, due since {lasting(now - retrying.due_at)}"
    return f"Waits for {what}, in {lasting(retrying.due_at - now)}"


def _running(running: Running, now: datetime) -> str:
    which = "" if running.attempt <= 1 else f", attempt {running.attempt:,}"
    return f"Runs since {lasting(now - running.since)}: {_moment(running.scheduled_at)}{which}"


def _on_time(progress: Progress, now: datetime) -> str:
    if progress.next_at is None:
        return "On time. It never runs again." + _last(progress, now)
    return f"On time. Runs next in {lasting(progress.next_at - now)}." + _last(progress, now)


def _last(progress: Progress, now: datetime) -> str:
    if progress.last_completed_at is None:
        return " It has not been completed yet."
    return f" Last completed {lasting(now - progress.last_completed_at)} ago."


def _moment(at: datetime) -> str:
    """`2026-10-26 01:30 UTC`, with seconds where there are some."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC" if at.second else f"{at:%Y-%m-%d %H:%M} UTC"
