"""Owns the look ahead that people see: the next instants of a rhythm with the wall clock there and then, the local times
that a change of the clock leaves out, and what it does to each in words. Pure; the search is bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobcontract.states import ClockChange, SkipPolicy
from jobservice.rules.rhythms import CannotCompute, Cron, Instant, Left, Rhythm, between
from jobservice.rules.zones import zone

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
"""Between these a look ahead may begin."""
AHEAD = timedelta(days=40 * 366)
"""How far it looks."""
_AHEAD_WORDS = "40 years"
LEFT_MOST = 100
"""Most left-out local times that one look ahead shows."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ORDINAL: Mapping[ClockChange, str] = {ClockChange.FIRST: "first", ClockChange.SECOND: "second"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedInstant:
    """An instant that runs, or a local time that does not by the policy. The clock's part is None without a wall clock."""

    at: datetime
    """UTC."""
    local: datetime | None
    """On the wall clock there and then; of a time that the clock leaves out: that time. Naive."""
    offset: int | None
    """Seconds east of UTC."""
    abbreviation: str | None
    clock: ClockChange | None
    runs: bool
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What a rhythm does after an instant; `words` says why there is less than was asked for, or nothing."""

    instants: tuple[PlannedInstant, ...]
    words: str


def look_ahead(rhythm: Rhythm | None, after: datetime, *, count: int) -> Ahead:
    """The next `count` instants that run, strictly later than `after`, with what is left out between them.

    None of a rhythm: a person starts it. One that cannot be computed has none, and its words say why.
    """
    if rhythm is None:
        return Ahead(instants=(), words="A person starts it: it has no instants of its own.")
    try:
        found = between(rhythm, after, after + AHEAD, most=count)
    except CannotCompute as why:
        return Ahead(instants=(), words=_sentence(f"Its instants cannot be computed: {why}"))
    rows = [of_instant(rhythm, each) for each in found.instants]
    # What is left out behind the last instant would be told without what follows it.
    last = rows[-1].at if len(rows) == count else found.until
    rows += [of_left(rhythm, each) for each in found.left if each.at <= last][:LEFT_MOST]
    words = ""
    if len(found.instants) < count:
        more = "more" if found.instants else "instant"
        words = f"It has no {more} within {_AHEAD_WORDS}."
    return Ahead(instants=tuple(sorted(rows, key=lambda row: (row.at, row.runs))), words=words)


def of_instant(rhythm: Rhythm, instant: Instant) -> PlannedInstant:
    """An instant that runs, with the wall clock there and then."""
    if not isinstance(rhythm, Cron):
        return PlannedInstant(
            at=instant.at, local=None, offset=None, abbreviation=None, clock=None, runs=True, words=""
        )
    offset, abbreviation = _there(rhythm, instant.at)
    local = (instant.at + timedelta(seconds=offset)).replace(tzinfo=None)
    return PlannedInstant(
        at=instant.at,
        local=local,
        offset=offset,
        abbreviation=abbreviation,
        clock=instant.clock,
        runs=True,
        words=_changed(instant.clock, instant.local or local, local, abbreviation),
    )


def of_left(rhythm: Rhythm, left: Left) -> PlannedInstant:
    """A local time that does not run by the policy. One that the clock shows twice has an instant; a skipped one has none."""
    offset, abbreviation = None, None
    words = f"{left.local:%H:%M} does not exist that {_part(left.local)}: it does not run."
    if left.policy is SkipPolicy.REPEATED_HOUR and isinstance(rhythm, Cron):
        offset, abbreviation = _there(rhythm, left.at)
        words = f"{left.local:%H:%M} comes twice that {_part(left.local)}: it does not run at {abbreviation}."
    return PlannedInstant(
        at=left.at, local=left.local, offset=offset, abbreviation=abbreviation, clock=None, runs=False, words=words
    )


def _changed(clock: ClockChange | None, named: datetime, local: datetime, abbreviation: str) -> str:
    if clock is None:
        return ""
    if clock in _ORDINAL:
        return f"{named:%H:%M} comes twice that {_part(named)}: runs at the {_ORDINAL[clock]}, {abbreviation}."
    return f"{named:%H:%M} does not exist that {_part(named)}: runs at {local:%H:%M} {abbreviation}."


def _there(rhythm: Cron, at: datetime) -> tuple[int, str]:
    """Seconds east of UTC and the abbreviation in the rhythm's zone at that instant."""
    there = zone(rhythm.zone)
    second = (at - _EPOCH) // timedelta(seconds=1)
    return there.offset(second), there.abbreviation(second)


def _part(local: datetime) -> str:
    """What people call that part of the day."""
    return "night" if local.hour < 6 or local.hour >= 21 else "day"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
