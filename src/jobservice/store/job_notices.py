"""Owns the statements of notices to requesters: claiming under a lease with a fence, how an attempt ended, and what an
outcome that did not hold means for what its requester was told. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from jobcontract.job_states import JobStatus, NoticeState
from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedNotice:
    """A notice claimed for one attempt, the `attempts`-th, at `now`, under `fence`. `job` is text, instants UTC."""

    id: UUID
    tenant: str
    family: str
    job: str
    outcome: JobStatus
    person: str
    subject: str
    text: str
    made_at: datetime
    attempts: int
    fence: int
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RequesterFacts:
    """What decides whether a requester is told. `cancelled_by`: id of the person who asked to cancel the job."""

    active: bool
    contact: str
    cancelled_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldBefore:
    """A notice of another outcome of the same job."""

    id: UUID
    outcome: JobStatus
    state: NoticeState


async def due(transaction: Transaction) -> bool:
    """Whether a notice is due, or the claim of one ran out."""
    row = await transaction.row("job_notices/due")
    return row is not None and bool(row["due"])


async def lapse(transaction: Transaction, *, result: str, most: int) -> int:
    """End at most `most` claims that ran out; `result` is written as that of their attempts. How many."""
    return await transaction.run("job_notices/lapse", result=result, most=most)


async def claim(transaction: Transaction, *, holder: UUID, lease: float, most: int) -> Sequence[ClaimedNotice]:
    """Claim at most `most` that are due, for `lease` seconds."""
    rows = await transaction.rows("job_notices/claim", holder=holder, lease=lease, most=most)
    return [ClaimedNotice(**{**row, "outcome": JobStatus(row["outcome"])}) for row in rows]


async def facts(transaction: Transaction, notice: ClaimedNotice) -> RequesterFacts | None:
    """About the person, in a transaction of the notice's tenant; None where they are not of it."""
    row = await transaction.row("job_notices/facts", family=notice.family, job=notice.job, person=notice.person)
    return None if row is None else RequesterFacts(**row)


async def settle(
    transaction: Transaction,
    notice: ClaimedNotice,
    *,
    holder: UUID,
    state: NoticeState,
    result: str,
    reason: str | None = None,
    pause: float = 0.0,
) -> bool:
    """Write how the attempt ended; `due`: again after `pause` seconds. False where the claim is not this one any more."""
    written = await transaction.run(
        "job_notices/settle",
        id=notice.id,
        holder=holder,
        fence=notice.fence,
        state=state.value,
        result=result,
        reason=reason,
        pause=pause,
    )
    return written > 0


async def suppress_stale(transaction: Transaction, *, seconds: float, reason: str, most: int) -> int:
    """Suppress at most `most` that wait for longer than that; how many."""
    return await transaction.run("job_notices/suppress_stale", seconds=seconds, reason=reason, most=most)


async def told_before(transaction: Transaction, *, job: str, outcome: JobStatus) -> Sequence[ToldBefore]:
    """Notices of other outcomes of that job than `outcome`, locked, in the order in which they were made."""
    rows = await transaction.rows("job_notices/told_before", job=job, outcome=outcome.value)
    return [
        ToldBefore(id=row["id"], outcome=JobStatus(row["outcome"]), state=NoticeState(row["state"])) for row in rows
    ]


async def supersede(transaction: Transaction, notice: UUID, *, reason: str) -> None:
    """Suppress one that waits."""
    await transaction.run("job_notices/supersede", id=notice, reason=reason)


async def correct(
    transaction: Transaction, *, job: str, outcome: JobStatus, corrects: JobStatus, prefix: str, line: str
) -> bool:
    """Make the notice of `outcome` that waits say that it corrects another; False where there is none, or it says so."""
    written = await transaction.run(
        "job_notices/correct", job=job, outcome=outcome.value, corrects=corrects.value, prefix=prefix, line=line
    )
    return written > 0
