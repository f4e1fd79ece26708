"""Owns a Worker's hold on a job and what its reports have in common: comparing holder and fence, late reports, writing
a step's transition with the job's summary, failing a step with its job. The reports themselves: `job_reports.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from jobcontract.ids import storable
from jobcontract.job_states import JobEventKind, JobStatus, StepStatus
from jobcontract.states import Moves
from jobservice.application import Outcome
from jobservice.application_jobs import JobInputs
from jobservice.rules import jobs as rules
from jobservice.rules.job_states import Ended, Lost, StepState
from jobservice.store import jobs as store
from jobservice.store.database import Transaction
from jobservice.store.job_events import NewEvent
from jobservice.store.job_steps import StepChange
from jobservice.store.jobs import LockedJob
from jobservice.usecases.job_settling import Hold, JobMoved, Settled, new_reference, settle_with

REFERENCE_MOST = 200
"""Most characters of what the outside world calls a step."""
LOST = "Another Worker has the job by now."

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One Worker's hold on one job: every report carries it."""

    family: str
    job: str
    tenant: str
    holder: str
    """Id of the Worker (a UUID)."""
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenUp:
    """The job is this Worker's: `run` is what its reports carry. `steps` in order; the first that has not succeeded is
    next. `cancel_asked`: begin nothing, `settle_cancelled`."""

    run: Run
    kind: str
    version: int
    """Of the kind's definition that this job uses."""
    moves: Moves
    steps: tuple[StepState, ...]
    cancel_asked: bool
    lineage: str
    plan: str | None
    recovery: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """An attempt at a step began, and was counted. What the step may see."""

    step: StepState
    attempt: int
    kind: str
    version: int
    inputs: JobInputs
    results: Mapping[str, Mapping[str, Any]]
    """What each earlier step kept."""
    requester: str | None
    subject: str | None
    customer: str | None
    workspace: str | None
    plan: str | None
    recovery: str | None
    depth: int
    """How many jobs submitted one another before it."""
    lineage: str
    scope: str
    """The idempotency scope: lineage and step, equal in every attempt and in every retry of the job."""
    outward_key: str
    """`scope` as the outside world knows it."""
    sent: bool
    """An earlier attempt committed *sent* and no outcome: ask with `look_up`, do not send again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A progress or *sent* was written. `progress`: of the whole job."""

    progress: int


def outward_key(lineage: str, step: str) -> str:
    """The idempotency key of a step towards the outside world: equal in every attempt and in every retry of the job."""
    return f"jc-{lineage}-{step}"


async def write_step(
    transaction: Transaction,
    run: Run,
    job: LockedJob,
    step: StepState,
    change: StepChange,
    events: list[NewEvent],
) -> int:
    """Write a transition of a step that leaves the job running; the job's progress."""
    after = rules.with_steps(job.state, {change.position: (change.status, change.progress)})
    root = store.RootChange(
        status=JobStatus.RUNNING,
        holder=run.holder,
        fence=run.fence,
        new_holder=run.holder,
        progress=rules.progress_of(after.steps, before=job.state.progress),
        last_step=step.step,
        last_step_status=change.status,
    )
    row = await store.write(transaction, job, root, events, [change])
    if row is None:
        raise JobMoved(f"job {job.id} is not as it was locked")
    return int(row["progress"])


def lost_to(run: Run, job: LockedJob | None) -> Lost | None:
    """Whether the job is not this run's. A settled one says so instead (`_late`)."""
    if job is None:
        return Lost(sentence="The job is not there (any more).")
    if job.state.status.final:
        return None
    if (job.holder, job.fence) != (run.holder, run.fence):
        _log.info("job-report-lost", job=job.id, kind=job.kind, fence=run.fence, now=job.fence)
        return Lost(sentence=LOST)
    return None


def not_running(run: Run, job: LockedJob | None, position: int) -> Lost | Ended | None:
    """Why the step takes no report now."""
    if (lost := lost_to(run, job)) is not None or job is None:
        return lost
    if job.state.status.final:
        return late(job, "report-progress")
    step = job.state.at(position)
    if step.status is not StepStatus.RUNNING:
        return Lost(sentence=f"{step.label} is {step.status.value}, not running.")
    return None


def late(job: LockedJob, what: str) -> Ended:
    """A report about a settled job: it is logged, and changes nothing (INV-03)."""
    status = job.state.status
    _log.info("job-late-report", job=job.id, kind=job.kind, tenant=job.tenant, status=status.value, report=what)
    return Ended(status=status, sentence=f"The job is {status.value}: a late report changes nothing.")


def hold_of(run: Run) -> Hold:
    """The run's hold, as a settlement compares it."""
    return Hold(holder=run.holder, fence=run.fence)


def ended(settled: Settled) -> Ended:
    """A settlement as the answer of a report."""
    return Ended(status=settled.status, sentence=settled.sentence, here=settled.here, refused=settled.refused)


async def fail_step(
    transaction: Transaction,
    run: Run,
    job: LockedJob,
    decided: rules.Fail,
    *,
    reference: str | None,
    outcome: Outcome | None = None,
) -> Ended:
    """End the step as failed, and the job with it. `reference`: of the log line; None = a new one."""
    step, reference = decided.step, reference or new_reference()
    change = StepChange(
        position=step.position,
        status=StepStatus.FAILED,
        sentence=decided.sentence,
        failure_reference=reference,
        reference=outside_reference(outcome) if outcome is not None else _key_of(job, decided),
    )
    event = NewEvent(
        kind=JobEventKind.STEP_FAILED,
        sentence=decided.sentence,
        step=step.step,
        status=StepStatus.FAILED.value,
        detail={"attempt": step.attempts, "reference": reference} | ({"uncertain": True} if decided.uncertain else {}),
    )
    settled = await settle_with(
        transaction,
        job,
        JobStatus.FAILED,
        [change],
        [event],
        sentence=rules.failure_summary(step, decided.sentence),
        reference=reference,
        step=step.step,
        hold=hold_of(run),
    )
    return ended(settled)


def _key_of(job: LockedJob, decided: rules.Fail) -> str | None:
    """What a person asks the outside world by, where nobody knows what became of the step."""
    return outward_key(job.lineage, decided.step.step) if decided.uncertain else None


def outside_reference(outcome: Outcome) -> str | None:
    """What the outside world calls it, where it can be kept."""
    reference = outcome.reference
    return reference[:REFERENCE_MOST] if reference and storable(reference) else None
