"""Owns the statements of the audit trail: it only grows, and reading it is by tenant, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


async def page(transaction: Transaction, *, after: int | None, limit: int) -> tuple[list[Row], Row]:
    """At most `limit + 1` rows older than `after`, newest first, and the clock (`now`)."""
    rows = await transaction.rows("audit/page", after=after, most=limit)
    now = await transaction.row("items/now")
    assert now is not None  # noqa: S101  # a select without from has a row
    return list(rows), now
