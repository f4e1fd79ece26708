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

    @property
    def several(self) -> bool:
        """Whether an entry has to be more than one thing, whenever it was written: no single index finds that."""
        asked = (self.person, self.action, self.subject, self.outcome, self.schedule)
        return sum(each is not None for each in asked) + self.by_itself > 1


Mark = tuple[datetime, int]
"""Instant and id of the last entry of a page."""


async def page(transaction: Transaction, *, after: Mark | None, limit: int, wanted: Wanted = Wanted()) -> list[Row]:
    """At most `limit + 1` rows older than `after`, newest first."""
    at, entry = (None, None) if after is None else after
    return list(await transaction.rows("audit/page", at=at, after=entry, most=limit, **asdict(wanted)))


async def search(
    transaction: Transaction, *, after: Mark | None, limit: int, wanted: Wanted, looked: int
) -> tuple[list[Row], Mark | None]:
    """As `page` of several things, out of the next `looked` entries that have the one of them that is rarest there; and,
    where it ended before it had a page and before the trail's end, how far it looked."""
    at, entry = (None, None) if after is None else after
    asked = {"at": at, "after": entry, "looked": looked, **asdict(wanted)}
    counted = await transaction.row("audit/counted", **asked)
    assert counted is not None  # noqa: S101  # it is of one row
    found = {name: count for name, count in counted.items() if count is not None}
    rarest = min(found, key=lambda name: found[name])
    rows: list[Row] = list(await transaction.rows("audit/search", rarest=rarest, most=limit, **asked))
    if len(rows) > limit or found[rarest] < looked:
        return rows, None
    last = await transaction.row("audit/looked_to", rarest=rarest, **asked)
    if last is None:
        return rows, None
    # An entry that was written meanwhile moves the last one up: none that was found may be found again.
    return rows, min([(last["at"], last["id"]), *((row["at"], row["id"]) for row in rows[-1:])])


async def entry(transaction: Transaction, identifier: int) -> Row | None:
    """One entry of the tenant, with place, link and instant of its seal (null: not sealed yet)."""
    return await transaction.row("audit/entry", entry=identifier)


async def versions(transaction: Transaction, item: UUID, version: int) -> list[Row]:
    """An item's version, behind the one before it where there is one."""
    return list(await transaction.rows("audit/versions", item=item, version=version))
