"""The guard of a manual schedule in words: who, when in UTC, where."""

from __future__ import annotations

from dataclasses import replace
from datetime import time

import pytest

from jobcontract.permissions import Permission
from jobservice.rules.schedules import Guard, Window
from jobservice.usecases.schedule_words import guard
from tests.usecases.schedule_desk import schedule

WEEK = Window(days=frozenset(range(1, 6)), start=time(8), end=time(18))


@pytest.mark.requirement("run-manual-jobs-under-their-guard")
@pytest.mark.parametrize(
    ("windows", "says"),
    [
        ((), "at any time"),
        ((WEEK,), "Mon to Fri 08:00 to 18:00 UTC"),
        (
            (WEEK, Window(days=frozenset({6, 7}), start=time(10), end=time.max)),
            "Mon to Fri 08:00 to 18:00 · Sat, Sun 10:00 to 24:00 UTC",
        ),
        ((Window(days=frozenset({1, 3, 5}), start=time(0), end=time(9, 30)),), "Mon, Wed, Fri 00:00 to 09:30 UTC"),
    ],
)
def test_a_guard_says_who_when_and_where(windows: tuple[Window, ...], says: str) -> None:
    record = replace(
        schedule("t.by-hand", None),
        guard=Guard(permission=Permission.SCHEDULE_RUN, windows=windows, reason_required=True),
        runs_where=frozenset({"night", "day"}),
    )
    told = guard(record)
    assert told is not None
    assert (told.permission, told.windows, told.where) == ("schedule.run", says, ("day", "night"))
    everywhere = guard(replace(record, runs_where=None))
    assert everywhere is not None
    assert everywhere.where == ()
    assert guard(replace(record, guard=None)) is None
