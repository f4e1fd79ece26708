"""The accounts of plans that stayed behind their plans: settled once, as the plan ended; a plan that goes on is left alone."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from jobservice.application import Outcome, OutwardOrder, refused
from jobservice.rules.job_kinds import PLAN_APPLY
from jobservice.worker import plan_accounts
from jobservice.worker.plan_keeper import PlanKeeper
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from tests.conftest import Clock
from tests.worker.plan_jobs_stage import jobs_of, lines_of
from tests.worker.plans_stage import FIRST, LEASE, SECOND, Stage
from tests.worker.test_plan_accounts import FORGED, account_of

pytestmark = pytest.mark.requirement("reconciler")


async def says_no(order: OutwardOrder) -> Outcome:
    return refused("The account is closed.")


async def begun(stage: Stage, count: int = 1) -> dict[str, Any]:
    """A plan that a Worker applies: its account runs."""
    stage.change("update jobs.codes set last_step = 0")  # one code a step: waiting tests nothing here
    plan = await stage.desk.confirmed(count)
    await account_of(stage, plan, FIRST).begin()
    return plan


async def without_account(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan ends, and what its account says could not be written."""

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("somebody wrote past the service")

    with monkeypatch.context() as patched:
        patched.setattr(plan_accounts, "settle_with", broken)
        await stage.apply(SECOND)


async def test_the_account_of_a_plan_that_is_done_is_settled_and_says_how_it_was_found(
    stage: Stage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = await begun(stage, 3)
    stage.bank.odd = {stage.key(plan, 2): says_no}
    await without_account(stage, monkeypatch)
    (job,) = jobs_of(stage)
    assert (stage.plan(plan)["state"], job["status"]) == ("done", "running")
    assert await stage.run_duty(ReconcilingJobs()) == {}, "it showed life just now"
    hints = "select count(*) from jobs.hints where topic = 'job' and ref = %s"
    before = stage.rows(hints, job)[0][0]
    clock.advance(6)
    assert await stage.run_duty(ReconcilingJobs()) == {"succeed": 1}
    assert stage.rows(hints, job)[0][0] == before + 1
    (job,) = jobs_of(stage)
    assert (job["status"], job["progress"], job["holder"]) == ("succeeded", 100, None)
    assert lines_of(stage, job)[-3:] == [
        ("reconciled", "The plan is done and its account was closed, and this job ran on. Settled as succeeded."),
        ("step-succeeded", "3 items: 2 done, 1 refused."),
        ("settled", "3 items: 2 done, 1 refused."),
    ]
    clock.advance(60)
    assert await stage.run_duty(ReconcilingJobs()) == {}, "once"


async def test_that_of_an_aborted_and_of_a_lapsed_plan_too(
    stage: Stage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    aborted = await begun(stage)
    await stage.desk.abort(aborted)
    await without_account(stage, monkeypatch)
    lapsed = await begun(stage)
    stage.change("update jobs.plans set apply_until = jobs.now() where id = %s", lapsed)
    await stage.run_duty(PlanKeeper())
    await without_account(stage, monkeypatch)
    assert [job["status"] for job in jobs_of(stage)] == ["running", "running"]
    clock.advance(6)
    assert await stage.run_duty(ReconcilingJobs()) == {"cancel": 1, "fail": 1}
    one, other = jobs_of(stage)
    assert (one["status"], one["cancel_asked_by"], one["cancel_reason"]) == ("cancelled", "o.lind", "Wrong set")
    assert lines_of(stage, one)[-1][1] == "The plan was aborted: Wrong set. 1 item: 1 not started."
    assert (other["status"], other["failure_summary"]) == (
        "failed",
        "The plan lapsed. Its time to apply was over before every item had its turn. 1 item: 1 not started.",
    )
    for job in (one, other):
        assert "reconciled" in dict(lines_of(stage, job))


async def test_a_plan_that_goes_on_or_whose_account_is_open_is_left_alone(stage: Stage, clock: Clock) -> None:
    """Its Worker may be dead: whoever takes the plan goes on with the account, too."""
    applied, paused, aborted = [await begun(stage) for _ in range(3)]
    await stage.desk.pause(paused)
    await stage.desk.abort(aborted)
    clock.advance(3_600)
    assert await stage.run_duty(ReconcilingJobs()) == {}
    assert [stage.plan(plan)["accounted_at"] for plan in (applied, paused, aborted)] == [None] * 3
    assert {job["status"] for job in jobs_of(stage)} == {"running"}


async def test_what_no_plan_carries_ends_as_failed(stage: Stage, clock: Clock) -> None:
    """Written past the service."""
    gone = await begun(stage)
    stage.change("set session_replication_role = replica")
    stage.change("delete from jobs.plans where id = %s", gone)
    stage.change("set session_replication_role = origin")
    unconfirmed = await stage.desk.plan(await stage.desk.pushed(1))
    forged = FORGED.replace("lineage)", "lineage, carrier, plan)").replace(", i from", ", i, 'plan', %s::uuid from")
    for identity in (unconfirmed["id"], "any"):
        stage.change(f"{forged} as x", "service", PLAN_APPLY, identity, unconfirmed["id"])
    clock.advance(6)
    assert await stage.run_duty(ReconcilingJobs()) == {"fail": 3}
    assert [job["failure_summary"] for job in jobs_of(stage)] == [
        "The plan is not there any more: what became of its items is not known here.",
        "It says that a plan carries it, and no Worker began it for one.",
        "It says that a plan carries it, and no Worker began it for one.",
    ]


async def test_looks_go_on_where_the_last_one_ended(
    stage: Stage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await stage.desk.pause(await begun(stage))
    left = await begun(stage)
    await without_account(stage, monkeypatch)
    assert stage.plan(left)["state"] == "done"
    clock.advance(6)
    duty = ReconcilingJobs(batch=2)
    assert not await duty.wanted(stage.database, FIRST)
    assert await duty.wanted(stage.database, FIRST), "two rows a look"


def kill_in_the_middle(url: str) -> None:
    """A process closes the plan, and is killed before it commits."""
    words = [sys.executable, "-m", "tests.worker.killed_duty", "closing", url]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.kill()


@pytest.mark.long
@pytest.mark.requirement("LEASE-04", "INV-05")
async def test_killed_while_it_closes_a_plan(stage: Stage, clock: Clock, database_url: Callable[[str], str]) -> None:
    """kill -9 between the plan's end and the commit of it and of its account: neither is there, and the next Worker does
    both, once; nobody settles the account behind its back."""
    plan = await stage.desk.confirmed(2)
    await asyncio.to_thread(kill_in_the_middle, database_url("jobs_worker"))
    gone = "select count(*) from pg_stat_activity where application_name = 'killed duty'"
    while stage.rows(gone) != [(0,)]:
        pass
    assert (stage.plan(plan)["state"], stage.turns(plan)) == ("applying", ["done", "done"])
    clock.advance(LEASE + 1)
    assert await stage.run_duty(ReconcilingJobs()) == {}
    assert [job["status"] for job in jobs_of(stage)] == ["running"]
    await stage.apply(SECOND)
    (job,) = jobs_of(stage)
    assert (stage.plan(plan)["state"], job["status"]) == ("done", "succeeded")
    kinds = [kind for kind, _ in lines_of(stage, job)]
    assert (kinds.count("settled"), kinds.count("reconciled")) == (1, 0)
