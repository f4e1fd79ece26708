"""Owns the acts on background jobs: submitting one, cancelling, retrying, resolving, looking at the inputs of one."""

from __future__ import annotations

from fastapi import Response

from jobcontract import job_routes as routes
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import is_slug
from jobcontract.jobs import (
    HERE,
    CancelJob,
    JobChanged,
    JobRetried,
    ResolveJob,
    RetryJob,
    RevealedJob,
    RevealJob,
    SubmitJob,
    Submitted,
)
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting
from jobservice.api.endpoints import Endpoint
from jobservice.api.jobs import own_id
from jobservice.usecases import job_acts, job_orders


async def submit_job(admitted: Admitted, order: SubmitJob) -> Response:
    """Submit a job; the same identity with the same inputs is the same job, however often it is sent."""
    return of_acting(await job_orders.submit(admitted.context.service, admitted.actor, order, admitted.once))


async def cancel_job(admitted: Admitted, job: str, order: CancelJob) -> Response:
    """Ask for a job to be cancelled: what nobody began is so at once, what runs is stopped."""
    return of_acting(await job_acts.cancel(admitted.context.service, admitted.actor, _ours(job), order, admitted.once))


async def retry_job(admitted: Admitted, job: str, order: RetryJob) -> Response:
    """Make a new job from a settled one, linked to it."""
    return of_acting(await job_acts.retry(admitted.context.service, admitted.actor, _ours(job), order, admitted.once))


async def resolve_job(admitted: Admitted, job: str, order: ResolveJob) -> Response:
    """Say why a failed job asks for nothing any more."""
    return of_acting(await job_acts.resolve(admitted.context.service, admitted.actor, _ours(job), order, admitted.once))


async def reveal_job(admitted: Admitted, job: str, order: RevealJob) -> Response:
    """The inputs of a job in clear; that somebody looked is written down."""
    return of_acting(await job_acts.reveal(admitted.context.service, admitted.actor, _ours(job), order, admitted.once))


def _ours(job: str) -> str:
    """The id of one of this service's jobs; Refusal JOB_ELSEWHERE for one that is named as another source's."""
    source, colon, identifier = job.rpartition(":")
    if colon and source != HERE and is_slug(source):
        raise Refusal(
            ErrorCode.JOB_ELSEWHERE,
            f"{identifier[:80]} is a job of {source}, which is only read here. Act on it where it runs.",
        )
    return own_id(job)


_OURS = (ErrorCode.NOT_FOUND, ErrorCode.JOB_ELSEWHERE)

ENDPOINTS = (
    Endpoint(
        route=routes.SUBMIT_JOB,
        function=submit_job,
        answer=Submitted,
        status=201,
        summary="Submit a background job",
        refusals=(
            ErrorCode.NOT_FOUND,
            ErrorCode.JOB_INPUTS_UNFIT,
            ErrorCode.JOB_IDENTITY_TAKEN,
            ErrorCode.NEEDS_PLAN,
        ),
    ),
    Endpoint(
        route=routes.CANCEL_JOB,
        function=cancel_job,
        answer=JobChanged,
        summary="Cancel a background job",
        refusals=(*_OURS, ErrorCode.JOB_SETTLED, ErrorCode.JOB_CARRIED),
    ),
    Endpoint(
        route=routes.RETRY_JOB,
        function=retry_job,
        answer=JobRetried,
        summary="Retry a background job",
        refusals=(
            *_OURS,
            ErrorCode.JOB_NOT_SETTLED,
            ErrorCode.JOB_NOT_RETRYABLE,
            ErrorCode.JOB_CARRIED,
            ErrorCode.NEEDS_PLAN,
        ),
    ),
    Endpoint(
        route=routes.RESOLVE_JOB,
        function=resolve_job,
        answer=JobChanged,
        summary="Resolve a failed job",
        refusals=(*_OURS, ErrorCode.JOB_NOT_FAILED, ErrorCode.JOB_RESOLVED),
    ),
    Endpoint(
        route=routes.REVEAL_JOB,
        function=reveal_job,
        answer=RevealedJob,
        summary="Look at the inputs of a job",
        refusals=_OURS,
    ),
)
