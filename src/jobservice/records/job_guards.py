"""Owns reading the guard of a manual job: who may run it, when, and that a reason is asked for.

Runs nothing and decides nothing: whoever starts a manual job compares with the guard.
"""

from __future__ import annotations

import re
from datetime import time
from enum import StrEnum

from jobcontract.permissions import Permission
from jobservice.records.forms import Form
from jobservice.records.yaml import Mapping, Sequence
from jobservice.rules.schedules import Guard, Window

WINDOWS_MOST = 20
DAY_END = time.max
"""What `24:00` is kept as: the end of the day."""
_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)
_READS = ".read"


class _Day(StrEnum):
    """Days of the week, Monday first, as their ISO numbers count them."""

    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


class _Always(StrEnum):
    ALWAYS = "always"


class _Asked(StrEnum):
    """Whoever runs a job by hand says why: there is no other word."""

    REQUIRED = "required"


_NUMBERS = {day: number for number, day in enumerate(_Day, 1)}


def read_guard(job: Form) -> Guard | None:
    """The guard of a manual job; None after a finding."""
    wanted = "say who may run it and when, {permission: ..., windows: ..., reason: required}"
    form = job.form("guard", missing="job-guard-missing", form=wanted)
    if form is None:
        return None
    permission = _permission(form)
    windows = _windows(form)
    reason = form.choice("reason", _Asked)
    form.finish()
    if permission is None or windows is None or reason is None:
        return None
    return Guard(permission=permission, windows=windows, reason_required=True)


def _permission(form: Form) -> Permission | None:
    permission = form.choice("permission", Permission)
    if permission is not None and permission.endswith(_READS):
        form.invalid("permission", f"is {permission}, which lets people look; name one that lets them act")
        return None
    return permission


def _windows(form: Form) -> tuple[Window, ...] | None:
    """The windows in the order of the file; empty where the record says that there is none."""
    wanted = 'list {days: [mon], from: "08:00", to: "18:00"}, in UTC, or say {mode: always}'
    node = form.node("windows", required=True, form=wanted)
    if node is None:
        return None
    if isinstance(node, Mapping):
        stated = form.form("windows")
        mode = None if stated is None else stated.choice("mode", _Always)
        if stated is not None:
            stated.finish()
        return None if mode is None else ()
    if not isinstance(node, Sequence) or not 1 <= len(node.items) <= WINDOWS_MOST:
        form.invalid("windows", f"is a list of 1 to {WINDOWS_MOST} windows; {wanted}")
        return None
    read = [_window(each) for each in form.forms("windows", node)]
    windows = tuple(window for window in read if window is not None)
    return windows if len(windows) == len(node.items) else None


def _window(form: Form) -> Window | None:
    days = form.choices("days", _Day)
    start, end = _clock(form, "from", ends=False), _clock(form, "to", ends=True)
    form.finish()
    if days is None or start is None or end is None:
        return None
    if end <= start:
        form.invalid("to", "is not later than `from`; a window ends on the day on which it begins")
        return None
    return Window(days=frozenset(_NUMBERS[day] for day in days), start=start, end=end)


def _clock(form: Form, name: str, *, ends: bool) -> time | None:
    """A time of day in UTC, to the minute; `24:00` where it ends a window."""
    written = form.written(name)
    if written is None:
        return None
    if ends and written == "24:00":
        return DAY_END
    if _CLOCK.fullmatch(written):
        return time.fromisoformat(written)
    form.invalid(name, f'is a time of day in UTC, such as "08:00"{" or 24:00" if ends else ""}')
    return None
