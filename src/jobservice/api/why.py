"""Owns the operations that say why a schedule or an occurrence does not run."""

from __future__ import annotations

from fastapi import Response

from jobcontract import operating_routes as routes
from jobcontract.errors import ErrorCode
from jobcontract.why import Why
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import why


async def schedule_why(admitted: Admitted, schedule: str) -> Response:
    """Why a schedule does not run now: causes by rank, with their evidence, and what was checked."""
    return of_model(await why.schedule_why(admitted.context.service, admitted.actor, schedule))


async def occurrence_why(admitted: Admitted, occurrence: str) -> Response:
    """Why an occurrence does not run now; of a name also where there is no occurrence."""
    return of_model(await why.occurrence_why(admitted.context.service, admitted.actor, occurrence))


ENDPOINTS = (
    Endpoint(
        route=routes.SCHEDULE_WHY,
        function=schedule_why,
        answer=Why,
        summary="Why a schedule does not run",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Endpoint(
        route=routes.OCCURRENCE_WHY,
        function=occurrence_why,
        answer=Why,
        summary="Why an occurrence does not run",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
)
