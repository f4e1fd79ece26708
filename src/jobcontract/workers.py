"""Owns the wire models of Worker processes."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.session import Person
from jobcontract.states import WorkerStanding
from jobcontract.wire import Answer


class Worker(Answer):
    """One start of one Worker process. `processing` counts what it holds in the tenant of who asks."""

    incarnation: str
    host: str
    version: str
    started_at: AwareDatetime
    beat_at: AwareDatetime
    draining_at: AwareDatetime | None
    """Since when it takes nothing new."""
    stopped_at: AwareDatetime | None
    standing: WorkerStanding
    slots: int
    processing: int
    drain_asked_at: AwareDatetime | None = None
    """Since when a person wants it to take nothing new."""
    drain_asked_by: Person | None = None
    drain_reason: str | None = None


class Workers(Answer):
    """The Workers that live, and those that stopped within the last day, the newest first."""

    workers: tuple[Worker, ...]
    now: AwareDatetime
