"""The reconciler: what was left behind is settled once and says why; what is under way, or over, is left alone."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from jobservice.store import engine
from jobservice.store.database import Database
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from tests.conftest import Clock, People
from tests.worker.jobs_stage import JobStage

pytestmark = pytest.mark.requirement("reconciler")


@pytest.fixture
def stage(worker_database: Database, people: People) -> JobStage:
    return JobStage(database=worker_database, people=people)


@pytest.mark.requirement("INV-07")
async def test_a_success_is_refused_while_a_step_is_at_work_and_the_job_fails_once(stage: JobStage) -> None:
    job = await stage.quiet("one", "succeeded", "running", "queued", engine="SUCCESS")
    assert await stage.run(ReconcilingJobs()) == {"fail": 1}
    root = stage.job(job)
    assert (root["status"], root["failure_effect_state"]) == ("failed", "due")
    assert root["failure_summary"] == "Success refused: step 2 (check) is still running."
    assert ("reconciled", "Success refused: step 2 (check) is still running; the engine says that its run succeeded. "
            "Settled as failed.") in stage.history(job)  # fmt: skip
    steps = stage.rows("select status from jobs.job_steps where job = %s order by position", job)
    assert [step["status"] for step in steps] == ["succeeded", "failed", "cancelled"]
    assert [notice["outcome"] for notice in stage.notices(job)] == ["failed"]
    assert stage.rows("select topic from jobs.hints where ref = %s", job) == [{"topic": "job"}]
    before = stage.history(job)
    stage.past_the_walls("update jobs.jobs set activity_at = activity_at - interval '1 hour'")
    assert await stage.run(ReconcilingJobs()) == {}, "settled once"
    assert stage.history(job) == before


async def test_what_the_account_says_is_kept(stage: JobStage) -> None:
    whole = await stage.quiet("whole", "succeeded", "succeeded", "succeeded", engine="SUCCESS")
    error = await stage.quiet("error", "succeeded", "failed", "queued", engine="ERROR")
    asked = {"cancel_asked_at": "jobs.now()", "cancel_reason": "'wrong file'", "cancel_asked_by": "'k.rao'"}
    cancelled = await stage.quiet("cancelled", "running", "queued", "queued", engine="CANCELLED", **asked)
    nobody = await stage.quiet("nobody", "running", "queued", "queued", engine="CANCELLED")
    exceeded = await stage.quiet("exceeded", "running", engine="MAX_RECOVERY_ATTEMPTS_EXCEEDED")
    assert await stage.run(ReconcilingJobs()) == {"succeed": 1, "fail": 3, "cancel": 1}
    statuses = {job: stage.job(job)["status"] for job in (whole, error, cancelled, nobody, exceeded)}
    assert list(statuses.values()) == ["succeeded", "failed", "cancelled", "failed", "failed"]
    assert all("reconciled" in dict(stage.history(job)) for job in statuses)
    assert (stage.job(error)["last_step"], stage.job(error)["last_step_status"]) == ("check", "failed")


async def test_a_pending_job_without_a_run_is_handed_over_again(stage: JobStage) -> None:
    job = await stage.quiet("gone", engine=None)
    before = stage.job(job)["execution_handle"]
    never = await stage.quiet("never", engine=None, execution_handle="null", handed_over_at="null")
    assert await stage.run(ReconcilingJobs()) == {"hand-over": 2}
    for each in (job, never):
        assert (stage.job(each)["status"], stage.run_of(each)) == ("pending", "ENQUEUED")
        assert stage.history(each)[-1][0] == "reconciled"
    assert stage.job(job)["execution_handle"] != before
    assert await stage.run(ReconcilingJobs()) == {}
    told = stage.rows("select version from jobs.hints where topic = 'job' and ref = any(%s)", [job, never])
    assert [each["version"] > 10**15 for each in told] == [True, True], "the moment, and no row's version (INV-12)"
    runs = stage.rows("select workflow_uuid from jobs_engine.workflow_status")
    assert len(runs) == 2, "one run each"


async def test_a_run_of_a_settled_job_is_ended(stage: JobStage) -> None:
    asked = {"cancel_asked_at": "jobs.now()", "cancel_reason": "'wrong file'"}
    settled = {"status": "'cancelled'", "settled_at": "jobs.now() - interval '1 hour'"}
    job = await stage.quiet("one", engine="ENQUEUED", **asked, **settled)
    purged = await stage.quiet("two", engine="PENDING")
    stage.past_the_walls(f"delete from jobs.jobs where id = '{purged}'")
    live = await stage.quiet("three", "running", engine="PENDING")
    another = {"execution_handle": "gen_random_uuid()::text"}
    earlier = await stage.quiet("four", engine="ENQUEUED", **asked, **settled, **another)  # its own run is another one
    with capture_logs() as logs:
        assert await stage.run(ReconcilingJobs()) == {"end": 3}
    levels = {str(each["job"]): each["log_level"] for each in logs if each["event"] == "job-reconciled"}
    assert levels.get(job) == "info", "many cancels are no alarm"
    assert stage.history(earlier)[-1][0] == "reconciled"
    assert stage.run_of(job) == "CANCELLED"
    assert stage.history(job)[-1] == (
        "reconciled",
        "Nobody had begun it: its place in the engine's queue was given up.",
    )
    async with stage.database.transaction(None) as transaction:
        assert len(await engine.finished(transaction, most=9)) == 3, "what ended is not kept for ever"
    assert stage.run_of(live) == "PENDING"
    assert stage.rows("select 1 from jobs_engine.workflow_status where status = 'PENDING'") == [{"?column?": 1}]
    assert await stage.run(ReconcilingJobs()) == {}


async def test_what_showed_life_or_waits_or_runs_is_left_alone(stage: JobStage, clock: Clock) -> None:
    fresh = await stage.submit("fresh")
    stage.engine(fresh, None)
    await stage.quiet("waits", engine="ENQUEUED")
    await stage.quiet("runs", "running", engine="PENDING")
    duty = ReconcilingJobs()
    assert not await duty.wanted(stage.database, stage.holder)
    clock.advance(6)
    assert await duty.wanted(stage.database, stage.holder), "the fresh one is silent for longer than its grace"
    lease = await stage.lease(duty)
    stage.past_the_walls(f"update jobs.jobs set activity_at = jobs.now() where id = '{fresh}'")
    assert await duty.run_once(lease) == {}, "judged anew under its lock: it showed life meanwhile"
    assert stage.job(fresh)["status"] == "pending"


async def test_looks_go_on_where_the_last_one_ended(stage: JobStage) -> None:
    for number in range(5):
        await stage.quiet(f"waits-{number}", engine="ENQUEUED")
    lost = await stage.quiet("lost", "running", engine="ERROR")
    duty = ReconcilingJobs(batch=2)
    looks = 1
    while not await duty.wanted(stage.database, stage.holder):
        looks += 1
        assert looks < 9
    assert looks == 3, "two rows a look"
    await stage.run(duty)
    assert stage.job(lost)["status"] == "failed"


@pytest.mark.requirement("corrected reconciliation")
async def test_two_workers_that_reconcile_the_same_settle_and_tell_it_once(stage: JobStage) -> None:
    jobs = [await stage.quiet(f"j-{number}", "running", "queued", "queued", engine="SUCCESS") for number in range(4)]
    both = [ReconcilingJobs(name=f"job-reconciler-{number}") for number in range(2)]
    leases = [await stage.lease(duty, UUID(int=number + 1)) for number, duty in enumerate(both)]
    for duty in both:
        assert await duty.wanted(stage.database, stage.holder)
    done = await asyncio.gather(*(duty.run_once(lease) for duty, lease in zip(both, leases, strict=True)))
    assert sum(each.get("fail", 0) for each in done) == 4
    for job in jobs:
        kinds = [kind for kind, _ in stage.history(job)]
        assert (kinds.count("reconciled"), kinds.count("settled")) == (1, 1)
        assert [notice["outcome"] for notice in stage.notices(job)] == ["failed"]


@pytest.mark.requirement("corrected reconciliation")
@pytest.mark.parametrize("state", ["delivered", "claimed", "due"])
async def test_a_success_that_was_told_is_corrected_and_one_that_waits_is_not_told(stage: JobStage, state: str) -> None:
    job = await stage.quiet("one", "succeeded", "retrying", "queued", engine="SUCCESS")
    at = "jobs.now()" if state == "delivered" else "null"
    claim = f"'{UUID(int=9)}', jobs.now()" if state == "claimed" else "null, null"
    stage.past_the_walls(
        "insert into jobs.job_notices (tenant, family, job, outcome, person, subject, text, state, delivered_at, ended_at,"
        " holder, expires_at)"
        f" values ('acme', 'payments', '{job}', 'succeeded', 'm.ito', 's', 't', '{state}', {at}, {at}, {claim})"
    )
    for _ in range(2):
        await stage.run(ReconcilingJobs())
    success, failure = stage.notices(job)
    assert (failure["outcome"], failure["state"]) == ("failed", "due")
    if state != "due":  # what is on its way may arrive
        assert (success["state"], failure["corrects"]) == (state, "succeeded")
        assert failure["subject"].startswith("Correction: ")
        assert failure["text"].startswith("You were told before that it succeeded. That did not hold; this does.\n")
    else:
        assert (success["state"], failure["corrects"]) == ("suppressed", None)
        assert "did not hold" in success["reason"]
