"""Owns the statements of the audit trail: it only grows, and reading it is by tenant, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from jobservice.store.database import Row, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """A row to add. `person` None = the service by itself."""

    person: str | None
    action: str
    subject: str
    outcome: str
    detail: Mapping[str, Any]
    reference: str | None


async def add(transaction: Transaction, entry: NewEntry) -> None:
    """Add a row in the acting transaction."""
    await transaction.run(
        "audit/add",
        person=entry.person,
        action=entry.action,
        subject=entry.subject,
        outcome=entry.outcome,
        detail=Jsonb(dict(entry.detail)),
        reference=entry.reference or None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a listing of the trail takes: entries that are all of this; None = whatever it is. `by_itself`: of no person."""

    since: datetime | None = None
    until: datetime | None = None
    person: str | None = None
    by_itself: bool = False
    action: str | None = None
    subject: str | None = None
    outcome: str | None = None
    schedule: str | None = None


Mark = tuple[datetime, int]
"""Instant and id of the last entry of a page."""


async def page(
    transaction: Transaction, *, after: Mark | None, limit: int, wanted: Wanted = Wanted()
) -> tuple[list[Row], Row]:
    """At most `limit + 1` rows older than `after`, newest first, and the clock (`now`)."""
    at, entry = (None, None) if after is None else after
    rows = await transaction.rows("audit/page", at=at, after=entry, most=limit, **asdict(wanted))
    now = await transaction.row("items/now")
    assert now is not None  # noqa: S101  # a select without from has a row
    return list(rows), now


async def entry(transaction: Transaction, identifier: int) -> Row | None:
    """One entry of the tenant, with place, link and instant of its seal (null: not sealed yet)."""
    return await transaction.row("audit/entry", entry=identifier)


async def versions(transaction: Transaction, item: UUID, version: int) -> list[Row]:
    """An item's version, behind the one before it where there is one."""
    return list(await transaction.rows("audit/versions", item=item, version=version))
