"""How a schedule and a Worker are doing, decided without a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.states import ScheduleStanding, WorkerStanding
from jobservice.rules.standing import (
    BEAT,
    BEATS_MISSED,
    LATE_AFTER,
    Off,
    Progress,
    Retrying,
    Running,
    lasting,
    schedule_standing,
    worker_standing,
)

NOW = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
QUIET = Progress(
    planned=True,
    manual=False,
    parked=None,
    off=None,
    waiting_since=None,
    waiting=0,
    running=None,
    retrying=None,
    attempts=3,
    next_at=NOW + HOUR,
    last_completed_at=NOW - 2 * HOUR,
)
OFF = Off(at=NOW - HOUR, until=None, by="Olle Lind", reason="bank down")
RUNNING = Running(scheduled_at=NOW - MINUTE, since=NOW - 50 * SECOND, attempt=1)
RETRYING = Retrying(scheduled_at=NOW - HOUR, due_at=NOW + MINUTE, attempts=1)
WORST = replace(
    QUIET, parked="no zone", off=OFF, waiting_since=NOW - HOUR, waiting=4, running=RUNNING, retrying=RETRYING
)


def test_the_most_urgent_standing_comes_first() -> None:
    seen = []
    progress = WORST
    for calm in (
        {"parked": None},
        {"off": None},
        {"waiting_since": None},
        {"retrying": None},
        {"running": None},
        {"planned": False},
        {"planned": True, "manual": True, "next_at": None},
    ):
        seen.append(schedule_standing(progress, NOW).standing)
        progress = replace(progress, **calm)
    seen.append(schedule_standing(progress, NOW).standing)
    kinds = ScheduleStanding
    assert seen == [
        kinds.PARKED,
        kinds.DISABLED,
        kinds.LATE,
        kinds.RETRYING,
        kinds.RUNNING,
        kinds.ON_TIME,
        kinds.UNPLANNED,
        kinds.MANUAL,
    ]
    assert set(seen) == set(kinds), "each standing is one that can be"


def test_what_is_due_is_late_only_past_a_few_seconds() -> None:
    due = replace(QUIET, waiting_since=NOW - LATE_AFTER, waiting=1)
    assert schedule_standing(due, NOW).standing is ScheduleStanding.ON_TIME
    assert schedule_standing(due, NOW + timedelta(microseconds=1)).standing is ScheduleStanding.LATE


def test_a_disabled_schedule_is_on_again_when_its_time_is_over() -> None:
    off = replace(QUIET, off=replace(OFF, until=NOW + SECOND))
    assert schedule_standing(off, NOW).standing is ScheduleStanding.DISABLED
    assert schedule_standing(off, NOW + SECOND).standing is ScheduleStanding.ON_TIME


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (replace(QUIET, parked="no zone"), "Cannot be computed: no zone."),
        (replace(QUIET, off=OFF), "Disabled by Olle Lind: bank down."),
        (
            replace(QUIET, off=replace(OFF, until=NOW + HOUR)),
            "Disabled by Olle Lind until 2026-10-25 02:30 UTC: bank down.",
        ),
        (
            replace(QUIET, waiting_since=NOW - 4 * MINUTE, waiting=1),
            "Late by 4 min: what was due at 2026-10-25 01:26 UTC has not started.",
        ),
        (
            replace(QUIET, waiting_since=NOW - 70 * MINUTE, waiting=3, running=RUNNING),
            "Late by 1 h 10 min: what was due at 2026-10-25 00:20 UTC has not started, and 2 more wait; that of"
            " 2026-10-25 01:29 UTC runs since 50 s.",
        ),
        (replace(QUIET, retrying=RETRYING), "Waits for attempt 2 of 3 of the run of 2026-10-25 00:30 UTC, in 1 min."),
        (
            replace(QUIET, retrying=replace(RETRYING, due_at=NOW - 7 * SECOND)),
            "Waits for attempt 2 of 3 of the run of 2026-10-25 00:30 UTC, due since 7 s.",
        ),
        (
            replace(QUIET, running=replace(RUNNING, attempt=2, scheduled_at=NOW - 61 * SECOND)),
            "Runs since 50 s: 2026-10-25 01:28:59 UTC, attempt 2.",
        ),
        (QUIET, "On time. Runs next in 1 h. Last completed 2 h ago."),
        (
            replace(QUIET, next_at=None, last_completed_at=None),
            "On time. It never runs again. It has not been completed yet.",
        ),
        (replace(QUIET, planned=False), "No Worker has seen its record yet. Is one running?"),
        (replace(QUIET, manual=True, next_at=None), "A person starts it. Last completed 2 h ago."),
    ],
)
def test_the_sentence_says_by_how_much_why_and_since_when(progress: Progress, words: str) -> None:
    assert schedule_standing(progress, NOW).words == words


def test_a_worker_is_silent_past_three_beats_and_stopped_once_it_said_so() -> None:
    last = NOW - BEATS_MISSED * BEAT
    tick = timedelta(microseconds=1)

    def standing(beat_at: datetime, **more: datetime | None) -> WorkerStanding:
        return worker_standing(NOW, **({"beat_at": beat_at, "draining_at": None, "stopped_at": None} | more))  # type: ignore[arg-type]  # all three are given

    assert standing(last) is WorkerStanding.LIVE
    assert standing(last, draining_at=NOW) is WorkerStanding.DRAINING
    assert standing(last - tick) is WorkerStanding.SILENT
    assert standing(last - tick, draining_at=NOW) is WorkerStanding.SILENT
    assert standing(last - tick, draining_at=NOW, stopped_at=NOW) is WorkerStanding.STOPPED


@given(st.timedeltas(min_value=timedelta(days=-2), max_value=timedelta(days=4_000)))
def test_a_length_of_time_is_written_in_at_most_two_units_and_never_too_long(length: timedelta) -> None:
    units = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
    parts = lasting(length).replace(",", "").split()
    told = sum(int(number) * units[unit] for number, unit in zip(parts[::2], parts[1::2], strict=True))
    assert len(parts) <= 4
    whole = max(0, int(length.total_seconds()))
    assert told <= whole < told + (3_600 if whole >= 86_400 else 60 if whole >= 60 else 1)
