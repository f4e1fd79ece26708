"""The clock simulator: what it says is what the planner does, instant by instant; its bounds; the hand's vectors."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.operating import Fate
from jobcontract.states import ClockChange, MisfirePolicy, OccurrenceOrigin, Repeated, Skipped, SkipPolicy
from jobservice.rules import rhythms
from jobservice.rules.misfires import TICK
from jobservice.rules.rhythms import Cron, Rhythm
from jobservice.rules.schedules import Misfire
from jobservice.rules.simulation import Course, Downtime, Way, course, differences, together, words
from tests.rules.planned_world import CLOCK, World, spread
from tests.schedules import DAY, EACH, ONCE, SKIP, at, cron, every, misfire, schedule

VECTORS = json.loads((Path(__file__).parent / "time-vectors-hand.json").read_text("utf-8"))
TRANSITIONS = pytest.mark.requirement("test-time-transitions")
RHYTHMS = [
    every(3_600),
    every(70),
    cron("*/20 * * * *", "Europe/London", Skipped.SKIP, Repeated.BOTH),
    cron("30 0,1,2 * * *", "Europe/London", Skipped.RUN_AT_GAP_END, Repeated.SECOND),
    cron("15 1 * * *", "Europe/London", Skipped.SKIP, Repeated.FIRST),
]
POLICIES = [SKIP, ONCE, EACH, misfire(MisfirePolicy.EACH_INTERVAL, after=900.0, newest=7)]
Fated = tuple[Fate, datetime | None, datetime | None]
"""What becomes of an instant: its fate, when it starts, what it is merged into."""


def way(rhythm: Rhythm, policy: Misfire = SKIP, kept: float = 30 * DAY) -> Way:
    """A rhythm with its policy."""
    return Way(rhythm=rhythm, misfire=policy, kept_seconds=kept)


def down(since: str, until: str) -> Downtime:
    """A downtime."""
    return Downtime(since=at(since), until=at(until))


def fates(found: Course) -> dict[datetime, Fated]:
    """What a course says of each instant of the rhythm."""
    rows = [row for row in found.rows if row.fate not in (Fate.GAP, Fate.REPEAT_LEFT)]
    assert all(row.count == 1 for row in rows)
    assert len({row.at for row in rows}) == len(rows)
    return {row.at: (row.fate, row.runs_at, row.merged_into) for row in rows}


@dataclass
class Played:
    """The planner's looks and the claims, one after the other: what runs is claimed as it falls due."""

    world: World
    starts: dict[datetime, datetime] = field(default_factory=dict)

    def works(self, start: datetime, end: datetime) -> None:
        """Every look and claim from `start` on, before `end`."""
        world, now = self.world, start
        while now < end:
            self._step(now)
            while world.plan.look_at == now:
                self._step(now)
            due = [each for each, row in world.rows.items() if not row.started and each > now]
            now = min([end, *due, *([] if world.plan.look_at is None else [world.plan.look_at])])

    def _step(self, now: datetime) -> None:
        self.world.look(now)
        before = len(self.world.started)
        self.world.claim(now)
        self.starts.update(dict.fromkeys(self.world.started[before:], now))

    def stops(self, since: datetime) -> None:
        """Switched off at that instant; the next look is the one that it is enabled for."""
        self.world.now = since
        self.world.disable()
        self.world.standing = replace(self.world.standing, disabled=False)

    def fates(self, rhythm: Rhythm, until: datetime) -> dict[datetime, Fated]:
        """What became of each instant before `until`."""
        found: dict[datetime, Fated] = {}
        for instant, row in self.world.rows.items():
            if instant < until and row.started:
                fate = Fate.MADE_UP if row.origin is OccurrenceOrigin.MADE_UP else Fate.FIRES
                found[instant] = (fate, self.starts[instant], None)
        for skip in self.world.skips:
            if skip.policy not in CLOCK:
                fate = Fate.SKIPPED if skip.merged_into is None else Fate.MERGED
                found |= {each: (fate, None, skip.merged_into) for each in spread(skip, rhythm)}
        return found

    def left(self, until: datetime) -> set[tuple[datetime, Fate]]:
        """Local times that did not run by the policy."""
        told = {SkipPolicy.SKIPPED_HOUR: Fate.GAP, SkipPolicy.REPEATED_HOUR: Fate.REPEAT_LEFT}
        skips = [each for each in self.world.skips if each.policy in CLOCK and each.first_at < until]
        return {(each.first_at, told[each.policy]) for each in skips}


@pytest.mark.requirement("define-misfire-recovery", "define-business-local-clock-behavior", "test-time-transitions")
@settings(max_examples=60, deadline=None)
@given(
    rhythm=st.sampled_from(RHYTHMS),
    policy=st.sampled_from(POLICIES),
    begins=st.sampled_from(["2026-03-28T20:10:07", "2026-10-24T20:10:00", "2026-06-01T00:00:00"]),
    steps=st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 30_000)), max_size=4),
    kept=st.sampled_from([30 * DAY, 7_200.0]),
    off=st.booleans(),
)
def test_the_simulator_never_disagrees_with_the_planner(
    rhythm: Rhythm, policy: Misfire, begins: str, steps: list[tuple[int, int]], kept: float, off: bool
) -> None:
    since = now = at(begins)
    downtimes = []
    for up, away in steps:
        downtimes.append(Downtime(since=now + timedelta(seconds=up), until=now + timedelta(seconds=up + away)))
        now = downtimes[-1].until
    until = now + timedelta(hours=3)
    apart = together(downtimes)
    found = course(way(rhythm, policy, kept), since, until, apart, most=5_000)
    assert found.whole
    played = Played(World(schedule("a", rhythm, policy, retention_seconds=kept), since - TICK))
    played.world.look(since - TICK)
    free = since
    for each in apart:
        played.works(free, each.since)
        if off:
            played.stops(each.since)
        free = each.until
    played.works(free, until)
    played.world.look(until)
    assert fates(found) == played.fates(rhythm, until)
    shown = {(row.at, row.fate) for row in found.rows if row.fate in (Fate.GAP, Fate.REPEAT_LEFT)}
    assert shown == played.left(until)
    # What is told as runs of neighbours counts the same.
    brief = course(way(rhythm, policy, kept), since, until, apart, most=1)
    assert brief.counts == found.counts
    assert sum(found.counts.values()) == len(found.rows)


@TRANSITIONS
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_the_vectors_of_the_hand_are_simulated_by_each_policy(vector: Any) -> None:
    start, end = (datetime.fromisoformat(vector[each].replace("Z", "+00:00")) for each in ("before", "after"))
    policies = (
        [
            (Skipped.SKIP, Repeated.FIRST, "skip"),
            (Skipped.RUN_AT_GAP_END, Repeated.FIRST, "gap_end"),
            (Skipped.SHIFT, Repeated.FIRST, "shift_by_gap"),
        ]
        if vector["kind"] == "gap"
        else [
            (Skipped.SKIP, Repeated.FIRST, "first"),
            (Skipped.SKIP, Repeated.SECOND, "second"),
            (Skipped.SKIP, Repeated.BOTH, "both"),
        ]
    )
    for skipped, repeated, key in policies:
        rhythm = Cron(expression=vector["cron"], zone=vector["zone"], skipped=skipped, repeated=repeated)
        found = course(way(rhythm), start, end + TICK, ())
        ran = [row.at for row in found.rows if row.fate is Fate.FIRES]
        assert ran == [start, *(datetime.fromisoformat(each.replace("Z", "+00:00")) for each in vector[key]), end]
        lefts = [row for row in found.rows if row.fate is not Fate.FIRES]
        if key in ("skip", "first", "second"):
            (left,) = lefts
            assert left.fate is (Fate.GAP if key == "skip" else Fate.REPEAT_LEFT)
            assert left.words.endswith("does not run.") or "it does not run at" in left.words
        else:
            assert not lefts
            marked = [row for row in found.rows if row.clock is not None]
            assert marked
            assert all(row.words for row in marked)


@pytest.mark.requirement("define-misfire-recovery")
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (SKIP, [Fate.SKIPPED, Fate.SKIPPED, Fate.SKIPPED, Fate.FIRES]),
        (ONCE, [Fate.MERGED, Fate.MERGED, Fate.MADE_UP, Fate.FIRES]),
        (EACH, [Fate.SKIPPED, Fate.MADE_UP, Fate.MADE_UP, Fate.FIRES]),
    ],
    ids=["skip", "once", "each-interval"],
)
def test_a_missed_night_by_each_policy(policy: Misfire, expected: list[Fate]) -> None:
    """Down from 01:30 to 04:59:30, hourly, missed after a minute: 02:00 to 04:00 are missed, 05:00 runs."""
    found = course(
        way(every(3_600), policy),
        at("2026-06-01T02:00"),
        at("2026-06-01T06:00"),
        (down("2026-06-01T02:00", "2026-06-01T04:59:30"),),
    )
    assert [row.fate for row in found.rows] == expected
    assert {row.runs_at for row in found.rows if row.fate is Fate.MADE_UP} <= {at("2026-06-01T04:59:30")}
    assert {row.merged_into for row in found.rows if row.fate is Fate.MERGED} <= {at("2026-06-01T04:00")}


def test_what_is_late_and_not_missed_yet_starts_when_work_goes_on() -> None:
    found = course(
        way(every(3_600)),
        at("2026-06-01T02:00"),
        at("2026-06-01T03:00"),
        (down("2026-06-01T02:00", "2026-06-01T02:00:59"),),
    )
    (row,) = found.rows
    assert (row.fate, row.runs_at) == (Fate.FIRES, at("2026-06-01T02:00:59"))
    assert row.words == "Late, and not missed yet: starts when work goes on."


def test_the_difference_that_an_edit_makes_is_named() -> None:
    stretch = at("2026-06-01T02:00"), at("2026-06-01T06:00"), (down("2026-06-01T02:00", "2026-06-01T04:59:30"),)
    current, edited = course(way(every(3_600), SKIP), *stretch), course(way(every(3_600), ONCE), *stretch)
    differ = differences(current, edited)
    assert differ == tuple(at(f"2026-06-01T0{hour}:00") for hour in (2, 3, 4))
    assert words(current, edited, len(differ)) == (
        "By the edit 1 is made up for, 2 are merged and none is skipped (by the record 3 are skipped)."
    )
    assert words(edited, current, 3) == (
        "By the edit 3 are skipped, none is made up for and none is merged (by the record 1 is made up for and 2 are merged)."
    )
    nothing = Course(rows=(), counts={}, whole=True)
    skipped = Course(rows=(), counts={Fate.SKIPPED: 3}, whole=True)
    assert words(nothing, skipped, 3) == "By the edit 3 are skipped (by the record none)."
    assert words(skipped, nothing, 3) == "By the edit none is skipped (by the record 3 are skipped)."
    assert differences(current, current) == ()
    assert "changes nothing" in words(current, current, 0)
    later = course(way(every(3_600, at("2026-06-01T00:30")), SKIP), at("2026-06-01T02:00"), at("2026-06-01T06:00"), ())
    plain = course(way(every(3_600), SKIP), at("2026-06-01T02:00"), at("2026-06-01T06:00"), ())
    assert "at other times" in words(plain, later, len(differences(plain, later)))


@pytest.mark.requirement("define-misfire-recovery", "define-business-local-clock-behavior")
@pytest.mark.parametrize(
    "rhythm",
    [
        every(1),
        cron("* * * * *", "Europe/London", Skipped.SKIP, Repeated.BOTH),
        cron("0 0 29 2 1", "Africa/Casablanca"),
    ],
    ids=["seconds", "minutes", "rare"],
)
def test_ten_years_are_counted_and_not_walked_through(rhythm: Rhythm) -> None:
    since = datetime(2026, 1, 1, tzinfo=UTC)
    until = since + timedelta(days=3_700)
    away = [
        Downtime(since=since + timedelta(days=100 * n), until=since + timedelta(days=100 * n + 90)) for n in range(20)
    ]
    policy = misfire(MisfirePolicy.EACH_INTERVAL, newest=1_000)
    began = time.process_time()
    found = course(way(rhythm, policy), since, until, away)
    assert time.process_time() - began < 1.0, "a whole course is bounded, whatever the rhythm"
    fires = [fate for fate in found.counts if fate in (Fate.FIRES, Fate.MADE_UP, Fate.SKIPPED)]
    assert sum(found.counts[each] for each in fires) == rhythms.count(rhythm, since - TICK, until - TICK)
    assert len(found.rows) <= 500


def test_an_instant_that_the_clock_moves_is_marked() -> None:
    moved = course(
        way(cron("30 1 * * *", "Europe/London", Skipped.SHIFT, Repeated.FIRST)),
        at("2026-03-29T00:00"),
        at("2026-03-30T00:00"),
        (),
    )
    assert [row.clock for row in moved.rows] == [ClockChange.SHIFTED]
    assert [row.abbreviation for row in moved.rows] == ["BST"]
