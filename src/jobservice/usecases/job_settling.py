"""Owns settling a job, in one place: its last status, steps that were left, history, what a failure asks for (effect,
cause), telling the requester, and what the success of a retry means for what it is a retry of.

Everything is the caller's transaction, which has locked the job (`store.jobs.lock`). A settled job stays as it is (INV-03).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from jobcontract.job_states import Carrier, JobEventKind, JobStatus, StepStatus
from jobservice.rules import jobs as rules
from jobservice.rules.job_kinds import readable
from jobservice.rules.job_notices import Told, ToldStep, words
from jobservice.rules.job_states import Ended, StepState
from jobservice.rules.job_words import about
from jobservice.store import jobs as store
from jobservice.store.database import Transaction
from jobservice.store.job_events import NewEvent
from jobservice.store.job_steps import StepChange
from jobservice.store.jobs import LockedJob

_log = structlog.get_logger(__name__)


class JobMoved(RuntimeError):
    """A locked job is not as it was read: a fault of the caller, whose transaction rolls back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Whose the job is while it is settled: holder and fence are compared in the write."""

    holder: str
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How the job stands now. `refused`: why a success was not kept, in words: `success refused: step 4 (submit) is still
    running`. `here` False: it was settled before, and nothing was written."""

    status: JobStatus
    sentence: str
    here: bool
    refused: str | None = None


def new_reference() -> str:
    """A failure reference: short enough to be read out."""
    return secrets.token_hex(4)


async def settle(
    transaction: Transaction,
    job: LockedJob,
    status: JobStatus,
    *,
    sentence: str,
    reference: str | None = None,
    step: str | None = None,
    reconciled: str | None = None,
    person: str | None = None,
    hold: Hold | None = None,
) -> Settled:
    """Settle a locked job.

    `succeeded` while a step has not succeeded is settled as failed, naming the step (INV-07). `sentence`: how it ended; of
    a failure its safe summary. `reference`: of a failure (None = a new one); `step`: the id of the step that failed.
    `reconciled`: what was found where the account and the engine disagreed: a line of history of its own, before.
    `person`: who did it, where a person did. `hold`: of a Worker that reports. ValueError for a status that is not final.
    """
    events = []
    if reconciled is not None:
        events.append(NewEvent(kind=JobEventKind.RECONCILED, sentence=rules.safe(reconciled), person=person))
    return await settle_with(
        transaction,
        job,
        status,
        (),
        events,
        sentence=sentence,
        reference=reference,
        step=step,
        person=person,
        hold=hold,
    )


async def settle_with(
    transaction: Transaction,
    job: LockedJob,
    status: JobStatus,
    changes: Sequence[StepChange],
    events: Sequence[NewEvent],
    *,
    sentence: str,
    reference: str | None = None,
    step: str | None = None,
    person: str | None = None,
    hold: Hold | None = None,
) -> Settled:
    """As `settle`, together with the transitions of steps, and the lines of history, that bring it about."""
    after = _after(job, changes)
    decided = rules.decide_settle(after, status)
    if isinstance(decided, Ended):
        _log.info("job-late-settlement", job=job.id, kind=job.kind, status=decided.status.value, wanted=status.value)
        return Settled(status=decided.status, sentence=decided.sentence, here=False)
    final = decided.status
    said = rules.safe(sentence if decided.refused is None else _refused(decided.refused))
    reference = (reference or new_reference()) if final is JobStatus.FAILED else None
    left = [each for each in after.steps if not each.status.final]
    changes = [*changes, *(_left(each, final, said, reference) for each in left)]
    lines = [*events, *(_line(each, final) for each in left)]
    lines.append(_settled(final, said, reference, person))
    row = await store.write(
        transaction,
        job,
        _root(job, after, final, said, reference, _last(job, changes), step=step, hold=hold),
        lines,
        changes,
        notice=_notice(job, final, said, reference, changes),
        retry_succeeded=final is JobStatus.SUCCEEDED and job.retry_of is not None,
    )
    if row is None:
        raise JobMoved(f"job {job.id} is not as it was locked")
    return Settled(status=final, sentence=said, here=True, refused=decided.refused)


def _root(
    job: LockedJob,
    after: rules.JobState,
    final: JobStatus,
    said: str,
    reference: str | None,
    last: tuple[str, StepStatus] | None,
    *,
    step: str | None,
    hold: Hold | None,
) -> store.RootChange:
    """What becomes of the root; of a failure, its cause is that of the step that failed, else of the last one begun."""
    last_step, last_status = last or (None, None)
    failed = final is JobStatus.FAILED
    return store.RootChange(
        status=final,
        holder=None if hold is None else hold.holder,
        fence=None if hold is None else hold.fence,
        progress=100 if final is JobStatus.SUCCEEDED else rules.progress_of(after.steps, before=job.state.progress),
        last_step=last_step,
        last_step_status=last_status,
        summary=said if failed else None,
        failure_reference=reference,
        cause_step=(step or last_step or "job") if failed else None,
        cause=rules.cause_text(said) if failed else None,
    )


def _after(job: LockedJob, changes: Sequence[StepChange]) -> rules.JobState:
    """The job with its steps as the changes leave them."""
    return rules.with_steps(job.state, {each.position: (each.status, each.progress) for each in changes})


def _refused(refused: str) -> str:
    return f"{refused[:1].upper()}{refused[1:]}."


def _left(step: StepState, final: JobStatus, said: str, reference: str | None) -> StepChange:
    """What becomes of a step that had not ended: one that was at work fails with the job; the others were never begun."""
    begun = step.status in (StepStatus.RUNNING, StepStatus.RETRYING)
    if final is JobStatus.FAILED and begun:
        return StepChange(position=step.position, status=StepStatus.FAILED, sentence=said, failure_reference=reference)
    return StepChange(position=step.position, status=StepStatus.CANCELLED)


def _line(step: StepState, final: JobStatus) -> NewEvent:
    begun = step.status in (StepStatus.RUNNING, StepStatus.RETRYING)
    if final is JobStatus.FAILED and begun:
        kind, status, sentence = JobEventKind.STEP_FAILED, StepStatus.FAILED, f"{step.label} ended with the job."
    else:
        how = "was ended" if begun else "was not begun"
        kind, status, sentence = JobEventKind.STEP_CANCELLED, StepStatus.CANCELLED, f"{step.label} {how}."
    return NewEvent(kind=kind, sentence=sentence, step=step.step, status=status.value)


def _settled(final: JobStatus, said: str, reference: str | None, person: str | None) -> NewEvent:
    detail = {} if reference is None else {"reference": reference}
    return NewEvent(kind=JobEventKind.SETTLED, sentence=said, status=final.value, person=person, detail=detail)


def _last(job: LockedJob, changes: Sequence[StepChange]) -> tuple[str, StepStatus] | None:
    """The last step that was begun, and how it stands; None where none was."""
    now = {each.position: each.status for each in changes}
    begun = [
        (each.step, now.get(each.position, each.status))
        for each in job.state.steps
        if each.attempts or now.get(each.position) in (StepStatus.RUNNING, StepStatus.SUCCEEDED, StepStatus.FAILED)
    ]
    return begun[-1] if begun else None


def _notice(
    job: LockedJob, final: JobStatus, said: str, reference: str | None, changes: Sequence[StepChange]
) -> store.NewNotice | None:
    if job.requester is None:
        return None
    return notice_of(
        job,
        final,
        steps=_after(job, changes).steps,
        summary=said,
        reference=reference,
        cancelled_by=job.state.cancel_asked_by,
        cancelled_by_id=job.cancel_asked_by,
        reason=job.state.cancel_reason,
    )


def notice_of(
    job: LockedJob,
    outcome: JobStatus,
    *,
    steps: Sequence[StepState] = (),
    summary: str | None = None,
    reference: str | None = None,
    cancelled_by: str | None = None,
    cancelled_by_id: str | None = None,
    reason: str | None = None,
) -> store.NewNotice | None:
    """The row that tells the requester of an outcome; None where no person asked for the job. `steps`: as they are then."""
    if job.requester is None:
        return None
    told = words(
        Told(
            job=job.id,
            tenant=job.tenant,
            kind=job.kind_label or readable(job.kind),
            subject=about(job.subject, job.customer, job.workspace) or "",
            status=outcome,
            requested_at=job.requested_at,
            settled_at=job.now,
            steps=[ToldStep(label=each.label, status=each.status) for each in steps],
            summary=summary,
            reference=reference,
            cancelled_by=cancelled_by,
            cancel_reason=reason,
        )
    )
    suppressed = "The plan itself tells its owner." if job.state.carrier is Carrier.PLAN else None
    own = outcome is JobStatus.CANCELLED and cancelled_by_id == job.requester
    return store.NewNotice(
        person=job.requester,
        outcome=outcome,
        subject=told.subject,
        text=told.text,
        suppressed=suppressed or ("They cancelled it themselves." if own else None),
    )
