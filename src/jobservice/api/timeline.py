"""Owns the operation that reads the timeline of an incident."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Query, Response

from jobcontract import operating_routes
from jobcontract.errors import ErrorCode
from jobcontract.operating import TimelineKind
from jobcontract.timeline import Timeline
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.instants import QueryInstant
from jobservice.api.items import PAGE, CursorText, Limit
from jobservice.usecases import timeline
from jobservice.usecases.timeline import AskedTimeline

_KINDS = "|".join(kind.value for kind in TimelineKind)
Since = Annotated[QueryInstant, Query(description="It begins then.")]
Until = Annotated[QueryInstant, Query(description="It ends before then.")]
KindQuery = Annotated[
    str | None,
    Query(
        pattern=rf"^({_KINDS})(,({_KINDS}))*$",
        max_length=200,
        description="Of these kinds, with commas between them; without it: of all.",
    ),
]


async def read_timeline(
    admitted: Admitted,
    since: Since,
    until: Until,
    kind: KindQuery = None,
    cursor: CursorText = None,
    limit: Limit = PAGE,
) -> Response:
    """One page of what happened in a stretch of time, over all nouns, the earliest first."""
    context, actor = admitted.context, admitted.actor
    kinds = frozenset(TimelineKind(each) for each in kind.split(",")) if kind else frozenset()
    scope = ("timeline", actor.tenant, actor.person, since.isoformat(), until.isoformat(), *sorted(kinds))
    after = None
    if cursor is not None:
        at, rank, key = context.signer.after(scope, cursor)
        after = (datetime.fromisoformat(str(at)), int(rank), str(key))
    asked = AskedTimeline(since=since, until=until, kinds=kinds, limit=limit)
    with context.listings.held(actor.person):
        page = await timeline.read_timeline(context.service, actor, asked, after)
    following = None
    if page.last is not None:
        following = context.signer.cursor(scope, (page.last[0].isoformat(), page.last[1], page.last[2]))
    return of_model(Timeline(since=since, until=until, entries=page.entries, next=following, now=page.now))


ENDPOINTS = (
    Endpoint(
        route=operating_routes.TIMELINE,
        function=read_timeline,
        answer=Timeline,
        summary="What happened in a stretch of time",
        refusals=(ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
