"""Owns the wire models of occurrences: one run of a schedule at one instant, its attempts, its items, its cancelling."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.session import Person
from jobcontract.states import (
    AttemptEnding,
    ClockChange,
    DeadCause,
    OccurrenceOrigin,
    OccurrenceState,
    OutcomeKind,
)
from jobcontract.wire import Answer, Reason, WallTime, Wire


class ItemCounts(Answer):
    """The items of a run by outcome; `unfinished` were selected and have none so far."""

    done: int
    refused: int
    failed: int
    unfinished: int
    selected_all: bool
    """Whether the selection came to its end."""


class Lease(Answer):
    """Who works on an occurrence now."""

    worker: str
    """The incarnation of the Worker process."""
    host: str
    """For people, never an identity; empty where the Worker is not known any more."""
    fence: int
    taken_at: AwareDatetime
    expires_at: AwareDatetime
    renewals: int


class Attempt(Answer):
    """One attempt that ended."""

    attempt: int
    fence: int
    worker: str
    host: str
    taken_at: AwareDatetime
    started_at: AwareDatetime | None
    expires_at: AwareDatetime
    renewals: int
    ended_at: AwareDatetime
    ending: AttemptEnding
    error: str | None
    replay: int = 0
    """0: of its first course; else the replay that it belongs to."""


class RefusedCompletion(Answer):
    """A write that came under a lease that was not the Worker's any more, and changed nothing."""

    at: AwareDatetime
    worker: str
    host: str
    fence: int
    what: str


class Occurrence(Answer):
    """One planned time of a schedule in one tenant, and what became of it."""

    id: str
    name: str
    """Its identity as a person types it: `statements.nightly@2026-10-26T01:30:00Z`."""
    schedule: str
    tenant: str
    scheduled_at: AwareDatetime
    local: WallTime | None
    zone: str
    clock: ClockChange | None
    clock_policy: str | None
    """What its schedule stated for skipped and for repeated times, `run-at-gap-end, first`; None where its clock has none."""
    tzdata: str
    origin: OccurrenceOrigin
    state: OccurrenceState
    due_at: AwareDatetime
    """When the next attempt may start, of one that is scheduled."""
    attempts: int
    attempts_most: int | None
    """None where the records do not have the schedule any more."""
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None
    lease: Lease | None
    items: ItemCounts
    cause: DeadCause | None
    error: str | None
    """Of the last attempt; says nothing of SQL, secrets or people."""
    cancel_asked_at: AwareDatetime | None
    cancelled_by: Person | None
    """Who asked for it to be cancelled."""
    cancel_reason: str | None
    version: int
    replays: int = 0
    """How often a person had it run again; `attempts` counts from the last of them."""
    discarded_at: AwareDatetime | None = None
    discarded_by: Person | None = None
    discard_reason: str | None = None


class Replay(Answer):
    """One replay of an occurrence: who asked for it, when and why, and how it had ended before."""

    replay: int
    at: AwareDatetime
    person: Person
    reason: str
    recovery: str | None
    """Name of the recovery that it was part of."""
    state_before: OccurrenceState
    cause_before: DeadCause | None
    ended_before: AwareDatetime
    attempts_before: int
    not_done: int
    """Items that ran again."""


class Occurrences(Answer):
    """A page of occurrences, the latest scheduled first."""

    occurrences: tuple[Occurrence, ...]
    next: str | None
    now: AwareDatetime


class OccurrenceItem(Answer):
    """One item of a run; `outcome` is None until it is decided."""

    number: int
    key: str
    label: str
    outcome: OutcomeKind | None
    attempts: int
    try_at: AwareDatetime | None
    sentence: str | None
    ended_at: AwareDatetime | None


class OccurrenceDetail(Answer):
    """An occurrence with its attempts (newest first), refused completions, and the first of its items."""

    occurrence: Occurrence
    attempts: tuple[Attempt, ...]
    refused: tuple[RefusedCompletion, ...]
    items: tuple[OccurrenceItem, ...]
    """Those that failed first, then those without an outcome, then the others, each by number."""
    items_next: str | None
    now: AwareDatetime
    replays: tuple[Replay, ...] = ()
    """The latest first."""


class OccurrenceItems(Answer):
    """A page of the items of a run, in the order of the detail."""

    items: tuple[OccurrenceItem, ...]
    next: str | None
    now: AwareDatetime


class CancelOrder(Wire):
    """Cancel an occurrence: what waits is not started, what runs is stopped."""

    reason: Reason


class OccurrenceChanged(Answer):
    """An occurrence after an order."""

    occurrence: Occurrence
    now: AwareDatetime
