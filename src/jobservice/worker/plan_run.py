"""Owns applying one plan under its lease: believe it, ask about what an earlier holder left, give each item its turn,
close its account (MONEY.md 3, 4, 18 to 20). One turn: `turns.py`.

Nothing is asked of a person after a crash: what is written says how far the plan is, and whoever takes it goes on.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import structlog

from jobcontract.errors import Refusal
from jobcontract.states import PlanState, Turn
from jobservice.application import Outcome, uncertain
from jobservice.rules.turns import Ending, Frozen, Why, ending, seconds_until
from jobservice.store import confirmed_turns, hints
from jobservice.store import leases as store
from jobservice.store import turns as turn_store
from jobservice.store.leases import PlanHead
from jobservice.store.turns import PlannedRow
from jobservice.worker.turns import TurnEnded, Turns

_log = structlog.get_logger("jobservice.worker")

AGAIN_SECONDS = 2.0
"""Until an item is tried again whose turn broke in this process, or could not reach the database."""
BROKEN_MOST = 20
"""So many turns of one run may break in a row before the plan is paused."""


_ENDED = frozenset({Turn.DONE, Turn.REFUSED, Turn.FAILED, Turn.UNCERTAIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """How a plan is applied: turns at once; seconds between two hints of how far it is, and between two looks while
    nothing can begin."""

    at_once: int = 4
    tell: float = 0.5
    look: float = 0.5


@dataclass(slots=True, kw_only=True)
class PlanRun:
    """One stretch of one plan under one lease. `rows` are those that were believed, as they were read."""

    turns: Turns
    head: PlanHead
    rows: Sequence[PlannedRow]
    believed: bool
    """Whether the plan is what was confirmed; else nothing of it is released."""
    pacing: Pacing = field(default_factory=Pacing)
    trouble: str | None = None
    """Why the plan has to be paused, found on the way."""
    ended: int = field(default=0, init=False)
    """How many items had their turn."""
    _ready: deque[Frozen] = field(default_factory=deque)
    _later: list[tuple[float, int, Frozen]] = field(default_factory=list)
    _order: count[int] = field(default_factory=count)
    _waiting: set[str] = field(default_factory=set)
    """Items that wait as their own turns said: those that a schedule may bring forward."""
    _halted: bool = False
    _broken: int = 0
    _news: int = 0

    def __post_init__(self) -> None:
        self.ended = sum(row.turn in _ENDED for row in self.rows)

    async def recover(self) -> int:
        """Ask about every item that an earlier holder began and did not end; how many there were."""
        left = deque(row for row in self.rows if row.turn is Turn.RUNNING and row.turn_fence != self._fence)
        number = len(left)

        async def slot() -> None:
            while left and self.turns.lease.live:
                await self._settle(left.popleft())

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.pacing.at_once, number)):
                group.create_task(slot())
        return number

    async def apply(self) -> None:
        """Give every item its turn that had none, until all had, or nothing may begin any more."""
        for row in self.rows:
            if row.turn is Turn.NOT_STARTED:
                self._ready.append(row.frozen)
            elif row.turn is Turn.WAITING:
                self._waiting.add(row.frozen.item)
                self._wait_for(row.frozen, seconds_until(row.try_at, self.head.now))
        beside = [asyncio.create_task(work) for work in (self._tell_on(), self._look_on())]
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.pacing.at_once):
                    group.create_task(self._slot())
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
        await self.tell()

    async def tell(self) -> None:
        """Raise the plan's version and tell those who watch; by the way its row is free for whoever waits for it."""
        self._news = 0
        async with self.turns.gate.closed(), self.turns.database.transaction(self.turns.tenant) as transaction:
            row = await store.tell(transaction, self.turns.key)
            if row is not None:
                await hints.add_plan(transaction, queue=row["queue"], plan=self.head.id, version=row["version"])
                await hints.add_items(transaction, queue=row["queue"], version=row["moment"])

    @property
    def _fence(self) -> int:
        return self.turns.lease.grant.fence

    async def _tell_on(self) -> None:
        while True:
            await asyncio.sleep(self.pacing.tell)
            if self._news:
                try:
                    await self.tell()
                except Refusal as away:
                    _log.warning("progress-not-told", plan=self.head.id, reason=away.detail)

    async def _look_on(self) -> None:
        """Look what of the waiting rows was brought forward (`run_confirmed.py`): it is tried next."""
        while True:
            await asyncio.sleep(self.pacing.look)
            if not self._waiting:
                continue
            try:
                async with self.turns.database.transaction(self.turns.tenant) as transaction:
                    due = await confirmed_turns.due(transaction, self.head.id)
            except Refusal as away:
                _log.warning("plan-not-looked-at", plan=self.head.id, reason=away.detail)
                continue
            self._bring_forward(due & self._waiting)

    def _bring_forward(self, items: frozenset[str]) -> None:
        """Let those be next whose wait is over."""
        now = time.monotonic()
        self._later = [(now if row.item in items else when, number, row) for when, number, row in self._later]
        heapq.heapify(self._later)

    async def _slot(self) -> None:
        """One of several that take the next item, until there is none to take."""
        while self._on:
            row = self._next()
            if row is None:
                if not self._later and not self._ready:
                    return
                await self._pause()
                continue
            await self._turn(row)

    @property
    def _on(self) -> bool:
        return self.turns.lease.working and not self._halted and self.trouble is None

    def _next(self) -> Frozen | None:
        if self._later and self._later[0][0] <= time.monotonic():
            return heapq.heappop(self._later)[2]
        return self._ready.popleft() if self._ready else None

    async def _pause(self) -> None:
        """Wait for the next item that is to be tried again, and look meanwhile whether the plan still goes on."""
        await asyncio.sleep(min(self.pacing.look, max(0.01, self._later[0][0] - time.monotonic())))
        try:
            async with self.turns.database.transaction(self.turns.tenant) as transaction:
                head = await store.head(transaction, self.turns.key)
        except Refusal as away:
            _log.warning("plan-not-looked-at", plan=self.head.id, reason=away.detail)
            return
        if head is None or head.state is not PlanState.APPLYING or head.apply_until <= head.now:
            self._halted = True

    def _wait_for(self, row: Frozen, seconds: float) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._order), row))

    async def _turn(self, row: Frozen) -> None:
        self._waiting.discard(row.item)
        try:
            self._heed(row, await self.turns.take(row))
            self._broken = 0
        except Refusal as away:
            _log.warning("turn-put-off", plan=self.head.id, item=row.item, reason=away.detail)
            self._wait_for(row, AGAIN_SECONDS)
        except Exception:  # one item's trouble is not the others'; nothing is hidden
            _log.exception("turn-broke", plan=self.head.id, item=row.item)
            self._wait_for(row, AGAIN_SECONDS)
            self._broken += 1
            if self._broken >= BROKEN_MOST:
                self.trouble = "The Worker cannot apply it: turns break, as its log says."

    def _heed(self, row: Frozen, ended: TurnEnded) -> None:
        """What a turn means for the rest of the plan."""
        if ended.ending is not None:
            self._news += 1
            if ended.ending.turn is Turn.WAITING:
                self._waiting.add(row.item)
                self._wait_for(row, ended.ending.after_seconds or AGAIN_SECONDS)
            else:
                self.ended += 1
            return
        if ended.not_begun is None or ended.not_begun.why is Why.PASSED:
            return
        if ended.not_begun.why is Why.FORGED:
            self.trouble = ended.not_begun.sentence
        self._halted = True
        _log.info("plan-halted", plan=self.head.id, why=ended.not_begun.why.value, reason=ended.not_begun.sentence)

    async def _settle(self, row: PlannedRow) -> None:
        """Write what became of an item that was sent, or may have been. It is not called again, whatever the answer."""
        outcome = await self._asked(row)
        told: Ending = ending(outcome, attempts=row.attempts, most=self.turns.attempts)
        async with self.turns.database.transaction(self.turns.tenant) as transaction:
            await turn_store.lock_sent(transaction, self.head.id, row.frozen.item)
            item = row.frozen.item
            if await self.turns.write(transaction, item, told, was=Turn.RUNNING, turn_fence=row.turn_fence):
                self._news += 1
                self.ended += told.turn in _ENDED
            else:
                await turn_store.add_evidence(transaction, self.turns.key, item, outcome, source="look-up")

    async def _asked(self, row: PlannedRow) -> Outcome:
        key = row.frozen.outward_key
        why = "the Worker that sent it did not live to hear the answer."
        if not self.believed:
            return uncertain(f"Nobody knows whether it was paid: {why} The plan is not believed.", reference=key)
        if self.turns.calls is None:
            return uncertain(f"Nobody knows whether it was paid: {why} There is nobody to ask.", reference=key)
        return await self.turns.calls.ask(key, why)
