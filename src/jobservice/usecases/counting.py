"""Owns the counts that one process keeps: of what is too much to count at every look. Bounded in number and in age."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from jobservice.store.totals import Counting, Counts

KEEP = timedelta(seconds=60)
"""Longest life of a count, by the database's clock."""
ENTRIES_MOST = 1_000
Key = tuple[str, ...]


class KeptCounts:
    """Counts by what was counted. Whoever asks while one is being counted waits for that one (single flight)."""

    def __init__(self, *, keep: timedelta = KEEP, most: int = ENTRIES_MOST) -> None:
        self._keep = keep
        self._most = most
        self._kept: OrderedDict[Key, Counts] = OrderedDict()
        self._running: dict[Key, asyncio.Task[Counts]] = {}

    def kept(self, tenant: str, counting: Counting, now: datetime) -> Counts | None:
        """What was counted within the last while before `now`, or None."""
        found = self._kept.get(_key(tenant, counting))
        return found if found is not None and timedelta(0) <= now - found.as_of < self._keep else None

    async def count(self, tenant: str, counting: Counting, count: Callable[[], Awaitable[Counts]]) -> Counts:
        """Count anew, or wait for the count of the same that is under way; keeps what came out.

        Raises what `count` raises. It goes on where the one who asked is cancelled: others may wait for it.
        """
        key = _key(tenant, counting)
        running = self._running.get(key)
        if running is None:
            running = asyncio.create_task(self._run(key, count))
            self._running[key] = running
            running.add_done_callback(lambda done: self._ended(key, done))
        return await asyncio.shield(running)

    async def _run(self, key: Key, count: Callable[[], Awaitable[Counts]]) -> Counts:
        counts = await count()
        self._kept[key] = counts
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return counts

    def _ended(self, key: Key, done: asyncio.Task[Counts]) -> None:
        del self._running[key]
        if not done.cancelled():
            done.exception()  # it was raised to whoever waited; nobody may have

    def __len__(self) -> int:
        return len(self._kept)


def _key(tenant: str, counting: Counting) -> Key:
    parts = (counting.condition, counting.reach.parameters())
    return (tenant, counting.queue, counting.view.value, json.dumps(parts, sort_keys=True))
