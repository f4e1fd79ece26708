"""Owns the statements of work items: locking, adding, changing, reading one. Pages: `listing.py`.

Decides nothing. Tenant and reach (customers, workspaces) are named in every statement that finds an item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from jobcontract.money import EXPONENTS
from jobcontract.states import ItemState
from jobservice.application import Part
from jobservice.rules.claims import Holding
from jobservice.rules.items import Content, Payment, Version
from jobservice.rules.scores import UNRANKED, Rule, Scored
from jobservice.store.database import Row, Transaction

EXPONENTS_JSON = Jsonb(dict(EXPONENTS))
Place = tuple[int, str, str]
"""Where a row stands in a listing: its rank (or amount_rank), its own date as ISO 8601, its id."""
FIRST: Place = (-(2**63), "-infinity", "00000000-0000-0000-0000-000000000000")
"""Before every row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What of a tenant a person may see; None = no narrowing."""

    customers: tuple[str, ...] | None
    workspaces: tuple[str, ...] | None

    @property
    def narrowed(self) -> bool:
        """Whether it is less than the tenant."""
        return self.customers is not None or self.workspaces is not None

    def parameters(self) -> dict[str, object]:
        """As parameters of a statement."""
        return {
            "customers": None if self.customers is None else list(self.customers),
            "workspaces": None if self.workspaces is None else list(self.workspaces),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedItem:
    """An item's row, locked until the transaction ends."""

    id: str
    queue: str
    key: str | None
    created: datetime
    closed: bool
    customer: str | None
    workspace: str | None
    payload: Mapping[str, Any]
    row_version: int
    version: Version
    holding: Holding
    about: str | None
    """The payout that a review item asks about; None for any other item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What scoring gave an item, as its row keeps it; see `unscored` for a queue without a rule."""

    scored: Scored | None
    rule: Rule | None
    at: datetime

    def columns(self) -> dict[str, object]:
        """By column of jobs.items, as JSON has it."""
        if self.scored is None or self.rule is None:
            return {"rank": UNRANKED, **dict.fromkeys(_SCORE_COLUMNS)}
        again = self.rule.refresh_seconds
        return {
            "rank": self.scored.rank,
            "score": self.scored.value,
            "score_rule": self.rule.id,
            "score_version": self.rule.version,
            "score_inputs": dict(self.scored.inputs),
            "score_parts": None if self.scored.value is None else [_part(part) for part in self.scored.parts],
            "score_failure": self.scored.failure,
            "scored_at": self.at.isoformat(),
            "rescore_at": None if again is None else (self.at + timedelta(seconds=again)).isoformat(),
        }


def _part(part: Part) -> dict[str, object]:
    # Spelled out: the general way copies deeply, which was a quarter of what the duty of rescoring spends on an item.
    return {"input": part.input, "shown": part.shown, "points": part.points, "words": part.words}


_SCORE_COLUMNS = (
    "score",
    "score_rule",
    "score_version",
    "score_inputs",
    "score_parts",
    "score_failure",
    "scored_at",
    "rescore_at",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """A row to add. `words` is what a search looks in."""

    key: str
    created: datetime
    content: Content
    payload: Mapping[str, Any]
    customer: str | None
    workspace: str | None
    words: str
    standing: Standing


def readable(item: str) -> bool:
    """Whether `item` is an item's id as the service writes it; any other text names no item.

    Capitals are another text: an idempotency key belongs to a path, and an item has one path (MONEY.md 32).
    """
    try:
        return str(UUID(item)) == item
    except ValueError:
        return False


async def now(transaction: Transaction) -> datetime:
    """The database's clock. Read it after the row is locked."""
    row = await transaction.row("items/now")
    assert row is not None  # noqa: S101  # a select without from has a row
    moment: datetime = row["now"]
    return moment


async def lock(transaction: Transaction, item: str, reach: Reach, *, works: bool = False) -> LockedItem | None:
    """Lock the item of that id, waiting for whoever has it; None where there is none within reach. `works`: to claim it
    or act on it, so that whoever stops work waits for this transaction."""
    if not readable(item):
        return None
    return await _lock(transaction, reach, works=works, item=item, queue=None, key=None)


async def lock_by_key(transaction: Transaction, queue: str, key: str, reach: Reach) -> LockedItem | None:
    """Lock the item of that queue and business key; None where there is none within reach."""
    return await _lock(transaction, reach, works=False, item=None, queue=queue, key=key)


async def _lock(transaction: Transaction, reach: Reach, *, works: bool, **found_by: str | None) -> LockedItem | None:
    row = await transaction.row("items/lock", works=works, **found_by, **reach.parameters())
    return None if row is None else _locked(row)


async def find_key(transaction: Transaction, key: str, reach: Reach) -> Row | None:
    """Who has a business key within reach: `id` and `queue`."""
    return await transaction.row("items/find_key", key=key, **reach.parameters())


async def add(
    transaction: Transaction, queue: str, rows: Sequence[NewRow], *, pusher: str, reference: str | None, each: bool
) -> list[str]:
    """Add items with their first versions; the ids of those whose business key was new, in no order.

    `each`: every item gets its own row in the trail and a hint; else the whole batch gets one row, and nobody is told.
    """
    items = Jsonb([_new(row) for row in rows])
    row = await transaction.row("items/add", queue=queue, items=items, pusher=pusher, reference=reference, each=each)
    return [] if row is None else list(row["ids"])


def _new(row: NewRow) -> dict[str, object]:
    return {
        "key": row.key,
        "created": row.created.isoformat(),
        "customer": row.customer,
        "workspace": row.workspace,
        "payload": dict(row.payload),
        "words": row.words,
        "title": row.content.title,
        "inputs": dict(row.content.inputs),
        **_money(row.content),
        **row.standing.columns(),
    }


async def change(
    transaction: Transaction,
    item: LockedItem,
    content: Content,
    payload: Mapping[str, Any],
    *,
    words: str,
    standing: Standing,
    raised: bool,
    changer: str,
) -> int | None:
    """Write new content over a locked item; its row_version, or None where claim or version are not as they were."""
    columns = standing.columns()
    for name in ("score_inputs", "score_parts"):
        columns[name] = None if columns[name] is None else Jsonb(columns[name])
    row = await transaction.row(
        "items/change",
        item=item.id,
        holder=item.holding.holder,
        fence=item.holding.fence,
        money_version=item.version.number,
        raised=int(raised),
        changer=changer,
        payload=Jsonb(dict(payload)),
        title=content.title,
        inputs=Jsonb(dict(content.inputs)),
        words=words,
        **_money(content),
        **columns,
    )
    return None if row is None else int(row["row_version"])


async def keep_version(transaction: Transaction, item: str, *, changer: str) -> None:
    """Keep the item as it stands now as one version that mattered."""
    await transaction.run("items/keep_version", item=item, changer=changer)


async def version(transaction: Transaction, item: str, number: int) -> Version | None:
    """The item as an earlier money_version knew it, or None."""
    row = await transaction.row("items/version", item=item, money_version=number)
    return None if row is None else _version(row)


async def shown(transaction: Transaction, item: str, reach: Reach) -> Row | None:
    """One item as it goes over the wire (`item`), with payload, pusher and the clock; None where out of reach."""
    if not readable(item):
        return None
    return await transaction.row("items/shown", item=item, exponents=EXPONENTS_JSON, **reach.parameters())


def _money(content: Content) -> dict[str, object]:
    payment = content.payment
    return {
        "amount_minor": None if payment is None else payment.minor,
        "currency": None if payment is None else payment.currency,
        "payee_id": None if payment is None else payment.payee_id,
        "payee_name": None if payment is None else payment.payee_name,
        "account": None if payment is None else payment.account,
    }


def _locked(row: Row) -> LockedItem:
    return LockedItem(
        id=str(row["id"]),
        queue=row["queue"],
        key=row["business_key"],
        created=row["created"],
        closed=row["closed_at"] is not None,
        customer=row["customer"],
        workspace=row["workspace"],
        payload=row["payload"],
        row_version=row["row_version"],
        version=_version(row),
        holding=Holding(
            holder=row["holder"],
            holder_name=row["holder_name"],
            taken_at=row["taken_at"],
            expires_at=row["expires_at"],
            fence=row["fence"],
            plan=None if row["plan"] is None else str(row["plan"]),
            plan_name=row["plan_name"],
            held=row["held"],
        ),
        about=None if row["about"] is None else str(row["about"]),
    )


def content_of(row: Row) -> Content:
    """The content of an item's row, or of an earlier version's."""
    payment = None
    if row["amount_minor"] is not None:
        payment = Payment(
            minor=row["amount_minor"],
            currency=row["currency"],
            payee_id=row["payee_id"],
            payee_name=row["payee_name"],
            account=row["account"],
        )
    return Content(title=row["title"], payment=payment, inputs=row["inputs"])


def _version(row: Row) -> Version:
    return Version(
        number=row["money_version"],
        state=ItemState(row["state"]),
        set_aside_until=row["set_aside_until"],
        content=content_of(row),
    )
