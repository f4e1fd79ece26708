"""Owns what every part of one run shares: its lease, its schedule, its function, and the account of its items so far."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import psycopg

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import OutcomeKind
from jobservice.application import JobItem, Outcome, SelectionFunction, UseCaseFunction
from jobservice.rules.schedules import Schedule
from jobservice.store import occurrence_items as store
from jobservice.store import selecting as selecting_store
from jobservice.store.database import Transaction
from jobservice.store.occurrence_items import ItemEnding, Progress, RunLease, Standing
from jobservice.store.occurrence_leases import TakenOccurrence
from jobservice.worker.job_call import Calling, cancelled, log_broken
from jobservice.worker.leased_work import RowLease
from jobservice.worker.run_ending import Counts, RunLost
from jobservice.worker.run_scope import Scope
from jobservice.worker.selecting import RunSelecting, SelectionUnfit, select

ITSELF = "itself"
"""Key of the one item of a run without a selection."""
_KEPT = {OutcomeKind.DONE: "done", OutcomeKind.REFUSED: "refused", OutcomeKind.UNCERTAIN: "uncertain"}
"""Outcomes that are final at once."""
_IDLE_MARGIN = 10.0
"""Seconds that a transaction may stand idle past the duration bound: by then the run was ended anyway."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """The items of an occurrence so far, over all attempts, and why some are to be tried again."""

    selected: int = 0
    done: int = 0
    refused: int = 0
    failed: int = 0
    uncertain: int = 0
    position: str | None = None
    selected_all: bool = False
    again: int = 0
    """Items that this attempt left for the next."""
    why: str | None = None
    """The sentence of the first of them, or of the first that failed for good."""
    asked: float | None = None
    """Seconds until the next attempt, as use cases asked: the longest of theirs."""
    unasked: bool = False
    """Whether one is to be tried again and did not say when."""
    busy: int = 0
    """Items that another transaction has locked: left for the next attempt, and no fault of this one."""

    @classmethod
    def of(cls, taken: TakenOccurrence, standing: Standing | None) -> Tally:
        """What earlier attempts left; None: there were none."""
        if standing is None:
            return cls(position=taken.position, selected_all=taken.selected_all)
        in_batches = standing.selected - standing.rows
        return cls(
            selected=standing.selected,
            done=standing.done + max(in_batches, 0),
            refused=standing.refused,
            failed=standing.failed,
            uncertain=standing.uncertain,
            position=standing.position,
            selected_all=standing.selected_all,
        )

    @property
    def unfinished(self) -> int:
        """Selected, and without an outcome."""
        return max(self.selected - self.done - self.refused - self.failed - self.uncertain, 0)

    def counts(self) -> Counts:
        """As the occurrence's row keeps them."""
        return Counts(
            done=self.done, refused=self.refused, failed=self.failed + self.uncertain, unfinished=self.unfinished
        )

    def progress(self, position: str | None, *, selected_all: bool) -> Progress:
        """What a write of further items says of the run."""
        counts = self.counts()
        return Progress(
            position=position,
            selected_all=selected_all,
            selected=self.selected,
            done=counts.done,
            refused=counts.refused,
            failed=counts.failed,
            unfinished=counts.unfinished,
        )

    def add(self, ending: ItemEnding) -> None:
        """Count how an attempt at an item ended."""
        if ending.outcome is None:
            self.leave(ending.sentence, ending.after)
            return
        setattr(self, ending.outcome, getattr(self, ending.outcome) + 1)
        if ending.outcome in ("failed", "uncertain") and self.why is None:
            self.why = ending.sentence or None

    def leave_busy(self, sentence: str) -> None:
        """Count an item that another transaction has locked."""
        self.busy += 1
        self.why = self.why or sentence

    def leave(self, sentence: str, after: float | None) -> None:
        """Count an item that is left for the next attempt."""
        self.again += 1
        self.why = self.why or sentence
        if after is None:
            self.unasked = True
        else:
            self.asked = max(after, self.asked or 0.0)


@dataclass(slots=True, kw_only=True, eq=False)
class Run:
    """One attempt at an occurrence."""

    scope: Scope
    lease: RowLease
    taken: TakenOccurrence
    schedule: Schedule
    function: UseCaseFunction
    selection: SelectionFunction | None
    """None: it is its own item."""
    calling: Calling
    tally: Tally = field(default_factory=Tally)
    unwritten: ItemEnding | None = None
    """How the one item of a run ended that did nothing in a transaction: its row comes with the completion."""

    @property
    def key(self) -> RunLease:
        """What every statement carries."""
        return RunLease(occurrence=self.taken.id, holder=self.lease.holder, fence=self.taken.fence)

    @property
    def last_attempt(self) -> bool:
        """Whether nothing is tried again after this attempt."""
        return self.taken.attempts >= self.schedule.attempts

    def within(self, scope: Scope) -> Run:
        """The same run with its transactions in another scope."""
        return replace(self, scope=scope)

    @asynccontextmanager
    async def transaction(
        self, *, planned_once: bool = True, task: asyncio.Task[Any] | None = None
    ) -> AsyncIterator[Transaction]:
        """A transaction of the run in its tenant, as `Scope.transaction`; RunLost where the lease's time is over."""
        self.check_lease()
        idle = self.schedule.bound_seconds + _IDLE_MARGIN
        async with self.scope.transaction(
            self.taken.tenant, planned_once=planned_once, idle_seconds=idle, task=task
        ) as transaction:
            yield transaction

    def check_lease(self) -> None:
        """RunLost where the lease's time is over: nothing more begins."""
        if self.lease.lost or time.monotonic() >= self.lease.deadline:
            raise RunLost(str(self.taken.id))

    async def read_only(self, transaction: Transaction) -> None:
        """Let a transaction that only selects write nothing."""
        await selecting_store.read_only(transaction)

    async def select(self, transaction: Transaction, after: str | None) -> tuple[JobItem, ...]:
        """The next batch of its selection behind the key `after`; SelectionUnfit where it cannot be worked with."""
        assert self.selection is not None  # noqa: S101  # only a run with a selection is asked
        selecting = RunSelecting(
            transaction=transaction,
            definition=self.schedule,
            tenant=self.taken.tenant,
            scheduled_at=self.taken.scheduled_at,
            queues=self.calling.records.queues,
        )
        try:
            return await select(self.selection, selecting, after, self.schedule.batch_size)
        except (SelectionUnfit, psycopg.Error):
            raise
        except Refusal as refusal:
            if refusal.kind in (ErrorCode.DATABASE_AWAY, ErrorCode.TIMED_OUT):
                raise
            raise SelectionUnfit(f"The selection was refused what it asked for: {refusal.detail}") from refusal
        except asyncio.CancelledError:
            if cancelled():
                raise
            raise self._broken_selection() from None
        except BaseException as error:  # whatever the application's code raises ends this attempt, never the Worker
            raise self._broken_selection() from error

    def _broken_selection(self) -> SelectionUnfit:
        reference = log_broken(self.calling, "the selection went wrong", item=None, trace=True)
        return SelectionUnfit(f"The selection went wrong. The Worker's log says more: {reference}.")

    def ending_of(self, outcome: Outcome) -> ItemEnding:
        """What an outcome makes of its item: final, or to be tried again while attempts are left."""
        kept = _KEPT.get(outcome.kind)
        if kept is not None:
            return ItemEnding(outcome=kept, sentence=outcome.sentence)
        if self.last_attempt:
            return ItemEnding(outcome="failed", sentence=outcome.sentence)
        after = None
        if outcome.kind is OutcomeKind.RETRY and outcome.after_seconds is not None:
            after = capped(outcome.after_seconds, self.schedule.backoff.most_seconds)
        return ItemEnding(outcome=None, sentence=outcome.sentence, after=after)

    async def refused(self, what: str) -> RunLost:
        """Keep that `what` was not written because the lease was another's by then; the exception to raise."""
        self.lease.lost = True
        await keep_refused(self.scope, self.taken.tenant, self.lease.holder, {self.taken.id: self.taken.fence}, what)
        return RunLost(str(self.taken.id))


class LateTransaction:
    """A transaction of a run that begins with the first effect and ends with the block: what waits meanwhile, or does
    nothing here, holds no connection. Kept where the block ends well."""

    def __init__(self, run: Run) -> None:
        self.transaction: Transaction | None = None
        self._run = run
        self._task = asyncio.current_task()
        self._stack = AsyncExitStack()
        self._one = asyncio.Lock()
        self._over = False

    async def __aenter__(self) -> LateTransaction:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool | None:
        self._over = True
        return await self._stack.__aexit__(kind, error, trace)

    async def open(self) -> Transaction:
        """It, begun where it is not yet. CancelledError behind the end of the block; as `Run.transaction` else."""
        async with self._one:
            if self.transaction is None:
                opened = await self._stack.enter_async_context(self._run.transaction(task=self._task))
                if self._over:  # what a use case left running came too late with its first effect
                    await self._stack.aclose()
                    raise asyncio.CancelledError
                self.transaction = opened
            return self.transaction


async def keep_refused(scope: Scope, tenant: str, holder: UUID, fences: dict[UUID, int], what: str) -> None:
    """Write into `jobs.refused_completions`, in a transaction of its own: what was refused was rolled back."""
    async with scope.transaction(tenant) as transaction:
        await store.refuse(transaction, holder, fences, what)


def capped(seconds: float, most: float) -> float:
    """What a use case asked for, from now to the most; what is no number means now."""
    return min(max(seconds, 0.0), most) if seconds == seconds else 0.0
