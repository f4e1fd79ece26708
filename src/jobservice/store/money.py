"""Owns the statements of the switch that stops money, and of what was released. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobservice.store.database import Row, Transaction
from jobservice.store.items import Reach
from jobservice.store.limits import ROLLING


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """The switch of a tenant as it stands: since when it is stopped, by whom (None: by the service or on the server)
    and why. `restored`: the database has to be reconciled with the bank first."""

    stopped: bool
    at: datetime | None
    by: str | None
    by_name: str | None
    reason: str | None
    version: int
    restored: bool
    now: datetime


async def switch(transaction: Transaction) -> Switch:
    """How the switch stands now, unlocked: the Worker reads it again at every item."""
    row = await transaction.row("money/switch")
    if row is None:
        raise RuntimeError("a tenant without a switch: its row is made with the tenant")
    return Switch(**row)


async def lock(transaction: Transaction) -> Switch:
    """The switch, locked until the transaction ends."""
    await transaction.row("money/lock")
    return await switch(transaction)


async def stop(transaction: Transaction, *, by: str | None, reason: str) -> int:
    """Stop the money of a tenant whose switch is locked and on; the switch's new version."""
    return _version(await transaction.row("money/stop", by=by, reason=reason))


async def start(transaction: Transaction) -> int:
    """Let the money of a tenant move whose switch is locked and off; the switch's new version."""
    return _version(await transaction.row("money/start"))


def _version(row: Row | None) -> int:
    if row is None:
        raise RuntimeError("the switch is no longer as it was locked")
    return int(row["version"])


async def released(transaction: Transaction, now: datetime) -> list[Row]:
    """By person (id and name) and currency: count and minor units released today (UTC), and in the 24 hours before."""
    return list(await transaction.rows("money/released", now=now, since=now - ROLLING))


async def uncertain(transaction: Transaction, reach: Reach) -> int:
    """How many payouts within reach wait for a person to say whether they were paid."""
    row = await transaction.row("money/uncertain", **reach.parameters())
    return 0 if row is None else int(row["uncertain"])
