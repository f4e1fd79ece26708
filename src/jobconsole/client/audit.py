"""Owns the calls about the audit trail: pages of it under a filter, one entry with before and after, the whole as CSV.
Screens and headless twins run these.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime

from jobconsole.client.service import Service
from jobcontract.audit import AuditDetail, AuditEntry, AuditPage
from jobcontract.ids import PAGE_MAX
from jobcontract.operating_routes import AUDIT_ENTRY, AUDIT_EXPORT
from jobcontract.routes import AUDIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is listed of the trail: entries that are all of this; None = whatever it is. `since` and `until` are aware;
    an entry at `until` is not in it. `person`: an id, or `-` for what the service did by itself."""

    since: datetime | None = None
    until: datetime | None = None
    person: str | None = None
    action: str | None = None
    subject: str | None = None
    outcome: str | None = None
    schedule: str | None = None

    def query(self) -> Mapping[str, str | None]:
        """As parameters of a request."""
        return {each.name: _written(getattr(self, each.name)) for each in fields(self)}

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self == ALL


ALL = Asked()


async def audit(service: Service, *, asked: Asked = ALL, cursor: str | None = None, limit: int = 100) -> AuditPage:
    """One page of the trail, newest first; `cursor` from the page before."""
    return await service.get(AUDIT, AuditPage, query={**asked.query(), "cursor": cursor, "limit": limit})


async def all_audit(service: Service, *, asked: Asked = ALL) -> AsyncIterator[AuditEntry]:
    """All entries that were asked for, newest first, fetched page by page."""
    cursor: str | None = None
    while True:
        page = await audit(service, asked=asked, cursor=cursor, limit=PAGE_MAX)
        for entry in page.entries:
            yield entry
        if page.next is None:
            return
        cursor = page.next


async def entry(service: Service, identifier: int) -> AuditDetail:
    """One entry with what was there before and after, as far as the act kept it, and its seal."""
    return await service.get(AUDIT_ENTRY, AuditDetail, parts={"entry": str(identifier)})


async def export(service: Service, *, asked: Asked = ALL) -> bytes:
    """What was asked for as the CSV that the service makes and audits, newest first (MONEY.md 28); the newest
    `AUDIT_EXPORT_MOST` entries where there are more."""
    return await service.fetch(AUDIT_EXPORT, query=asked.query())


def _written(given: datetime | str | None) -> str | None:
    return given.isoformat() if isinstance(given, datetime) else given
