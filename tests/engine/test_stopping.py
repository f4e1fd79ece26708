"""A Worker that stops, drains, is frozen or dies: nothing of its jobs is lost, and nothing is done twice."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from jobservice.application import Outcome, Patience, done, failed
from jobservice.application_jobs import StepCall
from jobservice.engine.adapter import VERSION
from tests.engine.stage import EngineStage, nothing, until


async def not_yet(call: StepCall) -> Outcome:
    return failed("Not yet.")


@pytest.mark.requirement("SAGA-06")
async def test_a_stop_hands_over_what_waits_at_once_and_leaves_its_attempts(stage: EngineStage) -> None:
    stage.kind("t.waits", waits=not_yet)
    stage.step("waits", not_yet, Patience(attempts=5, first_wait=600.0, longest_wait=600.0))
    async with stage.working(grace=30.0):
        job = await stage.submit("t.waits")
        await until(lambda: stage.step_row(job)["status"] == "retrying")
    # The stop did not wait for the grace: the block ended.
    assert (stage.step_row(job)["status"], stage.step_row(job)["attempts"]) == ("retrying", 1)
    assert stage.rows("select status from jobs_engine.workflow_status") == [{"status": "ENQUEUED"}]


@pytest.mark.requirement("SAGA-06")
async def test_what_works_past_the_grace_is_given_back_and_its_attempt_does_not_count(stage: EngineStage) -> None:
    starts = []

    async def works(call: StepCall) -> Outcome:
        starts.append(call.attempt)
        if len(starts) == 1:
            await call.wait(600)
        return done("Worked.")

    stage.kind("t.works", works=works)
    async with stage.working(grace=0.1):
        job = await stage.submit("t.works")
        await until(lambda: starts)
    step = stage.step_row(job)
    assert (step["attempts"], step["handed_back"]) == (1, 1)
    async with stage.working():
        assert await stage.settled(job) == "succeeded"
    assert starts == [1, 2]


async def test_a_worker_that_drains_takes_nothing_and_brings_what_runs_to_its_end(stage: EngineStage) -> None:
    go = asyncio.Event()

    async def works(call: StepCall) -> Outcome:
        await go.wait()
        return done("Worked.")

    stage.kind("t.works", works=works, then=nothing)
    async with stage.working() as worker:
        first = await stage.submit("t.works")
        await until(lambda: stage.row(first)["status"] == "running")
        stage.superuser.execute(
            "update jobs.workers set drain_asked_at = jobs.now(), drain_asked_by = 'o.lind', drain_reason = 'Upgrade'"
        )
        await until(lambda: worker.drains)
        second = await stage.submit("t.works")
        go.set()
        assert await stage.settled(first) == "succeeded"
        assert stage.row(second)["status"] == "pending"
        stage.superuser.execute(
            "update jobs.workers set drain_asked_at = null, drain_asked_by = null, drain_reason = null"
        )
        assert await stage.settled(second) == "succeeded"


def running_elsewhere(stage: EngineStage, job: str, executor: str, attempts: int = 1) -> None:
    """As if a Worker that is gone had been in the middle of the first step."""
    stage.superuser.execute(
        "update jobs.jobs set status = 'running', started_at = jobs.now(), holder = %s, fence = 1, version = version + 1 "
        "where id = %s",
        (executor, job),
    )
    stage.superuser.execute(
        "update jobs.job_steps set status = 'running', attempts = %s, started_at = jobs.now() where job = %s",
        (attempts, job),
    )
    stage.superuser.execute(
        "update jobs_engine.workflow_status set status = 'PENDING', executor_id = %s, owner_xid = 'x' "
        "where workflow_uuid = (select execution_handle from jobs.jobs where id = %s)",
        (executor, job),
    )


@pytest.mark.requirement("LEASE-04", "RETRY-01")
@pytest.mark.parametrize("how", ["stopped", "silent", "unknown"])
async def test_a_dead_workers_jobs_are_taken_up_by_a_living_one(stage: EngineStage, how: str) -> None:
    starts = []

    async def works(call: StepCall) -> Outcome:
        starts.append(call.attempt)
        return done("Worked.")

    stage.kind("t.works", works=works)
    job, worn = await stage.submit("t.works"), await stage.submit("t.works")
    dead = str(uuid4())
    if how != "unknown":
        stage.superuser.execute(
            "insert into jobs.workers (incarnation, version, host, started_at, beat_at, stopped_at) values "
            "(%s, '1', 'h', jobs.now() - interval '1 hour', jobs.now() - interval '1 minute', "
            "case when %s then jobs.now() end)",
            (dead, how == "stopped"),
        )
    running_elsewhere(stage, job, dead)
    running_elsewhere(stage, worn, dead, attempts=3)
    async with stage.working():
        assert (await stage.settled(job), await stage.settled(worn)) == ("succeeded", "failed")
    assert starts == [2]
    assert stage.row(job)["fence"] > 1
    assert "its Worker was lost" in stage.row(worn)["failure_summary"]


async def test_a_living_workers_jobs_are_left_alone(stage: EngineStage) -> None:
    stage.kind("t.works", works=nothing)
    job, other = await stage.submit("t.works"), await stage.submit("t.works")
    alive = str(uuid4())
    stage.superuser.execute("insert into jobs.workers (incarnation, version, host) values (%s, '1', 'h')", (alive,))
    running_elsewhere(stage, job, alive)
    async with stage.working():
        assert await stage.settled(other) == "succeeded"
        stage.superuser.execute("update jobs.workers set beat_at = jobs.now()")
        assert stage.row(job)["holder"] is not None
        assert str(stage.row(job)["holder"]) == alive


async def test_what_a_frozen_worker_writes_late_is_refused(stage: EngineStage) -> None:
    began, thaw = asyncio.Event(), asyncio.Event()

    async def frozen(call: StepCall) -> Outcome:
        began.set()
        call.submit("t.child", "of-frozen", {})
        await thaw.wait()
        return done("From the grave.")

    stage.kind("t.child", child=nothing)
    stage.kind("t.frozen", frozen=frozen)
    async with stage.working() as worker:
        job = await stage.submit("t.frozen")
        await began.wait()
        stage.superuser.execute(  # another Worker took it up
            "update jobs.jobs set holder = %s, fence = fence + 1, version = version + 1 where id = %s", (uuid4(), job)
        )
        thaw.set()
        await until(lambda: not worker.carriage.interpreter.jobs)  # type: ignore[union-attr]  # it has one
        assert (stage.row(job)["status"], stage.step_row(job)["status"]) == ("running", "running")
        assert stage.rows("select 1 from jobs.jobs where kind = 't.child'") == []


async def test_what_an_earlier_version_was_to_run_is_adopted_and_what_a_later_one_is_not(stage: EngineStage) -> None:
    stage.kind("t.works", works=nothing)
    older, newer = await stage.submit("t.works"), await stage.submit("t.works")
    for job, version in ((older, "interpreter-0"), (newer, "interpreter-999")):
        stage.superuser.execute(
            "update jobs_engine.workflow_status set application_version = %s "
            "where workflow_uuid = (select execution_handle from jobs.jobs where id = %s)",
            (version, job),
        )
    async with stage.working():
        assert await stage.settled(older) == "succeeded"
    assert stage.row(newer)["status"] == "pending"
    assert VERSION == "interpreter-1"  # jobs.hand_over writes the same


async def test_what_is_marked_as_running_here_and_does_not_run_is_put_back(stage: EngineStage) -> None:
    stage.kind("t.works", works=nothing)
    async with stage.working() as worker:
        carriage = worker.carriage
        assert carriage is not None
        await until(lambda: carriage.engine.launched)
        carriage.held_while(lambda: True)
        stray = await stage.submit("t.works")
        running_elsewhere(stage, stray, str(worker.incarnation))
        carriage.held_while(lambda: False)
        put_back = [await carriage.recover_strays(), await carriage.recover_strays()]
        assert put_back == [0, 1]  # what was just taken has not begun to run yet
        assert await stage.settled(stray) == "succeeded"
    assert stage.step_row(stray)["attempts"] == 2
