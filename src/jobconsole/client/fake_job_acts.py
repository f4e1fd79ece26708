"""Owns what people do to background jobs of the fake service: submitting, cancelling, retrying, resolving, revealing, and
what of it is offered. Means what the real service means by it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.client.fake_asked import TENANT, Asked, Handler
from jobconsole.client.fake_job import FakeJob
from jobconsole.client.fake_job_kinds import KINDS, FakeKind
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import is_slug
from jobcontract.job_states import Carrier, JobEventKind, JobResolution, JobStatus
from jobcontract.jobs import (
    HERE,
    CancelJob,
    Cancellation,
    JobActs,
    JobChanged,
    JobInput,
    JobRetried,
    Resolution,
    ResolveJob,
    RetryJob,
    RevealedJob,
    RevealJob,
    SubmitJob,
    Submitted,
)
from jobcontract.permissions import GRANTS, Permission, missing
from jobcontract.session import Person
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobconsole.client.fake_jobs import FakeAccount

_TYPES: Mapping[str, type] = {"text": str, "integer": int, "boolean": bool}
_FORMS = {"text": "text", "integer": "a whole number", "boolean": "true or false"}


class FakeJobActs:
    """The acts on the jobs of one account."""

    def __init__(self, account: FakeAccount) -> None:
        self._account = account

    def handlers(self) -> Mapping[str, Handler]:
        """The routes that act."""
        return {
            "submit-job": self._submit,
            "cancel-job": self._cancel,
            "retry-job": self._retry,
            "resolve-job": self._resolve,
            "reveal-job": self._reveal,
        }

    def offered(self, asked: Asked, job: FakeJob) -> JobActs:
        """What the asking person may do with it now."""
        may = GRANTS[asked.role]

        def why_not(permission: Permission, refusal: Refusal | None) -> str | None:
            if permission not in may:
                return missing(permission, TENANT)
            return None if refusal is None else refusal.detail

        return JobActs(
            cancel=why_not(Permission.JOB_CANCEL, self.judge_cancel(job)) or self._cancelled_before(job),
            retry=why_not(Permission.JOB_RETRY, self.judge_retry(job, single=True)),
            resolve=why_not(Permission.JOB_RESOLVE, _judge_resolve(job)),
            reveal=why_not(Permission.JOB_REVEAL, _judge_elsewhere(job))
            or (None if job.inputs else "The job has no inputs."),
        )

    # Judging: None where it may be done

    def judge_cancel(self, job: FakeJob) -> Refusal | None:
        """Why the job cannot be cancelled."""
        if (elsewhere := _judge_elsewhere(job)) is not None:
            return elsewhere
        if job.carrier is Carrier.PLAN:
            return Refusal(ErrorCode.JOB_CARRIED, f"The plan {job.plan} carries it: pause or abort the plan.")
        if job.summary.status.final and not _cancelled(job):
            words = f"The job has {job.summary.status} already: there is nothing to cancel."
            return Refusal(ErrorCode.JOB_SETTLED, words)
        return None

    def judge_retry(self, job: FakeJob, *, single: bool) -> Refusal | None:
        """Why no new job can be made from it; `single`: not within a confirmed recovery."""
        if (elsewhere := _judge_elsewhere(job)) is not None:
            return elsewhere
        if job.carrier is Carrier.PLAN:
            return Refusal(ErrorCode.JOB_CARRIED, f"The plan {job.plan} carried it: what is left goes into a new plan.")
        if not job.kind.wire.retryable:
            return Refusal(ErrorCode.JOB_NOT_RETRYABLE, f"Jobs of {job.summary.kind_label} are not retried.")
        if not job.summary.status.final:
            return Refusal(
                ErrorCode.JOB_NOT_SETTLED, f"The job is {job.summary.status}: it is retried once it is settled."
            )
        if single and job.summary.moves is Moves.MONEY:
            command = f"jobconsole recoveries retry --job {job.id}"
            words = f"It moves money: finance retries it by a recovery, confirmed with a code ({command})."
            return Refusal(ErrorCode.NEEDS_PLAN, words)
        return None

    # Acting

    def _ours(self, asked: Asked) -> FakeJob:
        """The job of this service that the path names; Refusal JOB_ELSEWHERE (`SOURCE:ID`), NOT_FOUND."""
        source, colon, identifier = asked.parts["job"].rpartition(":")
        if colon and source != HERE and is_slug(source):
            words = f"{identifier[:80]} is a job of {source}, which is only read here. Act on it where it runs."
            raise Refusal(ErrorCode.JOB_ELSEWHERE, words)
        return self._account.find(asked, HERE)

    def _submit(self, asked: Asked) -> Submitted:
        order = SubmitJob.model_validate_json(asked.request.content)
        kind = KINDS.get(order.kind)
        if kind is None or order.kind == "service.plan-apply":
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no kind of job {order.kind} that you may submit.")
        if kind.wire.moves is Moves.MONEY:
            words = f"{kind.wire.label} moves money: only a confirmed plan of {kind.submitted_by} submits it."
            raise Refusal(ErrorCode.NEEDS_PLAN, words)
        _judge_inputs(kind, order.inputs)
        for known in self._account.jobs.values():
            if (known.summary.kind, known.summary.submission_identity) != (order.kind, order.submission_identity):
                continue
            scope = (known.summary.customer, known.summary.workspace)
            if known.inputs != order.inputs or scope != (order.customer, order.workspace):
                words = f"The identity {order.submission_identity} is job {known.id}'s, which has other inputs or another scope."
                raise Refusal(ErrorCode.JOB_IDENTITY_TAKEN, words, job=known.id)
            return Submitted(job=known.summary, first=False, now=self._account.now())
        job = self._account.add(
            order.kind,
            subject=order.subject or order.workspace or order.customer,
            identity=order.submission_identity,
            requester=asked.person.id,
            inputs=order.inputs,
            customer=order.customer,
            workspace=order.workspace,
        )
        return Submitted(job=job.summary, first=True, now=self._account.now())

    def _cancel(self, asked: Asked) -> JobChanged:
        order, job = CancelJob.model_validate_json(asked.request.content), self._ours(asked)
        _raise(self.judge_cancel(job))
        sentence = self.cancel(job, asked.person, order.reason)
        return JobChanged(job=job.summary, sentence=sentence, now=self._account.now())

    def cancel(self, job: FakeJob, person: Person | None, reason: str) -> str:
        """Ask for it; what nobody began is cancelled at once. The sentence of what became of it."""
        now = self._account.now()
        before = self._cancelled_before(job)
        if before is not None:
            return before
        job.cancellation = Cancellation(at=now, person=person, reason=reason)
        job.put(cancel_asked_at=now)
        job.tell(JobEventKind.CANCEL_ASKED, now, f"It is to be cancelled: {reason}", person=person)
        if job.summary.status is JobStatus.PENDING:
            job.cancel(now)
        self._account.changed(job)
        if job.summary.status is JobStatus.CANCELLED:
            return "It is cancelled; nothing of it had begun."
        return "It is asked to be cancelled: the Worker ends it in a moment, unless its last step succeeds first."

    @staticmethod
    def _cancelled_before(job: FakeJob) -> str | None:
        """That somebody cancelled it, or asked for that: theirs stands."""
        if job.cancellation is None or (job.summary.status.final and not _cancelled(job)):
            return None
        who = "Somebody" if job.cancellation.person is None else job.cancellation.person.name
        said = "cancelled it already" if _cancelled(job) else "asked for that already"
        return f"{who} {said}: {job.cancellation.reason}"

    def _retry(self, asked: Asked) -> JobRetried:
        order, job = RetryJob.model_validate_json(asked.request.content), self._ours(asked)
        _raise(self.judge_retry(job, single=True))
        new, first = self.retry(job, asked.person, order.reason)
        words = f"Job {new.id} does it again." if first else f"Job {new.id} is its retry already."
        return JobRetried(job=new.summary, retried=job.summary, first=first, sentence=words, now=self._account.now())

    def retry(self, job: FakeJob, person: Person, reason: str) -> tuple[FakeJob, bool]:
        """The new job that was made from it, or the one of its lineage that is not settled; whether it is new."""
        known = self.under_way(job)
        if known is not None:
            return known, False
        asker, family = job.summary.requester or person, self._account.lineage(job)
        first = self._account.first_of(job).summary.submission_identity
        new = self._account.add(
            job.summary.kind,
            subject=job.summary.subject,
            identity=f"{first} · retry {len(family)}",
            requester=asker.id,
            inputs=job.inputs,
            customer=job.summary.customer,
            workspace=job.summary.workspace,
            plan=job.plan,
            retry_of=job.id,
        )
        new.reason = reason
        job.put(retried_by=new.id)
        job.tell(JobEventKind.RETRIED, self._account.now(), f"Retried: {reason}", person=person, job=new.id)
        self._account.changed(job)
        return new, True

    def under_way(self, job: FakeJob) -> FakeJob | None:
        """The job of its lineage that is not settled."""
        family = (self._account.jobs[job.summary.source, each.id] for each in self._account.lineage(job))
        return next((each for each in family if not each.summary.status.final), None)

    def _resolve(self, asked: Asked) -> JobChanged:
        order, job = ResolveJob.model_validate_json(asked.request.content), self._ours(asked)
        _raise(_judge_resolve(job))
        now = self._account.now()
        resolution = JobResolution.RESOLVED if order.ticket is None else JobResolution.ACKNOWLEDGED
        words = f"{str(resolution).capitalize()}{f', ticket {order.ticket}' if order.ticket else ''}: {order.reason}"
        before = self._before(job)
        for each in (job, *before):
            each.resolved = Resolution(
                resolution=resolution, at=now, person=asked.person, reason=order.reason, ticket=order.ticket, job=None
            )
            each.put(resolution=resolution)
            each.tell(JobEventKind.RESOLVED, now, words, person=asked.person)
            self._account.changed(each)
        count = "failure" if len(before) == 1 else f"{len(before):,} failures"
        return JobChanged(
            job=job.summary, sentence=f"{words}{f' · and the {count} before it' if before else ''}", now=now
        )

    def _before(self, job: FakeJob) -> list[FakeJob]:
        """The unresolved failures that it is a retry of."""
        family = (self._account.jobs[job.summary.source, each.id] for each in self._account.lineage(job))
        return [each for each in family if each.unresolved and each.summary.requested_at < job.summary.requested_at]

    def mended(self, job: FakeJob, *, by: FakeJob, at: datetime) -> None:
        """A retry of it succeeded."""
        job.resolved = Resolution(
            resolution=JobResolution.RETRIED, at=at, person=None, reason=None, ticket=None, job=by.id
        )
        job.put(resolution=JobResolution.RETRIED)
        job.tell(JobEventKind.RESOLVED, at, f"Its retry {by.id} succeeded.")

    def _reveal(self, asked: Asked) -> RevealedJob:
        order, job = RevealJob.model_validate_json(asked.request.content), self._ours(asked)
        _raise(_judge_elsewhere(job))
        now, labels = self._account.now(), {each.name: each.label for each in job.kind.wire.inputs}
        job.tell(JobEventKind.REVEALED, now, f"Its inputs were looked at: {order.reason}", person=asked.person)
        self._account.changed(job)
        inputs = tuple(
            JobInput(name=name, label=labels.get(name, name), value=value, masked=False)
            for name, value in job.inputs.items()
        )
        return RevealedJob(inputs=inputs, now=now)


def _raise(refusal: Refusal | None) -> None:
    if refusal is not None:
        raise refusal


def _cancelled(job: FakeJob) -> bool:
    return job.summary.status is JobStatus.CANCELLED


def _judge_elsewhere(job: FakeJob) -> Refusal | None:
    if job.here:
        return None
    words = f"It is a job of {job.summary.source}, another engine's: it is only read here."
    return Refusal(ErrorCode.JOB_ELSEWHERE, words)


def _judge_resolve(job: FakeJob) -> Refusal | None:
    if (elsewhere := _judge_elsewhere(job)) is not None:
        return elsewhere
    if job.summary.status is not JobStatus.FAILED:
        return Refusal(ErrorCode.JOB_NOT_FAILED, f"The job is {job.summary.status}: only a failure is resolved.")
    if job.summary.resolution is not None:
        return Refusal(ErrorCode.JOB_RESOLVED, f"The failure is {job.summary.resolution} already.")
    return None


def _judge_inputs(kind: FakeKind, inputs: Mapping[str, object]) -> None:
    """Refusal JOB_INPUTS_UNFIT where they are not those that the kind declares."""
    declared = {each.name: each for each in kind.wire.inputs}
    for name in inputs:
        if name not in declared:
            known = ", ".join(declared) or "none"
            words = f"{kind.wire.label} has no input {name[:80]}. It has: {known}."
            raise Refusal(ErrorCode.JOB_INPUTS_UNFIT, words)
    for name, field in declared.items():
        if name not in inputs:
            if field.required:
                raise Refusal(ErrorCode.JOB_INPUTS_UNFIT, f"{kind.wire.label} needs the input {name} ({field.label}).")
        elif type(inputs[name]) is not _TYPES[field.type]:
            raise Refusal(ErrorCode.JOB_INPUTS_UNFIT, f"The input {name} takes {_FORMS[field.type]}.")
