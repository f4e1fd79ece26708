"""Owns the operations about queues: which there are, and what waits in one."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.queues import Queues, QueueTotals
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import queues


async def list_queues(admitted: Admitted) -> Response:
    """The queues of the tenant with their use cases."""
    return of_model(await queues.list_queues(admitted.context.service, admitted.actor))


async def queue_totals(admitted: Admitted, queue: str) -> Response:
    """What waits in a queue: counts, and one total per currency."""
    with admitted.context.listings.held(admitted.actor.person):
        return of_model(await queues.queue_totals(admitted.context.service, admitted.actor, queue))


ENDPOINTS = (
    Endpoint(route=routes.QUEUES, function=list_queues, answer=Queues, summary="Queues"),
    Endpoint(
        route=routes.QUEUE_TOTALS,
        function=queue_totals,
        answer=QueueTotals,
        summary="Counts and totals of a queue",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
