"""Owns when a schedule runs: instants by a rhythm and its policies for changes of the clock. Pure: no clock, no machine's
zone; every search is bounded and gives the same answer wherever it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from jobcontract.states import ClockChange, Repeated, Skipped, SkipPolicy
from jobservice.rules import rhythm_words, zones
from jobservice.rules.cron import BadExpressionError, parse
from jobservice.rules.wall_times import Event, WallTimes

HORIZON = 50 * 366 * 86_400
"""Seconds that a search looks ahead or back. The rarest date, 29 February on one weekday, comes after 40 years at most, and
some rhythm never comes: a time that every year's gap leaves out."""
_SECOND, _LEAST_STEP = timedelta(seconds=1), timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = (datetime(2, 1, 1, tzinfo=UTC) - _EPOCH) // _SECOND
_LAST = (datetime(9990, 1, 1, tzinfo=UTC) - _EPOCH) // _SECOND
"""What is searched at all: clear of the years at which a datetime ends."""


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
    """The first instant strictly later than `after`; None where there is none within `HORIZON`. CannotCompute."""
    if isinstance(rhythm, Every):
        return _multiple(rhythm, _multiples_until(rhythm, after) + 1)
    start = _first_later(after)
    return next(_run(_wall_times(rhythm).rising(start, _held(start + HORIZON))), None)


def previous_instant(rhythm: Rhythm, before: datetime) -> Instant | None:
    """The last instant strictly earlier than `before`; None where there is none within `HORIZON`. CannotCompute."""
    if isinstance(rhythm, Every):
        return _multiple(rhythm, _multiples_until(rhythm, before - _LEAST_STEP))
    end = _first_later(before - _LEAST_STEP)
    return next(_run(_wall_times(rhythm).falling(_held(end - HORIZON), end)), None)


def between(rhythm: Rhythm, after: datetime, until: datetime, *, most: int) -> Between:
    """Instants later than `after` and not later than `until`, the oldest `most` of them. CannotCompute."""
    _check_most(most)
    if isinstance(rhythm, Every):
        first, last = _multiples_until(rhythm, after) + 1, _multiples_until(rhythm, until)
        given = _some(_multiple(rhythm, number) for number in range(first, min(last, first + most - 1) + 1))
        return _cut(given, (), until, whole=last - first < most)
    instants: list[Instant] = []
    left: list[Left] = []
    whole = True
    for event in _wall_times(rhythm).rising(_first_later(after), _first_later(until)):
        if event.left is not None:
            left.append(Left(at=_moment(event.at), local=_wall(event.local), policy=event.left))
        elif len(instants) == most:
            whole = False
            break
        else:
            instants.append(_instant(event))
    return _cut(tuple(instants), left, until, whole=whole)


def newest(rhythm: Rhythm, after: datetime, until: datetime, *, most: int) -> tuple[Instant, ...]:
    """The newest `most` instants later than `after` and not later than `until`, in rising order. CannotCompute."""
    _check_most(most)
    if isinstance(rhythm, Every):
        first, last = _multiples_until(rhythm, after) + 1, _multiples_until(rhythm, until)
        return _some(_multiple(rhythm, number) for number in range(max(first, last - most + 1), last + 1))
    falling = _run(_wall_times(rhythm).falling(_first_later(after), _first_later(until)))
    return tuple(islice(falling, most))[::-1]


def count(rhythm: Rhythm, after: datetime, until: datetime) -> int:
    """How many instants are later than `after` and not later than `until`; quick for years. CannotCompute."""
    if isinstance(rhythm, Every):
        return max(0, _multiples_until(rhythm, until) - _multiples_until(rhythm, after))
    return _wall_times(rhythm).count(_first_later(after), _first_later(until))


def changed(rhythm: Rhythm, after: datetime, until: datetime) -> Between:
    """Of the same stretch only what a change of the clock makes something of: the instants that it moved or repeats, and
    the local times that do not run; quick for years. CannotCompute."""
    if isinstance(rhythm, Every):
        return Between(instants=(), left=(), until=_aware(until), whole=True)
    events = list(_wall_times(rhythm).changed(_first_later(after), _first_later(until)))
    return Between(
        instants=tuple(_run(events)),
        left=tuple(
            Left(at=_moment(each.at), local=_wall(each.local), policy=each.left) for each in events if each.left
        ),
        until=_aware(until),
        whole=True,
    )


def words(rhythm: Rhythm) -> str:
    """The rhythm in words for people: `daily at 01:30, Europe/London`."""
    if isinstance(rhythm, Every):
        return rhythm_words.every(rhythm.seconds, rhythm.anchor)
    return rhythm_words.cron(rhythm.expression, rhythm.zone)


def tzdata_version() -> str:
    """Version of the time zone database that instants are computed with: `2026f`."""
    return zones.version()


def _multiples_until(rhythm: Every, at: datetime) -> int:
    """The number of the last instant that is not later than `at`; the anchor's is 0."""
    if rhythm.seconds < 1:
        raise CannotCompute(
            f"The rhythm is every {rhythm.seconds} seconds; at least one second lies between two instants."
        )
    return (_aware(at) - _aware(rhythm.anchor)) // timedelta(seconds=rhythm.seconds)


def _multiple(rhythm: Every, number: int) -> Instant | None:
    """The instant of that number; None beyond the years that a datetime holds."""
    try:
        return Instant(at=_aware(rhythm.anchor) + number * timedelta(seconds=rhythm.seconds))
    except OverflowError:
        return None


def _wall_times(rhythm: Cron) -> WallTimes:
    try:
        return WallTimes(parse(rhythm.expression), zones.zone(rhythm.zone), rhythm.skipped, rhythm.repeated)
    except (BadExpressionError, zones.UnknownZoneError) as error:
        raise CannotCompute(str(error)) from error


def _run(events: Iterable[Event]) -> Iterator[Instant]:
    return (_instant(event) for event in events if event.left is None)


def _some(instants: Iterable[Instant | None]) -> tuple[Instant, ...]:
    return tuple(each for each in instants if each is not None)


def _cut(instants: tuple[Instant, ...], left: Iterable[Left], until: datetime, *, whole: bool) -> Between:
    last = _aware(until) if whole else instants[-1].at
    return Between(instants=instants, left=tuple(each for each in left if each.at <= last), until=last, whole=whole)


def _check_most(most: int) -> None:
    if most < 1:
        raise ValueError(f"at most {most} instants were asked for; ask for at least one")


def _aware(at: datetime) -> datetime:
    if at.utcoffset() is None:
        raise ValueError(f"{at.isoformat()} says no offset from UTC, so it is no instant")
    return at.astimezone(UTC)


def _first_later(at: datetime) -> int:
    """The first whole second that is strictly later than `at`, or the first or last one searched."""
    return _held((_aware(at) - _EPOCH) // _SECOND + 1)


def _held(second: int) -> int:
    return max(_FIRST, min(_LAST, second))


def _instant(event: Event) -> Instant:
    return Instant(at=_moment(event.at), local=_wall(event.local), clock=event.clock)


def _moment(second: int) -> datetime:
    return _EPOCH + second * _SECOND


def _wall(local: int) -> datetime:
    return _moment(local).replace(tzinfo=None)
