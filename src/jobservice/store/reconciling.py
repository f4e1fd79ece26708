"""Owns the statements of a database that was restored: stopping money, comparing with the outside world, moving on
(MONEY.md 22). Decides nothing.

All but the first run as the owner, on the server's own command line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jobcontract.states import Turn
from jobservice.rules.reconciling import Payout
from jobservice.store.database import Row, Transaction

AT_ONCE = 500
FIRST = "00000000-0000-0000-0000-000000000000"


async def stop_if_restored(transaction: Transaction) -> bool:
    """Stop the money of all tenants where this is another database than the one in which it moved last; whether it is."""
    row = await transaction.row("reconciling/stop_if_restored")
    return row is not None and bool(row["restored"])


async def restored(transaction: Transaction) -> bool:
    """Whether money last moved in another database than this."""
    row = await transaction.row("reconciling/restored")
    return row is not None and bool(row["restored"])


async def moving(transaction: Transaction) -> tuple[str, ...]:
    """Tenants whose money is not stopped."""
    return tuple(row["tenant"] for row in await transaction.rows("reconciling/moving"))


async def questions(transaction: Transaction, queues: Collection[str], *, after: str, days: int) -> tuple[Payout, ...]:
    """The next payouts to ask about after an id: open ones, and those released in the last days."""
    rows = await transaction.rows("reconciling/questions", queues=sorted(queues), after=after, days=days, most=AT_ONCE)
    return tuple(_payout(row) for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """A payout that the outside world has as paid: what to tell of it, and what it is called there."""

    item: str
    sentence: str
    booking: str | None


async def doubt(transaction: Transaction, booked: Sequence[Booked]) -> list[Row]:
    """Lock the payouts; those held by a confirmed plan for a turn to come are uncertain from now on: item and plan."""
    await transaction.rows("reconciling/lock_items", items=[each.item for each in booked])
    return list(await transaction.rows("reconciling/doubt", **_columns(booked)))


async def add_rows(transaction: Transaction, plan: str, booked: Sequence[Booked]) -> tuple[str, ...]:
    """Put locked payouts that no confirmed plan holds into an open plan, as uncertain, and hold them; their ids."""
    await transaction.run("reconciling/end_claims", items=[each.item for each in booked])
    rows = await transaction.rows("reconciling/add_rows", plan=plan, **_columns(booked))
    await transaction.run("reconciling/hold", plan=plan)
    return tuple(row["item"] for row in rows)


async def keep_identity(transaction: Transaction) -> None:
    """Let money move in this database from now on, where a person starts it."""
    await transaction.run("reconciling/keep_identity")


def _columns(booked: Sequence[Booked]) -> dict[str, object]:
    return {
        "items": [each.item for each in booked],
        "sentences": [each.sentence for each in booked],
        "bookings": [each.booking for each in booked],
    }


def _payout(row: Row) -> Payout:
    return Payout(
        item=row["item"],
        queue=row["queue"],
        title=row["title"],
        key=row["business_key"],
        minor=row["amount_minor"],
        currency=row["currency"],
        last4=row["last4"],
        released=row["released"],
        turn=None if row["turn"] is None else Turn(row["turn"]),
    )
