"""Owns the statements of scores: what an item is scored by, its place in the order, scoring what is due anew.

Decides nothing. What is scored anew is written under a duty's lease and never touches versions, claims or content.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg.types.json import Jsonb

from jobcontract.money import EXPONENTS
from jobcontract.states import ItemState
from jobservice.rules.items import Content, Payment
from jobservice.store.database import Row, Transaction
from jobservice.store.items import Place, Reach, readable

_EXPONENTS = Jsonb(dict(EXPONENTS))


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
        content=_content(row),
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
        exponents=_EXPONENTS,
        **reach.parameters(),
    )
    assert row is not None  # noqa: S101  # sub-selects without a table have a row
    return row


def _content(row: Row) -> Content:
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
