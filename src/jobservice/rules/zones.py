"""Owns the time zones: the IANA names that are known, how far each zone is from UTC and when that changes. Reads the pinned
`tzdata` package alone, never the machine's files, its zone or its environment, and changes nothing for others.

`zoneinfo` looks for a name on the machine first and in the package last (`TZPATH`, `PYTHONTZPATH`), and `whenever` has one
search path for the whole process; so a zone is built here from the bytes of the package's file. Instants and local times
are ints: seconds since 1970-01-01T00:00Z, and seconds of the wall clock since the midnight that began its 1970-01-01.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from io import BytesIO
from zoneinfo import ZoneInfo

import tzdata

FAR = 10**12
"""Seconds: beyond every instant that a datetime holds."""
REACH = 26 * 3600
"""Seconds: a local time is nearer than this to each of its instants, and a change of the clock is smaller."""
_HELD = 60_000_000_000
"""Seconds: nearer to 1970 than this, a datetime holds an instant on every clock."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WEEK = 7 * 86_400
_HEADER, _TYPE = struct.Struct(">4sc15x6l"), struct.Struct(">lBB")
_NO_PLACES = frozenset({"Factory"})
"""Names of the package that stand for a machine nobody has set up."""


class UnknownZoneError(LookupError):
    """A name that the pinned time zone database does not have, in a sentence for people."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a zone's clock: seconds from UTC before it and from it on. `after` larger is a gap, smaller a repeat."""

    at: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """What lies between two changes of the clock: from `start` on, before `end`, always `offset` seconds from UTC."""

    start: int
    end: int
    offset: int


class Zone:
    """One zone of the database."""

    def __init__(self, name: str, raw: bytes) -> None:
        """Of the bytes of its file."""
        self.name = name
        self._zone = ZoneInfo.from_file(BytesIO(raw), key=name)
        listed = _listed(raw)
        self._listed_end = listed[-1][0] if listed else -_HELD
        self._listed = list(self._changes(listed))
        self._starts = [change.at for change in self._listed]
        # The file ends in a rule for all later times; only one that changes the clock has a comma.
        self._ruled = b"," in raw.rstrip(b"\n").rpartition(b"\n")[2]
        self._years: dict[int, Sequence[Change]] = {}

    def offset(self, at: int) -> int:
        """Seconds from UTC at that instant."""
        moment = _EPOCH + timedelta(seconds=at)
        # What the clock shows, less the instant: `utcoffset()` would guess from the wall clock, which may show a time thrice.
        return round((moment.astimezone(self._zone).replace(tzinfo=UTC) - moment).total_seconds())

    def abbreviation(self, at: int) -> str:
        """What people there call that clock at that instant: `BST`, `+0530`."""
        return (_EPOCH + timedelta(seconds=at)).astimezone(self._zone).tzname() or "UTC"

    def stretch(self, at: int) -> Stretch:
        """The stretch that holds that instant."""
        began, ends = self._last_until(at), self._first_after(at)
        return Stretch(
            start=-FAR if began is None else began.at,
            end=FAR if ends is None else ends.at,
            offset=self.offset(at) if began is None else began.after,
        )

    def changes(self, start: int, end: int) -> Iterator[Change]:
        """The changes of the clock from `start` on and before `end`, rising."""
        change = self._first_after(start - 1)
        while change is not None and change.at < end:
            yield change
            change = self._first_after(change.at)

    def instants(self, local: int) -> Sequence[int]:
        """Every instant at which the wall clock shows that local time, rising: none in a gap, two where it is repeated."""
        found = []
        stretch = self.stretch(local - REACH)
        while True:
            at = local - stretch.offset
            if stretch.start <= at < stretch.end:
                found.append(at)
            if stretch.end > local + REACH:
                return found
            stretch = self.stretch(stretch.end)

    def _first_after(self, at: int) -> Change | None:
        place = bisect_right(self._starts, at)
        if place < len(self._listed):
            return self._listed[place]
        if not self._ruled:
            return None
        first = _year_of(max(at, self._listed_end))
        return next((each for year in range(first, first + 3) for each in self._ruled_in(year) if each.at > at), None)

    def _last_until(self, at: int) -> Change | None:
        if self._ruled and at > self._listed_end:
            last, least = _year_of(at), _year_of(self._listed_end)
            for year in range(last, max(last - 3, least - 1), -1):
                for change in reversed(self._ruled_in(year)):
                    if change.at <= at:
                        return change
        place = bisect_right(self._starts, at)
        return self._listed[place - 1] if place else None

    def _ruled_in(self, year: int) -> Sequence[Change]:
        """The changes by the rule for later times in that year of UTC, past the listed ones."""
        changes = self._years.get(year)
        if changes is None:
            # A rule changes the clock twice a year, months apart: a look each week misses none.
            start, end = max(_start_of(year), self._listed_end), _start_of(year + 1)
            looks = [*range(start, end, _WEEK), end] if start < end else []
            offsets = [self.offset(at) for at in looks]
            moved = [number for number in range(1, len(looks)) if offsets[number - 1] != offsets[number]]
            changes = self._years[year] = tuple(self._between(looks[each - 1], looks[each]) for each in moved)
        return changes

    def _between(self, start: int, end: int) -> Change:
        """The one change later than `start` and not later than `end`."""
        before, after = self.offset(start), self.offset(end)
        while end - start > 1:
            middle = (start + end) // 2
            if self.offset(middle) == before:
                start = middle
            else:
                end = middle
        return Change(end, before, after)

    def _changes(self, listed: Sequence[tuple[int, int]]) -> Iterator[Change]:
        """Those of a file's entries that move the clock; others change a name alone."""
        offset = self.offset(listed[0][0] - 1) if listed else 0
        for at, after in listed:
            if after != offset:
                yield Change(at, offset, after)
            offset = after


def _listed(raw: bytes) -> Sequence[tuple[int, int]]:
    """The instants that a file lists and the seconds from UTC from then on (TZif, RFC 9636, its second block), where a
    datetime holds them."""
    _, _, flags, standards, leaps, times, types, letters = _HEADER.unpack_from(raw)
    second = _HEADER.size + 5 * times + 6 * types + letters + 8 * leaps + standards + flags
    _, _, _, _, _, times, types, _ = _HEADER.unpack_from(raw, second)
    place = second + _HEADER.size
    instants = struct.unpack_from(f">{times}q", raw, place)
    chosen = raw[place + 8 * times : place + 9 * times]
    offsets = [offset for offset, _, _ in _TYPE.iter_unpack(raw[place + 9 * times : place + 9 * times + 6 * types])]
    return [(at, offsets[each]) for at, each in zip(instants, chosen, strict=True) if -_HELD < at < _HELD]


def _year_of(at: int) -> int:
    return (_EPOCH + timedelta(seconds=at)).year


def _start_of(year: int) -> int:
    return (datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)


@cache
def names() -> frozenset[str]:
    """Every name of the database that stands for a place or an offset."""
    return frozenset(files(tzdata).joinpath("zones").read_text("utf-8").split()) - _NO_PLACES


@cache
def zone(name: str) -> Zone:
    """The zone of that name, letter for letter. UnknownZoneError."""
    if name not in names():
        near = next((each for each in names() if each.lower() == name.lower()), None)
        hint = f" Is it {near}?" if near else ""
        raise UnknownZoneError(f"The time zone {name!r} is not in the time zone database {version()}.{hint}")
    return Zone(name, files(tzdata).joinpath("zoneinfo", *name.split("/")).read_bytes())


def version() -> str:
    """Version of the time zone database: `2026f`."""
    return str(tzdata.IANA_VERSION)
