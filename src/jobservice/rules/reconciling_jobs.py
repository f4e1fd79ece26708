"""Owns what becomes of a job whose account and whose orchestration disagree (requirements reconciler, INV-07). Pure: the
account and what the engine's own table says in, a verdict with its sentence out.

The account decides wherever it can: a step is done when its own report says so, whatever the engine says of the whole.
Never judges work under way: whoever goes on with a dead process's work does that, and no verdict here races with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from jobcontract.job_states import JobStatus, StepStatus

GRACE_SECONDS = 5.0
"""Nothing is judged that showed life so lately: what is between two transactions of a run is no disagreement."""


class Orchestration(StrEnum):
    """What the engine's own table says of a job's workflow."""

    ABSENT = "absent"
    """It has none: it was never handed over, or is gone."""
    WAITING = "waiting"
    """In its queue."""
    RUNNING = "running"
    ORPHANED = "orphaned"
    """Its process is gone; another one takes it up."""
    SUCCEEDED = "succeeded"
    ERROR = "error"
    CANCELLED = "cancelled"
    EXCEEDED = "exceeded"
    """Taken up as often as the engine does, and never at its end."""

    @property
    def live(self) -> bool:
        """Whether it would still run."""
        return self in (Orchestration.WAITING, Orchestration.RUNNING, Orchestration.ORPHANED)


_OF_ENGINE = {
    "ENQUEUED": Orchestration.WAITING,
    "DELAYED": Orchestration.WAITING,
    "SUCCESS": Orchestration.SUCCEEDED,
    "ERROR": Orchestration.ERROR,
    "CANCELLED": Orchestration.CANCELLED,
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": Orchestration.EXCEEDED,
}


def orchestration_of(status: str | None, *, alive: bool) -> Orchestration:
    """The engine's word for a workflow (None: it knows none), `alive` = its process shows life."""
    if status is None:
        return Orchestration.ABSENT
    if status == "PENDING":
        return Orchestration.RUNNING if alive else Orchestration.ORPHANED
    # A word that a later release of the engine adds is none of ours to judge.
    return _OF_ENGINE.get(status, Orchestration.RUNNING)


class VerdictKind(StrEnum):
    """What is done about a job."""

    LEAVE = "leave"
    HAND_OVER = "hand-over"
    """It is handed to the engine again."""
    SUCCEED = "succeed"
    FAIL = "fail"
    CANCEL = "cancel"
    END = "end"
    """Its workflow is ended: the job is settled already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What is decided by of a job. `quiet` = seconds since its last activity."""

    status: JobStatus
    cancel_asked: bool
    quiet: float
    fence: int = 0
    """How often it was taken up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of the account, in the order of its definition."""

    position: int
    label: str
    status: StepStatus
    sent: bool = False
    """Whether a call to the outside world was begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is done, and the sentence that the job's history keeps; `found` in a few words."""

    kind: VerdictKind
    sentence: str = ""
    found: str = ""


LEAVE = Verdict(kind=VerdictKind.LEAVE)


def verdict(account: Account, steps: Sequence[Step], orchestration: Orchestration) -> Verdict:
    """What becomes of a job that the engine carries. LEAVE wherever nothing is wrong, or somebody is still at it."""
    if account.status.final:
        if not orchestration.live:
            return LEAVE
        return Verdict(
            kind=VerdictKind.END,
            sentence=f"The engine would still have run it, although it is settled as {account.status.value}; its run was ended.",
            found=orchestration.value,
        )
    if account.quiet < GRACE_SECONDS:
        return LEAVE
    match orchestration:
        case Orchestration.RUNNING | Orchestration.ORPHANED:
            return LEAVE
        case Orchestration.WAITING:
            return _waiting(account)
        case Orchestration.ABSENT:
            return _absent(account, steps)
        case Orchestration.SUCCEEDED:
            return _succeeded(steps)
        case Orchestration.CANCELLED:
            return _cancelled(account, steps)
        case _:
            return _broken(account, steps, orchestration)


def _waiting(account: Account) -> Verdict:
    if not (account.cancel_asked and account.status is JobStatus.PENDING):
        return LEAVE
    return Verdict(
        kind=VerdictKind.CANCEL,
        sentence="A person asked to cancel it before anybody had begun it; settled as cancelled.",
        found=Orchestration.WAITING.value,
    )


def _absent(account: Account, steps: Sequence[Step]) -> Verdict:
    found = Orchestration.ABSENT.value
    if account.cancel_asked and not _doubtful(steps):
        return Verdict(
            kind=VerdictKind.CANCEL,
            sentence="The engine has no run of it, and a person asked to cancel it; settled as cancelled.",
            found=found,
        )
    if account.status is JobStatus.PENDING:
        return Verdict(
            kind=VerdictKind.HAND_OVER,
            sentence="The engine had no run of it, and nothing of it was begun; it was handed over again.",
            found=found,
        )
    if _whole(steps):
        return _account_says_done("The engine has no run of it any more", found)
    return _failed(f"The engine has no run of it any more, and {_unfinished(steps)}", steps, found)


def _succeeded(steps: Sequence[Step]) -> Verdict:
    """INV-07: a success that the engine reports is kept only where every step says the same."""
    found = Orchestration.SUCCEEDED.value
    if _whole(steps):
        return _account_says_done("The engine had ended its run with success", found)
    return _failed(f"Success refused: {_unfinished(steps)}", steps, found)


def _cancelled(account: Account, steps: Sequence[Step]) -> Verdict:
    found = Orchestration.CANCELLED.value
    if _whole(steps):
        return _account_says_done("The engine had cancelled its run after the last step", found)
    if account.cancel_asked and not _doubtful(steps):
        return Verdict(
            kind=VerdictKind.CANCEL,
            sentence=f"The engine had cancelled its run, as a person asked: {_unfinished(steps)}; settled as cancelled.",
            found=found,
        )
    asked = "" if account.cancel_asked else ", which nobody had asked for here"
    return _failed(f"The engine had cancelled its run{asked}: {_unfinished(steps)}", steps, found)


def _broken(account: Account, steps: Sequence[Step], orchestration: Orchestration) -> Verdict:
    said = "The engine had ended its run with an error"
    if orchestration is Orchestration.EXCEEDED:
        times = "once" if account.fence == 1 else f"{account.fence:,} times"
        said = f"Its run was taken up {times} and never came to its end"
    if _whole(steps):
        return _account_says_done(said, orchestration.value)
    return _failed(f"{said}: {_unfinished(steps)}", steps, orchestration.value)


def _account_says_done(said: str, found: str) -> Verdict:
    return Verdict(
        kind=VerdictKind.SUCCEED, sentence=f"{said}, and every step had succeeded; settled as succeeded.", found=found
    )


def _failed(said: str, steps: Sequence[Step], found: str) -> Verdict:
    doubt = _doubtful(steps)
    sent = (
        f" Whether what step {doubt.position} ({doubt.label}) sent has arrived is not known."
        if doubt is not None
        else ""
    )
    return Verdict(kind=VerdictKind.FAIL, sentence=f"{said}; settled as failed.{sent}", found=found)


def _whole(steps: Sequence[Step]) -> bool:
    """Whether there are steps, and all of them succeeded."""
    return bool(steps) and all(step.status is StepStatus.SUCCEEDED for step in steps)


def _doubtful(steps: Sequence[Step]) -> Step | None:
    """The step of which a call outside was begun and no outcome is known."""
    return next((step for step in steps if step.sent and not step.status.final), None)


_IS = {
    StepStatus.RUNNING: "is still running",
    StepStatus.RETRYING: "is still to be tried again",
    StepStatus.FAILED: "failed",
    StepStatus.CANCELLED: "was cancelled",
    StepStatus.QUEUED: "was never begun",
}
_WORST_FIRST = tuple(_IS)


def _unfinished(steps: Sequence[Step]) -> str:
    """The step that speaks most against success, in words: one under way before one that ended, then one never begun."""
    if not steps:
        return "no step of it is recorded"
    left = [step for step in steps if step.status is not StepStatus.SUCCEEDED]
    worst = min(left, key=lambda step: (_WORST_FIRST.index(step.status), step.position))
    return f"step {worst.position} ({worst.label}) {_IS[worst.status]}"
