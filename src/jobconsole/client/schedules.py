"""Owns the calls that read schedules: which there are, how one is doing, when it runs next. Screens and headless twins
run these."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from jobconsole.client.service import Service
from jobcontract.ids import PAGE_MAX
from jobcontract.routes import NEXT_INSTANTS, SCHEDULE, SCHEDULES
from jobcontract.schedules import NextInstants, Schedule, ScheduleDetail, Schedules

PAGE = 100
"""Rows of a page where the caller does not say."""
NEXT = 5
"""Instants of a look ahead where the caller does not say."""


async def schedules(service: Service, cursor: str | None = None, limit: int = PAGE) -> Schedules:
    """One page of the schedules of the tenant, by id, at most `PAGE_MAX`."""
    return await service.get(SCHEDULES, Schedules, query={"cursor": cursor, "limit": limit})


async def every_schedule(service: Service) -> AsyncIterator[Schedule]:
    """All of them, page by page."""
    cursor: str | None = None
    while True:
        page = await schedules(service, cursor, PAGE_MAX)
        for row in page.schedules:
            yield row
        if page.next is None:
            return
        cursor = page.next


async def schedule(service: Service, identifier: str) -> ScheduleDetail:
    """One schedule with its next instants and what was skipped last."""
    return await service.get(SCHEDULE, ScheduleDetail, parts={"schedule": identifier})


async def next_instants(
    service: Service, identifier: str, after: datetime | None = None, count: int = NEXT
) -> NextInstants:
    """The next `count` instants, at most `NEXT_MOST`, later than `after` (aware; None: the service's now)."""
    query = {"after": None if after is None else after.isoformat(), "count": count}
    return await service.get(NEXT_INSTANTS, NextInstants, parts={"schedule": identifier}, query=query)
