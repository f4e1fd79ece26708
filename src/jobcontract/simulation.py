"""Owns the wire models of the clock simulator: what a schedule does in a stretch of time, as it is and with an edit."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field

from jobcontract.operating import Fate
from jobcontract.states import ClockChange, MisfirePolicy, Repeated, Skipped
from jobcontract.wire import Answer, Key, WallTime, Wire

DOWN_MOST = 20
"""Most stretches of downtime of one simulation."""
INSTANTS_MOST = 500
"""Most rows of a simulated course; the counts are over all of it."""
DAYS_MOST = 3_700
"""Longest stretch, days."""


class Down(Wire):
    """A stretch in which nothing runs: no Worker, or the schedule disabled. `until` is not included."""

    since: AwareDatetime
    until: AwareDatetime


class Edit(Wire):
    """What is to be different; what is not named stays as the record says."""

    cron: Key | None = None
    every: Annotated[int, Field(strict=True, ge=1, le=366 * 86_400)] | None = None
    """Seconds; takes the place of a cron expression, and the other way round."""
    anchor: AwareDatetime | None = None
    zone: Key | None = None
    skipped: Skipped | None = None
    repeated: Repeated | None = None
    misfire: MisfirePolicy | None = None
    misfire_after: Annotated[float, Field(ge=1, le=366 * 86_400)] | None = None
    newest: Annotated[int, Field(strict=True, ge=1, le=10_000)] | None = None


class SimulationOrder(Wire):
    """Which stretch to simulate, with which downtimes, and what to compare with."""

    since: AwareDatetime
    until: AwareDatetime
    down: Annotated[tuple[Down, ...], Field(max_length=DOWN_MOST)] = ()
    edit: Edit | None = None


class SimulatedInstant(Answer):
    """One instant of a course, or a run of neighbours with one fate (`count` over 1)."""

    at: AwareDatetime
    last_at: AwareDatetime
    count: int
    local: WallTime | None
    offset: int | None
    abbreviation: str | None
    clock: ClockChange | None
    fate: Fate
    runs_at: AwareDatetime | None
    """When it starts; None where it does not."""
    merged_into: AwareDatetime | None
    words: str


class FateCount(Answer):
    """How many instants have one fate."""

    fate: Fate
    count: int


class Course(Answer):
    """What happens by one rhythm and policy."""

    rhythm: str
    misfire: str
    instants: tuple[SimulatedInstant, ...]
    counts: tuple[FateCount, ...]
    whole: bool
    """Whether all of it is in `instants`."""


class Simulation(Answer):
    """The course by the record, the course by the edit, and where they differ."""

    schedule: str
    zone: str
    tzdata: str
    since: AwareDatetime
    until: AwareDatetime
    current: Course
    edited: Course | None
    differs: tuple[AwareDatetime, ...]
    """Instants whose fate or start is another by the edit, at most `INSTANTS_MOST`."""
    words: str
    """In a sentence what the edit changes; empty without one."""
    now: AwareDatetime
