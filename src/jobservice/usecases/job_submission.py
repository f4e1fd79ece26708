"""Owns submitting a background job: one identity is one job within its kind, however often and from wherever it is sent
(requirement INV-01). Root, queued steps, first line of history and hand-over to the engine are the caller's transaction.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import unicodedata
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import KEY_MAX, NAME_MAX, storable, visible
from jobcontract.job_states import Carrier, JobStatus
from jobcontract.jobs import INPUTS_MOST
from jobcontract.states import Moves
from jobservice.application_jobs import JobInputs
from jobservice.records import RecordSet
from jobservice.rules import jobs as rules
from jobservice.rules.credentials import credential_in
from jobservice.rules.job_inputs import judge_inputs
from jobservice.rules.job_kinds import JobKind
from jobservice.store import jobs as store
from jobservice.store.database import Row, Transaction

SUBMITTER: ContextVar[Submitter | None] = ContextVar("submitter", default=None)
"""The job for which application code runs, in its own task: what it submits past its report, in a transaction of its own, is
that job's all the same."""
LOOKS = 3
"""How often an identity is looked for again that was taken, and is gone when it is read: retention came past it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitter:
    """The job whose step or failure effect submits another one. `depth`: how many jobs submitted one another before it."""

    job: str
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One intention of a submitter. `plan`: id of the confirmed plan that submits it (or that it is the account of, with
    `carrier` plan: then no engine gets it); `recovery`: of the confirmed recovery that retries it. `requester` None: no
    person asked for it. `subject` None: made from customer or workspace. `submitter`: the job that submits it, where one does."""

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
    submitter: Submitter | None = None

    @property
    def depth(self) -> int:
        """How many jobs submitted one another before this one."""
        return 0 if self.submitter is None else self.submitter.depth + 1


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
    """What a retry is made from: the settled job, its lineage and depth, why, and who asked for it."""

    job: str
    lineage: str
    depth: int
    reason: str
    person: str | None


async def submit_in(transaction: Transaction, records: RecordSet, submission: Submission) -> SubmittedJob:
    """Submit a job of the transaction's tenant inside the open transaction; commits nothing and writes no hint.

    A duplicate in another open transaction is waited for, and gets the first job; no caller has to retry (READ COMMITTED).
    Refusal NOT_FOUND (no such kind), JOB_INPUTS_UNFIT, NEEDS_PLAN (the kind moves money, and neither plan nor recovery
    submits it), JOB_IDENTITY_TAKEN (other inputs or scope, naming the first job: `job` of the extra members), JOB_TOO_DEEP (so
    many jobs submitted one another; where this one is there already, it is not made, and all is well).
    """
    return await submit_kind(transaction, kind_of(records, submission.kind), submission)


async def submit_kind(transaction: Transaction, kind: JobKind, submission: Submission) -> SubmittedJob:
    """As `submit_in`, of a kind that the caller has."""
    new = new_job(kind, submission)
    too_deep = rules.too_deep(kind.label, submission.depth)
    for _ in range(LOOKS):
        identifier = None if too_deep else await store.insert(transaction, new)
        if identifier is not None:
            return SubmittedJob(id=identifier, family=kind.family, kind=kind.id, status=JobStatus.PENDING, first=True)
        there = await store.of_identity(transaction, kind.family, kind.id, submission.submission_identity)
        if there is not None:
            return _again(kind, submission, new.digest, there)
        if too_deep is not None:
            raise Refusal(ErrorCode.JOB_TOO_DEEP, too_deep)
    raise Refusal(ErrorCode.TIMED_OUT, "The identity is taken and let go again and again. Nothing was done. Try again.")


def _again(kind: JobKind, submission: Submission, digest: bytes, there: Row) -> SubmittedJob:
    """The first job; Refusal JOB_IDENTITY_TAKEN where it is not the same submission."""
    if bytes(there["inputs_digest"]) != digest:
        raise Refusal(
            ErrorCode.JOB_IDENTITY_TAKEN,
            f"{submission.submission_identity} is job {there['id']} of {kind.label} already, and was submitted with another "
            f"{', '.join(_differences(submission, there))}. Take a new identity for a new intention.",
            job=there["id"],
        )
    return SubmittedJob(
        id=there["id"], family=kind.family, kind=kind.id, status=JobStatus(there["status"]), first=False
    )


def _differences(submission: Submission, there: Row) -> list[str]:
    """What of two submissions differs, by name; never a value."""
    before: Mapping[str, Any] = there["inputs"]
    names = sorted({*before, *submission.inputs})
    differ = [f"input {name}" for name in names if before.get(name) != submission.inputs.get(name)]
    differ += [name for name in ("customer", "workspace", "plan") if there[name] != getattr(submission, name)]
    return differ or ["set of inputs"]


def new_job(
    kind: JobKind, submission: Submission, *, retry: RetryOf | None = None, inputs: JobInputs | None = None
) -> store.NewJob:
    """The rows of a submission. `inputs`: of a retry, as they were kept; None: those of the submission, judged here.

    Refusal JOB_INPUTS_UNFIT, INVALID_REQUEST, NEEDS_PLAN.
    """
    _refuse_words(submission)
    _refuse_money(kind, submission)
    kept = _judged(kind, submission) if inputs is None else inputs
    steps = [(each.step, each.label, each.use_case, each.undo, each.moves.value, each.weight) for each in kind.steps]
    return store.NewJob(
        family=kind.family,
        kind=kind.id,
        version=kind.version,
        moves=kind.moves.value,
        carrier=submission.carrier.value,
        identity=submission.submission_identity,
        inputs=kept,
        digest=_digest(kept, submission),
        requester=submission.requester,
        subject=submission.subject,
        customer=submission.customer,
        workspace=submission.workspace,
        plan=submission.plan,
        recovery=submission.recovery,
        effect=kind.failure_effect,
        steps=steps,
        sentence=_sentence(submission, retry),
        person=submission.requester if retry is None else retry.person,
        detail=_definition(kind),
        engine=submission.carrier is Carrier.ENGINE,
        depth=submission.depth if retry is None else retry.depth,
        lineage=None if retry is None else retry.lineage,
        retry_of=None if retry is None else retry.job,
        retry_reason=None if retry is None else retry.reason,
    )


def _sentence(submission: Submission, retry: RetryOf | None) -> str:
    """The first line of its history."""
    if retry is not None:
        return f"It was made as a retry: {retry.reason}"
    return (
        "It was submitted." if submission.submitter is None else f"It was submitted by job {submission.submitter.job}."
    )


def _definition(kind: JobKind) -> dict[str, Any]:
    """The definition as published, which this job uses whatever becomes of the record."""
    return {
        "label": kind.label,
        "application": kind.application,
        "definition_version": kind.version,
        "moves": kind.moves.value,
        "failure_effect": kind.failure_effect,
        "steps": [
            {"step": each.step, "label": each.label, "use_case": each.use_case, "weight": each.weight}
            | ({"undo": each.undo} if each.undo else {})
            for each in kind.steps
        ],
    }


def _digest(inputs: JobInputs, submission: Submission) -> bytes:
    """SHA-256 over what makes two submissions the same: inputs, scope and plan, as canonical JSON. Neither who asked nor
    how it is called does."""
    same = {
        "inputs": dict(inputs),
        "customer": submission.customer,
        "workspace": submission.workspace,
        "plan": submission.plan,
    }
    text = json.dumps(same, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def _judged(kind: JobKind, submission: Submission) -> JobInputs:
    if len(submission.inputs) > INPUTS_MOST:
        raise Refusal(ErrorCode.JOB_INPUTS_UNFIT, f"A job has at most {INPUTS_MOST} inputs.")
    judged = judge_inputs(kind.inputs, submission.inputs)
    if judged.faults:
        raise Refusal(ErrorCode.JOB_INPUTS_UNFIT, " ".join(judged.faults))
    return judged.kept


def _refuse_words(submission: Submission) -> None:
    """Refusal INVALID_REQUEST where identity, subject or scope cannot be kept, or looks like a credential."""
    words = (
        ("submission identity", submission.submission_identity, KEY_MAX),
        ("subject", submission.subject, NAME_MAX),
        ("customer", submission.customer, KEY_MAX),
        ("workspace", submission.workspace, KEY_MAX),
    )
    for name, text, most in words:
        if text is None:
            continue
        if not (0 < len(text) <= most and storable(text)):
            raise Refusal(ErrorCode.INVALID_REQUEST, f"The {name} has 1 to {most} characters, without NUL.")
        if not visible(text) or any(unicodedata.category(sign) == "Cc" for sign in text):
            raise Refusal(
                ErrorCode.INVALID_REQUEST,
                f"The {name} holds nothing that can be seen, or a control character: people look for it and read it out.",
            )
        if (found := credential_in(text, drawn=False)) is not None:
            raise Refusal(
                ErrorCode.INVALID_REQUEST,
                f"The {name} looks like it holds {found}: everybody who sees the job sees it.",
            )


def _refuse_money(kind: JobKind, submission: Submission) -> None:
    if kind.moves is Moves.MONEY and submission.plan is None and submission.recovery is None:
        by = f" of {kind.submitted_by}" if kind.submitted_by else ""
        raise Refusal(
            ErrorCode.NEEDS_PLAN, f"{kind.label} moves money: only a confirmed plan{by} submits it. Confirm one."
        )


def kind_of(records: RecordSet, kind: str) -> JobKind:
    """The kind of that id; Refusal NOT_FOUND, naming the nearest there is."""
    found = records.job_kinds.get(kind)
    if found is None:
        known = sorted(records.job_kinds)
        close = difflib.get_close_matches(kind, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Kinds: {', '.join(known) or 'none'}."
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no kind of job {kind[:80]!r}. {hint}")
    return found
