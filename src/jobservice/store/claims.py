"""Owns the statements of claims: granting, renewing, ending, freeing lapsed ones, counting. Decides nothing.

A claim stands twice: on its item's row, and as one row of history under the same fence. Every write carries the
holder and fence that were read under the lock; no row written means that the claim is no longer so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.states import ClaimEnding
from jobservice.rules.stops import InForce
from jobservice.store.database import Row, Transaction
from jobservice.store.idempotency import Kept, Scope
from jobservice.store.items import EXPONENTS_JSON, LockedItem, Reach
from jobservice.store.stops import read as read_stop

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What claim next goes by: the answer first given under its key, how many items the person holds, the clock, and
    how many lapsed claims were written off on the way."""

    kept: Kept | None
    live: int
    now: datetime
    freed: int
    stop: InForce | None
    """What holds the queue still."""


async def prepare_next(transaction: Transaction, queue: str, reach: Reach, scope: Scope) -> Prepared:
    """Look under the locks on key and person, and write off some lapsed claims within reach, waiting for nobody."""
    row = await transaction.row(
        "claims/prepare_next", queue=queue, most=FREED_MOST, **asdict(scope), **reach.parameters()
    )
    assert row is not None  # noqa: S101  # it selects from one row
    kept = None
    if row["digest"] is not None:
        kept = Kept(digest=bytes(row["digest"]), status=row["status"], answer=row["answer"])
    stop = None if row["stop"] is None else read_stop(row["stop"])
    return Prepared(kept=kept, live=row["live"], now=row["now"], freed=row["freed"], stop=stop)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextClaim:
    """Which item claim next wants, for how many seconds, and how its answer is kept."""

    queue: str
    condition: Mapping[str, object] | None
    currency: str | None
    lease: float
    total: float
    keep: float
    digest: bytes
    reference: str | None


async def take_next(
    transaction: Transaction, reach: Reach, scope: Scope, wanted: NextClaim, *, now: datetime
) -> Mapping[str, Any] | None:
    """Claim the first free item that nobody else is taking, with history, trail, hint and the answer under its key: the
    answer (`jobcontract.items.Claimed` as JSON); None where none is free."""
    picked = await transaction.row(
        "claims/pick_next",
        now=now,
        filter=None if wanted.condition is None else Jsonb(dict(wanted.condition)),
        currency=wanted.currency,
        queue=wanted.queue,
        **reach.parameters(),
    )
    if picked is None:
        return None
    row = await transaction.row(
        "claims/take_next",
        item=picked["id"],
        holder=picked["holder"],
        fence=picked["fence"],
        lease=min(wanted.lease, wanted.total),
        total=wanted.total,
        keep=wanted.keep,
        digest=wanted.digest,
        reference=wanted.reference,
        exponents=EXPONENTS_JSON,
        **asdict(scope),
    )
    return None if row is None else row["answer"]


async def history(transaction: Transaction, item: str) -> list[Mapping[str, Any]]:
    """The item's claims, newest first, as they go over the wire."""
    row = await transaction.row("claims/history", item=item, most=HISTORY_MOST)
    return [] if row is None else list(row["claims"])


async def colleague(transaction: Transaction, person: str) -> Row | None:
    """An active person of the tenant: `id`, `name`, `role`, `customers`, `workspaces`; None where there is none."""
    return await transaction.row("claims/colleague", person=person)
