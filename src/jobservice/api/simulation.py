"""Owns the operation that simulates a schedule. It takes a body and acts on nothing."""

from __future__ import annotations

from fastapi import Response

from jobcontract import operating_routes as routes
from jobcontract.errors import ErrorCode
from jobcontract.simulation import Simulation, SimulationOrder
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import simulation


async def simulate(admitted: Admitted, schedule: str, order: SimulationOrder) -> Response:
    """What a schedule does in a stretch of time, with downtimes in it: by its record, and by an edit."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        return of_model(await simulation.simulate(context.service, actor, schedule, order))


ENDPOINTS = (
    Endpoint(
        route=routes.SIMULATE,
        function=simulate,
        answer=Simulation,
        summary="What a schedule would do",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.SCHEDULE_UNFIT, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
