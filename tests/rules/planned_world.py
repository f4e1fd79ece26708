"""Owns a schedule's row, its occurrences and skips as plain values: what looks of the planner make of them over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from jobcontract.states import OccurrenceOrigin, SkipPolicy
from jobservice.rules import planning, rhythms
from jobservice.rules.misfires import TICK, Skip, Waiting
from jobservice.rules.planning import Plan, Standing, definition
from jobservice.rules.rhythms import Rhythm
from jobservice.rules.schedules import Schedule
from tests.schedules import at

TZDATA = "2026a"
CLOCK = {SkipPolicy.SKIPPED_HOUR, SkipPolicy.REPEATED_HOUR}


@dataclass
class Row:
    """An occurrence as the planner sees it."""

    origin: OccurrenceOrigin
    miss_at: datetime | None
    started: bool = False


@dataclass
class World:
    """A schedule's row, its occurrences and skips, and what a look makes of them; a claim starts what it may."""

    schedule: Schedule
    now: datetime
    rows: dict[datetime, Row] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)
    started: list[datetime] = field(default_factory=list)
    planned: set[datetime] = field(default_factory=set)
    standing: Standing = field(init=False)
    plan: Plan = field(init=False)

    def __post_init__(self) -> None:
        self.standing = Standing(definition=definition(self.schedule, TZDATA), planned_until=self.now)

    def look(self, now: datetime | str) -> Plan:
        """One look of the planner at that time, written down."""
        self.now = at(now) if isinstance(now, str) else now
        self.plan = planning.plan(self.schedule, self.standing, self._waiting(), self.now, TZDATA)
        self._apply(self.plan)
        return self.plan

    def looks(self, until: datetime | str) -> None:
        """Every look that the planner asks for, up to then."""
        end = at(until) if isinstance(until, str) else until
        self.look(self.now)
        while self.plan.look_at is not None and self.plan.look_at <= end:
            self.look(max(self.plan.look_at, self.now))

    def claim(self, now: datetime | str) -> None:
        """Start what is due and not missed."""
        self.now = at(now) if isinstance(now, str) else now
        for instant, row in sorted(self.rows.items()):
            if not row.started and instant <= self.now and (row.miss_at is None or row.miss_at > self.now):
                row.started = True
                row.miss_at = None
                self.started.append(instant)

    def disable(self, until: datetime | None = None) -> None:
        """Disable it, and have the planner look."""
        self.standing = replace(self.standing, disabled=True, disabled_until=until)
        self.look(self.now)

    def enable(self, now: str) -> None:
        """Enable it, and have the planner look."""
        self.standing = replace(self.standing, disabled=False)
        self.look(now)

    def _waiting(self) -> list[Waiting]:
        found = []
        for instant, row in sorted(self.rows.items()):
            missed = row.miss_at is not None and row.miss_at <= self.now
            made_up = row.origin is OccurrenceOrigin.MADE_UP
            if instant <= self.now and not row.started and (missed or made_up):
                found.append(Waiting(at=instant, missed=missed, made_up=made_up))
        return found

    def _apply(self, plan: Plan) -> None:
        if plan.take_back:
            self.rows = {instant: row for instant, row in self.rows.items() if instant <= self.now or row.started}
            self.skips = [skip for skip in self.skips if skip.first_at <= self.now or skip.policy not in CLOCK]
        for instant, row in self.rows.items():
            if plan.hold and instant <= self.now and not row.started:
                row.miss_at = min(row.miss_at or self.now, self.now)
        for instant, miss_at in plan.restored:
            self.rows[instant].miss_at = miss_at
        for instant in plan.made_up:
            self.rows[instant] = Row(OccurrenceOrigin.MADE_UP, None)
        for instant in plan.dropped:
            assert not self.rows.pop(instant).started, "what started is not missed"
        for new in plan.occurrences:
            assert new.at not in self.rows, "one identity, written twice"
            self.rows[new.at] = Row(new.origin, new.miss_at)
            self.planned.add(new.at)
        self.skips += plan.skips
        self.standing = replace(self.standing, definition=plan.definition, planned_until=plan.planned_until)

    def accounted(self, rhythm: Rhythm, after: datetime) -> None:
        """Every instant up to where it is planned is an occurrence or in one run of skips, once."""
        instants = [each.at for each in between(rhythm, after, self.standing.planned_until)]
        skipped = [each for skip in self.skips if skip.policy not in CLOCK for each in spread(skip, rhythm)]
        assert sorted([*self.rows, *skipped]) == instants


def between(rhythm: Rhythm, after: datetime, until: datetime) -> Iterable[rhythms.Instant]:
    """All instants of a stretch."""
    return rhythms.between(rhythm, after, until, most=100_000).instants


def spread(skip: Skip, rhythm: Rhythm) -> list[datetime]:
    """The instants of a run of skips, which are as many as it says."""
    found = [each.at for each in between(rhythm, skip.first_at - TICK, skip.last_at)]
    assert len(found) == skip.count
    return found
