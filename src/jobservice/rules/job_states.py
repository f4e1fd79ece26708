"""Owns what is known of a job and its steps when something is decided of it: plain values, read after the job's row was
locked. Never decides anything (`rules/jobs.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.job_states import Carrier, JobResolution, JobStatus, StepStatus
from jobcontract.states import Moves


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """One step of a job as it stands. `handed_back`: attempts that a stopping Worker gave back, which count against no
    limit. `wait_seconds`: until its next attempt, of a retrying one; 0 = now."""

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

    @property
    def counted(self) -> int:
        """Attempts that count against its limit."""
        return self.attempts - self.handed_back

    @property
    def named(self) -> str:
        """It in a sentence: `step 4 (submit)`."""
        return f"step {self.position} ({self.step})"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job as it stands, with its steps in their order. `ours`: its holder and fence are those of whoever asks."""

    status: JobStatus
    progress: int
    moves: Moves
    carrier: Carrier
    steps: tuple[StepState, ...]
    cancel_asked: bool
    cancel_asked_by: str | None
    resolution: JobResolution | None
    last_step: str | None

    def at(self, position: int) -> StepState:
        """The step at a position, from 1; ValueError where it has none."""
        for each in self.steps:
            if each.position == position:
                return each
        raise ValueError(f"the job has no step {position}")
