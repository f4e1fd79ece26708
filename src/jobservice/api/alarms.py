"""Owns the operations of alarms: pages of them, and saying that somebody looks after one."""

from __future__ import annotations

from datetime import datetime

from fastapi import Response

from jobcontract import operating_routes as routes
from jobcontract.alarms import AcknowledgeOrder, AlarmChanged, Alarms
from jobcontract.errors import ErrorCode
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.items import CursorText, Limit
from jobservice.usecases import alarms
from jobservice.usecases.alarms import ClearedMark, OpenMark

PAGE = 100
"""Rows of a page where the request does not say."""


async def list_alarms(admitted: Admitted, cursor: CursorText = None, limit: Limit = PAGE) -> Response:
    """One page of the tenant's alarms: open ones first, the most urgent first; then cleared ones, the latest first."""
    context, actor = admitted.context, admitted.actor
    scope = ("alarms", actor.tenant, actor.person)
    behind = None if cursor is None else _mark(context.signer.after(scope, cursor))
    with context.listings.held(actor.person):
        page = await alarms.list_alarms(context.service, actor, behind, limit)
    following = None
    if page.last is not None:
        written = tuple(each.isoformat() if isinstance(each, datetime) else each for each in page.last)
        following = context.signer.cursor(scope, written)
    found = Alarms(alarms=page.alarms, open=page.open, unacknowledged=page.unacknowledged, next=following, now=page.now)
    return of_model(found)


def _mark(signed: object) -> OpenMark | ClearedMark:
    parts = list(signed) if isinstance(signed, (list, tuple)) else []
    if len(parts) == 3:
        return int(parts[0]), datetime.fromisoformat(str(parts[1])), str(parts[2])
    return datetime.fromisoformat(str(parts[0])), str(parts[1])


async def acknowledge_alarm(admitted: Admitted, alarm: str, order: AcknowledgeOrder) -> Response:
    """Say that somebody looks after an open alarm, and what they do."""
    return of_acting(await alarms.acknowledge(admitted.context.service, admitted.actor, alarm, order, admitted.once))


ENDPOINTS = (
    Endpoint(
        route=routes.ALARMS,
        function=list_alarms,
        answer=Alarms,
        summary="Alarms",
        refusals=(ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.ACKNOWLEDGE_ALARM,
        function=acknowledge_alarm,
        answer=AlarmChanged,
        summary="Look after an alarm",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.ALARM_CLEARED),
    ),
)
