"""When a manual schedule may be run: windows in UTC, the next one, and what is said outside of them."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.errors import ErrorCode
from jobcontract.permissions import Permission
from jobservice.rules.guards import decide_run, is_open, opens_next
from jobservice.rules.schedules import Guard, Window

pytestmark = pytest.mark.requirement("run-manual-jobs-under-their-guard")
WORKDAYS = Window(days=frozenset(range(1, 6)), start=time(8), end=time(18))
SUNDAY = Window(days=frozenset({7}), start=time(22), end=time.max)
MONDAY = datetime(2026, 11, 30, tzinfo=UTC)


def guard(*windows: Window) -> Guard:
    """Of an operator."""
    return Guard(permission=Permission.SCHEDULE_RUN, windows=windows, reason_required=True)


@pytest.mark.parametrize(
    ("at", "opened", "following"),
    [
        (MONDAY + timedelta(hours=7, minutes=59, seconds=59), False, MONDAY + timedelta(hours=8)),
        (MONDAY + timedelta(hours=8), True, MONDAY + timedelta(days=1, hours=8)),
        (MONDAY + timedelta(hours=17, minutes=59, seconds=59.999999), True, MONDAY + timedelta(days=1, hours=8)),
        (MONDAY + timedelta(hours=18), False, MONDAY + timedelta(days=1, hours=8)),
        (MONDAY + timedelta(days=4, hours=18), False, MONDAY + timedelta(days=6, hours=22)),
        (MONDAY + timedelta(days=5, hours=10), False, MONDAY + timedelta(days=6, hours=22)),
        (
            MONDAY + timedelta(days=6, hours=23, minutes=59, seconds=59.999999),
            True,
            MONDAY + timedelta(days=7, hours=8),
        ),
        (datetime(2026, 11, 30, 9, 30, tzinfo=timezone(timedelta(hours=2))), False, MONDAY + timedelta(hours=8)),
    ],
    ids=[
        "before",
        "begins",
        "last-moment",
        "ends",
        "friday-night",
        "another-day",
        "to-the-end-of-the-day",
        "in-another-zone",
    ],
)
def test_a_window_holds_from_its_start_to_before_its_end_in_utc(
    at: datetime, opened: bool, following: datetime
) -> None:
    both = guard(WORKDAYS, SUNDAY)
    assert is_open(both, at) is opened
    assert opens_next(both, at) == following
    denied = decide_run("t.by-hand", both, "Mon to Fri 08:00 to 18:00 UTC", at)
    assert (denied is None) is opened
    if denied is not None:
        assert denied.kind is ErrorCode.GUARD_REFUSED
        assert denied.sentence.startswith("t.by-hand may be run Mon to Fri 08:00 to 18:00 UTC, and it is ")
        assert denied.sentence.endswith(f"It may be run next from {following:%Y-%m-%d %H:%M} UTC.")


def test_without_windows_and_without_a_guard_it_may_be_run_at_any_time() -> None:
    assert is_open(guard(), MONDAY)
    assert is_open(None, MONDAY)
    assert opens_next(guard(), MONDAY) is None


@settings(max_examples=150)
@given(
    st.lists(
        st.builds(
            lambda days, start, length: Window(
                days=days, start=time(start), end=time(start + length) if start + length < 24 else time.max
            ),
            st.frozensets(st.integers(1, 7), min_size=1),
            st.integers(0, 23),
            st.integers(1, 23),
        ),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 7 * 24 * 60 - 1),
)
def test_what_opens_next_is_the_first_opening_that_a_walk_by_the_minute_finds(
    windows: list[Window], minute: int
) -> None:
    allowed, now = guard(*windows), MONDAY + timedelta(minutes=minute)
    following = opens_next(allowed, now)
    assert following is not None
    assert is_open(allowed, following)
    hour = now.replace(minute=0) + timedelta(hours=1)
    starts = (hour + timedelta(hours=each) for each in range(8 * 24))
    first = next(
        at for at in starts if any(at.time() == each.start and at.isoweekday() in each.days for each in windows)
    )
    assert following == first
