"""Owns what a Worker writes of a job that it runs: taking it up, the beginning of a step, progress, what was sent, how an
attempt ended, and its cancellation. Each is one report: step record, line of history and the job's summary together or
not at all (requirement INV-05), inside the transaction that is given.

Every report locks the job's row and compares holder and fence before anything else. What it finds otherwise it says, and
writes nothing: `Lost` (another Worker has it), `Ended` (it is settled: a late report changes nothing, INV-03),
`CancelAsked` (roll back what the transaction did, then `settle_cancelled`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobcontract.job_states import JobEventKind, JobStatus, StepStatus
from jobservice.application import Outcome
from jobservice.application_jobs import Patience
from jobservice.rules import jobs as rules
from jobservice.rules.job_states import Again as Again
from jobservice.rules.job_states import CancelAsked as CancelAsked
from jobservice.rules.job_states import Ended as Ended
from jobservice.rules.job_states import GoOn as GoOn
from jobservice.rules.job_states import Held as Held
from jobservice.rules.job_states import Lost as Lost
from jobservice.rules.job_states import Passed as Passed
from jobservice.rules.job_states import StepState as StepState
from jobservice.rules.job_states import Wait as Wait
from jobservice.store import jobs as store
from jobservice.store.database import Transaction
from jobservice.store.job_events import NewEvent
from jobservice.store.job_steps import StepChange
from jobservice.store.jobs import LockedJob
from jobservice.usecases.job_beginnings import begin_step as begin_step
from jobservice.usecases.job_beginnings import hand_back as hand_back
from jobservice.usecases.job_beginnings import held_by, hold_still
from jobservice.usecases.job_beginnings import take_up as take_up
from jobservice.usecases.job_runs import (
    LOST,
    ended,
    fail_step,
    hold_of,
    late,
    lost_to,
    not_running,
    outside_reference,
    write_step,
)
from jobservice.usecases.job_runs import Begun as Begun
from jobservice.usecases.job_runs import Kept as Kept
from jobservice.usecases.job_runs import Run as Run
from jobservice.usecases.job_runs import TakenUp as TakenUp
from jobservice.usecases.job_runs import outward_key as outward_key
from jobservice.usecases.job_settling import settle, settle_with


async def report_progress(
    transaction: Transaction, run: Run, position: int, percent: int, sentence: str | None = None
) -> Kept | CancelAsked | Ended | Lost:
    """Write how far the running step is; less than before changes nothing (INV-04)."""
    job = await store.lock(transaction, run.family, run.job)
    if (lost := not_running(run, job, position)) is not None or job is None:
        return lost or Lost(sentence=LOST)
    if job.state.cancel_asked:
        return CancelAsked(person=job.state.cancel_asked_by, reason=job.state.cancel_reason or "")
    step = job.state.at(position)
    percent = min(max(percent, 0), 100)
    if percent <= step.progress and sentence is None:
        return Kept(progress=job.state.progress)
    percent = max(percent, step.progress)
    said = rules.safe(sentence) if sentence else f"{step.label}: {percent} %."
    event = NewEvent(
        kind=JobEventKind.PROGRESS,
        sentence=said,
        step=step.step,
        status=StepStatus.RUNNING.value,
        detail={"percent": percent},
    )
    change = StepChange(
        position=position,
        status=StepStatus.RUNNING,
        progress=percent,
        sentence=said if sentence else None,
    )
    return Kept(progress=await write_step(transaction, run, job, step, change, [event]))


async def report_sent(transaction: Transaction, run: Run, position: int) -> Kept | CancelAsked | Held | Ended | Lost:
    """Write that the running step's one call to the outside world is made now: commit it before the call. Reads stops and
    money switch once more."""
    locked = await store.lock_holding_work(transaction, run.family, run.job)
    job = None if locked is None else locked[0]
    if (lost := not_running(run, job, position)) is not None or job is None or locked is None:
        return lost or Lost(sentence=LOST)
    if job.state.cancel_asked:
        return CancelAsked(person=job.state.cancel_asked_by, reason=job.state.cancel_reason or "")
    step = job.state.at(position)
    if (held := held_by(locked[1], step.moves)) is not None:
        return await hold_still(transaction, run, job, step, Held(sentence=held))
    event = NewEvent(
        kind=JobEventKind.PROGRESS,
        sentence=f"{step.label}: sent.",
        step=step.step,
        status=StepStatus.RUNNING.value,
        detail={"sent": True},
    )
    key = outward_key(job.lineage, step.step)
    change = StepChange(
        position=position,
        status=StepStatus.RUNNING,
        sentence=rules.goes_on_sentence(step),
        sent=True,
        outward_key=key,
    )
    return Kept(progress=await write_step(transaction, run, job, step, change, [event]))


async def report_outcome(
    transaction: Transaction,
    run: Run,
    position: int,
    outcome: Outcome,
    *,
    patience: Patience,
    result: Mapping[str, Any] | None = None,
    reference: str | None = None,
    jitter: float = 0.0,
) -> GoOn | Again | Ended | CancelAsked | Lost:
    """Write how the running attempt ended, in the transaction of its effects; where that ends the job, settle it.

    done: the step succeeded; the last one settles the job as succeeded. retry, failed: tried again within `patience`
    (every way counts against its attempts, case RETRY-04), else step and job failed. refused, uncertain: failed at once.
    `result`: what later steps may read. `reference`: of the log line of a failure; None = a new one. `jitter`: 0 to 1.
    A step that was sent and is tried again was not taken: *sent* is taken back, its key and its line of history stay.
    Where a cancellation was asked for, nothing is written, unless the step was sent: what happened outside is kept, and
    where nothing did, the job is settled as cancelled with what was answered.
    """
    job = await store.lock(transaction, run.family, run.job)
    if (lost := lost_to(run, job)) is not None or job is None:
        return lost or Lost(sentence=LOST)
    decided = rules.decide_report(job.state, position, outcome, patience=patience, jitter=jitter)
    if isinstance(decided, Ended):
        return late(job, "report-outcome")
    if isinstance(decided, rules.Fail):
        return await fail_step(transaction, run, job, decided, reference=reference, outcome=outcome)
    if isinstance(decided, rules.GiveUp):
        return await _give_up(transaction, run, job, decided)
    if isinstance(decided, rules.Succeed):
        return await _succeed(transaction, run, job, decided, outcome=outcome, result=result)
    if isinstance(decided, Again):
        await _try_again(transaction, run, job, position, decided, reference)
    return decided


async def _try_again(
    transaction: Transaction, run: Run, job: LockedJob, position: int, decided: Again, reference: str | None
) -> None:
    step = job.state.at(position)
    change = StepChange(
        position=position,
        status=StepStatus.RETRYING,
        wait_seconds=decided.seconds,
        sentence=decided.sentence,
        failure_reference=reference,
        unsent=step.sent,
    )
    event = NewEvent(
        kind=JobEventKind.STEP_RETRYING,
        sentence=decided.sentence,
        step=step.step,
        status=StepStatus.RETRYING.value,
        detail={"attempt": step.attempts, "seconds": round(decided.seconds, 3)},
    )
    await write_step(transaction, run, job, step, change, [event])


async def _succeed(
    transaction: Transaction,
    run: Run,
    job: LockedJob,
    decided: rules.Succeed,
    *,
    outcome: Outcome,
    result: Mapping[str, Any] | None,
) -> GoOn | Ended:
    step = decided.step
    change = StepChange(
        position=step.position,
        status=StepStatus.SUCCEEDED,
        progress=100,
        sentence=decided.sentence,
        reference=outside_reference(outcome),
        result=result,
    )
    event = NewEvent(
        kind=JobEventKind.STEP_SUCCEEDED,
        sentence=decided.sentence,
        step=step.step,
        status=StepStatus.SUCCEEDED.value,
        detail={"attempt": step.attempts},
    )
    if decided.next is not None:
        await write_step(transaction, run, job, step, change, [event])
        return GoOn(position=decided.next)
    settled = await settle_with(
        transaction, job, JobStatus.SUCCEEDED, [change], [event], sentence=decided.sentence, hold=hold_of(run)
    )
    return ended(settled)


async def _give_up(transaction: Transaction, run: Run, job: LockedJob, decided: rules.GiveUp) -> Ended:
    step = decided.step
    change = StepChange(position=step.position, status=StepStatus.CANCELLED, sentence=decided.sentence)
    event = NewEvent(
        kind=JobEventKind.STEP_CANCELLED,
        sentence=f"{step.label} was ended: {decided.sentence}",
        step=step.step,
        status=StepStatus.CANCELLED.value,
        detail={"attempt": step.attempts},
    )
    settled = await settle_with(
        transaction, job, JobStatus.CANCELLED, [change], [event], sentence=_by_whom(job), hold=hold_of(run)
    )
    return ended(settled)


def _by_whom(job: LockedJob) -> str:
    return f"Cancelled by {job.state.cancel_asked_by or 'the service'}: {job.state.cancel_reason}"


async def settle_cancelled(transaction: Transaction, run: Run) -> Ended | Lost:
    """Settle the job as cancelled, with its running and queued steps: after its waits and tasks ended. `Lost` also where
    nobody asked for it."""
    job = await store.lock(transaction, run.family, run.job)
    if (lost := lost_to(run, job)) is not None or job is None:
        return lost or Lost(sentence=LOST)
    if job.state.status.final:
        return late(job, "settle-cancelled")
    if not job.state.cancel_asked:
        return Lost(sentence="Nobody asked for the job to be cancelled.")
    return ended(await settle(transaction, job, JobStatus.CANCELLED, sentence=_by_whom(job), hold=hold_of(run)))
