"""Owns the duty that folds the changes of tallies of jobs into the tallies, so that no request counts jobs.

A reader adds what is not folded yet to what is: so the sum is true at any instant, and folding changes no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from jobservice.store import job_tallies as store
from jobservice.store.database import Database
from jobservice.worker.fenced import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTallies:
    """The duty with its pace. One Worker at a time folds, so no two wait for each other."""

    every: float = 5.0
    lease: float = 30.0
    batch: int = 10_000
    name: str = "job-tallies"
    wakes: ClassVar[frozenset[str]] = frozenset()

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether a change waits."""
        async with database.transaction(None) as transaction:
            return await store.waits(transaction)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Fold what waits, batch by batch; nothing for the log, since while jobs run there is always some."""
        while not lease.stopping():
            async with lease.transaction() as transaction:
                folded = await store.fold(transaction, most=self.batch)
            if folded < self.batch:
                break
        return {}
