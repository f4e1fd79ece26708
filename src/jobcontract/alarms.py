"""Owns the wire models of alarms: what needs somebody, since when, who has seen it, whether others were told."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.operating import AlarmKind, AlarmTold
from jobcontract.session import Person
from jobcontract.wire import Answer, Note, Wire


class Alarm(Answer):
    """One alarm: open until what it tells of is over; acknowledged by a person meanwhile."""

    id: str
    kind: AlarmKind
    subject: str
    """Id of the schedule, Worker, queue, command or tenant that it is about."""
    schedule: str | None
    """Where it is about a schedule."""
    sentence: str
    count: int
    """How many things it tells of: late occurrences, dead letters."""
    opened_at: AwareDatetime
    seen_at: AwareDatetime
    """When it was found last."""
    cleared_at: AwareDatetime | None
    acknowledged_at: AwareDatetime | None
    acknowledged_by: Person | None
    note: str | None
    told: AlarmTold
    told_at: AwareDatetime | None
    told_words: str | None
    """Why telling failed, without an address's secrets."""
    version: int


class Alarms(Answer):
    """A page of alarms: open ones first, the most urgent first; then cleared ones, the latest first."""

    alarms: tuple[Alarm, ...]
    open: int
    unacknowledged: int
    next: str | None
    now: AwareDatetime


class AcknowledgeOrder(Wire):
    """Say that somebody looks after it, and what they do."""

    note: Note


class AlarmChanged(Answer):
    """An alarm after an order."""

    alarm: Alarm
    again: bool = False
    """Whether somebody looked after it already: person and note are the new ones."""
    now: AwareDatetime
