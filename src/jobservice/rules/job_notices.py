"""Owns the words in which a requester is told how their job ended, and when they are not told. Values in, words out.

Plain words: what happened, what was done and what was left, the job and the reference to give to somebody. Never an input
of the job, a result of a step or anything else that only those with the right to reveal may see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobcontract.job_states import JobStatus, StepStatus
from jobservice.rules.notices import Words

KIND = "job-outcome"
"""Of the words: what is told."""
STALE_SECONDS = 3_600.0
"""Where nobody said how people are told, a notice is not kept longer than this for somebody to say it."""
_SHOWN = 10
"""Most steps that a letter names on one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldStep:
    """One step, as a letter names it."""

    label: str
    status: StepStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A job that was settled just now. `corrects`: the outcome that its requester was told before and did not hold."""

    job: str
    tenant: str
    kind: str
    """Its label."""
    subject: str
    """What people read of it; empty where nobody said."""
    status: JobStatus
    requested_at: datetime
    settled_at: datetime
    steps: Sequence[ToldStep] = ()
    summary: str | None = None
    reference: str | None = None
    cancelled_by: str | None = None
    """Name of the person who asked for it to be cancelled."""
    cancel_reason: str | None = None
    corrects: JobStatus | None = None


def words(told: Told) -> Words:
    """Subject and text of the letter about this outcome."""
    name = _plain(told.kind if not told.subject else f"{told.kind}: {told.subject}")
    lines = [f"{name}, which you asked for in {told.tenant} at {_at(told.requested_at)}, {_ended(told)}."]
    if told.corrects is not None:
        lines.insert(0, correction(told.corrects)[1])
    if told.status is JobStatus.FAILED:
        lines.append(f"What happened: {_plain(told.summary or 'nobody can say.')}")
    if told.status is JobStatus.CANCELLED:
        lines.append(f"By {_plain(told.cancelled_by or 'the service')}: {_plain(told.cancel_reason or '')}")
    lines += _work(told)
    if told.reference is not None:
        lines.append(f"Reference, to give to whoever helps you: {told.reference}")
    lines.append(f"The job: {told.job}. To look at it: jobconsole jobs show {told.job}")
    prefix = "" if told.corrects is None else correction(told.corrects)[0]
    return Words(kind=KIND, subject=f"{prefix}{_cut(name)} {_WORD[told.status]}", text="\n".join(lines) + "\n")


def correction(told: JobStatus) -> tuple[str, str]:
    """What stands before the subject, and above the text, of a letter that corrects what was told before."""
    return "Correction: ", f"You were told before that it {_WORD[told]}. That did not hold; this does."


def why_not(
    *, active: bool, member: bool, contact: str, outcome: JobStatus, requester: str, cancelled_by: str | None
) -> str | None:
    """Why the requester is not told of an outcome; None where they are."""
    if not active:
        return "Whoever asked for it may not sign in any more."
    if not member:
        return "Whoever asked for it is not of this tenant any more."
    if not contact.strip():
        return "No address is known of whoever asked for it."
    if outcome is JobStatus.CANCELLED and cancelled_by == requester:
        return "Whoever asked for it cancelled it."
    return None


def superseded(outcome: JobStatus, by: JobStatus) -> str:
    """Why a notice of an outcome that did not hold is not delivered any more."""
    return f"It did not hold that the job {_WORD[outcome]}: it {_WORD[by]}."


_WORD = {
    JobStatus.SUCCEEDED: "succeeded",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "was cancelled",
    JobStatus.PENDING: "waits",
    JobStatus.RUNNING: "runs",
}


def _ended(told: Told) -> str:
    return f"{_WORD[told.status]} at {_at(told.settled_at)}"


def _work(told: Told) -> list[str]:
    """What was done and what was left to do."""
    if not told.steps or told.status is JobStatus.SUCCEEDED:
        return []
    done = [step.label for step in told.steps if step.status is StepStatus.SUCCEEDED]
    left = [step.label for step in told.steps if step.status is not StepStatus.SUCCEEDED]
    return [
        f"Done before that: {_listed(done) if done else 'nothing.'}",
        f"Left to do: {_listed(left) if left else 'nothing.'}",
    ]


def _listed(labels: Sequence[str]) -> str:
    more = "" if len(labels) <= _SHOWN else f", and {len(labels) - _SHOWN:,} more"
    return f"{', '.join(_plain(label) for label in labels[:_SHOWN])}{more}."


def _plain(text: str) -> str:
    """Without control characters: what people or applications wrote adds no line to a letter."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _cut(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _at(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"
