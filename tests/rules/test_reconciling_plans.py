"""Verdicts on jobs that plans carry: as the plan ended, and none while it goes on, however the account was found."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from jobcontract.job_states import FINAL_STATUSES, Carrier, JobStatus, StepStatus
from jobcontract.states import PlanState
from jobservice.rules.reconciling_jobs import GRACE_SECONDS, LEAVE, VerdictKind
from jobservice.rules.reconciling_plans import PlanStanding, plan_verdict
from tests.rules.test_reconciling_jobs import a_job

pytestmark = pytest.mark.requirement("reconciler")

JOB = replace(a_job(StepStatus.RUNNING), carrier=Carrier.PLAN)
ENDS = {
    PlanState.DONE: VerdictKind.SUCCEED,
    PlanState.ABORTED: VerdictKind.CANCEL,
    PlanState.LAPSED: VerdictKind.FAIL,
}
STANDINGS = [
    None,
    *(PlanStanding(state=state, accounted=closed) for state, closed in product(PlanState, (True, False))),
]


@pytest.mark.parametrize("plan", STANDINGS)
def test_a_running_job_ends_as_its_plan_did_once_the_account_of_it_is_closed(plan: PlanStanding | None) -> None:
    """It is judged anew under its lock: whatever the look before saw, a plan that goes on keeps its job."""
    found = plan_verdict(JOB, plan, quiet=GRACE_SECONDS)
    if plan is None:
        assert (found.kind, found.how) == (
            VerdictKind.FAIL,
            "The plan is not there any more: what became of its items is not known here.",
        )
    elif plan.accounted and plan.state in ENDS:
        assert (found.kind, found.how) == (ENDS[plan.state], "")
        assert found.sentence.startswith(f"The plan is {plan.state} and its account was closed")
    else:
        assert found == LEAVE


@pytest.mark.parametrize("plan", STANDINGS)
def test_what_showed_life_of_late_or_has_ended_is_left_alone(plan: PlanStanding | None) -> None:
    for status in (JobStatus.PENDING, JobStatus.RUNNING):
        assert plan_verdict(replace(JOB, status=status), plan, quiet=GRACE_SECONDS - 0.01) == LEAVE
    for status in FINAL_STATUSES:
        assert plan_verdict(replace(JOB, status=status), plan, quiet=3_600.0) == LEAVE


@pytest.mark.parametrize("plan", STANDINGS)
def test_one_that_no_worker_began_is_of_no_plan(plan: PlanStanding | None) -> None:
    """Whoever begins the account of a plan writes and starts it in one transaction."""
    found = plan_verdict(replace(JOB, status=JobStatus.PENDING), plan, quiet=GRACE_SECONDS)
    assert (found.kind, found.how) == (
        VerdictKind.FAIL,
        "It says that a plan carries it, and no Worker began it for one.",
    )
