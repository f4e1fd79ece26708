"""Owns this process's row among the Workers: known at the start, a sign of life, draining, stopped. No lease hangs on it
(a lease belongs to its row: case LEASE-04)."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

from jobservice import __version__
from jobservice.store import workers
from jobservice.store.database import Database
from jobservice.worker.duties import Ends


@dataclass(slots=True, kw_only=True)
class Presence:
    """The duty that beats every `every` seconds. `slots`: runs that this process has room for. `drained` is told with each
    beat whether a person wants it to take nothing new: also one whose notification was lost."""

    database: Database
    incarnation: UUID
    slots: int
    every: float
    drained: Callable[[bool], None] = lambda _: None
    name: str = "heartbeat"
    wakes: frozenset[str] = frozenset({"drain"})
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    _leaving: bool = False
    ends: ClassVar[Ends] = Ends.LAST
    waits_for_database: ClassVar[bool] = True

    async def begin(self) -> None:
        """Make this process known."""
        async with self.database.transaction(None) as transaction:
            await workers.add_worker(
                transaction,
                incarnation=self.incarnation,
                version=__version__,
                host=platform.node(),
                slots=self.slots,
            )

    async def step(self, *, woken: bool) -> float:  # noqa: ARG002  # it beats, whatever woke it
        """It lives; known again where its row has gone, as after a restored backup."""
        async with self.database.transaction(None) as transaction:
            drains = await workers.beat(transaction, self.incarnation, leaving=self._leaving)
        if drains is None:
            await self.begin()
        self.drained(bool(drains))
        return self.every

    async def draining(self) -> None:
        """It takes nothing new, and ends."""
        self._leaving = True
        async with self.database.transaction(None) as transaction:
            await workers.drain(transaction, self.incarnation)

    async def end(self) -> None:
        """It ended in good order."""
        async with self.database.transaction(None) as transaction:
            await workers.stop_worker(transaction, self.incarnation)
