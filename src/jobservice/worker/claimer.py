"""Owns taking leased work and running it: as many rows as there is room for, each in a task of its own, given back when
it ends. One claimer a kind of work; renewing is `renewer.py`'s."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar
from uuid import UUID

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobservice.worker.duties import Ends
from jobservice.worker.held import Held
from jobservice.worker.leased_work import CARRIED, Grant, LeasedWork, RowLease
from jobservice.worker.outage import Outage

_log = structlog.get_logger("jobservice.worker")

GIVEN_BACK_SECONDS = 0.3
"""After a row was given back unsettled there is room, but what was given back is not to be taken again at once."""


@dataclass(slots=True, kw_only=True, eq=False)
class Claimer:
    """The duty that takes rows of `held.work`. Woken by a notification, by a row that ended, or when one is due."""

    held: Held
    holder: UUID
    outage: Outage
    stopping: Callable[[], bool]
    """Whether nothing new is to be taken: the Worker stops, or a person wants it to drain."""
    leaving: asyncio.Event
    """Set when the Worker waits for the database no longer: what could not be given back is left to run out."""
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    """Kept, as the event loop keeps none."""
    ends: ClassVar[Ends] = Ends.FIRST
    waits_for_database: ClassVar[bool] = True

    @property
    def work(self) -> LeasedWork:
        """What it takes."""
        return self.held.work

    @property
    def name(self) -> str:
        """The work's."""
        return self.work.name

    @property
    def wakes(self) -> frozenset[str]:
        """The work's."""
        return self.work.wakes

    async def step(self, *, woken: bool) -> float:  # noqa: ARG002  # it looks what there is
        """Take what there is room for, and begin to work on it; seconds until something is due, or until the next look."""
        room = self.work.most - len(self.held)
        if room <= 0 or self.stopping():
            return self.work.every
        asked = time.monotonic()
        taken = await self.work.take(self.holder, room, self.held.by_tenant())
        for grant in taken.grants:
            self._begin(grant, asked + self.work.lease)
        if taken.next_in is None or len(taken.grants) >= room:
            return self.work.every
        return min(self.work.every, max(0.0, taken.next_in))

    def _begin(self, grant: Grant, deadline: float) -> None:
        lease = RowLease(grant=grant, holder=self.holder, deadline=deadline, stopping=self.stopping)
        self.held.add(lease)
        if self.stopping():  # taken while the Worker began to stop or to drain: given back, not begun
            self._keep(asyncio.create_task(self._end(lease)))
            return
        context = copy_context()
        context.run(CARRIED.set, lease)
        lease.task = asyncio.create_task(_carry(self.work, lease), name=f"{self.work.name} {grant.id}", context=context)
        lease.task.add_done_callback(partial(self._carried, lease))
        self._keep(lease.task)

    def _carried(self, lease: RowLease, task: asyncio.Task[None]) -> None:
        """The work of a row ended, however it did."""
        row = str(lease.grant.id)
        if task.cancelled():
            if lease.why is None:  # not the machinery's: the whole process is being ended
                self.held.remove(lease)
                return
            _log.info("work-cancelled", work=self.name, row=row, why=lease.why.value)
        elif isinstance(error := task.exception(), Refusal):
            _log.warning("work-broken-off", work=self.name, row=row, reason=error.detail)
        elif error is not None:  # one row's trouble is not the others'; nothing is hidden
            _log.error("work-failed", work=self.name, row=row, exc_info=error)
        self._keep(asyncio.create_task(self._end(lease)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end(self, lease: RowLease) -> None:
        """Give the lease back where the work did not: after an outage, too, in which it ran out. Then there is room."""
        settled = lease.over
        try:
            while not lease.over:
                try:
                    await self._give_back(lease)
                    return
                except Refusal as away:
                    if away.kind is not ErrorCode.DATABASE_AWAY or not await self._there_again(away):
                        _log.warning("lease-kept", work=self.name, row=str(lease.grant.id), reason=away.detail)
                        return
        except Exception as error:  # the lease runs out by itself; nothing is hidden
            _log.error("lease-kept", work=self.name, row=str(lease.grant.id), exc_info=error)
        finally:
            self.held.remove(lease)
            if settled:
                self.bell.set()
            else:
                asyncio.get_running_loop().call_later(GIVEN_BACK_SECONDS, self.bell.set)

    async def _give_back(self, lease: RowLease) -> None:
        if not await self.work.give_back(lease):
            _log.warning("lease-was-lost", work=self.name, row=str(lease.grant.id), fence=lease.grant.fence)
        lease.over = True

    async def _there_again(self, away: Refusal) -> bool:
        """Wait for the database, to try again; False where the Worker goes."""
        self.outage.begin(away.detail)
        await self.outage.over(self.leaving)
        return not self.leaving.is_set()


async def _carry(work: LeasedWork, lease: RowLease) -> None:
    await work.carry(lease)
