"""Owns the acts on Workers: having one take nothing new, letting it take again."""

from __future__ import annotations

from fastapi import Response

from jobcontract import operating_routes as routes
from jobcontract.acts import DrainOrder, WorkerChanged
from jobcontract.errors import ErrorCode
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import draining


async def drain_worker(admitted: Admitted, worker: str, order: DrainOrder) -> Response:
    """Have a Worker take nothing new: it ends what it has, and stays alive."""
    return of_acting(await draining.drain(admitted.context.service, admitted.actor, worker, order, admitted.once))


async def undrain_worker(admitted: Admitted, worker: str, order: DrainOrder) -> Response:
    """Let a Worker take work again."""
    return of_acting(await draining.undrain(admitted.context.service, admitted.actor, worker, order, admitted.once))


ENDPOINTS = (
    Endpoint(
        route=routes.DRAIN_WORKER,
        function=drain_worker,
        answer=WorkerChanged,
        summary="Drain a Worker",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.WORKER_LAST, ErrorCode.WORKER_ENDED),
    ),
    Endpoint(
        route=routes.UNDRAIN_WORKER,
        function=undrain_worker,
        answer=WorkerChanged,
        summary="Let a Worker take work again",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.WORKER_ENDED),
    ),
)
