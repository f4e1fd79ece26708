"""Owns how a transition of a step is written: a value, and its form as a parameter. The statements are `store/jobs.py`'s,
which writes step, root and history together. Decides nothing (`rules/jobs.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from jobcontract.job_states import StepStatus
from jobcontract.states import Moves
from jobservice.rules.job_states import StepState


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChange:
    """What becomes of the step at a position. None: stays as it is; `attempts` and `handed_back` are added."""

    position: int
    status: StepStatus
    attempts: int = 0
    handed_back: int = 0
    progress: int | None = None
    wait_seconds: float | None = None
    sentence: str | None = None
    failure_reference: str | None = None
    outward_key: str | None = None
    sent: bool = False
    unsent: bool = False
    """*sent* is taken back: the outside world said that it did not take it."""
    reference: str | None = None
    result: Mapping[str, Any] | None = None

    def parameters(self) -> dict[str, Any]:
        """As one object of the statement's list."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def read_step(row: Mapping[str, Any]) -> StepState:
    """A step from the JSON of `jobs/read`."""
    return StepState(
        position=row["position"],
        step=row["step"],
        label=row["label"],
        use_case=row["use_case"],
        undo=row["undo"],
        moves=Moves(row["moves"]),
        weight=row["weight"],
        status=StepStatus(row["status"]),
        attempts=row["attempts"],
        handed_back=row["handed_back"],
        progress=row["progress"],
        sent=row["sent"],
        sentence=row["sentence"],
        wait_seconds=max(float(row["wait_seconds"] or 0.0), 0.0),
    )
