"""Owns the operations about occurrences: pages of them, one with its attempts and items, asking that one be cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import Query, Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.ids import KEY_MAX
from jobcontract.occurrences import CancelOrder, OccurrenceChanged, OccurrenceDetail, OccurrenceItems, Occurrences
from jobcontract.states import OccurrenceState
from jobservice.api.admission import Admission, Admitted
from jobservice.api.answers import of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.instants import QueryInstant
from jobservice.api.items import CursorText, Limit
from jobservice.usecases import occurrences
from jobservice.usecases.occurrences import Asked

PAGE = 50
"""Rows of a page where the request does not say."""
_STATES = "|".join(state.value for state in OccurrenceState)
ScheduleQuery = Annotated[str | None, Query(min_length=1, max_length=KEY_MAX, description="Of this schedule alone.")]
StateQuery = Annotated[
    str | None,
    Query(
        pattern=rf"^({_STATES})(,({_STATES}))*$",
        max_length=200,
        description="In these states, with commas between them; without it: in all.",
    ),
]
Since = Annotated[QueryInstant | None, Query(description="Scheduled then or later.")]
Until = Annotated[QueryInstant | None, Query(description="Scheduled before then.")]


async def list_occurrences(
    admitted: Admitted,
    schedule: ScheduleQuery = None,
    state: StateQuery = None,
    since: Since = None,
    until: Until = None,
    cursor: CursorText = None,
    limit: Limit = PAGE,
) -> Response:
    """One page of the tenant's occurrences, the latest scheduled first."""
    context, actor = admitted.context, admitted.actor
    states = frozenset(OccurrenceState(each) for each in state.split(",")) if state else frozenset()
    written = [*sorted(states), "" if since is None else since.isoformat(), "" if until is None else until.isoformat()]
    scope = ("occurrences", actor.tenant, actor.person, schedule or "", *written)
    behind = None
    if cursor is not None:
        at, identifier = context.signer.after(scope, cursor)
        behind = (datetime.fromisoformat(str(at)), str(identifier))
    asked = Asked(schedule=schedule, states=states, since=since, until=until, limit=limit)
    with context.listings.held(actor.person):
        page = await occurrences.list_occurrences(context.service, actor, asked, behind)
    following = None
    if page.last is not None:
        following = context.signer.cursor(scope, (page.last[0].isoformat(), page.last[1]))
    return of_model(Occurrences(occurrences=page.occurrences, next=following, now=page.now))


async def read_occurrence(admitted: Admitted, occurrence: str) -> Response:
    """An occurrence with its attempts, refused completions, and the first of its items."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        found = await occurrences.read_occurrence(context.service, actor, occurrence)
    return of_model(
        OccurrenceDetail(
            occurrence=found.occurrence,
            attempts=found.attempts,
            refused=found.refused,
            items=found.items.items,
            items_next=_signed(admitted, found.items.last),
            now=found.items.now,
            replays=found.replays,
        )
    )


async def occurrence_items(
    admitted: Admitted, occurrence: str, cursor: CursorText = None, limit: Limit = PAGE
) -> Response:
    """One page of the items of a run: those that failed first, then those without an outcome."""
    context, actor = admitted.context, admitted.actor
    behind = None
    if cursor is not None:
        identifier, kind, number = context.signer.after(_items_scope(admitted), cursor)
        behind = (str(identifier), int(kind), int(number))
    with context.listings.held(actor.person):
        page = await occurrences.list_items(context.service, actor, occurrence, behind, limit)
    return of_model(OccurrenceItems(items=page.items, next=_signed(admitted, page.last), now=page.now))


async def cancel_occurrence(admitted: Admitted, occurrence: str, order: CancelOrder) -> Response:
    """Ask that an occurrence be cancelled: what waits is not started, what runs is stopped."""
    return of_acting(
        await occurrences.cancel(admitted.context.service, admitted.actor, occurrence, order, admitted.once)
    )


def _items_scope(admitted: Admission) -> tuple[str, ...]:
    """What a cursor of items is good for; the occurrence stands in the cursor, since it has two names."""
    return ("occurrence-items", admitted.actor.tenant, admitted.actor.person)


def _signed(admitted: Admission, mark: Sequence[str | int] | None) -> str | None:
    return None if mark is None else admitted.context.signer.cursor(_items_scope(admitted), mark)


ENDPOINTS = (
    Endpoint(
        route=routes.OCCURRENCES,
        function=list_occurrences,
        answer=Occurrences,
        summary="Occurrences",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.OCCURRENCE,
        function=read_occurrence,
        answer=OccurrenceDetail,
        summary="One occurrence with its attempts",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.OCCURRENCE_ITEMS,
        function=occurrence_items,
        answer=OccurrenceItems,
        summary="A page of the items of a run",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.CANCEL_OCCURRENCE,
        function=cancel_occurrence,
        answer=OccurrenceChanged,
        summary="Cancel an occurrence",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.OCCURRENCE_ENDED),
    ),
)
