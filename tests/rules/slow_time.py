"""Owns an independent, slow computation of what a wall clock does, for tests: second by second or minute by minute over UTC
it writes down what the clock shows, and asks a plain predicate whether a job is named then. Shares no code with the rules.

It knows the rule of each expression as a predicate of its own, so it reads no cron either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from io import BytesIO
from operator import itemgetter
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CENTURY = range(1937, 2038)
SECOND, MINUTE, LOOK = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=5)
Named = Callable[[datetime], bool]

EXPRESSIONS: Mapping[str, Named] = {
    "* * * * *": lambda local: local.second == 0,
    "*/15 * * * *": lambda local: local.minute % 15 == 0,
    "7,37 */2 * * *": lambda local: local.minute in (7, 37) and local.hour % 2 == 0,
    "30 2 * * *": lambda local: (local.hour, local.minute) == (2, 30),
    "0 0 * * *": lambda local: (local.hour, local.minute) == (0, 0),
    "5-50/15 0-3 * * *": lambda local: local.minute in (5, 20, 35, 50) and local.hour <= 3,
    "30 1,23 * * sun,6": lambda local: local.minute == 30 and local.hour in (1, 23) and local.isoweekday() > 5,
    "0 0,1 */2 * 1-5": lambda local: (
        local.minute == 0 and local.hour < 2 and local.day % 2 == 1 and local.isoweekday() < 6
    ),
    "15 1 1-7 mar,oct 7": lambda local: (
        (local.hour, local.minute) == (1, 15) and local.month in (3, 10) and (local.day < 8 or local.isoweekday() == 7)
    ),
    "59 23 30-31 * *": lambda local: (local.hour, local.minute) == (23, 59) and local.day > 29,
}


@cache
def zone_names() -> Sequence[str]:
    """One name of each different zone of the pinned database, in order."""
    names = sorted(files("tzdata").joinpath("zones").read_text("utf-8").split())
    different = {_raw(name): name for name in reversed(names) if name != "Factory"}
    return sorted(different.values())


@cache
def slow_zone(name: str) -> ZoneInfo:
    """The zone of the pinned database."""
    return ZoneInfo.from_file(BytesIO(_raw(name)))


def _raw(name: str) -> bytes:
    return files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


def offset_at(zone: str | ZoneInfo, at: datetime) -> timedelta:
    """How far from UTC that zone is at that instant."""
    return at.astimezone(slow_zone(zone) if isinstance(zone, str) else zone).replace(tzinfo=UTC) - at


@cache
def changes(name: str) -> Sequence[datetime]:
    """The instants at which the clock jumps in the century: looked for every fifth day (two are never nearer in those years,
    says `whenever`), found to the second."""
    found = []
    day = datetime(CENTURY.start, 1, 1, tzinfo=UTC)
    before = offset_at(name, day)
    while day.year < CENTURY.stop:
        day += LOOK
        after = offset_at(name, day)
        if after != before:
            found.append(_jump(name, day - LOOK, day, before))
        before = after
    return found


def _jump(name: str, low: datetime, high: datetime, before: timedelta) -> datetime:
    while high - low > SECOND:
        middle = low + (high - low) // 2 // SECOND * SECOND
        low, high = (middle, high) if offset_at(name, middle) == before else (low, middle)
    return high


@dataclass(frozen=True, slots=True)
class Clock:
    """What a wall clock shows from `start` on and before `end`."""

    start: datetime
    end: datetime
    shows: Mapping[datetime, Sequence[datetime]]
    """The instants of every whole minute shown, rising."""
    jumps: Sequence[tuple[datetime, datetime, datetime]]
    """Instant, the local time that it would have been, the local time that it is; forward ones alone."""


def watch(zone: str | ZoneInfo, start: datetime, end: datetime) -> Clock:
    """Look at the clock each minute, or each second where it does not tick with the minutes of UTC."""
    even = all(offset_at(zone, at) % MINUTE == timedelta() for at in (start, end))
    step = MINUTE if even else SECOND
    shows: dict[datetime, list[datetime]] = {}
    jumps = []
    at, before = start, offset_at(zone, start)
    while at < end:
        offset = offset_at(zone, at)
        local = (at + offset).replace(tzinfo=None)
        if offset > before:
            jumps.append((at, (at + before).replace(tzinfo=None), local))
        if local.second == 0:
            shows.setdefault(local, []).append(at)
        at, before = at + step, offset
    return Clock(start, end, shows, jumps)


Ran = tuple[datetime, datetime, str | None]
"""Instant, local time, what a change of the clock made of it."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What runs, and what is left out with the name of its policy, by instant and local time."""

    ran: Sequence[Ran]
    left: Sequence[tuple[datetime, datetime, str]]


def expected(clock: Clock, named: Named, skipped: str, repeated: str) -> Expected:
    """What a job does while the clock was watched, by the two policies, written as the records write them."""
    ran: dict[datetime, Ran] = {}
    left = []
    for local, instants in clock.shows.items():
        if not named(local):
            continue
        running = {"first": instants[:1], "second": instants[-1:], "both": instants}[repeated]
        for at in instants:
            which = None if len(instants) == 1 else "first" if at == instants[0] else "second"
            if at in running:
                ran[at] = (at, local, which)
            else:
                left.append((at, local, "repeated-hour"))
    for at, local, shifted in _left_out(clock, named):
        if skipped == "skip":
            left.append((at, local, "skipped-hour"))
        elif skipped == "run-at-gap-end":
            ran.setdefault(at, (at, local, "gap-end"))
        else:
            ran.setdefault(shifted, (shifted, local, "shifted"))
    return Expected(sorted(ran.values(), key=itemgetter(0)), sorted(left))


def _left_out(clock: Clock, named: Named) -> Iterator[tuple[datetime, datetime, datetime]]:
    """What is named but never shown: where its gap ends, the local time, and the instant as far past the gap's end as it
    lies past the gap's start."""
    for at, would_be, is_now in clock.jumps:
        local = would_be + (-would_be.second % 60) * SECOND
        while local < is_now:
            if named(local) and local not in clock.shows:
                yield at, local, at + (local - would_be)
            local += MINUTE
