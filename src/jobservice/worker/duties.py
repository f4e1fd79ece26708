"""Owns the one shape of a background duty and its lease: one run at a time over all Workers, every write fenced.

A lease is taken with a raised fence, extended by each unit of work, and given back after the run. A Worker that lost
it finds no row to write to: it stops, undoes nothing, and says so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from jobservice.store import duties
from jobservice.store.database import Database, Transaction


class LeaseLost(Exception):
    """Another Worker holds the duty by now; what this one was about to write was not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A duty held by this incarnation. Opens the transactions of a run: each holds the lease, or raises LeaseLost."""

    database: Database
    duty: str
    holder: UUID
    fence: int
    seconds: float
    stopping: Callable[[], bool] = lambda: False
    """Whether the Worker wants to stop: a run ends after its present unit of work."""

    @property
    def key(self) -> Mapping[str, object]:
        """What every statement written under the lease carries."""
        return {"name": self.duty, "holder": self.holder, "fence": self.fence}

    @asynccontextmanager
    async def transaction(
        self, tenant: str | None = None, *, statement_seconds: float = 10.0
    ) -> AsyncIterator[Transaction]:
        """One unit of work under the lease, which it extends. LeaseLost where it is not ours any more."""
        async with self.database.transaction(tenant, statement_seconds=statement_seconds) as transaction:
            if not await duties.hold_duty(transaction, self.key, seconds=self.seconds):
                raise LeaseLost(self.duty)
            yield transaction


class Duty(Protocol):
    """A background duty. `every` and `lease` are seconds."""

    @property
    def name(self) -> str:
        """Its name, in the table of duties and in log lines."""

    @property
    def every(self) -> float:
        """Between the end of a run and the next."""

    @property
    def lease(self) -> float:
        """How long a unit of work may take before another Worker may take over."""

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Do what is due, in units of work of `lease.transaction`; counts for the log, empty where there was nothing."""


async def take(
    database: Database, duty: Duty, holder: UUID, stopping: Callable[[], bool] = lambda: False
) -> Lease | None:
    """The lease of a duty that is due and free, or None.

    One that `holder` has already is free for it: a holder runs a duty once at a time, so that is a lease it could not
    give back, or never heard of, because the database was away. What is left of that run is shut out by the fence.
    """
    async with database.transaction(None) as transaction:
        row = await duties.lock_duty(transaction, duty.name, holder=holder, every=duty.every)
        if row is None or not row["free"] or not row["due"]:
            return None
        fence = await duties.take_duty(transaction, duty.name, holder=holder, fence=row["fence"], lease=duty.lease)
    if fence is None:
        return None
    return Lease(database=database, duty=duty.name, holder=holder, fence=fence, seconds=duty.lease, stopping=stopping)


async def give_back(lease: Lease, *, whole: bool) -> bool:
    """Whether the lease was still ours; `whole` = the run did all that was due, and the next one waits its time."""
    async with lease.database.transaction(None) as transaction:
        if whole:
            return await duties.finish_duty(transaction, lease.key)
        return await duties.hand_back_duty(transaction, lease.key)
