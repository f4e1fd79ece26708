"""Tests of how instants are written and read."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.present import times
from jobconsole.present.columns import width_of
from jobconsole.present.times import age, age_short, ago, both, countdown, local, read_instant, read_moment, short

LONDON = ZoneInfo("Europe/London")
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("back", "words"),
    [
        (timedelta(seconds=5), "5 s old"),
        (timedelta(minutes=12), "12 min old"),
        (timedelta(hours=5), "5 hours old"),
        (timedelta(days=6, hours=3), "6 days old"),
        (timedelta(days=-3), "dated in 3 days"),
    ],
)
def test_ages(back: timedelta, words: str) -> None:
    assert age(NOW - back, NOW) == words


def test_short_ages_and_distances() -> None:
    assert [age_short(NOW - timedelta(hours=hours), NOW) for hours in (-1, 0.01, 0.2, 5, 150)] == [
        "0 s",
        "36 s",
        "12 min",
        "5 h",
        "6 d",
    ]
    assert ago(NOW - timedelta(minutes=4), NOW) == "4 min ago"
    assert ago(NOW - timedelta(hours=29, minutes=10), NOW) == "1 d 5 h ago"
    assert ago(NOW + timedelta(hours=3, minutes=12), NOW) == "in 3 h 12 min"
    assert ago(NOW, NOW) == "now"


@pytest.mark.parametrize("seconds", [0, 59, 60, 7_200, 90_000])
def test_short_ages_take_few_cells(seconds: int) -> None:
    assert width_of(age_short(NOW - timedelta(seconds=seconds), NOW)) <= 6


def test_one_way_to_say_how_long_ago_in_the_whole_console() -> None:
    """Beside `times`, nobody writes an ago of their own."""
    written = re.compile(r"\}\s*ago\b")
    files = [each for each in Path(times.__file__).parents[1].rglob("*.py") if each.name != "times.py"]
    assert len(files) > 100
    assert [each.name for each in files if written.search(each.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2467, "41:07"), (3723, "1:02:03"), (59.9, "0:59"), (-4, "0:00"), (3 * 86_400, "3 d"), (183_600, "2 d 3 h")],
)
def test_countdowns(seconds: float, words: str) -> None:
    assert countdown(seconds) == words


def test_details_name_the_zone_and_utc() -> None:
    summer = datetime(2026, 7, 1, 8, 30, tzinfo=UTC)
    assert both(summer, LONDON) == "Wed 2026-07-01 09:30 BST (08:30:00Z)"
    assert both(NOW, LONDON) == "Mon 2026-03-02 09:00:00 GMT"
    late = datetime(2026, 7, 1, 23, 30, tzinfo=UTC)
    assert both(late, LONDON) == "Thu 2026-07-02 00:30 BST (2026-07-01 23:30:00Z)"
    assert local(summer, LONDON) == "Wed 2026-07-01 09:30 BST"


def test_lists_say_only_what_differs_from_today() -> None:
    assert short(NOW, LONDON, NOW) == "09:00"
    assert short(NOW - timedelta(days=6), LONDON, NOW) == "24 Feb 09:00"
    assert short(NOW - timedelta(days=400), LONDON, NOW) == "2025-01-26"


@pytest.mark.parametrize(
    ("typed", "instant"),
    [
        ("2026-12-01 09:00", "2026-12-01T09:00:00+00:00"),
        ("2026-07-01 9:00", "2026-07-01T08:00:00+00:00"),
        ("2026-07-01T09:00Z", "2026-07-01T09:00:00+00:00"),
        ("2026-07-01 09:00+02:00", "2026-07-01T07:00:00+00:00"),
        ("2026-07-01", "2026-07-01T08:00:00+00:00"),
        ("tomorrow 9:00", "2026-03-03T09:00:00+00:00"),
        ("Tomorrow", "2026-03-03T09:00:00+00:00"),
        ("today 17:30", "2026-03-02T17:30:00+00:00"),
        ("+2d", "2026-03-04T09:00:00+00:00"),
        ("+4h", "2026-03-02T13:00:00+00:00"),
        ("+ 30m", "2026-03-02T09:30:00+00:00"),
        ("+1w", "2026-03-09T09:00:00+00:00"),
    ],
)
def test_what_people_type_is_understood(typed: str, instant: str) -> None:
    found = read_instant(typed, LONDON, NOW)
    assert found.instant == datetime.fromisoformat(instant)
    assert "in " in found.sentence


@pytest.mark.parametrize(
    ("typed", "instant"),
    [
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("yesterday", "2026-03-01T00:00:00+00:00"),
        ("yesterday 18:00", "2026-03-01T18:00:00+00:00"),
        ("-2h", "2026-03-02T07:00:00+00:00"),
        ("-3d", "2026-02-27T09:00:00+00:00"),
        ("+2d", "2026-03-04T09:00:00+00:00"),
    ],
)
def test_what_was_is_understood_and_a_day_alone_begins_at_its_midnight(typed: str, instant: str) -> None:
    assert read_moment(typed, LONDON, NOW).instant == datetime.fromisoformat(instant)
    assert "yesterday 18:00, -2h" in read_moment("soon", LONDON, NOW).sentence


def test_days_keep_the_time_of_day_over_the_change_of_clocks() -> None:
    friday = datetime(2026, 3, 27, 9, 0, tzinfo=UTC)
    assert read_instant("+3d", LONDON, friday).instant == datetime(2026, 3, 30, 8, 0, tzinfo=UTC)
    assert read_instant("+72h", LONDON, friday).instant == datetime(2026, 3, 30, 9, 0, tzinfo=UTC)


def test_a_time_that_the_clocks_skip_is_refused_and_one_that_comes_twice_is_named() -> None:
    skipped = read_instant("2026-03-29 01:30", LONDON, NOW)
    assert skipped.instant is None
    assert "does not exist in Europe/London" in skipped.sentence
    twice = read_instant("2026-10-25 01:30", LONDON, NOW)
    assert twice.instant == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert "occurs twice" in twice.sentence


def test_now_is_a_moment_and_no_time_to_come() -> None:
    assert read_moment(" Now ", LONDON, NOW).instant == NOW
    assert "in the past" in read_instant("now", LONDON, NOW).sentence


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "type when"),
        ("soon", "soon is not a time"),
        ("2026-02-30 09:00", "no 2026-02-30 in the calendar"),
        ("today 25:00", "25:00 is not a time of day"),
        ("today 08:00", "in the past"),
        ("2026-13-01", "calendar"),
        ("+99999d", "not a time"),
    ],
)
def test_what_is_no_time_to_come_is_said(typed: str, words: str) -> None:
    found = read_instant(typed, LONDON, NOW)
    assert found.instant is None
    assert words.casefold() in found.sentence.casefold()


@given(st.text(max_size=30) | st.from_regex(r"[+0-9: tTzZ.-]{1,24}", fullmatch=True))
def test_nothing_typed_is_an_error_of_the_console(typed: str) -> None:
    found = read_instant(typed, LONDON, NOW)
    assert found.sentence
    assert found.instant is None or found.instant > NOW


@given(st.integers(min_value=1, max_value=14 * 365 * 86_400))
def test_a_written_instant_is_read_back(seconds: int) -> None:
    whole = NOW + timedelta(seconds=seconds)
    assert read_instant(whole.isoformat().replace("+00:00", "Z"), LONDON, NOW).instant == whole
