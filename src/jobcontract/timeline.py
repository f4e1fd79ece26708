"""Owns the wire models of an incident's timeline: what happened in a stretch of time, over all nouns, in order."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.operating import TimelineKind
from jobcontract.session import Person
from jobcontract.wire import Answer

TIMELINE_DAYS = 31
"""Longest stretch of one timeline."""


class TimelineEntry(Answer):
    """One thing that happened."""

    at: AwareDatetime
    kind: TimelineKind
    subject: str
    """What it happened to, as a person types it."""
    person: Person | None
    """None: the service by itself."""
    sentence: str


class Timeline(Answer):
    """A page of what happened, the earliest first."""

    since: AwareDatetime
    until: AwareDatetime
    entries: tuple[TimelineEntry, ...]
    next: str | None
    now: AwareDatetime
