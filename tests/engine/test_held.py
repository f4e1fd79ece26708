"""What a stop or the money switch holds still: it says so, begins nothing, takes no place, goes on when it may, and can be
cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jobservice.application import Outcome, done
from jobservice.application_jobs import StepCall, StepOrder
from tests.engine.stage import EngineStage, nothing, until


async def believed(transaction: object, family: str, job: str) -> str | None:
    """A proof of whatever is asked."""
    return None


def stop_money(stage: EngineStage, *, stopped: bool) -> None:
    """The tenant's money switch."""
    with stage.superuser.transaction():  # past what asks for another person's code
        stage.superuser.execute("set local session_replication_role = replica")
        stage.superuser.execute(
            "update jobs.money_switches set stopped = %s, at = case when %s then jobs.now() end, "
            "reason = case when %s then 'Audit' end where tenant = 'acme'",
            (stopped,) * 3,
        )
        stage.superuser.execute("select pg_notify('jobs_work', 'plans')")


HOLDS: dict[str, tuple[Callable[[EngineStage], None], Callable[[EngineStage], None], str]] = {
    "tenant": (lambda stage: stage.stop(), EngineStage.start, "All work of acme is stopped"),
    "kind": (lambda stage: stage.stop("t.held"), EngineStage.start, "Job kind t.held is stopped"),
    "money": (
        lambda stage: stop_money(stage, stopped=True),
        lambda stage: stop_money(stage, stopped=False),
        "Money is stopped: Audit",
    ),
}


@pytest.mark.requirement("steps")
@pytest.mark.parametrize("what", HOLDS)
async def test_what_is_held_says_so_once_takes_no_place_and_goes_on_when_it_is_lifted(
    stage: EngineStage, what: str
) -> None:
    hold, lift, words = HOLDS[what]
    began, go, ran = asyncio.Event(), asyncio.Event(), list[str]()

    async def first(call: StepCall) -> Outcome:
        began.set()
        await go.wait()
        return done("First.")

    async def second(call: StepCall) -> Outcome:
        ran.append(call.job)
        return done("Second.")

    stage.kind("t.held", first=first, second=second)
    stage.kind("t.free", free=nothing)
    stage.proof = believed
    job, unwanted = [await stage.submit("t.held") for _ in range(2)]
    if what == "money":
        with stage.superuser.transaction():  # past the triggers: only a plan submits such a job
            stage.superuser.execute("set local session_replication_role = replica")
            stage.superuser.execute("update jobs.job_steps set moves = 'money'")
    async with stage.working(at_once=1):
        await began.wait()
        hold(stage)
        go.set()
        await until(lambda: words in (stage.step_row(job, 2)["sentence"] or ""))
        await until(lambda: words in (stage.step_row(unwanted, 1)["sentence"] or ""))
        assert (stage.row(job)["status"], stage.row(unwanted)["status"]) == ("running", "pending")
        if what != "tenant":
            free = await stage.submit("t.free")
            assert await stage.settled(free) == "succeeded"
        assert stage.carriage is not None
        stage.carriage.watching.let_go()  # it looks again, and has said it already
        await stage.cancel(unwanted)
        assert await stage.settled(unwanted) == "cancelled"
        assert ran == []
        lift(stage)
        assert await stage.settled(job) == "succeeded"
    said = stage.rows("select sentence from jobs.job_events where job = %s and sentence like 'Held still%%'", job)
    assert len(said) == 1
    assert ran == [job]


async def test_a_call_is_held_still_between_its_beginning_and_its_sending(stage: EngineStage) -> None:
    """The stop came after the step had begun, and before *sent*: nothing is sent, and the attempt is the same one."""
    asked, answer, sent = asyncio.Event(), asyncio.Event(), list[str]()

    class Bank:
        async def send(self, order: StepOrder) -> Outcome:
            sent.append(order.key)
            return done("Taken.")

        async def look_up(self, key: str) -> Outcome | None:  # noqa: ARG002  # the protocol's
            asked.set()
            await answer.wait()
            return None

    stage.kind("t.file", file=Bank())
    job = await stage.submit("t.file")
    stage.superuser.execute("update jobs.jobs set status = 'running', started_at = jobs.now(), version = version + 1")
    stage.superuser.execute("update jobs.job_steps set status = 'running', attempts = 1, started_at = jobs.now()")
    async with stage.working():
        await asked.wait()
        stage.stop("t.file")
        answer.set()
        await until(lambda: (stage.step_row(job)["sentence"] or "").startswith("Held still."))
        assert (sent, stage.step_row(job)["status"], stage.step_row(job)["sent_at"]) == ([], "running", None)
        stage.start()
        assert await stage.settled(job) == "succeeded"
    assert (len(sent), stage.step_row(job)["attempts"]) == (1, 2)
