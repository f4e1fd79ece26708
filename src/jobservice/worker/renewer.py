"""Owns renewing every lease of the process: one statement a kind of work, three times in a lease, never waited for longer
than the lease allows. Whose lease is lost, or whose row a person cancels, is cancelled at once. Takes nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobservice.worker.duties import WHENEVER, Ends
from jobservice.worker.held import Held
from jobservice.worker.leased_work import Renewed
from jobservice.worker.outage import Outage

_log = structlog.get_logger("jobservice.worker")

TIMES = 3
"""How often a lease is renewed in its time."""
PATIENCE = 1 / 5
"""Which part of a lease the answer may take, and after which it is asked again where there was none."""
LOOK_SECONDS = 5.0
"""How often it is asked what persons cancelled where no notification says so."""

_Answer = TypeVar("_Answer")


@dataclass(slots=True, eq=False)
class _Kind:
    """One kind of work. `due`: when its leases are to be renewed next, on the monotonic clock; None while it has none.
    `asked`: when something was asked last. `woken`: it is to be asked what persons cancelled. `asking`: the question that is
    not answered yet."""

    held: Held
    due: float | None = None
    asked: float = 0.0
    woken: bool = False
    asking: asyncio.Task[None] | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Renewer:
    """The duty for all kinds of leased work of this process. It works on while the database is away: what could not be
    renewed in time is lost."""

    helds: Sequence[Held]
    holder: UUID
    outage: Outage
    name: str = "renewer"
    wakes: frozenset[str] = frozenset({"cancel"})
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    _kinds: tuple[_Kind, ...] = ()
    _late: set[asyncio.Future[Any]] = field(default_factory=set)
    """Questions that were given up, and whose answers nobody waits for."""
    ends: ClassVar[Ends] = Ends.LAST
    waits_for_database: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._kinds = tuple(_Kind(held) for held in self.helds)
        for held in self.helds:
            held.changed.append(self._changed)
        self.outage.ended.append(self._at_once)

    async def step(self, *, woken: bool) -> float:
        """Lose what is overdue, ask what is to be asked; seconds until something is due. Waits for no answer: one kind of
        work that is slow does not hold the others up, nor the deadlines."""
        return min((self._of(kind, woken=woken) for kind in self._kinds), default=WHENEVER)

    def _of(self, kind: _Kind, *, woken: bool) -> float:
        held = kind.held
        held.lose_overdue()
        if not held.kept():
            kind.due = None
            return WHENEVER
        now = time.monotonic()
        if kind.due is None:
            kind.due, kind.asked = now + held.work.lease / TIMES, now
        kind.woken |= woken
        if kind.asking is None and not self.outage.away:
            if now >= kind.due:
                kind.woken, kind.asked = False, now  # a renewal tells, too, what was cancelled
                kind.asking = asyncio.create_task(self._ask(kind, self._renew(held)))
            elif kind.woken or now - kind.asked >= LOOK_SECONDS:
                kind.woken, kind.asked = False, now
                kind.asking = asyncio.create_task(self._ask(kind, self._cancelled(held)))
        return self._next(kind)

    async def _ask(self, kind: _Kind, question: Awaitable[float | None]) -> None:
        """One question, and when to renew next where it says so."""
        try:
            again = await question
            if again is not None:
                kind.due = kind.asked + again
        finally:
            kind.asking = None
            if kind.woken:  # meanwhile: what was just told may be older
                self.bell.set()

    def _next(self, kind: _Kind) -> float:
        """Seconds until a renewal, a look or a deadline."""
        instants = [lease.deadline for lease in kind.held.kept()]
        if kind.asking is not None:
            instants.append(kind.asked + kind.held.work.lease * PATIENCE)
        elif kind.due is not None and not self.outage.away:
            instants += [kind.due, kind.asked + LOOK_SECONDS]
        return max(0.01, min(instants) - time.monotonic())

    async def _renew(self, held: Held) -> float:
        """Renew all leases of one kind; seconds until it is to be done again."""
        asked, leases = time.monotonic(), held.kept()
        try:
            renewed = await self._answer(
                held, held.work.renew(self.holder, {lease.grant.id: lease.grant.fence for lease in leases})
            )
        except Refusal as away:
            self._not_renewed(held, away)
            return held.work.lease * PATIENCE
        except Exception as error:  # the others are renewed all the same; nothing is hidden
            _log.error("leases-not-renewed", work=held.work.name, exc_info=error)
            return held.work.lease * PATIENCE
        if renewed is None:
            return held.work.lease * PATIENCE
        self._heed(held, renewed, asked, {lease.grant.id for lease in leases})
        return held.work.lease / TIMES

    def _heed(self, held: Held, renewed: Renewed, asked: float, rows: set[UUID]) -> None:
        for row in rows:
            lease = held.leases.get(row)
            if lease is None:
                continue
            if row in renewed.kept:
                lease.deadline = asked + held.work.lease
            else:
                held.lose(lease, "It is not this Worker's any more.")
        held.cancel_asked(renewed.cancelled)

    async def _cancelled(self, held: Held) -> None:
        """Cancel what persons cancelled."""
        leases = {lease.grant.id: lease.grant.fence for lease in held.kept()}
        try:
            rows = await self._answer(held, held.work.cancelled(self.holder, leases))
        except Refusal as away:
            self._not_renewed(held, away)
            return
        held.cancel_asked(rows or ())

    async def _answer(self, held: Held, question: Awaitable[_Answer]) -> _Answer | None:
        """The answer; None where it does not come in time: it is not waited for any longer."""
        asking = asyncio.ensure_future(question)
        seconds = held.work.lease * PATIENCE
        done, _ = await asyncio.wait({asking}, timeout=seconds)
        if done:
            return asking.result()
        asking.cancel()
        self._late.add(asking)
        asking.add_done_callback(self._forget)
        _log.warning("leases-not-renewed", work=held.work.name, reason=f"no answer within {seconds:g} s")
        return None

    def _forget(self, asking: asyncio.Future[Any]) -> None:
        self._late.discard(asking)
        if not asking.cancelled():
            asking.exception()

    def _not_renewed(self, held: Held, away: Refusal) -> None:
        if away.kind is ErrorCode.DATABASE_AWAY:
            self.outage.begin(away.detail)
            return
        _log.warning("leases-not-renewed", work=held.work.name, reason=away.detail)

    def _changed(self) -> None:
        """The first lease of a kind came: its first renewal has to be planned."""
        if any(kind.due is None and len(kind.held) for kind in self._kinds):
            self.bell.set()

    def _at_once(self) -> None:
        """The database is there again: whatever is still ours is renewed before anything else."""
        for kind in self._kinds:
            if kind.due is not None:
                kind.due = 0.0
        self.bell.set()
