"""Owns what steps of background jobs of the example are run against in tests: a job whose steps run one after the other, as
their record says, with a call that keeps what they ask for. Waits are counted, and take no time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from examples.payments import application
from jobcontract.states import OutcomeKind
from jobservice import records
from jobservice.application import (
    Application,
    NewWorkItem,
    Outcome,
    OutwardStep,
    PlanPayout,
    StepCall,
    StepOrder,
)
from jobservice.application_jobs import JobInputs
from jobservice.rules.job_kinds import JobKind

LINEAGE = "01890000-0000-7000-8000-000000000001"
PLAN = "01890000-0000-7000-8000-0000000000aa"


def kinds() -> Mapping[str, JobKind]:
    """The kinds of the example."""
    found, findings = records.check(application)
    assert found is not None, findings
    return found.job_kinds


@dataclass(kw_only=True)
class Call:
    """One attempt at a step of a job in leeds."""

    kind: str
    step: str
    inputs: JobInputs
    results: Mapping[str, Mapping[str, Any]]
    payouts: tuple[PlanPayout, ...] = ()
    customer: str | None = None
    workspace: str | None = None
    tenant: str = "leeds"
    job: str = LINEAGE
    attempt: int = 1
    requester: str | None = "m.ito"
    plan: str | None = PLAN
    pushed: dict[tuple[str, str], NewWorkItem] = field(default_factory=dict)
    submitted: dict[tuple[str, str], JobInputs] = field(default_factory=dict)
    kept: dict[str, str | int | bool] = field(default_factory=dict)
    told: list[tuple[int, str | None]] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None
    """What happens while it waits."""

    @property
    def scope(self) -> str:
        return f"{LINEAGE}/{self.step}"

    def result_of(self, step: str) -> Mapping[str, Any]:
        return self.results.get(step, {})

    def outward_key(self, step: str) -> str:
        return f"jc-{LINEAGE}-{step}"

    def push(self, queue: str, item: NewWorkItem) -> None:
        self.pushed[queue, item.key] = item

    def submit(self, kind: str, submission_identity: str, inputs: JobInputs) -> None:
        self.submitted[kind, submission_identity] = inputs

    def keep(self, **result: str | int | bool) -> None:
        self.kept.update(result)

    async def progress(self, percent: int, sentence: str | None = None) -> None:
        self.told.append((percent, sentence))

    async def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.meanwhile()

    async def released(self) -> tuple[PlanPayout, ...]:
        return self.payouts


@dataclass(kw_only=True)
class Ran:
    """How far a job came: the outcome of each step that ran, and their calls."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)

    @property
    def last(self) -> Outcome:
        """Of the last step that ran."""
        return list(self.outcomes.values())[-1]


async def run(kind: str, inputs: JobInputs, *, steps: Application = application, **more: Any) -> Ran:
    """Run the steps of a kind's newest version until one is not done."""
    ran = Ran()
    results: dict[str, Mapping[str, Any]] = {}
    for each in kinds()[kind].steps:
        call = Call(kind=kind, step=each.step, inputs=inputs, results=dict(results), **more)
        seam: StepCall = call
        function = steps.steps[each.use_case].function
        ran.calls[each.step] = call
        if callable(function):
            outcome = await function(seam)
        else:
            outcome = await send(function, call)
        ran.outcomes[each.step] = outcome
        if outcome.kind is not OutcomeKind.DONE:
            break
        results[each.step] = call.kept
    return ran


async def send(outward: OutwardStep, call: Call, payouts: Sequence[PlanPayout] | None = None) -> Outcome:
    """Make the one call of an outward step."""
    order = StepOrder(
        key=call.outward_key(call.step),
        tenant=call.tenant,
        job=call.job,
        inputs=call.inputs,
        payouts=tuple(call.payouts if payouts is None else payouts),
        results=call.results,
    )
    return await outward.send(order)
