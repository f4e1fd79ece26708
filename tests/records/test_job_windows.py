"""How long after its instant a missed occurrence may still be made up for, by rhythm and policy."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jobcontract.states import MisfirePolicy, Repeated, Skipped
from jobservice.records.job_windows import catch_up_seconds, longest_seconds
from jobservice.rules.rhythms import Cron, Every
from jobservice.rules.schedules import Misfire

HOUR, DAY = 3_600, 86_400
ANCHOR = datetime(2026, 1, 5, tzinfo=UTC)


def cron(expression: str, zone: str = "UTC", skipped: Skipped = Skipped.RUN_AT_GAP_END) -> Cron:
    return Cron(expression=expression, zone=zone, skipped=skipped, repeated=Repeated.BOTH)


@pytest.mark.requirement("remove-occurrences-past-retention")
@pytest.mark.parametrize(
    ("expression", "longest"),
    [
        ("* * * * *", 60),
        ("0 9,17 * * *", 16 * HOUR),
        ("30 1 * * mon-fri", 3 * DAY),
        ("*/10 9-17 * * mon-fri", 3 * DAY - 8 * HOUR - 50 * 60),
        ("0 0 31 * *", 61 * DAY),
        ("0 0 1 1 *", 366 * DAY),
        ("0 0 29 2 *", 2_921 * DAY),
    ],
)
def test_the_longest_time_between_two_neighbours_is_that_of_the_calendar(expression: str, longest: int) -> None:
    assert longest_seconds(cron(expression)) == longest


@pytest.mark.requirement("remove-occurrences-past-retention")
def test_what_may_be_made_up_for_is_kept_by_every_policy() -> None:
    daily, local = cron("30 1 * * *"), cron("30 1 * * *", "Europe/London")
    skip, once = (Misfire(policy=policy, after_seconds=300.0) for policy in (MisfirePolicy.SKIP, MisfirePolicy.ONCE))
    each = Misfire(policy=MisfirePolicy.EACH_INTERVAL, after_seconds=300.0, newest=7)
    assert [catch_up_seconds(daily, misfire) for misfire in (skip, once, each)] == [300, DAY + 300, 7 * DAY + 300]
    assert catch_up_seconds(local, each) == 7 * DAY + 300 + 2 * HOUR
    assert catch_up_seconds(cron("30 1 * * *", "Europe/London", Skipped.SKIP), each) == 8 * DAY + 300 + 2 * HOUR
    assert catch_up_seconds(Every(seconds=900, anchor=ANCHOR), each) == 7 * 900 + 300
