"""Owns reading of the audit trail."""

from __future__ import annotations

from collections.abc import AsyncIterator

from jobconsole.client.service import Service
from jobcontract.audit import AuditEntry, AuditPage
from jobcontract.ids import PAGE_MAX
from jobcontract.routes import AUDIT


async def audit(service: Service, *, cursor: str | None = None, limit: int = 100) -> AuditPage:
    """One page of the trail, newest first; `cursor` from the page before."""
    return await service.get(AUDIT, AuditPage, query={"cursor": cursor, "limit": limit})


async def all_audit(service: Service) -> AsyncIterator[AuditEntry]:
    """The whole trail, newest first, fetched page by page."""
    cursor: str | None = None
    while True:
        page = await audit(service, cursor=cursor, limit=PAGE_MAX)
        for entry in page.entries:
            yield entry
        if page.next is None:
            return
        cursor = page.next
