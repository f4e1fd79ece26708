"""Owns what every duty shares that tells somebody outside, by mail or by webhook: one attempt after the other, each broken off
where the Worker is to stop, and how often it is said that there is no way to tell anybody.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from jobservice.delivery import NotDelivered
from jobservice.store.database import Transaction
from jobservice.worker.fenced import Lease

D = TypeVar("D")

LOOK_SECONDS = 0.2
"""How often an attempt looks whether the Worker wants to stop."""


async def one_by_one(
    lease: Lease, take: Callable[[Transaction], Awaitable[D | None]], attempt: Callable[[D], Awaitable[str]]
) -> Mapping[str, int]:
    """Attempts what `take` gives in a transaction of its own, until it gives nothing, an attempt `failed` or the Worker stops.

    How often each ending came: the next run goes on with the others.
    """
    counts: Counter[str] = Counter()
    while not lease.stopping():
        async with lease.transaction() as transaction:
            due = await take(transaction)
        if due is None:
            break
        ending = await attempt(due)
        counts[ending] += 1
        if ending == "failed":
            break
    return counts


async def answered(attempt: Coroutine[object, object, None], lease: Lease) -> bool:
    """Whether the attempt came to its end; False where the Worker stops before there was an answer. NotDelivered."""
    task = asyncio.create_task(attempt)
    try:
        while not task.done() and not lease.stopping():
            await asyncio.wait({task}, timeout=LOOK_SECONDS)
        if not task.done():
            return False
        task.result()
        return True
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, NotDelivered):
            await task


@dataclass(slots=True)
class Complaint:
    """That nobody said how to tell: due at first, then every so many seconds."""

    _made: float | None = field(default=None, init=False)

    def due(self, every: float) -> bool:
        """Whether it is to be made."""
        return self._made is None or time.monotonic() - self._made >= every

    def made(self) -> None:
        """It was made now."""
        self._made = time.monotonic()
