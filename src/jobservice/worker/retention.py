"""Owns the duty of retention: removes ended occurrences with all that belongs to them, old skips, and rows of Workers long
gone. In small batches with pauses, never blocking a claim. Decides nothing about money, items or acts.

Before anything of a schedule goes its floor is raised, so that no removed instant is ever planned again. Dead letters are
counted, and named in the log, a day before they go.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

import structlog

from jobservice.store import items
from jobservice.store import retention as store
from jobservice.store.planning import Key
from jobservice.store.retention import FIRST, Holding
from jobservice.worker.fenced import Lease

_log = structlog.get_logger("jobservice.worker")

DAY = 86_400.0
WORKERS_SECONDS = 7 * DAY
"""How long the row of a Worker is kept after it was heard of last: attempts name its host until then."""
PAGE = 200
"""Schedules that one walk looks at together."""


@dataclass(slots=True, kw_only=True)
class _Done:
    """What one run removed."""

    occurrences: int = 0
    items: int = 0
    skips: int = 0
    workers: int = 0

    @property
    def rows(self) -> int:
        return self.occurrences + self.items + self.skips

    def counts(self) -> Mapping[str, int]:
        every = {"occurrences": self.occurrences, "items": self.items, "skips": self.skips, "workers": self.workers}
        return {what: number for what, number in every.items() if number}


@dataclass(slots=True, kw_only=True)
class Retention:
    """The duty with its pace: nobody waits for it, so it looks once a minute, and rests after each batch for as long as
    the batch took: half of one connection at most."""

    every: float = 60.0
    lease: float = 60.0
    batch: int = 1_000
    """Most rows of a kind that one transaction removes."""
    most: int = 200_000
    """Rows after which a run ends, and leaves the rest to the next."""
    name: str = "retention"
    wakes: ClassVar[frozenset[str]] = frozenset()
    _told: dict[Key, datetime] = field(default_factory=dict)
    """The latest dead letter that was named as leaving, by schedule."""

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Remove what is past its retention until nothing is, the run's bound is reached, or the Worker stops."""
        async with lease.transaction() as transaction:
            now = await items.now(transaction)
            workers = await store.remove_workers(transaction, lease.key, kept_seconds=WORKERS_SECONDS)
        done = _Done(workers=workers)
        await self._tell_leaving(lease, now)
        after = FIRST
        while not lease.stopping() and done.rows < self.most:
            async with lease.database.transaction(None) as transaction:
                page = await store.holding(transaction, now=now, after=after, most=PAGE)
            if not page:
                break
            after = page[-1].key
            await self._remove(lease, page, done)
        return done.counts()

    async def _remove(self, lease: Lease, page: Sequence[Holding], done: _Done) -> None:
        """Remove what these schedules have past their retention."""
        async with lease.transaction() as transaction:
            raised = await store.raise_floors(transaction, lease.key, page)
        going = bool(raised)
        while going and not lease.stopping() and done.rows < self.most:
            began = time.monotonic()
            going = await self._remove_some(lease, raised, done)
            await asyncio.sleep(time.monotonic() - began)

    async def _remove_some(self, lease: Lease, raised: Sequence[Holding], done: _Done) -> bool:
        """One batch; whether there may be more."""
        async with lease.transaction() as transaction:
            found = await store.lock(transaction, raised, each=max(self.batch // len(raised), 1))
            taken = await store.remove_items(transaction, lease.key, found, batch=self.batch) if found else 0
            whole = taken < self.batch
            removed = await store.remove(transaction, lease.key, found) if found and whole else 0
            skips = await store.remove_skips(transaction, lease.key, raised, batch=self.batch) if whole else 0
        done.items += taken
        done.occurrences += removed
        done.skips += skips
        return not whole or removed > 0 or skips == self.batch

    async def _tell_leaving(self, lease: Lease, now: datetime) -> None:
        """Name the dead letters that go within a day, once; and keep their number."""
        async with lease.transaction() as transaction:
            leaving = await store.leaving(transaction, now=now, ahead_seconds=DAY)
            await store.count_leaving(transaction, sum(each.count for each in leaving))
        for each in leaving:
            if self._told.get(each.key) == each.latest:
                continue
            self._told[each.key] = each.latest
            tenant, schedule = each.key
            _log.warning(
                "dead-letters-leave-within-a-day", alarm=True, tenant=tenant, schedule=schedule, count=each.count
            )
