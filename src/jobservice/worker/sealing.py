"""Owns the duty that seals the trail and writes each head outside the database (MONEY.md 31). Wakes nobody, and never
reads what an entry says: a function of the database links it.

A head that could not be written outside is written with the next run: the chain goes on, and each head covers all before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from jobservice.delivery.heads import Head, Heads, HeadsBroken
from jobservice.settings import SEALS
from jobservice.store import seals
from jobservice.store.database import Database, Row
from jobservice.worker.fenced import Lease

_log = structlog.get_logger("jobservice.worker")

FUNCTION_SECONDS = 60.0
"""How long one batch may take: the first one after a dump was restored looks through the whole trail."""


@dataclass(slots=True, kw_only=True)
class Sealing:
    """The duty. `heads` None = nobody named a folder: that is said at the start, and each head is a line of the log."""

    heads: Heads | None
    every: float = 10.0
    lease: float = 120.0
    batch: int = 5_000
    wakes: frozenset[str] = frozenset()
    name: str = "sealing"
    _outside: int | None = field(default=None, init=False)
    """Place of the newest head that is outside; None: not looked yet."""

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether an entry waits to be sealed, or a head to be written outside."""
        if self._outside is None:
            return True
        async with database.transaction(None) as transaction:
            row = await seals.waits(transaction)
        return bool(row["waits"]) or (self.heads is not None and row["place"] > self._outside)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Seal all that can be sealed, batch by batch; how many entries."""
        await self._begin(lease)
        total = 0
        while not lease.stopping():
            async with lease.transaction(statement_seconds=FUNCTION_SECONDS) as transaction:
                row = await seals.seal(transaction, most=self.batch)
            if row is None:
                break
            total += int(row["count"])
            await self._tell(row)
            if row["count"] < self.batch:
                break
        return {"sealed": total} if total else {}

    async def _begin(self, lease: Lease) -> None:
        """Once a process: say where heads go, and write the newest where a process ended before it did."""
        if self._outside is None:
            if self.heads is None:
                _log.warning(
                    "audit-heads-not-kept",
                    reason=f"{SEALS} is not set, so heads of the audit trail go into this log alone.",
                )
                self._outside = 0
                return
            self._outside = await self._kept(self.heads)
        if self.heads is None:
            return
        async with lease.transaction() as transaction:
            last = await seals.last(transaction)
        if last is not None and last["place"] > self._outside:
            await self._tell(last)

    async def _kept(self, heads: Heads) -> int:
        try:
            return await asyncio.to_thread(heads.last)
        except (OSError, HeadsBroken) as broken:
            _log.error("audit-heads-unreadable", alarm=True, reason=str(broken))
            return 0

    async def _tell(self, row: Row) -> None:
        """Write a seal's head outside the database."""
        head = Head(place=row["place"], count=row["count"], link=bytes(row["head"]), at=row["at"])
        if self.heads is None:
            _log.info("audit-head", place=head.place, count=head.count, link=head.link.hex(), at=head.at.isoformat())
            return
        try:
            await asyncio.to_thread(self.heads.add, head)
        except OSError as error:
            _log.error(
                "audit-head-not-kept", alarm=True, place=head.place, reason=f"{SEALS}: {error.strerror or error}"
            )
        else:
            self._outside = head.place
