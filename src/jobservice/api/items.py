"""Owns the operations about work items: a page of them, one of them, pushing and changing."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import Query, Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.ids import FILTER_MAX, PAGE_MAX
from jobcontract.items import ChangedItem, ItemDetail, ItemPage, NewItem, Pushed
from jobcontract.starts import START_MAX
from jobcontract.states import ItemView
from jobservice.api.admission import Admitted
from jobservice.api.answers import JSON_TYPE, of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.signing import CURSOR_MAX
from jobservice.usecases import items, listings
from jobservice.usecases.listings import Asked

PAGE = 100
"""Rows of a page where the request does not say."""
Limit = Annotated[int, Query(ge=1, le=PAGE_MAX, description="Most rows of the page.")]
CursorText = Annotated[
    str | None, Query(max_length=CURSOR_MAX, description="`next` or `previous` of another page of this listing.")
]
FilterQuery = Annotated[
    str, Query(alias="filter", max_length=FILTER_MAX, description="What to list, as a person writes it; empty: all.")
]
StartQuery = Annotated[
    str | None,
    Query(
        max_length=START_MAX,
        description="Where a first page begins: `first`, `last`, `score:80` or `item:` with an item's id or key.",
    ),
]


async def queue_items(
    admitted: Admitted,
    queue: str,
    view: ItemView = ItemView.WAITING,
    filter_text: FilterQuery = "",
    start: StartQuery = None,
    cursor: CursorText = None,
    limit: Limit = PAGE,
) -> Response:
    """One page of a queue in its order: highest score first, where it has scores, else oldest first."""
    context, actor = admitted.context, admitted.actor
    asked = Asked(queue=queue, view=view, filter=filter_text, limit=limit)
    scope = ("items", actor.tenant, actor.person, queue, view.value, filter_text, str(limit))
    mark = None if cursor is None else context.signer.after(scope, cursor)
    with context.listings.held(actor.person):
        page = await listings.list_items(context.service, actor, asked, start=start, mark=mark)
    around = {
        "previous": None if page.previous is None else context.signer.cursor(scope, page.previous),
        "next": None if page.next is None else context.signer.cursor(scope, page.next),
        "catch_up": page.catch_up,
        "as_of": page.as_of.isoformat(),
    }
    # The rows are JSON already: they are put before the rest as they came.
    return Response(b'{"items":%b,%b' % (page.json, json.dumps(around)[1:].encode()), media_type=JSON_TYPE)


async def read_item(admitted: Admitted, item: str) -> Response:
    """One item with its history."""
    return of_model(await items.read_item(admitted.context.service, admitted.actor, item))


async def push_item(admitted: Admitted, queue: str, new: NewItem) -> Response:
    """Add a work item."""
    return of_acting(await items.push_item(admitted.context.service, admitted.actor, queue, new, admitted.once))


async def change_item(admitted: Admitted, queue: str, key: str, changed: ChangedItem) -> Response:
    """New content for an item, under the version that the pusher saw."""
    return of_model(await items.change_item(admitted.context.service, admitted.actor, queue, key, changed))


ENDPOINTS = (
    Endpoint(
        route=routes.QUEUE_ITEMS,
        function=queue_items,
        answer=ItemPage,
        summary="A page of a queue",
        refusals=(
            ErrorCode.NOT_FOUND,
            ErrorCode.CURSOR_INVALID,
            ErrorCode.FILTER_INVALID,
            ErrorCode.TOO_MANY_LISTINGS,
        ),
    ),
    Endpoint(
        route=routes.PUSH_ITEM,
        function=push_item,
        answer=Pushed,
        status=201,
        summary="Push an item",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.KEY_TAKEN),
    ),
    Endpoint(
        route=routes.CHANGE_ITEM,
        function=change_item,
        answer=Pushed,
        summary="Change an item's content",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.VERSION_CHANGED, ErrorCode.ITEM_CLOSED, ErrorCode.IN_PLAN),
    ),
    Endpoint(
        route=routes.ITEM,
        function=read_item,
        answer=ItemDetail,
        summary="One item with its history",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
)
