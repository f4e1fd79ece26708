"""Owns what to plan for one schedule in one tenant: which occurrences, which skips, what is taken back, when to look again.
Pure; the clock is handed in. Computes no instant (`rules/rhythms.py`) and decides no misfire (`rules/misfires.py`).

Instants are planned ahead, so that what is due in the same minute is not also planned in it. What was decided up to
`planned_until` is decided; a changed definition replaces what is not due yet, and nothing that was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jobcontract.states import ClockChange, MisfirePolicy, OccurrenceOrigin, Repeated, Skipped, SkipPolicy
from jobservice.rules import misfires, rhythms
from jobservice.rules.misfires import TICK, Skip, Stretch, Waiting
from jobservice.rules.rhythms import CannotCompute, Cron, Every, Instant, Rhythm
from jobservice.rules.schedules import Misfire, Schedule

AHEAD = timedelta(seconds=90)
"""How far ahead a look plans, and at least the next instant."""
MARGIN = timedelta(seconds=45)
"""The next look comes so long before the first instant that is not planned: a planner may be away for that long."""
SETTLE = timedelta(seconds=30)
"""After an instant the next one is planned so much later: not while everything that is due then starts."""
MOST = 500
"""Most occurrences of one look at one schedule; the rest comes with the next look, at once."""
LEFT_MOST = 5_000
"""Instants of a stretch that nobody planned which are walked through for local times that the clock left out."""

_MANUAL = "manual"
_RHYTHM = re.compile(
    r"(?:every (?P<seconds>\d+) from (?P<anchor>\S+)"
    r"|cron (?P<expression>.+) in (?P<zone>\S+), (?P<skipped>\S+), (?P<repeated>\S+)); missed after (?P<after>\S+) s;"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a schedule stands in a tenant, as its row says."""

    definition: str
    planned_until: datetime
    floor_at: datetime | None = None
    disabled: bool = False
    """Now; one whose time is over is not."""
    disabled_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """An occurrence to be written; `miss_at` None where it was made up for."""

    at: datetime
    local: datetime | None
    clock: ClockChange | None
    origin: OccurrenceOrigin
    miss_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one look at a schedule changes."""

    definition: str
    planned_until: datetime
    next_at: datetime | None = None
    look_at: datetime | None = None
    """When to look again; None: only when something changes."""
    parked: str | None = None
    """Why it cannot be computed, a sentence for people."""
    fault: BaseException | None = None
    """What a rule raised that is no `CannotCompute`: for the log."""
    take_back: bool = False
    """Untouched occurrences and clock skips later than now go."""
    hold: bool = False
    """Untouched occurrences that are due start no more: they count as missed until the schedule is enabled."""
    occurrences: tuple[New, ...] = ()
    skips: tuple[Skip, ...] = ()
    made_up: tuple[datetime, ...] = ()
    dropped: tuple[datetime, ...] = ()
    restored: tuple[tuple[datetime, datetime], ...] = ()
    """Rows that were held and are not missed yet after all, and when they will be."""


def definition(schedule: Schedule, tzdata: str) -> str:
    """What decides what is planned, as one text: an equal one is no change (case TIME-08).

    A new version of the time zone database is one for whatever runs by a wall clock.
    """
    if schedule.rhythm is None or schedule.misfire is None:
        return _MANUAL
    text = f"{schedule.definition()}; missed after {schedule.misfire.after_seconds:g} s; alone as {schedule.lock}"
    return f"{text}; tzdata {tzdata}" if isinstance(schedule.rhythm, Cron) else text


def rhythm_of(text: str) -> Rhythm | None:
    """The rhythm that a kept definition names; None of a manual one, and of one that this version does not read."""
    found = _RHYTHM.match(text)
    if found is None:
        return None
    try:
        if found["seconds"] is not None:
            return Every(seconds=int(found["seconds"]), anchor=datetime.fromisoformat(found["anchor"]))
        return Cron(
            expression=found["expression"],
            zone=found["zone"],
            skipped=Skipped(found["skipped"]),
            repeated=Repeated(found["repeated"]),
        )
    except ValueError:
        return None


def _misfire_of(text: str) -> Misfire | None:
    """What a schedule of that kept definition does with what it missed once nothing runs it by itself: it skips."""
    found = _RHYTHM.match(text)
    try:
        return (
            None
            if found is None
            else Misfire(policy=MisfirePolicy.SKIP, after_seconds=float(found["after"]), newest=None)
        )
    except ValueError:
        return None


def plan(schedule: Schedule, standing: Standing, waiting: Sequence[Waiting], now: datetime, tzdata: str) -> Plan:
    """What to plan, take back and skip. Never raises: what cannot be computed is parked, and decided from where it
    stood once it can be."""
    if standing.disabled:
        return Plan(
            definition=standing.definition,
            planned_until=min(standing.planned_until, now),
            look_at=standing.disabled_until,
            take_back=True,
            hold=True,
        )
    look = _Look(schedule=schedule, standing=standing, waiting=tuple(waiting), now=now, tzdata=tzdata)
    try:
        return (
            look.change()
            if look.changed
            else look.go_on(Plan(definition=standing.definition, planned_until=standing.planned_until))
        )
    except Exception as error:  # a rule that raises parks its own schedule and no other
        kept = Plan(definition=standing.definition, planned_until=standing.planned_until)
        return _parked(kept, error)


def _parked(plan: Plan, error: Exception) -> Plan:
    if isinstance(error, CannotCompute):
        return replace(plan, parked=str(error))
    sentence = f"Its rhythm raised {type(error).__name__}, which is a fault of the program; the Worker's log has it."
    return replace(plan, parked=sentence, fault=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """One look at one schedule."""

    schedule: Schedule
    standing: Standing
    waiting: tuple[Waiting, ...]
    now: datetime
    tzdata: str

    @property
    def changed(self) -> bool:
        return self.standing.definition != definition(self.schedule, self.tzdata)

    def change(self) -> Plan:
        """Another definition: what was due by the old one stays due, what is not due yet is planned anew."""
        old = rhythm_of(self.standing.definition) or self.schedule.rhythm
        before = Plan(
            definition=self.standing.definition,
            planned_until=min(self.standing.planned_until, self.now),
            take_back=True,
        )
        if old is not None and self.standing.definition != _MANUAL:
            before = self._until(self._rhythm_of_then(old), before, self.now)
        if before.planned_until < self.now and before.look_at is not None:
            return before
        moved = replace(before, definition=definition(self.schedule, self.tzdata), planned_until=self.now)
        try:
            return self.go_on(moved, settled=True)
        except Exception as error:  # the old one is settled, whatever the new one does
            return _parked(moved, error)

    def _rhythm_of_then(self, old: Rhythm) -> Rhythm:
        """The old rhythm; the new one where the old one cannot be computed any more."""
        try:
            rhythms.next_instant(old, self.now)
        except CannotCompute:
            return self.schedule.rhythm or old
        return old

    def go_on(self, plan: Plan, *, settled: bool = False) -> Plan:
        """`plan` with what the schedule's rhythm gives up to now and ahead of it; `settled`: the waiting rows are."""
        rhythm = self.schedule.rhythm
        if rhythm is None:
            return plan if settled else self._by_hand(plan)
        following = rhythms.next_instant(rhythm, self.now)
        until = self.now + AHEAD
        if following is not None:
            until = max(until, following.at)
        plan = self._until(rhythm, plan, until, settled=settled)
        if plan.look_at is not None:
            return plan
        if following is None:
            return replace(plan, next_at=None)
        unplanned = rhythms.next_instant(rhythm, plan.planned_until)
        look_at = following.at + SETTLE
        if unplanned is not None:
            look_at = min(look_at, unplanned.at - MARGIN)
        return replace(plan, next_at=following.at, look_at=max(look_at, self.now + TICK))

    def _by_hand(self, plan: Plan) -> Plan:
        """`plan` without what an earlier rhythm left that nobody started in time: no policy runs it any more."""
        missed = tuple(sorted(each.at for each in self.waiting if each.missed))
        cause = "Not started in time, and by now a person starts the schedule: what is missed is skipped."
        skips = (Skip(first_at=at, last_at=at, count=1, policy=SkipPolicy.MISFIRE_SKIP, cause=cause) for at in missed)
        return replace(plan, dropped=(*plan.dropped, *missed), skips=(*plan.skips, *skips))

    def _until(self, rhythm: Rhythm, plan: Plan, until: datetime, *, settled: bool = False) -> Plan:
        """`plan` with every instant of `rhythm` decided up to `until`; look again at once where there are too many."""
        misfire = self.schedule.misfire or _misfire_of(self.standing.definition)
        if misfire is None:
            return plan
        after = timedelta(seconds=misfire.after_seconds)
        floor = self.now - timedelta(seconds=self.schedule.retention_seconds)
        if self.standing.floor_at is not None:
            floor = max(floor, self.standing.floor_at)
        start = plan.planned_until
        missed = Stretch(after=start, until=max(min(self.now - after, until), start))
        waiting = () if settled else self.waiting
        early = {each.at for each in waiting if not each.made_up and each.at + after > self.now}
        rows = [each for each in waiting if each.at not in early]
        decided = misfires.decide(
            misfire, rhythm, rows, missed, floor=floor, kept_seconds=self.schedule.retention_seconds
        )
        found = rhythms.between(rhythm, missed.until, max(until, missed.until), most=MOST)
        skips = (*decided.skips, *self._left(rhythm, max(missed.after, floor), missed.until))
        skips += misfires.left_out(found.left, _zone(rhythm))
        made = [_new(each, OccurrenceOrigin.MADE_UP, None) for each in decided.fresh]
        made += [_new(each, OccurrenceOrigin.PLANNED, each.at + after) for each in found.instants]
        return replace(
            plan,
            planned_until=max(found.until, plan.planned_until),
            look_at=None if found.whole else self.now,
            occurrences=(*plan.occurrences, *made),
            skips=(*plan.skips, *skips),
            made_up=(*plan.made_up, *decided.made_up),
            dropped=(*plan.dropped, *decided.dropped),
            restored=(*plan.restored, *((at, at + after) for at in sorted(early))),
        )

    def _left(self, rhythm: Rhythm, after: datetime, until: datetime) -> tuple[Skip, ...]:
        """Local times of a missed stretch that would not have run anyway."""
        if isinstance(rhythm, Every) or until <= after or rhythms.count(rhythm, after, until) > LEFT_MOST:
            return ()
        return misfires.left_out(rhythms.between(rhythm, after, until, most=LEFT_MOST).left, rhythm.zone)


def _new(instant: Instant, origin: OccurrenceOrigin, miss_at: datetime | None) -> New:
    return New(at=instant.at, local=instant.local, clock=instant.clock, origin=origin, miss_at=miss_at)


def _zone(rhythm: Rhythm) -> str:
    return rhythm.zone if isinstance(rhythm, Cron) else "UTC"
