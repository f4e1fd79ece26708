"""Owns the operations about plans before they are confirmed: making, reading, exporting, changing, dropping.

Confirming and what follows: `confirming.py`.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from fastapi import Query, Response

from jobcontract import routes
from jobcontract.csv_text import MEDIA_TYPE
from jobcontract.errors import ErrorCode
from jobcontract.ids import FILTER_MAX, is_slug
from jobcontract.plans import (
    PLAN_PAGE_MOST,
    DropPlan,
    ExclusionPage,
    KeepIn,
    Plan,
    PlanItemPage,
    PlanOrder,
    Plans,
    TakeOut,
    WarningPage,
)
from jobcontract.states import PlanSort, Turn
from jobservice.api.admission import Admission, Admitted
from jobservice.api.answers import JSON_TYPE, of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.items import CursorText
from jobservice.usecases import plan_reading, plans
from jobservice.usecases.plan_reading import AskedRows

PAGE = 200
"""Rows of a page where the request does not say."""
PlanLimit = Annotated[int, Query(ge=1, le=PLAN_PAGE_MOST, description="Most rows of the page.")]
SearchText = Annotated[
    str, Query(max_length=FILTER_MAX, description="Words that a row has in title, payee, key or last four.")
]


async def make_plan(admitted: Admitted, queue: str, order: PlanOrder) -> Response:
    """Freeze a set of items, named or found by a filter, and claim them for whoever asks."""
    return of_acting(await plans.make(admitted.context.service, admitted.actor, queue, order, admitted.once))


async def list_plans(
    admitted: Admitted, owner: Literal["me"] | None = None, state: Literal["live"] | None = None
) -> Response:
    """Plans of the tenant: live ones before ended ones, newest first."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        found = await plan_reading.list_plans(context.service, actor, own=owner is not None, live=state is not None)
    return of_model(found)


async def read_plan(admitted: Admitted, plan: str) -> Response:
    """A plan with everything but its rows."""
    return of_model(await plan_reading.read_plan(admitted.context.service, admitted.actor, plan))


async def plan_items(
    admitted: Admitted,
    plan: str,
    sort: PlanSort = PlanSort.NUMBER,
    search: SearchText = "",
    turn: Turn | None = None,
    cursor: CursorText = None,
    limit: PlanLimit = PAGE,
) -> Response:
    """One page of a plan's rows. By `number` its pages, put together, are what the digest is made of."""
    context, actor = admitted.context, admitted.actor
    scope = _scope(admitted, "plan-items", plan, sort.value, search, "" if turn is None else turn.value, str(limit))
    mark = None if cursor is None else context.signer.after(scope, cursor)
    asked = AskedRows(sort=sort, search=search, turn=turn, limit=limit)
    with context.listings.held(actor.person):
        page = await plan_reading.plan_items(context.service, actor, plan, asked, mark=mark)
    around = {
        "edition": page.edition,
        "matching": page.matching,
        "next": None if page.next is None else context.signer.cursor(scope, page.next),
        "as_of": page.as_of.isoformat(),
    }
    # The rows are JSON already: they are put before the rest as they came.
    return Response(b'{"items":%b,%b' % (page.json, json.dumps(around)[1:].encode()), media_type=JSON_TYPE)


async def plan_exclusions(
    admitted: Admitted, plan: str, cursor: CursorText = None, limit: PlanLimit = PAGE
) -> Response:
    """One page of what was in the set and is not in the plan, each with the reason."""
    context, actor = admitted.context, admitted.actor
    scope = _scope(admitted, "plan-exclusions", plan, str(limit))
    mark = None if cursor is None else context.signer.after(scope, cursor)
    with context.listings.held(actor.person):
        page, following = await plan_reading.plan_exclusions(context.service, actor, plan, limit=limit, mark=mark)
    return _listed(admitted, scope, page, following)


async def plan_warnings(admitted: Admitted, plan: str, cursor: CursorText = None, limit: PlanLimit = PAGE) -> Response:
    """One page of what is odd about a plan's rows: what must be answered first."""
    context, actor = admitted.context, admitted.actor
    scope = _scope(admitted, "plan-warnings", plan, str(limit))
    mark = None if cursor is None else context.signer.after(scope, cursor)
    with context.listings.held(actor.person):
        page, following = await plan_reading.plan_warnings(context.service, actor, plan, limit=limit, mark=mark)
    return _listed(admitted, scope, page, following)


def _scope(admitted: Admission, listing: str, *asked: str) -> tuple[str, ...]:
    """All that a cursor of this listing is good for."""
    return (listing, admitted.actor.tenant, admitted.actor.person, *asked)


def _listed(
    admitted: Admission, scope: tuple[str, ...], page: ExclusionPage | WarningPage, mark: tuple[str | int, ...] | None
) -> Response:
    signed = None if mark is None else admitted.context.signer.cursor(scope, mark)
    return of_model(page.model_copy(update={"next": signed}))


async def export_plan(admitted: Admitted, plan: str) -> Response:
    """A plan's rows as CSV (UTF-8 with its mark), as far as they are; of accounts the last four."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        file = await plan_reading.export_plan(context.service, actor, plan)
    # RFC 6266: a quoted name of ASCII letters, digits, marks; anything else is not sent at all.
    name = file.name if is_slug(file.name) else "plan.csv"
    return Response(
        file.content, media_type=MEDIA_TYPE, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


async def take_out(admitted: Admitted, plan: str, order: TakeOut) -> Response:
    """Take items out of a plan; it is frozen anew under its name."""
    return of_acting(await plans.take_out(admitted.context.service, admitted.actor, plan, order, admitted.once))


async def keep_in(admitted: Admitted, plan: str, order: KeepIn) -> Response:
    """Answer a warning with the reason why its item stays in."""
    return of_acting(await plans.keep_in(admitted.context.service, admitted.actor, plan, order, admitted.once))


async def drop_plan(admitted: Admitted, plan: str, order: DropPlan) -> Response:
    """Give a plan up; its items are free again."""
    return of_acting(await plans.drop(admitted.context.service, admitted.actor, plan, order, admitted.once))


_PAGED = (ErrorCode.NOT_FOUND, ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS)
_CHANGED = (ErrorCode.NOT_FOUND, ErrorCode.PLAN_STATE)

ENDPOINTS = (
    Endpoint(
        route=routes.MAKE_PLAN,
        function=make_plan,
        answer=Plan,
        status=201,
        summary="Make a plan",
        refusals=(
            ErrorCode.NOT_FOUND,
            ErrorCode.WORK_STOPPED,
            ErrorCode.FILTER_INVALID,
            ErrorCode.PLAN_TOO_LARGE,
            ErrorCode.PLANS_MAX,
            ErrorCode.PLAN_EMPTY,
        ),
    ),
    Endpoint(
        route=routes.PLANS,
        function=list_plans,
        answer=Plans,
        summary="Plans",
        refusals=(ErrorCode.TOO_MANY_LISTINGS,),
    ),
    Endpoint(route=routes.PLAN, function=read_plan, answer=Plan, summary="One plan", refusals=(ErrorCode.NOT_FOUND,)),
    Endpoint(
        route=routes.PLAN_ITEMS,
        function=plan_items,
        answer=PlanItemPage,
        summary="A page of a plan's rows",
        refusals=(*_PAGED, ErrorCode.FILTER_INVALID),
    ),
    Endpoint(
        route=routes.PLAN_EXCLUSIONS,
        function=plan_exclusions,
        answer=ExclusionPage,
        summary="A page of what is not in a plan",
        refusals=_PAGED,
    ),
    Endpoint(
        route=routes.PLAN_WARNINGS,
        function=plan_warnings,
        answer=WarningPage,
        summary="A page of what is odd in a plan",
        refusals=_PAGED,
    ),
    Endpoint(
        route=routes.PLAN_EXPORT,
        function=export_plan,
        media="text/csv",
        summary="A plan as CSV",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.TAKE_OUT,
        function=take_out,
        answer=Plan,
        summary="Take items out of a plan",
        refusals=(*_CHANGED, ErrorCode.PLAN_EMPTY),
    ),
    Endpoint(
        route=routes.KEEP_IN, function=keep_in, answer=Plan, summary="Answer a warning of a plan", refusals=_CHANGED
    ),
    Endpoint(route=routes.DROP_PLAN, function=drop_plan, answer=Plan, summary="Drop a plan", refusals=_CHANGED),
)
