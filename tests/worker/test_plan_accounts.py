"""A confirmed plan is shown as a job that follows it, and submits the job that its bulk command names when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from jobcontract.job_states import JobStatus
from jobservice.application import Outcome, OutwardOrder, done, refused
from jobservice.rules.job_kinds import PLAN_APPLY, JobKind
from jobservice.store import notices, plan_jobs
from jobservice.worker.plan_accounts import PlanAccount
from jobservice.worker.plan_keeper import PlanKeeper
from tests.fakes.waiting import eventually
from tests.store.test_roles import as_role
from tests.worker.plan_jobs_stage import FILE, FILING, KIND, filing, jobs_of, lines_of
from tests.worker.plans_stage import FIRST, SECOND, Stage, loses_before

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")


async def says_no(order: OutwardOrder) -> Outcome:
    return refused("The account is closed.")


@pytest.mark.requirement("INV-01", "INV-02", "INV-06")
async def test_a_plan_is_a_job_that_settles_with_it(stage: Stage) -> None:
    plan = await stage.desk.confirmed(3)
    stage.bank.odd = {stage.key(plan, 2): says_no}
    assert jobs_of(stage) == [], "it begins when a Worker begins to apply"
    await stage.apply()
    (job,) = jobs_of(stage)
    names = ("status", "progress", "carrier", "moves", "requester", "subject", "submission_identity", "plan")
    assert [job[name] for name in names] == [
        "succeeded",
        100,
        "plan",
        "money",
        "m.ito",
        plan["name"],
        plan["id"],
        plan["id"],
    ]
    assert (job["execution_handle"], job["handed_over_at"]) == (None, None), "no engine gets it"
    assert lines_of(stage, job) == [
        ("submitted", "It was submitted."),
        ("started", "It started."),
        ("step-started", "Carry out the plan: its items have their turns."),
        ("step-succeeded", "3 items: 2 done, 1 refused."),
        ("settled", "3 items: 2 done, 1 refused."),
    ]
    told = stage.rows("select state, reason from jobs.job_notices where job = %s", job)
    assert told == [("suppressed", "The plan itself tells its owner.")]
    assert jobs_of(stage, FILE) == [], "its bulk command names no kind"
    hinted = stage.rows("select count(*) from jobs.hints where topic = 'job' and ref = %s", job)
    assert hinted == [(2,)], "as it began, and as it ended"


async def test_an_aborted_plan_is_a_cancelled_job_and_says_who_and_why(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)
    await stage.desk.abort(plan)
    await stage.apply()
    (job,) = jobs_of(stage)
    assert (job["status"], job["cancel_asked_by"], job["cancel_reason"]) == ("cancelled", "o.lind", "Wrong set")
    assert lines_of(stage, job)[-1] == ("settled", "The plan was aborted: Wrong set. 1 item: 1 not started.")


async def test_a_paused_plan_says_by_whom_and_why_and_that_it_goes_on(stage: Stage) -> None:
    plan = await stage.desk.confirmed(2)

    async def paused(order: OutwardOrder) -> Outcome:
        await stage.desk.pause(plan)
        return done("Paid.")

    stage.bank.odd = {stage.key(plan): paused}
    await stage.apply()
    (job,) = jobs_of(stage)
    said = "Paused by Olle Lind: Odd. The plan is resumed, or aborted."
    assert (job["status"], lines_of(stage, job)[-1]) == ("running", ("progress", said))
    account = account_of(stage, plan)
    await account.rest()
    assert lines_of(stage, job).count(("progress", said)) == 1
    await account.begin()
    assert stage.rows("select sentence from jobs.job_steps where job = %s", job) == [("It goes on.",)]


async def test_a_plan_that_lapsed_is_a_failed_job(stage: Stage) -> None:
    plan = await stage.desk.confirmed(2)
    stage.change("update jobs.plans set apply_until = jobs.now() where id = %s", plan)
    await stage.run_duty(PlanKeeper())
    await stage.apply()
    (job,) = jobs_of(stage)
    assert job["status"] == "failed"
    assert job["failure_summary"] == (
        "The plan lapsed. Its time to apply was over before every item had its turn. 2 items: 2 not started."
    )


def account_of(stage: Stage, plan: dict[str, Any], holder: object = FIRST) -> PlanAccount:
    """The account that a Worker keeps, written all the time."""
    return PlanAccount(
        database=stage.database,
        records=FILING,
        tenant="acme",
        plan=plan["id"],
        name=plan["name"],
        owner="m.ito",
        holder=str(holder),
        tell=0.01,
    )


@pytest.mark.requirement("INV-04")
async def test_progress_follows_the_plan_and_never_falls_and_a_lost_worker_writes_none(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)
    account = account_of(stage, plan)
    await account.begin()
    ended, looks = 30, 0

    def counted() -> int:
        nonlocal looks
        looks += 1
        return ended

    following = asyncio.create_task(account.follow(counted, 40))
    await eventually(lambda: jobs_of(stage)[0]["progress"] == 75, what="three quarters are told")
    ended = 10
    await account_of(stage, plan, SECOND).begin()
    ended, looks = 40, 0
    await eventually(lambda: looks > 3, what="the lost one has looked again")
    following.cancel()
    (job,) = jobs_of(stage)
    assert (job["progress"], job["holder"], job["fence"]) == (75, str(SECOND), 2)
    assert [kind for kind, _ in lines_of(stage, job)][3:] == ["progress", "taken-up"]
    following = asyncio.create_task(account_of(stage, plan, SECOND).follow(counted, 40))
    await eventually(lambda: jobs_of(stage)[0]["progress"] == 99, what="no more than 99 before it is closed")
    following.cancel()
    assert lines_of(stage, job)[-1] == ("progress", "40 of 40 items had their turn.")


@pytest.mark.requirement("MONEY-1", "INV-01")
async def test_a_plan_that_ends_submits_one_job_for_what_it_released(stage: Stage) -> None:
    stage = filing(stage)
    plan = await stage.desk.confirmed(3)
    stage.bank.odd = {stage.key(plan, 1): says_no, stage.key(plan, 3): loses_before}
    await stage.apply()
    (job,) = jobs_of(stage, FILE)
    told = ("status", "carrier", "moves", "submission_identity", "plan", "requester", "subject", "inputs")
    assert [job[name] for name in told] == [
        "pending",
        "engine",
        "money",
        plan["id"],
        plan["id"],
        "m.ito",
        plan["name"],
        {},
    ]
    assert job["handed_over_at"] is not None
    ((text,),) = stage.rows("select text from jobs.notices where kind = 'plan-done'")
    assert f"Bank file: job {job['id']}." in text
    async with stage.database.transaction("acme") as transaction:
        released = await plan_jobs.released(transaction, plan["id"])
    assert [(each.outward_key, each.amount_minor, each.currency) for each in released] == [
        (f"jc-{stage.item(plan, 2)['id']}", 1_000, "GBP")
    ]
    stage.change("update jobs.plan_items set turn = 'done', ended_at = jobs.now() where plan = %s and number = 3", plan)
    async with stage.database.transaction("acme") as transaction:
        assert await plan_jobs.released(transaction, plan["id"]) == released, "what a person said later is not in it"


async def test_a_plan_that_released_nothing_submits_nothing(stage: Stage) -> None:
    stage = filing(stage)
    plan = await stage.desk.confirmed(1)
    stage.bank.odd = {stage.key(plan): says_no}
    await stage.apply()
    assert (stage.plan(plan)["state"], jobs_of(stage, FILE)) == ("done", [])


FORGED = (
    "insert into jobs.jobs (family, id, tenant, kind, kind_version, moves, submission_identity, inputs_digest, lineage)"
    " select %s, i, 'acme', %s, 1, 'nothing', %s, decode(repeat('00', 32), 'hex'), i from (select jobs.uuid7() as i)"
)


@pytest.mark.requirement("MONEY-19")
async def test_rows_written_past_the_service_keep_no_plan_from_ending(
    stage: Stage, database_url: Callable[[str], str]
) -> None:
    """Whoever has the API's role may take an identity; the plan ends, says so, and their job is not believed."""
    stage = filing(stage)
    plan = await stage.desk.confirmed(1)
    for family, kind in (("service", PLAN_APPLY), ("payments", FILE)):
        with as_role(database_url("jobs_api"), "acme") as connection:
            connection.execute(f"{FORGED} as x", (family, kind, plan["id"]))
    await stage.apply()
    assert (stage.plan(plan)["state"], stage.turns(plan)) == ("done", ["done"])
    assert [job["status"] for job in (*jobs_of(stage), *jobs_of(stage, FILE))] == [JobStatus.PENDING, JobStatus.PENDING]
    ((text,),) = stage.rows("select text from jobs.notices where kind = 'plan-done'")
    assert "Bank file was not submitted" in text


@pytest.mark.parametrize("kinds", [{}, {FILE: replace(KIND, family="nowhere")}], ids=["no-kind", "no-tables"])
async def test_what_cannot_be_submitted_keeps_no_plan_from_ending(stage: Stage, kinds: dict[str, JobKind]) -> None:
    stage = replace(stage, records=replace(FILING, job_kinds=kinds))
    plan = await stage.desk.confirmed(1)
    await stage.apply()
    assert stage.plan(plan)["state"] == "done"
    assert stage.rows("select count(*) from jobs.jobs") == [(0,)]
    ((text,),) = stage.rows("select text from jobs.notices where kind = 'plan-done'")
    assert "was not submitted" in text


@pytest.mark.requirement("INV-05")
async def test_the_plans_end_its_account_and_its_job_are_one_transaction(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Worker is lost as the plan is about to end: nothing of it is there, and then all of it, once."""
    stage = filing(stage)
    plan = await stage.desk.confirmed(2)

    async def away(*_: object) -> None:
        raise RuntimeError("the Worker ended here")

    with monkeypatch.context() as broken:
        broken.setattr(notices, "add", away)
        with pytest.raises(RuntimeError, match="ended here"):
            await stage.apply()
    assert ([job["status"] for job in jobs_of(stage)], jobs_of(stage, FILE)) == (["running"], [])
    assert (stage.plan(plan)["state"], stage.turns(plan)) == ("applying", ["done", "done"])
    await stage.apply(SECOND)
    assert ([job["status"] for job in jobs_of(stage)], len(jobs_of(stage, FILE))) == (["succeeded"], 1)
