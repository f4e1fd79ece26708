"""Rhythms of equal steps: whole multiples from an anchor, before it and after it, and nothing of any clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobservice.rules.rhythms import Every, between, count, newest, next_instant, previous_instant
from tests.rules.slow_time import SECOND
from tests.rules.test_rhythms import at, ats, day


@pytest.mark.requirement("TIME-12")
def test_the_rhythm_of_every_day_is_its_anchor_and_whole_days() -> None:
    rhythm = Every(seconds=86_400, anchor=at("2026-01-05T01:00"))
    assert ats(rhythm, "2026-01-06T11:30", 2) == ["2026-01-07T01:00", "2026-01-08T01:00"]
    assert ats(rhythm, "2025-12-31T23:00", 2) == ["2026-01-01T01:00", "2026-01-02T01:00"]  # before its anchor
    assert ats(rhythm, "2026-01-05T00:59:59", 1) == ["2026-01-05T01:00"]
    assert ats(rhythm, "2026-01-05T01:00", 1) == ["2026-01-06T01:00"]


@pytest.mark.requirement("TIME-12")
def test_every_quarter_of_an_hour_is_96_instants_a_day() -> None:
    rhythm = Every(seconds=900, anchor=at("2026-01-05T00:00"))
    for date in ("2026-01-05", "2025-03-30", "2026-10-25"):
        found = between(rhythm, *day(date), most=1000)
        assert (len(found.instants), found.whole, found.left) == (96, True, ())
        assert {each.at.minute for each in found.instants} == {0, 15, 30, 45}
        assert {(each.local, each.clock) for each in found.instants} == {(None, None)}
        assert count(rhythm, *day(date)) == 96
    late = at("2026-01-05T00:00") + 100 * timedelta(seconds=1)  # how long a run took is not asked
    assert ats(rhythm, late.isoformat()[:19], 1) == ["2026-01-05T00:15"]


@given(
    st.integers(1, 400_000),
    st.datetimes(at("1990-01-01").replace(tzinfo=None), at("2040-01-01").replace(tzinfo=None), timezones=st.just(UTC)),
    st.integers(-(10**12), 10**12),
    st.integers(0, 200),
    st.integers(1, 50),
)
def test_every_is_arithmetic_on_its_anchor(seconds: int, anchor: datetime, away: int, number: int, most: int) -> None:
    rhythm = Every(seconds=seconds, anchor=anchor)
    start = anchor + timedelta(microseconds=away)
    following = next_instant(rhythm, start)
    before = previous_instant(rhythm, start)
    assert following is not None
    assert before is not None
    step = timedelta(seconds=seconds)
    assert (following.at - anchor) % step == timedelta()
    assert start < following.at <= start + step
    assert start - step <= before.at < start
    end = start + number * step
    found = between(rhythm, start, end, most=most)
    right = [following.at + each * step for each in range(number)]
    assert [each.at for each in found.instants] == right[:most]
    assert found.whole is (number <= most)
    assert found.until == (end if number <= most else right[most - 1])
    assert [each.at for each in newest(rhythm, start, end, most=most)] == right[-most:]
    assert count(rhythm, start, end) == number
    assert count(rhythm, end, start) == 0


def test_years_of_a_rhythm_by_the_second_are_counted_at_once() -> None:
    rhythm, start, end = Every(seconds=1, anchor=at("2026-01-05T00:00")), at("1000-01-01T00:00"), at("9000-01-01T00:00")
    assert count(rhythm, start, end) == (end - start) // SECOND
    assert [each.at for each in newest(rhythm, start, end, most=2)] == [end - SECOND, end]
    assert len(between(rhythm, start, end, most=3).instants) == 3
    assert next_instant(rhythm, datetime.max.replace(tzinfo=UTC)) is None
