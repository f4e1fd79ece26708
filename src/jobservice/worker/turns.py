"""Owns one turn of one item: begin it where everything is as it was confirmed, act, write how it ended (MONEY.md 3, 18).

A use case with an outside half takes three steps: *sent* is committed with the outward key, then comes the call, then
the outcome is committed. Whatever is written carries the plan's lease and the turn's own fence; where that writes
nothing, the answer is kept as evidence and nothing else changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

import psycopg
import structlog

from jobcontract.errors import Refusal
from jobcontract.money import Money
from jobcontract.states import OutcomeKind, Turn
from jobservice.application import NewPayment, Outcome, OutwardOrder, UseCaseFunction, WorkItem, failed
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.items import standing_state
from jobservice.rules.turns import Ending, Frozen, NotBegun, Why, ending, not_begun, outward_key
from jobservice.store import hints
from jobservice.store import turns as store
from jobservice.store.database import Database, Transaction
from jobservice.store.turns import Ended, LockedTurn, PlanLease
from jobservice.worker.leased_work import RowLease
from jobservice.worker.money_call import MoneyCall
from jobservice.worker.outward_calls import OutwardCalls

_log = structlog.get_logger("jobservice.worker")

WRITE_PAUSES = (0.2, 1.0, 2.0, 5.0, 5.0, 10.0)
"""Seconds between attempts to write the outcome of a call while the database is away."""


@dataclass(slots=True)
class Gate:
    """Lets turns of one plan in to compare and write, and keeps them out for a moment when somebody else wants its row.

    Turns share the lock on their plan's row: without a gap between them, a person who pauses the plan would wait for as
    long as it lasts.
    """

    _inside: int = 0
    _open: asyncio.Event = field(default_factory=asyncio.Event)
    _empty: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._open.set()
        self._empty.set()

    @asynccontextmanager
    async def inside(self) -> AsyncIterator[None]:
        """While a turn compares and writes."""
        while not self._open.is_set():
            await self._open.wait()
        self._inside += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._inside -= 1
            if self._inside == 0:
                self._empty.set()

    @asynccontextmanager
    async def closed(self) -> AsyncIterator[None]:
        """While none is inside."""
        self._open.clear()
        try:
            await self._empty.wait()
            yield
        finally:
            self._open.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """What a turn left behind: how it ended, or why it did not begin; both None where the outcome could not be written."""

    ending: Ending | None = None
    not_begun: NotBegun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """What every turn of one plan needs."""

    database: Database
    lease: RowLease
    tenant: str
    plan: str
    owner: str
    command: BulkCommand
    function: UseCaseFunction
    calls: OutwardCalls | None
    """None: the use case has no outside half."""
    attempts: int
    """Most attempts at one item."""
    act_seconds: float
    gate: Gate = field(default_factory=Gate)

    @property
    def key(self) -> PlanLease:
        """What every statement carries."""
        return PlanLease(plan=self.plan, holder=self.lease.holder, fence=self.lease.grant.fence)

    async def take(self, row: Frozen) -> TurnEnded:
        """The whole turn of one item. Refusal where the database is away before anything was begun."""
        async with self.gate.inside():
            begun = await self._begin(row)
        if isinstance(begun, TurnEnded):
            return begun
        if self.calls is None or not self.lease.live:
            # Nothing was called, and never will be under this lease: the next one asks, and a person decides.
            return TurnEnded()
        order, attempts = begun
        return await self._write_call(row, await self.calls.send(order), attempts)

    async def _begin(self, row: Frozen) -> TurnEnded | tuple[OutwardOrder, int]:
        """The first transaction: compare, run the plain function, and either end the turn or write that it is sent."""
        async with self.database.transaction(self.tenant, planned_once=True) as transaction:
            locked = await store.lock(transaction, self.key, row.item)
            if locked is None:
                sentence = f"Row {row.number} of the plan is gone."
                return TurnEnded(not_begun=NotBegun(why=Why.FORGED, sentence=sentence))
            largest = self.command.limits.item.get(row.payment.currency)
            attempt = await store.start(transaction, self.key, row, largest=largest)
            if attempt is None:
                return await self._not_begun(transaction, row, locked, largest)
            item = _work_item(row, locked)
            outcome = await self._run(transaction, item, locked.now)
            if outcome.kind is OutcomeKind.DONE and self.calls is not None:
                if not await store.send(transaction, self.key, row):
                    raise RuntimeError(f"the hold on item {row.item} went away while its row was locked")
                return OutwardOrder(key=row.outward_key, tenant=self.tenant, item=item), attempt
            told = ending(outcome, attempts=attempt, most=self.attempts)
            fence = self.lease.grant.fence
            if not await self.write(transaction, row.item, told, was=Turn.RUNNING, turn_fence=fence):
                raise RuntimeError(f"the turn of item {row.item} went away while its row was locked")
        return TurnEnded(ending=told)

    async def _not_begun(
        self, transaction: Transaction, row: Frozen, locked: LockedTurn, largest: int | None
    ) -> TurnEnded:
        found = await store.found(transaction, self.key, locked)
        if found is None:
            return TurnEnded(not_begun=NotBegun(why=Why.LOST, sentence="The plan is gone."))
        why = not_begun(row, found, largest=largest)
        if why.why is not Why.REFUSED:
            return TurnEnded(not_begun=why)
        told = Ending(turn=Turn.REFUSED, sentence=why.sentence)
        if not await self.write(transaction, row.item, told, was=locked.turn, turn_fence=locked.turn_fence):
            return TurnEnded(not_begun=NotBegun(why=Why.LOST, sentence="Another Worker applies the plan by now."))
        return TurnEnded(ending=told, not_begun=why)

    async def _run(self, transaction: Transaction, item: WorkItem, now: datetime) -> Outcome:
        """The plain function of the use case, under a savepoint that stays only where it is done."""
        call = MoneyCall(tenant=self.tenant, person=self.owner, now=now)
        outcome = failed("")
        try:
            async with transaction.connection.transaction() as savepoint:
                async with asyncio.timeout(self.act_seconds):
                    outcome = await self.function(call, item)
                if not isinstance(outcome, Outcome):
                    raise TypeError(f"a use case returns an Outcome, not {type(outcome).__name__}")
                if outcome.kind is not OutcomeKind.DONE:
                    raise psycopg.Rollback(savepoint)
        except psycopg.OperationalError:
            raise
        except TimeoutError:
            return failed(f"It took longer than {self.act_seconds:g} s and was stopped; nothing went out.")
        except Exception:  # the application's code is not ours: whatever it raises is the outcome, never a traceback
            _log.exception("use-case-failed", use_case=self.command.use_case, item=item.id)
            return failed("It went wrong in the application; nothing went out.")
        return outcome

    async def _write_call(self, row: Frozen, outcome: Outcome, attempts: int) -> TurnEnded:
        """The second transaction, tried again while the database is away: what is not written is asked for later."""
        for pause in (*WRITE_PAUSES, None):
            try:
                return await self._write_outcome(row, outcome, attempts)
            except Refusal as away:
                _log.warning("outcome-not-written", item=row.item, reason=away.detail)
            if pause is not None:
                await asyncio.sleep(pause)
        return TurnEnded()

    async def _write_outcome(self, row: Frozen, outcome: Outcome, attempts: int) -> TurnEnded:
        told = ending(outcome, attempts=attempts, most=self.attempts)
        fence = self.lease.grant.fence
        async with self.database.transaction(self.tenant, planned_once=True) as transaction:
            await store.lock_sent(transaction, self.plan, row.item)
            if await self.write(transaction, row.item, told, was=Turn.RUNNING, turn_fence=fence):
                return TurnEnded(ending=told)
            await store.add_evidence(transaction, self.key, row.item, outcome, source="late-answer")
        _log.warning("late-answer", plan=self.plan, item=row.item, fence=fence, outcome=outcome.kind.value)
        return TurnEnded(not_begun=NotBegun(why=Why.LOST, sentence="Another Worker applies the plan by now."))

    async def write(
        self, transaction: Transaction, item: str, told: Ending, *, was: Turn, turn_fence: int | None
    ) -> bool:
        """Write how a locked turn ended; False where the lease or the turn is not as it was.

        A payout that went out, and whose item is not as it was held, cannot be called released: it is uncertain.
        """
        ended = Ended(
            plan=self.plan,
            item=item,
            was=was,
            turn_fence=turn_fence,
            action=self.command.use_case,
            outward_key=outward_key(item),
            lease=self.key,
        )
        written = await store.end(transaction, ended, told)
        if not written and told.turn is Turn.DONE:
            sentence = f"It went out, and the item is not as the plan held it. {told.sentence}"
            told = Ending(turn=Turn.UNCERTAIN, sentence=sentence, reference=told.reference)
            written = await store.end(transaction, ended, told)
        if written and told.turn is Turn.UNCERTAIN:
            await store.ask(transaction, self.plan, item, queue=self.command.uncertain)
            moment = int(transaction.began_at.timestamp() * 1_000_000)
            await hints.add_items(transaction, queue=self.command.uncertain, version=moment)
            _log.warning("payout-uncertain", plan=self.plan, item=item)
        return written


def _work_item(row: Frozen, locked: LockedTurn) -> WorkItem:
    payment = row.payment
    return WorkItem(
        id=row.item,
        queue=locked.queue,
        key=row.key,
        title=row.content.title,
        created=locked.created,
        state=standing_state(locked.version.state, locked.version.set_aside_until, locked.now),
        payment=NewPayment(
            money=Money(minor=payment.minor, currency=payment.currency),
            payee_id=payment.payee_id,
            payee_name=payment.payee_name,
            account=payment.account,
        ),
        inputs=row.content.inputs,
        money_version=row.money_version,
    )
