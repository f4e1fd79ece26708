"""Owns the duty that compares the account of jobs with the engine's own tables, and settles what was left behind
(requirements reconciler, corrected reconciliation, INV-07). Decides nothing (`rules/reconciling_jobs.py`).

A look reads so many rows of an index, whatever else is there, and goes on where the last one ended. What it suspects is
locked and judged anew: so nothing is settled twice, and nothing under way is touched.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

import structlog

from jobcontract.job_states import JobStatus, NoticeState
from jobservice.rules import job_notices as words
from jobservice.rules.reconciling_jobs import (
    GRACE_SECONDS,
    Orchestration,
    Verdict,
    VerdictKind,
    orchestration_of,
    verdict,
)
from jobservice.store import job_notices, jobs
from jobservice.store import reconciling_jobs as store
from jobservice.store.database import Database, Transaction
from jobservice.store.jobs import LockedJob
from jobservice.store.reconciling_jobs import FIRST, LiveRun, Place, Standing, Suspect
from jobservice.usecases.job_settling import settle
from jobservice.worker.fenced import Lease
from jobservice.worker.reconciling_plans import reconcile_account

_log = structlog.get_logger("jobservice.worker")

_AS = {
    VerdictKind.SUCCEED: JobStatus.SUCCEEDED,
    VerdictKind.FAIL: JobStatus.FAILED,
    VerdictKind.CANCEL: JobStatus.CANCELLED,
}


@dataclass(slots=True, kw_only=True)
class ReconcilingJobs:
    """The duty with its pace. `batch`: how many jobs, and how many of the engine's runs, one look reads at most."""

    every: float = 5.0
    lease: float = 30.0
    batch: int = 2_000
    name: str = "job-reconciler"
    wakes: ClassVar[frozenset[str]] = frozenset()
    _after: UUID = field(default=FIRST, init=False)
    _after_run: Place = field(default_factory=Place, init=False)
    _after_plan: UUID = field(default=FIRST, init=False)
    _suspects: Sequence[Suspect] = field(default=(), init=False)
    _plans: Sequence[Suspect] = field(default=(), init=False)
    _runs: Sequence[LiveRun] = field(default=(), init=False)

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether a look finds something that disagrees; what it finds is kept for the run."""
        async with database.transaction(None, by_index=True) as transaction:
            self._suspects, last = await store.unsettled(
                transaction, after=self._after, most=self.batch, grace=GRACE_SECONDS
            )
            self._after = last or FIRST
            self._runs, place = await store.live(
                transaction, after=self._after_run, most=self.batch, grace=GRACE_SECONDS
            )
            self._after_run = place or Place()
            self._plans, last = await store.unsettled_plans(
                transaction, after=self._after_plan, most=self.batch, grace=GRACE_SECONDS
            )
            self._after_plan = last or FIRST
        return self._found

    @property
    def _found(self) -> bool:
        """Whether the last look found something."""
        return bool(self._suspects or self._runs or self._plans)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Judge what the last look suspects, each in a transaction of its own; how many of each verdict."""
        if not self._found:
            await self.wanted(lease.database, lease.holder)
        suspects, self._suspects = self._suspects, ()
        runs, self._runs = self._runs, ()
        plans, self._plans = self._plans, ()
        done: Counter[str] = Counter()
        for suspect in suspects:
            if lease.stopping():
                break
            done[await self._reconcile(lease, suspect.family, str(suspect.job), suspect.tenant)] += 1
        for run in runs:
            if lease.stopping():
                break
            done[await self._end(lease, run)] += 1
        for suspect in plans:
            if lease.stopping():
                break
            done[await reconcile_account(lease, suspect)] += 1
        return {what: count for what, count in done.items() if what != VerdictKind.LEAVE}

    async def _reconcile(self, lease: Lease, family: str, job: str, tenant: str, run: str | None = None) -> str:
        """Lock the job, judge it as it is now, do what the verdict says; its word."""
        async with lease.transaction(tenant) as transaction:
            locked = await jobs.lock(transaction, family, job)
            standing = None if locked is None else await store.standing(transaction, family=family, job=job)
            if locked is None or standing is None:
                return VerdictKind.LEAVE.value
            orchestration = orchestration_of(standing.status, alive=standing.alive)
            if run is not None and run != locked.handle:
                orchestration = Orchestration.WAITING  # an earlier run of it, which the engine would go on with
            found = verdict(locked.state, orchestration, quiet=standing.quiet, taken_up=locked.fence)
            if found.kind is VerdictKind.LEAVE:
                return found.kind.value
            await _carry_out(transaction, locked, found, standing, run)
        _log.log(
            logging.INFO if found.expected else logging.WARNING,
            "job-reconciled",
            job=job,
            kind=locked.kind,
            tenant=tenant,
            verdict=found.kind.value,
            sentence=found.sentence,
        )
        return found.kind.value

    async def _end(self, lease: Lease, run: LiveRun) -> str:
        """End a run that nothing is to come of."""
        if run.known and run.family is not None and run.job is not None and run.tenant is not None:
            return await self._reconcile(lease, run.family, run.job, run.tenant, run.handle)
        async with lease.transaction() as transaction:
            ended = await store.end_run(transaction, run.handle)
        if ended:
            _log.warning("run-without-job-ended", job=run.job)
        return VerdictKind.END.value if ended else VerdictKind.LEAVE.value


async def _carry_out(
    transaction: Transaction, job: LockedJob, found: Verdict, standing: Standing, run: str | None
) -> None:
    detail = {"verdict": found.kind.value, "engine": standing.status, "quiet_seconds": round(standing.quiet, 1)}
    match found.kind:
        case VerdictKind.HAND_OVER:
            await store.hand_over(transaction, family=job.family, job=job.id)
            await store.note(transaction, family=job.family, job=job.id, sentence=found.sentence, detail=detail)
        case VerdictKind.END:
            handle = run or job.handle
            if handle is None or not await store.end_run(transaction, handle):
                return
            await store.note(transaction, family=job.family, job=job.id, sentence=found.sentence, detail=detail)
        case _:
            status = _AS[found.kind]
            settled = await settle(transaction, job, status, sentence=found.how, reconciled=found.sentence)
            await correct(transaction, job.id, settled.status)
    await store.hint(transaction, family=job.family, job=job.id)


async def correct(transaction: Transaction, job: str, status: JobStatus) -> None:
    """What the requester of a job that was settled as `status` was told, or is to be told, of another outcome before: what
    waits is not told any more, and what may have been is corrected by the notice of this one (corrected reconciliation)."""
    told: JobStatus | None = None
    for before in await job_notices.told_before(transaction, job=job, outcome=status):
        if before.state is NoticeState.DUE:
            await job_notices.supersede(transaction, before.id, reason=words.superseded(before.outcome, status))
        elif before.state in (NoticeState.DELIVERED, NoticeState.CLAIMED):
            told = before.outcome
    if told is not None:
        prefix, line = words.correction(told)
        await job_notices.correct(transaction, job=job, outcome=status, corrects=told, prefix=prefix, line=line)
