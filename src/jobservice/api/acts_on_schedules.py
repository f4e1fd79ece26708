"""Owns the acts on schedules: run one now, switch it off and on, and what switching it on would make up for."""

from __future__ import annotations

from fastapi import Response

from jobcontract import operating_routes as routes
from jobcontract.acts import DisableOrder, EnableOrder, Enabling, RunOrder, ScheduleChanged
from jobcontract.errors import ErrorCode
from jobcontract.occurrences import OccurrenceChanged
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import runs_by_hand, switches


async def run_schedule(admitted: Admitted, schedule: str, order: RunOrder) -> Response:
    """Run a manual schedule now, under its guard."""
    return of_acting(await runs_by_hand.run(admitted.context.service, admitted.actor, schedule, order, admitted.once))


async def disable_schedule(admitted: Admitted, schedule: str, order: DisableOrder) -> Response:
    """Switch a schedule off, with a note that everyone sees; with `until` it is switched on again by itself."""
    return of_acting(await switches.disable(admitted.context.service, admitted.actor, schedule, order, admitted.once))


async def enable_schedule(admitted: Admitted, schedule: str, order: EnableOrder) -> Response:
    """Switch a schedule on again: the time it was off counts as downtime."""
    return of_acting(await switches.enable(admitted.context.service, admitted.actor, schedule, order, admitted.once))


async def enabling(admitted: Admitted, schedule: str) -> Response:
    """What enabling a schedule now would make up for and skip."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        return of_model(await switches.enabling(context.service, actor, schedule))


ENDPOINTS = (
    Endpoint(
        route=routes.RUN_SCHEDULE,
        function=run_schedule,
        answer=OccurrenceChanged,
        status=201,
        summary="Run a manual schedule now",
        refusals=(
            ErrorCode.NOT_FOUND,
            ErrorCode.SCHEDULE_UNFIT,
            ErrorCode.SCHEDULE_DISABLED,
            ErrorCode.GUARD_REFUSED,
            ErrorCode.RUNS_ELSEWHERE,
            ErrorCode.NEEDS_PLAN,
            ErrorCode.WORK_STOPPED,
        ),
    ),
    Endpoint(
        route=routes.DISABLE_SCHEDULE,
        function=disable_schedule,
        answer=ScheduleChanged,
        summary="Disable a schedule",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.SCHEDULE_DISABLED, ErrorCode.SCHEDULE_UNFIT),
    ),
    Endpoint(
        route=routes.ENABLE_SCHEDULE,
        function=enable_schedule,
        answer=ScheduleChanged,
        summary="Enable a schedule",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.SCHEDULE_NOT_DISABLED, ErrorCode.SCHEDULE_UNFIT),
    ),
    Endpoint(
        route=routes.ENABLING,
        function=enabling,
        answer=Enabling,
        summary="What enabling a schedule makes up for",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
