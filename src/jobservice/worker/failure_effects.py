"""Owns the duty that runs what a kind does when a job of it failed: exactly once a job (requirements INV-08, corrected
reconciliation).

An attempt is counted in a transaction of its own, so that one whose Worker is killed counts; what the effect does and the
word that it was done are one transaction, which holds the job's row. What an effect raises is undone, and no text of an
exception is shown to people.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, cast
from uuid import UUID

import psycopg
import structlog
from psycopg.pq import TransactionStatus

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.job_states import FailureEffectState
from jobcontract.states import OutcomeKind, Role
from jobservice.application import Application, NewWorkItem, Outcome, failed, refused
from jobservice.application_jobs import FailureEffect, JobInputs
from jobservice.records import RecordSet
from jobservice.rules.jobs import safe, times
from jobservice.store import failure_effects as store
from jobservice.store import reconciling_jobs
from jobservice.store.database import Database, Transaction
from jobservice.store.failure_effects import DueEffect, TakenEffect
from jobservice.usecases.actor import Actor
from jobservice.usecases.content import push
from jobservice.usecases.inbox import draft_of
from jobservice.usecases.job_submission import SUBMITTER, Submission, Submitter, submit_in
from jobservice.usecases.scoring import Scorer
from jobservice.usecases.service import find_queue
from jobservice.worker.fenced import Lease
from jobservice.worker.job_call import cancelled, malformed

_log = structlog.get_logger("jobservice.worker")

ATTEMPTS_MOST = 10
"""With its pauses, an effect is tried for about forty minutes; then a person has to."""
BOUND_SECONDS = 20.0
"""How long one effect may take: it only writes."""


@dataclass(slots=True, kw_only=True, eq=False)
class EffectCall:
    """`jobservice.application_jobs.FailedJob` of one job. Effects see the protocol alone."""

    transaction: Transaction
    found: DueEffect
    records: RecordSet
    scorer: Scorer
    over: bool = False
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def tenant(self) -> str:
        """The one tenant of this call."""
        return self.found.tenant

    @property
    def job(self) -> str:
        """Id of the job that failed."""
        return self.found.job

    @property
    def kind(self) -> str:
        """Id of its kind."""
        return self.found.kind

    @property
    def subject(self) -> str:
        """What people read of it."""
        return self.found.subject

    @property
    def step(self) -> str | None:
        """Id of the step that failed."""
        return self.found.step

    @property
    def summary(self) -> str:
        """Why it failed, as people read it."""
        return self.found.summary

    @property
    def reference(self) -> str:
        """Of the failure."""
        return self.found.reference

    @property
    def submitter(self) -> Submitter:
        """The job, for what is submitted after it."""
        return Submitter(job=self.found.job, depth=self.found.depth)

    @property
    def inputs(self) -> JobInputs:
        """The job's inputs."""
        return self.found.inputs

    async def push(self, queue: str, item: NewWorkItem) -> str:
        """Push a work item without money; its id, or that of the item that has its business key already.

        Refusal INVALID_REQUEST (money, or content that is not right), NOT_FOUND (queue), BODY_TOO_LARGE.
        """
        if item.payment is not None:
            raise Refusal(
                ErrorCode.INVALID_REQUEST,
                f"{item.key[:80]!r} carries money, and a failure effect pushes none: money moves through a plan that a "
                "person confirmed.",
            )
        found = find_queue(self.records.queues, queue)
        async with self._one_at_a_time:
            self._still_open()
            actor = Actor(person=f"job:{self.kind}", tenant=self.tenant, role=Role.PUSHER)
            try:
                return await push(self.transaction, self.records, self.scorer, actor, found, draft_of(item))
            except Refusal as refusal:
                taken = refusal.extra.get("item")
                if refusal.kind is not ErrorCode.KEY_TAKEN or not isinstance(taken, str):
                    raise
                return taken

    async def submit(self, kind: str, submission_identity: str, inputs: JobInputs) -> str:
        """Submit another job, in the scope of the one that failed; its id. Refusals as `submit_in`."""
        async with self._one_at_a_time:
            self._still_open()
            submission = Submission(
                kind=kind,
                submission_identity=submission_identity,
                inputs=inputs,
                customer=self.found.customer,
                workspace=self.found.workspace,
                submitter=self.submitter,
            )
            return (await submit_in(self.transaction, self.records, submission)).id

    async def close(self) -> None:
        """Nothing more comes of the call, whatever the effect left running."""
        async with self._one_at_a_time:
            self.over = True

    def _still_open(self) -> None:
        if self.over:
            raise RuntimeError("the failure effect returned; it does nothing any more")


@dataclass(slots=True, kw_only=True)
class FailureEffects:
    """The duty with its pace. Pauses are seconds: the first, doubled with each attempt up to the longest."""

    records: RecordSet
    application: Application
    every: float = 5.0
    lease: float = 60.0
    first_pause: float = 5.0
    longest_pause: float = 3_600.0
    name: str = "failure-effects"
    wakes: ClassVar[frozenset[str]] = frozenset({"job-notices"})
    _scorer: Scorer = field(init=False)

    def __post_init__(self) -> None:
        self._scorer = Scorer.of(self.records, self.application)

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether an effect is due."""
        async with database.transaction(None) as transaction:
            return await store.due(transaction)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Run what is due, one by one; how many were done, are to be tried again, were given up."""
        counts: Counter[str] = Counter()
        while not lease.stopping():
            async with lease.transaction() as transaction:
                taken = await store.take(transaction, first_pause=self.first_pause, longest_pause=self.longest_pause)
            if taken is None:
                break
            counts[await self._attempt(lease, taken)] += 1
        return counts

    async def _attempt(self, lease: Lease, taken: TakenEffect) -> str:
        async with lease.transaction(taken.tenant) as transaction:
            found = await store.lock(transaction, taken)
            if found is None:
                return "over"
            outcome = failed("Every attempt was broken off: it took too long, or the Worker died over it.")
            if taken.attempts <= ATTEMPTS_MOST:
                outcome = await self._outcome(transaction, found)
            what = await _keep(transaction, taken, found, outcome)
            await reconciling_jobs.hint(transaction, family=taken.family, job=taken.job)
        if what != "done":
            _log.warning(
                "failure-effect-given-up" if what == "given_up" else "failure-effect-not-done",
                alarm=what == "given_up",
                job=taken.job,
                kind=found.kind,
                tenant=taken.tenant,
                effect=found.effect,
                attempts=taken.attempts,
                reason=outcome.sentence,
            )
        return what

    async def _outcome(self, transaction: Transaction, found: DueEffect) -> Outcome:
        """Run the effect behind a savepoint, which stays only where it is done; its outcome, safe to keep and show."""
        function = self.application.failure_effects.get(found.effect)
        if function is None:
            return failed(f"This Worker has no code for the failure effect {found.effect}.")
        call = EffectCall(transaction=transaction, found=found, records=self.records, scorer=self._scorer)
        async with transaction.connection.transaction() as savepoint:
            outcome = await _called(function, call)
            await call.close()
            if outcome.kind is OutcomeKind.DONE and _aborted(transaction):
                outcome = _broken(found, "went on after the database had refused what it did", trace=False)
            if outcome.kind is not OutcomeKind.DONE:
                raise psycopg.Rollback(savepoint)
        return outcome


async def _called(function: FailureEffect, call: EffectCall) -> Outcome:
    """What the effect returned, or an outcome in place of what it raised; raises what is not its own."""
    found = call.found
    submitter = SUBMITTER.set(call.submitter)
    try:
        async with asyncio.timeout(BOUND_SECONDS):
            returned: object = await function(call)
    except asyncio.CancelledError:
        if cancelled():
            raise
        return _broken(found, "cancelled itself")
    except psycopg.OperationalError:
        raise
    except TimeoutError:
        return failed(f"The failure effect {found.effect} took longer than {BOUND_SECONDS:g} s.")
    except Refusal as refusal:
        if refusal.kind in (ErrorCode.DATABASE_AWAY, ErrorCode.TIMED_OUT):
            raise
        return (refused if refusal.kind is ErrorCode.JOB_TOO_DEEP else failed)(safe(refusal.detail))
    except BaseException:  # whatever the application raises is the effect's outcome: SystemExit ends no Worker
        return _broken(found, "went wrong")
    finally:
        SUBMITTER.reset(submitter)
    if not isinstance(returned, Outcome):
        return _broken(found, "returned no outcome", trace=False)
    wrong, sentence = malformed(returned), cast("object", returned.sentence)
    if wrong is None and not isinstance(sentence, str):  # of an uncertain one, too
        wrong = "whose sentence is no text"
    return returned if wrong is None else _broken(found, f"returned an outcome {wrong}", trace=False)


async def _keep(transaction: Transaction, taken: TakenEffect, found: DueEffect, outcome: Outcome) -> str:
    """Write what became of the attempt."""
    sentence = safe(outcome.sentence)
    if outcome.kind is OutcomeKind.DONE:
        await store.finish(transaction, taken, FailureEffectState.DONE, f"Failure effect done: {sentence}")
        return "done"
    last = outcome.kind is OutcomeKind.REFUSED or taken.attempts >= ATTEMPTS_MOST
    if last:
        await store.finish(
            transaction,
            taken,
            FailureEffectState.FAILED,
            f"Failure effect {found.effect} was tried {times(taken.attempts)} and given up; a person has to do it. {sentence}",
        )
        return "given_up"
    if outcome.kind is OutcomeKind.RETRY and outcome.after_seconds is not None:
        await store.again(transaction, taken, seconds=min(3_600.0, max(0.0, outcome.after_seconds)))  # NaN: at once
    return "again"


def _aborted(transaction: Transaction) -> bool:
    """Whether the database undoes whatever the transaction did: something of it was refused."""
    return transaction.connection.info.transaction_status is not TransactionStatus.INTRANS


def _broken(found: DueEffect, what: str, *, trace: bool = True) -> Outcome:
    """The outcome of an effect that went wrong; its exception goes into the log alone."""
    reference = secrets.token_hex(4)
    _log.error(
        "failure-effect-broken", job=found.job, effect=found.effect, what=what, reference=reference, exc_info=trace
    )
    return failed(
        f"The failure effect {found.effect} {what}; nothing of it was done. The Worker's log says more: {reference}."
    )
