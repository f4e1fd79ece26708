"""Owns the wire models of runbooks: how a schedule is inspected, replayed and disabled, by which interface, and by whom."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.operating import Procedure
from jobcontract.session import Person
from jobcontract.wire import Answer


class Runbook(Answer):
    """One procedure of one schedule, as its record states it."""

    id: str
    title: str
    procedure: Procedure
    route: str
    """Name of the route that performs it (`jobcontract.routes`)."""
    request: str
    """The request in words: `POST /v1/occurrences/{occurrence}/replay`."""
    command: str
    """The headless command that performs it, for this schedule."""
    permission: str
    """What whoever performs it must have."""
    roles: tuple[str, ...]
    steps: tuple[str, ...]
    claimed: str
    """What happens to an occurrence that a Worker has claimed already."""
    refused: str | None
    """Why the person who asks may not perform it; None where they may."""


class Transcript(Answer):
    """One act on the schedule or its occurrences, as the trail has it: what the procedures did before."""

    at: AwareDatetime
    person: Person | None
    action: str
    subject: str
    outcome: str
    sentence: str
    """The reason that was given, or why it was refused."""


class Runbooks(Answer):
    """The procedures of a schedule, and what was done by them, the latest first."""

    schedule: str
    runbooks: tuple[Runbook, ...]
    transcript: tuple[Transcript, ...]
    now: AwareDatetime
