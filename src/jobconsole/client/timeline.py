"""Owns the calls about the timeline of an incident: a page of what happened in a stretch of time, over all nouns.
Screens and headless twins run these.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from datetime import datetime

from jobconsole.client.service import Service
from jobcontract.ids import PAGE_MAX
from jobcontract.operating import TimelineKind
from jobcontract.operating_routes import TIMELINE
from jobcontract.timeline import Timeline, TimelineEntry

PAGE = 100
"""Rows of a page where the caller does not say."""


async def timeline(
    service: Service,
    since: datetime,
    until: datetime,
    kinds: Collection[TimelineKind] = (),
    cursor: str | None = None,
    limit: int = PAGE,
) -> Timeline:
    """One page of what happened not before `since` and before `until` (both aware), the earliest first; of these kinds
    (empty: all). At most `TIMELINE_DAYS` between them."""
    query = {
        "since": since.isoformat(),
        "until": until.isoformat(),
        "kind": ",".join(sorted(kind.value for kind in kinds)) or None,
        "cursor": cursor,
        "limit": limit,
    }
    return await service.get(TIMELINE, Timeline, query=query)


async def every_entry(
    service: Service, since: datetime, until: datetime, kinds: Collection[TimelineKind] = ()
) -> AsyncIterator[TimelineEntry]:
    """All of it, fetched page by page."""
    cursor: str | None = None
    while True:
        page = await timeline(service, since, until, kinds, cursor, PAGE_MAX)
        for row in page.entries:
            yield row
        if page.next is None:
            return
        cursor = page.next
