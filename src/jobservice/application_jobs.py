"""Owns the seam of background jobs: what a step of one may do, and how an application registers steps and submits jobs.

A step is a function that runs outside any transaction, as long as it needs: what it wants done to the service is kept in
its call, and done in the one transaction that also writes its report, the line of history and the job's summary. Imports
neither store nor engine. Never knows how a step is carried.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from jobservice.application import NewWorkItem, Outcome

JobInputs = Mapping[str, str | int | bool]
"""Inputs of a job: declared fields only, no secrets and no customer content (requirement INV-09)."""


class StepCall(Protocol):
    """What one attempt at a step of a job sees, and what it may ask for. Nothing that it asks for happens unless the step
    returns `done`."""

    @property
    def tenant(self) -> str:
        """The one tenant of this job."""

    @property
    def job(self) -> str:
        """Id of the job."""

    @property
    def kind(self) -> str:
        """Id of its kind."""

    @property
    def step(self) -> str:
        """Id of the step within the kind."""

    @property
    def attempt(self) -> int:
        """Which attempt it is, from 1: counted when it began, so that one whose Worker died counts too."""

    @property
    def scope(self) -> str:
        """The idempotency scope: lineage of the job and step, equal in every attempt and in every retry of the job."""

    @property
    def inputs(self) -> JobInputs:
        """The job's inputs, as its kind declares them."""

    @property
    def customer(self) -> str | None:
        """The customer in whose scope it runs."""

    @property
    def workspace(self) -> str | None:
        """The workspace in whose scope it runs."""

    @property
    def requester(self) -> str | None:
        """Id of the person who asked for it; None for work that nobody asked for."""

    @property
    def plan(self) -> str | None:
        """Id of the confirmed plan that submitted it."""

    def result_of(self, step: str) -> Mapping[str, Any]:
        """What an earlier step of this job kept; empty where it kept nothing."""

    def outward_key(self, step: str) -> str:
        """The key under which a step of this job acts outside, equal in every attempt and in every retry of the job: what
        a later step asks the outside world by."""

    def push(self, queue: str, item: NewWorkItem) -> None:
        """Push a work item without money, with the step's report. Where its business key was used before, it is done. A step
        asks for a thousand items and jobs at most: they are one transaction."""

    def submit(self, kind: str, submission_identity: str, inputs: JobInputs) -> None:
        """Submit another job, with the step's report; the same identity is the same job."""

    def keep(self, **result: str | int | bool) -> None:
        """What later steps of this job may read: plain JSON, no secrets, 100,000 characters at most. More is kept
        elsewhere, and here where."""

    async def progress(self, percent: int, sentence: str | None = None) -> None:
        """Declare how far the step is, 0 to 100: it never falls. Written at once where the last was a second ago or
        more, else with the next; costs nothing in between. Raises where the step is not this Worker's any more."""

    async def wait(self, seconds: float) -> None:
        """Wait; a cancellation ends it at once."""

    async def released(self) -> tuple[PlanPayout, ...]:
        """The payouts that the plan of this job released, in the order of the plan; empty without a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPayout:
    """A payout that a confirmed plan released: what a file to a bank says of it. Never logged."""

    item: str
    outward_key: str
    amount_minor: int
    currency: str
    payee_name: str
    account: str


StepFunction = Callable[[StepCall], Awaitable["Outcome"]]
"""`async def collect(call: StepCall) -> Outcome`: done, refused, retry, failed; an exception is *failed* and is tried again
as often as the step says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOrder:
    """What an outward step sends: its key is equal in every attempt, and in every retry of the job."""

    key: str
    tenant: str
    job: str
    inputs: JobInputs
    payouts: tuple[PlanPayout, ...]
    """Of the plan that submitted the job."""
    results: Mapping[str, Mapping[str, Any]]
    """What each earlier step kept."""


class OutwardStep(Protocol):
    """A step that acts outside (MONEY.md 3): *sent* is committed with its key, then the one call is made, then the outcome
    is committed. Whoever finds *sent* without an outcome asks with `look_up`."""

    async def send(self, order: StepOrder) -> Outcome:
        """Make the call, once; as `jobservice.application.Outward.send`. `retry` and `failed` only where it is certain that
        nothing happened outside: it may be sent again then, once `look_up` does not know of it."""

    async def look_up(self, key: str) -> Outcome | None:
        """What the outside world knows of that key; None where it never heard of it. Raises without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often and how fast a step is tried, and how long one attempt may take; seconds. In code, never in a record
    (requirement keep-engine-retry-configuration-in-implementation)."""

    attempts: int = 3
    first_wait: float = 1.0
    """Doubled with each attempt, with jitter."""
    longest_wait: float = 300.0
    """Also the most of what a step asks for with `retry(after_seconds=...)`."""
    bound: float = 600.0
    """How long one attempt may take."""

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.first_wait < 0 or self.longest_wait < self.first_wait or self.bound <= 0:
            raise ValueError("a step is tried at least once, waits no less than 0 s, and is bound to more than 0 s")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredStep:
    """A step as an application registered it: a function, or one that acts outside."""

    use_case: str
    function: StepFunction | OutwardStep
    patience: Patience


class FailedJob(Protocol):
    """What a failure effect sees of the job that failed, and what it may do, in the one transaction that says it was done."""

    @property
    def tenant(self) -> str: ...
    @property
    def job(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def step(self) -> str | None: ...
    @property
    def summary(self) -> str: ...
    @property
    def reference(self) -> str: ...
    @property
    def inputs(self) -> JobInputs: ...

    async def push(self, queue: str, item: NewWorkItem) -> str:
        """Push a work item without money; its id."""

    async def submit(self, kind: str, submission_identity: str, inputs: JobInputs) -> str:
        """Submit another job; its id."""


FailureEffect = Callable[[FailedJob], Awaitable["Outcome"]]
"""What a kind does when a job of it failed: exactly once a job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job that an example's seeder submits. `cancelled`: why it is cancelled at once, before anybody began it."""

    kind: str
    submission_identity: str
    inputs: JobInputs
    subject: str | None = None
    customer: str | None = None
    workspace: str | None = None
    cancelled: str | None = None


class JobDesk(Protocol):
    """Submits jobs inside a transaction that the application opened on its own connection."""

    async def submit(
        self,
        connection: Any,
        tenant: str,
        kind: str,
        submission_identity: str,
        inputs: JobInputs,
        *,
        requester: str | None,
        subject: str | None,
        customer: str | None,
        workspace: str | None,
    ) -> str:
        """The job's id: the first one's where the identity is known with the same inputs. Joins the open transaction
        and commits nothing. Refusal JOB_IDENTITY_TAKEN, JOB_INPUTS_UNFIT, NOT_FOUND (no such kind), NEEDS_PLAN."""


class JobSteps:
    """What an application registers for background jobs: steps and failure effects, by the ids of their use-case records."""

    def __init__(self) -> None:
        self.steps: dict[str, RegisteredStep] = {}
        self.failure_effects: dict[str, FailureEffect] = {}
        self._jobs: JobDesk | None = None

    def step(self, identifier: str, patience: Patience | None = None) -> Callable[[StepFunction], StepFunction]:
        """Register the decorated function as the step under the id of its use-case record; ValueError where it is taken."""

        def register(function: StepFunction) -> StepFunction:
            self._register_step(identifier, function, patience)
            return function

        return register

    def outward_step(self, identifier: str, outward: OutwardStep, patience: Patience | None = None) -> None:
        """Register a step that acts outside; ValueError where the id is taken."""
        self._register_step(identifier, outward, patience)

    def _register_step(self, identifier: str, function: StepFunction | OutwardStep, patience: Patience | None) -> None:
        if identifier in self.steps:
            raise ValueError(f"{identifier} is registered twice")
        self.steps[identifier] = RegisteredStep(use_case=identifier, function=function, patience=patience or Patience())

    def failure_effect(self, identifier: str) -> Callable[[FailureEffect], FailureEffect]:
        """Register the decorated function as a failure effect under the id of its use-case record; ValueError where it
        is taken."""

        def register(function: FailureEffect) -> FailureEffect:
            if identifier in self.failure_effects:
                raise ValueError(f"{identifier} is registered twice")
            self.failure_effects[identifier] = function
            return function

        return register

    def connect_jobs(self, desk: JobDesk) -> None:
        """Give the application its way to submit jobs; done once, by the process that loads it."""
        self._jobs = desk

    async def submit(
        self,
        connection: Any,
        *,
        tenant: str,
        kind: str,
        submission_identity: str,
        inputs: JobInputs,
        requester: str | None = None,
        subject: str | None = None,
        customer: str | None = None,
        workspace: str | None = None,
    ) -> str:
        """Submit a job inside the caller's open transaction on `connection`; the job's id (see `JobDesk.submit`)."""
        if self._jobs is None:
            raise RuntimeError("the application is not loaded by a service process yet")
        return await self._jobs.submit(
            connection,
            tenant,
            kind,
            submission_identity,
            inputs,
            requester=requester,
            subject=subject,
            customer=customer,
            workspace=workspace,
        )
