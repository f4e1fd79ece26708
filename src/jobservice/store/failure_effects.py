"""Owns the statements of failure effects: taking the one that is due, locking its job, writing what became of it. Each write
carries the attempt that it is of. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobcontract.job_states import FailureEffectState, JobEventKind
from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenEffect:
    """A failure effect that was taken for one attempt, the `attempts`-th."""

    family: str
    job: str
    tenant: str
    attempts: int

    @property
    def key(self) -> Mapping[str, object]:
        """What every statement about it carries."""
        return {"family": self.family, "job": self.job, "attempts": self.attempts}


@dataclass(frozen=True, slots=True, kw_only=True)
class DueEffect:
    """What a failure effect may know of its job, which is locked. `effect`: the use case's id."""

    family: str
    job: str
    tenant: str
    kind: str
    effect: str
    attempts: int
    inputs: Mapping[str, Any]
    customer: str | None
    workspace: str | None
    depth: int
    """How many jobs submitted one another before it."""
    subject: str
    summary: str
    reference: str
    step: str | None


async def due(transaction: Transaction) -> bool:
    """Whether one is due, over all tenants."""
    row = await transaction.row("failure_effects/due")
    return row is not None and bool(row["due"])


async def take(transaction: Transaction, *, first_pause: float, longest_pause: float) -> TakenEffect | None:
    """Take the one that is due longest, over all tenants; it is due again after a pause (seconds) that doubles."""
    row = await transaction.row("failure_effects/take", first=first_pause, longest=longest_pause)
    return None if row is None else TakenEffect(**row)


async def lock(transaction: Transaction, taken: TakenEffect) -> DueEffect | None:
    """The job, locked; None where that attempt is not the one that counts any more, or it was done."""
    row = await transaction.row("failure_effects/lock", **taken.key)
    return None if row is None else DueEffect(**row)


async def finish(transaction: Transaction, taken: TakenEffect, state: FailureEffectState, sentence: str) -> bool:
    """Write that it was done, or is given up, with a line of history."""
    kind = JobEventKind.EFFECT_DONE if state is FailureEffectState.DONE else JobEventKind.EFFECT_FAILED
    written = await transaction.run(
        "failure_effects/finish", **taken.key, state=state.value, kind=kind.value, sentence=sentence
    )
    return written > 0


async def again(transaction: Transaction, taken: TakenEffect, *, seconds: float) -> None:
    """Try it again after so many seconds, in place of the pause that it has."""
    await transaction.run("failure_effects/again", **taken.key, seconds=seconds)
