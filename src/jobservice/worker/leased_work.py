"""Owns the shape of work on many rows at once, each under a lease of its own. Knows no plan and no occurrence.

A fenced duty (`fenced.py`) runs once at a time over all Workers; leased work runs on as many rows as the Workers have
room for, and a row is one Worker's at a time. `claimer.py` takes and runs, `renewer.py` renews and cancels,
`watchdog.py` ends what blocks the process. A Worker that lost a lease begins nothing more under it and undoes nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import Protocol
from uuid import UUID

from jobservice.store.database import Database


class Why(Enum):
    """Why the work of a lease is being cancelled. Without one, nobody of the machinery cancelled it."""

    LOST = "lost"
    """It is another Worker's by now, or could not be renewed in time."""
    CANCELLED = "cancelled"
    """A person asked for it."""
    STOPPING = "stopping"
    """The Worker stops, and its grace is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A row that was leased: its id, its tenant, the fence of the lease. `content`: what `take` read of it, for `carry`
    alone."""

    id: UUID
    tenant: str
    fence: int
    content: object = None


@dataclass(slots=True, kw_only=True, eq=False)
class RowLease:
    """A row that this process holds. `deadline` is on the monotonic clock: past it nothing new begins."""

    grant: Grant
    holder: UUID
    deadline: float
    stopping: Callable[[], bool] = lambda: False
    """Whether the Worker takes nothing new, for it stops or drains: what can end at any point ends now; what cannot has
    the grace where it stops, and all the time that it needs where it drains."""
    lost: bool = False
    over: bool = False
    """Whether the work gave the lease back itself, with its last write."""
    why: Why | None = None
    """Set before its task is cancelled."""
    bound: float | None = None
    """End of its duration bound on the monotonic clock, set by the work when it begins: the watchdog reads it."""
    task: asyncio.Task[None] | None = None

    @property
    def live(self) -> bool:
        """Whether something may begin under it now."""
        return not self.lost and time.monotonic() < self.deadline

    @property
    def working(self) -> bool:
        """Whether something further may begin: the lease is live, and the Worker does not want to stop."""
        return self.live and not self.stopping()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What was leased. `next_in`: seconds, by the database's clock, until something is due that was not yet; None where
    nothing is known to come."""

    grants: Sequence[Grant] = ()
    next_in: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """Rows whose lease was extended, and those of them that a person asked to cancel."""

    kept: Collection[UUID] = frozenset()
    cancelled: Collection[UUID] = frozenset()


CARRIED: ContextVar[RowLease | None] = ContextVar("carried", default=None)
"""The lease that a task works under; tasks that it starts inherit it, so that the watchdog finds it."""


class LeasedWork(Protocol):
    """Work on rows under leases. All methods raise Refusal DATABASE_AWAY where the database is away.

    Leases that ran out while the database was away were nobody's fault: an implementation that takes over leases that
    ran out is wired with `Outage.settled`, and where `settled(lease)` is false `take` leaves those alone and takes only
    what nobody holds. Each holder gives its own back meanwhile, so `give_back` takes a lease that ran out, too, as long
    as nobody else took it.
    """

    @property
    def name(self) -> str:
        """Its name in log lines."""

    @property
    def every(self) -> float:
        """Seconds between two looks where no notification comes."""

    @property
    def lease(self) -> float:
        """Seconds that a lease lasts that is not renewed; it is renewed three times in that time."""

    @property
    def most(self) -> int:
        """How many rows one process works on at once."""

    @property
    def wakes(self) -> frozenset[str]:
        """Payloads of `jobs_work` upon which to look at once."""

    async def take(self, holder: UUID, most: int, running: Mapping[str, int]) -> Taken:
        """Lease at most `most` rows that want work and that nobody has. `running`: rows held here, by tenant."""

    async def renew(self, holder: UUID, held: Mapping[UUID, int]) -> Renewed:
        """Extend the leases (fence by row) that are still this process's, in one statement."""

    async def cancelled(self, holder: UUID, held: Mapping[UUID, int]) -> Collection[UUID]:
        """Those rows that a person asked to cancel; asked when `cancel` is notified."""

    async def carry(self, lease: RowLease) -> None:
        """Work on one row until nothing is left to do; sets `lease.over` when it settled the lease itself.

        The machinery cancels its task after setting `lease.why`; what it was then to write, it writes before it ends.
        """

    async def give_back(self, lease: RowLease, database: Database | None = None) -> bool:
        """Give a lease back where `carry` ended and it is not over, its attempt uncounted; whether it was still ours.

        `database`: None = its own; the watchdog hands one of its thread's, while the process's loop does not turn.
        """

    async def overrun(self, database: Database, lease: RowLease, sentence: str) -> None:
        """Record that the attempt ran over its bound and end its lease; called by the watchdog in a loop and with a
        database of its own, while the process's own loop does not turn."""
