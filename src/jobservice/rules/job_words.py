"""Owns what the requester of a job is told of its end, and sentences of its history. Words in, words out; never an input."""

from __future__ import annotations

from jobcontract.job_states import JobStatus
from jobservice.rules.job_kinds import readable
from jobservice.rules.notices import Words

SUBJECT_MOST = 200


def notice(
    outcome: JobStatus,
    *,
    kind: str,
    label: str | None,
    about: str | None,
    job: str,
    summary: str | None,
    reference: str | None,
    cancelled_by: str | None,
    reason: str | None,
) -> Words:
    """What the requester is told of an outcome. `about`: whom or what it is for, in words."""
    named = label or readable(kind)
    whole = f"{named}, {about}" if about else named
    end = {JobStatus.SUCCEEDED: "succeeded", JobStatus.FAILED: "failed", JobStatus.CANCELLED: "was cancelled"}[outcome]
    lines = [f"{whole}: the job that you asked for {end}."]
    if outcome is JobStatus.FAILED:
        lines += [summary or "", f"Failure reference: {reference}. Give it to support."]
    if outcome is JobStatus.CANCELLED:
        lines.append(f"By {cancelled_by or 'the service'}: {reason}")
    lines.append(f"Job: {job}")
    return Words(
        kind=f"job-{outcome.value}",
        subject=_plain(f"{whole} {end}")[:SUBJECT_MOST],
        text="\n".join(_plain(line) for line in lines if line) + "\n",
    )


def about(subject: str | None, customer: str | None, workspace: str | None) -> str | None:
    """Whom or what a job is for: as it was said, else its customer or workspace."""
    if subject:
        return subject
    if customer and workspace:
        return f"{customer} / {workspace}"
    return customer or workspace


def _plain(text: str) -> str:
    """Without control characters: what was typed adds no line."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
