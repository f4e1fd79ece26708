"""Owns the calls about occurrences: listing, reading one with its attempts and items, asking that one be cancelled.
Screens and headless twins run these.

An occurrence is named by its id, or as a person types it: `statements.nightly@2026-10-26T01:30:00Z`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from datetime import datetime

from jobconsole.client.service import Service
from jobcontract.occurrences import (
    CancelOrder,
    Occurrence,
    OccurrenceChanged,
    OccurrenceDetail,
    OccurrenceItems,
    Occurrences,
)
from jobcontract.routes import CANCEL_OCCURRENCE, OCCURRENCE, OCCURRENCE_ITEMS, OCCURRENCES
from jobcontract.states import OccurrenceState

PAGE = 50
"""Rows of a page where the caller does not say."""


async def occurrences(
    service: Service,
    schedule: str | None = None,
    states: Collection[OccurrenceState] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
    limit: int = PAGE,
) -> Occurrences:
    """One page, the latest scheduled first, at most `PAGE_MAX`: of one schedule or all, in these states (empty: all),
    scheduled not before `since` and before `until` (both aware)."""
    query = {
        "schedule": schedule,
        "state": ",".join(sorted(state.value for state in states)) or None,
        "since": None if since is None else since.isoformat(),
        "until": None if until is None else until.isoformat(),
        "cursor": cursor,
        "limit": limit,
    }
    return await service.get(OCCURRENCES, Occurrences, query=query)


async def every_occurrence(
    service: Service,
    schedule: str | None = None,
    states: Collection[OccurrenceState] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = PAGE,
) -> AsyncIterator[Occurrence]:
    """All of them, fetched in pages of `limit`."""
    cursor: str | None = None
    while True:
        page = await occurrences(service, schedule, states, since, until, cursor, limit)
        for row in page.occurrences:
            yield row
        if page.next is None:
            return
        cursor = page.next


async def occurrence(service: Service, id_or_name: str) -> OccurrenceDetail:
    """One occurrence with its attempts, refused completions, and the first of its items."""
    return await service.get(OCCURRENCE, OccurrenceDetail, parts={"occurrence": id_or_name})


async def occurrence_items(
    service: Service, id_or_name: str, cursor: str | None = None, limit: int = PAGE
) -> OccurrenceItems:
    """One page of the items of a run: what failed first. `cursor` may be `items_next` of the detail."""
    query = {"cursor": cursor, "limit": limit}
    return await service.get(OCCURRENCE_ITEMS, OccurrenceItems, parts={"occurrence": id_or_name}, query=query)


async def cancel_occurrence(service: Service, id_or_name: str, reason: str, key: str) -> OccurrenceChanged:
    """Ask that an occurrence be cancelled; a Worker ends it. Refused with *occurrence-ended* where it has ended."""
    order = CancelOrder(reason=reason)
    return await service.post(CANCEL_OCCURRENCE, order, OccurrenceChanged, key=key, parts={"occurrence": id_or_name})
