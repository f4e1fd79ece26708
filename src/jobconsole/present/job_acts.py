"""Owns what acts on one background job say before they are done, and what became of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone, joined
from jobconsole.present.jobs import status_word, subject_text, what_text
from jobconsole.present.schedules import At
from jobconsole.present.times import ago
from jobcontract.job_states import JobStatus
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobcontract.jobs import JobKind, JobSummary

MONEY_FIRST = "It moves money: its retry is a recovery that finance confirms with a code."
"""What stands before the form that makes the recovery of a job that moves money."""


def job_head(job: JobSummary, at: At) -> Sequence[Line]:
    """Which job it is, and where it stands."""
    word, tone = status_word(job)
    what, what_tone = what_text(job, at)
    money = " ¤" if job.moves is Moves.MONEY else ""
    return (
        joined([Piece(f"{job.kind_label}{money}", Tone.STRONG), Piece(subject_text(job))]),
        joined(
            [
                Piece(word, tone),
                Piece(f"asked for {ago(job.requested_at, at.now)}"),
                Piece(f"by {job.requester.id}" if job.requester is not None else ""),
            ]
        ),
        *(((Piece(what, what_tone),),) if what else ()),
    )


def retry_lines(job: JobSummary, at: At) -> Sequence[Line]:
    """What retrying does to the job as it stands."""
    lines = [*job_head(job, at)]
    lines.append((Piece("A new job is made of it, with the same inputs. This one stays as it is, and leads to it."),))
    if job.status is JobStatus.SUCCEEDED:
        lines.append((Piece("▲ It succeeded: a retry does everything once more.", Tone.WARN),))
    elif job.status is JobStatus.CANCELLED:
        lines.append((Piece("It was cancelled; the new one begins from its first step.", Tone.WARN),))
    if job.retried_by is not None:
        lines.append((Piece("▲ A retry of it was made before; one that goes on still is not made twice.", Tone.WARN),))
    return lines


def retried_words(*, first: bool, leads: str) -> str:
    """That a retry is there. `leads`: how one gets to it from here."""
    made = "Retried: a new job was made of it" if first else "A retry of it is under way already"
    return f"{made}; {leads}."


def cancel_lines(job: JobSummary, at: At) -> Sequence[Line]:
    """What cancelling does to the job as it stands."""
    if job.status is JobStatus.PENDING:
        what = "Nobody began it: it is cancelled at once."
    else:
        what = "Its Worker ends it within a second or so. If its last step succeeds before that, it has succeeded."
    return [*job_head(job, at), (Piece(what),), (Piece("What is done of it stays done.", Tone.QUIET),)]


def resolve_lines(job: JobSummary, at: At) -> Sequence[Line]:
    """What resolving does to the failure."""
    what = "It asks for nothing any more: it leaves the unresolved failures, and no retry is made."
    before = " So do the failures that it is a retry of." if job.retry_of is not None else ""
    return [
        *job_head(job, at),
        (Piece(f"{what}{before}"),),
        (
            Piece(
                "With a ticket it is acknowledged: somebody follows it up there. Without one it is resolved.",
                Tone.QUIET,
            ),
        ),
    ]


def reveal_lines(job: JobSummary, at: At, inputs: int) -> Sequence[Line]:
    """What revealing does."""
    what = "Its input is" if inputs == 1 else f"Its {inputs:,} inputs are"
    return [
        *job_head(job, at),
        (Piece(f"{what} shown in clear until you leave the job, for two minutes at most."),),
        (Piece("That you looked, when and why stands in its history and in the audit trail.", Tone.WARN),),
    ]


def submit_lines(kind: JobKind) -> Sequence[Line]:
    """What is submitted."""
    steps = ", then ".join(kind.steps)
    return [
        joined([Piece(kind.label, Tone.STRONG), Piece(kind.application, Tone.QUIET)]),
        *(((Piece(f"It does: {steps}.", Tone.QUIET),),) if steps else ()),
    ]


def submitted_words(job: JobSummary, *, first: bool, leads: str) -> str:
    """That it was submitted, or was there already. `leads`: how one gets to it."""
    if first:
        about = f", {subject}" if (subject := subject_text(job)) else ""
        return f"Submitted: {job.kind_label}{about}; {leads}."
    return f"It was submitted before under that identity, with the same inputs: it is {job.status}."


def unsubmittable(kind: JobKind) -> str | None:
    """Why nobody submits that kind by itself; None where one may."""
    return "it moves money: a confirmed plan submits it" if kind.moves is Moves.MONEY else None
