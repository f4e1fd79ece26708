"""Owns the statements that end occurrences unstarted: those that wait and were cancelled, and those that nobody here runs.

Over all tenants, each row under its own and locked first; nobody holds them. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from jobcontract.states import DeadCause
from jobservice.store.database import Transaction
from jobservice.store.occurrence_leases import Runnable


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """An occurrence that waits and is to end unstarted, its row locked. `since`: seconds since it was due."""

    id: UUID
    tenant: str
    schedule: str
    attempts: int
    since: float


async def cancelled_waiting(transaction: Transaction, *, most: int) -> tuple[Stuck, ...]:
    """Lock occurrences that wait and that a person asked to cancel."""
    return tuple(Stuck(**row) for row in await transaction.rows("occurrence_leases/cancelled_waiting", most=most))


async def unknown_waiting(
    transaction: Transaction, runnable: Runnable, *, most: int, unknown_after: float
) -> tuple[Stuck, ...]:
    """Lock occurrences, at most `most` of a tenant, that were made and due `unknown_after` seconds ago and that this Worker's
    records do not run."""
    rows = await transaction.rows(
        "occurrence_leases/unknown_waiting", most=most, unknown_after=unknown_after, **runnable.parameters()
    )
    return tuple(Stuck(**row) for row in rows)


async def end_waiting(
    transaction: Transaction, stuck: Sequence[Stuck], cause: DeadCause, errors: Sequence[str]
) -> frozenset[tuple[str, str]]:
    """End locked occurrences unstarted, each with its sentence; tenants and schedules of those that were ended."""
    rows = await transaction.rows(
        "occurrence_leases/end_waiting",
        ids=[each.id for each in stuck],
        causes=[cause.value] * len(stuck),
        errors=list(errors),
    )
    return frozenset((row["tenant"], row["schedule"]) for row in rows)
