"""Owns the name of an occurrence as a person types it: schedule, `@`, and the scheduled instant by RFC 3339."""

from __future__ import annotations

import re
from datetime import UTC, datetime

INSTANT = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2})(:\d{2})?(?:(\.\d{1,6})\d*)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)
"""RFC 3339, seconds optional."""


def occurrence_name(schedule: str, scheduled_at: datetime) -> str:
    """`statements.nightly@2026-10-26T01:30:00Z`. `scheduled_at` is aware."""
    at = scheduled_at.astimezone(UTC).replace(tzinfo=None)
    return f"{schedule}@{at.isoformat(timespec='microseconds' if at.microsecond else 'seconds')}Z"


def read_occurrence_name(text: str) -> tuple[str, datetime] | None:
    """The schedule and the instant (UTC) of a name, written with `Z` or an offset; None where it is not one."""
    schedule, found, instant = text.rpartition("@")
    at = read_instant(instant)
    return (schedule, at) if found and schedule and at is not None else None


def read_instant(text: str) -> datetime | None:
    """An instant by RFC 3339, seconds optional, as UTC; None where `text` is not one that there is."""
    found = INSTANT.fullmatch(text)
    if found is None:
        return None
    day, clock, seconds, fraction, offset = found.groups()
    zone = "+00:00" if offset in "Zz" else offset
    written = f"{day}T{clock}{seconds or ':00'}{fraction.ljust(7, '0') if fraction and seconds else ''}{zone}"
    if fraction and not seconds:
        return None
    try:
        return datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
