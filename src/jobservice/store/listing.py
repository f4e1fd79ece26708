"""Owns the statements of listings: pages forwards and backwards, the catch-up after them, and where an item stands.

Decides nothing. The rows of a page are JSON that PostgreSQL built; every statement names tenant and reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from psycopg.types.json import Jsonb

from jobcontract.states import ItemView
from jobservice.store.database import Row, Transaction
from jobservice.store.items import EXPONENTS_JSON, Place, Reach, readable
from jobservice.store.texts import Texts, texts

_LAST_ID = 2**128 - 1
LAST: Place = (2**63 - 1, "infinity", str(UUID(int=_LAST_ID)))
"""After every row."""
PlacedAt = tuple[int, str]
"""Where a row stands in a catch-up: the transaction that placed it, its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Which rows are listed and in which order: a view of a queue, within reach, that meet `condition` (as
    `jobs.matches` takes it; None: all), by their rank or, where `currency` is named, by amounts of it."""

    queue: str
    view: ItemView
    reach: Reach
    condition: Mapping[str, object] | None = None
    currency: str | None = None

    def parameters(self, transaction: Transaction) -> dict[str, object]:
        """As parameters of a statement, which looks at the clock of when the transaction began."""
        return {
            "queue": self.queue,
            "view": self.view.value,
            "now": transaction.began_at,
            "filter": None if self.condition is None else Jsonb(dict(self.condition)),
            "currency": self.currency,
            **self.reach.parameters(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page: its rows as a JSON array in the order of the listing, and what is known of the rows around them."""

    json: bytes
    more: bool
    """Whether rows follow in the direction of reading."""
    mark: bool
    """Whether a row stands at the very place from which the page was read."""
    near: Place | None
    """Of the row nearest to that place; None where the page is empty."""
    far: Place | None
    """Of the row farthest from it; None where the page is empty."""
    snapshot: str
    """What of the database it saw, as PostgreSQL writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUp:
    """One page of rows that were placed anew, as a JSON array."""

    json: bytes
    last: PlacedAt | None
    """After which row the next page begins; None where no rows follow."""
    snapshot: str


def just_before(place: Place) -> Place:
    """A place before that one, with no row between them."""
    return place[0], place[1], str(UUID(int=max(0, UUID(place[2]).int - 1)))


def just_after(place: Place) -> Place:
    """A place after that one, with no row between them."""
    return place[0], place[1], str(UUID(int=min(_LAST_ID, UUID(place[2]).int + 1)))


def after_rank(rank: int) -> Place:
    """The place after every row of that rank and of all before it."""
    return rank, LAST[1], LAST[2]


async def page(transaction: Transaction, listing: Listing, *, after: Place, limit: int) -> Page:
    """The rows after a place, as at the beginning of the transaction."""
    return await _page("items/page", transaction, listing, after, limit)


async def page_back(transaction: Transaction, listing: Listing, *, before: Place, limit: int) -> Page:
    """The last rows before a place."""
    return await _page("items/page_back", transaction, listing, before, limit)


async def _page(name: str, transaction: Transaction, listing: Listing, place: Place, limit: int) -> Page:
    rank, created, identifier = place
    found = await texts(
        transaction,
        name,
        rank=rank,
        created=created,
        id=identifier,
        most=limit,
        exponents=EXPONENTS_JSON,
        **listing.parameters(transaction),
    )
    first = 1 if found.count and found.raw(0, "mark") == b"true" else 0
    rows = range(first, min(found.count, first + limit))
    return Page(
        json=found.array(rows[::-1] if name == "items/page_back" else rows, "item"),
        more=found.count > first + limit,
        mark=first == 1,
        near=_place(found, rows[0]) if rows else None,
        far=_place(found, rows[-1]) if rows else None,
        snapshot=found.text(0, "snapshot") if found.count else await _snapshot(transaction),
    )


def _place(found: Texts, row: int) -> Place:
    return int(found.raw(row, "rank")), found.text(row, "created"), found.text(row, "id")


async def catch_up(
    transaction: Transaction, listing: Listing, *, since: str, since_at: str, after: PlacedAt | None, limit: int
) -> CatchUp:
    """Rows that were placed anew in transactions that the snapshot `since` did not see, or whose set-aside ended after
    `since_at` (ISO 8601)."""
    xid, identifier = after or (0, LAST[2])
    found = await texts(
        transaction,
        "items/page_catch_up",
        since=since,
        since_at=since_at,
        oldest=int(since.partition(":")[0]),
        xid=xid,
        id=identifier,
        most=limit,
        exponents=EXPONENTS_JSON,
        **listing.parameters(transaction),
    )
    rows = range(min(found.count, limit))
    more = found.count > limit
    return CatchUp(
        json=found.array(rows, "item"),
        last=(int(found.raw(limit - 1, "xid")), found.text(limit - 1, "id")) if more else None,
        snapshot=found.text(0, "snapshot") if found.count else await _snapshot(transaction),
    )


async def _snapshot(transaction: Transaction) -> str:
    """What a statement sees now: where a page has no row to say it. Nothing was passed over yet, so later is as good."""
    row = await transaction.row("items/snapshot")
    assert row is not None  # noqa: S101  # a select without from has a row
    return str(row["snapshot"])


async def find(transaction: Transaction, listing: Listing, item: str) -> Row | None:
    """The item within reach with that id or business key: `place`, `queue`, `state`, `closed`, `set_aside_until`, and
    whether the listing holds it (`in_view`, `matches`, `sorted`: its currency is the one that the listing sorts by)."""
    row = await transaction.row(
        "items/page_start", id=item if readable(item) else None, key=item, **listing.parameters(transaction)
    )
    return None if row is None else {**row, "place": (row["rank"], row["created"].isoformat(), row["id"])}
