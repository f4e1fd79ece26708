"""Settling in one place: corrected successes, effects and notices once, what a late settlement changes (nothing)."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

from jobcontract.job_states import JobStatus
from jobservice.store import jobs as store
from jobservice.usecases.job_settling import Hold, JobMoved, Settled, settle
from tests.usecases.job_desk_stage import FAMILY, LOUD_TWO, JobStage, job_stage


@pytest.fixture
def stage(database: Any, worker_database: Any, people: Any) -> JobStage:
    return job_stage(database, worker_database, people)


async def reconcile(stage: JobStage, job: str, status: JobStatus = JobStatus.SUCCEEDED) -> Settled:
    async with stage.worker.transaction("acme") as transaction:
        found = await store.lock(transaction, FAMILY, job)
        assert found is not None
        reconciled = "The engine says that it succeeded, the account does not."
        return await settle(transaction, found, status, sentence="The engine ended it.", reconciled=reconciled)


def told(stage: JobStage, job: str, state: str) -> None:
    """The success was put down to be told, and came so far."""
    ended = state == "delivered"
    stage.people.connection.execute(
        "insert into jobs.job_notices (tenant, family, job, outcome, person, subject, text, state, delivered_at, ended_at)"
        " values ('acme', 'payments', %s, 'succeeded', 'o.lind', 's', 't', %s, case when %s then jobs.now() end,"
        " case when %s then jobs.now() end)",
        (job, state, ended, ended),
    )


@pytest.mark.requirement("INV-07", "corrected reconciliation")
async def test_a_success_that_does_not_hold_settles_once_as_failed_and_says_which_step(stage: JobStage) -> None:
    job = await stage.submit(LOUD_TWO)
    await stage.carried(job.id, JobStatus.RUNNING)
    told(stage, job.id, "delivered")
    settled = await reconcile(stage, job.id)
    refused = "success refused: step 1 (one) is still running"
    assert (settled.status, settled.refused, settled.here) == (JobStatus.FAILED, refused, True)
    row = stage.row(job.id)
    assert row["failure_summary"] == "Success refused: step 1 (one) is still running."
    assert row["failure_reference"]
    assert row["failure_effect_state"] == "due"
    assert [each["status"] for each in stage.steps(job.id)] == ["failed", "cancelled"]
    assert stage.story(job.id)[-4:] == ["reconciled", "step-failed", "step-cancelled", "settled"]
    success, failure = stage.notices(job.id)
    assert (success["state"], failure["state"], failure["corrects"]) == ("delivered", "due", "succeeded")
    before = (row, stage.events(job.id), stage.notices(job.id))
    for status in (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED):
        again = await reconcile(stage, job.id, status)
        assert (again.status, again.here) == (JobStatus.FAILED, False)
    assert (stage.row(job.id), stage.events(job.id), stage.notices(job.id)) == before


@pytest.mark.requirement("INV-11", "corrected reconciliation")
async def test_a_success_that_was_not_told_yet_is_told_to_nobody(stage: JobStage) -> None:
    job = await stage.submit(LOUD_TWO)
    await stage.carried(job.id, JobStatus.RUNNING)
    told(stage, job.id, "due")
    await reconcile(stage, job.id)
    success, failure = stage.notices(job.id)
    assert (success["state"], failure["state"], failure["corrects"]) == ("suppressed", "due", None)
    assert success["reason"] == "The success did not hold: the job failed."


@pytest.mark.requirement("INV-03")
async def test_reconcilers_at_the_same_instant_settle_once(stage: JobStage) -> None:
    job = await stage.submit(LOUD_TWO)
    await stage.carried(job.id, JobStatus.RUNNING)
    wanted = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.FAILED)
    settled = await asyncio.gather(*(reconcile(stage, job.id, status) for status in wanted))
    assert [each.here for each in settled].count(True) == 1
    assert stage.story(job.id).count("settled") == stage.story(job.id).count("reconciled") == 1
    assert len(stage.notices(job.id)) == 1


@pytest.mark.requirement("INV-03")
async def test_a_job_that_is_not_as_it_was_read_is_not_settled(stage: JobStage) -> None:
    """Whoever reads without the lock, or goes on with what was locked before, writes nothing."""
    job = await stage.submit(LOUD_TWO)
    async with stage.worker.transaction("acme") as transaction:
        before = await store.lock(transaction, FAMILY, job.id)
        assert before is not None
    stage.people.connection.execute("update jobs.jobs set version = version + 1 where id = %s", (job.id,))
    with pytest.raises(JobMoved):
        async with stage.worker.transaction("acme") as transaction:
            await settle(transaction, before, JobStatus.FAILED, sentence="It went wrong.")
    assert stage.row(job.id)["status"] == "pending"
    assert stage.story(job.id) == ["submitted"]


@pytest.mark.requirement("INV-03")
async def test_a_worker_settles_only_under_its_own_fence(stage: JobStage) -> None:
    job = await stage.submit(LOUD_TWO)
    await stage.carried(job.id, JobStatus.RUNNING)
    row = stage.row(job.id)
    holder, fence = str(row["holder"]), row["fence"]
    for hold in (Hold(holder=holder, fence=fence - 1), Hold(holder=str(UUID(int=1)), fence=fence)):
        async with stage.worker.transaction("acme") as transaction:
            found = await store.lock(transaction, FAMILY, job.id)
            assert found is not None
            with pytest.raises(JobMoved):
                await settle(transaction, found, JobStatus.FAILED, sentence="It went wrong.", hold=hold)
        assert stage.row(job.id) == row


async def test_nobody_s_cancellation_is_a_failure_and_no_status_that_goes_on_settles(stage: JobStage) -> None:
    job = await stage.submit(LOUD_TWO)
    settled = await reconcile(stage, job.id, JobStatus.CANCELLED)
    assert (settled.status, settled.refused) == (JobStatus.FAILED, "cancellation refused: nobody asked for it")
    assert [each["status"] for each in stage.steps(job.id)] == ["cancelled", "cancelled"]
    other = await stage.submit(LOUD_TWO)
    with pytest.raises(ValueError, match="running settles nothing"):
        await reconcile(stage, other.id, JobStatus.RUNNING)
