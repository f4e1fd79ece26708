"""Owns the calls about background jobs: listing and counting, reading one with its history, submitting, cancelling,
retrying, resolving, revealing its inputs. Screens and headless twins run these.

A job is named by its id and its source: `HERE`, or another engine's as the settings of the service name it. Jobs of other
engines are only read: the calls that act refuse one that is named `SOURCE:ID` (*job-elsewhere*). Every call that acts takes a key made with `new_key()`, as in `queues`. Many at once are a recovery
(`client.recoveries`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from jobconsole.client.service import Service
from jobcontract.job_routes import (
    CANCEL_JOB,
    JOB,
    JOB_COUNTS,
    JOB_EVENTS,
    JOB_KINDS,
    JOBS,
    RESOLVE_JOB,
    RETRY_JOB,
    REVEAL_JOB,
    SUBMIT_JOB,
)
from jobcontract.job_states import JobView
from jobcontract.jobs import (
    HERE,
    CancelJob,
    Job,
    JobChanged,
    JobCounts,
    JobEvent,
    JobEvents,
    JobKinds,
    JobRetried,
    Jobs,
    JobSummary,
    ResolveJob,
    RetryJob,
    RevealedJob,
    RevealJob,
    SubmitJob,
    Submitted,
)

PAGE = 50
"""Rows of a page where the caller does not say."""


async def jobs(
    service: Service,
    filter_text: str = "",
    *,
    view: JobView = JobView.UNRESOLVED,
    source: str | None = None,
    cursor: str | None = None,
    limit: int = PAGE,
) -> Jobs:
    """One page, the latest requested first, at most `PAGE_MAX`. `source` None: of every source; each says whether it was
    reached. Refused with *filter-invalid* (the sentence says where), *cursor-invalid*."""
    query = {"filter": filter_text or None, "view": view.value, "source": source, "cursor": cursor, "limit": limit}
    return await service.get(JOBS, Jobs, query=query)


async def every_job(
    service: Service,
    filter_text: str = "",
    *,
    view: JobView = JobView.UNRESOLVED,
    source: str | None = None,
    limit: int = PAGE,
) -> AsyncIterator[JobSummary]:
    """All of them, fetched in pages of `limit`."""
    cursor: str | None = None
    while True:
        page = await jobs(service, filter_text, view=view, source=source, cursor=cursor, limit=limit)
        for row in page.jobs:
            yield row
        if page.next is None:
            return
        cursor = page.next


async def job_counts(
    service: Service, filter_text: str = "", *, view: JobView = JobView.UNRESOLVED, source: str | None = None
) -> JobCounts:
    """How many a filter finds, and how many there are of each status: exact, or about so many at an instant."""
    query = {"filter": filter_text or None, "view": view.value, "source": source}
    return await service.get(JOB_COUNTS, JobCounts, query=query)


async def job_kinds(service: Service) -> JobKinds:
    """Every kind that the application registered, by id."""
    return await service.get(JOB_KINDS, JobKinds)


async def job(service: Service, identifier: str, source: str = HERE) -> Job:
    """One job with its steps, the latest of its history, notices, lineage, and what the asking person may do with it.

    Its inputs are masked (`reveal_job`). Refused with *not-found*, for one beyond the person's reach too.
    """
    return await service.get(JOB, Job, parts={"job": identifier}, query=_of(source))


async def job_events(
    service: Service, identifier: str, source: str = HERE, *, cursor: str | None = None, limit: int = PAGE
) -> JobEvents:
    """One page of a job's history, newest first. `cursor` may be `events_next` of the job."""
    query = {**_of(source), "cursor": cursor, "limit": limit}
    return await service.get(JOB_EVENTS, JobEvents, parts={"job": identifier}, query=query)


async def every_event(
    service: Service, identifier: str, source: str = HERE, *, limit: int = PAGE
) -> AsyncIterator[JobEvent]:
    """The whole history, newest first, fetched in pages of `limit`."""
    cursor: str | None = None
    while True:
        page = await job_events(service, identifier, source, cursor=cursor, limit=limit)
        for event in page.events:
            yield event
        if page.next is None:
            return
        cursor = page.next


async def submit_job(service: Service, order: SubmitJob, key: str) -> Submitted:
    """Submit one job; the same identity with the same inputs is the same job (`first` False).

    Refused with *job-identity-taken* (other inputs; the sentence names the first job), *job-inputs-unfit*, *needs-plan*
    for a kind that moves money, *not-found* for a kind that nobody registered, *permission-missing*.
    """
    return await service.post(SUBMIT_JOB, order, Submitted, key=key)


async def cancel_job(service: Service, identifier: str, reason: str, key: str) -> JobChanged:
    """Ask for a job to be cancelled: what nobody began is cancelled at once, what runs ends within a second or so.

    Where somebody asked before, theirs stands. Refused with *job-settled*, *job-carried* (its plan is paused or aborted
    instead).
    """
    return await service.post(CANCEL_JOB, CancelJob(reason=reason), JobChanged, key=key, parts={"job": identifier})


async def retry_job(service: Service, identifier: str, reason: str, key: str) -> JobRetried:
    """Make a new job from a settled one, linked to it; `first` False: its retry that is not settled yet.

    Refused with *job-not-settled*, *job-not-retryable*, *job-carried*; with *needs-plan* where it moves money: a recovery
    retries that, with a code.
    """
    return await service.post(RETRY_JOB, RetryJob(reason=reason), JobRetried, key=key, parts={"job": identifier})


async def resolve_job(
    service: Service, identifier: str, reason: str, key: str, ticket: str | None = None
) -> JobChanged:
    """Say why a failed job asks for nothing any more; with a ticket it is acknowledged, without one it is resolved.

    Refused with *job-not-failed*, *job-resolved*.
    """
    order = ResolveJob(reason=reason, ticket=ticket)
    return await service.post(RESOLVE_JOB, order, JobChanged, key=key, parts={"job": identifier})


async def reveal_job(service: Service, identifier: str, reason: str, key: str) -> RevealedJob:
    """A job's inputs in clear; that somebody looked, and why, is written down, also where the same key comes again."""
    return await service.post(REVEAL_JOB, RevealJob(reason=reason), RevealedJob, key=key, parts={"job": identifier})


def _of(source: str) -> dict[str, str | int | None]:
    """The source in a query; this service's own needs no word."""
    return {"source": None if source == HERE else source}
