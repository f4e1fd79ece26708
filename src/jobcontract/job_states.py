"""Owns the words of background jobs: statuses, kinds of history, outcomes, notices, resolutions, views.

Plain enumerations: the console's first frame imports them, and they import no pydantic. The five statuses are those of
the source document (requirement INV-02).
"""

from __future__ import annotations

from enum import StrEnum

HERE = "here"
"""The source of this service's own jobs."""


class JobStatus(StrEnum):
    """Where a background job stands: exactly five (requirement INV-02)."""

    PENDING = "pending"
    """Submitted; no Worker has begun it."""
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether it is settled: no other outcome replaces it (requirement INV-03)."""
        return self in FINAL_STATUSES


FINAL_STATUSES = frozenset({JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED})


class StepStatus(StrEnum):
    """Where one step of a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    """An attempt ended without success; the next one has its time."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether no report changes it any more (requirement INV-03)."""
        return self in (StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.CANCELLED)


class JobEventKind(StrEnum):
    """What one line of a job's history tells."""

    SUBMITTED = "submitted"
    """Its detail holds the definition that this job uses."""
    STARTED = "started"
    STEP_STARTED = "step-started"
    STEP_RETRYING = "step-retrying"
    STEP_SUCCEEDED = "step-succeeded"
    STEP_FAILED = "step-failed"
    STEP_CANCELLED = "step-cancelled"
    PROGRESS = "progress"
    """Declared by the work itself; coalesced, unlike everything else."""
    TAKEN_UP = "taken-up"
    """Another Worker goes on with it: the one before is gone."""
    CANCEL_ASKED = "cancel-asked"
    SETTLED = "settled"
    RECONCILED = "reconciled"
    """The account and the engine disagreed; the sentence says what was found and what was done."""
    EFFECT_DONE = "effect-done"
    EFFECT_FAILED = "effect-failed"
    RETRIED = "retried"
    """A new job was made from this one."""
    RESOLVED = "resolved"
    REVEALED = "revealed"
    """Somebody looked at its inputs."""


class JobResolution(StrEnum):
    """Why a failed job asks for nothing any more."""

    ACKNOWLEDGED = "acknowledged"
    """Somebody follows it up elsewhere; the ticket says where."""
    RESOLVED = "resolved"
    """Settled without a retry, for a reason."""
    RETRIED = "retried"
    """A retry of it succeeded."""


PLAN_ACCOUNT = "service.plan-apply"
"""The kind that every service has: the account of a confirmed plan, with the plan's id as submission identity."""


class JobView(StrEnum):
    """Which jobs a listing shows."""

    UNRESOLVED = "unresolved"
    """Failures that nobody resolved, and no retry mended: the first view."""
    ALL = "all"


class NoticeState(StrEnum):
    """What became of telling the requester of one outcome."""

    DUE = "due"
    CLAIMED = "claimed"
    """A Worker is delivering it."""
    DELIVERED = "delivered"
    SUPPRESSED = "suppressed"
    """Not to be delivered; the reason is kept."""
    GIVEN_UP = "given-up"
    """Every attempt failed."""


class FailureEffectState(StrEnum):
    """What became of a kind's failure effect for one failed job."""

    NONE = "none"
    """The kind has none, or the job did not fail."""
    DUE = "due"
    DONE = "done"
    FAILED = "failed"
    """It was tried as often as it may be."""


class Carrier(StrEnum):
    """What carries a job out."""

    ENGINE = "engine"
    PLAN = "plan"
    """A confirmed plan: the job is its account, and the plan is paused or aborted, not the job."""


class FoundNoun(StrEnum):
    """What a find may lead to."""

    JOB = "job"
    ITEM = "item"
    PLAN = "plan"
    RECOVERY = "recovery"
    SCHEDULE = "schedule"
    OCCURRENCE = "occurrence"
    PERSON = "person"
    AUDIT = "audit"
    WORKER = "worker"
