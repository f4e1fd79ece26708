"""Owns refusing what a stop holds still: WORK_STOPPED, with who, when and why (DESIGN.md, Stops).

Claims and acts read the stops after a lock that whoever stops work waits for: what was not refused here is written
before the stop is, or not at all. The acting statements compare once more.
"""

from __future__ import annotations

from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobservice.rules.stops import InForce, sentence
from jobservice.store import items
from jobservice.store import stops as store
from jobservice.store.database import Transaction
from jobservice.store.items import LockedItem
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import not_found, reach


def work_stopped(stop: InForce) -> Refusal:
    """WORK_STOPPED with the stop that is in force."""
    return Refusal(
        ErrorCode.WORK_STOPPED,
        sentence(stop),
        stop={
            "scope": stop.scope.value,
            "name": stop.name,
            "at": stop.at.isoformat(),
            "by": stop.by_name,
            "reason": stop.reason,
        },
    )


async def refuse_held(transaction: Transaction, *, queue: str | None = None, command: str | None = None) -> None:
    """Refusal WORK_STOPPED where the queue, the bulk command or all work of the tenant is held still."""
    stop, _ = await store.in_force(transaction, queue=queue, command=command)
    if stop is not None:
        raise work_stopped(stop)


async def locked_to_work(transaction: Transaction, actor: Actor, item: str) -> tuple[LockedItem, datetime]:
    """Lock an item to claim it or act on it, then read the clock. Refusal NOT_FOUND, WORK_STOPPED."""
    found = await items.lock(transaction, item, reach(actor), works=True)
    if found is None:
        raise not_found(item)
    stop, now = await store.in_force(transaction, queue=found.queue)
    if stop is not None:
        raise work_stopped(stop)
    return found, now
