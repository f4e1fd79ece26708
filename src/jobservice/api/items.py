"""Owns the operations about work items: a page of them, one of them, pushing and changing."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import Query, Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.ids import PAGE_MAX
from jobcontract.items import ChangedItem, ItemDetail, ItemPage, NewItem, Pushed
from jobcontract.states import ItemView
from jobservice.api.admission import Admission, Admitted
from jobservice.api.answers import JSON_TYPE, of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.signing import CURSOR_MAX
from jobservice.usecases import items

PAGE = 100
"""Rows of a page where the request does not say."""
Limit = Annotated[int, Query(ge=1, le=PAGE_MAX, description="Most rows of the page.")]
CursorText = Annotated[str | None, Query(max_length=CURSOR_MAX, description="`next` of the page before.")]


async def queue_items(
    admitted: Admitted,
    queue: str,
    view: ItemView = ItemView.WAITING,
    cursor: CursorText = None,
    limit: Limit = PAGE,
) -> Response:
    """One page of a queue, oldest first."""
    context, actor = admitted.context, admitted.actor
    scope = _cursor_scope(admitted, queue, view, limit)
    after = None
    if cursor is not None:
        rank, created, identifier = context.signer.after(scope, cursor)
        after = (int(rank), str(created), str(identifier))
    with context.listings.held(actor.person):
        page = await items.list_items(context.service, actor, queue, view=view, after=after, limit=limit)
    following = None if page.last is None else context.signer.cursor(scope, page.last)
    return Response(
        b'{"items":%b,"next":%b,"as_of":%b}'
        % (_bytes(page.json), json.dumps(following).encode(), json.dumps(page.as_of.isoformat()).encode()),
        media_type=JSON_TYPE,
    )


def _cursor_scope(admitted: Admission, queue: str, view: ItemView, limit: int) -> tuple[str, ...]:
    return ("items", admitted.actor.tenant, admitted.actor.person, queue, view, str(limit))


def _bytes(built: str | bytes) -> bytes:
    return built.encode() if isinstance(built, str) else built


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
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
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
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.VERSION_CHANGED, ErrorCode.ITEM_CLOSED),
    ),
    Endpoint(
        route=routes.ITEM,
        function=read_item,
        answer=ItemDetail,
        summary="One item with its history",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
)
