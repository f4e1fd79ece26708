"""Jobs run through the whole engine: taken, carried step by step, tried again, reported with what they asked for."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from jobcontract.states import Moves
from jobservice.application import NewWorkItem, Outcome, Patience, done, failed, refused, retry
from jobservice.application_jobs import StepCall
from jobservice.engine.running import RunningJob, Why
from jobservice.engine.step_call import StepOver
from jobservice.usecases.job_submission import Submission, submit_in
from tests.engine.stage import EngineStage, kind_of, nothing, until
from tests.usecases.desk import NOTES


async def test_a_job_runs_through_its_steps(stage: EngineStage) -> None:
    seen = []

    async def first(call: StepCall) -> Outcome:
        call.keep(rows=3)
        return done("First.")

    async def second(call: StepCall) -> Outcome:
        seen.append((call.attempt, call.result_of("first"), call.inputs))
        return done("Second.")

    stage.kind("t.two", first=first, second=second)
    async with stage.working():
        job = await stage.submit("t.two", month="2026-11")
        assert await stage.settled(job) == "succeeded"
        await until(lambda: stage.rows("select topic from jobs.hints where ref = %s", job))
    assert seen == [(1, {"rows": 3}, {"month": "2026-11"})]


@pytest.mark.requirement("RETRY-04")
async def test_a_step_is_tried_as_often_as_it_says_and_no_exception_is_shown(stage: EngineStage) -> None:
    starts: list[int] = []

    async def breaks(call: StepCall) -> Outcome:
        starts.append(call.attempt)
        if call.attempt == 1:
            return retry("The bank is closed.", after_seconds=0)
        raise SystemExit("secret of the application")

    stage.kind("t.breaks", breaks=breaks)
    async with stage.working():
        job = await stage.submit("t.breaks")
        assert await stage.settled(job) == "failed"
    assert starts == [1, 2, 3]
    row = stage.row(job)
    assert "secret" not in row["failure_summary"]
    assert row["failure_reference"]
    assert row["failure_reference"] in row["failure_summary"]


async def test_what_a_step_asks_for_is_done_with_its_report_and_only_where_it_is_done(stage: EngineStage) -> None:
    kept: list[StepCall] = []

    async def asks(call: StepCall) -> Outcome:
        kept.append(call)
        call.submit("t.child", f"of-{call.scope}-{call.attempt}", {})
        return retry("Once more.", after_seconds=0) if call.attempt == 1 else done("Asked.")

    async def refuses(call: StepCall) -> Outcome:
        call.submit("t.child", "of-refused", {})
        return refused("The rules say no.")

    async def wrong(call: StepCall) -> Outcome:
        call.submit("t.child", "of-wrong", {})
        call.push("no-such-queue", NewWorkItem(key="k", title="Item"))
        return done("Asked.")

    stage.kind("t.child", child=nothing)
    stage.kind("t.asks", asks=asks)
    stage.kind("t.wrong", wrong=wrong)
    stage.kind("t.refuses", refuses=refuses)
    async with stage.working():
        asking, wronged, said_no = [await stage.submit(f"t.{each}") for each in ("asks", "wrong", "refuses")]
        ended = [await stage.settled(each) for each in (asking, wronged, said_no)]
        assert ended == ["succeeded", "failed", "failed"]
        child = await until(
            lambda: stage.rows("select id::text, submission_identity from jobs.jobs where kind = 't.child'")
        )
        assert [each["submission_identity"] for each in child] == [f"of-{asking}/asks-2"]
        assert await stage.settled(child[0]["id"]) == "succeeded"
    for call in kept:
        with pytest.raises(StepOver):
            call.submit("t.child", "late", {})
    assert "no-such-queue" in stage.row(wronged)["failure_summary"]


async def test_what_steps_push_and_submit_is_once_and_of_their_jobs_customer(stage: EngineStage) -> None:
    async def asks(call: StepCall) -> Outcome:
        call.push(NOTES, NewWorkItem(key="once", title="Item"))
        call.submit("t.child", "once", {})
        return done("Asked.")

    stage.kind("t.child", child=nothing)
    stage.kind("t.asks", asks=asks)
    async with stage.working():
        for number in range(2):
            asked = Submission(
                kind="t.asks", submission_identity=str(number), inputs={}, customer="C-1", workspace="W-1"
            )
            async with stage.database.transaction("acme") as transaction:
                job = (await submit_in(transaction, stage.records, asked)).id
            assert await stage.settled(job) == "succeeded"
    assert len(stage.rows("select 1 from jobs.items where queue = %s", NOTES)) == 1
    made = stage.rows("select customer, workspace from jobs.jobs where kind = 't.child'")
    assert made == [{"customer": "C-1", "workspace": "W-1"}]


def test_a_run_that_is_lost_or_cancelled_stays_so() -> None:
    for first, later in ((Why.LOST, Why.CANCELLED), (Why.LOST, Why.STOPPED), (Why.CANCELLED, Why.STOPPING)):
        running = RunningJob(family="payments", job="j", tenant="acme", handle="h")
        running.end(first)
        running.end(later)
        assert running.why is first
    running.end(Why.LOST)
    assert running.why is Why.LOST


async def test_a_step_that_takes_too_long_or_is_not_registered_fails_in_words(stage: EngineStage) -> None:
    async def slow(call: StepCall) -> Outcome:
        await call.wait(60)
        return done("Late.")

    stage.kind("t.slow", slow=slow)
    stage.step("slow", slow, Patience(attempts=1, bound=0.2))
    gone = kind_of("t.gone", "gone")
    stage.records = replace(stage.records, job_kinds={**stage.records.job_kinds, "t.gone": gone})
    async with stage.working():
        late, unknown = await stage.submit("t.slow"), await stage.submit("t.gone")
        assert (await stage.settled(late), await stage.settled(unknown)) == ("failed", "failed")
    assert "longer than 0.2 s" in stage.row(late)["failure_summary"]
    assert "t.gone" in stage.row(unknown)["failure_summary"]
    assert stage.step_row(unknown)["attempts"] == 1


@pytest.mark.requirement("steps")
async def test_a_job_keeps_the_steps_that_it_was_submitted_with(stage: EngineStage) -> None:
    ran: list[str] = []

    def named(name: str) -> object:
        async def step(call: StepCall) -> Outcome:
            ran.append(call.step)
            return done(name)

        return step

    stage.kind("t.kept", old=named("old"), both=named("both"))  # type: ignore[arg-type]  # a step's function
    job = await stage.submit("t.kept")
    stage.records = replace(
        stage.records, job_kinds={**stage.records.job_kinds, "t.kept": kind_of("t.kept", "both", "new", version=1)}
    )
    stage.step("new", named("new"))  # type: ignore[arg-type]  # likewise
    async with stage.working():
        assert await stage.settled(job) == "succeeded"
    assert ran == ["old", "both"]


async def test_no_step_moves_money_without_a_proof(stage: EngineStage) -> None:
    stage.kind("t.money", money=nothing)
    stage.records = replace(
        stage.records, job_kinds={"t.money": replace(kind_of("t.money", "money"), moves=Moves.NOTHING)}
    )
    job = await stage.submit("t.money")
    with stage.superuser.transaction():  # past the triggers
        stage.superuser.execute("set local session_replication_role = replica")
        stage.superuser.execute("update jobs.job_steps set moves = 'money' where job = %s", (job,))
    async with stage.working():
        assert await stage.settled(job) == "failed"
    assert "no public keys" in stage.row(job)["failure_summary"]


async def test_a_failed_report_runs_nothing_twice(stage: EngineStage) -> None:
    """A crash between report and the engine's own record of the end: the account says that the step is done."""
    starts = []

    async def once(call: StepCall) -> Outcome:
        starts.append(call.attempt)
        return done("Once.")

    stage.kind("t.once", once=once, last=once)
    async with stage.working():
        job = await stage.submit("t.once")
        assert await stage.settled(job) == "succeeded"
        handle = stage.row(job)["execution_handle"]
        assert stage.carriage is not None
        stage.superuser.execute(  # as if the process had been killed before the library wrote how it ended
            "update jobs_engine.workflow_status set status = 'ENQUEUED', completed_at = null where workflow_uuid = %s",
            (handle,),
        )
        stage.carriage.engine.bell.ring()
        await until(
            lambda: not stage.rows("select 1 from jobs_engine.workflow_status where workflow_uuid = %s", handle)
        )
    assert starts == [1, 1]
    assert stage.events(job).count("settled") == 1


async def test_only_so_many_work_at_once_and_those_that_wait_take_no_place(stage: EngineStage) -> None:
    working, most = 0, 0
    go = asyncio.Event()

    async def works(call: StepCall) -> Outcome:
        nonlocal working, most
        working += 1
        most = max(most, working)
        await go.wait()
        working -= 1
        return done("Worked.")

    async def waits(call: StepCall) -> Outcome:
        return failed("Not yet.")

    stage.kind("t.works", works=works)
    stage.kind("t.waits", waits=waits)
    stage.step("waits", waits, Patience(attempts=2, first_wait=300.0, longest_wait=300.0))
    waiting = [await stage.submit("t.waits") for _ in range(3)]
    jobs = [await stage.submit("t.works") for _ in range(4)]
    async with stage.working(at_once=2, grace=0.5):
        await until(lambda: working == 2)
        assert {stage.row(each)["status"] for each in waiting} == {"running"}
        go.set()
        for job in jobs:
            assert await stage.settled(job) == "succeeded"
    assert most == 2
