"""A Worker's reports: attempts, waits, stops, fences, cancellation, what is written together."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from jobcontract.job_states import JobStatus
from jobservice.application import Patience, done, failed, refused, retry, uncertain
from jobservice.usecases import job_acts, job_reports
from jobservice.usecases.job_acts import JobOrder
from jobservice.usecases.job_reports import (
    Again,
    Begun,
    CancelAsked,
    Ended,
    GoOn,
    Held,
    Kept,
    Lost,
    Passed,
    TakenUp,
    Wait,
)
from tests.usecases.job_desk_stage import (
    LOUD,
    MONEY,
    NOW,
    OTHER,
    PATIENCE,
    SINGLE,
    SYNC,
    JobStage,
    job_stage,
)


@pytest.fixture
def stage(database: Any, worker_database: Any, people: Any) -> JobStage:
    return job_stage(database, worker_database, people)


async def ask_cancel(stage: JobStage, job: str, *, by: str = "o.lind") -> Any:
    async with stage.service.database.transaction(stage.tenant) as transaction:
        return await job_acts.cancel_in(transaction, JobOrder(job=job, person=by, reason="Not wanted any more"))


@pytest.mark.requirement("INV-02", "INV-05", "INV-06", "steps")
async def test_a_job_goes_from_submission_to_success_with_its_whole_account(stage: JobStage) -> None:
    job = await stage.submit(SYNC, inputs={"month": "2026-11", "pages": 3})
    taken = await stage.take_up(job.id)
    assert stage.row(job.id)["status"] == "pending"  # nobody began it: it can be cancelled at once still
    begun = await stage.begin(taken.run)
    assert isinstance(begun, Begun)
    assert (begun.attempt, begun.inputs, begun.scope) == (1, {"month": "2026-11", "pages": 3}, f"{job.id}/collect")
    assert await stage.report(taken.run, 1, done("Collected."), result={"rows": 12}) == GoOn(position=2)
    assert stage.row(job.id)["progress"] == 16  # weight 1 of 6, floored
    second = await stage.begin(taken.run, 2)
    assert second.results == {"collect": {"rows": 12}}
    async with stage.worker.transaction("acme") as transaction:
        kept = await job_reports.report_progress(transaction, taken.run, 2, 50, "Half of it is checked.")
    assert kept == Kept(progress=33)
    async with stage.worker.transaction("acme") as transaction:
        for percent, more in ((20, ()), (50, ()), (20, ("Half of it still.",)), (-1, ("Still.",))):  # never falls
            assert await job_reports.report_progress(transaction, taken.run, 2, percent, *more) == Kept(progress=33)
    assert (stage.steps(job.id)[1]["progress"], stage.steps(job.id)[1]["sentence"]) == (50, "Still.")
    assert [each["detail"]["percent"] for each in stage.events(job.id) if each["kind"] == "progress"] == [50] * 3
    await stage.report(taken.run, 2, done("Checked."))
    ended = await stage.step(taken.run, 3, done("Written.", reference="REF-1"))
    assert ended == Ended(status=JobStatus.SUCCEEDED, sentence="Written.", here=True)
    row = stage.row(job.id)
    assert (row["status"], row["progress"], row["holder"], row["last_step"]) == ("succeeded", 100, None, "write")
    assert row["settled_at"] == row["activity_at"]
    assert [(each["status"], each["attempts"]) for each in stage.steps(job.id)] == [("succeeded", 1)] * 3
    assert stage.steps(job.id)[2]["reference"] == "REF-1"
    assert stage.story(job.id) == [
        *("submitted", "started", "step-started", "step-succeeded", "step-started"),
        *("progress",) * 3,  # what says nothing new has no line
        *("step-succeeded", "step-started", "step-succeeded", "settled"),
    ]
    assert [each["sequence"] for each in stage.events(job.id)] == list(range(1, row["event_sequence"] + 1))
    assert [step["step"] for step in stage.events(job.id)[0]["detail"]["steps"]] == ["collect", "check", "write"]
    (notice,) = stage.notices(job.id)
    assert (notice["outcome"], notice["state"], notice["person"]) == ("succeeded", "due", "o.lind")


@pytest.mark.requirement("RETRY-01")
async def test_a_job_that_kills_its_worker_is_started_three_times_and_no_more(stage: JobStage) -> None:
    job = await stage.submit()
    for attempt in (1, 2, 3):
        taken = await stage.take_up(job.id, holder=OTHER if attempt == 2 else taken_by(attempt))
        begun = await stage.begin(taken.run)
        assert begun.attempt == attempt  # and its Worker is never heard of again
    taken = await stage.take_up(job.id)
    ended = await stage.begin(taken.run)
    assert isinstance(ended, Ended)
    assert ended.here
    assert ended.status is JobStatus.FAILED
    assert "Worker was lost" in ended.sentence
    assert [each["attempts"] for each in stage.steps(job.id)] == [3]
    assert stage.story(job.id).count("step-started") == 3
    row = stage.row(job.id)
    assert row["failure_reference"]
    assert "Attempt 3 of 3" in row["failure_summary"]


def taken_by(attempt: int) -> str:
    return f"00000000-0000-7000-8000-0000000000{attempt:02d}"


@pytest.mark.requirement("RETRY-01", "SAGA-06")
async def test_after_a_cancel_no_attempt_begins_although_its_worker_died(stage: JobStage) -> None:
    job = await stage.submit()
    await stage.carried(job.id, JobStatus.RUNNING)
    asked = await ask_cancel(stage, job.id)
    assert asked.first
    assert asked.status is JobStatus.RUNNING
    taken = await stage.take_up(job.id, holder=OTHER)
    assert taken.cancel_asked
    assert isinstance(await stage.begin(taken.run), CancelAsked)
    async with stage.worker.transaction("acme") as transaction:
        ended = await job_reports.settle_cancelled(transaction, taken.run)
    assert isinstance(ended, Ended)
    assert ended.status is JobStatus.CANCELLED
    assert ended.here
    assert stage.steps(job.id)[0]["status"] == "cancelled"
    assert stage.steps(job.id)[0]["attempts"] == 1
    assert [each["state"] for each in stage.notices(job.id)] == ["suppressed"]  # they cancelled it themselves


@pytest.mark.requirement("RETRY-04")
@pytest.mark.parametrize("after", [1.0, 999_999_999.0, -300.0, float("nan")])
async def test_try_again_later_counts_and_is_capped(stage: JobStage, after: float) -> None:
    job = await stage.submit()
    taken = await stage.take_up(job.id)
    twice = Patience(attempts=2, first_wait=0.0, longest_wait=40.0)
    again = await stage.step(taken.run, 1, retry("The bank says later.", after_seconds=after), patience=twice)
    assert isinstance(again, Again)
    assert 0 <= again.seconds <= 40.0
    assert again.seconds == {1.0: 1.0, 999_999_999.0: 40.0}.get(after, 0.0)
    (step,) = stage.steps(job.id)
    assert step["status"] == "retrying"
    assert step["next_attempt_at"] is not None
    stage.people.connection.execute("update test_clock.offset_now set seconds = seconds + 41")
    ended = await stage.step(taken.run, 1, retry("The bank says later.", after_seconds=after), patience=twice)
    assert isinstance(ended, Ended)
    assert ended.status is JobStatus.FAILED
    assert ended.sentence == "Work: The bank says later. It was tried twice."
    assert [each["sentence"] for each in stage.events(job.id) if each["kind"].startswith("step-re")] == [
        "The bank says later."
    ]


async def test_a_step_waits_for_its_next_attempt_whoever_takes_the_job_up(stage: JobStage) -> None:
    job = await stage.submit()
    taken = await stage.take_up(job.id)
    await stage.step(taken.run, 1, retry("Later.", after_seconds=30))
    other = await stage.take_up(job.id, holder=OTHER)
    waits = await stage.begin(other.run)
    assert isinstance(waits, Wait)
    assert 20 < waits.seconds <= 30
    assert stage.steps(job.id)[0]["attempts"] == 1  # waiting costs no attempt


@pytest.mark.requirement("INV-03", "SAGA-03")
async def test_another_worker_s_job_takes_no_report_and_a_settled_one_none_at_all(stage: JobStage) -> None:
    job = await stage.submit()
    old = await stage.carried(job.id, JobStatus.RUNNING)
    new = (await stage.take_up(job.id, holder=OTHER)).run
    before = (stage.row(job.id), stage.steps(job.id), stage.events(job.id))
    assert isinstance(await stage.begin(old), Lost)
    assert isinstance(await stage.report(old, 1, done("Done, late.")), Lost)
    async with stage.worker.transaction("acme") as transaction:
        assert isinstance(await job_reports.report_progress(transaction, old, 1, 99), Lost)
        assert isinstance(await job_reports.report_sent(transaction, old, 1), Lost)
        assert isinstance(await job_reports.settle_cancelled(transaction, old), Lost)
        assert not await job_reports.hand_back(transaction, old, "Stopping.")
    assert (stage.row(job.id), stage.steps(job.id), stage.events(job.id)) == before
    await stage.step(new, 1, done("Done."))
    settled = (stage.row(job.id), stage.steps(job.id), stage.events(job.id), stage.notices(job.id))
    for run in (old, new):
        late = await stage.report(run, 1, failed("Late."), patience=NOW)
        assert isinstance(late, Ended)
        assert late.status is JobStatus.SUCCEEDED
        assert not late.here
        assert isinstance(await stage.begin(run), Ended)
        async with stage.worker.transaction("acme") as transaction:
            assert not await job_reports.hand_back(transaction, run, "Stopping.")
    assert (stage.row(job.id), stage.steps(job.id), stage.events(job.id), stage.notices(job.id)) == settled


async def test_a_workflow_that_is_not_the_job_s_own_takes_nothing_up(stage: JobStage) -> None:
    job = await stage.submit()
    async with stage.worker.transaction("acme") as transaction:
        taken = await job_reports.take_up(transaction, family="payments", job=job.id, holder=OTHER, handle="another")
    assert isinstance(taken, Lost)
    assert stage.row(job.id)["fence"] == 0
    async with stage.worker.transaction("globex") as transaction:
        handle = stage.row(job.id)["execution_handle"]
        elsewhere = await job_reports.take_up(transaction, family="payments", job=job.id, holder=OTHER, handle=handle)
    assert isinstance(elsewhere, Lost)


@pytest.mark.requirement("SAGA-03")
async def test_a_cancel_wins_over_a_report_that_comes_after_it(stage: JobStage) -> None:
    job = await stage.submit()
    run = await stage.carried(job.id, JobStatus.RUNNING)
    async with stage.worker.transaction("acme") as transaction:
        assert isinstance(await job_reports.settle_cancelled(transaction, run), Lost)  # nobody asked for it
        assert await job_reports.report_progress(transaction, run, 1, 150) == Kept(progress=99)
    await ask_cancel(stage, job.id, by="s.bell")
    async with stage.worker.transaction("acme") as transaction:  # and nothing is sent any more
        asked = await job_reports.report_sent(transaction, run, 1)
        assert asked == CancelAsked(person="Sue Bell", reason="Not wanted any more")
    for outcome in (done("Done."), failed("No."), retry("Later.", after_seconds=1)):
        asked = await stage.report(run, 1, outcome)
        assert asked == CancelAsked(person="Sue Bell", reason="Not wanted any more")
    assert stage.steps(job.id)[0]["status"] == "running"
    async with stage.worker.transaction("acme") as transaction:
        await job_reports.settle_cancelled(transaction, run)
    row = stage.row(job.id)
    assert (row["status"], row["cancel_asked_by"], row["cancel_reason"]) == (
        "cancelled",
        "s.bell",
        "Not wanted any more",
    )
    assert row["progress"] == 99  # whole only at success
    (notice,) = stage.notices(job.id)
    assert (notice["outcome"], notice["state"]) == ("cancelled", "due")
    assert "Sue Bell" in notice["text"]


@pytest.mark.requirement("SAGA-03")
async def test_what_happened_outside_is_written_down_although_a_cancel_was_asked_for(stage: JobStage) -> None:
    job = await stage.submit()
    run = await stage.carried(job.id, JobStatus.RUNNING)
    async with stage.worker.transaction("acme") as transaction:
        assert await job_reports.report_sent(transaction, run, 1) == Kept(progress=0)
    await ask_cancel(stage, job.id)
    ended = await stage.report(run, 1, done("The bank has it.", reference="B-1"))
    assert isinstance(ended, Ended)
    assert ended.status is JobStatus.SUCCEEDED
    (step,) = stage.steps(job.id)
    assert (step["reference"], step["outward_key"]) == ("B-1", f"jc-{job.id}-work")


async def test_an_uncertain_or_refused_end_is_not_tried_again(stage: JobStage) -> None:
    for outcome in (uncertain("Nobody knows.", reference="B-1"), refused("The rules say no.")):
        job = await stage.submit()
        ended = await stage.step((await stage.take_up(job.id)).run, 1, outcome)
        assert isinstance(ended, Ended)
        assert ended.status is JobStatus.FAILED
        assert stage.row(job.id)["failure_summary"] == f"Work: {outcome.sentence}"


async def test_a_failure_leaves_its_cause_its_effect_and_what_was_not_begun(stage: JobStage) -> None:
    loud = await stage.submit(LOUD)
    await stage.carried(loud.id, JobStatus.FAILED, "The bank answered 503 for payout 7f3a.")
    row = stage.row(loud.id)
    assert (row["failure_effect_state"], row["resolution"]) == ("due", None)
    cause = "select kind, step, text from jobs.job_causes where id = %s"
    found = stage.people.connection.execute(cause, (row["cause"],)).fetchone()
    assert found == (LOUD, "shout", "Shout: The bank answered # for payout #.")
    again = await stage.submit(LOUD)
    await stage.carried(again.id, JobStatus.FAILED, "The bank answered 504 for payout 1234.")
    assert stage.row(again.id)["cause"] == row["cause"]
    assert stage.row(again.id)["failure_reference"] != row["failure_reference"]
    quiet = await stage.submit(SYNC)
    await stage.carried(quiet.id, JobStatus.FAILED)
    assert stage.row(quiet.id)["failure_effect_state"] == "none"
    assert [each["status"] for each in stage.steps(quiet.id)] == ["failed", "cancelled", "cancelled"]


async def test_stops_and_the_money_switch_let_no_step_begin(stage: JobStage) -> None:
    connection = stage.people.connection
    job = await stage.submit()
    run = (await stage.take_up(job.id)).run
    connection.execute(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'job-kind', %s, 'o.lind', 'Bad')",
        (SINGLE,),
    )
    held = await stage.begin(run)
    assert isinstance(held, Held)
    assert held.sentence.startswith(f"Job kind {SINGLE} is stopped")
    assert stage.steps(job.id)[0]["attempts"] == 0
    assert stage.row(job.id)["status"] == "pending"
    connection.execute("delete from jobs.stops")
    money = await stage.submit(
        MONEY, database=stage.worker, plan="01a22f4b-d2c3-773c-ad11-0122e993c3d1", requester="m.ito"
    )
    throw_switch(stage, stopped=True)
    paid = (await stage.take_up(money.id)).run
    held = await stage.begin(paid)
    assert held == Held(sentence="Money is stopped: Audit")
    assert isinstance(await stage.begin(run), Begun)  # what moves no money goes on
    throw_switch(stage, stopped=False)
    assert isinstance(await stage.begin(paid), Begun)
    throw_switch(stage, stopped=True)
    async with stage.worker.transaction("acme") as transaction:
        assert isinstance(await job_reports.report_sent(transaction, paid, 1), Held)


def throw_switch(stage: JobStage, *, stopped: bool) -> None:
    stage.people.connection.execute(
        "update jobs.money_switches set stopped = %(stopped)s, version = version + 1,"
        " at = case when %(stopped)s then jobs.now() end, reason = case when %(stopped)s then 'Audit' end"
        " where tenant = 'acme'",
        {"stopped": stopped},
    )


@pytest.mark.requirement("SAGA-06")
async def test_a_stopping_worker_gives_its_job_back_and_the_attempt_counts_against_no_limit(stage: JobStage) -> None:
    job = await stage.submit()
    for attempt in range(1, 6):
        taken = await stage.take_up(job.id)
        begun = await stage.begin(taken.run)
        assert isinstance(begun, Begun)
        assert begun.attempt == attempt
        async with stage.worker.transaction("acme") as transaction:
            assert await job_reports.hand_back(transaction, taken.run, "The Worker stops; another goes on.")
        assert stage.row(job.id)["holder"] is None
    await stage.carried(job.id)
    assert stage.story(job.id).count("taken-up") == 5  # each time but the first


async def test_a_step_that_was_reported_is_passed_and_one_out_of_order_is_not_begun(stage: JobStage) -> None:
    job = await stage.submit(SYNC)
    taken = await stage.take_up(job.id)
    await stage.step(taken.run, 1, done("Collected."))
    other = await stage.take_up(job.id, holder=OTHER)
    assert isinstance(await stage.begin(other.run, 1), Passed)
    assert isinstance(await stage.begin(other.run, 3), Lost)
    assert isinstance(await stage.report(other.run, 2, done("Never begun.")), Lost)


@pytest.mark.requirement("INV-05")
async def test_a_report_is_written_whole_or_not_at_all(stage: JobStage) -> None:
    job = await stage.submit(SYNC)
    run = await stage.carried(job.id, JobStatus.RUNNING)
    before = (stage.row(job.id), stage.steps(job.id), stage.events(job.id))

    async def broken_off() -> None:
        async with stage.worker.transaction("acme") as transaction:
            await job_reports.report_outcome(transaction, run, 1, done("Collected."), patience=PATIENCE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await broken_off()
    assert (stage.row(job.id), stage.steps(job.id), stage.events(job.id)) == before
    stage.people.connection.execute("alter table jobs.payments_job_events add constraint broken check (sequence < 4)")
    try:
        with pytest.raises(psycopg.errors.CheckViolation):
            await stage.report(run, 1, done("Collected."))
    finally:
        stage.people.connection.execute("alter table jobs.payments_job_events drop constraint broken")
    assert (stage.row(job.id), stage.steps(job.id), stage.events(job.id)) == before


async def test_taking_a_running_job_up_raises_the_fence_and_says_so(stage: JobStage) -> None:
    job = await stage.submit()
    first = await stage.take_up(job.id)
    second = await stage.take_up(job.id, holder=OTHER)
    assert isinstance(second, TakenUp)
    assert second.run.fence == first.run.fence + 1 == 2
    assert stage.story(job.id) == ["submitted", "taken-up"]
