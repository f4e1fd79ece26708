"""Owns one background job of the fake service: what is kept of it, how a Worker's reports change it, how the wire shows
it. Never asks who may see it, and never tells a stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobconsole.client.fake_job_kinds import FakeKind
from jobcontract.job_states import (
    Carrier,
    FailureEffectState,
    JobEventKind,
    JobStatus,
    NoticeState,
    StepStatus,
)
from jobcontract.jobs import HERE, Cancellation, JobEvent, JobNotice, JobStep, JobSummary, Resolution
from jobcontract.session import Person

EVENTS_FIRST = 50
"""Lines of history that come with a job."""


@dataclass(slots=True, kw_only=True)
class FakeJob:
    """A job and everything of it."""

    summary: JobSummary
    kind: FakeKind
    steps: list[JobStep]
    inputs: dict[str, str | int | bool] = field(default_factory=dict)
    events: list[JobEvent] = field(default_factory=list)
    """The oldest first."""
    notices: list[JobNotice] = field(default_factory=list)
    cancellation: Cancellation | None = None
    resolved: Resolution | None = None
    plan: str | None = None
    carrier: Carrier | None = Carrier.ENGINE
    worker: str | None = None
    effect: FailureEffectState = FailureEffectState.NONE
    reason: str | None = None
    """Why it was made, of a retry."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.summary.id

    @property
    def here(self) -> bool:
        """Whether it is this service's own."""
        return self.summary.source == HERE

    @property
    def unresolved(self) -> bool:
        """Whether it failed, and nobody resolved it, nor a retry mended it."""
        return self.summary.status is JobStatus.FAILED and self.summary.resolution is None

    def put(self, **more: object) -> None:
        """Change members of the summary."""
        self.summary = self.summary.model_copy(update=more)

    def tell(
        self,
        kind: JobEventKind,
        at: datetime,
        sentence: str,
        *,
        person: Person | None = None,
        step: JobStep | None = None,
        **detail: Any,
    ) -> None:
        """Add a line to its history."""
        event = JobEvent(
            sequence=len(self.events) + 1,
            at=at,
            kind=kind,
            step=None if step is None else step.step,
            status=str(self.summary.status if step is None else step.status),
            progress=self.summary.progress,
            sentence=sentence,
            person=person,
            detail=detail,
        )
        self.events.append(event)
        if not self.summary.status.final or kind is JobEventKind.SETTLED:
            self.put(activity_at=max(at, self.summary.activity_at))

    # What a Worker reports

    @property
    def current(self) -> JobStep | None:
        """The first step that is not settled."""
        return next((step for step in self.steps if not step.status.final), None)

    def begin(self, at: datetime, worker: str) -> None:
        """A Worker takes it up."""
        self.worker = worker
        self.put(status=JobStatus.RUNNING, started_at=at)
        self.tell(JobEventKind.STARTED, at, "A Worker took it up.")
        self.begin_step(at)

    def begin_step(self, at: datetime) -> None:
        """The next step, or the next attempt at it, begins."""
        step = self.current
        if step is None:
            return
        step = self._step(
            step,
            status=StepStatus.RUNNING,
            attempts=step.attempts + 1,
            started_at=step.started_at or at,
            next_attempt_at=None,
        )
        self.tell(JobEventKind.STEP_STARTED, at, f"{step.label}: attempt {step.attempts} began.", step=step)

    def retry_step(self, at: datetime, sentence: str, again: datetime) -> None:
        """The attempt at the running step ended without success."""
        step = self.current
        if step is not None:
            step = self._step(step, status=StepStatus.RETRYING, sentence=sentence, next_attempt_at=again)
            self.tell(JobEventKind.STEP_RETRYING, at, f"{step.label}: {sentence}", step=step)

    def report(self, at: datetime, percent: int, sentence: str | None = None) -> None:
        """The running step declares how far it is; it never falls."""
        step = self.current
        if step is not None:
            step = self._step(step, progress=max(step.progress, percent), sentence=sentence or step.sentence)
            self.put(progress=max(self.summary.progress, self._progress()))
            self.tell(JobEventKind.PROGRESS, at, sentence or f"{step.label}: {step.progress} %.", step=step)

    def end_step(self, at: datetime, sentence: str = "Done.", reference: str | None = None) -> None:
        """The running step succeeded; after the last one the job has."""
        step = self.current
        if step is None:
            return
        step = self._step(
            step, status=StepStatus.SUCCEEDED, progress=100, settled_at=at, sentence=sentence, reference=reference
        )
        self.put(progress=max(self.summary.progress, self._progress()))
        self.tell(JobEventKind.STEP_SUCCEEDED, at, f"{step.label}: {sentence}", step=step)
        if self.current is None:
            self._settle(at, JobStatus.SUCCEEDED, "Succeeded: every step of it did.")

    def fail(self, at: datetime, summary: str, reference: str) -> None:
        """The running step failed for good, and the job with it."""
        step = self.current
        if step is not None:
            step = self._step(
                step,
                status=StepStatus.FAILED,
                attempts=max(step.attempts, 1),
                started_at=step.started_at or at,
                settled_at=at,
                next_attempt_at=None,
                sentence=summary,
                failure_reference=reference,
            )
            self.tell(JobEventKind.STEP_FAILED, at, f"{step.label}: {summary}", step=step, reference=reference)
        self._stop_rest(at)
        told = summary if step is None or not self.here else f"{step.label}: {summary}"
        self.put(failure_summary=told, failure_reference=reference)
        self._settle(at, JobStatus.FAILED, f"Failed: {told}")
        if self.kind.effect is not None:
            self.effect = FailureEffectState.DONE
            self.tell(JobEventKind.EFFECT_DONE, at, self.kind.effect)

    def cancel(self, at: datetime) -> None:
        """It is cancelled: nothing of it goes on."""
        self._stop_rest(at)
        self._settle(at, JobStatus.CANCELLED, "Cancelled.")

    def _stop_rest(self, at: datetime) -> None:
        for step in [each for each in self.steps if not each.status.final]:
            self._step(step, status=StepStatus.CANCELLED, settled_at=at, next_attempt_at=None, touch=False)

    def _settle(self, at: datetime, status: JobStatus, sentence: str) -> None:
        self.worker = None
        self.put(status=status, settled_at=at)
        self.tell(JobEventKind.SETTLED, at, sentence)
        if (
            self.here
            and self.summary.requester is not None
            and not any(each.outcome is status for each in self.notices)
        ):
            self.notices.append(notice(self, status, self.summary.requester))

    def _step(self, step: JobStep, *, touch: bool = True, **more: object) -> JobStep:
        changed = step.model_copy(update=more)
        self.steps[step.position - 1] = changed
        if touch:
            self.put(last_step=changed.step, last_step_status=changed.status, last_step_label=changed.label)
        return changed

    def _progress(self) -> int:
        done = sum(step.progress if step.status is not StepStatus.SUCCEEDED else 100 for step in self.steps)
        return done // max(len(self.steps), 1)


def notice(job: FakeJob, outcome: JobStatus, person: Person, **more: Any) -> JobNotice:
    """Telling a person of one outcome; due, unless said otherwise."""
    return JobNotice.model_validate(
        {
            "id": f"{job.id}-{outcome}",
            "outcome": outcome,
            "person": person,
            "state": NoticeState.DUE,
            "attempts": 0,
            "try_at": job.summary.settled_at,
            "delivered_at": None,
            "reason": None,
            "result": None,
            "corrects": None,
            **more,
        }
    )


def waiting(kind: FakeKind, at: datetime, **members: Any) -> JobSummary:
    """A job of the kind that was asked for at an instant, and that nobody began."""
    nothing = dict.fromkeys(
        (
            "customer",
            "workspace",
            "started_at",
            "settled_at",
            "last_step",
            "last_step_status",
            "failure_summary",
            "failure_reference",
            "retry_of",
            "retried_by",
            "cancel_asked_at",
            "resolution",
        )
    )
    given = {
        "kind": kind.wire.id,
        "kind_label": kind.wire.label,
        "application": kind.wire.application,
        "moves": kind.wire.moves,
        "status": JobStatus.PENDING,
        "progress": 0,
        "requested_at": at,
        "activity_at": at,
    }
    return JobSummary.model_validate({**nothing, **given, **members})
