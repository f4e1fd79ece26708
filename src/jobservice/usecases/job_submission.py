"""Owns submitting a background job: one identity is one job within its kind, however often and from wherever it is sent
(requirement INV-01). Root, queued steps, first line of history and hand-over to the engine are the caller's transaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.job_states import Carrier, JobStatus
from jobservice.application_jobs import JobInputs
from jobservice.records import RecordSet
from jobservice.rules.job_kinds import JobKind
from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One intention of a submitter. `plan`: id of the confirmed plan that submits it (or that it is the account of, with
    `carrier` plan: then no engine gets it); `recovery`: of the confirmed recovery that retries it. `requester` None: no
    person asked for it. `subject` None: made from customer or workspace."""

    kind: str
    submission_identity: str
    inputs: JobInputs
    requester: str | None = None
    subject: str | None = None
    customer: str | None = None
    workspace: str | None = None
    plan: str | None = None
    recovery: str | None = None
    carrier: Carrier = Carrier.ENGINE


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedJob:
    """The job of a submission. `first` False: it was there already, with the same inputs and scope."""

    id: str
    family: str
    kind: str
    status: JobStatus
    first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOf:
    """What a retry is made from: the settled job, its lineage, and why."""

    job: str
    lineage: str
    reason: str


async def submit_in(transaction: Transaction, records: RecordSet, submission: Submission) -> SubmittedJob:
    """Submit a job of the transaction's tenant inside the open transaction; commits nothing and writes no hint.

    A duplicate in another open transaction is waited for, and gets the first job; no caller has to retry (READ COMMITTED).
    Refusal NOT_FOUND (no such kind), JOB_INPUTS_UNFIT, NEEDS_PLAN (the kind moves money, and neither plan nor recovery
    submits it), JOB_IDENTITY_TAKEN (other inputs or scope, naming the first job: `job` of the extra members).
    """
    return await submit_kind(transaction, kind_of(records, submission.kind), submission)


async def submit_kind(
    transaction: Transaction, kind: JobKind, submission: Submission, *, retry: RetryOf | None = None
) -> SubmittedJob:
    """As `submit_in`, of a kind that the caller has; `retry`: as the retry of a settled job."""
    raise NotImplementedError


def kind_of(records: RecordSet, kind: str) -> JobKind:
    """The kind of that id; Refusal NOT_FOUND, naming the nearest there is."""
    raise NotImplementedError
