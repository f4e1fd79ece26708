"""Owns the leases that this process has of one kind of work: which, of whom, and how their work is cancelled. Writes
nothing."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from jobservice.worker.leased_work import LeasedWork, RowLease, Why

_log = structlog.get_logger("jobservice.worker")


@dataclass(slots=True, kw_only=True, eq=False)
class Held:
    """The leases of `work`. `changed` is called when one came or went."""

    work: LeasedWork
    leases: dict[UUID, RowLease] = field(default_factory=dict)
    changed: list[Callable[[], None]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.leases)

    def add(self, lease: RowLease) -> None:
        """It came."""
        self.leases[lease.grant.id] = lease
        self._tell()

    def remove(self, lease: RowLease) -> None:
        """It went."""
        if self.leases.get(lease.grant.id) is lease:
            del self.leases[lease.grant.id]
        self._tell()

    def by_tenant(self) -> Mapping[str, int]:
        """How many rows of each tenant."""
        return Counter(lease.grant.tenant for lease in self.leases.values())

    def kept(self) -> tuple[RowLease, ...]:
        """Those that are to be renewed: neither given back nor lost."""
        return tuple(lease for lease in self.leases.values() if not lease.over and not lease.lost)

    def lose(self, lease: RowLease, why: str) -> None:
        """It is not this process's any more: its work is cancelled now."""
        if lease.over or lease.lost:
            return
        lease.lost = True
        _log.warning("lease-lost", work=self.work.name, row=str(lease.grant.id), fence=lease.grant.fence, reason=why)
        self.cancel(lease, Why.LOST)

    def lose_overdue(self) -> None:
        """Lose what could not be renewed in time."""
        now = time.monotonic()
        for lease in self.kept():
            if now >= lease.deadline:
                self.lose(lease, "It could not be renewed in time.")

    def cancel_asked(self, rows: Collection[UUID]) -> None:
        """Cancel what a person asked to cancel, once."""
        for row in rows:
            lease = self.leases.get(row)
            if lease is not None and lease.why is None and not lease.over:
                _log.info("cancelled-by-person", work=self.work.name, row=str(row))
                self.cancel(lease, Why.CANCELLED)

    def cancel(self, lease: RowLease, why: Why) -> None:
        """Cancel its work. What is lost or cancelled stays so for its work when the Worker stops, too."""
        task = lease.task
        if task is None or task.done():
            return
        if lease.why is None or why is Why.LOST:
            lease.why = why
        task.cancel()

    def _tell(self) -> None:
        for tell in self.changed:
            tell()


async def emptied(helds: Collection[Held], seconds: float, *events: asyncio.Event) -> bool:
    """Wait until none of them has a lease, at most so long, or until an event; whether none has."""
    empty = asyncio.Event()

    def look() -> None:
        if not any(len(held) for held in helds):
            empty.set()

    for held in helds:
        held.changed.append(look)
    look()
    waiting = [asyncio.ensure_future(event.wait()) for event in (empty, *events)]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
        for held in helds:
            held.changed.remove(look)
    return empty.is_set()
