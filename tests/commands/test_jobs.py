"""When a job can be retried: by whom, and not twice where it moved money."""

from __future__ import annotations

import pytest

from jobconsole.commands.catalogue import BY_ID, unavailable
from jobconsole.commands.situation import SelectedJob, Situation
from jobcontract.job_states import JobStatus
from jobcontract.permissions import GRANTS
from jobcontract.states import Role


@pytest.mark.parametrize(
    ("role", "status", "told"),
    [
        (Role.FINANCE, JobStatus.FAILED, None),
        (Role.FINANCE, JobStatus.CANCELLED, None),
        (Role.FINANCE, JobStatus.SUCCEEDED, "it succeeded: what moved money is not done twice"),
        (Role.FINANCE, JobStatus.RUNNING, "it is not settled: running"),
        (Role.SUPPORT, JobStatus.FAILED, "payout.release"),
    ],
)
def test_what_moves_money_is_retried_by_finance_and_not_after_it_succeeded(
    role: Role, status: JobStatus, told: str | None
) -> None:
    job = SelectedJob(status=status, money=True)
    situation = Situation(place="job", connected=True, tenant="leeds", permissions=frozenset(GRANTS[role]), job=job)
    reason = unavailable(BY_ID["job.retry"], situation)
    assert reason is None if told is None else told in str(reason)
