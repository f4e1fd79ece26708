"""Owns every decision about a background job: which step may begin, what an attempt's end makes of step and job, whether
a status may be settled, whether a person may cancel, retry or resolve (requirement INV-01 to INV-12). Pure.

    pending -> running -> succeeded | failed | cancelled       pending -> cancelled, failed
    queued -> running -> succeeded | failed | cancelled | retrying -> running      queued, retrying -> cancelled, failed
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from jobcontract.errors import ErrorCode
from jobcontract.ids import storable
from jobcontract.job_states import Carrier, JobStatus, StepStatus
from jobcontract.states import Moves, OutcomeKind
from jobservice.application import Outcome
from jobservice.application_jobs import Patience
from jobservice.rules.claims import Allowed, Denied
from jobservice.rules.job_kinds import JobKind
from jobservice.rules.job_states import Again, CancelAsked, Ended, Held, Lost, Passed, StepState, Wait
from jobservice.rules.job_states import JobState as JobState

SENTENCE_MOST = 1_000
"""Most characters that are kept of a sentence about a step or a job."""
CAUSE_MOST = 200
_DOUBLINGS_MOST = 64
ASKS_MORE = 3
"""Attempts past its own that a step has to ask what became of what it sent: a question that kills its Worker ends too."""
DEPTH_MOST = 10
"""Most jobs that may have submitted one another before one: what works through a month by days, files and records is four
deep. A kind that submits itself, or two that submit each other, would go on until somebody noticed; one that does so twice a
job has made two thousand by then. The account's own check says the same."""

JOB_MOVES = {
    JobStatus.PENDING: frozenset({JobStatus.RUNNING, JobStatus.FAILED, JobStatus.CANCELLED}),
    JobStatus.RUNNING: frozenset({JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED}),
    JobStatus.SUCCEEDED: frozenset[JobStatus](),
    JobStatus.FAILED: frozenset[JobStatus](),
    JobStatus.CANCELLED: frozenset[JobStatus](),
}
"""Where a job's status may go from each (INV-02, INV-03)."""
STEP_MOVES = {
    StepStatus.QUEUED: frozenset({StepStatus.RUNNING, StepStatus.FAILED, StepStatus.CANCELLED}),
    StepStatus.RUNNING: frozenset(
        {StepStatus.RUNNING, StepStatus.RETRYING, StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.CANCELLED}
    ),
    StepStatus.RETRYING: frozenset({StepStatus.RUNNING, StepStatus.FAILED, StepStatus.CANCELLED}),
    StepStatus.SUCCEEDED: frozenset[StepStatus](),
    StepStatus.FAILED: frozenset[StepStatus](),
    StepStatus.CANCELLED: frozenset[StepStatus](),
}
"""Where a step's status may go from each; running to running: the Worker of the attempt before was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """An attempt may begin; it is this one, from 1. `lost`: the Worker of the attempt before was lost. Of a step that was
    sent it asks what became of that, and does nothing else."""

    step: StepState
    attempt: int
    lost: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """The step ends as failed, and the job with it. `uncertain`: nobody knows whether it happened outside."""

    step: StepState
    sentence: str
    uncertain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """The step ends as cancelled, and the job with it: a person asked for that, and what was sent was not taken."""

    step: StepState
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeed:
    """The step ends as succeeded. `next`: the position that follows; None: it was the last, and the job succeeds."""

    step: StepState
    sentence: str
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """The status that is settled. `refused`: why it is not the wanted one."""

    status: JobStatus
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelNow:
    """Nobody began it: it is cancelled at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelLater:
    """Its Worker ends what runs, then it is cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledBefore:
    """Somebody asked before; what they said stands."""

    sentence: str


def progress_of(steps: tuple[StepState, ...], *, before: int = 0) -> int:
    """A running job's progress from its steps by their weights, floored, never under `before`, and 100 only at success."""
    whole = sum(each.weight for each in steps)
    done = sum(each.weight * (100 if each.status is StepStatus.SUCCEEDED else each.progress) for each in steps)
    return max(before, min(done // whole, 99) if whole else 0)


def with_steps(job: JobState, changed: Mapping[int, tuple[StepStatus, int | None]]) -> JobState:
    """The job with steps, by position, in another status and at another progress (None: as before)."""
    steps = []
    for each in job.steps:
        status, progress = changed.get(each.position, (each.status, None))
        steps.append(replace(each, status=status, progress=each.progress if progress is None else progress))
    return replace(job, steps=tuple(steps))


def decide_begin(
    job: JobState, position: int, *, attempts_most: int, held: str | None
) -> Begin | Fail | Passed | Wait | Held | CancelAsked | Ended | Lost:
    """Whether an attempt at the step may begin. `held`: why no step may, from stops and money switch.

    A step that was sent without an outcome begins whatever holds others still, also where a cancellation was asked for and
    when its attempts are used up: it only asks, and what it is told has to be written (MONEY.md 3).
    """
    if (over := _over(job)) is not None:
        return over
    step = job.at(position)
    if step.status is StepStatus.SUCCEEDED:
        return Passed()
    if not step.unanswered and (asked := _asked(job)) is not None:
        return asked
    before = next((each for each in job.steps[: position - 1] if each.status is not StepStatus.SUCCEEDED), None)
    if before is not None:
        return Lost(sentence=f"{_sentence(step.named)} cannot begin: {before.named} is {before.status.value}.")
    if step.status.final:
        return Lost(sentence=f"{_sentence(step.named)} is {step.status.value}.")
    if step.status is StepStatus.RETRYING and step.wait_seconds > 0:
        return Wait(seconds=step.wait_seconds)
    if step.counted >= attempts_most + (ASKS_MORE if step.unanswered else 0):
        return Fail(step=step, sentence=_worn_out(step, attempts_most), uncertain=step.unanswered)
    if held is not None and not step.unanswered:
        return Held(sentence=held)
    return Begin(step=step, attempt=step.attempts + 1, lost=step.status is StepStatus.RUNNING)


_HELD = "Held still. "


def held_sentence(held: str) -> str:
    """What a step says that something holds still. `held`: who stopped what, and why."""
    return safe(f"{_HELD}{held}")


def goes_on_sentence(step: StepState) -> str | None:
    """What a step says that begins after it was held still; None where it was not."""
    return "It goes on." if step.sentence is not None and step.sentence.startswith(_HELD) else None


def _worn_out(step: StepState, most: int) -> str:
    """What is said of a step that has had all its attempts, and whose last one did not say how it ended."""
    if step.unanswered:
        return (
            f"It was sent, and nobody knows whether it happened outside: {times(ASKS_MORE)} the Worker that was to ask was "
            "lost. A person has to look."
        )
    if step.status is not StepStatus.RUNNING:
        return f"It was tried {times(step.counted)}, and at most {most} are allowed."
    return f"Attempt {step.counted} of {most} ended without a word: its Worker was lost."


def decide_report(
    job: JobState, position: int, outcome: Outcome, *, patience: Patience, jitter: float
) -> Succeed | Again | Fail | GiveUp | CancelAsked | Ended | Lost:
    """What the end of the running attempt makes of step and job.

    A cancellation that was asked for wins, except over what happened outside already: a sent step that is done, or of
    which nobody knows, is written down as such (case SAGA-03).
    """
    if (over := _over(job)) is not None:
        return over
    step = job.at(position)
    if step.status is not StepStatus.RUNNING:
        return Lost(sentence=f"{_sentence(step.named)} is {step.status.value}, not running: its report comes too late.")
    happened = step.sent and outcome.kind in (OutcomeKind.DONE, OutcomeKind.UNCERTAIN)
    sentence = safe(outcome.sentence)
    if not happened and (asked := _asked(job)) is not None:
        return GiveUp(step=step, sentence=sentence) if step.sent else asked
    match outcome.kind:
        case OutcomeKind.DONE:
            left = [each for each in job.steps if each is not step and each.status is not StepStatus.SUCCEEDED]
            return Succeed(step=step, sentence=sentence, next=left[0].position if left else None)
        case OutcomeKind.REFUSED | OutcomeKind.UNCERTAIN:
            return Fail(step=step, sentence=sentence, uncertain=outcome.kind is OutcomeKind.UNCERTAIN)
        case OutcomeKind.RETRY | OutcomeKind.FAILED:
            if step.counted >= patience.attempts:
                tried = "" if step.counted <= 1 else f" It was tried {times(step.counted)}."
                return Fail(step=step, sentence=_joined(sentence, tried))
            return Again(
                seconds=retry_wait(patience, step.counted, asked=outcome.after_seconds, jitter=jitter),
                sentence=sentence,
            )


def retry_wait(patience: Patience, attempts: int, *, asked: float | None, jitter: float) -> float:
    """Seconds until the attempt after this many: the first wait doubled each time, up to half of it taken away by
    `jitter` (0 to 1), at most the longest. What a step asks for counts in its place, from now to the longest (case
    RETRY-04)."""
    if asked is not None and (type(asked) is int or not math.isnan(asked)):
        return float(min(max(asked, 0.0), patience.longest_wait))  # compared first: an integer may be past any float
    doublings = min(max(attempts - 1, 0), _DOUBLINGS_MOST)
    whole = min(patience.first_wait * 2.0**doublings, patience.longest_wait)
    return whole * (1.0 - 0.5 * min(max(jitter, 0.0), 1.0))


def decide_settle(job: JobState, wanted: JobStatus) -> Settling | Ended:
    """The status that a settlement keeps: no success while a step has not succeeded (INV-07), no cancellation that nobody
    asked for, or while nobody knows what became of what was sent. `Ended` where it is settled already. ValueError where `wanted` is not final."""
    if not wanted.final:
        raise ValueError(f"{wanted.value} settles nothing")
    if (over := _over(job)) is not None:
        return over
    if wanted is JobStatus.SUCCEEDED:
        open_step = _first_open(job.steps)
        if open_step is not None:
            return Settling(
                status=JobStatus.FAILED, refused=f"success refused: {open_step.named} {_STILL[open_step.status]}"
            )
    if wanted is JobStatus.CANCELLED and not job.cancel_asked:
        return Settling(status=JobStatus.FAILED, refused="cancellation refused: nobody asked for it")
    if wanted is JobStatus.CANCELLED and (sent := next((each for each in job.steps if each.unanswered), None)):
        refused = f"cancellation refused: {sent.named} was sent, and nobody knows whether it happened outside"
        return Settling(status=JobStatus.FAILED, refused=refused)
    return Settling(status=wanted)


_STILL = {
    StepStatus.QUEUED: "was never begun",
    StepStatus.RUNNING: "is still running",
    StepStatus.RETRYING: "is still to be tried again",
    StepStatus.FAILED: "failed",
    StepStatus.CANCELLED: "was cancelled",
}


def _first_open(steps: tuple[StepState, ...]) -> StepState | None:
    """The step that refuses a success: one at work before one that only waits."""
    at_work = (each for each in steps if each.status in (StepStatus.RUNNING, StepStatus.RETRYING))
    others = (each for each in steps if each.status is not StepStatus.SUCCEEDED)
    return next(at_work, None) or next(others, None)


def decide_cancel(job: JobState) -> CancelNow | CancelLater | CancelledBefore | Denied:
    """What asking for a cancellation does."""
    if job.carrier is Carrier.PLAN:
        return _carried("paused or aborted")
    if job.cancel_asked and job.status in (JobStatus.PENDING, JobStatus.RUNNING, JobStatus.CANCELLED):
        by = job.cancel_asked_by or "The service"
        what = "cancelled it already" if job.status is JobStatus.CANCELLED else "asked for that already"
        return CancelledBefore(sentence=f"{by} {what}: {job.cancel_reason}")
    if job.status.final:
        sentence = f"The job has {job.status.value} already: there is nothing to cancel."
        return Denied(kind=ErrorCode.JOB_SETTLED, sentence=sentence)
    return CancelNow() if job.status is JobStatus.PENDING else CancelLater()


def decide_retry(job: JobState, kind: JobKind | None, *, reason: str, allow_money: bool) -> Allowed | Denied:
    """Whether a new job may be made from this one (INV-10). `kind` None: the records have it no more."""
    if job.carrier is Carrier.PLAN:
        return _carried("resumed, or its items go into another one")
    if not job.status.final:
        sentence = f"The job is {job.status.value} still; only a settled one is retried. Cancel it first, or wait."
        return Denied(kind=ErrorCode.JOB_NOT_SETTLED, sentence=sentence)
    if kind is None:
        sentence = "The records have no such kind any more, so that nothing can run a retry."
        return Denied(kind=ErrorCode.JOB_NOT_RETRYABLE, sentence=sentence)
    if not kind.retryable:
        sentence = f"{kind.label}: its record says that it is not retried. Submit a new one where one is wanted."
        return Denied(kind=ErrorCode.JOB_NOT_RETRYABLE, sentence=sentence)
    if not reason.strip():
        return Denied(kind=ErrorCode.INVALID_REQUEST, sentence="A retry takes a reason.")
    if Moves.MONEY in (kind.moves, job.moves) and not allow_money:
        sentence = (
            f"{kind.label} moves money: it is retried by a recovery of act retry, which finance confirms with a code."
        )
        return Denied(kind=ErrorCode.NEEDS_PLAN, sentence=sentence)
    return Allowed()


def decide_resolve(job: JobState) -> Allowed | Denied:
    """Whether somebody may say why a failure asks for nothing any more."""
    if job.status is not JobStatus.FAILED:
        sentence = f"The job is {job.status.value}: only a failed one is resolved."
        return Denied(kind=ErrorCode.JOB_NOT_FAILED, sentence=sentence)
    if job.resolution is not None:
        sentence = f"The failure is {job.resolution.value} already, and stays so."
        return Denied(kind=ErrorCode.JOB_RESOLVED, sentence=sentence)
    return Allowed()


def too_deep(label: str, depth: int) -> str | None:
    """Why a job of the kind `label` is not submitted by other jobs at this depth; None where it may be."""
    if depth <= DEPTH_MOST:
        return None
    return (
        f"{label} was not submitted: {DEPTH_MOST} jobs have submitted one another already, each the next, and there it ends. "
        "What goes on and on belongs into steps of one job, or to a schedule."
    )


def _carried(instead: str) -> Denied:
    return Denied(
        kind=ErrorCode.JOB_CARRIED, sentence=f"A confirmed plan carries this job: the plan is {instead}, not the job."
    )


def _over(job: JobState) -> Ended | None:
    if not job.status.final:
        return None
    return Ended(status=job.status, sentence=f"The job is {job.status.value}: a late report changes nothing.")


def _asked(job: JobState) -> CancelAsked | None:
    return CancelAsked(person=job.cancel_asked_by, reason=job.cancel_reason or "") if job.cancel_asked else None


def failure_summary(step: StepState | None, sentence: str) -> str:
    """What is kept of a failed job: the step by its label, and how it went."""
    return safe(sentence if step is None else f"{step.label}: {sentence}")


_MASKED = (
    re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    re.compile(r"\S*\d\S*"),
    re.compile(r"#(?:\s+#)+[.,:;!?)]?"),
)


def cause_text(sentence: str) -> str:
    """A failure's sentence without what differs from one failure to the next: numbers, ids and addresses masked, at most
    `CAUSE_MOST` characters. What fails alike reads alike."""
    text = " ".join(safe(sentence).split())
    for pattern in _MASKED:
        text = pattern.sub(_mask, text)
    return text[:CAUSE_MOST].rstrip() or "#"


def _mask(found: re.Match[str]) -> str:
    """A mark in place of a word, with the punctuation at its end."""
    last = found.group()[-1]
    return f"#{last}" if last in ".,:;!?)" else "#"


def times(count: int) -> str:
    """How often: `once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def safe(sentence: str) -> str:
    """A sentence as it may be kept and shown."""
    kept = sentence[:SENTENCE_MOST].strip()
    return kept if kept and storable(kept) else "It said nothing that can be shown."


def _joined(sentence: str, tail: str) -> str:
    return sentence[: SENTENCE_MOST - len(tail)] + tail


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
