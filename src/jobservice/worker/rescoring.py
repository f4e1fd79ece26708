"""Owns the duty of rescoring: scores that time changes are counted anew at the refresh their rule states, and once after
a start what another rule or version scored. Decides no score itself.

Nobody waits for it: it reads without a lock, computes outside of any transaction, and writes a batch in one statement
that leaves out what somebody works on. Versions that matter, claims and content are never touched.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from jobservice.rules.queues import Queue
from jobservice.rules.scores import Rule
from jobservice.store import scores as store
from jobservice.store.items import Place, Standing
from jobservice.store.scores import ToScore, Written
from jobservice.usecases.scoring import Scorer, log_fault
from jobservice.worker.fenced import Lease

COMPUTING_SECONDS = 5.0
"""How long a batch is computed at most before what there is of it is written: well inside the lease."""


Computed = tuple[ToScore, Standing]
"""An item and where it stands now."""


class Where(NamedTuple):
    """A queue of a tenant."""

    tenant: str
    queue: Queue


@dataclass(slots=True)
class _Run:
    """What happened in one run: counts, and the first fault of each rule (logged once, however many items it parks)."""

    scored: int = 0
    placed: int = 0
    faults: dict[str, tuple[Rule, BaseException]] = field(default_factory=dict)
    faulty: int = 0

    def add(self, written: Written) -> None:
        self.scored += written.scored
        self.placed += written.placed

    def fault(self, rule: Rule, error: BaseException) -> None:
        self.faulty += 1
        self.faults.setdefault(rule.id, (rule, error))

    def log(self) -> None:
        for rule, error in self.faults.values():
            log_fault(rule, error, faults=self.faulty)

    def counts(self) -> Mapping[str, int]:
        return {what: count for what, count in (("scored", self.scored), ("placed", self.placed)) if count}


@dataclass(slots=True, kw_only=True)
class Rescoring:
    """The duty with its pace. Remembers in memory when to look where: a run with nothing due is one statement."""

    scorer: Scorer
    queues: Mapping[str, Queue]
    every: float = 5.0
    lease: float = 30.0
    wakes: frozenset[str] = frozenset()
    batch: int = 500
    stretch: int = 5_000
    """How many rows of a queue one statement looks through after a start."""
    name: str = "rescoring"
    _looked: set[Where] = field(default_factory=set)
    """Queues of tenants that were looked through since the start, to their end."""
    _from: dict[Where, Place | None] = field(default_factory=dict)
    """Where to go on looking through the others; None = from the first row."""
    _next: dict[Where, datetime] = field(default_factory=dict)
    """When the next score of a queue of a tenant may be due."""

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Score what is due until nothing is or the Worker stops; how many were scored, and how many of them moved."""
        run = _Run()
        async with lease.transaction() as transaction:
            tenants, now = await store.tenants(transaction)
        try:
            for tenant in tenants:
                for queue in self.queues.values():
                    await self._look(lease, run, Where(tenant, queue), now)
        finally:
            run.log()
        return run.counts()

    async def _look(self, lease: Lease, run: _Run, where: Where, now: datetime) -> None:
        if where not in self._looked:
            await self._look_through(lease, run, where)
        rule = self.scorer.rule(where.queue)
        if rule is None or rule.refresh_seconds is None or now < self._next.get(where, now):
            return
        await self._refresh(lease, run, where, now)
        async with lease.transaction(where.tenant) as transaction:
            soonest = await store.next_due(transaction, where.queue.id)
        # Whatever is pushed or changed from now on is due a whole refresh later at the earliest.
        latest = now + timedelta(seconds=rule.refresh_seconds)
        self._next[where] = latest if soonest is None else min(soonest, latest)

    async def _refresh(self, lease: Lease, run: _Run, where: Where, now: datetime) -> None:
        """Score what was due by `now`, each item once: one that somebody works on stays due for the next run.

        A batch is written while the next one is computed: the database and this process each have work all the time.
        """
        batch = await self._due(lease, run, where, now, None)
        while batch and not lease.stopping():
            last = batch[-1][0]
            assert last.rescore_at is not None  # noqa: S101  # it was found by that
            writing = asyncio.create_task(self._write(lease, run, where, batch))
            try:
                batch = await self._due(lease, run, where, now, (last.rescore_at, last.id))
            finally:
                await writing

    async def _due(
        self, lease: Lease, run: _Run, where: Where, now: datetime, after: store.Due | None
    ) -> Sequence[Computed]:
        """The next batch of what is due, computed. Read without the lease: what commits under it waits for the disk."""
        async with lease.database.transaction(where.tenant) as transaction:
            items = await store.due(transaction, where.queue.id, until=now, after=after, batch=self.batch)
            clock = transaction.began_at
        return await asyncio.to_thread(self._compute, run, where.queue, items, clock) if items else ()

    async def _look_through(self, lease: Lease, run: _Run, where: Where) -> None:
        """Score what the queue's present rule did not, once after a start; what was left out is looked for again."""
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
            before = run.scored
            start = 0
            while start < len(found.items) and not lease.stopping():
                items = found.items[start : start + self.batch]
                batch = await asyncio.to_thread(self._compute, run, where.queue, items, clock)
                await self._write(lease, run, where, batch)
                start += len(batch)
            left = left or run.scored - before < len(found.items)
            place = found.last
            if not left:
                self._from[where] = place

    async def _write(self, lease: Lease, run: _Run, where: Where, batch: Sequence[Computed]) -> None:
        async with lease.transaction(where.tenant) as transaction:
            run.add(await store.rescore(transaction, lease.key, batch))

    def _compute(self, run: _Run, queue: Queue, items: Sequence[ToScore], clock: datetime) -> Sequence[Computed]:
        """As many of `items` as a batch has time for, one at least. In a thread of its own: a rule that takes long must
        not hold up heartbeats and other duties."""
        ending = time.monotonic() + COMPUTING_SECONDS
        computed: list[Computed] = []
        for item in items:
            standing = self.scorer.stand(queue, item.content, item.created, clock, on_fault=run.fault)
            computed.append((item, standing))
            if time.monotonic() > ending:
                break
        return computed
