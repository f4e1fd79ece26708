"""Owns the few sentences about a background job that may be pasted to a customer: what was asked for, how it stands, what
failed, what happens next, what to quote. Pure.

Nothing internal stands in them: no step, engine, Worker or plan, no input, nobody's name, and nothing that staff wrote as
a reason. Of a failure they have the label of the part that failed, and its summary where that is in plain words.
"""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

from jobconsole.present.text import line
from jobcontract.job_states import JobResolution, JobStatus, StepStatus
from jobcontract.jobs import HERE, Job, JobRelative
from jobcontract.states import Moves

_INTERNAL = re.compile(
    r"\b(?:workers?|engine|attempts?|workflow|lease|fence|runs?|reconcil\w*|step \d+)\b"  # how the service works
    r"|\b\w*(?:Error|Exception)\b|\w_\w|\w\(\)|Traceback|://"  # how a program says it
    r"|[\w.+-]+@[\w-]+\.|\b[0-9a-f]{8}-[0-9a-f]{4}-",  # addresses and ids
    re.IGNORECASE,
)
"""A summary with one of these is no plain words: the part that failed is named instead."""
NOTHING_LEFT = "There is nothing left to do."


def customer_summary(job: Job, zone: tzinfo) -> str:
    """The sentences as one paragraph; instants in `zone`, its abbreviation named."""
    return " ".join(customer_sentences(job, zone))


def customer_sentences(job: Job, zone: tzinfo) -> list[str]:
    """The same, one by one: to be read out."""
    told = [_asked(job, zone), *_stands(job, zone), *_next(job, zone), _quote(job)]
    return [line(each) for each in told]


def _asked(job: Job, zone: tzinfo) -> str:
    row = job.summary
    known = row.subject.casefold().replace("_", " ") == row.kind_label.casefold()
    name = row.kind_label if known or not row.subject.strip() else f"{row.kind_label} ({row.subject.strip()})"
    return f"{name} was asked for on {_at(row.requested_at, zone)}."


def _stands(job: Job, zone: tzinfo) -> list[str]:
    """Where it stands; of a failure what went wrong."""
    row = job.summary
    if row.status is JobStatus.PENDING:
        return ["It waits for its turn; nothing of it has begun yet."]
    if row.status is JobStatus.RUNNING:
        told = [f"It is under way: about {row.progress} % is done."]
        if any(step.status is StepStatus.RETRYING for step in job.steps):
            told.append("A part of it did not succeed at first, and is tried again by itself.")
        return told
    on = "" if row.settled_at is None else f" on {_at(row.settled_at, zone)}"
    if row.status is JobStatus.SUCCEEDED:
        return [f"It was completed{on}."]
    if row.status is JobStatus.CANCELLED:
        return [f"It was cancelled{on}, before it was completed.", *_done(job)]
    ended = f", and ended{on}" if on else ""
    return [f"It could not be completed{ended}.", _wrong(job), *_done(job)]


def _done(job: Job) -> list[str]:
    """How much of it had been done when it ended, where it has more than one part."""
    done, count = sum(step.status is StepStatus.SUCCEEDED for step in job.steps), len(job.steps)
    return (
        [f"{f'{done:,}' if done else 'None'} of its {count:,} parts had been completed by then."] if count > 1 else []
    )


def _next(job: Job, zone: tzinfo) -> list[str]:
    """What happens next, or what is left to do."""
    row = job.summary
    if row.status is JobStatus.SUCCEEDED:
        return [NOTHING_LEFT]
    if not row.status.final:
        if row.cancel_asked_at is not None:
            return ["It was asked to be cancelled, and ends in a moment."]
        return ["It goes on by itself; there is nothing for you to do."]
    latest = latest_retry(job)
    if latest is not None:
        return _again(job, latest, zone)
    if row.status is JobStatus.CANCELLED:
        return ["It does not start again by itself: please ask us where it is still wanted."]
    if row.resolution is JobResolution.ACKNOWLEDGED:
        return ["Somebody is following it up."]
    if row.resolution is JobResolution.RESOLVED:
        return ["It was settled without being started again.", NOTHING_LEFT]
    if row.moves is Moves.MONEY:
        return ["It moves money, so it is started again only after it was checked; that has not been done yet."]
    return ["It has not been started again so far."]


def _again(job: Job, latest: JobRelative, zone: tzinfo) -> list[str]:
    """What became of starting it again."""
    at = f"It was started again on {_at(latest.requested_at, zone)}"
    if latest.status is JobStatus.SUCCEEDED:
        mended = job.resolved.at if job.resolved is not None and job.resolved.job is not None else None
        when = "" if mended is None else f" on {_at(mended, zone)}"
        return [f"{at}, and was completed{when}.", NOTHING_LEFT]
    if latest.status is JobStatus.PENDING:
        return [f"{at}, and waits for its turn; there is nothing for you to do."]
    if latest.status is JobStatus.RUNNING:
        return [f"{at}, and is under way; there is nothing for you to do."]
    if latest.status is JobStatus.CANCELLED:
        return [f"{at}, and that attempt was cancelled."]
    return [f"{at}, and could not be completed then either."]


def latest_retry(job: Job) -> JobRelative | None:
    """The latest job that goes back to this one; None where it was never retried."""
    from_here = {job.summary.id}
    latest: JobRelative | None = None
    for each in job.lineage:  # the first one first: a retry stands behind what it was made from
        if each.retry_of in from_here:
            from_here.add(each.id)
            latest = each
    return latest


def _quote(job: Job) -> str:
    row = job.summary
    if row.failure_reference and row.resolution is not JobResolution.RETRIED:
        return f"Please quote {row.failure_reference} if you ask about it."
    where = "" if row.source == HERE else f" of {row.source}"
    return f"Please quote {row.id}{where} if you ask about it."


def _wrong(job: Job) -> str:
    """What went wrong: the part by its label, and the summary where it says nothing of how the service works inside."""
    failed = next((each for each in job.steps if each.status is StepStatus.FAILED), None)
    told = (job.summary.failure_summary or "").strip()
    where = ""
    if failed is not None:
        told = told.removeprefix(f"{failed.label}: ")
        where = f', at the part "{failed.label}"'
    if told and not _INTERNAL.search(told) and not any(name in told for name in _names(job)):
        return f"What went wrong{where}: {told if told[-1] in '.!?' else f'{told}.'}"
    if failed is not None:
        return f'What went wrong: its part "{failed.label}" could not be completed.'
    return "What went wrong is known to our engineers by the reference."


def _names(job: Job) -> set[str]:
    """Whoever had to do with it: ids and names."""
    people = [job.summary.requester, *(each.person for each in job.events), *(each.person for each in job.notices)]
    people += [each.requester for each in job.lineage]
    people += [None if each is None else each.person for each in (job.cancellation, job.resolved)]
    return {word for person in people if person is not None for word in (person.id, person.name)}


def _at(instant: datetime, zone: tzinfo) -> str:
    """`2 March 2026 at 09:05 UTC`: as it is read aloud."""
    there = instant.astimezone(zone)
    return f"{there.day} {there:%B %Y} at {there:%H:%M} {there.tzname()}"
