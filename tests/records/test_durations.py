"""Durations and intervals of records: read exactly, and shown as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobservice.records.durations import interval, shown
from jobservice.records.settings import whole_value
from jobservice.rules.settings import SettingType

DAY = 86_400


@given(st.integers(0, 10**8))
def test_a_duration_is_read_as_it_is_shown(seconds: int) -> None:
    assert whole_value(shown(seconds), SettingType.DURATION) == seconds
    if seconds < DAY:
        assert interval(shown(seconds)) == seconds


@pytest.mark.parametrize("text", ["P1D", "P1DT1H", "P1W", "P1M", "P1Y", "P1Y2M3DT4H"])
def test_a_day_is_no_interval_since_it_is_not_always_24_hours(text: str) -> None:
    with pytest.raises(ValueError, match="a day is not always 24 hours"):
        interval(text)


@pytest.mark.parametrize("text", ["PT", "P", "1H", "PT1.5H", "PT-1H", "PT1S1H", "pt1h", "PT1H ", "PT１H", ""])
def test_other_forms_of_intervals_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration in hours, minutes and seconds"):
        interval(text)
