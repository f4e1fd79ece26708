"""Rhythms: the failure cases, every change of every zone's clock against slow looking, and searches that agree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.states import ClockChange, Repeated, Skipped, SkipPolicy
from jobservice.rules.rhythms import (
    Between,
    CannotCompute,
    Cron,
    Every,
    Instant,
    Left,
    Rhythm,
    between,
    count,
    newest,
    next_instant,
    previous_instant,
    tzdata_version,
    words,
)
from tests.rules import slow_time
from tests.rules.slow_time import EXPRESSIONS, SECOND, Expected, changes, offset_at, watch, zone_names

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SKIP, GAP_END, SHIFT = Skipped.SKIP, Skipped.RUN_AT_GAP_END, Skipped.SHIFT
FIRST, SECOND_ONE, BOTH = Repeated.FIRST, Repeated.SECOND, Repeated.BOTH


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def cron(text: str, zone: str, skipped: Skipped = SKIP, repeated: Repeated = BOTH) -> Cron:
    return Cron(expression=text, zone=zone, skipped=skipped, repeated=repeated)


def ats(rhythm: Rhythm, after: str, number: int) -> list[str]:
    """The next instants, each asked for from the one before."""
    found, place = [], at(after)
    for _ in range(number):
        instant = next_instant(rhythm, place)
        assert instant is not None
        assert instant.at > place
        place = instant.at
        found.append(f"{place:%Y-%m-%dT%H:%M}")
    return found


@pytest.mark.requirement("TIME-01", "test-time-transitions", "define-business-local-clock-behavior")
@pytest.mark.parametrize(
    ("skipped", "on_the_day", "clock"),
    [
        (SKIP, [], None),
        (GAP_END, ["2025-03-09T07:00"], ClockChange.GAP_END),
        (SHIFT, ["2025-03-09T07:30"], ClockChange.SHIFTED),
    ],
)
def test_a_daily_time_inside_the_gap(skipped: Skipped, on_the_day: list[str], clock: ClockChange | None) -> None:
    rhythm = cron("30 2 * * *", "America/New_York", skipped, FIRST)
    whole = ["2025-03-08T07:30", *on_the_day, "2025-03-10T06:30"]
    assert ats(rhythm, "2025-03-08T00:00", len(whole)) == whole
    assert ats(rhythm, "2025-03-09T06:30", len(whole) - 1) == whole[1:]
    assert ats(rhythm, "2025-03-09T06:59:30", len(whole) - 1) == whole[1:]
    later = [each for each in whole if each > "2025-03-09T07:10"]  # between the gap's end and a shifted instant
    assert ats(rhythm, "2025-03-09T07:10", len(later)) == later
    found = between(rhythm, at("2025-03-09T00:00"), at("2025-03-10T00:00"), most=5)
    assert [(each.clock, str(each.local)) for each in found.instants] == [
        (clock, "2025-03-09 02:30:00") for _ in on_the_day
    ]
    trace = [(each.at, str(each.local), each.policy) for each in found.left]
    assert trace == ([] if on_the_day else [(at("2025-03-09T07:00"), "2025-03-09 02:30:00", SkipPolicy.SKIPPED_HOUR)])


@pytest.mark.requirement("TIME-02", "test-time-transitions", "define-business-local-clock-behavior")
@pytest.mark.parametrize(
    ("repeated", "on_the_day"),
    [
        (FIRST, ["2025-11-02T05:30"]),
        (SECOND_ONE, ["2025-11-02T06:30"]),
        (BOTH, ["2025-11-02T05:30", "2025-11-02T06:30"]),
    ],
)
def test_a_daily_time_inside_the_repeated_hour(repeated: Repeated, on_the_day: list[str]) -> None:
    rhythm = cron("30 1 * * *", "America/New_York", SKIP, repeated)
    whole = ["2025-11-01T05:30", *on_the_day, "2025-11-03T06:30"]
    assert ats(rhythm, "2025-11-01T00:00", len(whole)) == whole
    for minute in range(0, 121, 10):  # wherever a scheduler starts, it says the same
        start = at("2025-11-02T05:00") + minute * timedelta(minutes=1)
        assert ats(rhythm, start.isoformat()[:19], 1) == [each for each in whole if at(each) > start][:1]
    found = between(rhythm, at("2025-11-02T00:00"), at("2025-11-03T00:00"), most=5)
    locals_named = [*(each.local for each in found.instants), *(each.local for each in found.left)]
    assert {str(each) for each in locals_named} == {"2025-11-02 01:30:00"}
    other = [each for each in ("2025-11-02T05:30", "2025-11-02T06:30") if each not in on_the_day]
    assert [(each.at, each.policy) for each in found.left] == [(at(each), SkipPolicy.REPEATED_HOUR) for each in other]
    which = {at("2025-11-02T05:30"): ClockChange.FIRST, at("2025-11-02T06:30"): ClockChange.SECOND}
    assert [each.clock for each in found.instants] == [which[each.at] for each in found.instants]


@pytest.mark.requirement("TIME-05", "test-time-transitions")
@pytest.mark.parametrize(
    ("zone", "start", "gap_end", "day_after"),
    [
        ("America/Santiago", "2025-09-07T03:30", "2025-09-07T04:00", "2025-09-08T03:00"),
        ("Asia/Beirut", "2025-03-29T21:30", "2025-03-29T22:00", "2025-03-30T21:00"),
        ("Africa/Cairo", "2025-04-24T21:30", "2025-04-24T22:00", "2025-04-25T21:00"),
    ],
)
def test_zones_where_midnight_is_the_missing_hour(zone: str, start: str, gap_end: str, day_after: str) -> None:
    assert ats(cron("0 0 * * *", zone, SKIP), start, 1) == [day_after]
    assert ats(cron("0 0 * * *", zone, GAP_END), start, 2) == [gap_end, day_after]
    assert ats(cron("0 0 * * *", zone, SHIFT), start, 2) == [gap_end, day_after]


@pytest.mark.requirement("TIME-05")
def test_times_far_from_the_gap_and_days_of_25_hours() -> None:
    assert ats(cron("0 6 * * *", "America/Santiago"), "2025-09-07T03:30", 1) == ["2025-09-07T09:00"]
    days = ["2025-10-24T23:00", "2025-10-25T23:00", "2025-10-27T00:00"]
    assert ats(cron("0 0 * * *", "Europe/London"), "2025-10-24T12:00", 3) == days


@pytest.mark.requirement("test-time-transitions")
def test_a_repeated_midnight_runs_as_often_as_the_policy_says() -> None:
    both = ["2025-11-02T04:00", "2025-11-02T05:00"]  # Havana: 01:00 becomes 00:00
    assert ats(cron("0 0 * * *", "America/Havana", SKIP, BOTH), "2025-11-01T12:00", 2) == both
    assert ats(cron("0 0 * * *", "America/Havana", SKIP, FIRST), "2025-11-01T12:00", 2) == [both[0], "2025-11-03T05:00"]
    assert ats(cron("0 0 * * *", "America/Havana", SKIP, SECOND_ONE), "2025-11-01T12:00", 1) == both[1:]


@pytest.mark.requirement("test-time-transitions")
def test_a_whole_day_that_the_calendar_left_out() -> None:
    """Samoa went over the date line: there was no Friday, 30 December 2011."""
    start, end, gap_end = at("2011-12-29T10:00"), at("2011-12-31T10:00"), at("2011-12-30T10:00")
    hours = between(cron("30 * * * *", "Pacific/Apia"), start, end, most=99)
    assert len(hours.instants) == 48
    assert [str(each.local) for each in hours.left] == [f"2011-12-30 {hour:02d}:30:00" for hour in range(24)]
    assert {each.at for each in hours.left} == {gap_end}
    once = between(cron("30 * * * *", "Pacific/Apia", GAP_END), start, end, most=99)
    assert (len(once.instants), once.left) == (49, ())
    assert [(each.at, str(each.local)) for each in once.instants if each.clock] == [(gap_end, "2011-12-30 00:30:00")]
    shifted = between(cron("30 * * * *", "Pacific/Apia", SHIFT), start, end, most=99)
    assert [each.at for each in shifted.instants] == [each.at for each in hours.instants]
    daily = ats(cron("30 7 * * *", "Pacific/Apia", SHIFT), "2011-12-28T18:00", 3)
    assert daily == ["2011-12-29T17:30", "2011-12-30T17:30", "2011-12-31T17:30"]
    assert ats(cron("0 9 * * fri", "Pacific/Apia"), "2011-12-24T00:00", 1) == ["2012-01-05T19:00"]


def test_an_instant_of_two_local_times_is_there_once() -> None:
    rhythm = cron("0,30 2,3 * * *", "America/New_York", SHIFT)
    found = between(rhythm, at("2025-03-09T00:00"), at("2025-03-10T00:00"), most=9)
    assert [(f"{each.at:%H:%M}", each.clock) for each in found.instants] == [("07:00", None), ("07:30", None)]
    first_of_gap = between(cron("*/10 2 * * *", "America/New_York", GAP_END), *day("2025-03-09"), most=9)
    assert [(f"{each.at:%H:%M}", str(each.local)) for each in first_of_gap.instants] == [
        ("07:00", "2025-03-09 02:00:00")
    ]


def day(date: str) -> tuple[datetime, datetime]:
    return at(f"{date}T00:00"), at(f"{date}T00:00") + DAY


@pytest.mark.requirement("prefer-utc-schedules")
def test_utc_has_no_gap_and_repeats_nothing() -> None:
    for date in ("2025-03-09", "2025-03-30", "2025-10-26", "2025-11-02", "2011-12-30"):
        found = between(cron("*/30 * * * *", "UTC", SKIP, FIRST), *day(date), most=99)
        assert (len(found.instants), found.left) == (48, ())
        assert all(each.clock is None and each.local == each.at.replace(tzinfo=None) for each in found.instants)


def _local(instant: Instant) -> datetime:
    assert instant.local is not None
    return instant.local


def seen(found: Between) -> Expected:
    ran = [(each.at, _local(each), each.clock and each.clock.value) for each in found.instants]
    return Expected(ran, [(each.at, each.local, each.policy.value) for each in found.left])


def around(zone: str, change: datetime, margin: timedelta) -> tuple[datetime, datetime, slow_time.Clock]:
    """A stretch around a change of the clock, and the clock watched so far around it that repeated times are seen twice."""
    size = abs(offset_at(zone, change) - offset_at(zone, change - SECOND))
    start, end = change - size - margin, change + size + margin
    return start, end, watch(zone, start - size, end + size)


def within(whole: Expected, start: datetime, end: datetime) -> Expected:
    return Expected(
        [each for each in whole.ran if start < each[0] <= end], [each for each in whole.left if start < each[0] <= end]
    )


def check_searches(rhythm: Cron, start: datetime, end: datetime, ran: Sequence[datetime]) -> None:
    """Every search gives the instants that slow looking found."""
    assert count(rhythm, start, end) == len(ran)
    assert [each.at for each in newest(rhythm, start, end, most=7)] == list(ran[-7:])
    forward, place = [], start
    while (instant := next_instant(rhythm, place)) is not None and instant.at <= end:
        forward.append(instant)
        place = instant.at
    assert [each.at for each in forward] == list(ran)
    backward, place = [], end + timedelta(microseconds=1)
    while (instant := previous_instant(rhythm, place)) is not None and instant.at > start:
        backward.append(instant)
        place = instant.at
    assert backward == forward[::-1]


ANY_CHANGE = st.sampled_from(zone_names()).filter(lambda name: len(changes(name)) > 0)


@pytest.mark.requirement("test-time-transitions", "define-business-local-clock-behavior")
@settings(max_examples=30, deadline=None)
@given(ANY_CHANGE, st.sampled_from(sorted(EXPRESSIONS)), st.sampled_from(Skipped), st.sampled_from(Repeated), st.data())
def test_around_any_change_of_any_clock_all_searches_agree_with_slow_looking(
    zone: str, text: str, skipped: Skipped, repeated: Repeated, data: st.DataObject
) -> None:
    change = data.draw(st.sampled_from(changes(zone)))
    start, end, clock = around(zone, change, HOUR)
    rhythm = cron(text, zone, skipped, repeated)
    right = within(slow_time.expected(clock, EXPRESSIONS[text], skipped, repeated), start, end)
    assert seen(between(rhythm, start, end, most=10_000)) == right
    ran = [each for each, _, _ in right.ran]
    check_searches(rhythm, start, end, ran)
    anywhere = start + data.draw(st.integers(0, (end - start) // SECOND)) * SECOND
    following = next_instant(rhythm, anywhere)
    later = [each for each in ran if each > anywhere]
    assert following is not None
    assert following.at == later[0] if later else following.at > end


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.requirement("test-time-transitions", "define-business-local-clock-behavior")
@pytest.mark.parametrize("part", range(8))
def test_every_change_of_every_clock_of_a_century(part: int) -> None:
    """Each minute that is shown once, twice or never, under each policy that matters there."""
    looked_at = 0
    for zone in zone_names()[part::8]:
        for change in changes(zone):
            start, end, clock = around(zone, change, HOUR / 4)
            gap = bool(clock.jumps)
            policies = [(each, BOTH) for each in Skipped] if gap else [(SKIP, each) for each in Repeated]
            for skipped, repeated in policies:
                rhythm = cron("* * * * *", zone, skipped, repeated)
                right = within(slow_time.expected(clock, EXPRESSIONS["* * * * *"], skipped, repeated), start, end)
                assert seen(between(rhythm, start, end, most=10_000)) == right
                assert count(rhythm, start, end) == len(right.ran)
            looked_at += 1
    assert looked_at > 2_000


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(zone_names()),
    st.sampled_from(sorted(EXPRESSIONS)),
    st.sampled_from(Skipped),
    st.sampled_from(Repeated),
    st.datetimes(at("1937-01-01").replace(tzinfo=None), at("2037-01-01").replace(tzinfo=None), timezones=st.just(UTC)),
    st.data(),
)
def test_where_a_search_starts_changes_nothing(
    zone: str, text: str, skipped: Skipped, repeated: Repeated, start: datetime, data: st.DataObject
) -> None:
    rhythm = cron(text, zone, skipped, repeated)
    following = next_instant(rhythm, start)
    assert following is not None
    assert following.at > start
    micro = timedelta(microseconds=1)
    inside = start + data.draw(st.integers(0, (following.at - start) // micro - 1)) * micro
    assert next_instant(rhythm, inside) == following
    assert previous_instant(rhythm, following.at + micro) == following
    before = previous_instant(rhythm, following.at)
    assert before is None or before.at <= start
    after_that = next_instant(rhythm, following.at)
    assert after_that is not None
    assert previous_instant(rhythm, after_that.at) == following


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(zone_names()),
    st.sampled_from(sorted(EXPRESSIONS)),
    st.sampled_from(Skipped),
    st.sampled_from(Repeated),
    st.integers(0, 36_000),
    st.integers(1, 800),
)
def test_years_are_counted_and_cut_as_they_are_listed(
    zone: str, text: str, skipped: Skipped, repeated: Repeated, first: int, days: int
) -> None:
    text = "*/15 * * * *" if text == "* * * * *" else text
    rhythm, start = cron(text, zone, skipped, repeated), at("1937-01-01T00:17") + first * DAY
    end = start + days * DAY
    whole = between(rhythm, start, end, most=100_000)
    assert whole.whole
    assert whole.until == end
    assert all(one.at < other.at for one, other in pairwise(whole.instants))
    assert list(whole.left) == sorted(whole.left, key=lambda each: (each.at, each.local))
    assert count(rhythm, start, end) == len(whole.instants)
    assert newest(rhythm, start, end, most=40) == whole.instants[-40:]
    pieces: list[Instant] = []
    left: list[Left] = []
    place, finished = start, False
    while not finished:
        piece = between(rhythm, place, end, most=1 + len(whole.instants) // 3)
        pieces += piece.instants
        left += piece.left
        place, finished = piece.until, piece.whole
    assert (tuple(pieces), tuple(left)) == (whole.instants, whole.left)


def test_a_cut_ends_at_the_last_instant_given() -> None:
    rhythm = cron("*/15 * * * *", "Europe/London", SKIP, BOTH)
    cut = between(rhythm, at("2026-03-29T00:00"), at("2026-03-30T00:00"), most=3)
    assert [f"{each.at:%H:%M}" for each in cut.instants] == ["00:15", "00:30", "00:45"]
    assert (cut.whole, cut.until, cut.left) == (False, at("2026-03-29T00:45"), ())
    through = between(rhythm, cut.until, at("2026-03-30T00:00"), most=1)
    assert (through.until, len(through.left)) == (at("2026-03-29T01:00"), 4)
    exact = between(rhythm, at("2026-03-29T00:00"), at("2026-03-29T00:45"), most=3)
    assert (exact.whole, len(exact.instants)) == (True, 3)
    nothing = between(rhythm, at("2026-03-29T00:15"), at("2026-03-29T00:15"), most=3)
    assert nothing == Between(instants=(), left=(), until=at("2026-03-29T00:15"), whole=True)


def test_searches_end_where_nothing_comes() -> None:
    never = cron("30 1 25-31 3 */7", "Europe/London", SKIP)  # each year's gap since 1996
    assert next_instant(never, at("2026-01-01T00:00")) is None
    assert previous_instant(never, at("9990-01-01T00:00")) is None
    assert count(never, at("2026-01-01T00:00"), at("2076-01-01T00:00")) == 0
    left = between(never, at("2026-01-01T00:00"), at("2076-01-01T00:00"), most=1)
    assert (left.whole, left.instants, len(left.left)) == (True, (), 50)
    assert ats(cron("0 0 29 2 */7", "Asia/Tokyo"), "2072-01-01T00:00", 1) == ["2088-02-28T15:00"]
    every_year = cron("0 0 1 1 *", "Asia/Tokyo")
    assert next_instant(every_year, datetime.max.replace(tzinfo=UTC)) is None
    assert previous_instant(every_year, datetime.min.replace(tzinfo=UTC) + DAY) is None


@pytest.mark.parametrize(
    ("rhythm", "said"),
    [
        (cron("0 0 * * *", "Mars/Base"), "The time zone 'Mars/Base' is not in the time zone database"),
        (cron("0 0 31 2 *", "UTC"), "would never run"),
        (cron("@daily", "UTC"), "nicknames are not read"),
        (Every(seconds=0, anchor=at("2026-01-05T00:00")), "every 0 seconds; at least one second"),
    ],
)
def test_what_gives_no_instants_says_why(rhythm: Rhythm, said: str) -> None:
    start, end = at("2026-01-01T00:00"), at("2026-02-01T00:00")
    for search in (
        lambda: next_instant(rhythm, start),
        lambda: previous_instant(rhythm, start),
        lambda: between(rhythm, start, end, most=1),
        lambda: newest(rhythm, start, end, most=1),
        lambda: count(rhythm, start, end),
    ):
        with pytest.raises(CannotCompute, match=said):
            search()


@pytest.mark.requirement("exclude-machine-local-time")
def test_a_time_without_an_offset_is_no_instant() -> None:
    naive = at("2026-01-01T00:00").replace(tzinfo=None)
    for rhythm in (cron("0 0 * * *", "UTC"), Every(seconds=60, anchor=at("2026-01-05T00:00"))):
        with pytest.raises(ValueError, match="says no offset from UTC"):
            next_instant(rhythm, naive)
    with pytest.raises(ValueError, match="says no offset from UTC"):
        next_instant(Every(seconds=60, anchor=naive), at("2026-01-01T00:00"))


def test_at_least_one_instant_is_asked_for() -> None:
    for search in (between, newest):
        with pytest.raises(ValueError, match="at most 0 instants"):
            search(cron("0 0 * * *", "UTC"), at("2026-01-01T00:00"), at("2026-02-01T00:00"), most=0)


def test_instants_of_other_offsets_are_the_same_instants() -> None:
    there = datetime.fromisoformat("2025-03-09T01:59:30-05:00")
    following = next_instant(cron("30 2 * * *", "America/New_York"), there)
    assert following is not None
    assert following.at.isoformat() == "2025-03-10T06:30:00+00:00"


def test_rhythms_say_themselves_and_their_database() -> None:
    assert words(cron("30 1 * * *", "Europe/London")) == "daily at 01:30, Europe/London"
    assert words(Every(seconds=900, anchor=at("2026-01-05T00:00"))) == "every 15 minutes from 00:00 UTC"
    assert re.fullmatch(r"20\d\d[a-z]", tzdata_version())
