"""Owns the statements of the reconciler of jobs: looking for what disagrees, bounded by an index; reading what the engine's
own table says; writing a verdict's line of history, handing over again, ending a run. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from jobcontract.job_states import JobEventKind
from jobservice.store.database import Row, Transaction

FIRST = UUID(int=0)
"""Before every job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A job that may have been left behind."""

    family: str
    job: UUID
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a look at the engine's runs came."""

    status: str = ""
    priority: int = 0
    created_at: int = 0
    handle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRun:
    """A run that the engine would go on with, of a job that is settled, or (`known` False) not there any more."""

    handle: str
    family: str | None
    job: str | None
    tenant: str | None
    known: bool


async def unsettled(
    transaction: Transaction, *, after: UUID, most: int, grace: float
) -> tuple[Sequence[Suspect], UUID | None]:
    """Those of the next `most` unsettled jobs behind `after` whose run disagrees, over all tenants; and the last looked at,
    None where there are no more."""
    rows = await transaction.rows("reconciling_jobs/unsettled", after=after, most=most, grace=grace)
    found = [Suspect(family=row["family"], job=row["job"], tenant=row["tenant"]) for row in rows if row["wrong"]]
    return found, rows[-1]["job"] if rows and rows[-1]["looked"] == most else None


async def unsettled_plans(
    transaction: Transaction, *, after: UUID, most: int, grace: float
) -> tuple[Sequence[Suspect], UUID | None]:
    """As `unsettled`, of the jobs that a plan carries: those that stayed behind their plan."""
    rows = await transaction.rows("reconciling_jobs/unsettled_plans", after=after, most=most, grace=grace)
    found = [Suspect(family=row["family"], job=row["job"], tenant=row["tenant"]) for row in rows if row["wrong"]]
    return found, rows[-1]["job"] if rows and rows[-1]["looked"] == most else None


async def plan_standing(transaction: Transaction, *, family: str, job: str) -> Row | None:
    """How the plan (`plan`, its id) of a locked job stands (`state`, None: it is not there; `accounted`, `reason`), and for
    how many seconds the job showed no life (`quiet`)."""
    return await transaction.row("reconciling_jobs/plan_standing", family=family, job=job)


async def live(
    transaction: Transaction, *, after: Place, most: int, grace: float
) -> tuple[Sequence[LiveRun], Place | None]:
    """Those of the engine's next `most` live runs behind `after` that nothing is to come of; and how far it came,
    None where there are no more."""
    rows = await transaction.rows(
        "reconciling_jobs/live",
        status=after.status,
        priority=after.priority,
        created_at=after.created_at,
        handle=after.handle,
        most=most,
        grace=grace,
    )
    found = [
        LiveRun(handle=row["handle"], family=row["family"], job=row["job"], tenant=row["tenant"], known=row["known"])
        for row in rows
        if row["wrong"]
    ]
    if not rows or rows[-1]["looked"] < most:
        return found, None
    last = rows[-1]
    return found, Place(
        status=last["status"], priority=last["priority"], created_at=last["created_at"], handle=last["handle"]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the engine says of a job's run (None: it knows none), whether its process shows life, and for how many seconds
    the job did not."""

    status: str | None
    alive: bool
    quiet: float


async def standing(transaction: Transaction, *, family: str, job: str) -> Standing | None:
    """That of a locked job of the transaction's tenant."""
    row = await transaction.row("reconciling_jobs/orchestration", family=family, job=job)
    return None if row is None else Standing(**row)


async def note(
    transaction: Transaction,
    *,
    family: str,
    job: str,
    sentence: str,
    kind: JobEventKind = JobEventKind.RECONCILED,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Add a line to a locked job's history that changes nothing else of it."""
    await transaction.run(
        "reconciling_jobs/note",
        family=family,
        job=job,
        kind=kind.value,
        sentence=sentence,
        detail=Jsonb(dict(detail or {})),
    )


async def hand_over(transaction: Transaction, *, family: str, job: str) -> None:
    """Hand a locked, pending job that has no run to the engine, under a new handle."""
    await transaction.run("reconciling_jobs/forget_handle", family=family, job=job)
    await transaction.row("reconciling_jobs/hand_over", family=family, job=job)


async def end_run(transaction: Transaction, handle: str) -> bool:
    """End a run that the engine would go on with; False where it is at its end by now."""
    return await transaction.run("reconciling_jobs/end_run", handle=handle) > 0


async def hint(transaction: Transaction, *, family: str, job: str) -> None:
    """Say that a job of the transaction's tenant changed."""
    await transaction.run("reconciling_jobs/hint", family=family, job=job)
