"""Owns fenced duties: one run at a time over all Workers, every write under a lease with a fence. Knows no duty.

A lease is taken with a raised fence, extended by each unit of work, and given back after the run. A Worker that lost
it finds no row to write to: it stops, undoes nothing, and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable
from uuid import UUID

import structlog

from jobcontract.errors import Refusal
from jobservice.store import duties
from jobservice.store.database import Database, Transaction
from jobservice.worker.duties import Ends

_log = structlog.get_logger("jobservice.worker")

TAKEN_SECONDS = 0.5
"""A duty was woken, and another Worker is just at it: it may have looked already, so this one looks again soon."""


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


class FencedDuty(Protocol):
    """Work that one Worker at a time does. `every` and `lease` are seconds."""

    @property
    def name(self) -> str:
        """Its name, in the table of duties and in log lines."""

    @property
    def every(self) -> float:
        """Between the end of a run and the next, where nothing wakes it."""

    @property
    def lease(self) -> float:
        """How long a unit of work may take before another Worker may take over."""

    @property
    def wakes(self) -> frozenset[str]:
        """Payloads of `jobs_work` upon which it runs at once."""

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Do what is due, in units of work of `lease.transaction`; counts for the log, empty where there was nothing."""


@runtime_checkable
class Wanted(Protocol):
    """A fenced duty that runs often and mostly finds nothing, and can tell so without its lease."""

    async def wanted(self, database: Database, holder: UUID) -> bool:
        """Whether a run would find something."""


async def take(
    database: Database,
    duty: FencedDuty,
    holder: UUID,
    stopping: Callable[[], bool] = lambda: False,
    *,
    woken: bool = False,
) -> Lease | None:
    """The lease of a duty that is free, and due or woken; or None.

    One that `holder` has already is free for it: a holder runs a duty once at a time, so that is a lease it could not
    give back, or never heard of, because the database was away. What is left of that run is shut out by the fence.
    """
    async with database.transaction(None) as transaction:
        row = await duties.lock_duty(transaction, duty.name, holder=holder, every=0.0 if woken else duty.every)
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


@dataclass(slots=True, kw_only=True)
class Fenced:
    """A fenced duty as a duty of this Worker."""

    duty: FencedDuty
    database: Database
    holder: UUID
    stopping: Callable[[], bool]
    """Whether nothing new is to be taken: the Worker stops, or a person wants it to drain."""
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    _missed: bool = False
    """Whether it was woken while another Worker was at it."""
    ends: ClassVar[Ends] = Ends.FIRST
    waits_for_database: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The duty's."""
        return self.duty.name

    @property
    def wakes(self) -> frozenset[str]:
        """The duty's."""
        return self.duty.wakes

    async def step(self, *, woken: bool) -> float:
        """One run, where it is due or woken and no other Worker is at it."""
        if self.stopping():
            return self.duty.every
        if isinstance(self.duty, Wanted) and not await self.duty.wanted(self.database, self.holder):
            self._missed = False
            return self.duty.every
        lease = await take(self.database, self.duty, self.holder, self.stopping, woken=woken or self._missed)
        self._missed = woken and lease is None
        if lease is None:
            return TAKEN_SECONDS if self._missed else self.duty.every
        await self._run(lease)
        return self.duty.every

    async def _run(self, lease: Lease) -> None:
        whole = False
        try:
            done = await self.duty.run_once(lease)
            whole = not self.stopping()
            if done:
                _log.info("duty-done", duty=lease.duty, fence=lease.fence, **done)
        except LeaseLost:
            _log.warning("lease-lost", duty=lease.duty, fence=lease.fence)
            return
        finally:
            await self._give_back(lease, whole=whole)

    async def _give_back(self, lease: Lease, *, whole: bool) -> None:
        try:
            await give_back(lease, whole=whole)
        except Refusal as away:
            _log.warning("lease-kept", duty=lease.duty, fence=lease.fence, reason=away.detail)
