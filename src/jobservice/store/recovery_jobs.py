"""Owns the statements of recoveries whose rows are jobs: freezing them, what the plans behind them released, how one stands
when its turn comes. Decides nothing: why a job is left out is compared in the statement, as `rules/recovery_jobs.py` tells
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.types.json import Jsonb

from jobcontract.job_states import JobStatus
from jobcontract.states import Moves
from jobservice.rules.recoveries import LEFT_KEPT
from jobservice.rules.recovery_jobs import JobNow
from jobservice.store.database import Row, Transaction
from jobservice.store.items import Reach, readable
from jobservice.store.recovery_rows import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedKind:
    """What the records say of a kind of job."""

    kind: str
    moves: Moves
    retryable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedJob:
    """One that was named: by its id, or None where the text is no id; `elsewhere`: it names another engine's."""

    text: str
    id: str | None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedJobs:
    """What is to be frozen into a recovery of jobs. `named`: by a person, and not by a filter."""

    recovery: str
    retries: bool
    """Whether they are retried; else cancelled."""
    book: Sequence[BookedKind]
    jobs: Sequence[AskedJob]
    named: bool
    reach: Reach
    may_money: bool
    may_others: bool
    now: datetime
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningJobRow:
    """A row whose job was asked to be cancelled; `status` None: that job is not there any more."""

    key: str
    status: JobStatus | None
    settled_at: datetime | None


async def freeze(transaction: Transaction, wanted: WantedJobs) -> Found:
    """Write the rows of a recovery over jobs, by number. Of what is left out, the first: `text`, `name`, `kind`, `at`,
    `reason`, `status`, `resolution`, `by`, `why`, `newest`, `recovery`."""
    row = await transaction.row(
        "recovery_jobs/freeze",
        recovery=wanted.recovery,
        retries=wanted.retries,
        book=Jsonb(
            [{"kind": each.kind, "moves": each.moves.value, "retryable": each.retryable} for each in wanted.book]
        ),
        texts=[each.text for each in wanted.jobs],
        ids=[each.id for each in wanted.jobs],
        elsewhere=[each.elsewhere for each in wanted.jobs],
        named=wanted.named,
        may_money=wanted.may_money,
        may_others=wanted.may_others,
        now=wanted.now,
        most=wanted.most,
        kept=LEFT_KEPT,
        **wanted.reach.parameters(),
    )
    assert row is not None  # noqa: S101  # an aggregate has a row
    return Found(found=row["found"], left_out=row["left_out"], kept=row["kept"])


async def money(transaction: Transaction, recovery: str) -> list[Row]:
    """What the plans behind its jobs that move money released, by currency: `currency`, `out_minor`, `count`."""
    return list(await transaction.rows("recovery_jobs/money", recovery=recovery))


async def standing(transaction: Transaction, job: str) -> JobNow | None:
    """A job of the transaction's tenant as it stands; None where there is none any more."""
    row = await transaction.row("recovery_jobs/standing", job=job) if readable(job) else None
    if row is None:
        return None
    return JobNow(**{**row, "status": JobStatus(row["status"]), "newest_status": JobStatus(row["newest_status"])})


async def running(transaction: Transaction, recovery: str) -> tuple[RunningJobRow, ...]:
    """The rows of it whose jobs were asked to be cancelled, and how these stand."""
    return tuple(
        RunningJobRow(
            key=row["key"],
            status=None if row["status"] is None else JobStatus(row["status"]),
            settled_at=row["settled_at"],
        )
        for row in await transaction.rows("recovery_jobs/running", recovery=recovery)
    )


async def drift(transaction: Transaction, recovery: str, drifted: Mapping[str, int]) -> None:
    """Write how many jobs were not as they had been frozen, of a locked recovery."""
    await transaction.run("recovery_jobs/drift", recovery=recovery, drifted=Jsonb(dict(drifted)))
