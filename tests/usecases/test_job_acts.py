"""What people do with one job: cancel, retry, resolve, reveal; reach, races, audit, hints, what the wire never carries."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.job_states import JobStatus, NoticeState
from jobcontract.jobs import CancelJob, ResolveJob, RetryJob, RevealJob
from jobservice.application import done
from jobservice.rules.claims import Denied
from jobservice.usecases import job_acts
from jobservice.usecases.job_acts import JobOrder
from jobservice.usecases.job_reading import read_job
from jobservice.usecases.job_reports import Ended
from tests.usecases.desk import once, refused_with
from tests.usecases.job_desk_stage import MONEY, ONCE, SINGLE, SYNC, JobStage, job_stage

PLAN = "01a22f4b-d2c3-773c-ad11-0122e993c3d1"
RECOVERY = "01a22f4b-d2c3-773c-ad11-0122e993c3d2"


@pytest.fixture
def stage(database: Any, worker_database: Any, people: Any) -> JobStage:
    return job_stage(database, worker_database, people)


async def cancel(stage: JobStage, job: str, by: str = "s.bell", reason: str = "Asked by phone", **more: Any) -> Any:
    actor = stage.people.actor(by, **more)
    answered = await job_acts.cancel(stage.service, actor, job, CancelJob(reason=reason), once())
    return answered.body


async def retry(stage: JobStage, job: str, by: str = "s.bell", reason: str = "The bank is back", **more: Any) -> Any:
    actor = stage.people.actor(by, **more)
    answered = await job_acts.retry(stage.service, actor, job, RetryJob(reason=reason), once())
    return answered.body


async def resolve(stage: JobStage, job: str, ticket: str | None = None, **more: Any) -> Any:
    order = ResolveJob(reason="Sent by hand", ticket=ticket)
    return (await job_acts.resolve(stage.service, stage.people.actor("s.bell", **more), job, order, once())).body


def audited(stage: JobStage, action: str) -> list[tuple[Any, ...]]:
    query = "select person, subject, outcome, detail from jobs.audit where action = %s order by id"
    return list(stage.people.connection.execute(query, (action,)).fetchall())


def hinted(stage: JobStage) -> set[tuple[str, str, str]]:
    return set(stage.people.connection.execute("select topic, queue, ref from jobs.hints").fetchall())


@pytest.mark.requirement("SAGA-03", "SAGA-06", "cancellation")
async def test_what_nobody_began_is_cancelled_at_once_and_asking_twice_answers_the_first(stage: JobStage) -> None:
    job = await stage.submit(SYNC)
    body = await cancel(stage, job.id)
    assert (body["job"]["status"], body["sentence"]) == ("cancelled", "Cancelled: nothing of it had begun.")
    row = stage.row(job.id)
    assert (row["status"], row["cancel_asked_by"], row["progress"]) == ("cancelled", "s.bell", 0)
    assert [each["status"] for each in stage.steps(job.id)] == ["cancelled"] * 3
    assert stage.story(job.id) == ["submitted", "cancel-asked", "settled"]
    again = await cancel(stage, job.id, by="o.lind", reason="Me too")
    assert again["sentence"] == "Sue Bell cancelled it already: Asked by phone"
    assert stage.row(job.id) == row
    (notice,) = stage.notices(job.id)
    assert (notice["person"], notice["state"]) == ("o.lind", "due")
    assert "Sue Bell: Asked by phone" in notice["text"]
    ((person, subject, outcome, detail),) = audited(stage, "cancel-job")[:1]
    assert (person, subject, outcome) == ("s.bell", job.id, "done")
    assert (detail["before"]["status"], detail["after"]["status"]) == ("pending", "cancelled")
    assert ("job", SYNC, job.id) in hinted(stage)
    taken = await stage.worker_takes(job.id)
    assert isinstance(taken, Ended)


@pytest.mark.requirement("SAGA-03")
async def test_a_running_job_is_only_asked_and_a_settled_one_answers_409(stage: JobStage) -> None:
    job = await stage.submit()
    await stage.carried(job.id, JobStatus.RUNNING)
    body = await cancel(stage, job.id)
    assert (body["job"]["status"], body["job"]["cancel_asked_at"] is not None) == ("running", True)
    again = await cancel(stage, job.id, by="o.lind")
    assert again["sentence"] == "Sue Bell asked for that already: Asked by phone"
    assert stage.row(job.id)["cancel_asked_by"] == "s.bell"
    settled = await stage.submit()
    await stage.carried(settled.id)
    refusal = await refused_with(ErrorCode.JOB_SETTLED, cancel(stage, settled.id))
    assert "succeeded" in refusal.detail
    assert [row[2] for row in audited(stage, "cancel-job")][-1] == "refused"


@pytest.mark.requirement("SAGA-03")
async def test_cancel_and_completion_at_the_same_instant_leave_one_end_that_both_answers_agree_with(
    stage: JobStage,
) -> None:
    for _ in range(12):
        job = await stage.submit()
        run = await stage.carried(job.id, JobStatus.RUNNING)
        both: Any = await asyncio.gather(
            cancel(stage, job.id), stage.report(run, 1, done("Done.")), return_exceptions=True
        )
        row = stage.row(job.id)
        if isinstance(both[0], Refusal):
            assert (row["status"], both[0].kind) == ("succeeded", ErrorCode.JOB_SETTLED)
            assert row["cancel_asked_at"] is None
        else:
            assert (row["status"], type(both[1]).__name__) == ("running", "CancelAsked")
        numbers = [each["sequence"] for each in stage.events(job.id)]
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.requirement("INV-10")
async def test_a_retry_is_a_new_linked_job_and_its_success_resolves_what_failed(stage: JobStage) -> None:
    job = await stage.submit(SYNC, "S-1", inputs={"pages": 4}, customer="c-1", subject="November")
    await stage.carried(job.id, JobStatus.FAILED)
    body = await retry(stage, job.id)
    made = stage.row(body["job"]["id"])
    assert body["first"]
    assert body["retried"]["retried_by"] == body["job"]["id"]
    assert (made["submission_identity"], made["inputs"], made["customer"], made["subject"], made["requester"]) == (
        *("S-1 · retry 1", {"pages": 4}, "c-1", "November", "o.lind"),
    )
    assert (str(made["retry_of"]), str(made["lineage"]), made["retry_reason"]) == (job.id, job.id, "The bank is back")
    assert stage.story(job.id)[-1] == "retried"
    second = await retry(stage, job.id, by="o.lind", reason="Again")
    assert (second["first"], second["job"]["id"]) == (False, body["job"]["id"])
    await stage.carried(body["job"]["id"], JobStatus.FAILED)
    kind, taken = stage.row(job.id)["kind"], "S-1 · retry 2"
    await stage.submit(kind, taken, inputs={"pages": 4})  # somebody has that name already
    third = await retry(stage, body["job"]["id"])
    assert stage.row(third["job"]["id"])["submission_identity"] == "S-1 · retry 3"
    await stage.carried(third["job"]["id"])
    for each in (job.id, body["job"]["id"]):
        row = stage.row(each)
        assert (row["resolution"], str(row["resolved_job"])) == ("retried", third["job"]["id"])
        assert stage.story(each)[-1] == "resolved"
    assert stage.row(third["job"]["id"])["resolution"] is None
    assert [row[3]["after"]["job"] for row in audited(stage, "retry-job")][:1] == [body["job"]["id"]]


@pytest.mark.requirement("INV-10")
async def test_racing_retries_make_one_job_and_no_error(stage: JobStage) -> None:
    job = await stage.submit()
    await stage.carried(job.id, JobStatus.FAILED)
    bodies = await asyncio.gather(*(retry(stage, job.id, by=by) for by in ("s.bell", "o.lind", "s.bell", "o.lind")))
    assert len({each["job"]["id"] for each in bodies}) == 1
    assert [each["first"] for each in bodies].count(True) == 1
    assert stage.story(job.id).count("retried") == 1


@pytest.mark.requirement("INV-10")
async def test_one_job_of_a_lineage_is_under_way_whichever_of_it_is_retried(stage: JobStage) -> None:
    """Two of one lineage would do the same work side by side: a retry of any of it answers the one that is under way."""
    job = await stage.submit()
    await stage.carried(job.id, JobStatus.FAILED)
    second = (await retry(stage, job.id))["job"]["id"]
    await stage.carried(second, JobStatus.FAILED)
    bodies = await asyncio.gather(
        *(retry(stage, each, by=by) for each in (job.id, second) for by in ("s.bell", "o.lind"))
    )
    (made,) = {each["job"]["id"] for each in bodies}
    assert [each["first"] for each in bodies].count(True) == 1
    assert {each["retried"]["id"] for each in bodies} == {job.id, second}
    assert stage.story(job.id).count("retried") + stage.story(second).count("retried") == 2
    await stage.carried(made, JobStatus.FAILED)
    last = await retry(stage, job.id)
    assert (last["first"], last["job"]["retry_of"]) == (True, job.id)


@pytest.mark.requirement("INV-10")
async def test_a_retry_and_the_end_of_the_one_before_it_do_not_lock_each_other_out(stage: JobStage) -> None:
    for _ in range(6):
        job = await stage.submit()
        await stage.carried(job.id, JobStatus.FAILED)
        first = (await retry(stage, job.id))["job"]["id"]
        run = await stage.carried(first, JobStatus.RUNNING)
        body, ended = await asyncio.gather(retry(stage, job.id, by="o.lind"), stage.report(run, 1, done("Done.")))
        assert isinstance(ended, Ended)
        assert body["first"] is (body["job"]["id"] != first)


@pytest.mark.requirement("INV-10")
async def test_what_is_not_retried(stage: JobStage) -> None:
    pending = await stage.submit()
    await refused_with(ErrorCode.JOB_NOT_SETTLED, retry(stage, pending.id))
    once_only = await stage.submit(ONCE)
    await stage.carried(once_only.id, JobStatus.FAILED)
    await refused_with(ErrorCode.JOB_NOT_RETRYABLE, retry(stage, once_only.id))
    succeeded = await stage.submit()
    await stage.carried(succeeded.id)
    assert (await retry(stage, succeeded.id, reason="The file was lost"))["first"]
    money = await stage.submit(MONEY, database=stage.worker, plan=PLAN)
    await stage.carried(money.id, JobStatus.FAILED)
    refusal = await refused_with(ErrorCode.NEEDS_PLAN, retry(stage, money.id))
    assert "recovery" in refusal.detail
    order = JobOrder(job=money.id, person="m.ito", reason="The bank is back", recovery=RECOVERY)
    async with stage.worker.transaction("acme") as transaction:
        assert isinstance(await job_acts.retry_in(transaction, stage.records, order), Denied)
        allowed = JobOrder(**{**{name: getattr(order, name) for name in order.__slots__}, "allow_money": True})
        done_ = await job_acts.retry_in(transaction, stage.records, allowed)
    assert not isinstance(done_, Denied)
    row = stage.row(done_.job)
    assert (str(row["recovery"]), str(row["plan"])) == (RECOVERY, PLAN)


async def test_a_failure_is_resolved_once_with_a_ticket_or_without(stage: JobStage) -> None:
    for ticket, word in ((None, "resolved"), ("OPS-12", "acknowledged")):
        job = await stage.submit()
        await refused_with(ErrorCode.JOB_NOT_FAILED, resolve(stage, job.id))
        await stage.carried(job.id, JobStatus.FAILED)
        body = await resolve(stage, job.id, ticket)
        assert body["job"]["resolution"] == word
        row = stage.row(job.id)
        assert (row["resolved_by"], row["resolution_reason"], row["ticket"]) == ("s.bell", "Sent by hand", ticket)
        await refused_with(ErrorCode.JOB_RESOLVED, resolve(stage, job.id))
        await stage.carried((await retry(stage, job.id))["job"]["id"])
        assert stage.row(job.id)["resolution"] == word  # what a person said stays


async def test_resolving_a_retry_that_failed_resolves_the_failures_that_led_to_it(stage: JobStage) -> None:
    chain = [(await stage.submit()).id]
    for _ in range(3):
        await stage.carried(chain[-1], JobStatus.FAILED)
        chain.append((await retry(stage, chain[-1]))["job"]["id"])
    first, second, third, last = chain
    assert (await resolve(stage, first))["sentence"] == "Resolved: Sent by hand"
    body = await resolve(stage, third, "OPS-12")  # while a retry of it goes on
    assert body["sentence"] == "Acknowledged, ticket OPS-12: Sent by hand · and the failure before it"
    assert [stage.row(each)["ticket"] for each in chain] == [None, "OPS-12", "OPS-12", None]
    assert stage.row(second)["resolution"] == "acknowledged"
    assert stage.story(second)[-1] == "resolved"
    assert audited(stage, "resolve-job")[-1][3]["after"]["before_it"] == [second]
    await stage.carried(last)
    assert [stage.row(each)["resolution"] for each in chain] == ["resolved", "acknowledged", "acknowledged", None]


@pytest.mark.requirement("INV-09")
async def test_looking_at_inputs_is_written_down_each_time(stage: JobStage) -> None:
    job = await stage.submit(SYNC, inputs={"pages": 4, "month": "2026-11"})
    request = once()
    actor, order = stage.people.actor("s.bell"), RevealJob(reason="The customer asks which month")
    for _ in range(2):
        answered = await job_acts.reveal(stage.service, actor, job.id, order, request)
        assert [(each["label"], each["value"]) for each in answered.body["inputs"]] == [
            ("Month", "2026-11"),
            ("Pages", 4),
        ]
    assert stage.story(job.id) == ["submitted", "revealed", "revealed"]
    assert [row[3]["inputs"] for row in audited(stage, "reveal-job")] == [["month", "pages"]] * 2
    assert "2026-11" not in str([row[3] for row in audited(stage, "reveal-job")])
    kept = stage.people.connection.execute("select count(*) from jobs.idempotency_keys").fetchone()
    assert kept == (0,)


async def test_out_of_reach_out_of_tenant_and_out_of_permission(stage: JobStage) -> None:
    job = await stage.submit(customer="c-1")
    nobody_s = await stage.submit()
    for act in (cancel, retry, resolve):
        await refused_with(ErrorCode.NOT_FOUND, act(stage, job.id, customers=("c-2",)))
        await refused_with(ErrorCode.NOT_FOUND, act(stage, nobody_s.id, customers=("c-1",)))
        await refused_with(ErrorCode.NOT_FOUND, act(stage, "17"))
    await refused_with(ErrorCode.PERMISSION_MISSING, cancel(stage, job.id, by="s.audit"))
    stage.tenant = "globex"
    elsewhere = await stage.submit(requester="g.fin")
    await refused_with(ErrorCode.NOT_FOUND, cancel(stage, elsewhere.id))
    assert (await cancel(stage, job.id, customers=("c-1",)))["job"]["status"] == "cancelled"
    assert stage.row(nobody_s.id)["status"] == stage.row(elsewhere.id)["status"] == "pending"


@pytest.mark.requirement("INV-11", "relationships")
async def test_nobody_is_told_of_what_nobody_asked_for_and_who_left_is_not_told(stage: JobStage) -> None:
    quiet = await stage.submit(requester=None)
    await stage.carried(quiet.id, JobStatus.FAILED)
    assert stage.notices(quiet.id) == []
    again = await retry(stage, quiet.id)
    assert stage.row(again["job"]["id"])["requester"] == "s.bell"  # who retries what nobody asked for is told
    job = await stage.submit(SINGLE, requester="k.rao")
    stage.people.connection.execute("update jobs.people set active = false where id = 'k.rao'")
    await stage.carried(job.id, JobStatus.FAILED)
    (notice,) = stage.notices(job.id)
    assert (notice["state"], notice["reason"]) == ("suppressed", "Kiran Rao is not active any more.")
    for requester in ("k.rao", "nobody.known"):
        left = await stage.submit(SINGLE, requester=requester)
        stage.people.connection.execute("delete from jobs.memberships where person = 'k.rao'")
        await stage.carried(left.id)
        (notice,) = stage.notices(left.id)
        assert (notice["state"], notice["person"]) == ("suppressed", requester)
        assert notice["reason"] == "Whoever asked for it is not of this tenant any more."
        told = (await read_job(stage.service, stage.people.actor("s.bell"), left.id)).job.notices
        assert [(each.person.id, each.state, each.reason) for each in told] == [
            (requester, NoticeState.SUPPRESSED, notice["reason"])
        ]
