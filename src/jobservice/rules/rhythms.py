"""Owns when a schedule runs: instants by a rhythm and its policies for changes of the clock. Pure: no clock, no machine's
zone; every search is bounded and gives the same answer wherever it starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobcontract.states import ClockChange, Repeated, Skipped, SkipPolicy


class CannotCompute(Exception):
    """A rhythm that gives no instants here, and why, in a sentence for people: its schedule is parked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """At `anchor` (UTC) and every whole multiple of `seconds` after and before it. Has no wall clock."""

    seconds: int
    anchor: datetime

    def definition(self) -> str:
        """As one text, equal for equal rhythms."""
        return f"every {self.seconds} from {self.anchor.isoformat()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A five-field expression on the wall clock of an IANA zone."""

    expression: str
    zone: str
    skipped: Skipped
    repeated: Repeated

    def definition(self) -> str:
        """As one text, equal for equal rhythms."""
        return f"cron {self.expression} in {self.zone}, {self.skipped}, {self.repeated}"


Rhythm = Every | Cron


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """One instant of a rhythm, UTC; `local` is the wall clock that its expression named, None without one."""

    at: datetime
    local: datetime | None = None
    clock: ClockChange | None = None
    """What a change of the clock made of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A local time that does not run by the policy: left out by the clock, or the other one of two.

    `at` is UTC: the end of the gap, or the instant that the policy does not choose.
    """

    at: datetime
    local: datetime
    policy: SkipPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """The instants and the left-out local times of a stretch, each in rising order; `whole` False where `most` cut it:
    then `until` is the last instant given."""

    instants: tuple[Instant, ...]
    left: tuple[Left, ...]
    until: datetime
    whole: bool


def next_instant(rhythm: Rhythm, after: datetime) -> Instant | None:
    """The first instant strictly later than `after`; None where there is none. CannotCompute."""
    raise NotImplementedError


def previous_instant(rhythm: Rhythm, before: datetime) -> Instant | None:
    """The last instant strictly earlier than `before`; None where there is none. CannotCompute."""
    raise NotImplementedError


def between(rhythm: Rhythm, after: datetime, until: datetime, *, most: int) -> Between:
    """Instants later than `after` and not later than `until`, the oldest `most` of them. CannotCompute."""
    raise NotImplementedError


def newest(rhythm: Rhythm, after: datetime, until: datetime, *, most: int) -> tuple[Instant, ...]:
    """The newest `most` instants later than `after` and not later than `until`, in rising order. CannotCompute."""
    raise NotImplementedError


def count(rhythm: Rhythm, after: datetime, until: datetime) -> int:
    """How many instants are later than `after` and not later than `until`; quick for years. CannotCompute."""
    raise NotImplementedError


def words(rhythm: Rhythm) -> str:
    """The rhythm in words for people: `daily at 01:30, Europe/London`."""
    raise NotImplementedError


def tzdata_version() -> str:
    """Version of the time zone database that instants are computed with: `2026f`."""
    raise NotImplementedError
