"""Owns the operations of stops: what is held still, holding it, letting it go on."""

from __future__ import annotations

from fastapi import Response

from jobcontract import operating_routes as routes
from jobcontract.errors import ErrorCode
from jobcontract.stops import LiftOrder, StopOrder, Stops, StopsChanged
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import stops


async def list_stops(admitted: Admitted) -> Response:
    """Every stop in force in the tenant, with who, when and why."""
    return of_model(await stops.list_stops(admitted.context.service, admitted.actor))


async def stop_work(admitted: Admitted, order: StopOrder) -> Response:
    """Hold a queue, a bulk command or all work of the tenant still, with a reason and no code."""
    return of_acting(await stops.stop(admitted.context.service, admitted.actor, order, admitted.once))


async def lift_stop(admitted: Admitted, order: LiftOrder) -> Response:
    """Let it go on: what moves money takes the code of another person than the one who stopped it."""
    return of_acting(await stops.lift(admitted.context.service, admitted.actor, order, admitted.once))


ENDPOINTS = (
    Endpoint(route=routes.STOPS, function=list_stops, answer=Stops, summary="What is stopped"),
    Endpoint(
        route=routes.STOP_WORK,
        function=stop_work,
        answer=StopsChanged,
        summary="Stop work",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Endpoint(
        route=routes.LIFT_STOP,
        function=lift_stop,
        answer=StopsChanged,
        summary="Let stopped work go on",
        refusals=(
            ErrorCode.WORK_STOPPED,
            ErrorCode.CODE_LOCKED,
            ErrorCode.CODE_WRONG,
            ErrorCode.CODE_USED,
            ErrorCode.CODE_UNREADY,
            ErrorCode.CODE_UNREADABLE,
        ),
    ),
)
