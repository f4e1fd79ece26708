"""Owns what the end of an attempt makes of its occurrence: done, tried again and when, or a dead letter and why. Pure.

An attempt is counted when it is claimed, so that one that kills its Worker comes to an end too (requirement
bound-job-retries).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.rules.schedules import Backoff

DOUBLINGS_MOST = 64
"""More doublings than any back-off has before it reaches its most; so that no number grows without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """What becomes of an occurrence after an attempt."""

    state: OccurrenceState
    cause: DeadCause | None = None
    """Of a dead letter."""
    error: str | None = None
    """A sentence that is safe to show."""
    retry_after: float | None = None
    """Seconds until the next attempt may start; of a scheduled one alone."""


_CAUSES = {
    AttemptEnding.RETRY: DeadCause.FAILED,
    AttemptEnding.FAILED: DeadCause.FAILED,
    AttemptEnding.OVER_BOUND: DeadCause.OVER_BOUND,
    AttemptEnding.LOST: DeadCause.WORKER_LOST,
}
_SAID = {
    DeadCause.FAILED: "It failed, and said no more.",
    DeadCause.OVER_BOUND: "It ran longer than its duration bound.",
    DeadCause.WORKER_LOST: "The Worker was lost that had it.",
}


def after_attempt(
    ending: AttemptEnding,
    *,
    attempts: int,
    most: int,
    backoff: Backoff,
    error: str | None,
    asked_seconds: float | None = None,
    jitter: float = 0.0,
) -> Next:
    """What an attempt that ended so makes of its occurrence, after `attempts` of at most `most` (this one counted).

    `asked_seconds`: what a use case said of when to try again. `jitter`: a random number from 0 to 1.
    """
    if ending is AttemptEnding.COMPLETED:
        return Next(state=OccurrenceState.COMPLETED, error=error)
    if ending is AttemptEnding.CANCELLED:
        return Next(state=OccurrenceState.DEAD_LETTER, cause=DeadCause.CANCELLED, error=error or "It was cancelled.")
    if ending is AttemptEnding.HANDED_BACK:
        return Next(state=OccurrenceState.SCHEDULED, error=error, retry_after=0.0)
    cause = _CAUSES[ending]
    if attempts >= most:
        return Next(state=OccurrenceState.DEAD_LETTER, cause=cause, error=error or _SAID[cause])
    if ending is AttemptEnding.LOST:
        return Next(state=OccurrenceState.SCHEDULED, error=error, retry_after=0.0)  # its lease was the wait
    seconds = retry_delay(backoff, attempts=attempts, asked_seconds=asked_seconds, jitter=jitter)
    return Next(state=OccurrenceState.SCHEDULED, error=error, retry_after=seconds)


def retry_delay(backoff: Backoff, *, attempts: int, asked_seconds: float | None, jitter: float) -> float:
    """Seconds until the attempt after this many: the first wait doubled each time up to the most, up to half of it taken
    away by `jitter` (0 to 1). What a use case asked for counts in its place, from now to the most (case RETRY-04)."""
    if asked_seconds is not None and not math.isnan(asked_seconds):
        return min(max(float(asked_seconds), 0.0), backoff.most_seconds)
    doublings = min(max(attempts - 1, 0), DOUBLINGS_MOST)
    whole = min(backoff.first_seconds * 2.0**doublings, backoff.most_seconds)
    return whole * (1.0 - 0.5 * min(max(jitter, 0.0), 1.0))


def worker_lost(*, times: int, host: str | None) -> str:
    """What is said of an occurrence whose Worker was lost `times` times, at last on `host`."""
    often = {1: "once", 2: "twice"}.get(times, f"{times} times")
    where = "" if not host else f" on {host}" if times == 1 else f", at last on {host}"
    return f"Worker was lost {often}{where}: it died, was frozen, or could not reach the database in time."


def cancelled(*, attempts: int) -> str:
    """What is said of an occurrence that was cancelled while nobody ran it, after so many attempts."""
    return "Cancelled before it started." if attempts == 0 else "Cancelled before its next attempt."


def unrunnable(*, schedule: str, seconds: float) -> str:
    """What is said of an occurrence that no Worker here could run for so long."""
    minutes = max(int(seconds // 60), 1)
    return (
        f"The records have no {schedule} that runs in this tenant and deployment: nobody took it for "
        f"{minutes:,} {'minute' if minutes == 1 else 'minutes'}."
    )
