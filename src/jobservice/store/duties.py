"""Owns the statements of background duties: their leases, and the writes made under one (each carries the fence)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from jobservice.store.database import Row, Transaction


async def add_duty(transaction: Transaction, name: str) -> None:
    """Make the duty's row where it is missing."""
    await transaction.run("duties/add_duty", name=name)


async def lock_duty(transaction: Transaction, name: str, *, holder: UUID, every: float) -> Row | None:
    """The duty's row, locked: holder, fence, free for `holder`, due (`every` seconds after the last whole run); None
    while locked by another."""
    return await transaction.row("duties/lock_duty", name=name, holder=holder, every=every)


async def take_duty(transaction: Transaction, name: str, *, holder: UUID, fence: int, lease: float) -> int | None:
    """Lease the locked duty for `lease` seconds; the new fence, or None where `fence` is not its fence any more."""
    row = await transaction.row("duties/take_duty", name=name, holder=holder, fence=fence, lease=lease)
    return None if row is None else int(row["fence"])


async def hold_duty(transaction: Transaction, lease: Mapping[str, object], *, seconds: float) -> bool:
    """Whether the lease is still ours: then its row is locked to the end of the transaction, and it is extended.

    `lease` is name, holder and fence. Two statements: the expiry is compared after the lock is had (MONEY.md 30).
    """
    if await transaction.row("duties/hold_duty", **lease) is None:
        return False
    return await transaction.row("duties/extend_duty", **lease, lease=seconds) is not None


async def finish_duty(transaction: Transaction, lease: Mapping[str, object]) -> bool:
    """Whether the lease was still ours to give back, after a whole run."""
    return await transaction.run("duties/finish_duty", **lease) > 0


async def hand_back_duty(transaction: Transaction, lease: Mapping[str, object]) -> bool:
    """Whether the lease was still ours to give back, before the run was whole."""
    return await transaction.run("duties/hand_back_duty", **lease) > 0


async def expire_idempotency_keys(transaction: Transaction, lease: Mapping[str, object], *, batch: int) -> int:
    """Remove at most `batch` keys past their time; how many."""
    return await transaction.run("duties/expire_idempotency_keys", **lease, batch=batch)


async def remove_old_hints(transaction: Transaction, lease: Mapping[str, object], *, keep: float, batch: int) -> int:
    """Remove at most `batch` hints older than `keep` seconds and raise the floor over them; how many."""
    row = await transaction.row("duties/remove_old_hints", **lease, keep=keep, batch=batch)
    return 0 if row is None else int(row["removed"])


async def overdue(transaction: Transaction, *, keep: float) -> bool:
    """Whether a claim lapsed, or an idempotency key or a hint (kept for `keep` seconds) is past its time."""
    row = await transaction.row("duties/overdue", keep=keep)
    return row is not None and bool(row["overdue"])


async def lapsed_claims(transaction: Transaction, *, batch: int) -> Sequence[Row]:
    """At most `batch` items whose claim lapsed (tenant, item), of all tenants."""
    return await transaction.rows("duties/lapsed_claims", batch=batch)


async def free_lapsed_items(transaction: Transaction, items: Sequence[UUID]) -> int:
    """Free those of `items` (of the transaction's tenant) whose claim has lapsed: write how it ended, tell the streams.

    Locks the rows first and compares after; a row that somebody works on is left for the next run. How many were freed.
    """
    locked = [row["id"] for row in await transaction.rows("duties/lock_items", items=list(items))]
    lapsed = await transaction.rows("duties/lapsed_items", items=locked)
    if not lapsed:
        return 0
    ended = {
        "items": [row["id"] for row in lapsed],
        "holders": [row["holder"] for row in lapsed],
        "fences": [row["fence"] for row in lapsed],
    }
    await transaction.run("duties/end_lapsed_claims", **ended)
    freed = await transaction.rows("duties/free_items", **ended)
    await transaction.run(
        "duties/hint_items",
        queues=[row["queue"] for row in freed],
        refs=[str(row["id"]) for row in freed],
        versions=[row["row_version"] for row in freed],
    )
    return len(freed)
