"""Owns the operations about queues: which there are, what waits in one, and what its filter may name."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.queues import Queues, QueueTotals, Vocabulary
from jobcontract.states import ItemView
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.items import FilterQuery
from jobservice.usecases import queues


async def list_queues(admitted: Admitted) -> Response:
    """The queues of the tenant with their use cases."""
    return of_model(await queues.list_queues(admitted.context.service, admitted.actor))


async def queue_totals(
    admitted: Admitted, queue: str, view: ItemView = ItemView.WAITING, filter_text: FilterQuery = ""
) -> Response:
    """What waits in a queue and matches a filter: counts, and one total per currency."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        return of_model(
            await queues.queue_totals(context.service, actor, queue, view=view, text=filter_text, kept=context.counts)
        )


async def queue_vocabulary(admitted: Admitted, queue: str) -> Response:
    """What a filter of the queue may name: fields, their types, values to offer."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        return of_model(await queues.queue_vocabulary(context.service, actor, queue))


ENDPOINTS = (
    Endpoint(route=routes.QUEUES, function=list_queues, answer=Queues, summary="Queues"),
    Endpoint(
        route=routes.QUEUE_TOTALS,
        function=queue_totals,
        answer=QueueTotals,
        summary="Counts and totals of a queue",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.FILTER_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.QUEUE_VOCABULARY,
        function=queue_vocabulary,
        answer=Vocabulary,
        summary="What a filter of a queue may name",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
