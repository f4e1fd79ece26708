"""Owns what people do with one job: cancel, retry, resolve, look at its inputs; singly over the API, or as a row of a
recovery inside an open transaction. Who may: permission and reach. What may: `rules/jobs.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.job_states import JobStatus
from jobcontract.jobs import CancelJob, ResolveJob, RetryJob, RevealJob
from jobservice.records import RecordSet
from jobservice.rules.claims import Denied
from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """Who wants something of a job (its id), and why. `recovery`: id of the recovery that it is a row of; `allow_money`:
    that recovery was confirmed, and its proof verified just now. `reference`: of the request."""

    job: str
    person: str
    reason: str
    recovery: str | None = None
    allow_money: bool = False
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """What became of asking for a cancellation. `first` False: somebody asked before, and theirs stands."""

    job: str
    kind: str
    status: JobStatus
    first: bool
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """The retry of a job. `first` False: an unsettled retry was there already, and is this one."""

    job: str
    retried: str
    kind: str
    first: bool
    sentence: str


async def cancel(service: Service, actor: Actor, job: str, order: CancelJob, once: Once) -> Answered:
    """Ask for a job to be cancelled (`JobChanged`); one that nobody began is cancelled at once.

    Refusal PERMISSION_MISSING without job.cancel, NOT_FOUND (also out of reach), JOB_ELSEWHERE, JOB_SETTLED, JOB_CARRIED.
    """
    raise NotImplementedError


async def retry(service: Service, actor: Actor, job: str, order: RetryJob, once: Once) -> Answered:
    """Make a new job from a settled one (`JobRetried`).

    Refusal PERMISSION_MISSING without job.retry, NOT_FOUND, JOB_ELSEWHERE, JOB_NOT_SETTLED, JOB_NOT_RETRYABLE, JOB_CARRIED,
    NEEDS_PLAN (the kind moves money: a recovery with a code retries it).
    """
    raise NotImplementedError


async def resolve(service: Service, actor: Actor, job: str, order: ResolveJob, once: Once) -> Answered:
    """Say why a failed job asks for nothing any more (`JobChanged`): with a ticket acknowledged, else resolved.

    Refusal PERMISSION_MISSING without job.resolve, NOT_FOUND, JOB_ELSEWHERE, JOB_NOT_FAILED, JOB_RESOLVED.
    """
    raise NotImplementedError


async def reveal(service: Service, actor: Actor, job: str, order: RevealJob, once: Once) -> Answered:
    """The inputs of a job in clear (`RevealedJob`), which its history and the audit trail say.

    Refusal PERMISSION_MISSING without job.reveal, NOT_FOUND, JOB_ELSEWHERE.
    """
    raise NotImplementedError


async def cancel_in(transaction: Transaction, order: JobOrder) -> Cancelled | Denied:
    """Ask for a job of the transaction's tenant to be cancelled, with history, audit row and hint; or why not, and then
    nothing was written. Refusal NOT_FOUND."""
    raise NotImplementedError


async def retry_in(transaction: Transaction, records: RecordSet, order: JobOrder) -> Retried | Denied:
    """Make the retry of a job of the transaction's tenant, with history, audit row and hint; or why not, and then nothing
    was written. An unsettled retry is the answer where there is one, also under races. Refusal NOT_FOUND."""
    raise NotImplementedError
