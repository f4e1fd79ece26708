"""Missed instants: which run, which are skipped, what they are merged into; each is accounted for exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.states import MisfirePolicy, SkipPolicy
from jobservice.rules import rhythms
from jobservice.rules.misfires import TICK, Decided, Skip, Stretch, Waiting, decide, left_out, span
from jobservice.rules.rhythms import Cron, Left, Rhythm
from jobservice.rules.schedules import Misfire
from tests.schedules import DAY, EACH, ONCE, SKIP, at, cron, every, misfire

pytestmark = pytest.mark.requirement("define-misfire-recovery")
HOURLY = cron("0 * * * *")
NEVER = at("2000-01-01T00:00")


def decided(
    policy: Misfire,
    rows: Sequence[str] = (),
    unplanned: tuple[str, str] = ("2026-03-10T12:30", "2026-03-10T12:30"),
    *,
    made_up: Sequence[str] = (),
    floor: datetime = NEVER,
    rhythm: Rhythm = HOURLY,
) -> Decided:
    """What becomes of missed rows, made up ones that wait, and a stretch that nobody planned."""
    waiting = [Waiting(at=at(each), missed=True, made_up=False) for each in rows]
    waiting += [Waiting(at=at(each), missed=False, made_up=True) for each in made_up]
    stretch = Stretch(after=at(unplanned[0]), until=at(unplanned[1]))
    return decide(policy, rhythm, waiting, stretch, floor=floor, kept_seconds=30 * DAY)


def runs(decision: Decided) -> list[tuple[datetime, datetime, int, SkipPolicy, datetime | None]]:
    """The skips without their sentences."""
    return [(each.first_at, each.last_at, each.count, each.policy, each.merged_into) for each in decision.skips]


ROWS = ("2026-03-10T11:00", "2026-03-10T12:00")
STRETCH = ("2026-03-10T12:30", "2026-03-10T14:30")


def test_skip_runs_nothing_and_says_so_once() -> None:
    found = decided(SKIP, ROWS, STRETCH)
    assert (found.fresh, found.made_up, found.dropped) == ((), (), (at(ROWS[0]), at(ROWS[1])))
    assert runs(found) == [(at("2026-03-10T11:00"), at("2026-03-10T14:00"), 4, SkipPolicy.MISFIRE_SKIP, None)]
    assert found.skips[0].cause == "Not started within 1 min of its time; what is missed is skipped."


def test_once_runs_the_latest_and_merges_the_others_into_it() -> None:
    found = decided(ONCE, ROWS, STRETCH)
    assert [each.at for each in found.fresh] == [at("2026-03-10T14:00")]
    assert found.made_up == ()
    assert runs(found) == [
        (at("2026-03-10T11:00"), at("2026-03-10T13:00"), 3, SkipPolicy.MISFIRE_ONCE, at("2026-03-10T14:00"))
    ]
    only_rows = decided(ONCE, ROWS)
    assert (only_rows.made_up, only_rows.dropped) == ((at(ROWS[1]),), (at(ROWS[0]),))
    assert decided(ONCE, ROWS[1:]).skips == ()


def test_once_runs_one_also_where_more_was_missed_while_it_waited() -> None:
    """The lock is held for hours: every hour one more is missed, and still one run waits."""
    found = decided(ONCE, ROWS[1:], made_up=ROWS[:1])
    assert (found.made_up, found.dropped) == ((at(ROWS[1]),), (at(ROWS[0]),))
    assert runs(found) == [(at(ROWS[0]), at(ROWS[0]), 1, SkipPolicy.MISFIRE_ONCE, at(ROWS[1]))]
    assert decided(ONCE, made_up=ROWS[:1]) == Decided(), "nothing more was missed: it goes on waiting"


def test_each_interval_runs_the_newest() -> None:
    found = decided(misfire(MisfirePolicy.EACH_INTERVAL, newest=3), ROWS, STRETCH)
    assert [each.at for each in found.fresh] == [at("2026-03-10T13:00"), at("2026-03-10T14:00")]
    assert (found.made_up, found.dropped) == ((at(ROWS[1]),), (at(ROWS[0]),))
    assert runs(found) == [(at(ROWS[0]), at(ROWS[0]), 1, SkipPolicy.MISFIRE_EACH_INTERVAL, None)]
    assert "no more than the newest 3 run" in found.skips[0].cause


def test_what_ran_between_two_missed_ones_is_not_counted_as_skipped() -> None:
    found = decided(SKIP, ("2026-03-10T09:00", "2026-03-10T11:00", "2026-03-10T12:00"), STRETCH)
    assert [(first, count) for first, _, count, _, _ in runs(found)] == [
        (at("2026-03-10T09:00"), 1),
        (at("2026-03-10T11:00"), 4),
    ]


def test_what_is_longer_ago_than_retention_is_not_caught_up_with() -> None:
    floor = at("2026-03-10T13:00")
    found = decided(EACH, ROWS, STRETCH, floor=floor)
    assert [each.at for each in found.fresh] == [at("2026-03-10T14:00")]
    assert found.dropped == (at(ROWS[0]), at(ROWS[1]))
    assert runs(found) == [(at(ROWS[0]), floor, 3, SkipPolicy.RETENTION, None)]
    assert found.skips[0].cause == "Longer ago than its runs are kept (30 days)."


def test_twenty_years_of_seconds_are_counted_and_not_walked_through() -> None:
    found = decided(ONCE, (), ("2006-03-10T00:00", "2026-03-10T00:00"), rhythm=every(1), floor=at("2016-03-10T00:00"))
    assert [each.at for each in found.fresh] == [at("2026-03-10T00:00")]
    days = (at("2026-03-10T00:00") - at("2016-03-10T00:00")).days
    assert [(count, policy) for _, _, count, policy, _ in runs(found)] == [
        ((at("2016-03-10T00:00") - at("2006-03-10T00:00")).days * 86_400, SkipPolicy.RETENTION),
        (days * 86_400 - 1, SkipPolicy.MISFIRE_ONCE),
    ]


@pytest.mark.requirement("define-business-local-clock-behavior", "TIME-01")
def test_local_times_that_the_clock_left_out_leave_one_run_an_instant() -> None:
    gap = at("2026-03-29T01:00")
    left = [
        Left(at=gap, local=datetime(2026, 3, 29, 1, minute), policy=SkipPolicy.SKIPPED_HOUR)  # noqa: DTZ001  # a wall clock
        for minute in (10, 30)
    ]
    twice = Left(
        at=at("2026-10-25T01:30"),
        local=datetime(2026, 10, 25, 1, 30),  # noqa: DTZ001  # a wall clock
        policy=SkipPolicy.REPEATED_HOUR,
    )
    first, second = left_out([*left, twice], "Europe/London")
    assert (first.first_at, first.last_at, first.count, first.local) == (gap, gap, 2, left[0].local)
    assert first.cause == ("The clock in Europe/London left out 2026-03-29 01:10, and the schedule skips such a time.")
    assert second.cause == (
        "The clock in Europe/London showed 2026-10-25 01:30 twice, and the schedule runs at the other one."
    )


@pytest.mark.parametrize(
    ("seconds", "words"), [(90.0, "90 s"), (300.0, "5 min"), (7_200.0, "2 h"), (DAY, "1 day"), (2.5, "2.5 s")]
)
def test_a_length_of_time_in_words(seconds: float, words: str) -> None:
    assert span(seconds) == words


LONDON = cron("30 1,13 * * *", "Europe/London")
START = at("2026-10-24T00:00")


def instants_of(skip: Skip, rhythm: Rhythm) -> list[datetime]:
    """The instants of a run of skips."""
    return [each.at for each in rhythms.between(rhythm, skip.first_at - TICK, skip.last_at, most=10_000).instants]


@settings(max_examples=150, deadline=None)
@given(
    rhythm=st.sampled_from([HOURLY, LONDON, every(1_700)]),
    policy=st.sampled_from([SKIP, ONCE, EACH, misfire(MisfirePolicy.EACH_INTERVAL, newest=9)]),
    hours=st.tuples(st.integers(0, 40), st.integers(0, 60), st.integers(0, 90)),
    ran=st.sets(st.integers(0, 60)),
    made_up=st.integers(0, 3),
)
def test_every_missed_instant_is_in_exactly_one_place(
    rhythm: Rhythm, policy: Misfire, hours: tuple[int, int, int], ran: set[int], made_up: int
) -> None:
    floor, planned, until = (START + timedelta(hours=each) for each in hours)
    rows = [each.at for each in rhythms.between(rhythm, START, planned, most=1_000).instants]
    waiting = [
        Waiting(at=row, missed=number >= made_up, made_up=number < made_up)
        for number, row in enumerate(rows)
        if number not in ran
    ]
    found = decide(policy, rhythm, waiting, Stretch(after=planned, until=until), floor=floor, kept_seconds=DAY)
    behind = [each.at for each in rhythms.between(rhythm, planned, max(planned, until), most=1_000).instants]
    if not behind and not any(each.missed for each in waiting):
        assert found == Decided()
        return
    skipped = [instant for skip in found.skips for instant in instants_of(skip, rhythm)]
    running = [*found.made_up, *(each.at for each in found.fresh)]
    assert sorted([*skipped, *running]) == sorted([*(each.at for each in waiting), *behind])
    assert len(skipped) == sum(skip.count for skip in found.skips)
    assert set(found.dropped) == {each.at for each in waiting} - set(found.made_up)
    most = {MisfirePolicy.SKIP: 0, MisfirePolicy.ONCE: 1}.get(policy.policy, policy.newest or 0)
    recent = sorted(each for each in [*(each.at for each in waiting), *behind] if each > floor)
    assert sorted(running) == (recent[-most:] if most else [])
    merged = {skip.merged_into for skip in found.skips if skip.policy is SkipPolicy.MISFIRE_ONCE}
    assert merged <= set(running)


def test_a_rhythm_by_a_clock_is_the_one_that_is_asked() -> None:
    assert isinstance(LONDON, Cron)
    found = decided(SKIP, (), ("2026-10-25T00:00", "2026-10-25T12:00"), rhythm=LONDON)
    assert runs(found) == [(at("2026-10-25T00:30"), at("2026-10-25T00:30"), 1, SkipPolicy.MISFIRE_SKIP, None)], (
        "half past one in the summer's hour, once"
    )
