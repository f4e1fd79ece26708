"""Owns what it takes to say why something does not run now: the facts as values, and how they are told. Pure; judges nothing
(`rules/why.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobcontract.states import DeadCause, OccurrenceState, SkipPolicy
from jobservice.rules.standing import Off, lasting


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lease, on what, until when; `renewed_at` follows from the length of a lease."""

    schedule: str
    scheduled_at: datetime
    worker: str
    host: str
    taken_at: datetime
    expires_at: datetime
    renewed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """That a person asked for something, or holds it still: when, their name, their reason."""

    at: datetime
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class One:
    """The occurrence that is meant."""

    scheduled_at: datetime
    state: OccurrenceState
    due_at: datetime
    miss_at: datetime | None
    attempts: int
    started_at: datetime | None
    ended_at: datetime | None
    cause: DeadCause | None
    error: str | None
    lease: Holder | None
    cancel: Asked | None
    put_away: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The run of skipped instants that covers an instant."""

    policy: SkipPolicy
    cause: str
    first_at: datetime
    last_at: datetime
    count: int
    merged_into: datetime | None
    decided_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """The Workers of the service: live ones that take work, those that drain, those that fell silent; the slots of those that
    take work, and how many occurrences run in all."""

    live: int
    draining: int
    silent: int
    slots: int
    taken: int
    beat_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that the causes are judged by. `one` None: there is no such occurrence; then `instant` may name one that was
    asked for, and `neighbours` the instants of the rhythm around it."""

    now: datetime
    schedule: str
    lock: str
    one: One | None
    instant: datetime | None
    known: bool
    """Whether the records have the schedule."""
    manual: bool
    elsewhere: str
    """Where it runs, if not here; empty if here."""
    attempts: int | None
    planned: bool
    """Whether a Worker has read its record."""
    planned_until: datetime | None
    floor_at: datetime | None
    retired_at: datetime | None
    parked: Asked | None
    off: Off | None
    stop: Asked | None
    holder: Holder | None
    """Who runs another occurrence of the same lock."""
    before: int
    """How many wait before it under the same lock."""
    before_name: str
    skipped: Skipped | None
    processes: Processes
    of_rhythm: bool = True
    """Whether the rhythm has the instant that was asked for."""
    neighbours: tuple[datetime | None, datetime | None] = (None, None)
    next_at: datetime | None = None
    """The next instant of the rhythm."""
    recovery: str = ""
    """The recovery in which it waits for its turn."""

    @property
    def waits(self) -> bool:
        """Whether an occurrence is there that is to start."""
        return self.one is not None and self.one.state is OccurrenceState.SCHEDULED

    @property
    def due(self) -> bool:
        """Whether it could start now, for all that its time says."""
        return self.one is not None and self.waits and self.one.due_at <= self.now

    @property
    def open(self) -> bool:
        """Whether it neither runs nor has ended: what holds back others holds it back, too."""
        return self.one is None or self.waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One fact that a cause rests on."""

    label: str
    value: str
    at: datetime | None = None


Judged = tuple[str, Sequence[Evidence], str | None] | None
"""Sentence, evidence and remedy of a cause that applies; None of one that does not."""


def lease(holder: Holder, now: datetime) -> str:
    """`the lease is held by worker 3f2c (host a7) until 12:04:31 UTC; it renewed 4 s ago`."""
    host = f" (host {holder.host})" if holder.host else ""
    until = clock(holder.expires_at, now)
    return f"the lease is held by worker {holder.worker[:4]}{host} until {until}; it renewed {_ago(holder, now)}"


def _ago(holder: Holder, now: datetime) -> str:
    return f"{lasting(max(now - holder.renewed_at, timedelta()))} ago"


def lease_facts(holder: Holder) -> tuple[Evidence, ...]:
    """The same as evidence."""
    return (
        Evidence(label="worker", value=f"{holder.worker}{f' on {holder.host}' if holder.host else ''}"),
        Evidence(label="taken", value="", at=holder.taken_at),
        Evidence(label="renewed", value="", at=holder.renewed_at),
        Evidence(label="expires", value="", at=holder.expires_at),
    )


def attempt(facts: Facts, number: int) -> str:
    """`2 of 3`."""
    return f"{number:,}" if facts.attempts is None else f"{number:,} of {facts.attempts:,}"


def clock(at: datetime, now: datetime) -> str:
    """`12:04:31` of the same day, else with its date: UTC."""
    return f"{at:%H:%M:%S} UTC" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def said(text: str) -> str:
    """A sentence with its end."""
    return text if text.endswith((".", "?", "!")) else f"{text}."
