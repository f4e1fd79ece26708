"""Owns the statements that selections of jobs look with. Reads only; decides nothing."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from jobcontract.money import Money
from jobcontract.states import ItemState
from jobservice.application import NewPayment, Released, WorkItem
from jobservice.store.database import Row, Transaction

_NO_ITEM = UUID(int=0)
"""Before every id."""


async def read_only(transaction: Transaction) -> None:
    """From here on the transaction writes nothing: PostgreSQL refuses it."""
    await transaction.row("selecting/read_only")


async def released(
    transaction: Transaction, *, since: datetime, until: datetime, after: tuple[datetime, UUID] | None, limit: int
) -> tuple[Released, ...]:
    """Payouts that went out in [since, until), in the order of their time and id, behind `after`."""
    after_at, after_item = (since, _NO_ITEM) if after is None else after
    rows = await transaction.rows(
        "selecting/released", since=since, until=until, after_at=after_at, after_item=after_item, most=limit
    )
    return tuple(
        Released(
            item=row["item"],
            queue=row["queue"],
            at=row["at"],
            money=Money(minor=row["amount_minor"], currency=row["currency"]),
            payee_id=row["payee_id"],
            payee_name=row["payee_name"],
        )
        for row in rows
    )


async def waiting(transaction: Transaction, queue: str, *, after: UUID | None, limit: int) -> tuple[WorkItem, ...]:
    """Items of a queue that wait now, in the order of their ids, behind `after`."""
    rows = await transaction.rows(
        "selecting/waiting", queue=queue, now=transaction.began_at, after=after or _NO_ITEM, most=limit
    )
    return tuple(map(_work_item, rows))


def _work_item(row: Row) -> WorkItem:
    return WorkItem(
        id=row["id"],
        queue=row["queue"],
        key=row["business_key"],
        title=row["title"],
        created=row["created"],
        state=ItemState(row["state"]),
        payment=None
        if row["amount_minor"] is None
        else NewPayment(
            money=Money(minor=row["amount_minor"], currency=row["currency"]),
            payee_id=row["payee_id"],
            payee_name=row["payee_name"],
            account=row["account"],
        ),
        inputs=row["inputs"],
        money_version=row["money_version"],
    )
