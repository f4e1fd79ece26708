"""Owns what the use case of a job may do for one item, and what becomes of what it returned or raised.

Effects go into the item's transaction, behind a savepoint that is made with the first of them and stays only where the
use case is done. Nothing that it raises ends the Worker, and no text of an exception is shown to people.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime

import psycopg
import structlog
from psycopg import AsyncTransaction
from psycopg.pq import TransactionStatus

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import storable
from jobcontract.states import OutcomeKind, Role
from jobservice.application import JobItem, NewWorkItem, Outcome, UseCaseFunction, failed
from jobservice.records import RecordSet
from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.content import push
from jobservice.usecases.inbox import draft_of
from jobservice.usecases.scoring import Scorer
from jobservice.usecases.service import find_queue
from jobservice.worker.run_ending import RunLost

_log = structlog.get_logger("jobservice.worker")

SENTENCE_MAX = 4_000
"""Most characters that are kept of an outcome's sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calling:
    """What every call of one run has alike."""

    tenant: str
    schedule: str
    scheduled_at: datetime
    use_case: str
    """Its id, for the log."""
    title: str
    """Of the use case, for sentences."""
    records: RecordSet
    scorer: Scorer

    def scope(self, key: str) -> str:
        """The idempotency scope of an item of this run: the occurrence's identity and the item's key."""
        return f"{self.tenant} {self.schedule}@{self.scheduled_at:%Y-%m-%dT%H:%M:%S.%fZ} {key}"


class ScopeBusy(Exception):
    """Another transaction is working on the same item: a Worker that was frozen in the middle of it."""


@dataclass(slots=True, kw_only=True, eq=False)
class ItemCall:
    """`jobservice.application.JobCall` of one item. Use cases' functions see the protocol alone."""

    calling: Calling
    transaction: Transaction | None
    """None: it is opened with the first effect."""
    key: str
    attempt: int
    now: datetime
    opens: Callable[[], Awaitable[Transaction]] | None = None
    """Opens the item's transaction, where there is none yet."""
    before_effects: Callable[[Transaction, str], Awaitable[bool]] | None = None
    """Takes the item's scope before its first effect, where its row is not locked; False: another has it."""
    shares: bool = False
    """Whether the transaction is of many items, and undone whole where one is not done: then it needs no savepoint."""
    _over: bool = False
    _busy: bool = False
    _savepoint: AbstractAsyncContextManager[AsyncTransaction] | None = None
    _one_effect: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def tenant(self) -> str:
        """The one tenant of this call."""
        return self.calling.tenant

    @property
    def schedule(self) -> str:
        """Id of the schedule."""
        return self.calling.schedule

    @property
    def scheduled_at(self) -> datetime:
        """The instant that the run is for, UTC."""
        return self.calling.scheduled_at

    @property
    def scope(self) -> str:
        """The idempotency scope, equal in every attempt and replay."""
        return self.calling.scope(self.key)

    async def push(self, queue: str, item: NewWorkItem) -> str:
        """Push a work item without money; its id, or that of the item that has its business key already.

        Refusal INVALID_REQUEST (money, or content that is not right), NOT_FOUND (queue), BODY_TOO_LARGE.
        """
        if item.payment is not None:
            raise Refusal(
                ErrorCode.INVALID_REQUEST,
                f"{item.key[:80]!r} carries money, and a run pushes none: money moves through a plan that a person confirmed.",
            )
        found = find_queue(self.calling.records.queues, queue)
        async with self._one_effect:
            transaction = await self._begin_effects()
            actor = Actor(person=f"schedule:{self.schedule}", tenant=self.tenant, role=Role.PUSHER)
            try:
                return await push(transaction, self.calling.records, self.calling.scorer, actor, found, draft_of(item))
            except Refusal as refusal:
                taken = refusal.extra.get("item")
                if refusal.kind is not ErrorCode.KEY_TAKEN or not isinstance(taken, str):
                    raise
                return taken

    async def wait(self, seconds: float) -> None:
        """Wait; cancelling and the duration bound end it at once."""
        await asyncio.sleep(max(seconds, 0.0))

    async def _begin_effects(self) -> Transaction:
        if self._over:
            raise RuntimeError("the use case returned; it has no effects any more")
        transaction = await self._opened()
        if self._savepoint is not None or self.shares:
            return transaction
        if self.before_effects is not None and not await self.before_effects(transaction, self.scope):
            self._busy = True
            raise ScopeBusy(self.scope)
        savepoint = transaction.connection.transaction()
        await savepoint.__aenter__()
        self._savepoint = savepoint
        return transaction

    async def _opened(self) -> Transaction:
        if self.transaction is None:
            assert self.opens is not None  # noqa: S101  # one of both is given
            self.transaction = await self.opens()
        return self.transaction

    async def keep_or_undo(self, *, keep: bool) -> bool:
        """End the effects: they stay with the transaction, or are undone; False where there was nothing to keep them in.

        Nothing more comes of the call, whatever the function left running: an effect that is under way comes to its end
        first, for its connection is another's soon.
        """
        self._over = True
        async with self._one_effect:
            return await self._keep_or_undo(keep=keep)

    async def _keep_or_undo(self, *, keep: bool) -> bool:
        savepoint, self._savepoint = self._savepoint, None
        if keep and self._busy:  # whatever the function made of that exception
            raise ScopeBusy(self.scope)
        if self.transaction is None:
            return True
        sound = self.transaction.connection.info.transaction_status is TransactionStatus.INTRANS
        if savepoint is None:
            return sound or not keep
        if keep and sound:
            await savepoint.__aexit__(None, None, None)
            return True
        undo = psycopg.Rollback()
        await savepoint.__aexit__(type(undo), undo, None)
        return not keep


async def run_use_case(function: UseCaseFunction, call: ItemCall, item: JobItem) -> Outcome:
    """Run the function for one item and keep or undo its effects; its outcome, safe to keep and show.

    Raises what is not the function's: a cancellation of the run, the loss of the connection or the lease, ScopeBusy.
    """
    try:
        outcome = await _outcome(function, call, item)
        if cancelled():
            raise asyncio.CancelledError
    except BaseException:  # whatever it is, the transaction can end only outside of its savepoint
        with suppress(psycopg.Error):
            await call.keep_or_undo(keep=False)
        raise
    kept = await call.keep_or_undo(keep=outcome.kind is OutcomeKind.DONE)
    if not kept:
        return failed(
            f"{call.calling.title} went on after the database had refused what it did; nothing of it was done."
        )
    return outcome


async def _outcome(function: UseCaseFunction, call: ItemCall, item: JobItem) -> Outcome:
    try:
        outcome: object = await function(call, item)
    except asyncio.CancelledError:
        if cancelled():
            raise
        return _broken(call, item, "cancelled itself")
    except (ScopeBusy, RunLost, psycopg.OperationalError):
        raise
    except Refusal as refusal:
        if refusal.kind in (ErrorCode.DATABASE_AWAY, ErrorCode.TIMED_OUT):
            raise
        return failed(_safe(refusal.detail))
    except BaseException:  # whatever the application raises is the item's outcome: SystemExit ends no Worker
        return _broken(call, item, "went wrong")
    if not isinstance(outcome, Outcome):
        return _broken(call, item, f"returned a {type(outcome).__name__[:80]} and no outcome", trace=False)
    if (wrong := malformed(outcome)) is not None:
        return _broken(call, item, f"returned an outcome {wrong}", trace=False)
    if outcome.sentence == (sentence := _safe(outcome.sentence)):
        return outcome
    return Outcome(
        kind=outcome.kind, sentence=sentence, after_seconds=outcome.after_seconds, reference=outcome.reference
    )


def cancelled() -> bool:
    """Whether somebody asked the present task to end: a function that swallowed that is not done."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _broken(call: ItemCall, item: JobItem, what: str, *, trace: bool = True) -> Outcome:
    """The outcome of a function that went wrong."""
    reference = log_broken(call.calling, what, item=item.key, trace=trace)
    return failed(f"{call.calling.title} {what}; nothing of it was done. The Worker's log says more: {reference}.")


def log_broken(calling: Calling, what: str, *, item: str | None, trace: bool) -> str:
    """Write what the application's code did wrong into the log; the reference that people get in its place."""
    reference = secrets.token_hex(4)
    _log.error(
        "job-failed",
        schedule=calling.schedule,
        tenant=calling.tenant,
        use_case=calling.use_case,
        item=item,
        what=what,
        reference=reference,
        exc_info=trace,
    )
    return reference


def malformed(outcome: Outcome) -> str | None:
    """What an outcome has that its types do not promise; None: nothing. What nobody knows of stays that, whatever its
    sentence is: no machine is to try it again."""
    kind: object = outcome.kind
    sentence: object = outcome.sentence
    after: object = outcome.after_seconds
    if not isinstance(kind, OutcomeKind):
        return "of no kind"
    if kind is OutcomeKind.UNCERTAIN:
        return None
    if not isinstance(sentence, str):
        return f"whose sentence is a {type(sentence).__name__[:80]} and no text"
    if after is not None and not isinstance(after, int | float):
        return f"whose seconds are a {type(after).__name__[:80]} and no number"
    return None


def _safe(sentence: object) -> str:
    if isinstance(sentence, str) and storable(kept := sentence[:SENTENCE_MAX]):
        return kept
    return "The application's sentence cannot be shown."
