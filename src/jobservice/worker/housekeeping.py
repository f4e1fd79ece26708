"""Owns the housekeeping duty: expired idempotency keys, lapsed claims, old hints. Decides nothing about money or acts.

Nobody depends on it for correctness: listings and the next claim see a lapsed claim as free by themselves. It writes
the history, tells the streams, and keeps the tables small.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from jobservice.store import duties
from jobservice.store.database import Database, Transaction
from jobservice.worker.fenced import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Housekeeping:
    """The duty with its pace. `hints_keep` is how many seconds a stream may resume back."""

    hints_keep: float
    every: float = 10.0
    lease: float = 30.0
    batch: int = 500
    wakes: frozenset[str] = frozenset()
    name: str = "housekeeping"

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether anything is past its time."""
        async with database.transaction(None) as transaction:
            return await duties.overdue(transaction, keep=self.hints_keep)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Work until nothing is due or the Worker stops; how many keys, claims and hints."""
        done = {
            "claims": await self._end_lapsed_claims(lease),
            "keys": await self._until_done(lease, self._expire_keys),
            "hints": await self._until_done(lease, self._remove_hints),
        }
        return {what: count for what, count in done.items() if count}

    async def _end_lapsed_claims(self, lease: Lease) -> int:
        total = 0
        while not lease.stopping():
            async with lease.transaction() as transaction:
                rows = await duties.lapsed_claims(transaction, batch=self.batch)
            by_tenant: dict[str, list[UUID]] = defaultdict(list)
            for row in rows:
                by_tenant[row["tenant"]].append(row["item"])
            freed = 0
            for tenant, items in by_tenant.items():
                async with lease.transaction(tenant) as transaction:
                    freed += await duties.free_lapsed_items(transaction, items)
            total += freed
            if freed < self.batch:  # the rest, if any, is being worked on: the next run sees it
                break
        return total

    async def _until_done(self, lease: Lease, unit: Callable[[Transaction, Lease], Awaitable[int]]) -> int:
        total = 0
        while not lease.stopping():
            async with lease.transaction() as transaction:
                count = await unit(transaction, lease)
            total += count
            if count < self.batch:
                break
        return total

    async def _expire_keys(self, transaction: Transaction, lease: Lease) -> int:
        return await duties.expire_idempotency_keys(transaction, lease.key, batch=self.batch)

    async def _remove_hints(self, transaction: Transaction, lease: Lease) -> int:
        return await duties.remove_old_hints(transaction, lease.key, keep=self.hints_keep, batch=self.batch)
