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
        application=identifier.partition(".")[0],
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
    FakeStep(step="collect", label="Collect the released payouts"),
    FakeStep(step="write", label="Write the file"),
    FakeStep(step="send", label="Send it to the bank", moves=Moves.MONEY, most=3),
    FakeStep(step="acknowledge", label="Wait for the bank's acknowledgement"),
    FakeStep(step="book", label="Book what was acknowledged"),
    inputs=(_field("batch", "Batch"),),
    effect="Opens a work item for finance: the file may have reached the bank.",
    submitted_by="payments.release-many",
)
ACTIVATE = _kind(
    "workspace.activate",
    "Activate a workspace",
    FakeStep(step="reserve", label="Reserve the name"),
    FakeStep(step="create", label="Create the workspace"),
    FakeStep(step="access", label="Give access to its people"),
    FakeStep(step="tell", label="Tell the owner", most=8),
    inputs=(
        _field("region", "Region"),
        _field("seats", "Seats", "integer", required=False),
        _field("trial", "Trial", "boolean", required=False),
    ),
    effect="Gives the reserved name back.",
)
EXPORT = _kind(
    "customers.export",
    "Customer export",
    FakeStep(step="read", label="Read the records"),
    FakeStep(step="write", label="Write the archive", most=4),
    FakeStep(step="hand-over", label="Hand the archive over", most=3),
    inputs=(_field("format", "Format"), _field("since", "Since", required=False)),
)
REBUILD = _kind(
    "reports.rebuild",
    "Rebuild reports",
    FakeStep(step="read", label="Read the ledger"),
    FakeStep(step="build", label="Build the reports"),
    FakeStep(step="publish", label="Publish them"),
    inputs=(_field("year", "Year", "integer"),),
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

KINDS: Mapping[str, FakeKind] = {each.wire.id: each for each in (BANK_FILE, ACTIVATE, EXPORT, REBUILD, PLAN_APPLY)}
"""What the application registered."""
FOREIGN: Mapping[str, FakeKind] = {each.wire.id: each for each in (LETTER, CLOSE)}
"""What jobs of other engines are: no kind of these is registered."""
