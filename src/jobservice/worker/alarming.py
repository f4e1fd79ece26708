"""Owns the duty that looks for what needs somebody, and opens, refreshes and clears alarms. Decides nothing
(`rules/alarms.py`), tells nobody (`telling.py`).

One look is a few statements over all tenants, each by an index of its own and counted to a most: with millions of
occurrences it takes milliseconds. Nothing is written where nothing changed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

import structlog

from jobcontract.operating import AlarmKind, StopScope
from jobservice.rules import alarms as rules
from jobservice.rules.alarms import Condition, Decided, Thresholds
from jobservice.store import alarms as store
from jobservice.store import hints
from jobservice.store.database import Transaction
from jobservice.worker.fenced import Lease

_log = structlog.get_logger("jobservice.worker")

DAY = 86_400.0
KEEP_SECONDS = 90 * DAY
"""How long an alarm that is over is kept."""
BATCH = 1_000
FIGURES_SECONDS = 30.0
"""Between two counts for the metrics where nothing changed."""


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
    _counted: float | None = None
    """When they were written last, monotonic."""

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Look, and write what changed; how many opened and were cleared, and how many old ones went."""
        async with lease.database.transaction(None) as transaction:
            now, tenants = await store.clock(transaction)
            conditions = await self._look(transaction, now, tenants)
            opened = await store.opened(transaction)
        decided = rules.decide(conditions, opened, now, self.thresholds)
        done: dict[str, int] = {}
        if decided.opened or decided.found or decided.cleared:
            done |= await self._write(lease, decided)
        async with lease.transaction() as transaction:
            removed = await store.remove_old(transaction, lease.key, keep=KEEP_SECONDS, batch=BATCH)
            await self._count(transaction)
        return {what: number for what, number in (done | {"removed": removed}).items() if number}

    async def _look(self, transaction: Transaction, now: datetime, tenants: Iterable[str]) -> list[Condition]:
        """Everything that is an alarm now, in all tenants."""
        limits = self.thresholds
        found = [
            rules.late(row["tenant"], row["schedule"], row["count"], row["since"])
            for row in await store.late(transaction, after=limits.late_after)
        ]
        found += [
            rules.missed(row["tenant"], row["schedule"], row["count"], row["merged"], row["at"])
            for row in await store.missed(transaction, within=limits.missed_for)
        ]
        found += [rules.parked(row["tenant"], row["schedule"], row["since"]) for row in await store.parked(transaction)]
        found += [
            rules.stopped(
                row["tenant"],
                None if row["scope"] is None else StopScope(row["scope"]),
                row["name"],
                row["by"],
                row["since"],
            )
            for row in await store.stops(transaction)
        ]
        found += await self._failures(transaction)
        seen = await store.workers(transaction, within=rules.MISSING_MOST.total_seconds())
        gone = rules.missing(seen, now, limits)
        return found + [rules.worker_missing(tenant, each) for tenant in tenants for each in gone]

    async def _failures(self, transaction: Transaction) -> list[Condition]:
        """Dead letters, those that go, and schedules that fail far more than as a rule."""
        dead = await store.dead(transaction)
        retrying = await store.retrying(transaction)
        found = [rules.dead_letters(row["tenant"], row["schedule"], row["count"], row["since"]) for row in dead]
        counted = {(row["tenant"], row["schedule"]): (row["recent"], row["before"]) for row in dead}
        for key in {*counted, *retrying}:
            recent, before = counted.get(key, (0, 0))
            one = rules.spike(
                *key, recent=recent, before=before, retrying=retrying.get(key, 0), thresholds=self.thresholds
            )
            if one is not None:
                found.append(one)
        leaving = await store.leaving(transaction, sorted(counted), ahead=DAY)
        return found + [rules.leaving(row["tenant"], row["schedule"], row["count"], row["at"]) for row in leaving]

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

    async def _count(self, transaction: Transaction) -> None:
        """Keep the figures of the metrics, where they changed, or were not written for a while."""
        opened = await store.opened(transaction)
        kinds = Counter(each.kind for each in opened)
        figures = {f"alarms-open.{kind}": kinds[kind] for kind in AlarmKind}
        figures["alarms-unacknowledged"] = sum(not each.acknowledged for each in opened)
        fresh = self._counted is not None and time.monotonic() < self._counted + FIGURES_SECONDS
        if figures == self._figures and fresh:
            return
        self._figures, self._counted = figures, time.monotonic()
        await store.count(transaction, figures)
