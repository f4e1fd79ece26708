"""Owns leased work in memory, as tests of the machinery steer it: what may be taken, what becomes of a renewal, and what
was asked of it in which order. Its rows do what a test says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store.database import Database
from jobservice.worker.leased_work import Grant, Renewed, RowLease, Taken, Why

Carry = Callable[[RowLease], Awaitable[None]]


def away() -> Refusal:
    """What the database's absence looks like."""
    return Refusal(ErrorCode.DATABASE_AWAY, "The database cannot be reached just now.")


async def forever(lease: RowLease) -> None:
    """Waits until it is cancelled."""
    await asyncio.Event().wait()


async def at_once(lease: RowLease) -> None:
    """Settles its lease itself, at once."""
    lease.over = True


async def deaf(lease: RowLease) -> None:
    """Swallows its cancellations, for five seconds."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue


@dataclass(slots=True, kw_only=True, eq=False)
class FakeWork:
    """`waiting`: rows to be taken, with when they are due on the monotonic clock. `database` None: it is in memory, else
    each question is a transaction too, and fails as that does."""

    name: str = "fake"
    every: float = 30.0
    lease: float = 30.0
    most: int = 4
    wakes: frozenset[str] = frozenset({"fake"})
    carry_as: Carry = forever
    database: Database | None = None
    waiting: dict[UUID, float] = field(default_factory=dict)
    taken: list[UUID] = field(default_factory=list)
    asked: list[tuple[int, Mapping[str, int]]] = field(default_factory=list)
    began: dict[UUID, float] = field(default_factory=dict)
    renewals: list[Mapping[UUID, int]] = field(default_factory=list)
    lost: set[UUID] = field(default_factory=set)
    to_cancel: set[UUID] = field(default_factory=set)
    cancelled_for: dict[UUID, Why | None] = field(default_factory=dict)
    given_back: list[UUID] = field(default_factory=list)
    overran: dict[UUID, str] = field(default_factory=dict)
    holders: set[UUID] = field(default_factory=set)
    is_away: bool = False
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    """Cleared: a renewal is never answered."""

    def __post_init__(self) -> None:
        self.answers.set()

    def add(self, count: int = 1, *, due_in: float = 0.0) -> list[UUID]:
        """Rows that want work."""
        rows = [uuid4() for _ in range(count)]
        self.waiting |= dict.fromkeys(rows, time.monotonic() + due_in)
        return rows

    async def take(self, holder: UUID, most: int, running: Mapping[str, int]) -> Taken:
        """Those that are due, and how long until the next."""
        await self._look()
        self.holders.add(holder)
        self.asked.append((most, dict(running)))
        now = time.monotonic()
        rows = [row for row, due in self.waiting.items() if due <= now][:most]
        for row in rows:
            del self.waiting[row]
        self.taken += rows
        due = min(self.waiting.values(), default=None)
        grants = tuple(Grant(id=row, tenant="acme", fence=1) for row in rows)
        return Taken(grants=grants, next_in=None if due is None else due - now)

    async def renew(self, holder: UUID, held: Mapping[UUID, int]) -> Renewed:
        """All but those that are lost."""
        await self._look()
        self.holders.add(holder)
        self.renewals.append(dict(held))
        await self.answers.wait()
        return Renewed(kept=held.keys() - self.lost, cancelled=held.keys() & self.to_cancel)

    async def cancelled(self, holder: UUID, held: Mapping[UUID, int]) -> Collection[UUID]:
        """Those that a test cancelled."""
        await self._look()
        self.holders.add(holder)
        return held.keys() & self.to_cancel

    async def carry(self, lease: RowLease) -> None:
        """As the test says."""
        self.began[lease.grant.id] = time.monotonic()
        try:
            await self.carry_as(lease)
        except asyncio.CancelledError:
            self.cancelled_for[lease.grant.id] = lease.why
            raise

    async def give_back(self, lease: RowLease, database: Database | None = None) -> bool:
        """Note it."""
        await self._look(database)
        self.given_back.append(lease.grant.id)
        return lease.grant.id not in self.lost

    async def overrun(self, database: Database, lease: RowLease, sentence: str) -> None:
        """Note it."""
        await self._look(database)
        self.overran[lease.grant.id] = sentence

    async def _look(self, database: Database | None = None) -> None:
        if self.is_away:
            raise away()
        if (there := database or self.database) is not None:
            async with there.transaction(None) as transaction:
                await transaction.connection.execute("select 1")
