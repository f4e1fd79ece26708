"""Owns the operation that reads the runbooks of a schedule."""

from __future__ import annotations

from fastapi import Response

from jobcontract import operating_routes
from jobcontract.errors import ErrorCode
from jobcontract.runbooks import Runbooks
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import runbooks


async def read_runbooks(admitted: Admitted, schedule: str) -> Response:
    """How a schedule is inspected, replayed and disabled, and what was done on it last."""
    return of_model(await runbooks.read_runbooks(admitted.context.service, admitted.actor, schedule))


ENDPOINTS = (
    Endpoint(
        route=operating_routes.RUNBOOKS,
        function=read_runbooks,
        answer=Runbooks,
        summary="Runbooks of a schedule",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
)
