"""Owns the wire models of schedules: what a job record says, where its rhythm stands, its next instants."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field

from jobcontract.session import Person
from jobcontract.states import (
    ClockChange,
    MisfirePolicy,
    Moves,
    OccurrenceState,
    Repeated,
    ScheduleStanding,
    ScheduleType,
    Skipped,
    SkipPolicy,
)
from jobcontract.wire import Answer, WallTime

NEXT_MOST = 100
"""Most instants of one look ahead."""
RECENT = 30
"""How many of the last occurrences a schedule shows."""


class Rhythm(Answer):
    """When a schedule runs: `every` with its anchor, or `cron` with its zone and what changes of the clock do."""

    words: str
    """In words: `daily at 01:30, Europe/London`."""
    every: Annotated[int, Field(ge=1)] | None
    """Seconds."""
    anchor: AwareDatetime | None
    cron: str | None
    zone: str
    reason: str | None
    """The business-local need, where the zone is not UTC."""
    skipped: Skipped | None
    repeated: Repeated | None


class Misfire(Answer):
    """What becomes of missed instants: those not started `after` seconds past their time."""

    policy: MisfirePolicy
    after: Annotated[float, Field(ge=0)]
    newest: Annotated[int, Field(ge=1)] | None
    """With each-interval: how many run at most."""
    words: str


class Planned(Answer):
    """An instant of a rhythm, or a local time that has none by the policy (`runs` false)."""

    at: AwareDatetime
    """UTC. Of a local time that the clock leaves out: the instant where the gap ends."""
    local: WallTime | None
    """On the wall clock of the zone."""
    offset: int | None
    """Seconds east of UTC there and then."""
    abbreviation: str | None
    """Of the zone there and then: `BST`."""
    clock: ClockChange | None
    runs: bool
    words: str
    """What a change of the clock does to it; empty where nothing."""


class Disabled(Answer):
    """Who switched a schedule off, and why; `until` None: until somebody switches it on."""

    at: AwareDatetime
    until: AwareDatetime | None
    by: Person
    reason: str


class RunGuard(Answer):
    """Who may run a manual schedule, when and where."""

    permission: str
    """What whoever runs it must have."""
    windows: str
    """When, in words and in UTC: `Mon to Fri 08:00 to 18:00 UTC`; `at any time`."""
    where: tuple[str, ...]
    """Names of the deployments that may run it; empty: every one."""


class Recent(Answer):
    """One of the last occurrences of a schedule, for the strip: newest last."""

    id: str
    scheduled_at: AwareDatetime
    state: OccurrenceState
    attempts: int


class Schedule(Answer):
    """A schedule in one tenant: its record, and where it stands."""

    id: str
    title: str
    tenant: str
    type: ScheduleType
    rhythm: Rhythm | None
    """None of a manual one."""
    misfire: Misfire | None
    guard: RunGuard | None = None
    """Of a manual one."""
    runs: str
    """Id of the use case."""
    runs_title: str
    moves: Moves = Moves.NOTHING
    selection: str
    """In words."""
    batch_size: int
    batch_path: bool
    lock: str
    """It never runs together with another of the same lock."""
    bound: float
    """Seconds that one attempt may take."""
    attempts: int
    backoff_first: float
    """Seconds before the second attempt; doubled each time."""
    backoff_most: float
    cursor: str | None
    position: str | None
    """Where the cursor stands."""
    retention: float
    """Seconds that an occurrence is kept."""
    standing: ScheduleStanding
    standing_words: str
    """A sentence: late by how much, parked why, running since when."""
    next_at: AwareDatetime | None
    """The next instant of its rhythm; None of a manual or parked one, and of one that never runs again."""
    disabled: Disabled | None
    waiting: int
    """Occurrences that are due and have not started, counted to 1,000."""
    dead: int
    """Dead letters that are kept, counted to 1,000."""
    last_scheduled_at: AwareDatetime | None
    last_started_at: AwareDatetime | None
    last_completed_at: AwareDatetime | None
    recent: tuple[Recent, ...]
    version: int


class Schedules(Answer):
    """A page of the schedules of a tenant, by id, and how many stand how over all pages."""

    schedules: tuple[Schedule, ...]
    next: str | None
    total: int
    late: int
    parked: int
    disabled: int
    now: AwareDatetime
    """The database's clock."""


class SkippedInstants(Answer):
    """Neighbouring instants that never ran, for one cause."""

    first_at: AwareDatetime
    last_at: AwareDatetime
    count: int
    policy: SkipPolicy
    cause: str
    local: WallTime | None
    merged_into: AwareDatetime | None
    """The instant that ran in their place."""
    zone: str
    decided_at: AwareDatetime


class ScheduleDetail(Answer):
    """A schedule with its next instants and what was skipped last."""

    schedule: Schedule
    next: tuple[Planned, ...]
    """The next five."""
    next_words: str
    """Why there are none, or no more; empty where there is nothing to say."""
    tzdata: str
    """Version of the time zone database."""
    skipped: tuple[SkippedInstants, ...]
    """The newest twenty."""
    now: AwareDatetime


class NextInstants(Answer):
    """What a rhythm does after an instant."""

    schedule: str
    rhythm: Rhythm | None
    zone: str
    tzdata: str
    """Version of the time zone database."""
    after: AwareDatetime
    """They are all later than this."""
    instants: tuple[Planned, ...]
    words: str
    """Why there are none, or fewer than asked for; empty where there is nothing to say."""
    now: AwareDatetime
