"""Owns the statements of a Worker's leases on occurrences: finding, claiming, renewing, settling, handing back.

They go over all tenants, each row under its own; what is in a run is `occurrence_items.py`. Decides nothing. Every write
under a lease compares holder and fence; one that finds nothing is late, and says so in `jobs.refused_completions`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.store.database import Row, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOccurrence:
    """An occurrence that was claimed: one attempt of it is this Worker's, under `fence`."""

    id: UUID
    tenant: str
    schedule: str
    scheduled_at: datetime
    """UTC."""
    attempts: int
    """With this one."""
    fence: int
    position: str | None
    """Key of the last item that an earlier attempt selected."""
    selected_all: bool
    done: int
    refused: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """What this Worker's records run here: schedules of every tenant, and pairs (tenant, schedule) of some."""

    everywhere: tuple[str, ...]
    somewhere: tuple[tuple[str, str], ...] = ()

    def parameters(self) -> dict[str, object]:
        """As the statements take it."""
        return {
            "everywhere": list(self.everywhere),
            "somewhere": [f"{tenant} {schedule}" for tenant, schedule in self.somewhere],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What of one tenant could start now: how many (at least), since when the first was due."""

    tenant: str
    count: int
    oldest: datetime
    """When the first of them was due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look saw. `next_in`: seconds until something is due or a lease runs out; None: nothing is known."""

    now: datetime
    waiting: tuple[Waiting, ...]
    """The tenant that waits longest first."""
    next_in: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapsed:
    """A lease that ran out, its row locked. `losses`: attempts that ended so, with this one; `host`: for people."""

    id: UUID
    tenant: str
    schedule: str
    fence: int
    attempts: int
    losses: int
    host: str | None
    cancel_reason: str | None
    """Why a person asked to cancel it; None where nobody did."""
    error: str | None
    """Of the attempt before."""
    since: float
    """Seconds since it ran out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What becomes of a lease that ran out: claimed anew (`cause` None), or a dead letter with its sentence."""

    id: UUID
    fence: int
    cause: DeadCause | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """How an attempt ended, and what the occurrence is to be from now on; the counts are its whole ones."""

    id: UUID
    tenant: str
    fence: int
    ending: AttemptEnding
    state: OccurrenceState
    cause: DeadCause | None = None
    error: str | None = None
    retry_after: float | None = None
    """Seconds until the next attempt; of a scheduled one."""
    done: int = 0
    refused: int = 0
    failed: int = 0
    unfinished: int = 0
    position: str | None = None
    selected_all: bool = False
    began_after: float | None = None
    """Seconds from the claim to the first line of the attempt; None: it did not begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """An occurrence that was written. `next_due`: since when the next of its lock waits, where one does."""

    id: UUID
    tenant: str
    schedule: str
    next_due: datetime | None
