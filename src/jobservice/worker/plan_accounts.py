"""Owns the account of a confirmed plan as a job (`service.plan-apply`), and the job that a plan submits when it has ended.

The plan decides everything: its account follows it, coalesced to one write a second, beside the turns and never between
them. Nothing here keeps a plan from going on or from ending: what cannot be written is logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import psycopg
import structlog

from jobcontract.errors import Refusal
from jobcontract.job_states import Carrier, JobEventKind, JobStatus, StepStatus
from jobcontract.states import PlanState, Turn
from jobservice.records import RecordSet
from jobservice.rules.job_kinds import PLAN_APPLY, SERVICE_FAMILY
from jobservice.rules.turns import Count
from jobservice.store import hints, plan_jobs
from jobservice.store import jobs as store
from jobservice.store.database import Database, Row, Transaction
from jobservice.store.job_events import NewEvent
from jobservice.store.job_steps import StepChange
from jobservice.store.jobs import LockedJob, RootChange
from jobservice.usecases.job_settling import settle_with
from jobservice.usecases.job_submission import Submission, SubmittedJob, submit_in

_log = structlog.get_logger("jobservice.worker")

TELL_SECONDS = 1.0
"""Between two writes of how far a plan is (requirement INV-05: progress is coalesced, transitions never are)."""
MOST = 99
"""A plan whose account is not closed is at no more than this."""
_STEP = 1
"""The one step of the account."""
_PAUSED, _ON = "Paused", "It goes on."
_NO_ANSWER = (Refusal, psycopg.Error, RuntimeError)
"""What may go wrong with an account: the database is away, or somebody wrote past the service."""


@dataclass(slots=True, kw_only=True)
class PlanAccount:
    """The account of one plan under one lease. `holder`: id of the Worker."""

    database: Database
    records: RecordSet
    tenant: str
    plan: str
    name: str
    owner: str
    holder: str
    tell: float = TELL_SECONDS
    _told: int = field(default=0, init=False)

    async def begin(self) -> None:
        """Make the account where there is none, and say that this Worker applies the plan."""
        try:
            async with self.database.transaction(self.tenant) as transaction:
                await self._begun(transaction)
        except _NO_ANSWER as error:
            self._not_written(error)

    async def follow(self, ended: Callable[[], int], count: int) -> None:
        """Write how far the plan is, until cancelled: `ended()` of `count` items had their turn."""
        while True:
            await asyncio.sleep(self.tell)
            percent = min(MOST, 100 * ended() // max(count, 1))
            if percent <= self._told:
                continue
            try:
                async with self.database.transaction(self.tenant) as transaction:
                    await self._progress(transaction, percent, f"{ended():,} of {count:,} items had their turn.")
            except _NO_ANSWER as error:
                self._not_written(error)
                continue
            self._told = percent

    async def rest(self) -> None:
        """Say why the plan stands still, where somebody paused it: its account goes on running."""
        try:
            async with self.database.transaction(self.tenant) as transaction:
                paused = await plan_jobs.paused(transaction, self.plan)
                if paused is not None:
                    await self._say(transaction, _paused(paused))
        except _NO_ANSWER as error:
            self._not_written(error)

    async def end(self, transaction: Transaction, closed: Row, counts: Sequence[Count]) -> None:
        """Settle the account as its plan ended, in the transaction that ends it."""
        try:
            async with transaction.connection.transaction():
                job = await self._begun(transaction)
                if job is not None:
                    await settle_account(transaction, job, self.plan, closed, counts)
                    await self._hint(transaction, job.id)
        except psycopg.OperationalError:
            raise
        except _NO_ANSWER as error:
            self._not_written(error)

    async def _begun(self, transaction: Transaction) -> LockedJob | None:
        """The account, locked, and running by this Worker; None where it is settled."""
        made = await submit_in(transaction, self.records, self._submission())
        job = await store.lock(transaction, SERVICE_FAMILY, made.id)
        if job is None or job.state.status.final:
            return None
        if job.holder == self.holder:
            if (job.state.at(_STEP).sentence or "").startswith(_PAUSED):
                await self._say(transaction, _ON)
                return await store.lock(transaction, SERVICE_FAMILY, made.id)
            return job
        pending = job.state.status is JobStatus.PENDING
        steps = [StepChange(position=_STEP, status=StepStatus.RUNNING, attempts=1)] if pending else []
        if (job.state.at(_STEP).sentence or "").startswith(_PAUSED):
            steps = [StepChange(position=_STEP, status=StepStatus.RUNNING, sentence=_ON)]
        change = RootChange(
            status=JobStatus.RUNNING,
            new_holder=self.holder,
            taken=True,
            progress=job.state.progress,
            last_step=job.state.at(_STEP).step,
            last_step_status=StepStatus.RUNNING,
        )
        await store.write(transaction, job, change, _beginnings(job, pending=pending), steps)
        await self._hint(transaction, job.id)
        return await store.lock(transaction, SERVICE_FAMILY, made.id)

    def _submission(self) -> Submission:
        return Submission(
            kind=PLAN_APPLY,
            submission_identity=self.plan,
            inputs={},
            requester=self.owner,
            subject=self.name,
            plan=self.plan,
            carrier=Carrier.PLAN,
        )

    async def _progress(self, transaction: Transaction, percent: int, sentence: str) -> None:
        await self._say(transaction, sentence, percent)

    async def _say(self, transaction: Transaction, sentence: str, percent: int | None = None) -> None:
        """Write how far the plan is, or (no percent) what is new of it; nothing that it says already."""
        made = await store.of_identity(transaction, SERVICE_FAMILY, PLAN_APPLY, self.plan)
        job = None if made is None else await store.lock(transaction, SERVICE_FAMILY, made["id"])
        if job is None or job.holder != self.holder or job.state.status is not JobStatus.RUNNING:
            return
        step = job.state.at(_STEP)
        if step.sentence == sentence or (percent is not None and percent <= step.progress):
            return
        change = RootChange(
            status=JobStatus.RUNNING,
            holder=job.holder,
            fence=job.fence,
            new_holder=job.holder,
            progress=job.state.progress if percent is None else percent,
            last_step=step.step,
            last_step_status=StepStatus.RUNNING,
        )
        event = NewEvent(kind=JobEventKind.PROGRESS, sentence=sentence, step=step.step, status=StepStatus.RUNNING.value)
        steps = [StepChange(position=_STEP, status=StepStatus.RUNNING, progress=percent, sentence=sentence)]
        await store.write(transaction, job, change, [event], steps)
        await self._hint(transaction, job.id)

    async def _hint(self, transaction: Transaction, job: str) -> None:
        await hints.add_jobs(transaction, ((self.tenant, PLAN_APPLY, job),))

    def _not_written(self, error: Exception) -> None:
        reason = error.detail if isinstance(error, Refusal) else type(error).__name__
        _log.warning("plan-account-not-written", plan=self.plan, reason=reason)


async def settle_account(
    transaction: Transaction,
    job: LockedJob,
    plan: str,
    closed: Row,
    counts: Sequence[Count],
    *,
    reconciled: str | None = None,
) -> None:
    """Settle the locked account of a plan as the plan ended (`closed`: its `state` and `reason`). `reconciled`: what was found
    where it had stayed behind: a line of history of its own, before."""
    sentence = _sentence(counts)
    found = [] if reconciled is None else [NewEvent(kind=JobEventKind.RECONCILED, sentence=reconciled)]
    if closed["state"] == PlanState.DONE:
        step = job.state.at(_STEP)
        event = NewEvent(
            kind=JobEventKind.STEP_SUCCEEDED, sentence=sentence, step=step.step, status=StepStatus.SUCCEEDED.value
        )
        change = StepChange(position=_STEP, status=StepStatus.SUCCEEDED, progress=100, sentence=sentence)
        await settle_with(transaction, job, JobStatus.SUCCEEDED, [change], [*found, event], sentence=sentence)
        return
    if closed["state"] == PlanState.ABORTED:
        person = await plan_jobs.ending(transaction, plan)
        why = f"The plan was aborted: {(closed['reason'] or 'no reason was given').rstrip('.')}."
        await store.ask_cancel(transaction, job, person=person, reason=closed["reason"] or "aborted", sentence=why)
        job = await _locked_again(transaction, job)
        await settle_with(transaction, job, JobStatus.CANCELLED, (), found, sentence=f"{why} {sentence}", person=person)
        return
    why = f"The plan lapsed. {closed['reason'] or ''} {sentence}"
    await settle_with(transaction, job, JobStatus.FAILED, (), found, sentence=why, step=job.state.at(_STEP).step)


async def _locked_again(transaction: Transaction, job: LockedJob) -> LockedJob:
    again = await store.lock(transaction, job.family, job.id)
    if again is None:
        raise RuntimeError(f"job {job.id} went away while its row was locked")
    return again


async def submit_at_end(
    transaction: Transaction, records: RecordSet, plan: str, closed: Row, counts: Sequence[Count]
) -> str | None:
    """Submit the job that a plan's bulk command names, where at least one of its items was done: one a plan, with its id as
    identity, in the transaction that ends the plan. A sentence where that could not be; it keeps no plan from ending."""
    command = records.bulk.get(closed["command"])
    kind = None if command is None else command.submits
    if kind is None or not any(each.turn is Turn.DONE and each.items for each in counts):
        return None
    submission = Submission(
        kind=kind, submission_identity=plan, inputs={}, requester=closed["owner"], subject=closed["name"], plan=plan
    )
    try:
        async with transaction.connection.transaction():
            made = await submit_in(transaction, records, submission)
            await hints.add_jobs(transaction, ((str(transaction.tenant), kind, made.id),))
    except psycopg.OperationalError:
        raise
    except _NO_ANSWER as error:
        reason = error.detail if isinstance(error, Refusal) else type(error).__name__
        _log.error("plan-job-not-submitted", alarm=True, plan=plan, kind=kind, reason=reason)
        label = records.job_kinds[kind].label if kind in records.job_kinds else kind
        return f"{label} was not submitted: {reason}"
    _log.info("plan-job-submitted", plan=plan, kind=kind, job=made.id)
    return _submitted(records, made)


def _submitted(records: RecordSet, made: SubmittedJob) -> str:
    return f"{records.job_kinds[made.kind].label}: job {made.id}."


def _beginnings(job: LockedJob, *, pending: bool) -> list[NewEvent]:
    if not pending:
        sentence = (
            "Another Worker goes on with the plan." if job.holder is not None else "A Worker goes on with the plan."
        )
        return [NewEvent(kind=JobEventKind.TAKEN_UP, sentence=sentence, status=JobStatus.RUNNING.value)]
    step = job.state.at(_STEP)
    return [
        NewEvent(kind=JobEventKind.STARTED, sentence="It started.", status=JobStatus.RUNNING.value),
        NewEvent(
            kind=JobEventKind.STEP_STARTED,
            sentence=f"{step.label}: its items have their turns.",
            step=step.step,
            status=StepStatus.RUNNING.value,
        ),
    ]


def _paused(found: Row) -> str:
    by = f" by {found['person']}" if found["person"] else " by the Worker"
    return f"{_PAUSED}{by}: {(found['reason'] or 'no reason was given').rstrip('.')}. The plan is resumed, or aborted."


def _sentence(counts: Sequence[Count]) -> str:
    """How many items ended in which way: `412 items: 400 done, 12 refused.`"""
    whole = sum(each.items for each in counts)
    parts = [
        f"{number:,} {turn.value.replace('-', ' ')}"
        for turn in Turn
        if (number := sum(each.items for each in counts if each.turn is turn))
    ]
    return f"{whole:,} items: {', '.join(parts)}." if whole != 1 else f"1 item: {', '.join(parts)}."
