"""Owns settling the account of a plan that stayed behind its plan: the job is locked and judged anew. Decides nothing
(`rules/reconciling_plans.py`).
"""

from __future__ import annotations

import structlog

from jobcontract.job_states import JobStatus
from jobcontract.states import PlanState
from jobservice.rules.reconciling_jobs import VerdictKind
from jobservice.rules.reconciling_plans import PlanStanding, plan_verdict
from jobservice.store import jobs, leases
from jobservice.store import reconciling_jobs as store
from jobservice.store.reconciling_jobs import Suspect
from jobservice.usecases.job_settling import settle
from jobservice.worker.fenced import Lease
from jobservice.worker.plan_accounts import settle_account

_log = structlog.get_logger("jobservice.worker")


async def reconcile_account(lease: Lease, suspect: Suspect) -> str:
    """Lock the job of a plan, judge it as it is now, do what the verdict says; its word."""
    family, job = suspect.family, str(suspect.job)
    async with lease.transaction(suspect.tenant) as transaction:
        locked = await jobs.lock(transaction, family, job)
        row = None if locked is None else await store.plan_standing(transaction, family=family, job=job)
        if locked is None or row is None:
            return VerdictKind.LEAVE.value
        state = row["state"]
        plan = None if state is None else PlanStanding(state=PlanState(state), accounted=row["accounted"])
        found = plan_verdict(locked.state, plan, quiet=row["quiet"])
        if found.kind is VerdictKind.LEAVE:
            return found.kind.value
        if found.how:
            await settle(transaction, locked, JobStatus.FAILED, sentence=found.how, reconciled=found.sentence)
        else:
            counts = await leases.account(transaction, row["plan"])
            await settle_account(transaction, locked, row["plan"], row, counts, reconciled=found.sentence)
        await store.hint(transaction, family=family, job=job)
    _log.warning(
        "job-reconciled",
        job=job,
        kind=locked.kind,
        tenant=suspect.tenant,
        verdict=found.kind.value,
        sentence=found.sentence,
    )
    return found.kind.value
