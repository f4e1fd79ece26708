"""Planning one schedule: every instant is decided exactly once, whenever somebody looks; what changed and what was disabled."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.states import ClockChange, MisfirePolicy, Repeated, Skipped, SkipPolicy
from jobservice.rules import rhythms
from jobservice.rules.planning import AHEAD, MARGIN, MOST, definition, rhythm_of
from jobservice.rules.rhythms import Rhythm
from jobservice.rules.schedules import Misfire
from tests.rules.planned_world import TZDATA, World
from tests.schedules import DAY, EACH, ONCE, SKIP, at, cron, every, misfire, schedule

LONDON = cron("30 1 * * *", "Europe/London", Skipped.SKIP, Repeated.FIRST)
RHYTHMS = [
    every(3_600),
    every(70),
    cron("*/20 * * * *", "Europe/London", Skipped.SKIP, Repeated.BOTH),
    cron("30 0,1,2 * * *", "Europe/London", Skipped.RUN_AT_GAP_END, Repeated.SECOND),
]
POLICIES = [SKIP, ONCE, EACH, misfire(MisfirePolicy.EACH_INTERVAL, after=900.0, newest=7)]
STEPS = st.lists(
    st.tuples(st.sampled_from([1, 40, 61, 600, 5_000, 90_000]), st.booleans(), st.sampled_from(["", "", "off", "on"])),
    min_size=1,
    max_size=8,
)


@pytest.mark.requirement("define-misfire-recovery", "derive-stable-occurrence-identity", "test-time-transitions")
@settings(max_examples=120, deadline=None)
@given(
    rhythm=st.sampled_from(RHYTHMS),
    policy=st.sampled_from(POLICIES),
    begins=st.sampled_from(["2026-03-28T20:10:07", "2026-10-24T20:10:07"]),
    steps=STEPS,
)
def test_every_instant_is_decided_once_whenever_somebody_looks(
    rhythm: Rhythm, policy: Misfire, begins: str, steps: list[tuple[int, bool, str]]
) -> None:
    world = World(schedule("a", rhythm, policy), at(begins))
    world.look(begins)
    for seconds, claims, switch in steps:
        world.now += timedelta(seconds=seconds)
        if claims and not world.standing.disabled:
            world.claim(world.now)
        if switch:
            world.standing = replace(world.standing, disabled=switch == "off")
        world.look(world.now)
        while world.plan.look_at == world.now:
            world.look(world.now)
    world.accounted(rhythm, at(begins))
    assert len(world.started) == len(set(world.started))


@pytest.mark.requirement("test-time-transitions")
@settings(max_examples=40, deadline=None)
@given(rhythm=st.sampled_from(RHYTHMS), gaps=st.lists(st.integers(1, 200), min_size=1, max_size=40))
def test_many_looks_plan_what_one_would(rhythm: Rhythm, gaps: list[int]) -> None:
    """Where no look comes late, how often somebody looks makes no difference: occurrences, clock skips and all."""
    begins = at("2026-10-25T00:07:31")
    often, once = (World(schedule("a", rhythm, misfire(MisfirePolicy.SKIP, after=DAY)), begins) for _ in range(2))
    for gap in gaps:
        often.look(often.now + timedelta(seconds=gap))
    once.look(often.now)
    while once.plan.look_at == once.now:
        once.look(once.now)
    planned = {**often.rows}
    reached = min(often.standing.planned_until, once.standing.planned_until)
    assert {each: row for each, row in planned.items() if each <= reached} == {
        each: row for each, row in once.rows.items() if each <= reached
    }
    assert [each for each in often.skips if each.last_at <= reached] == [
        each for each in once.skips if each.last_at <= reached
    ]


@pytest.mark.parametrize("rhythm", [every(1), every(60), every(3_600), LONDON])
def test_it_is_planned_ahead_and_never_looked_at_while_something_is_due(rhythm: Rhythm) -> None:
    world = World(schedule("a", rhythm), at("2026-06-01T10:00:20"))
    end = world.now + timedelta(seconds=400)
    looked = 0
    world.look(world.now)
    while world.plan.look_at is not None and world.plan.look_at < end:
        ahead = world.standing.planned_until
        following = rhythms.next_instant(rhythm, ahead)
        world.look(world.plan.look_at)
        looked += 1
        assert following is None or following.at - world.now >= MARGIN, "the first unplanned one is still far"
    assert looked <= 400 / 30 + 1, "a rhythm of a second is planned in handfuls"
    if isinstance(rhythm, rhythms.Every) and rhythm.seconds == 60:
        assert 10 <= world.now.second <= 50, "not while all of them start"


@pytest.mark.requirement("define-misfire-recovery")
def test_a_schedule_seen_for_the_first_time_is_planned_from_now_on() -> None:
    world = World(schedule("a", every(60), EACH), at("2026-03-10T10:00:00"))
    plan = world.look("2026-03-10T10:00:00")
    assert sorted(world.rows) == [at("2026-03-10T10:01:00")]
    assert (plan.next_at, plan.skips) == (at("2026-03-10T10:01:00"), ())
    assert world.rows[at("2026-03-10T10:01:00")].miss_at == at("2026-03-10T10:02:00")


@pytest.mark.requirement("TIME-06", "define-misfire-recovery")
@pytest.mark.parametrize(
    ("policy", "runs"),
    [
        (SKIP, []),
        (ONCE, ["2026-03-11T02:00"]),
        (EACH, ["2026-03-10T02:00", "2026-03-11T02:00"]),
    ],
)
def test_resuming_a_paused_schedule_does_what_its_policy_says(policy: Misfire, runs: list[str]) -> None:
    world = World(schedule("a", cron("0 2 * * *"), policy), at("2026-03-09T12:00"))
    world.look("2026-03-09T12:00")
    assert sorted(world.rows) == [at("2026-03-10T02:00")]
    world.now = at("2026-03-10T01:00")
    world.disable()
    assert world.rows == {}, "nothing is left that could start"
    world.claim("2026-03-10T02:00:05")
    world.look("2026-03-10T02:00:10")
    assert world.started == []
    world.enable("2026-03-11T07:49")
    for tick in ("2026-03-11T07:49:01", "2026-03-11T07:49:02"):
        world.look(tick)
        world.claim(tick)
    assert world.started == [at(each) for each in runs]
    assert world.plan.next_at == at("2026-03-12T02:00")
    world.accounted(cron("0 2 * * *"), at("2026-03-09T12:00"))
    if policy is ONCE:
        assert [(skip.first_at, skip.merged_into) for skip in world.skips] == [
            (at("2026-03-10T02:00"), at("2026-03-11T02:00"))
        ]


@pytest.mark.requirement("TIME-06")
def test_what_is_due_when_it_is_disabled_starts_no_more_and_is_not_lost() -> None:
    world = World(schedule("a", every(3_600), misfire(MisfirePolicy.SKIP, after=600.0)), at("2026-03-10T09:30"))
    world.look("2026-03-10T09:30")
    world.now = at("2026-03-10T10:00:10")
    world.disable()
    world.claim("2026-03-10T10:00:11")
    assert world.started == []
    world.enable("2026-03-10T10:01")
    assert world.rows[at("2026-03-10T10:00")].miss_at == at("2026-03-10T10:10"), "it was not missed after all"
    world.claim("2026-03-10T10:01:01")
    assert world.started == [at("2026-03-10T10:00")]


def test_one_disabled_until_a_time_is_looked_at_then() -> None:
    until = at("2026-03-10T12:00")
    world = World(schedule("a", every(3_600)), at("2026-03-10T09:30"))
    world.look("2026-03-10T09:30")
    world.disable(until)
    assert (world.plan.look_at, world.plan.next_at) == (until, None)


HOUR = cron("0 * * * *")


@pytest.mark.requirement("TIME-08", "derive-stable-occurrence-identity")
@pytest.mark.parametrize("rhythm", [HOUR, every(3_600)])
def test_an_equal_schedule_saved_again_is_no_change(rhythm: Rhythm) -> None:
    world = World(schedule("a", rhythm), at("2026-03-10T09:30"))
    world.look("2026-03-10T09:30")
    world.schedule = replace(world.schedule, title="Another name", reason="Said anew", batch_size=9)
    plan = world.look("2026-03-10T10:00:30")
    assert not plan.take_back
    assert sorted(world.rows) == [at("2026-03-10T10:00"), at("2026-03-10T11:00")]
    world.claim("2026-03-10T10:00:40")
    assert world.started == [at("2026-03-10T10:00")]
    assert plan.next_at == at("2026-03-10T11:00")


@pytest.mark.requirement("TIME-08")
def test_an_edited_rhythm_keeps_what_was_due_and_replaces_what_was_not() -> None:
    """The Workers were away: what the old rhythm had due meanwhile is made up for, though nobody had planned it."""
    world = World(schedule("a", HOUR, misfire(MisfirePolicy.EACH_INTERVAL, newest=5)), at("2026-03-10T09:30"))
    world.look("2026-03-10T09:30")
    world.schedule = replace(world.schedule, rhythm=cron("15 * * * *"))
    plan = world.look("2026-03-10T12:20")
    assert plan.take_back
    assert sorted(world.rows) == [
        *(at(f"2026-03-10T{hour}:00") for hour in (10, 11, 12)),
        at("2026-03-10T13:15"),
    ]
    assert plan.next_at == at("2026-03-10T13:15")
    world.schedule = replace(world.schedule, lock="shared")
    assert world.look("2026-03-10T12:21").take_back, "what waits for its time moves to the other lock"
    assert at("2026-03-10T13:15") in world.rows


@pytest.mark.requirement("TIME-12")
def test_the_rhythm_counts_from_its_anchor_whatever_runs_between() -> None:
    daily = World(schedule("a", every(86_400, at("2026-01-05T01:00"))), at("2026-01-05T12:00"))
    daily.looks("2026-01-06T11:30")
    daily.claim("2026-01-06T01:00:01")
    assert daily.look("2026-01-06T11:30").next_at == at("2026-01-07T01:00")
    quarter = World(schedule("b", every(900, at("2026-01-05T00:00"))), at("2026-01-05T23:59:59"))
    quarter.looks("2026-01-06T23:59:58")
    day = [each for each in quarter.planned if each < at("2026-01-07T00:00")]
    assert len(day) == 96
    assert {each.minute for each in day} == {0, 15, 30, 45}


@pytest.mark.requirement("define-business-local-clock-behavior", "TIME-01", "TIME-02")
def test_changes_of_the_clock_leave_their_traces() -> None:
    spring = World(schedule("a", LONDON), at("2026-03-28T12:00"))
    spring.looks("2026-03-30T12:00")
    assert sorted(spring.rows)[0] == at("2026-03-30T00:30")
    (gap,) = spring.skips
    assert (gap.first_at, gap.policy, gap.local) == (
        at("2026-03-29T01:00"),
        SkipPolicy.SKIPPED_HOUR,
        datetime(2026, 3, 29, 1, 30),  # noqa: DTZ001  # a wall clock
    )
    autumn = World(schedule("a", LONDON), at("2026-10-24T12:00"))
    plan = autumn.look("2026-10-24T12:00")
    assert [(new.at, new.clock) for new in plan.occurrences] == [(at("2026-10-25T00:30"), ClockChange.FIRST)]
    autumn.looks("2026-10-25T12:00")
    assert [(skip.first_at, skip.policy) for skip in autumn.skips] == [
        (at("2026-10-25T01:30"), SkipPolicy.REPEATED_HOUR)
    ]
    late = World(schedule("a", LONDON), at("2026-03-28T12:00"))
    late.look("2026-04-02T12:00")
    assert SkipPolicy.SKIPPED_HOUR in {skip.policy for skip in late.skips}, "also where nobody was there to plan it"


@pytest.mark.requirement("remove-occurrences-past-retention")
def test_nothing_at_or_before_the_floor_is_planned() -> None:
    world = World(schedule("a", every(60), EACH), at("2026-03-10T10:00"))
    world.standing = replace(world.standing, floor_at=at("2026-03-10T10:30"))
    plan = world.look("2026-03-10T10:40:30")
    assert min(world.rows) == at("2026-03-10T10:38")
    assert [(skip.first_at, skip.last_at, skip.count, skip.policy) for skip in plan.skips] == [
        (at("2026-03-10T10:01"), at("2026-03-10T10:30"), 30, SkipPolicy.RETENTION),
        (at("2026-03-10T10:31"), at("2026-03-10T10:37"), 7, SkipPolicy.MISFIRE_EACH_INTERVAL),
    ]
    old = World(schedule("a", every(60), ONCE, retention_seconds=600.0), at("2026-03-10T10:00"))
    assert [skip.last_at for skip in old.look("2026-03-10T10:40:30").skips] == [
        at("2026-03-10T10:30"),
        at("2026-03-10T10:38"),
    ], "and nothing that is longer ago than retention"


def test_too_many_for_one_look_are_planned_by_the_next_ones() -> None:
    world = World(schedule("a", every(1), misfire(MisfirePolicy.SKIP, after=3_600.0)), at("2026-03-10T10:00"))
    plan = world.look("2026-03-10T10:20")
    assert (len(plan.occurrences), plan.look_at) == (MOST, world.now)
    while world.plan.look_at == world.now:
        world.look(world.now)
    assert len(world.rows) == 20 * 60 + AHEAD.total_seconds()


def test_what_cannot_be_computed_is_parked_and_decided_from_where_it_stood() -> None:
    world = World(schedule("a", HOUR, EACH), at("2026-03-10T09:30"))
    world.look("2026-03-10T09:30")
    world.schedule = replace(world.schedule, rhythm=cron("0 * * * *", "Mars/Olympus"))
    plan = world.look("2026-03-10T09:40")
    assert plan.parked is not None
    assert "Mars/Olympus" in plan.parked
    assert (plan.look_at, plan.take_back, world.rows) == (None, True, {}), "what is not due yet does not run"
    world.schedule = replace(world.schedule, rhythm=HOUR)
    plan = world.look("2026-03-10T12:30")
    assert plan.parked is None
    assert sorted(world.rows) == [at(f"2026-03-10T{hour}:00") for hour in (11, 12, 13)], "it was down meanwhile"
    assert [(skip.first_at, skip.count) for skip in world.skips] == [(at("2026-03-10T10:00"), 1)]


def test_whatever_a_rule_raises_parks_that_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("seventeen")

    world = World(schedule("a", HOUR), at("2026-03-10T09:30"))
    monkeypatch.setattr(rhythms, "between", broken)
    plan = world.look("2026-03-10T09:31")
    assert (
        plan.parked == "Its rhythm raised ZeroDivisionError, which is a fault of the program; the Worker's log has it."
    )
    assert isinstance(plan.fault, ZeroDivisionError)
    assert (plan.planned_until, plan.take_back) == (at("2026-03-10T09:30"), False)


def test_a_manual_schedule_has_nothing_to_plan() -> None:
    world = World(schedule("a", None), at("2026-03-10T09:30"))
    plan = world.look("2026-03-10T09:40")
    assert (plan.next_at, plan.look_at, plan.occurrences, plan.parked) == (None, None, (), None)


@settings(max_examples=60, deadline=None)
@given(
    rhythm=st.one_of(
        st.builds(
            every,
            st.integers(1, 10_000_000),
            st.datetimes(at("2000-01-01").replace(tzinfo=None)).map(
                lambda each: each.replace(tzinfo=at("2000-01-01").tzinfo)
            ),
        ),
        st.builds(
            cron,
            st.sampled_from(["* * * * *", "*/5 1-3,7 1 jan mon-fri"]),
            st.sampled_from(["UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+3"]),
            st.sampled_from(Skipped),
            st.sampled_from(Repeated),
        ),
    )
)
def test_a_kept_definition_names_its_rhythm(rhythm: Rhythm) -> None:
    assert rhythm_of(definition(schedule("a", rhythm), TZDATA)) == rhythm


def test_a_definition_that_is_not_read_names_none() -> None:
    for text in ("", "manual", "every 60", "cron * * * * * in UTC, never, first; missed after 60 s"):
        assert rhythm_of(text) is None
