"""Owns the statements of work items: locking, listing (as JSON that PostgreSQL builds), adding, changing.

Decides nothing. Tenant and reach (customers, workspaces) are named in every statement that finds an item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from jobcontract.money import EXPONENTS
from jobcontract.states import ItemState, ItemView
from jobservice.rules.claims import Holding
from jobservice.rules.items import Content, Payment, Version
from jobservice.store.database import Row, Transaction

_EXPONENTS = Jsonb(dict(EXPONENTS))
_FIRST = ("-infinity", "00000000-0000-0000-0000-000000000000")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What of a tenant a person may see; None = no narrowing."""

    customers: tuple[str, ...] | None
    workspaces: tuple[str, ...] | None

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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """A row to add; `created` None = now."""

    queue: str
    key: str
    created: datetime | None
    content: Content
    payload: Mapping[str, Any]
    customer: str | None
    workspace: str | None
    pusher: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing: the rows as a JSON array, where the next page begins, the clock."""

    json: str
    last: tuple[str, str] | None
    as_of: datetime


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


async def lock(transaction: Transaction, item: str, reach: Reach) -> LockedItem | None:
    """Lock the item of that id, waiting for whoever has it; None where there is none within reach."""
    if not readable(item):
        return None
    row = await transaction.row("items/lock", item=item, **reach.parameters())
    return None if row is None else _locked(row)


async def lock_by_key(transaction: Transaction, queue: str, key: str, reach: Reach) -> LockedItem | None:
    """Lock the item of that queue and business key; None where there is none within reach."""
    row = await transaction.row("items/lock_by_key", queue=queue, key=key, **reach.parameters())
    return None if row is None else _locked(row)


async def find_key(transaction: Transaction, key: str, reach: Reach) -> Row | None:
    """Who has a business key within reach: `id` and `queue`."""
    return await transaction.row("items/find_key", key=key, **reach.parameters())


async def add(transaction: Transaction, new: NewRow, *, detail: Mapping[str, Any], reference: str | None) -> str | None:
    """Add an item with its first version, audit row (`detail`) and hint; its id, or None where the key is taken."""
    row = await transaction.row(
        "items/add",
        queue=new.queue,
        key=new.key,
        created=new.created,
        customer=new.customer,
        workspace=new.workspace,
        pusher=new.pusher,
        payload=Jsonb(dict(new.payload)),
        audit_detail=Jsonb(dict(detail)),
        audit_reference=reference,
        **_content(new.content),
    )
    return None if row is None else str(row["id"])


async def change(
    transaction: Transaction,
    item: LockedItem,
    content: Content,
    payload: Mapping[str, Any],
    *,
    raised: bool,
    changer: str,
) -> int | None:
    """Write new content over a locked item; its row_version, or None where claim or version are not as they were."""
    row = await transaction.row(
        "items/change",
        item=item.id,
        holder=item.holding.holder,
        fence=item.holding.fence,
        money_version=item.version.number,
        raised=int(raised),
        changer=changer,
        payload=Jsonb(dict(payload)),
        **_content(content),
    )
    return None if row is None else int(row["row_version"])


async def keep_version(transaction: Transaction, item: str, *, changer: str) -> None:
    """Keep the item as it stands now as one version that mattered."""
    await transaction.run("items/keep_version", item=item, changer=changer)


async def version(transaction: Transaction, item: str, number: int) -> Version | None:
    """The item as an earlier money_version knew it, or None."""
    row = await transaction.row("items/version", item=item, money_version=number)
    return None if row is None else _version(row)


async def page(
    transaction: Transaction, queue: str, view: ItemView, reach: Reach, *, after: tuple[str, str] | None, limit: int
) -> Page:
    """One page of a view, oldest first, after the row `(created, id)`."""
    created, identifier = after or _FIRST
    row = await transaction.row(
        "items/page",
        queue=queue,
        view=view.value,
        after_created=created,
        after_id=identifier,
        most=limit,
        exponents=_EXPONENTS,
        **reach.parameters(),
    )
    assert row is not None  # noqa: S101  # an aggregate has a row
    last = (row["last_created"].isoformat(), row["last_id"]) if row["more"] else None
    return Page(json=row["items"], last=last, as_of=row["as_of"])


async def shown(transaction: Transaction, item: str, reach: Reach) -> Row | None:
    """One item as it goes over the wire (`item`), with payload, pusher and the clock; None where out of reach."""
    if not readable(item):
        return None
    return await transaction.row("items/shown", item=item, exponents=_EXPONENTS, **reach.parameters())


async def totals(transaction: Transaction, queue: str, person: str, reach: Reach) -> Row:
    """What waits in a queue: counts, and sums per currency (`totals`), out and back apart."""
    row = await transaction.row("items/totals", queue=queue, person=person, exponents=_EXPONENTS, **reach.parameters())
    assert row is not None  # noqa: S101  # an aggregate has a row
    return row


def _content(content: Content) -> dict[str, object]:
    payment = content.payment
    return {
        "title": content.title,
        "inputs": Jsonb(dict(content.inputs)),
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
        ),
    )


def _version(row: Row) -> Version:
    payment = None
    if row["amount_minor"] is not None:
        payment = Payment(
            minor=row["amount_minor"],
            currency=row["currency"],
            payee_id=row["payee_id"],
            payee_name=row["payee_name"],
            account=row["account"],
        )
    return Version(
        number=row["money_version"],
        state=ItemState(row["state"]),
        set_aside_until=row["set_aside_until"],
        content=Content(title=row["title"], payment=payment, inputs=row["inputs"]),
    )
