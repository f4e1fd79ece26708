"""Owns how instants are written and read: ages and countdowns in lists, absolute times in details, typed times in forms.

Pure: now (the service's) and the zone are always given. Never reads a clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

LAPSING_SECONDS = 300.0
"""A claim with less than this left is lapsing: symbol, word and colour change."""
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def _span(seconds: float) -> str:
    whole = int(seconds)
    if whole >= 2 * _DAY:
        return _count(whole // _DAY, "day")
    if whole >= 2 * _HOUR:
        return _count(whole // _HOUR, "hour")
    if whole >= _MINUTE:
        return f"{whole // _MINUTE} min"
    return f"{whole} s"


def span(seconds: float) -> str:
    """How old an item is, as rules say it and a person types it: `6 days`, `5 hours`, `12 min`, never below `0 s`."""
    return _span(max(0.0, seconds))


def brief_span(seconds: float) -> str:
    """Any other length of time, in at most two units: `2 d 4 h`, `3 h 12 min`, `12 min`, `9 s`, never below `0 s`."""
    whole = max(0, int(seconds))
    for size, unit, part, smaller in ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "min")):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size:,} {unit} {rest} {smaller}" if rest else f"{whole // size:,} {unit}"
    return f"{whole // _MINUTE} min" if whole >= _MINUTE else f"{whole} s"


def lasted(seconds: float) -> str:
    """How long something took: as `brief_span`, but `under 1 s` where it was less."""
    return "under 1 s" if seconds < 1 else brief_span(seconds)


def age(created: datetime, now: datetime) -> str:
    """Of an item: `6 days old`, `5 hours old`, `12 min old`; `dated in 2 days` for a date to come."""
    seconds = (now - created).total_seconds()
    return f"dated in {_span(-seconds)}" if seconds <= -1 else f"{_span(max(0.0, seconds))} old"


def age_short(created: datetime, now: datetime) -> str:
    """`6 d`, `5 h`, `12 min`, `9 s`: for a narrow column; `0 s` for a date to come."""
    seconds = max(0, int((now - created).total_seconds()))
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            return f"{seconds // size:,} {unit}"
    return f"{seconds} s"


def ago(instant: datetime, now: datetime) -> str:
    """`4 min ago`, `1 d 5 h ago`, `in 3 h 12 min`, `now`."""
    seconds = (now - instant).total_seconds()
    if abs(seconds) < 1:
        return "now"
    return f"{brief_span(seconds)} ago" if seconds > 0 else f"in {brief_span(-seconds)}"


def countdown(seconds: float) -> str:
    """What is left: `41:07`, `1:02:03`, `2 d 4 h`, never below `0:00`."""
    whole = max(0, int(seconds))
    if whole >= 2 * _DAY:
        return brief_span(whole)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def utc(instant: datetime) -> str:
    """`2026-12-01 09:00:00Z`."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def local(instant: datetime, zone: tzinfo) -> str:
    """`Tue 2026-12-01 10:00 CET`: in the profile's zone, its abbreviation named."""
    there = instant.astimezone(zone)
    return f"{there:%a %Y-%m-%d %H:%M} {there.tzname()}"


def both(instant: datetime, zone: tzinfo) -> str:
    """`Tue 2026-12-01 10:00 CET (09:00:00Z)`; the UTC date is given where it differs."""
    there, here = instant.astimezone(zone), instant.astimezone(UTC)
    if there.utcoffset() == timedelta(0):
        return f"{there:%a %Y-%m-%d %H:%M:%S} {there.tzname()}"
    form = "%H:%M:%SZ" if there.date() == here.date() else "%Y-%m-%d %H:%M:%SZ"
    return f"{local(instant, zone)} ({here.strftime(form)})"


def short(instant: datetime, zone: tzinfo, now: datetime) -> str:
    """For a list: `14:30` today, `1 Dec 09:00` this year, else `2027-01-05`."""
    there, today = instant.astimezone(zone), now.astimezone(zone)
    if there.date() == today.date():
        return f"{there:%H:%M}"
    return f"{there.day} {there:%b %H:%M}" if there.year == today.year else f"{there:%Y-%m-%d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What a person typed as an instant: the instant (UTC), or the sentence that says why it is none."""

    instant: datetime | None
    sentence: str
    """What it resolved to, or what was wrong and what to type."""


SHORT_EXAMPLES = "2026-12-01 09:00 · tomorrow 9:00 · +2d · +4h"
EXAMPLES = "2026-12-01 09:00, tomorrow 9:00, today 17:30, +2d, +4h, +30m"
MOMENTS = "2026-12-01 09:00, 2026-12-01T09:00Z, 2026-12-01 (from its midnight on), yesterday 18:00, -2h, +2d"
_RELATIVE = re.compile(r"(?P<sign>[+-])\s*(?P<number>\d{1,4})\s*(?P<unit>[mhdw])", re.ASCII | re.IGNORECASE)
_NAMED = re.compile(r"(?P<day>yesterday|today|tomorrow)(?:\s+(?P<time>.+))?", re.ASCII | re.IGNORECASE)
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_DATED = re.compile(
    r"(?P<date>\d{4}-\d{1,2}-\d{1,2})(?:[ tT]+(?P<time>[\d:]+)\s*(?P<offset>[zZ]|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::(?P<second>\d{2}))?", re.ASCII)
_MORNING, _MIDNIGHT = "09:00:00", "00:00:00"


def read_instant(text: str, zone: tzinfo, now: datetime) -> Typed:
    """Read a typed instant to come, as `read_moment` does; a day alone is its morning. The past is refused."""
    typed = _read(text, zone, now, _MORNING, EXAMPLES)
    if typed.instant is not None and typed.instant <= now:
        return Typed(instant=None, sentence=f"That is in the past: {both(typed.instant, zone)}. Type a time to come.")
    return typed


def read_moment(text: str, zone: tzinfo, now: datetime) -> Typed:
    """Read a typed instant in `zone`, past or to come: absolute, `now`, `yesterday 9:00`, `-2h`, `+2d` (days keep the time
    of day; hours are exact). A day alone is its beginning: who asks what ran since that day wants its night as well.

    A time that the clocks skip is refused, one that occurs twice takes the first; both are said.
    """
    return _read(text, zone, now, _MIDNIGHT, MOMENTS)


def _read(text: str, zone: tzinfo, now: datetime, bare: str, examples: str) -> Typed:
    typed = text.strip()
    if not typed:
        return _wrong("type when, for example", examples)
    try:
        instant, note = _resolve(typed, zone, now, bare)
    except (ValueError, OverflowError) as wrong:
        return _wrong(str(wrong) if isinstance(wrong, _Unreadable) else f"{typed[:40]} is not a time; try", examples)
    return Typed(instant=instant, sentence=f"{both(instant, zone)}, {ago(instant, now)}{note}")


class _Unreadable(ValueError):
    """Why a typed time is none, as a sentence without its examples."""


def _wrong(sentence: str, examples: str) -> Typed:
    whole = sentence if sentence.endswith(".") else f"{sentence} {examples}."
    return Typed(instant=None, sentence=whole[:1].upper() + whole[1:])


def _resolve(typed: str, zone: tzinfo, now: datetime, bare: str) -> tuple[datetime, str]:
    if typed.lower() == "now":
        return now, ""
    if found := _RELATIVE.fullmatch(typed):
        number = int(f"{found['sign']}{found['number']}")
        return _relative(number, found["unit"].lower(), zone, now)
    if found := _NAMED.fullmatch(typed):
        day = now.astimezone(zone).date() + timedelta(days=_DAYS[found["day"].lower()])
        return _on_wall(f"{day:%Y-%m-%d}", found["time"] or bare, zone)
    if found := _DATED.fullmatch(typed):
        if found["offset"] is None:
            return _on_wall(found["date"], found["time"] or bare, zone)
        offset = "+00:00" if found["offset"] in "zZ" else found["offset"]
        day = _date(found["date"])
        return datetime.fromisoformat(f"{day:%Y-%m-%d}T{_time(found['time'])}{offset}").astimezone(UTC), ""
    raise _Unreadable(f"{typed[:40]} is not a time; try")


def _relative(number: int, unit: str, zone: tzinfo, now: datetime) -> tuple[datetime, str]:
    if unit in "mh":
        return now + timedelta(minutes=number * (60 if unit == "h" else 1)), ""
    there = now.astimezone(zone)
    day = there.date() + timedelta(days=number * (7 if unit == "w" else 1))
    return _on_wall(f"{day:%Y-%m-%d}", f"{there:%H:%M:%S}", zone)


def _date(text: str) -> datetime:
    year, month, day = (int(part) for part in text.split("-"))
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        raise _Unreadable(f"There is no {text} in the calendar.") from None


def _time(text: str) -> str:
    found = _CLOCK.fullmatch(text.strip())
    if found is None or int(found["hour"]) > 23 or int(found["minute"] or 0) > 59 or int(found["second"] or 0) > 59:
        raise _Unreadable(f"{text.strip()[:20]} is not a time of day like 09:00.")
    return f"{int(found['hour']):02d}:{found['minute'] or '00'}:{found['second'] or '00'}"


def _on_wall(date: str, time: str, zone: tzinfo) -> tuple[datetime, str]:
    day = _date(date)
    wall = datetime.fromisoformat(f"{day:%Y-%m-%d}T{_time(time)}").replace(tzinfo=zone)
    instant = wall.astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) != wall.replace(tzinfo=None):
        raise _Unreadable(f"{wall:%Y-%m-%d %H:%M} does not exist in {zone}: the clocks go forward over it.")
    if wall.replace(fold=1).utcoffset() != wall.utcoffset():
        return instant, f"; this time occurs twice that day in {zone}, the first is meant"
    return instant, ""
