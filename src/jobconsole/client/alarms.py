"""Owns the calls about alarms: which there are, and saying that somebody looks after one. Screens and headless twins
run these. Keys as in `queues`."""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.alarms import AcknowledgeOrder, Alarm, AlarmChanged, Alarms
from jobcontract.operating_routes import ACKNOWLEDGE_ALARM, ALARMS

PAGE = 100
"""Rows of a page where the caller does not say."""


async def alarms(service: Service, cursor: str | None = None, limit: int = PAGE) -> Alarms:
    """One page, at most `PAGE_MAX`: open ones first, the most urgent first; then cleared ones, the latest first."""
    return await service.get(ALARMS, Alarms, query={"cursor": cursor, "limit": limit})


async def open_alarms(service: Service) -> tuple[Alarm, ...]:
    """Every open alarm of the tenant, the most urgent first."""
    found: list[Alarm] = []
    cursor: str | None = None
    while True:
        page = await alarms(service, cursor)
        found += [row for row in page.alarms if row.cleared_at is None]
        if page.next is None or len(found) >= page.open or any(row.cleared_at is not None for row in page.alarms):
            return tuple(found)
        cursor = page.next


async def acknowledge(service: Service, identifier: str, note: str, key: str) -> AlarmChanged:
    """Say that somebody looks after an open alarm, and what they do; said again, it changes the note.

    Refusals: ALARM_CLEARED where it is over; NOT_FOUND.
    """
    order = AcknowledgeOrder(note=note)
    return await service.post(ACKNOWLEDGE_ALARM, order, AlarmChanged, key=key, parts={"alarm": identifier})
