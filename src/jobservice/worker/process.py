"""Owns a Worker process's life: its incarnation, its heartbeat, one loop a duty, its leased work, and its end in good
order.

A database that is away is waited for with growing, jittered pauses and one log line each; whatever else a duty raises
ends that run alone. Never decides anything itself.
"""

from __future__ import annotations

import asyncio
import platform
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID, uuid4

import structlog

from jobcontract.errors import Refusal
from jobservice import __version__
from jobservice.store import duties as duty_rows
from jobservice.store import workers
from jobservice.store.database import Database
from jobservice.worker.duties import Duty, Lease, LeaseLost, give_back, take
from jobservice.worker.leased_work import LeasedWork, Leases

_log = structlog.get_logger("jobservice.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds: between heartbeats, and the first and longest pause while something is wrong."""

    beat: float = 5.0
    first_pause: float = 0.5
    longest_pause: float = 15.0


@dataclass(slots=True, kw_only=True)
class Worker:
    """One Worker process: `run` until `stop` is set."""

    database: Database
    duties: Sequence[Duty]
    stop: asyncio.Event
    leased: Sequence[LeasedWork] = ()
    pace: Pace = field(default_factory=Pace)
    incarnation: UUID = field(default_factory=uuid4)

    async def run(self) -> None:
        """Make itself known, run every duty in its turn, and end in good order when `stop` is set."""
        log = _log.bind(incarnation=str(self.incarnation))
        await self._loop("start", self._start, every=None)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._loop("heartbeat", self._beat, every=self.pace.beat))
            for duty in self.duties:
                group.create_task(self._loop(duty.name, partial(self._turn, duty), every=duty.every))
            for work in self.leased:
                leases = Leases(work=work, holder=self.incarnation, stop=self.stop, group=group)
                group.create_task(self._loop(work.name, leases.look, every=work.every))
                group.create_task(leases.keep())
        await self._end()
        log.info("worker-stopped")

    async def _loop(self, name: str, step: Callable[[], Awaitable[None]], *, every: float | None) -> None:
        """Run `step` every `every` seconds (None = once) until `stop`; after a failure, pause longer each time."""
        pause = self.pace.first_pause
        while not self.stop.is_set():
            try:
                await step()
                pause = self.pace.first_pause
                if every is None:
                    return
                wait = every
            except Exception as error:  # the outermost frame of a loop that must go on; nothing is hidden
                wait = pause * random.uniform(0.5, 1.5)  # noqa: S311  # jitter, not a secret
                pause = min(pause * 2, self.pace.longest_pause)
                self._complain(name, error, wait)
            await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.stop.wait()
        except TimeoutError:
            return

    def _complain(self, name: str, error: Exception, wait: float) -> None:
        if isinstance(error, Refusal):
            _log.warning("worker-waits", step=name, code=error.kind.code, reason=error.detail, seconds=round(wait, 2))
        else:
            _log.error("worker-step-failed", step=name, seconds=round(wait, 2), exc_info=error)

    async def _start(self) -> None:
        async with self.database.transaction(None) as transaction:
            await workers.add_worker(
                transaction, incarnation=self.incarnation, version=__version__, host=platform.node()
            )
            for duty in self.duties:
                await duty_rows.add_duty(transaction, duty.name)
        names = [duty.name for duty in self.duties] + [work.name for work in self.leased]
        _log.info("worker-started", incarnation=str(self.incarnation), duties=names)

    async def _beat(self) -> None:
        async with self.database.transaction(None) as transaction:
            await workers.beat(transaction, self.incarnation)

    async def _turn(self, duty: Duty) -> None:
        lease = await take(self.database, duty, self.incarnation, self.stop.is_set)
        if lease is None:
            return
        whole = False
        try:
            done = await duty.run_once(lease)
            whole = not self.stop.is_set()
            if done:
                _log.info("duty-done", duty=duty.name, fence=lease.fence, **done)
        except LeaseLost:
            _log.warning("lease-lost", duty=duty.name, fence=lease.fence)
            return
        finally:
            await self._give_back(lease, whole=whole)

    async def _give_back(self, lease: Lease, *, whole: bool) -> None:
        try:
            await give_back(lease, whole=whole)
        except Refusal as away:
            _log.warning("lease-kept", duty=lease.duty, fence=lease.fence, reason=away.detail)

    async def _end(self) -> None:
        try:
            async with self.database.transaction(None) as transaction:
                await workers.stop_worker(transaction, self.incarnation)
        except Refusal as away:
            _log.warning("worker-end-not-recorded", reason=away.detail)
