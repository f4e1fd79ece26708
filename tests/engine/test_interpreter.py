"""Jobs run through the whole engine: taken, carried step by step, reported."""

from __future__ import annotations

from jobservice.application import Outcome, done
from jobservice.application_jobs import StepCall
from tests.engine.stage import EngineStage


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
    assert seen == [(1, {"rows": 3}, {"month": "2026-11"})]
