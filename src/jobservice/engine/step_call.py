"""Owns what the function of a step sees and may ask for: what it asks for is kept, and done only with its report. Sees no
transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import storable
from jobservice.application import NewWorkItem
from jobservice.application_jobs import JobInputs, PlanPayout
from jobservice.engine.running import RunningJob, Why
from jobservice.usecases.job_reports import Begun, outward_key

KEPT_MOST = 100_000
"""Most characters that a step keeps for later ones: names and values of all that it kept."""
_WHOLE_MOST = 2**63
EFFECTS_MOST = 1_000
"""Most items and jobs that one step asks for: they are written in one transaction, which nothing interrupts."""


class StepOver(Exception):
    """The step is not this attempt's any more: nothing that it does is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPush:
    """A work item that a step wants pushed."""

    queue: str
    item: NewWorkItem


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedJob:
    """A job that a step wants submitted."""

    kind: str
    submission_identity: str
    inputs: JobInputs


@dataclass(slots=True, kw_only=True, eq=False)
class JobStepCall:
    """`jobservice.application_jobs.StepCall` of one attempt. Functions see the protocol alone."""

    running: RunningJob
    begun: Begun
    declare: Callable[[RunningJob, int, int, str | None], None]
    """Declares progress: job, position, percent, sentence."""
    payouts: Callable[[str, str], Awaitable[tuple[PlanPayout, ...]]]
    """What a plan of a tenant released."""
    effects: list[WantedPush | WantedJob] = field(default_factory=list)
    result: dict[str, str | int | bool] = field(default_factory=dict)
    over: bool = False
    """Whether the attempt ended: what is asked for after that is refused."""

    @property
    def tenant(self) -> str:
        """The one tenant of this job."""
        return self.running.tenant

    @property
    def job(self) -> str:
        """Id of the job."""
        return self.running.job

    @property
    def kind(self) -> str:
        """Id of its kind."""
        return self.begun.kind

    @property
    def step(self) -> str:
        """Id of the step within the kind."""
        return self.begun.step.step

    @property
    def attempt(self) -> int:
        """Which attempt it is, from 1."""
        return self.begun.attempt

    @property
    def scope(self) -> str:
        """The idempotency scope: equal in every attempt and in every retry of the job."""
        return self.begun.scope

    @property
    def inputs(self) -> JobInputs:
        """The job's inputs, as its kind declares them."""
        return self.begun.inputs

    @property
    def customer(self) -> str | None:
        """The customer in whose scope it runs."""
        return self.begun.customer

    @property
    def workspace(self) -> str | None:
        """The workspace in whose scope it runs."""
        return self.begun.workspace

    @property
    def requester(self) -> str | None:
        """Id of the person who asked for it."""
        return self.begun.requester

    @property
    def plan(self) -> str | None:
        """Id of the confirmed plan that submitted it."""
        return self.begun.plan

    def result_of(self, step: str) -> Mapping[str, Any]:
        """What an earlier step of this job kept; empty where it kept nothing."""
        return self.begun.results.get(step, {})

    def outward_key(self, step: str) -> str:
        """The key under which a step of this job acts outside, equal in every attempt and in every retry of the job."""
        return outward_key(self.begun.lineage, step)

    def push(self, queue: str, item: NewWorkItem) -> None:
        """Push a work item without money, with the step's report. Refusal INVALID_REQUEST where it carries money."""
        self._is_on()
        if item.payment is not None:
            raise Refusal(
                ErrorCode.INVALID_REQUEST,
                f"{item.key[:80]!r} carries money, and a job pushes none: money moves through a plan that a person confirmed.",
            )
        self._has_room()
        self.effects.append(WantedPush(queue=queue, item=item))

    def submit(self, kind: str, submission_identity: str, inputs: JobInputs) -> None:
        """Submit another job, with the step's report."""
        self._is_on()
        self._has_room()
        self.effects.append(WantedJob(kind=kind, submission_identity=submission_identity, inputs=dict(inputs)))

    def keep(self, **result: str | int | bool) -> None:
        """What later steps of this job may read. TypeError for what is neither text, a whole number nor a yes or no;
        ValueError for what cannot be kept, or is more than `KEPT_MOST`."""
        self._is_on()
        for name, value in result.items():
            _refuse_kept(name, value)
        kept = {**self.result, **result}
        if (much := sum(len(name) + len(str(value)) for name, value in kept.items())) > KEPT_MOST:
            raise ValueError(f"a step keeps at most {KEPT_MOST:,} characters, and no {much:,}: keep where the rest is")
        self.result = kept

    async def progress(self, percent: int, sentence: str | None = None) -> None:
        """Declare how far the step is; never waits. StepOver where it is not this attempt's any more."""
        self._is_on()
        if sentence is not None and not isinstance(sentence, str):
            raise TypeError(f"progress is declared with a text, and no {type(sentence).__name__}")
        self.declare(self.running, self.begun.step.position, max(0, min(int(percent), 100)), sentence)

    async def wait(self, seconds: float) -> None:
        """Wait; a cancellation ends it at once."""
        await asyncio.sleep(max(seconds, 0.0))

    async def released(self) -> tuple[PlanPayout, ...]:
        """The payouts that the plan of this job released, in the order of the plan; empty without a plan."""
        return () if self.plan is None else await self.payouts(self.tenant, self.plan)

    def _has_room(self) -> None:
        if len(self.effects) >= EFFECTS_MOST:
            raise Refusal(
                ErrorCode.INVALID_REQUEST,
                f"{self.begun.step.label} asked for more than {EFFECTS_MOST:,} items and jobs at once: spread them over jobs.",
            )

    def _is_on(self) -> None:
        if self.over or self.running.why is Why.LOST:
            raise StepOver(f"step {self.step} of job {self.job} is not this attempt's any more")


def _refuse_kept(name: str, value: object) -> None:
    if not isinstance(value, str | int):
        raise TypeError(f"{name}: a step keeps texts, whole numbers, true and false, and no {type(value).__name__}")
    if not all(storable(text) for text in (name, value) if isinstance(text, str)):
        raise ValueError(f"{name!r}: a step keeps texts without NUL and without lone surrogates")
    if isinstance(value, int) and not -_WHOLE_MOST <= value < _WHOLE_MOST:
        raise ValueError(f"{name}: a step keeps whole numbers of 64 bits")
