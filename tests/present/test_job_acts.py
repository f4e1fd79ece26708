"""What an act on a job says before it is done: what becomes of the job as it stands, and of what was done of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jobconsole.client.fake import FakeService
from jobconsole.client.fake_job_examples import furnish
from jobconsole.present.columns import plain
from jobconsole.present.job_acts import cancel_lines, retry_lines, unsubmittable
from jobconsole.present.schedules import At
from jobcontract.job_states import JobStatus
from jobcontract.jobs import JobKind, JobSummary
from jobcontract.states import Moves

AT = At(now=datetime(2026, 3, 2, 9, 0, tzinfo=UTC), zone=UTC)


@pytest.fixture(scope="module")
def job() -> JobSummary:
    fake = FakeService(start=AT.now)
    return furnish(fake.account).lineage[0].summary


@pytest.mark.requirement("cancellation")
def test_cancelling_says_what_becomes_of_a_job_that_waits_and_of_one_that_runs(job: JobSummary) -> None:
    waits = cancel_lines(job.model_copy(update={"status": JobStatus.PENDING}), AT)
    runs = cancel_lines(job.model_copy(update={"status": JobStatus.RUNNING}), AT)
    assert [plain(line) for line in waits][-2:] == [
        "Nobody began it: it is cancelled at once.",
        "What is done of it stays done.",
    ]
    assert "within a second or so" in plain(runs[-2])


@pytest.mark.requirement("INV-10")
def test_retrying_warns_of_what_is_done_twice_and_of_a_retry_that_was_made(job: JobSummary) -> None:
    def said(**changes: object) -> str:
        before = {"retried_by": None, "status": JobStatus.FAILED}
        return "\n".join(map(plain, retry_lines(job.model_copy(update=before | changes), AT)))

    assert "A new job is made of it" in said()
    assert "▲" not in said()
    assert "It succeeded: a retry does everything once more." in said(status=JobStatus.SUCCEEDED)
    assert "A retry of it was made before" in said(retried_by="another")


def test_what_moves_money_is_not_submitted_by_itself() -> None:
    kind = JobKind(
        id="k", label="K", application="a", moves=Moves.MONEY, retryable=True, failure_effect="", inputs=(), steps=()
    )
    assert unsubmittable(kind) == "it moves money: a confirmed plan submits it"
    assert unsubmittable(kind.model_copy(update={"moves": Moves.NOTHING})) is None
