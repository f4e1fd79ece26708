"""Owns the kinds of background jobs of the fake service, and the steps of each. Values alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jobcontract.job_states import StepStatus
from jobcontract.jobs import DeclaredField, JobKind, JobStep
from jobcontract.states import Moves


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeStep:
    """One step of a definition: id, label, how often it is tried at most."""

    step: str
    label: str
    moves: Moves = Moves.NOTHING
    most: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeKind:
    """A kind, with what only its jobs show."""

    wire: JobKind
    steps: tuple[FakeStep, ...]
    effect: str | None
    """What a failure does, None where it does nothing."""
    submitted_by: str | None = None
    """The bulk command whose confirmed plans submit it."""

    def queued(self) -> list[JobStep]:
        """The steps of a job that nobody began."""
        return [
            JobStep(
                position=at,
                step=step.step,
                label=step.label,
                use_case=f"{self.wire.id}.{step.step}",
                moves=step.moves,
                status=StepStatus.QUEUED,
                attempts=0,
                attempts_most=step.most,
                progress=0,
                started_at=None,
                settled_at=None,
                next_attempt_at=None,
                sentence=None,
                failure_reference=None,
                reference=None,
            )
            for at, step in enumerate(self.steps, 1)
        ]


def _field(name: str, label: str, kind: str = "text", *, required: bool = True) -> DeclaredField:
    return DeclaredField(name=name, label=label, type=kind, required=required)


def _kind(
    identifier: str,
    label: str,
    *steps: FakeStep,
    inputs: tuple[DeclaredField, ...] = (),
    retryable: bool = True,
    effect: str | None = None,
    no_effect: str = "Nothing: what was done so far stays, and a retry goes on from there.",
    submitted_by: str | None = None,
) -> FakeKind:
    moves = Moves.MONEY if any(step.moves is Moves.MONEY for step in steps) else Moves.NOTHING
    wire = JobKind(
        id=identifier,
        label=label,
        application="service" if identifier.startswith("service.") else "payments",
        moves=moves,
        retryable=retryable,
        failure_effect=effect or no_effect,
        inputs=inputs,
        steps=tuple(step.label for step in steps),
    )
    return FakeKind(wire=wire, steps=steps, effect=effect, submitted_by=submitted_by)


BANK_FILE = _kind(
    "payments.bank-file",
    "Bank file",
    FakeStep(step="collect", label="Collect the payouts"),
    FakeStep(step="write", label="Write the file"),
    FakeStep(step="submit", label="Give it to the bank", moves=Moves.MONEY, most=3),
    FakeStep(step="acknowledge", label="Wait for the bank"),
    FakeStep(step="archive", label="Keep a note of it"),
    effect="Opens a work item for finance: what is left of the file.",
    submitted_by="payments.release-many",
)
ACTIVATE = _kind(
    "workspace.activate",
    "Activation of a workspace",
    FakeStep(step="check", label="Check the licence"),
    FakeStep(step="reserve", label="Reserve the name"),
    FakeStep(step="open", label="Open the workspace", most=8),
    FakeStep(step="write", label="Write its applications"),
    inputs=(_field("licence", "Licence"), _field("seats", "Seats", "integer")),
    effect="Gives the reserved name back, and says that the workspace was not activated.",
)
EXPORT = _kind(
    "payments.export",
    "Export of a month",
    FakeStep(step="check", label="Check the month", most=2),
    FakeStep(step="render", label="Write the file", most=2),
    FakeStep(step="deliver", label="Deliver it", most=3),
    inputs=(_field("month", "Month"), _field("format", "Format"), _field("store", "Store")),
    no_effect="Nothing: a file is delivered whole or not at all; whoever needs it asks again.",
)
ARCHIVE = _kind(
    "payments.archive-statements",
    "Archive of statements",
    FakeStep(step="gather", label="Gather the statements"),
    FakeStep(step="archive", label="Archive them"),
    FakeStep(step="index", label="Write the index"),
    inputs=(_field("statements", "Statements", "integer"),),
    no_effect="Nothing: statements stay where they are until all are in the archive.",
)
REBUILD = _kind(
    "reports.rebuild",
    "Rebuild of reports",
    FakeStep(step="read", label="Read the ledger"),
    FakeStep(step="publish", label="Publish them"),
    inputs=(_field("year", "Year", "integer"), _field("draft", "Draft", "boolean", required=False)),
    retryable=False,
    no_effect="Nothing: the reports of the night before stay published.",
)
PLAN_APPLY = _kind(
    "service.plan-apply",
    "Apply of a plan",
    FakeStep(step="apply", label="Carry out the plan", moves=Moves.MONEY),
    retryable=False,
    no_effect="The plan keeps what is left: its items are free again, and the uncertain ones wait for a person.",
)
LETTER = _kind("mailing.tasks.send_letter", "Send letter", FakeStep(step="send_letter", label="Send letter"))
CLOSE = _kind("close_of_day", "Close of day", FakeStep(step="close_of_day", label="Close of day"))

KINDS: Mapping[str, FakeKind] = {
    each.wire.id: each for each in (BANK_FILE, ACTIVATE, EXPORT, ARCHIVE, REBUILD, PLAN_APPLY)
}
"""What the application registered."""
FOREIGN: Mapping[str, FakeKind] = {each.wire.id: each for each in (LETTER, CLOSE)}
"""What jobs of other engines are: no kind of these is registered."""
