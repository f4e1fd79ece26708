"""The look ahead that people see: what runs, what a change of the clock leaves out, and how far it looks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.states import Repeated, Skipped
from jobservice.rules.planned import AHEAD, Ahead, look_ahead
from jobservice.rules.rhythms import Cron, Every, Rhythm, next_instant

pytestmark = pytest.mark.requirement("define-business-local-clock-behavior")
LONDON = Cron(expression="30 1 * * *", zone="Europe/London", skipped=Skipped.SKIP, repeated=Repeated.SECOND)
SPRING, AUTUMN = datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)


def cron(skipped: Skipped = Skipped.SKIP, repeated: Repeated = Repeated.SECOND, expression: str = "30 1 * * *") -> Cron:
    """A schedule of London."""
    return Cron(expression=expression, zone="Europe/London", skipped=skipped, repeated=repeated)


def told(ahead: Ahead) -> list[tuple[str, bool, str]]:
    """Each row as instant, whether it runs, and its words."""
    return [(f"{each.at:%m-%d %H:%M}", each.runs, each.words) for each in ahead.instants]


@pytest.mark.parametrize(
    ("skipped", "first"),
    [
        (Skipped.SKIP, ("03-29 01:00", False, "01:30 does not exist that night: it does not run.")),
        (Skipped.RUN_AT_GAP_END, ("03-29 01:00", True, "01:30 does not exist that night: runs at 02:00 BST.")),
        (Skipped.SHIFT, ("03-29 01:30", True, "01:30 does not exist that night: runs at 02:30 BST.")),
    ],
)
def test_a_skipped_hour_is_told_by_each_policy(skipped: Skipped, first: tuple[str, bool, str]) -> None:
    assert told(look_ahead(cron(skipped), SPRING, count=1))[0] == first


@pytest.mark.parametrize(
    ("repeated", "rows"),
    [
        (Repeated.FIRST, [(True, "runs at the first, BST."), (False, "it does not run at GMT.")]),
        (Repeated.SECOND, [(False, "it does not run at BST."), (True, "runs at the second, GMT.")]),
        (Repeated.BOTH, [(True, "runs at the first, BST."), (True, "runs at the second, GMT.")]),
    ],
)
def test_a_repeated_hour_is_told_by_each_policy(repeated: Repeated, rows: list[tuple[bool, str]]) -> None:
    night = [row for row in told(look_ahead(cron(repeated=repeated), AUTUMN, count=3)) if row[0].startswith("10-25")]
    assert night == [
        (at, runs, f"01:30 comes twice that night: {words}")
        for at, (runs, words) in zip(("10-25 00:30", "10-25 01:30"), rows, strict=True)
    ]


def test_less_than_was_asked_for_says_why() -> None:
    rare = look_ahead(cron(expression="0 12 29 2 *"), datetime(2026, 1, 1, tzinfo=UTC), count=100)
    assert 5 <= len(rare.instants) < 100
    assert rare.words == "It has no more within 40 years."
    assert rare.instants[-1].at <= datetime(2026, 1, 1, tzinfo=UTC) + AHEAD
    never = look_ahead(cron(expression="0 0 30 2 *"), SPRING, count=5)
    assert never.instants == ()
    assert "." in never.words


@settings(max_examples=40)
@given(
    rhythm=st.sampled_from(
        [
            LONDON,
            cron(expression="0 */6 * * 1-5", repeated=Repeated.BOTH, skipped=Skipped.SHIFT),
            Every(seconds=5_400, anchor=datetime(2026, 1, 1, tzinfo=UTC)),
        ]
    ),
    after=st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  # the zone is given beside them
    count=st.integers(1, 12),
)
def test_what_runs_is_the_rhythm_in_its_order(rhythm: Rhythm, after: datetime, count: int) -> None:
    rows = look_ahead(rhythm, after, count=count).instants
    assert [each.at for each in rows] == sorted(each.at for each in rows)
    running = [each for each in rows if each.runs]
    at = after
    for each in running:
        found = next_instant(rhythm, at)
        assert found is not None
        assert each.at == found.at
        at = found.at
        if each.local is not None and each.offset is not None:
            assert each.local - timedelta(seconds=each.offset) == each.at.replace(tzinfo=None)
    assert len(running) == count
