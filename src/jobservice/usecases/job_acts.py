"""Owns what people do with one job: cancel, retry, resolve, look at its inputs; singly over the API, or as a row of a
recovery inside an open transaction. Who may: permission and reach. What may: `rules/jobs.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import KEY_MAX
from jobcontract.job_states import Carrier, JobEventKind, JobResolution, JobStatus
from jobcontract.jobs import (
    CancelJob,
    JobChanged,
    JobInput,
    JobRetried,
    JobSummary,
    ResolveJob,
    RetryJob,
    RevealedJob,
    RevealJob,
)
from jobcontract.permissions import Permission
from jobservice.records import RecordSet
from jobservice.rules import jobs as rules
from jobservice.rules.claims import Denied
from jobservice.rules.job_kinds import JobKind, readable
from jobservice.store import audit as trail
from jobservice.store import hints, job_events
from jobservice.store import jobs as store
from jobservice.store.database import Row, Transaction
from jobservice.store.items import Reach
from jobservice.store.job_events import NewEvent
from jobservice.store.jobs import LockedJob
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import CHANGED, record, safe_subject
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.items import reach
from jobservice.usecases.job_listing import summary
from jobservice.usecases.job_settling import JobMoved, notice_of
from jobservice.usecases.job_submission import RetryOf, Submission, new_job
from jobservice.usecases.service import Service, refuse

LOOKS = 20
"""How often a name for a retry is looked for, where others were given it already."""
EVERYWHERE = Reach(customers=None, workspaces=None)


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
    """The retry of a job. `first` False: a job of its lineage was under way already, and is this one."""

    job: str
    retried: str
    kind: str
    first: bool
    sentence: str


async def cancel(service: Service, actor: Actor, job: str, order: CancelJob, once: Once) -> Answered:
    """Ask for a job to be cancelled (`JobChanged`); one that nobody began is cancelled at once.

    Refusal PERMISSION_MISSING without job.cancel, NOT_FOUND (also out of reach), JOB_SETTLED, JOB_CARRIED.
    """

    async def work(transaction: Transaction, row: Row) -> Answered:
        done = await cancel_in(transaction, _order(actor, job, order.reason))
        if isinstance(done, Denied):
            raise refuse(done)
        return await _changed(transaction, service, row, job, done.sentence)

    return await _act(service, actor, job, once, "cancel-job", Permission.JOB_CANCEL, work)


async def retry(service: Service, actor: Actor, job: str, order: RetryJob, once: Once) -> Answered:
    """Make a new job from a settled one (`JobRetried`).

    Refusal PERMISSION_MISSING without job.retry, NOT_FOUND, JOB_NOT_SETTLED, JOB_NOT_RETRYABLE, JOB_CARRIED, NEEDS_PLAN (the
    kind moves money: a recovery with a code retries it).
    """

    async def work(transaction: Transaction, row: Row) -> Answered:
        done = await retry_in(transaction, service.records, _order(actor, job, order.reason))
        if isinstance(done, Denied):
            raise refuse(done)
        made, now = await _line(transaction, service.records, row["family"], done.job)
        retried, _ = await _line(transaction, service.records, row["family"], job)
        body = JobRetried(job=made, retried=retried, first=done.first, sentence=done.sentence, now=now)
        return Answered(status=200, body=body.model_dump(mode="json"))

    return await _act(service, actor, job, once, "retry-job", Permission.JOB_RETRY, work)


async def resolve(service: Service, actor: Actor, job: str, order: ResolveJob, once: Once) -> Answered:
    """Say why a failed job asks for nothing any more (`JobChanged`): with a ticket acknowledged, else resolved. The unresolved
    failures that it is a retry of are resolved with it: they can neither be retried nor be mended any more.

    Refusal PERMISSION_MISSING without job.resolve, NOT_FOUND, JOB_NOT_FAILED, JOB_RESOLVED.
    """
    resolution = JobResolution.RESOLVED if order.ticket is None else JobResolution.ACKNOWLEDGED

    async def work(transaction: Transaction, row: Row) -> Answered:
        found = await _locked(transaction, row["family"], job)
        denied = rules.decide_resolve(found.state)
        if isinstance(denied, Denied):
            raise refuse(denied)
        ticket = "" if order.ticket is None else f", ticket {order.ticket}"
        sentence = f"{resolution.value.capitalize()}{ticket}: {order.reason}"
        before = await store.resolve(
            transaction,
            found,
            resolution,
            person=actor.person,
            reason=order.reason,
            ticket=order.ticket,
            sentence=sentence,
        )
        if before is None:
            raise JobMoved(f"job {job} is not as it was locked")
        after: dict[str, Any] = {"resolution": resolution.value, "ticket": order.ticket}
        if before:
            after["before_it"] = list(before)
            await hints.add_jobs(transaction, tuple((found.tenant, found.kind, each) for each in before))
        await _record(transaction, "resolve-job", found, _order(actor, job, order.reason), after)
        return await _changed(transaction, service, row, job, f"{sentence}{_with_it(len(before))}")

    return await _act(service, actor, job, once, "resolve-job", Permission.JOB_RESOLVE, work)


def _with_it(before: int) -> str:
    """What is said of the failures that were resolved with a retry of theirs."""
    if not before:
        return ""
    return f" · and the {'failure' if before == 1 else f'{before:,} failures'} before it"


async def reveal(service: Service, actor: Actor, job: str, order: RevealJob, once: Once) -> Answered:
    """The inputs of a job in clear (`RevealedJob`), which its history and the audit trail say. The answer is not kept under
    the request's key: each look is written down.

    Refusal PERMISSION_MISSING without job.reveal, NOT_FOUND.
    """

    async def work(transaction: Transaction, row: Row) -> Answered:
        found = await _locked(transaction, row["family"], job)
        event = NewEvent(
            kind=JobEventKind.REVEALED,
            sentence=f"Its inputs were looked at: {order.reason}",
            person=actor.person,
            detail={"inputs": sorted(found.inputs)},
        )
        await job_events.note(transaction, found.family, found.id, event)
        detail = {"kind": found.kind, "reason": order.reason, "inputs": sorted(found.inputs)}
        await record(transaction, actor, "reveal-job", job, detail)
        await hints.add_jobs(transaction, ((found.tenant, found.kind, found.id),))
        body = RevealedJob(inputs=inputs_of(service.records.job_kinds.get(found.kind), found.inputs), now=found.now)
        return Answered(status=200, body=body.model_dump(mode="json"), kept=False)

    return await _act(service, actor, job, once, "reveal-job", Permission.JOB_REVEAL, work)


def inputs_of(kind: JobKind | None, inputs: Mapping[str, Any], *, masked: bool = False) -> tuple[JobInput, ...]:
    """Inputs as they go over the wire, in the order that the kind declares them; `masked`: without their values."""
    labels = {} if kind is None else {each.name: each.label for each in kind.inputs}
    names = [*(name for name in labels if name in inputs), *(name for name in inputs if name not in labels)]
    return tuple(
        JobInput(
            name=name, label=labels.get(name, readable(name)), value=None if masked else inputs[name], masked=masked
        )
        for name in names
    )


async def cancel_in(transaction: Transaction, order: JobOrder) -> Cancelled | Denied:
    """Ask for a job of the transaction's tenant to be cancelled, with history, audit row and hint; or why not, and then
    nothing was written. Refusal NOT_FOUND."""
    row = await _found(transaction, order.job, EVERYWHERE)
    found = await _locked(transaction, row["family"], order.job)
    decided = rules.decide_cancel(found.state)
    if isinstance(decided, Denied):
        return decided
    if isinstance(decided, rules.CancelledBefore):
        return Cancelled(
            job=found.id, kind=found.kind, status=found.state.status, first=False, sentence=decided.sentence
        )
    asked = f"It is to be cancelled: {order.reason}"
    if not await store.ask_cancel(transaction, found, person=order.person, reason=order.reason, sentence=asked):
        raise JobMoved(f"job {found.id} is not as it was locked")
    status, sentence = found.state.status, "Its Worker ends what runs, then it is cancelled."
    if isinstance(decided, rules.CancelNow):
        asker = await store.read(transaction, found.family, found.id)
        notice = notice_of(
            found,
            JobStatus.CANCELLED,
            cancelled_by=None if asker is None else asker.state.cancel_asked_by,
            cancelled_by_id=order.person,
            reason=order.reason,
        )
        status, sentence = JobStatus.CANCELLED, "Cancelled: nothing of it had begun."
        if not await store.cancel_pending(transaction, found, person=order.person, sentence=sentence, notice=notice):
            raise JobMoved(f"job {found.id} is not as it was locked")
    await _record(transaction, "cancel-job", found, order, {"status": status.value, "cancel_asked": True})
    return Cancelled(job=found.id, kind=found.kind, status=status, first=True, sentence=sentence)


async def retry_in(transaction: Transaction, records: RecordSet, order: JobOrder) -> Retried | Denied:
    """Make the retry of a job of the transaction's tenant, with history, audit row and hint; or why not, and then nothing
    was written. Where a job of its lineage is under way, that is the answer, also under races: two of one would do the same
    work side by side. Refusal NOT_FOUND.

    What is settled stays as it is, so that the job is only read: its line of history is written behind the new job, in the
    order in which a retry that succeeds locks them.
    """
    row = await _found(transaction, order.job, EVERYWHERE)
    before = await store.read(transaction, row["family"], order.job)
    if before is None:
        raise _unknown(order.job)
    kind = records.job_kinds.get(before.kind)
    denied = rules.decide_retry(before.state, kind, reason=order.reason, allow_money=order.allow_money)
    if isinstance(denied, Denied) or kind is None:
        return denied if isinstance(denied, Denied) else _gone(before)
    made, first = await _made(transaction, kind, before, order)
    if not first:
        sentence = f"A retry is under way already: {made}."
        return Retried(job=made, retried=before.id, kind=before.kind, first=False, sentence=sentence)
    sentence = f"Retried as {made}: {order.reason}"
    event = NewEvent(kind=JobEventKind.RETRIED, sentence=sentence, person=order.person, detail={"job": made})
    await job_events.note(transaction, before.family, before.id, event)
    await _record(transaction, "retry-job", before, order, {"job": made})
    await hints.add_jobs(transaction, ((before.tenant, before.kind, made),))
    return Retried(job=made, retried=before.id, kind=before.kind, first=True, sentence=f"Retried as {made}.")


async def _made(transaction: Transaction, kind: JobKind, before: LockedJob, order: JobOrder) -> tuple[str, bool]:
    """The new job and True; or the job of its lineage that is under way, and False."""
    await store.lock_lineage(transaction, before)
    for look in range(LOOKS):
        known = await store.retries_of(transaction, before)
        if known["unsettled"] is not None:
            return str(known["unsettled"]), False
        submission = Submission(
            kind=kind.id,
            submission_identity=retry_identity(known["identity"] or before.submission_identity, known["jobs"] + look),
            inputs=before.inputs,
            requester=before.requester or order.person,
            subject=before.subject,
            customer=before.customer,
            workspace=before.workspace,
            plan=before.plan,
            recovery=order.recovery,
            carrier=Carrier.ENGINE,
        )
        of = RetryOf(
            job=before.id, lineage=before.lineage, depth=before.depth, reason=order.reason, person=order.person
        )
        identifier = await store.insert(transaction, new_job(kind, submission, retry=of, inputs=before.inputs))
        if identifier is not None:
            return identifier, True
    raise Refusal(ErrorCode.TIMED_OUT, "Every name for a retry is taken. Nothing was done. Try again.")


def retry_identity(first: str, number: int) -> str:
    """The submission identity of a retry: that of the first job of its lineage, and which retry it is."""
    tail = f" · retry {number}"
    return first[: KEY_MAX - len(tail)] + tail


def _gone(before: LockedJob) -> Denied:
    return Denied(kind=ErrorCode.JOB_NOT_RETRYABLE, sentence=f"The records have no kind {before.kind} any more.")


async def _act(
    service: Service,
    actor: Actor,
    job: str,
    once: Once,
    action: str,
    permission: Permission,
    act: Callable[[Transaction, Row], Awaitable[Answered]],
) -> Answered:
    """One act on a job within the actor's reach. Refusal PERMISSION_MISSING, NOT_FOUND, and those of the act."""

    async def work(transaction: Transaction) -> Answered:
        return await act(transaction, await _found(transaction, job, reach(actor)))

    return await act_once(
        service, actor, Deed(action=action, subject=safe_subject(job), permission=permission), once, work
    )


async def _found(transaction: Transaction, job: str, within: Reach) -> Row:
    row = await store.find(transaction, job, within)
    if row is None:
        raise _unknown(job)
    return row


def _unknown(job: str) -> Refusal:
    return Refusal(ErrorCode.NOT_FOUND, f"There is no job {job[:80]!r}.")


async def _locked(transaction: Transaction, family: str, job: str) -> LockedJob:
    found = await store.lock(transaction, family, job)
    if found is None:  # retention came past it just now
        raise _unknown(job)
    return found


def _order(actor: Actor, job: str, reason: str) -> JobOrder:
    return JobOrder(job=job, person=actor.person, reason=reason, reference=actor.reference)


async def _record(
    transaction: Transaction, action: str, found: LockedJob, order: JobOrder, after: Mapping[str, Any]
) -> None:
    """The row of the trail and the hint."""
    resolution = found.state.resolution
    before = {
        "status": found.state.status.value,
        "resolution": None if resolution is None else resolution.value,
        "cancel_asked": found.state.cancel_asked,
    }
    detail: dict[str, Any] = {"kind": found.kind, "reason": order.reason, "before": before, "after": dict(after)}
    if order.recovery is not None:
        detail["recovery"] = order.recovery
    entry = trail.NewEntry(
        person=order.person,
        action=action,
        subject=found.id,
        outcome=CHANGED,
        detail=detail,
        reference=order.reference or None,
    )
    await trail.add(transaction, entry)
    await hints.add_jobs(transaction, ((found.tenant, found.kind, found.id),))


async def _changed(transaction: Transaction, service: Service, row: Row, job: str, sentence: str) -> Answered:
    line, now = await _line(transaction, service.records, row["family"], job)
    body = JobChanged(job=line, sentence=sentence, now=now)
    return Answered(status=200, body=body.model_dump(mode="json"))


async def _line(transaction: Transaction, records: RecordSet, family: str, job: str) -> tuple[JobSummary, Any]:
    """A job as a line of a listing, and the clock."""
    row = await store.line(transaction, family, job)
    if row is None:
        raise _unknown(job)
    return summary(records, row), row["now"]
