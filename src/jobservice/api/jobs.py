"""Owns the operations that read background jobs: pages over all sources, counts, kinds, one job, its history."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from jobcontract import job_routes as routes
from jobcontract.errors import ErrorCode
from jobcontract.ids import FILTER_MAX, SLUG_MAX
from jobcontract.job_states import JobView
from jobcontract.jobs import HERE, Job, JobCounts, JobEvents, JobKinds, Jobs
from jobservice.api.admission import Admission, Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.items import CursorText, Limit
from jobservice.usecases import job_listing, job_reading
from jobservice.usecases.job_listing import Asked

UUID_LENGTH = 36
PAGE = 50
"""Jobs, or lines of history, of a page where the request does not say."""
FilterQuery = Annotated[
    str, Query(alias="filter", max_length=FILTER_MAX, description="Which jobs, as a person writes it; empty: all.")
]
SourceQuery = Annotated[
    str | None,
    Query(
        min_length=1, max_length=SLUG_MAX, description=f"Of this source alone: `{HERE}`, or another engine by its name."
    ),
]
OneSource = Annotated[
    str, Query(min_length=1, max_length=SLUG_MAX, description=f"Whose job it is: `{HERE}`, or another engine's name.")
]


def own_id(job: str) -> str:
    """The id of one of this service's jobs as it is kept: in small letters, without the name of the source before it."""
    identifier = job.removeprefix(f"{HERE}:")
    try:
        return str(UUID(identifier)) if len(identifier) == UUID_LENGTH else identifier
    except ValueError:
        return identifier


async def list_jobs(
    admitted: Admitted,
    view: JobView = JobView.UNRESOLVED,
    filter_text: FilterQuery = "",
    source: SourceQuery = None,
    cursor: CursorText = None,
    limit: Limit = PAGE,
) -> Response:
    """One page of jobs of all sources, the latest requested first; a source that could not be read says why."""
    context, actor = admitted.context, admitted.actor
    scope = _scope(admitted, "jobs", view.value, filter_text, source or "")
    mark = None if cursor is None else context.signer.after(scope, cursor)
    asked = Asked(view=view, filter=filter_text, source=source, limit=limit)
    with context.listings.held(actor.person):
        sources = await context.service.foreign_sources()
        page = await job_listing.list_jobs(context.service, actor, asked, mark, sources=sources)
    following = None if page.last is None else context.signer.cursor(scope, page.last)
    return of_model(Jobs(jobs=page.jobs, sources=page.sources, next=following, looked_to=page.looked_to, now=page.now))


async def count_jobs(
    admitted: Admitted, view: JobView = JobView.UNRESOLVED, filter_text: FilterQuery = "", source: SourceQuery = None
) -> Response:
    """How many jobs a listing has, and how many there are of each status; not exact where it says so."""
    context, actor = admitted.context, admitted.actor
    asked = Asked(view=view, filter=filter_text, source=source)
    with context.listings.held(actor.person):
        sources = await context.service.foreign_sources()
        return of_model(await job_listing.count_jobs(context.service, actor, asked, sources=sources))


async def list_kinds(admitted: Admitted) -> Response:
    """All kinds of jobs that the application registered, by id."""
    return of_model(await job_reading.list_kinds(admitted.context.service, admitted.actor))


async def read_job(admitted: Admitted, job: str, source: OneSource = HERE) -> Response:
    """A job with its steps, the latest of its history, notices, lineage, and what may be done with it."""
    context, actor = admitted.context, admitted.actor
    job = own_id(job) if source == HERE else job
    with context.listings.held(actor.person):
        sources = await context.service.foreign_sources()
        found = await job_reading.read_job(context.service, actor, job, source=source, sources=sources)
    following = _signed(admitted, _events_scope(admitted, job, source), found.last)
    return of_model(found.job.model_copy(update={"events_next": following}))


async def job_events(
    admitted: Admitted, job: str, source: OneSource = HERE, cursor: CursorText = None, limit: Limit = PAGE
) -> Response:
    """One page of a job's history, newest first."""
    context, actor = admitted.context, admitted.actor
    job = own_id(job) if source == HERE else job
    scope = _events_scope(admitted, job, source)
    before = None if cursor is None else int(context.signer.after(scope, cursor)[0])
    with context.listings.held(actor.person):
        sources = await context.service.foreign_sources()
        page = await job_reading.list_events(
            context.service, actor, job, before=before, limit=limit, source=source, sources=sources
        )
    return of_model(JobEvents(events=page.events, next=_signed(admitted, scope, page.last), now=page.now))


def _scope(admitted: Admission, listing: str, *asked: str) -> tuple[str, ...]:
    """All that a cursor of this listing is good for."""
    return (listing, admitted.actor.tenant, admitted.actor.person, *asked)


def _events_scope(admitted: Admission, job: str, source: str) -> tuple[str, ...]:
    return _scope(admitted, "job-events", job, source)


def _signed(admitted: Admission, scope: tuple[str, ...], sequence: int | None) -> str | None:
    return None if sequence is None else admitted.context.signer.cursor(scope, (sequence,))


_LISTED = (ErrorCode.NOT_FOUND, ErrorCode.FILTER_INVALID, ErrorCode.TOO_MANY_LISTINGS)

ENDPOINTS = (
    Endpoint(
        route=routes.JOBS,
        function=list_jobs,
        answer=Jobs,
        summary="Background jobs",
        refusals=(*_LISTED, ErrorCode.CURSOR_INVALID),
    ),
    Endpoint(
        route=routes.JOB_COUNTS,
        function=count_jobs,
        answer=JobCounts,
        summary="How many background jobs there are",
        refusals=_LISTED,
    ),
    Endpoint(route=routes.JOB_KINDS, function=list_kinds, answer=JobKinds, summary="Kinds of background jobs"),
    # Before the job itself: ids of other engines hold what parts an address.
    Endpoint(
        route=routes.JOB_EVENTS,
        function=job_events,
        answer=JobEvents,
        summary="A page of a job's history",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.JOB,
        function=read_job,
        answer=Job,
        summary="One background job",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
