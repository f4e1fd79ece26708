"""Owns what becomes of a job whose account and whose orchestration disagree (requirements reconciler, INV-07). Pure: the
account and what the engine's own table says in, a verdict with its sentence out.

The account decides wherever it can: a step is done when its own report says so, whatever the engine says of the whole.
Never judges work under way: whoever goes on with a dead process's work does that, and no verdict here races with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jobcontract.job_states import Carrier, JobStatus, StepStatus
from jobservice.rules.job_states import JobState, StepState
from jobservice.rules.jobs import times

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
class Verdict:
    """What is done. `how`: how the job ended, for whoever reads it; `sentence`: what was found and done, for its history.
    `expected`: nothing had gone wrong."""

    kind: VerdictKind
    how: str = ""
    sentence: str = ""
    expected: bool = False


LEAVE = Verdict(kind=VerdictKind.LEAVE)


def verdict(job: JobState, orchestration: Orchestration, *, quiet: float, taken_up: int) -> Verdict:
    """What becomes of a job that the engine carries; `quiet`: seconds since its last activity, `taken_up`: how often it was.

    LEAVE wherever nothing is wrong, or somebody may still be at it.
    """
    if quiet < GRACE_SECONDS or job.carrier is not Carrier.ENGINE:
        return LEAVE
    if job.status.final:
        return _settled(job, orchestration)
    match orchestration:
        case Orchestration.RUNNING | Orchestration.ORPHANED:
            return LEAVE
        case Orchestration.WAITING:
            return _waiting(job)
        case Orchestration.ABSENT:
            return _absent(job)
        case Orchestration.SUCCEEDED:
            return _succeeded(job)
        case Orchestration.CANCELLED:
            return _cancelled(job)
        case _:
            return _broken(job, orchestration, taken_up)


def _settled(job: JobState, orchestration: Orchestration) -> Verdict:
    if not orchestration.live:
        return LEAVE
    if job.status is JobStatus.CANCELLED and not any(each.attempts for each in job.steps):
        return Verdict(
            kind=VerdictKind.END,
            sentence="Nobody had begun it: its place in the engine's queue was given up.",
            expected=True,
        )
    return Verdict(
        kind=VerdictKind.END,
        sentence=f"The engine would have gone on with it, although it had {_ENDED[job.status]}: its run was ended.",
    )


def _waiting(job: JobState) -> Verdict:
    if not (job.cancel_asked and job.status is JobStatus.PENDING):
        return LEAVE
    return _settle(
        VerdictKind.CANCEL, "Cancelled before anybody had begun it", "it waited in the engine's queue all the same"
    )


def _absent(job: JobState) -> Verdict:
    said = "the engine has no run of it"
    if job.cancel_asked and _doubtful(job) is None:
        return _settle(VerdictKind.CANCEL, "Cancelled, as a person asked", said)
    if job.status is JobStatus.PENDING:
        return Verdict(
            kind=VerdictKind.HAND_OVER,
            sentence="The engine had no run of it, and nothing of it was begun: handed over again.",
        )
    if _whole(job):
        return _account_says_done(said)
    return _failed(job, f"Its run is gone: {_unfinished(job)}", said)


def _succeeded(job: JobState) -> Verdict:
    """INV-07: a success that the engine reports is kept only where every step says the same."""
    said = "the engine says that its run succeeded"
    if _whole(job):
        return _account_says_done(said)
    return _failed(job, f"Success refused: {_unfinished(job)}", said)


def _cancelled(job: JobState) -> Verdict:
    said = "the engine says that its run was cancelled"
    if _whole(job):
        return _account_says_done(said)
    if job.cancel_asked and _doubtful(job) is None:
        return _settle(VerdictKind.CANCEL, "Cancelled, as a person asked", said)
    nobody = "" if job.cancel_asked else ", and nobody had asked for that"
    return _failed(job, f"Its run was cancelled{nobody}: {_unfinished(job)}", said)


def _broken(job: JobState, orchestration: Orchestration, taken_up: int) -> Verdict:
    said = "the engine says that its run ended with an error"
    how = "Its run ended with an error"
    if orchestration is Orchestration.EXCEEDED:
        said = "the engine has given its run up"
        how = f"Its run was taken up {times(taken_up)} and never came to its end"
    if _whole(job):
        return _account_says_done(said)
    return _failed(job, f"{how}: {_unfinished(job)}", said)


def _account_says_done(said: str) -> Verdict:
    return _settle(VerdictKind.SUCCEED, "Every step succeeded", said)


def _failed(job: JobState, how: str, said: str) -> Verdict:
    doubt = _doubtful(job)
    sent = "" if doubt is None else f". Whether what {doubt.named} sent has arrived is not known"
    return _settle(VerdictKind.FAIL, f"{how}{sent}", said)


def _settle(kind: VerdictKind, how: str, said: str) -> Verdict:
    return Verdict(kind=kind, how=f"{how}.", sentence=f"{how}; {said}. Settled as {_AS[kind]}.")


def _whole(job: JobState) -> bool:
    """Whether there are steps, and all of them succeeded."""
    return bool(job.steps) and all(step.status is StepStatus.SUCCEEDED for step in job.steps)


def _doubtful(job: JobState) -> StepState | None:
    """The step of which a call outside was begun and no outcome is known."""
    return next((step for step in job.steps if step.unanswered), None)


_AS = {VerdictKind.SUCCEED: "succeeded", VerdictKind.FAIL: "failed", VerdictKind.CANCEL: "cancelled"}
_ENDED = {JobStatus.SUCCEEDED: "succeeded", JobStatus.FAILED: "failed", JobStatus.CANCELLED: "been cancelled"}
_IS = {
    StepStatus.RUNNING: "is still running",
    StepStatus.RETRYING: "is still to be tried again",
    StepStatus.FAILED: "failed",
    StepStatus.CANCELLED: "was cancelled",
    StepStatus.QUEUED: "was never begun",
}
_WORST_FIRST = tuple(_IS)


def _unfinished(job: JobState) -> str:
    """The step that speaks most against success, in words: one under way before one that ended, then one never begun."""
    left = [step for step in job.steps if step.status is not StepStatus.SUCCEEDED]
    if not left:
        return "no step of it is recorded"
    worst = min(left, key=lambda step: (_WORST_FIRST.index(step.status), step.position))
    return f"{worst.named} {_IS[worst.status]}"
