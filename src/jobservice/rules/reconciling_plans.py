"""Owns what becomes of a job whose confirmed plan carries it, and that stayed behind the plan (requirement reconciler). Pure.

The plan decides: a job of one that goes on is left alone, however silent it is, and so is one whose account is still to be
closed, for the Worker that closes it settles the job in the same transaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.job_states import JobStatus
from jobcontract.states import PlanState
from jobservice.rules.job_states import JobState
from jobservice.rules.reconciling_jobs import GRACE_SECONDS, LEAVE, Verdict, VerdictKind

_ENDED = {
    PlanState.DONE: (VerdictKind.SUCCEED, "succeeded"),
    PlanState.ABORTED: (VerdictKind.CANCEL, "cancelled"),
    PlanState.LAPSED: (VerdictKind.FAIL, "failed"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStanding:
    """How the plan stands; `accounted`: its account is closed, nothing is left to do for it."""

    state: PlanState
    accounted: bool


def plan_verdict(job: JobState, plan: PlanStanding | None, *, quiet: float) -> Verdict:
    """What becomes of a job that a plan carries (None: the plan is not there); `quiet`: seconds since its last activity.

    LEAVE wherever the plan goes on. Of a verdict after which the plan's own figures are told, `how` is empty.
    """
    if job.status.final or quiet < GRACE_SECONDS:
        return LEAVE
    if job.status is JobStatus.PENDING:
        return _failed("It says that a plan carries it, and no Worker began it for one")
    if plan is None:
        return _failed("The plan is not there any more: what became of its items is not known here")
    if not plan.accounted or plan.state not in _ENDED:
        return LEAVE
    kind, settled = _ENDED[plan.state]
    return Verdict(
        kind=kind,
        sentence=f"The plan is {plan.state.value} and its account was closed, and this job ran on. Settled as {settled}.",
    )


def _failed(how: str) -> Verdict:
    return Verdict(kind=VerdictKind.FAIL, how=f"{how}.", sentence=f"{how}. Settled as failed.")
