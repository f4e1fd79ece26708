"""Which instants kept runs of skips stand for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from jobservice.rules.recovery_instants import SkipRun, expand
from tests.schedules import ANCHOR, cron, every

HOUR = timedelta(hours=1)
RHYTHMS = {"s.hour": every(3_600), "s.hand": None, "s.cron": cron("30 * * * *"), "s.odd": cron("0 1 * * *", "Mars/X")}
RUN = SkipRun(schedule="s.hour", first_at=ANCHOR, last_at=ANCHOR + 4 * HOUR, count=5, made=0)


@settings(max_examples=80, deadline=None)
@given(
    first=st.integers(0, 40),
    length=st.integers(0, 20),
    since=st.integers(-60, 4_000),
    stretch=st.integers(1, 4_000),
    most=st.integers(1, 12),
)
def test_instants_are_those_of_the_rhythm_in_run_and_stretch(
    first: int, length: int, since: int, stretch: int, most: int
) -> None:
    run = SkipRun(
        schedule="s.hour",
        first_at=ANCHOR + first * HOUR,
        last_at=ANCHOR + (first + length) * HOUR,
        count=length + 1,
        made=0,
    )
    start = ANCHOR + timedelta(minutes=since)
    end = start + timedelta(minutes=stretch)
    every_one = [each for each in (run.first_at + hour * HOUR for hour in range(length + 1)) if start <= each < end]
    wanted = expand([run], RHYTHMS, start, end, wanted=True, most=most)
    assert [instant for _, instant in wanted.instants] == every_one[: most + 1]
    assert (wanted.left, wanted.lost) == ({}, [])
    counted = expand([run], RHYTHMS, start, end, wanted=False, most=most)
    assert counted.instants == []
    assert sum(counted.left.values()) == len(every_one)


def test_what_was_made_of_a_run_is_not_counted_again() -> None:
    found = expand([replace(RUN, made=2)], RHYTHMS, ANCHOR, ANCHOR + 9 * HOUR, wanted=False, most=9)
    assert found.left == {"s.hour": 3}
    found = expand([replace(RUN, made=5)], RHYTHMS, ANCHOR, ANCHOR + 9 * HOUR, wanted=False, most=9)
    assert found.left == {}


def test_a_rhythm_that_is_another_one_since_tells_nothing() -> None:
    """More or fewer instants in the run, none at its beginning, no rhythm, no record, or one that cannot be computed."""
    runs = [
        replace(RUN, count=4),
        replace(RUN, schedule="s.cron"),
        replace(RUN, schedule="s.hand"),
        replace(RUN, schedule="s.gone"),
        replace(RUN, schedule="s.odd"),
    ]
    for wanted in (True, False):
        found = expand(runs, RHYTHMS, ANCHOR, ANCHOR + 9 * HOUR, wanted=wanted, most=9)
        assert (list(found.lost), list(found.instants), found.left) == (runs, [], {})


def test_the_most_is_over_all_runs() -> None:
    later = replace(RUN, first_at=ANCHOR + 10 * HOUR, last_at=ANCHOR + 14 * HOUR)
    found = expand([RUN, later], RHYTHMS, ANCHOR, ANCHOR + 99 * HOUR, wanted=True, most=6)
    assert len(found.instants) == 7
