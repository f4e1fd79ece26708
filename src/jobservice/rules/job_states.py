"""Owns what is known of a job and its steps when something is decided of it, and the answers that a report of a Worker
gets: plain values, read after the job's row was locked. Never decides anything (`rules/jobs.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jobcontract.job_states import Carrier, JobResolution, JobStatus, StepStatus
from jobcontract.states import Moves


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """One step of a job as it stands. `handed_back`: attempts that a stopping Worker gave back, which count against no
    limit. `sent`: its call to the outside world was made, or was about to be; taken back where that said that it did not
    take it. `wait_seconds`: until its next attempt, of a retrying one; 0 = now."""

    position: int
    step: str
    label: str
    use_case: str
    undo: str | None
    moves: Moves
    weight: int
    status: StepStatus
    attempts: int
    handed_back: int
    progress: int
    sent: bool
    wait_seconds: float = 0.0
    sentence: str | None = None
    """What was said of it last."""

    @property
    def counted(self) -> int:
        """Attempts that count against its limit."""
        return self.attempts - self.handed_back

    @property
    def unanswered(self) -> bool:
        """Whether it was sent, and nobody has written what became of it: whoever goes on with it asks (MONEY.md 3)."""
        return self.sent and not self.status.final

    @property
    def named(self) -> str:
        """It in a sentence: `step 4 (submit)`."""
        return f"step {self.position} ({self.step})"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job as it stands, with its steps in their order."""

    status: JobStatus
    progress: int
    moves: Moves
    carrier: Carrier
    steps: tuple[StepState, ...]
    cancel_asked: bool
    cancel_asked_by: str | None
    """The name of that person."""
    cancel_reason: str | None
    resolution: JobResolution | None

    def at(self, position: int) -> StepState:
        """The step at a position, from 1; ValueError where it has none."""
        for each in self.steps:
            if each.position == position:
                return each
        raise ValueError(f"the job has no step {position}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The job is not this run's (any more), or is not there: stop, and write nothing."""

    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The job is settled, by this report or before it. `refused`: why a success was not kept (INV-07)."""

    status: JobStatus
    sentence: str
    here: bool = False
    """Whether this very call settled it."""
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAsked:
    """Somebody asked for the job to be cancelled; nothing was written. Roll back, then settle it as cancelled."""

    person: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A stop, or the money switch, lets no step begin now. Ask again in a while. `told`: the job says so since this very
    answer; else it did before."""

    sentence: str
    told: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The step is tried again in so many seconds; nothing was written."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The step has succeeded already (its Worker died after the report): go on with the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOn:
    """The step succeeded, and the step at `position` is next."""

    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The step is tried again in so many seconds."""

    seconds: float
    sentence: str
