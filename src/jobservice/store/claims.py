"""Owns the statements of claims: granting, renewing, ending, freeing lapsed ones, counting. Decides nothing.

A claim stands twice: on its item's row, and as one row of history under the same fence. Every write carries the
holder and fence that were read under the lock; no row written means that the claim is no longer so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.states import ClaimEnding
from jobservice.store.database import Row, Transaction
from jobservice.store.items import LockedItem, Reach

FREED_MOST = 20
"""Lapsed claims that one claim-next writes off at most; the rest is left to the next one and to the Worker."""
HISTORY_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """A claim that was written: its fence, and the item's new row_version."""

    fence: int
    row_version: int


async def lock_person(transaction: Transaction, person: str) -> None:
    """Wait until no other transaction counts this person's claims in this tenant."""
    await transaction.row("claims/lock_person", person=person)


async def count_live(transaction: Transaction, person: str) -> int:
    """How many items a person holds now, in this tenant."""
    row = await transaction.row("claims/count_live", person=person)
    return 0 if row is None else int(row["live"])


async def grant(
    transaction: Transaction, item: LockedItem, *, person: str, now: datetime, until: datetime
) -> Granted | None:
    """Write a claim over whatever stood there, with a raised fence, on the item and in its history."""
    row = await transaction.row(
        "claims/grant",
        item=item.id,
        holder=item.holding.holder,
        fence=item.holding.fence,
        person=person,
        now=now,
        until=until,
    )
    return None if row is None else Granted(fence=row["fence"], row_version=row["row_version"])


async def renew(transaction: Transaction, item: LockedItem, *, until: datetime) -> Granted | None:
    """Move the expiry of a claim, on the item and in its history."""
    row = await transaction.row(
        "claims/renew", item=item.id, holder=item.holding.holder, fence=item.holding.fence, until=until
    )
    return None if row is None else Granted(fence=row["fence"], row_version=row["row_version"])


async def clear(transaction: Transaction, item: LockedItem) -> Granted | None:
    """Take the claim off the item's row."""
    row = await transaction.row("claims/clear", item=item.id, holder=item.holding.holder, fence=item.holding.fence)
    return None if row is None else Granted(fence=row["fence"], row_version=row["row_version"])


async def end(
    transaction: Transaction,
    item: LockedItem,
    *,
    at: datetime,
    ending: ClaimEnding,
    by: str | None,
    reason: str | None = None,
) -> int:
    """Write how the claim on a locked item ended; how many rows of history that touched (0 where it was written)."""
    return await transaction.run(
        "claims/end",
        item=item.id,
        holder=item.holding.holder,
        fence=item.holding.fence,
        at=at,
        ending=ending.value,
        by=by,
        reason=reason,
    )


async def free_lapsed(transaction: Transaction, queue: str, reach: Reach) -> int:
    """Write off some lapsed claims of a queue within reach, waiting for nobody; how many."""
    row = await transaction.row("claims/free_lapsed", queue=queue, most=FREED_MOST, **reach.parameters())
    return 0 if row is None else int(row["freed"])


async def next_free(
    transaction: Transaction,
    queue: str,
    reach: Reach,
    *,
    condition: Mapping[str, object] | None,
    currency: str | None,
) -> str | None:
    """Lock the first free item of those that meet `condition` (as `jobs.matches` takes it), by its order or by amounts
    of `currency`, that nobody else is taking just now; its id, or None."""
    row = await transaction.row(
        "claims/next_free",
        queue=queue,
        now=transaction.began_at,
        filter=None if condition is None else Jsonb(dict(condition)),
        currency=currency,
        **reach.parameters(),
    )
    return None if row is None else str(row["id"])


async def history(transaction: Transaction, item: str) -> list[Mapping[str, Any]]:
    """The item's claims, newest first, as they go over the wire."""
    row = await transaction.row("claims/history", item=item, most=HISTORY_MOST)
    return [] if row is None else list(row["claims"])


async def colleague(transaction: Transaction, person: str) -> Row | None:
    """An active person of the tenant: `id`, `name`, `role`, `customers`, `workspaces`; None where there is none."""
    return await transaction.row("claims/colleague", person=person)
