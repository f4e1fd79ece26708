"""Owns work on many rows at once, each under a lease of its own: taking, renewing, giving back. Knows no plan.

A duty (`duties.py`) runs once at a time over all Workers; leased work runs on as many rows as the Workers have room for,
and a row is one Worker's at a time. All leases of a process are renewed in one statement. A Worker that lost one, or
could not renew it in time, begins nothing more under it, undoes nothing, and says so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

import structlog

from jobcontract.errors import Refusal

_log = structlog.get_logger("jobservice.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A row that was leased: its id, its tenant, the fence of the lease."""

    id: UUID
    tenant: str
    fence: int


@dataclass(slots=True, kw_only=True)
class RowLease:
    """A row that this process holds. `deadline` is on the monotonic clock: past it nothing new begins."""

    grant: Grant
    holder: UUID
    deadline: float
    stopping: Callable[[], bool] = lambda: False
    lost: bool = False
    over: bool = False
    """Whether the work gave the lease back itself, with its last write."""

    @property
    def live(self) -> bool:
        """Whether something may begin under it now."""
        return not self.lost and time.monotonic() < self.deadline

    @property
    def working(self) -> bool:
        """Whether something further may begin: the lease is live, and the Worker does not want to stop."""
        return self.live and not self.stopping()


class LeasedWork(Protocol):
    """Work on rows under leases. `every` and `lease` are seconds; `most` rows at once in one process."""

    @property
    def name(self) -> str:
        """Its name in log lines."""

    @property
    def every(self) -> float:
        """Between two looks for rows that want work."""

    @property
    def lease(self) -> float:
        """How long a lease lasts that is not renewed; it is renewed three times in that time."""

    @property
    def most(self) -> int:
        """How many rows one process works on at once."""

    async def take(self, holder: UUID, most: int) -> Sequence[Grant]:
        """Lease at most `most` rows that want work and that nobody has."""

    async def renew(self, holder: UUID, held: Mapping[UUID, int]) -> Collection[UUID]:
        """Extend the leases (fence by row); those that are still this process's."""

    async def carry(self, lease: RowLease) -> None:
        """Work on one row until nothing is left to do, or the lease or the Worker ends."""

    async def give_back(self, lease: RowLease) -> bool:
        """Give a lease back; whether it was still ours."""


@dataclass(slots=True, kw_only=True)
class Leases:
    """The leases of one kind of work that this process has."""

    work: LeasedWork
    holder: UUID
    stop: asyncio.Event
    group: asyncio.TaskGroup
    held: dict[UUID, RowLease] = field(default_factory=dict)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(self) -> None:
        """Take what wants work, as far as there is room, and begin to work on it."""
        room = self.work.most - len(self.held)
        if room <= 0:
            return
        asked = time.monotonic()
        for grant in await self.work.take(self.holder, room):
            lease = RowLease(
                grant=grant, holder=self.holder, deadline=asked + self.work.lease, stopping=self.stop.is_set
            )
            self.held[grant.id] = lease
            self.group.create_task(self._carry(lease), name=f"{self.work.name} {grant.id}")

    async def keep(self) -> None:
        """Renew until the Worker stops and the last lease is given back."""
        while not (self.stop.is_set() and not self.held):
            await self._wait(self.work.lease / 3)
            if self.held:
                await self._renew()

    async def _renew(self) -> None:
        asked = time.monotonic()
        leases = tuple(lease for lease in self.held.values() if not lease.over)
        try:
            kept = await self.work.renew(self.holder, {lease.grant.id: lease.grant.fence for lease in leases})
        except Refusal as away:
            _log.warning("leases-not-renewed", work=self.work.name, reason=away.detail)
            return
        for lease in leases:
            if lease.grant.id in kept:
                lease.deadline = asked + self.work.lease
            elif not lease.over and not lease.lost:
                lease.lost = True
                _log.warning("lease-lost", work=self.work.name, row=str(lease.grant.id), fence=lease.grant.fence)

    async def _carry(self, lease: RowLease) -> None:
        try:
            await self.work.carry(lease)
        except Refusal as away:
            _log.warning("work-broken-off", work=self.work.name, row=str(lease.grant.id), reason=away.detail)
        except Exception as error:  # one row's trouble is not the others'; nothing is hidden
            _log.error("work-failed", work=self.work.name, row=str(lease.grant.id), exc_info=error)
        finally:
            await self._end(lease)

    async def _end(self, lease: RowLease) -> None:
        try:
            if not lease.over and not await self.work.give_back(lease):
                _log.warning("lease-was-lost", work=self.work.name, row=str(lease.grant.id), fence=lease.grant.fence)
        except Refusal as away:
            _log.warning("lease-kept", work=self.work.name, row=str(lease.grant.id), reason=away.detail)
        finally:
            self.held.pop(lease.grant.id, None)
            self._changed.set()

    async def _wait(self, seconds: float) -> None:
        """Wait so long, or until the Worker stops, or, while it does, until a lease is given back."""
        event = self._changed if self.stop.is_set() else self.stop
        self._changed.clear()
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return
