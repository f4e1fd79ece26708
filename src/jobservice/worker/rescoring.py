"""Owns the look after a start for scores that another rule or version gave: they are counted anew, once. What time changes
is scored by the runs of a schedule (`run_scores.py`). Decides no score itself.

Nobody waits for it: it reads without a lock, computes outside of any transaction, and writes a batch in one statement
that leaves out what somebody works on. Versions that matter, claims and content are never touched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from jobservice.rules.queues import Queue
from jobservice.store import scores as store
from jobservice.store.database import Database
from jobservice.store.items import Place
from jobservice.store.scores import Written
from jobservice.usecases.scoring import Scorer
from jobservice.worker.fenced import Lease
from jobservice.worker.score_batches import Computed, Faults, compute


class Where(NamedTuple):
    """A queue of a tenant."""

    tenant: str
    queue: Queue


@dataclass(slots=True)
class _Look:
    """What happened in one look: counts, and the first fault of each rule."""

    scored: int = 0
    placed: int = 0
    faults: Faults = field(default_factory=Faults)

    def add(self, written: Written) -> None:
        self.scored += written.scored
        self.placed += written.placed

    def counts(self) -> Mapping[str, int]:
        return {what: count for what, count in (("scored", self.scored), ("placed", self.placed)) if count}


@dataclass(slots=True, kw_only=True)
class Rescoring:
    """The duty with its pace. Remembers in memory where it looked: with nothing left to look at it is one statement."""

    scorer: Scorer
    queues: Mapping[str, Queue]
    every: float = 5.0
    lease: float = 30.0
    wakes: frozenset[str] = frozenset()
    batch: int = 500
    stretch: int = 5_000
    """How many rows of a queue one statement looks through."""
    name: str = "rescoring"
    _looked: set[Where] = field(default_factory=set)
    """Queues of tenants that were looked through since the start, to their end."""
    _from: dict[Where, Place | None] = field(default_factory=dict)
    """Where to go on looking through the others; None = from the first row."""

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether a queue of a tenant was not looked through since the start."""
        async with database.transaction(None) as transaction:
            tenants, _ = await store.tenants(transaction)
        queues = self.queues.values()
        return any(Where(tenant, queue) not in self._looked for tenant in tenants for queue in queues)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Look through what was not looked through since the start; how many were scored, and how many of them moved."""
        look = _Look()
        async with lease.transaction() as transaction:
            tenants, _ = await store.tenants(transaction)
        try:
            for tenant in tenants:
                for queue in self.queues.values():
                    where = Where(tenant, queue)
                    if where not in self._looked:
                        await self._look_through(lease, look, where)
        finally:
            look.faults.log()
        return look.counts()

    async def _look_through(self, lease: Lease, look: _Look, where: Where) -> None:
        """Score what the queue's present rule did not; what was left out is looked for again."""
        rule = self.scorer.rule(where.queue)
        place, left = self._from.get(where), False
        while not lease.stopping():
            async with lease.transaction(where.tenant) as transaction:
                found = await store.outdated(transaction, where.queue.id, rule, after=place, stretch=self.stretch)
                clock = transaction.began_at
            if found.last is None:
                if not left:
                    self._looked.add(where)
                return
            before = look.scored
            start = 0
            while start < len(found.items) and not lease.stopping():
                items = found.items[start : start + self.batch]
                batch = await asyncio.to_thread(compute, self.scorer, where.queue, items, clock, look.faults)
                await self._write(lease, look, where, batch)
                start += len(batch)
            left = left or look.scored - before < len(found.items)
            place = found.last
            if not left:
                self._from[where] = place

    async def _write(self, lease: Lease, look: _Look, where: Where, batch: Sequence[Computed]) -> None:
        async with lease.transaction(where.tenant) as transaction:
            look.add(await store.rescore(transaction, lease.key, batch))
