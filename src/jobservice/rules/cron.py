"""Owns what a cron expression of five fields says: which are refused and why, and which local times it names. Knows no zone
and no instant (`rules/wall_times.py`); never reads a clock.

The fields are minute, hour, day of month, month and day of week. An item is `*`, a value, a range `a-b`, or a step over `*`
or over a range (`*/15`, `9-17/2`); items stand in a list with commas. Months and days of the week may be written by their
English names of three letters; Sunday is 0 or 7.

The two fields of the day follow cron(5) of Debian. Where both are restricted, a day that either of them names is one:
`0 0 13 * fri` is every 13th and every Friday. A field that begins with `*` counts as unrestricted, and then a day has to be
named by both: `0 0 */2 * mon` is the Mondays among the odd days of the month.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache

from cronsim import CronSim, CronSimError

DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_LAST_YEAR = 9999
_ITEM = re.compile(r"(?P<first>\*|\w+)(?P<range>-(?P<last>\w+))?(?P<stepped>/(?P<step>\w+))?", re.ASCII)
_EXTENSION = re.compile(r".*#.*|\?|\d*[lw]|lw|l-\d+|[a-z]{3}l", re.IGNORECASE)
_LONGEST = 500
"""Characters of an expression: one that lists every value of every field is shorter."""
_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


class BadExpressionError(ValueError):
    """An expression that is refused, and why, in a sentence for people."""


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    least: int
    most: int
    names: Sequence[str] = ()
    """Names of the values from `least` on."""

    def refused(self, item: str, why: str) -> BadExpressionError:
        """The sentence about one item: the field, what was written, what is allowed."""
        allowed = f"{self.least} to {self.most}"
        if self.names:
            allowed += f" or {self.names[0]} to {self.names[-1]}"
        allowed += f", *, ranges such as {self.least}-{self.least + 3}, steps such as */2, and lists of these"
        return BadExpressionError(f"The {self.name} is {item!r}: {why}. Allowed are {allowed}.")

    def check(self, written: str) -> None:
        """BadExpressionError for the first item that does not belong here."""
        for item in written.split(","):
            self._check_item(item)

    def _check_item(self, item: str) -> None:
        if _EXTENSION.fullmatch(item) and item.lower() not in self.names:
            raise self.refused(item, "L, W, # and ? are not read here")
        match = _ITEM.fullmatch(item)
        if match is None:
            raise self.refused(item, "that is no value, range or step" if item else "nothing stands there")
        star = match["first"] == "*"
        if star and match["range"]:
            raise self.refused(item, "* is a range already")
        if not star:
            first = self._value(match["first"], item)
            if match["range"]:
                self._check_range(first, self._value(match["last"], item), item)
            elif match["stepped"]:
                why = f"a step goes over * or a range; for one that starts at {match['first']} write"
                raise self.refused(item, f"{why} {match['first']}-{self.most}/{match['step']}")
        if match["stepped"]:
            self._check_step(match["step"], item)

    def _value(self, written: str, item: str) -> int:
        if written.lower() in self.names:
            return self.names.index(written.lower()) + self.least
        if not (written.isdecimal() and len(written) <= 2 and self.least <= int(written) <= self.most):
            raise self.refused(item, f"{written!r} is none of its values")
        return int(written)

    def _check_range(self, first: int, last: int, item: str) -> None:
        if last < first:
            sunday = " (as the end of a range, Sunday is 7)" if self.most == 7 and last == 0 else ""
            raise self.refused(item, f"the range ends before it starts{sunday}")

    def _check_step(self, written: str, item: str) -> None:
        if not (written.isdecimal() and len(written) <= 2 and 1 <= int(written) <= self.most):
            raise self.refused(item, f"a step is 1 to {self.most}")


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    _Field("day of week", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)


class Expression:
    """The local times that an expression names. A local time is an int: the seconds of a wall clock since the midnight that
    began its 1970-01-01; every one that is named is a whole minute."""

    __slots__ = ("_days", "_months", "either_day", "fields", "hour_varies", "text", "times", "weekdays")

    def __init__(self, text: str) -> None:
        """Of a text whose fields were checked."""
        self.fields = tuple(text.split())
        """As they were written."""
        self.text = " ".join(self.fields)
        self.hour_varies = any(sign in self.fields[1] for sign in "*-/")
        """Whether the hour is a wildcard, a range or a step: leaving out one of two repeated hours leaves a hole."""
        named = CronSim(text, datetime(1970, 1, 1, tzinfo=UTC))
        self.times = tuple(
            hour * 3600 + minute * 60 for hour in sorted(named.hours) for minute in sorted(named.minutes)
        )
        """The times of a day in seconds since its midnight, rising."""
        self.weekdays = tuple(sorted({(int(each) - 1) % 7 for each in named.weekdays if isinstance(each, int)}))
        """The days of the week of the last field, rising, 0 = Monday."""
        self.either_day = not named.day_and
        """Whether a day that one of the two fields of the day names is enough."""
        self._months = sorted(named.months)
        # Which days of a month are named depends on the weekday of its first (Monday is 0) and on its length alone.
        self._days = {
            (first, length): tuple(
                day for day in range(1, length + 1) if self._named(named, day, (first + day - 1) % 7)
            )
            for first in range(7)
            for length in range(28, 32)
        }

    def _named(self, named: CronSim, day: int, weekday: int) -> bool:
        """Whether the two fields of the day name that day of a month."""
        by_month, by_week = day in named.days, weekday in self.weekdays
        return (by_month or by_week) if self.either_day else (by_month and by_week)

    def on(self, local: int) -> bool:
        """Whether it names that local time."""
        return next(self.rising(local, local + 1), None) is not None

    def rising(self, start: int, end: int) -> Iterator[int]:
        """The local times named from `start` on and before `end`, in rising order."""
        first = start // DAY
        for day in self._days_rising(first, (end - 1) // DAY):
            midnight = day * DAY
            for number in range(bisect_left(self.times, start - midnight) if day == first else 0, len(self.times)):
                local = midnight + self.times[number]
                if local >= end:
                    return
                yield local

    def falling(self, start: int, end: int) -> Iterator[int]:
        """The local times named before `end` and not before `start`, in falling order."""
        last = (end - 1) // DAY
        for day in self._days_falling(start // DAY, last):
            midnight = day * DAY
            for number in reversed(range(bisect_left(self.times, end - midnight) if day == last else len(self.times))):
                local = midnight + self.times[number]
                if local < start:
                    return
                yield local

    def count(self, start: int, end: int) -> int:
        """How many local times are named from `start` on and before `end`: by days, so quick for years."""
        if end <= start:
            return 0
        first, last = start // DAY, end // DAY
        whole = len(self.times) * sum(1 for _ in self._days_rising(first, last - 1))
        return whole - self._in_day_before(first, start) + self._in_day_before(last, end)

    def _in_day_before(self, day: int, end: int) -> int:
        named = next(self._days_rising(day, day), None) is not None
        return bisect_left(self.times, end - day * DAY) if named else 0

    def _days_rising(self, first: int, last: int) -> Iterator[int]:
        """The days named from `first` to `last`, both included, as days since 1970-01-01."""
        if last < first:
            return
        start = date.fromordinal(first + _EPOCH)
        for year in range(start.year, _LAST_YEAR + 1):
            for month in self._months:
                if (year, month) < (start.year, start.month):
                    continue
                before, days = self._month(year, month)
                if before >= last:
                    return
                for number in days:
                    if first <= before + number <= last:
                        yield before + number

    def _days_falling(self, first: int, last: int) -> Iterator[int]:
        if last < first:
            return
        end = date.fromordinal(last + _EPOCH)
        for year in range(end.year, 0, -1):
            for month in reversed(self._months):
                if (year, month) > (end.year, end.month):
                    continue
                before, days = self._month(year, month)
                if before + 31 < first:
                    return
                for number in reversed(days):
                    if first <= before + number <= last:
                        yield before + number

    def _month(self, year: int, month: int) -> tuple[int, Sequence[int]]:
        """The day before its first, as days since 1970-01-01, and the days of the month that are named."""
        before = date(year, month, 1).toordinal() - _EPOCH - 1
        return before, self._days[monthrange(year, month)]

    @property
    def fires(self) -> bool:
        """Whether some day of the calendar is named: 31 February is none. Every date falls on each weekday in time."""
        lengths = {month: {monthrange(year, month)[1] for year in (2000, 2001)} for month in self._months}
        return any(self._days[first, length] for first in range(7) for each in lengths.values() for length in each)


@lru_cache(maxsize=1024)
def parse(text: str) -> Expression:
    """The expression of that text. BadExpressionError with a sentence that says the field, what was written and what is
    allowed, also for one that can never fire."""
    written = text.split()
    if len(text) > _LONGEST:
        raise BadExpressionError(f"{text[:40]!r}... has {len(text)} characters; an expression has at most {_LONGEST}.")
    if text.strip().startswith("@"):
        meant = _NICKNAMES.get(text.strip().lower())
        instead = f"write {meant}" if meant else "write five fields: minute, hour, day of month, month, day of week"
        raise BadExpressionError(f"{text.strip()!r} is a nickname, and nicknames are not read: {instead}.")
    if len(written) != len(_FIELDS):
        seconds = " A field of seconds is not read." if len(written) == len(_FIELDS) + 1 else ""
        raise BadExpressionError(
            f"{text!r} has {len(written)} field{'' if len(written) == 1 else 's'}; an expression has five: "
            f"minute, hour, day of month, month, day of week.{seconds}"
        )
    for field, value in zip(_FIELDS, written, strict=True):
        field.check(value)
    try:
        expression = Expression(text)
    except CronSimError:  # of what is left, it refuses days that no month has
        expression = None
    if expression is None or not expression.fires:
        raise BadExpressionError(
            f"The day of month {written[2]!r} does not come in the month {written[3]!r}, so {text!r} would never run. "
            "Allowed are days that at least one of the months has."
        )
    return expression
