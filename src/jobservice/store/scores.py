"""Owns the statements of scores: what an item is scored by, its place in the order, scoring what is due anew.

Decides nothing. What is scored anew is written under a duty's lease and never touches versions, claims or content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from jobcontract.states import ItemState
from jobservice.rules.items import Content
from jobservice.rules.scores import Rule
from jobservice.store.database import Row, Transaction
from jobservice.store.items import EXPONENTS_JSON, FIRST, Place, Reach, Standing, content_of, readable
from jobservice.store.occurrence_items import RunLease

_NO_ITEM = str(UUID(int=0))
"""Before every id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorable:
    """What an item is scored by, and `now`, the database's clock when it was read."""

    queue: str
    content: Content
    created: datetime
    state: ItemState
    closed: bool
    now: datetime


async def scorable(transaction: Transaction, item: str, reach: Reach) -> Scorable | None:
    """What an item is scored by; None where out of reach. Locks nothing."""
    if not readable(item):
        return None
    row = await transaction.row("scores/content", item=item, **reach.parameters())
    if row is None:
        return None
    return Scorable(
        queue=row["queue"],
        content=content_of(row),
        created=row["created"],
        state=ItemState(row["state"]),
        closed=row["closed"],
        now=row["now"],
    )


async def placement(
    transaction: Transaction, queue: str, place: Place, reach: Reach, *, now: datetime, most: int
) -> Row:
    """What is before `place` among the items that wait, without the item of that id: `ahead` (counted to `most` and
    one more), and the neighbours `above` and `below` as they go over the wire, None where there is none."""
    rank, created, item = place
    row = await transaction.row(
        "scores/placement",
        queue=queue,
        rank=rank,
        created=created,
        item=item,
        now=now,
        most=most,
        exponents=EXPONENTS_JSON,
        **reach.parameters(),
    )
    assert row is not None  # noqa: S101  # sub-selects without a table have a row
    return row


@dataclass(frozen=True, slots=True, kw_only=True)
class ToScore:
    """An item to be scored anew, as it was read: what the write compares, and where the next batch goes on."""

    id: UUID
    content: Content
    created: datetime
    money_version: int
    scored_at: datetime | None
    rescore_at: datetime | None


Due = tuple[datetime, UUID]
"""Where a batch of due items ended: when the last one was due, and its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What of one stretch of a queue is to be scored; `last` is where the next one goes on, None at the end."""

    items: tuple[ToScore, ...]
    last: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How many scores were written, and how many of them put their item at another place."""

    scored: int
    placed: int


async def tenants(transaction: Transaction) -> tuple[Sequence[str], datetime]:
    """Every tenant, and the clock; of a Worker's transaction without a tenant."""
    row = await transaction.row("scores/tenants")
    assert row is not None  # noqa: S101  # an aggregate has a row
    return row["tenants"], row["now"]


async def due(
    transaction: Transaction, queue: str, *, until: datetime, after: Due | None, batch: int
) -> tuple[ToScore, ...]:
    """At most `batch` open items of a queue whose scores were due by `until`, the longest due first."""
    after_due, after_id = ("-infinity", _NO_ITEM) if after is None else (after[0].isoformat(), str(after[1]))
    rows = await transaction.rows(
        "scores/due", queue=queue, until=until, after_due=after_due, after_id=after_id, batch=batch
    )
    return tuple(map(_to_score, rows))


async def outdated(
    transaction: Transaction, queue: str, rule: Rule | None, *, after: Place | None, stretch: int
) -> Stretch:
    """Of the next `stretch` open items of a queue, those that `rule` as it is did not score, or could not."""
    rank, created, identifier = after or FIRST
    rows = await transaction.rows(
        "scores/outdated",
        queue=queue,
        rule=None if rule is None else rule.id,
        version=None if rule is None else rule.version,
        timed=rule is not None and rule.refresh_seconds is not None,
        after_rank=rank,
        after_created=created,
        after_id=identifier,
        stretch=stretch,
    )
    if not rows:
        return Stretch(items=(), last=None)
    end = rows[0]
    return Stretch(
        items=tuple(_to_score(row) for row in rows if row["id"] is not None),
        last=(end["last_rank"], end["last_created"].isoformat(), str(end["last_id"])),
    )


async def rescore(
    transaction: Transaction, lease: Mapping[str, object], standings: Sequence[tuple[ToScore, Standing]]
) -> Written:
    """Write new standings under a duty's lease (name, holder, fence), where content and score are still what was read.

    A row that somebody works on is left out; nothing is waited for.
    """
    return await _rescore(transaction, {**lease, "occurrence": None}, standings)


async def rescore_under_run(
    transaction: Transaction, lease: RunLease, standings: Sequence[tuple[ToScore, Standing]]
) -> Written:
    """As `rescore`, under the lease of the occurrence whose run scores."""
    key = {"name": None, "occurrence": lease.occurrence, "holder": lease.holder, "fence": lease.fence}
    return await _rescore(transaction, key, standings)


async def _rescore(
    transaction: Transaction, key: Mapping[str, object], standings: Sequence[tuple[ToScore, Standing]]
) -> Written:
    rows = [_scored_row(item, standing) for item, standing in standings]
    row = await transaction.row("scores/rescore", **key, rows=Jsonb(rows))
    assert row is not None  # noqa: S101  # an aggregate has a row
    return Written(scored=row["scored"], placed=row["placed"])


def _scored_row(item: ToScore, standing: Standing) -> dict[str, object]:
    return {
        "id": str(item.id),
        "money_version": item.money_version,
        "seen_at": None if item.scored_at is None else item.scored_at.isoformat(),
        **standing.columns(),
    }


def _to_score(row: Row) -> ToScore:
    return ToScore(
        id=row["id"],
        content=content_of(row),
        created=row["created"],
        money_version=row["money_version"],
        scored_at=row["scored_at"],
        rescore_at=row["rescore_at"],
    )
