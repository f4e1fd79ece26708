"""Acts on background jobs: those of the fake service mean what those of the real one mean; both run every test."""

from __future__ import annotations

import pytest

from jobconsole.client import jobs, recoveries
from jobconsole.client.queues import new_key
from jobcontract.job_states import (
    JobEventKind,
    JobResolution,
    JobStatus,
    JobView,
    StepStatus,
)
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Moves
from tests.client.job_stage import (
    BANK_FILE,
    EXPORT,
    INPUTS,
    SUPPORT,
    JobStage,
    code,
    failed,
    refused,
    stage_of,
)
from tests.client.stage import AUDITOR, FIRST

FAILED, RUNNING, SUCCEEDED = JobStatus.FAILED, JobStatus.RUNNING, JobStatus.SUCCEEDED
ALL = JobView.ALL
NOBODYS = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> JobStage:
    """The service under comparison; the real one only where it is asked for, it needs a database."""
    return stage_of(request)


async def test_what_nobody_began_is_cancelled_at_once_and_what_runs_is_asked_to_end(stage: JobStage) -> None:
    service = stage.sign_in(SUPPORT)
    waiting, running, over = [await stage.submit(EXPORT, f"C-{number}") for number in range(3)]
    await stage.go(running, RUNNING)
    await stage.go(over, SUCCEEDED)
    done = await jobs.cancel_job(service, waiting, "Not wanted", new_key())
    assert (done.job.status, done.job.settled_at is not None) == (JobStatus.CANCELLED, True)
    asked = await jobs.cancel_job(service, running, "Asked for twice", new_key())
    assert (asked.job.status, asked.job.cancel_asked_at is not None) == (RUNNING, True)
    again = await jobs.cancel_job(service, running, "Another reason", new_key())
    assert again.job.cancel_asked_at == asked.job.cancel_asked_at
    assert (await jobs.cancel_job(service, waiting, "Once more", new_key())).job.status is JobStatus.CANCELLED
    kept = (await jobs.job(service, running)).cancellation
    assert kept is not None
    assert (kept.person and kept.person.id, kept.reason) == ("s.bell", "Asked for twice")
    assert await code(jobs.cancel_job(service, over, "Too late", new_key())) == "job-settled"
    assert await code(jobs.cancel_job(service, NOBODYS, "Unknown", new_key())) == "not-found"
    assert await code(jobs.cancel_job(service, "mailing:48377", "Theirs", new_key())) == "job-elsewhere"
    assert await code(jobs.cancel_job(stage.sign_in(FIRST), running, "No right", new_key())) == "permission-missing"
    assert [each.id for each in (await jobs.jobs(service, "is:cancelling", view=ALL)).jobs] == [running]
    step = (await jobs.job(service, waiting)).steps[0]
    assert (step.status, step.attempts) == (StepStatus.CANCELLED, 0)


async def test_what_a_person_may_do_is_said_with_each_job(stage: JobStage) -> None:
    service = stage.sign_in(SUPPORT)
    states = ("waiting", "running", "asked", "succeeded", "failed", "cancelled")
    made = {name: await stage.submit(EXPORT, name) for name in states}
    for name in ("running", "asked"):
        await stage.go(made[name], RUNNING)
    await stage.go(made["succeeded"], SUCCEEDED)
    await stage.go(made["failed"], FAILED)
    for name in ("asked", "cancelled"):
        await jobs.cancel_job(service, made[name], "Not wanted", new_key())
    offered = {}
    for name, job in made.items():
        acts = (await jobs.job(service, job)).acts
        offered[name] = {each for each in ("cancel", "retry", "resolve", "reveal") if getattr(acts, each) is None}
    assert offered == {
        "waiting": {"cancel", "reveal"},
        "running": {"cancel", "reveal"},
        "asked": {"reveal"},
        "succeeded": {"retry", "reveal"},
        "failed": {"retry", "resolve", "reveal"},
        "cancelled": {"retry", "reveal"},
    }
    file = await stage.submit(BANK_FILE, "file")
    assert "input" in str((await jobs.job(service, file)).acts.reveal)


@pytest.mark.requirement("INV-10")
async def test_a_retry_is_a_new_linked_job_and_mends_what_it_was_made_from(stage: JobStage) -> None:
    service, (bad,) = stage.sign_in(SUPPORT), await failed(stage, customer="C-1")
    key = new_key()
    made = await jobs.retry_job(service, bad, "There is room", key)
    assert (made.first, made.job.retry_of, made.retried.retried_by) == (True, bad, made.job.id)
    assert (made.job.status, made.job.customer, made.job.kind) == (JobStatus.PENDING, "C-1", EXPORT)
    assert made.job.requester is not None
    assert made.job.requester.id == "o.lind"
    assert (await jobs.retry_job(service, bad, "There is room", key)).job.id == made.job.id
    assert await code(jobs.retry_job(service, bad, "Other words", key)) == "idempotency-key-reused"
    twice = await jobs.retry_job(service, bad, "Once more", new_key())
    assert (twice.first, twice.job.id) == (False, made.job.id)
    assert await code(jobs.retry_job(service, made.job.id, "Too early", new_key())) == "job-not-settled"
    lineage = (await jobs.job(service, made.job.id)).lineage
    assert [(each.id, each.retry_of, each.reason) for each in lineage] == [
        (bad, None, None),
        (made.job.id, bad, "There is room"),
    ]
    assert [each.id for each in (await jobs.jobs(service)).jobs] == [bad]
    await stage.go(made.job.id, SUCCEEDED)
    mended = await jobs.job(service, bad)
    assert (mended.summary.status, mended.summary.resolution) == (FAILED, JobResolution.RETRIED)
    assert mended.resolved is not None
    assert mended.resolved.job == made.job.id
    assert (await jobs.jobs(service)).jobs == ()
    assert [each.id for each in (await jobs.jobs(service, "is:retried", view=ALL)).jobs] == [bad]
    assert await code(jobs.retry_job(stage.sign_in(AUDITOR), bad, "No right", new_key())) == "permission-missing"


@pytest.mark.requirement("INV-10")
async def test_a_retry_of_any_of_a_lineage_answers_the_one_that_is_under_way(stage: JobStage) -> None:
    service, (bad,) = stage.sign_in(SUPPORT), await failed(stage, customer="C-1")
    second = (await jobs.retry_job(service, bad, "There is room", new_key())).job.id
    await stage.go(second, FAILED)
    third = await jobs.retry_job(service, second, "Now there is", new_key())
    again = await jobs.retry_job(service, bad, "Once more", new_key())
    assert (third.first, again.first, again.job.id, again.retried.id) == (True, False, third.job.id, bad)


@pytest.mark.requirement("MONEY-1")
async def test_a_job_that_moves_money_is_retried_by_a_recovery_of_finance_alone(stage: JobStage) -> None:
    (file,) = await failed(stage, kind=BANK_FILE)
    shown = (await jobs.job(stage.sign_in(SUPPORT), file)).acts
    assert shown.retry
    refusal = await refused(jobs.retry_job(stage.sign_in(SUPPORT), file, "Again", new_key()))
    assert (refusal.code, "recovery" in refusal.sentence) == ("needs-plan", True)
    order = RecoveryOrder(act=RecoveryAct.RETRY, reason="The bank takes files", jobs=(file,))
    out = await refused(recoveries.make(stage.sign_in(SUPPORT), order, new_key()))
    assert out.code == "plan-empty"
    made = await recoveries.make(stage.sign_in(FIRST), order, new_key())
    assert (made.moves, made.confirm_by is not None, made.count) == (Moves.MONEY, True, 1)
    digest = await recoveries.digest_of(stage.sign_in(FIRST), made)
    confirming = recoveries.confirm(stage.sign_in(FIRST), made.id, digest, None, new_key())
    assert await code(confirming) == "code-wrong"


async def test_a_failure_is_acknowledged_with_a_ticket_or_resolved_with_a_reason(stage: JobStage) -> None:
    service = stage.sign_in(SUPPORT)
    one, other = await failed(stage, 2)
    again = (await jobs.retry_job(service, one, "There is room", new_key())).job.id
    await stage.go(again, FAILED)
    told = await jobs.resolve_job(service, again, "Operations look at it", new_key(), "OPS-7")
    assert told.job.resolution is JobResolution.ACKNOWLEDGED  # and so is what it is a retry of
    done = await jobs.resolve_job(service, other, "Delivered by hand", new_key())
    assert done.job.resolution is JobResolution.RESOLVED
    kept = (await jobs.job(service, one)).resolved
    assert kept is not None
    assert (kept.ticket, kept.reason, kept.person and kept.person.id) == ("OPS-7", "Operations look at it", "s.bell")
    assert (await jobs.jobs(service)).jobs == ()
    assert (await jobs.job_counts(service)).unresolved.count == 0
    assert [each.id for each in (await jobs.jobs(service, "is:acknowledged", view=ALL)).jobs] == [again, one]
    assert await code(jobs.resolve_job(service, one, "Twice", new_key())) == "job-resolved"
    waiting = await stage.submit(EXPORT, "waiting")
    assert await code(jobs.resolve_job(service, waiting, "Too early", new_key())) == "job-not-failed"
    acts = (await jobs.job(service, again)).acts
    assert (acts.retry, bool(acts.resolve)) == (None, True)


@pytest.mark.requirement("INV-12")
async def test_inputs_are_revealed_for_a_reason_which_is_written_down(stage: JobStage) -> None:
    service, (job,) = stage.sign_in(SUPPORT), await failed(stage)
    before = (await jobs.job(service, job)).changes
    key = new_key()
    shown = await jobs.reveal_job(service, job, "The customer asks", key)
    assert {each.name: each.value for each in shown.inputs} == INPUTS[EXPORT]
    assert not any(each.masked for each in shown.inputs)
    latest = await jobs.job(service, job)
    event = latest.events[0]
    assert (latest.changes, event.kind, event.person and event.person.id) == (
        before + 1,
        JobEventKind.REVEALED,
        "s.bell",
    )
    assert all(each.masked for each in latest.inputs)
    assert (await jobs.reveal_job(service, job, "The customer asks", key)).inputs == shown.inputs
    assert (await jobs.job(service, job)).changes == before + 2  # each look is written down, one that is repeated too
    assert await code(jobs.reveal_job(stage.sign_in(AUDITOR), job, "Curious", new_key())) == "permission-missing"
