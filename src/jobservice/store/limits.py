"""Owns the statements of limits: locking a currency's sums, summing what goes out, adding to it (MONEY.md 10).

Decides nothing. The API adds and never takes away: what did not go out is taken off by the Worker alone (MONEY.md 19).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobservice.rules.limits import AccountSum, Going, Sum
from jobservice.store.database import Row, Transaction
from jobservice.store.plans import LockedPlan

ROLLING = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a plan sends out in one currency; `freed`: what of its owner's was freed from the code before."""

    going: Going
    freed: Sum


async def lock(transaction: Transaction, plan: str) -> None:
    """Wait until no other transaction confirms a plan that sends out one of this plan's currencies, and keep it so."""
    await transaction.run("limits/add_locks", plan=plan)
    await transaction.rows("limits/lock", plan=plan)


async def going(transaction: Transaction, plan: LockedPlan, now: datetime) -> tuple[Counted, ...]:
    """What a plan sends out, by currency, beside what counts at `now`; look only after `lock`."""
    return await going_of(transaction, plan.id, owner=plan.owner, now=now)


async def going_of(transaction: Transaction, plan: str, *, owner: str, now: datetime) -> tuple[Counted, ...]:
    """As `going`, of a plan that was confirmed: what it counts itself is not counted twice."""
    rows = await transaction.rows("limits/going", plan=plan, owner=owner, since=now - ROLLING)
    return tuple(_counted(row) for row in rows)


async def add(transaction: Transaction, plan: LockedPlan, now: datetime, *, single: bool) -> None:
    """Count what a plan sends out from `now` on; `single`: it was freed from the code."""
    await transaction.run("limits/add_outgoings", plan=plan.id, owner=plan.owner, now=now, single=single)


def _counted(row: Row) -> Counted:
    accounts = tuple(
        AccountSum(
            last4=each["last4"],
            used=Sum(minor=int(each["used_minor"]), count=int(each["used_items"])),
            planned=Sum(minor=int(each["minor"]), count=int(each["items"])),
        )
        for each in row["accounts"]
    )
    return Counted(
        going=Going(
            currency=row["currency"],
            planned=Sum(minor=int(row["minor"]), count=int(row["items"])),
            largest=row["largest"],
            used=Sum(minor=int(row["used_minor"]), count=int(row["used_items"])),
            accounts=accounts,
        ),
        freed=Sum(minor=int(row["freed_minor"]), count=int(row["freed_items"])),
    )
