"""Owns the operation that reads Worker processes."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.workers import Workers
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import workers


async def list_workers(admitted: Admitted) -> Response:
    """The Worker processes, the newest first."""
    return of_model(await workers.list_workers(admitted.context.service, admitted.actor))


ENDPOINTS = (Endpoint(route=routes.WORKERS, function=list_workers, answer=Workers, summary="Worker processes"),)
