"""Declared progress: coalesced to one write a second and job, batched over jobs, refused where the fence moved."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from jobservice.application import Outcome, done
from jobservice.application_jobs import StepCall
from jobservice.engine import progress
from jobservice.engine.step_call import StepOver
from tests.engine.stage import EngineStage, nothing, until


@pytest.mark.requirement("INV-04", "INV-05")
async def test_progress_is_coalesced_and_never_falls(stage: EngineStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_SECONDS", 3600.0)
    go = asyncio.Event()

    async def works(call: StepCall) -> Outcome:
        await call.progress(40, "Four of ten.")
        await until(lambda: stage.step_row(call.job)["progress"] == 40)
        for percent in range(1, 90):
            await call.progress(percent)
        await go.wait()
        return done("Worked.")

    stage.kind("t.works", works=works, rest=nothing)
    async with stage.working():
        job = await stage.submit("t.works")
        await until(lambda: stage.step_row(job)["progress"] == 40)
        row = stage.row(job)
        assert (row["progress"], row["last_step"], row["last_step_status"]) == (20, "works", "running")
        assert stage.step_row(job)["sentence"] == "Four of ten."
        go.set()
        assert await stage.settled(job) == "succeeded"
    lines = stage.rows(
        "select progress, sentence, detail from jobs.job_events where job = %s and kind = 'progress'", job
    )
    assert [each["detail"]["percent"] for each in lines] == [40]
    sequences = stage.rows("select sequence from jobs.job_events where job = %s order by 1", job)
    assert [each["sequence"] for each in sequences] == list(range(1, len(sequences) + 1))


async def test_what_is_declared_while_the_jobs_row_is_locked_is_written_soon_after(stage: EngineStage) -> None:
    begin, go = asyncio.Event(), asyncio.Event()

    async def works(call: StepCall) -> Outcome:
        await begin.wait()
        await call.progress(40, "Four of ten.")
        await go.wait()
        return done("Worked.")

    stage.kind("t.works", works=works)
    async with stage.working():
        job = await stage.submit("t.works")
        await until(lambda: stage.step_row(job)["status"] == "running")
        assert stage.carriage is not None
        declared = stage.carriage.progresses._declared
        with stage.superuser.transaction():
            stage.superuser.execute("select 1 from jobs.jobs where id = %s for update", (job,))
            begin.set()
            await until(lambda: any(each.written_at > float("-inf") for each in declared.values()))
            assert stage.step_row(job)["progress"] == 0
        await until(lambda: stage.step_row(job)["sentence"] == "Four of ten.")
        go.set()
        assert await stage.settled(job) == "succeeded"


async def test_many_jobs_declare_in_few_transactions(stage: EngineStage) -> None:
    async def works(call: StepCall) -> Outcome:
        for percent in range(0, 60):
            await call.progress(percent)
            await call.wait(0.005)
        return done("Worked.")

    stage.kind("t.works", works=works)
    jobs = [await stage.submit("t.works") for _ in range(30)]
    async with stage.working(at_once=30):
        for job in jobs:
            assert await stage.settled(job) == "succeeded"
    written = stage.rows("select xmin::text as x from jobs.job_events where kind = 'progress'")
    assert len(written) >= len(jobs)
    assert len(written) < 60 * len(jobs) / 5
    assert len({each["x"] for each in written}) < len(written) / 3


@pytest.mark.requirement("LEASE-04")
async def test_a_lost_jobs_progress_is_refused(stage: EngineStage) -> None:
    refused = asyncio.Event()

    async def works(call: StepCall) -> Outcome:
        try:
            for percent in range(100):
                await call.progress(percent)
                await asyncio.sleep(0.05)
        except StepOver:
            refused.set()
            raise
        except asyncio.CancelledError:
            with pytest.raises(StepOver):
                await call.progress(100)
            refused.set()
            raise
        return done("Worked.")

    stage.kind("t.works", works=works)
    async with stage.working():
        job = await stage.submit("t.works")
        await until(lambda: stage.step_row(job)["status"] == "running")
        stage.superuser.execute(
            "update jobs.jobs set holder = %s, fence = fence + 1, version = version + 1 where id = %s", (uuid4(), job)
        )
        before = stage.step_row(job)["progress"]
        await asyncio.wait_for(refused.wait(), 15)
        assert stage.step_row(job)["progress"] == before
