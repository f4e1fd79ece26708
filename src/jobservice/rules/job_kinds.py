"""Owns what a kind of background job is: its steps as data, version by version, and what it declares. Pure values;
records build them. Never knows how often a step is tried: that is code (application.Patience).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jobcontract.job_states import PLAN_ACCOUNT
from jobcontract.states import InputType, Moves

SERVICE_FAMILY = "service"
"""The family of jobs that are no application's."""
PLAN_APPLY = PLAN_ACCOUNT
"""The kind of the account of a confirmed plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDefinition:
    """One step of a definition. `undo` is the use case that takes it back (sagas)."""

    step: str
    label: str
    use_case: str
    moves: Moves
    weight: int = 1
    undo: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KindInput:
    """One declared input of a kind."""

    name: str
    label: str
    type: InputType
    required: bool
    most: int | None = None
    """Most characters of a text; None of other types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUseCase:
    """A use-case record that jobs run, as a step or as what is done when one failed."""

    id: str
    title: str
    moves: Moves
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    """A kind of job. `versions` by number; a job keeps the one that it was submitted with. `failure_effect` is a use case,
    or None with `no_effect` saying why nothing is to be done (requirement INV-08)."""

    id: str
    label: str
    application: str
    family: str
    """Of its tables: the application's name, dashes as underscores."""
    moves: Moves
    retryable: bool
    failure_effect: str | None
    no_effect: str | None
    inputs: tuple[KindInput, ...]
    versions: Mapping[int, tuple[StepDefinition, ...]]
    submitted_by: str | None = None
    """The bulk command whose confirmed plans submit it; such a kind moves money, and nothing else submits it."""

    @property
    def version(self) -> int:
        """The version that new jobs get."""
        return max(self.versions)

    @property
    def steps(self) -> tuple[StepDefinition, ...]:
        """The steps that new jobs get."""
        return self.versions[self.version]

    def label_of(self, step: str | None) -> str | None:
        """How a step is read, by its latest version that has it; None where none has."""
        versions = (self.versions[number] for number in sorted(self.versions, reverse=True))
        return next((each.label for steps in versions for each in steps if each.step == step), None)


def plan_apply() -> JobKind:
    """The kind that every service has: the account of a confirmed plan. It is carried by the plan, which keeps what is
    left to do; nobody submits, retries or cancels it."""
    step = StepDefinition(step="apply", label="Carry out the plan", use_case=PLAN_APPLY, moves=Moves.MONEY)
    return JobKind(
        id=PLAN_APPLY,
        label="Apply of a plan",
        application=SERVICE_FAMILY,
        family=SERVICE_FAMILY,
        moves=Moves.MONEY,
        retryable=False,
        failure_effect=None,
        no_effect="The plan keeps what is left: its items are free again, and the uncertain ones wait for a person.",
        inputs=(),
        versions={1: (step,)},
    )


def family_of(application: str) -> str:
    """The name of an application's tables."""
    return application.replace("-", "_").replace(".", "_")


def readable(kind: str) -> str:
    """A label for a kind that nobody registered: `payments.bank-file` reads *Bank file*."""
    words = kind.rpartition(".")[2].replace("-", " ").replace("_", " ").strip() or kind
    return words[:1].upper() + words[1:]
