"""Rhythms in words: the short names, what is said by cronsim, and that no two rhythms of a kind are told alike."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobservice.rules.rhythm_words import cron, every


@pytest.mark.parametrize(
    ("text", "zone", "said"),
    [
        ("30 1 * * *", "Europe/London", "daily at 01:30, Europe/London"),
        ("30 1 * * *", "UTC", "daily at 01:30 UTC"),
        ("0 17 * * fri", "UTC", "Fridays at 17:00 UTC"),
        ("0 17 * * 5", "Asia/Tokyo", "Fridays at 17:00, Asia/Tokyo"),
        ("0 17 * * 0", "UTC", "Sundays at 17:00 UTC"),
        ("0 17 * * 7", "UTC", "Sundays at 17:00 UTC"),
        ("* * * * *", "UTC", "every minute, UTC"),
        ("*/15 * * * *", "UTC", "every 15 minutes, UTC"),
        ("*/1 */1 * * *", "UTC", "every minute, UTC"),
        ("5 * * * *", "UTC", "every hour at minute 5, UTC"),
        ("5 */1 * * *", "UTC", "every hour at minute 5, UTC"),
        ("5 */6 * * *", "UTC", "every 6 hours from 00:05 UTC"),
        ("0 */6 * * *", "Europe/London", "every 6 hours from 00:00, Europe/London"),
        ("0 9 * * 1-5", "UTC", "Mondays to Fridays at 09:00 UTC"),
        ("0 9 * * 1,2,3", "UTC", "Mondays to Wednesdays at 09:00 UTC"),
        ("0 9 * * fri-7", "UTC", "Fridays to Sundays at 09:00 UTC"),
        ("0 9 * * mon,sun", "UTC", "Mondays and Sundays at 09:00 UTC"),
        ("0 9 * * 0-6", "UTC", "daily at 09:00 UTC"),
        ("30 9,17 * * 2,4", "UTC", "Tuesdays and Thursdays at 09:30 and 17:30 UTC"),
        ("0,30 9 * * *", "UTC", "daily at 09:00 and 09:30 UTC"),
        ("0 6 1 * *", "UTC", "on day 1 of each month at 06:00 UTC"),
        ("0 6 31 * *", "UTC", "on day 31 of the months that have it at 06:00 UTC"),
        # Said by cronsim.
        ("*/7 * * * *", "UTC", "every seventh minute of every hour, UTC"),
        ("0 */5 * * *", "UTC", "at minute 0 past every fifth hour, UTC"),
        ("0 9-17 * * 1-5", "UTC", "at minute 0 past every hour from 9 through 17 on Monday through Friday, UTC"),
        ("0 0 13 * fri", "UTC", "at 00:00 on the 13th day of every month; also at 00:00 on Friday, UTC"),
        ("0 0 */2 * mon", "UTC", "at 00:00 on every second day of month if it's on Monday, UTC"),
        ("0 0 1 1 *", "UTC", "at 00:00 on January 1, UTC"),
        # Of what cannot be read the expression itself.
        ("0 0 31 2 *", "UTC", "0 0 31 2 *, UTC"),
        ("@daily", "Europe/London", "@daily, Europe/London"),
    ],
)
def test_wall_clock_rhythms(text: str, zone: str, said: str) -> None:
    assert cron(text, zone) == said


@pytest.mark.parametrize(
    ("seconds", "anchor", "said"),
    [
        (900, "2026-01-05T00:00", "every 15 minutes from 00:00 UTC"),
        (900, "2026-01-05T01:05", "every 15 minutes from 00:05 UTC"),
        (900, "2026-01-05T01:05:20", "every 15 minutes from 00:05:20 UTC"),
        (60, "2026-01-05T00:00", "every minute, UTC"),
        (60, "2026-01-05T00:00:30", "every minute from 00:00:30 UTC"),
        (10, "2026-01-05T00:00", "every 10 seconds, UTC"),
        (1, "2026-01-05T00:00", "every second, UTC"),
        (3600, "2026-01-05T00:00", "every hour from 00:00 UTC"),
        (5400, "2026-01-05T00:00", "every 90 minutes from 00:00 UTC"),
        (86_400, "2026-01-05T01:00", "daily at 01:00 UTC"),
        (86_400, "2026-01-05T01:00:01", "daily at 01:00:01 UTC"),
        (604_800, "2026-01-05T01:00", "every week from 2026-01-05 01:00 UTC"),
        (1_209_600, "2026-01-05T01:00", "every 2 weeks from 2026-01-05 01:00 UTC"),
        (172_800, "2026-01-05T01:00", "every 2 days from 2026-01-05 01:00 UTC"),
        (25_200, "2026-01-05T01:00", "every 7 hours from 2026-01-05 01:00 UTC"),
        (7, "2026-01-05T01:00", "every 7 seconds from 2026-01-05 01:00 UTC"),
        (60, "2026-01-05T01:00:00.250", "every minute from 2026-01-05 01:00:00.250000 UTC"),
    ],
)
def test_elapsed_rhythms(seconds: int, anchor: str, said: str) -> None:
    assert every(seconds, datetime.fromisoformat(anchor).replace(tzinfo=UTC)) == said


def test_an_anchor_of_another_offset_is_told_in_utc() -> None:
    assert every(900, datetime.fromisoformat("2026-01-05T01:05:00+05:30")) == "every 15 minutes from 00:05 UTC"


@given(st.text(max_size=30))
def test_any_text_has_words(text: str) -> None:
    assert cron(text, "UTC").endswith("UTC")
