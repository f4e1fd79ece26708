"""Owns the statements of jobs and the confirmed plans that submit them: what a plan released, what a job says that it was
submitted by. Decides nothing (`worker/job_proof.py`).
"""

from __future__ import annotations

from jobservice.application_jobs import PlanPayout
from jobservice.rules.turns import outward_key
from jobservice.store.database import Row, Transaction


async def released(transaction: Transaction, plan: str) -> tuple[PlanPayout, ...]:
    """The payouts that an ended plan of the tenant released, in its order: equal whenever one asks."""
    return tuple(
        PlanPayout(outward_key=outward_key(row["item"]), **row)
        for row in await transaction.rows("plan_jobs/released", plan=plan)
    )


async def confirmed(transaction: Transaction, plan: str) -> Row | None:
    """A plan as its confirmation signed it; None where it was never confirmed, or is not there."""
    return await transaction.row("plan_jobs/confirmed", plan=plan)


async def submitted(transaction: Transaction, family: str, job: str) -> Row | None:
    """What a job says that it was submitted by, and the first one of its lineage; None where it is not there."""
    return await transaction.row("plan_jobs/submitted", family=family, job=job)


async def ending(transaction: Transaction, plan: str) -> str | None:
    """Who ended a plan; None where no person did."""
    row = await transaction.row("plan_jobs/ending", plan=plan)
    return None if row is None else row["ended_by"]


async def paused(transaction: Transaction, plan: str) -> Row | None:
    """Who paused a plan (`person`, None: the Worker did) and why (`reason`); None where it is not paused."""
    return await transaction.row("plan_jobs/paused", plan=plan)
