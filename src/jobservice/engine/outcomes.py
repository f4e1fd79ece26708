"""Owns what becomes of what a step's function returned or raised: an outcome with a sentence that is safe to keep and show.
Nothing that it raises ends the Worker; people get a reference, and the log has the rest.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import storable
from jobcontract.states import OutcomeKind
from jobservice.application import Outcome, failed, refused
from jobservice.application_jobs import StepFunction
from jobservice.engine.step_call import JobStepCall, StepOver
from jobservice.usecases.job_reports import Begun

_log = structlog.get_logger("jobservice.engine")

SENTENCE_MAX = 4_000
"""Most characters that are kept of an outcome's sentence."""
NUMBER_MOST = 10**40
"""A number from here on names nothing outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How an attempt ended. `reference`: of the log line that says more."""

    outcome: Outcome
    reference: str | None = None


class Broken(Exception):
    """Carries what a function that went wrong is told as out of its task."""

    def __init__(self, told: Told) -> None:
        super().__init__(told.outcome.sentence)
        self.told = told


async def called(function: StepFunction, call: JobStepCall) -> Outcome:
    """Run the function; its outcome. Raises Broken for whatever it raises itself, and a cancellation that came from us."""
    try:
        outcome: object = await function(call)
    except asyncio.CancelledError:
        if ours():
            raise
        raise Broken(broken(call.begun, call.job, "cancelled itself")) from None
    except Refusal as refusal:
        if refusal.kind in (ErrorCode.DATABASE_AWAY, ErrorCode.TIMED_OUT):
            raise Broken(broken(call.begun, call.job, "could not reach the database", trace=False)) from None
        return outcome_of(refusal)
    except StepOver:
        raise Broken(broken(call.begun, call.job, "went on after its end", trace=False)) from None
    except BaseException:  # whatever the application raises is the step's outcome: SystemExit ends no Worker
        raise Broken(broken(call.begun, call.job, "went wrong")) from None
    return checked(outcome, call.begun, call.job)


def outcome_of(refusal: Refusal) -> Outcome:
    """What a step ends with that was refused what it asked for: tried again, unless that would end as it did."""
    return (refused if refusal.kind is ErrorCode.JOB_TOO_DEEP else failed)(safe(refusal.detail))


def ours() -> bool:
    """Whether somebody asked the present task to end: then what is raised is that, and no fault of a function's."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def checked(outcome: object, begun: Begun, job: str) -> Outcome:
    """An outcome that keeps what its types promise. Raises Broken where it does not."""
    if not isinstance(outcome, Outcome):
        what = f"returned a {type(outcome).__name__[:80]} and no outcome"
        raise Broken(broken(begun, job, what, trace=False))
    kind: object = outcome.kind
    after: object = outcome.after_seconds
    if not isinstance(kind, OutcomeKind):
        raise Broken(broken(begun, job, "returned an outcome of no kind", trace=False))
    if kind is not OutcomeKind.UNCERTAIN and after is not None and not isinstance(after, int | float):
        raise Broken(broken(begun, job, "returned an outcome whose seconds are no number", trace=False))
    return Outcome(
        kind=outcome.kind,
        sentence=safe(outcome.sentence),
        after_seconds=outcome.after_seconds,
        reference=_named(outcome.reference),
    )


def _named(reference: object) -> str | None:
    """What the outside world calls it, as text: a number is the name of a booking too."""
    if type(reference) is int and abs(reference) < NUMBER_MOST:
        return str(reference)
    return reference if isinstance(reference, str) else None


def broken(begun: Begun, job: str, what: str, *, trace: bool = True) -> Told:
    """The outcome of a function that went wrong, and its reference."""
    reference = secrets.token_hex(4)
    _log.error(
        "step-broken",
        job=job,
        kind=begun.kind,
        step=begun.step.step,
        use_case=begun.step.use_case,
        attempt=begun.attempt,
        what=what,
        reference=reference,
        exc_info=trace,
    )
    sentence = f"{begun.step.label} {what}; nothing of it was done. The Worker's log says more: {reference}."
    return Told(outcome=failed(sentence), reference=reference)


def safe(sentence: object) -> str:
    """An application's sentence, where it can be kept."""
    if isinstance(sentence, str) and storable(kept := sentence[:SENTENCE_MAX]):
        return kept
    return "The application's sentence cannot be shown."
