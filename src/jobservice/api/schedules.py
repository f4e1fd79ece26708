"""Owns the operations about schedules: which there are, how one is doing, when it runs next."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.schedules import NEXT_MOST, NextInstants, ScheduleDetail, Schedules
from jobservice.api.admission import Admitted
from jobservice.api.answers import JSON_TYPE, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.instants import QueryInstant
from jobservice.api.items import PAGE, CursorText, Limit
from jobservice.usecases import schedules

Count = Annotated[int, Query(ge=1, le=NEXT_MOST, description="How many instants that run.")]
After = Annotated[QueryInstant | None, Query(description="They are later than this; without it, than now.")]


async def list_schedules(admitted: Admitted, cursor: CursorText = None, limit: Limit = PAGE) -> Response:
    """One page of the tenant's schedules, by id, each with how it is doing."""
    context, actor = admitted.context, admitted.actor
    scope = ("schedules", actor.tenant, actor.person)
    after = None if cursor is None else str(context.signer.after(scope, cursor)[0])
    with context.listings.held(actor.person):
        page = await schedules.list_schedules(context.service, actor, after, limit)
    following = None if page.last is None else context.signer.cursor(scope, (page.last,))
    around = Schedules(
        schedules=(),
        next=following,
        total=page.total,
        late=page.late,
        parked=page.parked,
        disabled=page.disabled,
        now=page.now,
    )
    rest = around.model_dump_json(exclude={"schedules"})
    return Response(b'{"schedules":%b,%b' % (page.json, rest[1:].encode()), media_type=JSON_TYPE)


async def read_schedule(admitted: Admitted, schedule: str) -> Response:
    """A schedule with its next instants and what was skipped last."""
    return of_model(await schedules.read_schedule(admitted.context.service, admitted.actor, schedule))


async def next_instants(
    admitted: Admitted, schedule: str, after: After = None, count: Count = schedules.NEXT
) -> Response:
    """The next instants of a schedule, with what a change of the clock does to them."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        return of_model(await schedules.next_instants(context.service, actor, schedule, after, count))


ENDPOINTS = (
    Endpoint(
        route=routes.SCHEDULES,
        function=list_schedules,
        answer=Schedules,
        summary="Schedules",
        refusals=(ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.SCHEDULE,
        function=read_schedule,
        answer=ScheduleDetail,
        summary="One schedule",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Endpoint(
        route=routes.NEXT_INSTANTS,
        function=next_instants,
        answer=NextInstants,
        summary="When a schedule runs next",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
