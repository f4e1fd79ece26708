"""Owns reading durations and instants inside records: whole seconds, exactly as ISO 8601 writes them. Knows no kind."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from jobservice.records.forms import Form
from jobservice.records.settings import whole_value
from jobservice.rules.settings import SettingType

_HOURS = re.compile(r"PT(?=\d)(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,7})M)?(?:(?P<seconds>\d{1,9})S)?", re.ASCII)
_CALENDAR = re.compile(r"P(?:\d+[YMWD])+(?:T.*)?", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)


def shown(seconds: int) -> str:
    """Seconds as a record writes them: `PT1M30S`, `P9DT5M`."""
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, rest = divmod(rest, 60)
    clock = "".join(f"{value}{unit}" for value, unit in ((hours, "H"), (minutes, "M"), (rest, "S")) if value)
    if not days:
        return f"PT{clock or '0S'}"
    return f"P{days}DT{clock}" if clock else f"P{days}D"


def duration(
    form: Form, name: str, *, least: int, most: int, missing: str = "field-missing", wanted: str = ""
) -> int | None:
    """A duration of `least` to `most` seconds; None after a finding, whose code is `missing` where it is not there."""
    written = form.written(name, missing=missing, form=wanted)
    if written is None:
        return None
    try:
        seconds = whole_value(written, SettingType.DURATION)
    except ValueError as error:
        form.found("field-invalid", form.line_of(name), f"`{form.named(name)}`: {error}.")
        return None
    if least <= seconds <= most:
        return seconds
    sentence = f"`{form.named(name)}`: {written} is not from {shown(least)} to {shown(most)}."
    form.found("field-invalid", form.line_of(name), sentence)
    return None


def interval(text: str) -> int:
    """Seconds of a duration in hours, minutes and seconds alone; ValueError with a sentence where it has another form."""
    found = _HOURS.fullmatch(text)
    if found is not None:
        hours, minutes, seconds = (int(found[part] or 0) for part in ("hours", "minutes", "seconds"))
        return hours * 3_600 + minutes * 60 + seconds
    if _CALENDAR.fullmatch(text):
        raise ValueError(
            f"{text[:40]} counts in days or longer, and a day is not always 24 hours where clocks change; say it in "
            "hours (PT24H), or as a cron with its zone"
        )
    raise ValueError(f"{text[:40]!r} is not a duration in hours, minutes and seconds, such as PT15M or PT24H")


def instant(text: str) -> datetime:
    """An instant in UTC, to the second; ValueError with a sentence where it is none."""
    if _INSTANT.fullmatch(text):
        try:
            return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        except ValueError:
            raise ValueError(f"{text} is not in the calendar") from None
    raise ValueError(f"{text[:40]!r} is not an instant in UTC, such as 2026-01-05T01:00:00Z")
