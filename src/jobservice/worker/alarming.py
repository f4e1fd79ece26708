"""Owns the duty that looks for what needs somebody, and opens, refreshes and clears alarms. Decides nothing
(`rules/alarms.py`), tells nobody (`telling.py`).

One look is a few statements over all tenants, each by an index of its own and counted to a most: with millions of
occurrences it takes milliseconds. Nothing is written where nothing changed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar

import structlog

from jobcontract.operating import AlarmKind, StopScope
from jobservice.rules import alarms as rules
from jobservice.rules.alarms import Condition, Decided, Open, Thresholds, WorkerSeen
from jobservice.store import alarms as store
from jobservice.store import hints
from jobservice.store.database import Row, Transaction
from jobservice.worker.fenced import Lease

_log = structlog.get_logger("jobservice.worker")

DAY = 86_400.0
FIGURES_EVERY = timedelta(seconds=30)
"""Between two writings of the figures, where nothing changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The rows of one look."""

    late: Sequence[Row]
    missed: Sequence[Row]
    parked: Sequence[Row]
    stops: Sequence[Row]
    dead: Sequence[Row]
    retrying: Mapping[tuple[str, str], int]
    leaving: Sequence[Row]
    workers: Sequence[WorkerSeen]


@dataclass(slots=True, kw_only=True)
class Alarming:
    """The duty with its pace. `tells`: a webhook is set, so that what opens is told."""

    thresholds: Thresholds
    tells: bool = False
    every: float = 5.0
    lease: float = 30.0
    name: str = "alarms"
    wakes: ClassVar[frozenset[str]] = frozenset({"stops"})
    _figures: Mapping[str, int] = field(default_factory=dict)
    _counted: datetime | None = None
    """When they were written last: by the database's clock."""

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Look, and write what changed; how many opened and were cleared."""
        async with lease.database.transaction(None) as transaction:
            now, tenants = await store.clock(transaction)
            seen = await self._look(transaction)
            opened = await store.opened(transaction)
        # In a storm these are many thousands of sentences: the loop that renews leases does not wait for them.
        decided = await asyncio.to_thread(_decide, seen, opened, now, tenants, self.thresholds)
        done: dict[str, int] = {}
        if decided.opened or decided.found or decided.cleared:
            done |= await self._write(lease, decided)
        if done or self._is_stale(now, opened):
            async with lease.transaction() as transaction:
                await self._count(transaction, now)
        return {what: number for what, number in done.items() if number}

    async def _look(self, transaction: Transaction) -> _Seen:
        """Everything that may be an alarm, in all tenants."""
        limits = self.thresholds
        dead = await store.dead(transaction)
        keys = sorted({(row["tenant"], row["schedule"]) for row in dead})
        return _Seen(
            late=await store.late(transaction, after=limits.late_after),
            missed=await store.missed(transaction, within=limits.missed_for),
            parked=await store.parked(transaction),
            stops=await store.stops(transaction),
            dead=dead,
            retrying=await store.retrying(transaction),
            leaving=await store.leaving(transaction, keys, ahead=DAY),
            workers=await store.workers(transaction, within=rules.MISSING_MOST.total_seconds()),
        )

    async def _write(self, lease: Lease, decided: Decided) -> Mapping[str, int]:
        async with lease.transaction() as transaction:
            cleared = await store.clear(transaction, lease.key, decided.cleared)
            added = await store.add(transaction, lease.key, decided.opened, tells=self.tells)
            await store.refresh(transaction, lease.key, decided.found)
            changed = {each.tenant for each in decided.found if each.changed}
            changed |= {row["tenant"] for row in (*added, *cleared)}
            await hints.add_alarms(transaction, changed)
        for row in added:
            # Its own words alone: a sentence of an application, or of a person, is in no alarm.
            _log.warning(
                "alarm-opened",
                alarm=True,
                id=row["id"],
                tenant=row["tenant"],
                kind=row["kind"],
                subject=row["subject"],
                count=row["count"],
                sentence=row["sentence"],
            )
        for row in cleared:
            _log.info("alarm-cleared", id=row["id"], tenant=row["tenant"], kind=row["kind"], subject=row["subject"])
        return {"opened": len(added), "cleared": len(cleared)}

    def _is_stale(self, now: datetime, opened: Sequence[Open]) -> bool:
        """Whether figures are to be written though this look changed nothing: somebody looks after an alarm by now, or they
        were not written for a while."""
        if self._counted is None or self._figures != _figures(opened):
            return True
        return not timedelta(0) <= now - self._counted < FIGURES_EVERY

    async def _count(self, transaction: Transaction, now: datetime) -> None:
        """Keep the figures of the metrics."""
        self._figures, self._counted = _figures(await store.opened(transaction)), now
        await store.count(transaction, self._figures)


def _figures(opened: Sequence[Open]) -> Mapping[str, int]:
    """How many alarms are open, by kind, and how many of them nobody looks after."""
    kinds = Counter(each.kind for each in opened)
    figures = {f"alarms-open.{kind}": kinds[kind] for kind in AlarmKind}
    return figures | {"alarms-unacknowledged": sum(not each.acknowledged for each in opened)}


def _decide(
    seen: _Seen, opened: Sequence[Open], now: datetime, tenants: Iterable[str], thresholds: Thresholds
) -> Decided:
    """What one look changes."""
    return rules.decide(_conditions(seen, now, tenants, thresholds), opened, now, thresholds)


def _conditions(seen: _Seen, now: datetime, tenants: Iterable[str], thresholds: Thresholds) -> list[Condition]:
    """Everything that is an alarm now, in all tenants."""
    found = [rules.late(row["tenant"], row["schedule"], row["count"], row["since"]) for row in seen.late]
    found += [
        rules.missed(row["tenant"], row["schedule"], row["count"], row["merged"], row["at"]) for row in seen.missed
    ]
    found += [rules.parked(row["tenant"], row["schedule"], row["since"]) for row in seen.parked]
    found += [
        rules.stopped(
            row["tenant"],
            None if row["scope"] is None else StopScope(row["scope"]),
            row["name"],
            row["by"],
            row["since"],
        )
        for row in seen.stops
    ]
    found += [rules.dead_letters(row["tenant"], row["schedule"], row["count"], row["since"]) for row in seen.dead]
    found += _spikes(seen, thresholds)
    found += [rules.leaving(row["tenant"], row["schedule"], row["count"], row["at"]) for row in seen.leaving]
    gone = rules.missing(seen.workers, now, thresholds)
    return found + [rules.worker_missing(tenant, each) for tenant in tenants for each in gone]


def _spikes(seen: _Seen, thresholds: Thresholds) -> list[Condition]:
    """Schedules that fail far more than as a rule."""
    counted = {(row["tenant"], row["schedule"]): (row["recent"], row["before"]) for row in seen.dead}
    found = []
    for key in {*counted, *seen.retrying}:
        recent, before = counted.get(key, (0, 0))
        retrying = seen.retrying.get(key, 0)
        one = rules.spike(*key, recent=recent, before=before, retrying=retrying, thresholds=thresholds)
        if one is not None:
            found.append(one)
    return found
