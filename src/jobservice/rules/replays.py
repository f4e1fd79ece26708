"""Owns whether an ended occurrence may be run again, and whether a dead letter may be put away. Pure: how it stands is
handed in, and whoever acts compares again in the statement that writes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobcontract.errors import ErrorCode
from jobcontract.states import DeadCause, OccurrenceState
from jobservice.rules.claims import Denied
from jobservice.rules.standing import Off


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How an occurrence stands, and its schedule."""

    name: str
    """As a person types it."""
    schedule: str
    state: OccurrenceState
    cause: DeadCause | None
    ended_at: datetime | None
    version: int
    removed: bool
    """Whether retention has come past it."""
    discarded_at: datetime | None = None
    discarded_by: str | None = None
    """Their name."""
    runnable: bool = True
    """Whether the records have its schedule, for its tenant and in this deployment."""
    moves_money: bool = False
    off: Off | None = None
    """Who switched its schedule off, where it is off now."""


def decide_replay(course: Course, *, seen: int | None, money: bool = False) -> Denied | None:
    """Why it is not run again; None where it may be. `seen`: the version that the person saw, None = whatever it is.
    `money`: a confirmed recovery asks, so that what moves money may run."""
    if not course.state.ended:
        doing = "runs" if course.state is OccurrenceState.PROCESSING else "waits for its turn"
        return Denied(
            kind=ErrorCode.OCCURRENCE_NOT_ENDED,
            sentence=f"{course.name} {doing}: only what has ended is run again. Cancel it first, or wait for its end.",
        )
    if course.removed:
        return removed(course.name)
    if not course.runnable:
        return Denied(
            kind=ErrorCode.SCHEDULE_UNFIT,
            sentence=f"The records have no {course.schedule} that runs here any more: nothing could run {course.name}.",
        )
    if course.moves_money and not money:
        return Denied(
            kind=ErrorCode.NEEDS_PLAN,
            sentence=f"{course.schedule} moves money: it is replayed by a recovery, which a person with payout.release "
            "(finance) confirms with a code.",
        )
    if course.off is not None:
        return Denied(kind=ErrorCode.SCHEDULE_DISABLED, sentence=disabled(course.schedule, course.off))
    return _changed(course, seen)


def decide_discard(course: Course, *, seen: int | None) -> Denied | None:
    """Why it is not put away; None where it may be. `seen` as in `decide_replay`."""
    if course.state is not OccurrenceState.DEAD_LETTER:
        return Denied(
            kind=ErrorCode.NOT_DEAD_LETTER,
            sentence=f"{course.name} is {course.state}: only a dead letter is discarded.",
        )
    if course.removed:
        return removed(course.name)
    if course.discarded_at is not None:
        by = course.discarded_by or "somebody"
        return Denied(
            kind=ErrorCode.NOT_DEAD_LETTER,
            sentence=f"{course.name} was discarded by {by} at {course.discarded_at:%Y-%m-%d %H:%M:%S} UTC.",
        )
    return _changed(course, seen)


def removed(name: str) -> Denied:
    """What is said of an occurrence that retention has come past."""
    return Denied(
        kind=ErrorCode.OCCURRENCE_REMOVED,
        sentence=f"{name} lies at or before what retention removes of its schedule: it is never run again.",
    )


def disabled(schedule: str, off: Off) -> str:
    """What is said where a schedule is switched off."""
    until = "" if off.until is None else f" until {off.until:%Y-%m-%d %H:%M:%S} UTC"
    return f"{schedule} is disabled by {off.by}{until}: {off.reason.rstrip('.')}. Enable it first."


def _changed(course: Course, seen: int | None) -> Denied | None:
    if seen is None or seen == course.version:
        return None
    return Denied(
        kind=ErrorCode.VERSION_CHANGED,
        sentence=f"{course.name} changed since you looked: it is {course.state} by now. Look at it again.",
    )
