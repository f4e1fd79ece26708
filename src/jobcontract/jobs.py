"""Owns the wire models of background jobs: submission, listing, one job with steps, history and notices, acts, finding.

Neither the execution handle nor the row version is a member of anything here (requirement INV-12): a job's `changes`
counts the lines of its history. `source` is `HERE` for jobs of this service; those of other engines are only read.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AwareDatetime, Field, StringConstraints

from jobcontract.job_states import HERE as HERE
from jobcontract.job_states import (
    Carrier,
    FailureEffectState,
    FoundNoun,
    JobEventKind,
    JobResolution,
    JobStatus,
    NoticeState,
    StepStatus,
)
from jobcontract.session import Person
from jobcontract.states import Moves
from jobcontract.wire import Answer, Key, Name, Reason, Wire

Progress = Annotated[int, Field(ge=0, le=100)]
JobKindId = Annotated[Key, StringConstraints(pattern=r"^[a-z][a-z0-9]*(?:[-._][a-z0-9]+)*$", max_length=80)]
INPUTS_MOST = 50
"""Most inputs of one job."""


class SubmitJob(Wire):
    """Submit one job: the same identity with the same inputs is the same job, however often it is sent."""

    kind: JobKindId
    submission_identity: Key
    """A token of the submitter's for one intention, unique within the kind; no secret."""
    inputs: Annotated[dict[str, Any], Field(max_length=INPUTS_MOST)] = Field(default_factory=dict)
    """Declared fields of the kind only: text, whole numbers, booleans."""
    subject: Name | None = None
    """What people read of it; None: made from customer or workspace."""
    customer: Key | None = None
    workspace: Key | None = None


class JobSummary(Answer):
    """A job as a line of a listing."""

    source: str
    id: str
    kind: str
    kind_label: str
    application: str
    """The owning application."""
    status: JobStatus
    progress: Progress
    subject: str
    submission_identity: str | None
    requester: Person | None
    """None: no person asked for it."""
    customer: str | None
    workspace: str | None
    requested_at: AwareDatetime
    started_at: AwareDatetime | None
    activity_at: AwareDatetime
    settled_at: AwareDatetime | None
    last_step: str | None
    last_step_status: StepStatus | None
    last_step_label: str | None = None
    """As it is read; None where its kind does not say."""
    failure_summary: str | None
    """Safe to show."""
    failure_reference: str | None
    """To give to an engineer."""
    retry_of: str | None
    retried_by: str | None
    """The latest job that was made from this one."""
    cancel_asked_at: AwareDatetime | None
    resolution: JobResolution | None
    moves: Moves


class JobSource(Answer):
    """Where jobs were read: this service, or another engine's views."""

    name: str
    """`here`, or as the settings name it."""
    engine: str
    application: str
    reached: bool
    sentence: str | None
    """Why it was not, in a sentence."""


class Jobs(Answer):
    """A page of jobs, the latest requested first."""

    jobs: tuple[JobSummary, ...]
    sources: tuple[JobSource, ...]
    next: str | None
    looked_to: AwareDatetime | None = None
    """Where a page is short of rows although more may follow: how far back it looked."""
    now: AwareDatetime


class JobCount(Answer):
    """How many jobs a filter finds. Not exact: `about` that many, as of `as_of`; with `at_least`, that many or more."""

    count: int
    exact: bool
    at_least: bool
    as_of: AwareDatetime


class JobCounts(Answer):
    """Counts beside a listing: of its filter, and of each status in reach."""

    listed: JobCount
    unresolved: JobCount
    statuses: dict[JobStatus, JobCount]
    now: AwareDatetime


class JobStep(Answer):
    """One step of a job, in the order of its definition."""

    position: int
    step: str
    label: str
    use_case: str
    moves: Moves
    status: StepStatus
    attempts: int
    attempts_most: int | None
    progress: Progress
    started_at: AwareDatetime | None
    settled_at: AwareDatetime | None
    next_attempt_at: AwareDatetime | None
    sentence: str | None
    """How it went, or why not."""
    failure_reference: str | None
    reference: str | None
    """What the outside world calls it."""


class JobEvent(Answer):
    """One line of a job's history; `sequence` rises without holes."""

    sequence: int
    at: AwareDatetime
    kind: JobEventKind
    step: str | None
    status: str | None
    progress: Progress | None
    sentence: str
    person: Person | None
    detail: dict[str, Any]


class JobNotice(Answer):
    """Telling the requester of one outcome."""

    id: str
    outcome: JobStatus
    person: Person
    state: NoticeState
    attempts: int
    try_at: AwareDatetime | None
    delivered_at: AwareDatetime | None
    reason: str | None
    """Why it was suppressed or given up."""
    result: str | None
    """Of its last attempt."""
    corrects: JobStatus | None
    """The outcome that was told before and did not hold."""


class JobInput(Answer):
    """One input; `value` is None while it is masked."""

    name: str
    label: str
    value: str | int | bool | None
    masked: bool


class Cancellation(Answer):
    """Who asked for a job to be cancelled, when and why."""

    at: AwareDatetime
    person: Person | None
    reason: str


class Resolution(Answer):
    """Why a failed job asks for nothing any more."""

    resolution: JobResolution
    at: AwareDatetime
    person: Person | None
    reason: str | None
    ticket: str | None
    job: str | None
    """The retry that succeeded."""


class JobRelative(Answer):
    """A job of the same lineage."""

    id: str
    retry_of: str | None
    status: JobStatus
    requested_at: AwareDatetime
    requester: Person | None
    reason: str | None


class JobActs(Answer):
    """What the asking person may do with a job now; each None is possible, else the sentence says why not."""

    cancel: str | None
    retry: str | None
    resolve: str | None
    reveal: str | None


class Job(Answer):
    """A job with everything but the older part of its history."""

    summary: JobSummary
    definition_version: int | None
    carrier: Carrier | None
    plan: str | None
    """Name of the confirmed plan that it is the account of, or was submitted by."""
    retryable: bool
    failure_effect: str | None
    """In words: what a failure of this kind does, or that it does nothing and why."""
    failure_effect_state: FailureEffectState
    steps: tuple[JobStep, ...]
    events: tuple[JobEvent, ...]
    """The latest, newest first."""
    events_next: str | None
    notices: tuple[JobNotice, ...]
    inputs: tuple[JobInput, ...]
    cancellation: Cancellation | None
    resolved: Resolution | None
    lineage: tuple[JobRelative, ...]
    """All jobs of its lineage, the first one first; more than one where it was retried."""
    acts: JobActs
    worker: str | None
    """Which Worker runs it."""
    changes: int
    now: AwareDatetime


class JobEvents(Answer):
    """A page of a job's history, newest first."""

    events: tuple[JobEvent, ...]
    next: str | None
    now: AwareDatetime


class DeclaredField(Answer):
    """One input that a kind declares."""

    name: str
    label: str
    type: str
    required: bool


class JobKind(Answer):
    """A kind of job, as the application registered it."""

    id: str
    label: str
    application: str
    moves: Moves
    retryable: bool
    failure_effect: str
    inputs: tuple[DeclaredField, ...]
    steps: tuple[str, ...]


class JobKinds(Answer):
    """All kinds, by id."""

    kinds: tuple[JobKind, ...]
    now: AwareDatetime


class Submitted(Answer):
    """The job of a submission; `first` False: it was there already, with the same inputs."""

    job: JobSummary
    first: bool
    now: AwareDatetime


class CancelJob(Wire):
    """Ask for a job to be cancelled, and why (at most 500 characters)."""

    reason: Reason


class RetryJob(Wire):
    """Make a new job from a settled one, and why."""

    reason: Reason


class ResolveJob(Wire):
    """Say why a failed job asks for nothing any more: with a ticket it is acknowledged, without one it is resolved."""

    reason: Reason
    ticket: Annotated[Key, StringConstraints(strip_whitespace=True)] | None = None


class RevealJob(Wire):
    """Look at a job's inputs, and why; it is written down."""

    reason: Reason


class JobChanged(Answer):
    """A job after an act."""

    job: JobSummary
    sentence: str
    now: AwareDatetime


class JobRetried(Answer):
    """The new job, and the one that it was made from. `first` False: that retry was there already."""

    job: JobSummary
    retried: JobSummary
    first: bool
    sentence: str
    now: AwareDatetime


class RevealedJob(Answer):
    """The inputs of a job in clear."""

    inputs: tuple[JobInput, ...]
    now: AwareDatetime


class Found(Answer):
    """One thing that a text leads to."""

    noun: FoundNoun
    id: str
    """What its route takes."""
    title: str
    matched: str
    """Which of its words was met: `failure reference`, `submission identity` ..."""
    state: str | None
    at: AwareDatetime | None
    source: str = HERE
    queue: str | None = None
    """Of an item: its queue."""


class Finding(Answer):
    """All that a text leads to, within the reach of whoever asks."""

    text: str
    found: tuple[Found, ...]
    more: bool
    looked: tuple[FoundNoun, ...]
    """Where was looked: the nouns that the person may read."""
    now: AwareDatetime
