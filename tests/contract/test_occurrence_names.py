"""The name of an occurrence as people type it: whatever offset it is written with, it is one instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.occurrence_names import occurrence_name, read_instant, read_occurrence_name

AT = datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.requirement("derive-stable-occurrence-identity")
@given(
    at=st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=OFFSETS),  # noqa: DTZ001  # the zone is given beside them
    schedule=st.text("abc.-@", min_size=1, max_size=12),
)
def test_a_name_is_read_as_what_it_names_whatever_its_offset(at: datetime, schedule: str) -> None:
    name = occurrence_name(schedule, at)
    assert name.endswith("Z")
    assert read_occurrence_name(name) == (schedule, at.astimezone(UTC))
    assert read_occurrence_name(f"{schedule}@{at.isoformat()}") == (schedule, at.astimezone(UTC))
    assert occurrence_name(schedule, at.astimezone(UTC)) == name


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-26T01:30Z",
        "2026-10-26t01:30:00z",
        "2026-10-26T01:30:00.000000Z",
        "2026-10-26T02:30:00+01:00",
        "2026-10-25T20:00-05:30",
    ],
)
def test_an_instant_may_be_written_in_these_ways(text: str) -> None:
    assert read_instant(text) == AT
    assert occurrence_name("a", AT) == "a@2026-10-26T01:30:00Z"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-10-26",
        "2026-10-26T01:30:00",
        "2026-10-26 01:30:00Z",
        "2026-02-30T00:00:00Z",
        "2026-10-26T24:00:00Z",
        "2026-10-26T01:30:60Z",
        "2026-10-26T01:30.5Z",
        "2026-10-26T01:30:00+0100",
        "0001-01-01T00:00:00+14:00",
        "٢٠٢٦-10-26T01:30:00Z",
        "1760000000",
    ],
)
def test_what_is_no_instant_is_none(text: str) -> None:
    assert read_instant(text) is None
    assert read_occurrence_name(f"statements.nightly@{text}") is None
    assert read_occurrence_name(text) is None
