"""A cancellation reaches waits, sleeps and calls within a second, and never loses against what comes late (SAGA-03, SAGA-06)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from jobservice.application import Outcome, Patience, done, failed
from jobservice.application_jobs import StepCall, StepOrder
from tests.engine.stage import EngineStage, nothing, until


async def not_yet(call: StepCall) -> Outcome:
    return failed("Not yet.")


async def sleeps(call: StepCall) -> Outcome:
    await call.wait(600)
    return done("Slept.")


async def swallows(call: StepCall) -> Outcome:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(600)
    return done("Late success.")


async def deaf(call: StepCall) -> Outcome:
    while not DEAF_ENDS.is_set():
        with suppress(asyncio.CancelledError):
            await DEAF_ENDS.wait()
    return done("Never heard.")


DEAF_ENDS = asyncio.Event()


@pytest.mark.requirement("SAGA-03", "SAGA-06")
@pytest.mark.parametrize("step", [not_yet, sleeps, swallows, deaf])
async def test_a_cancellation_ends_pauses_sleeps_and_what_swallows_it(stage: EngineStage, step: Any) -> None:
    starts = []

    async def counted(call: StepCall) -> Outcome:
        starts.append(call.attempt)
        return await step(call)  # type: ignore[no-any-return]  # one of the above

    stage.kind("t.long", long=counted)
    stage.step("long", counted, Patience(attempts=5, first_wait=600.0, longest_wait=600.0))
    DEAF_ENDS.clear()
    async with stage.working():
        job = await stage.submit("t.long")
        state = "retrying" if step is not_yet else "running"
        await until(lambda: stage.step_row(job)["status"] == state and starts)
        await stage.cancel(job)
        assert await stage.settled(job, seconds=8) == "cancelled"
        DEAF_ENDS.set()
        await asyncio.sleep(0)
    assert starts == [1]
    row = stage.row(job)
    assert (row["cancel_asked_by"], row["cancel_reason"]) == ("o.lind", "Not wanted")
    assert stage.events(job)[-1] == "settled"


@pytest.mark.requirement("SAGA-03")
async def test_cancel_and_success_at_once_end_in_one_state_that_stays(stage: EngineStage) -> None:
    stage.kind("t.race", race=nothing)
    async with stage.working():
        jobs = [await stage.submit("t.race") for _ in range(25)]
        answers = await asyncio.gather(*(stage.cancel(job) for job in jobs), return_exceptions=True)
        ends = {job: await stage.settled(job) for job in jobs}
    for job, answer in zip(jobs, answers, strict=True):
        if isinstance(answer, BaseException):
            assert ends[job] == "succeeded"
        kinds = stage.events(job)
        assert kinds.count("settled") == 1
        sequences = stage.rows("select sequence from jobs.job_events where job = %s order by 1", job)
        assert [each["sequence"] for each in sequences] == list(range(1, len(kinds) + 1))


@pytest.mark.requirement("SAGA-03")
async def test_a_call_that_was_sent_comes_to_its_end_and_is_written_before_the_job_is_cancelled(
    stage: EngineStage,
) -> None:
    class Slow:
        def __init__(self) -> None:
            self.called, self.answer = asyncio.Event(), asyncio.Event()

        async def send(self, order: StepOrder) -> Outcome:  # noqa: ARG002  # the protocol's
            self.called.set()
            await self.answer.wait()
            return done("Taken.", reference="B-3")

        async def look_up(self, key: str) -> Outcome | None:  # noqa: ARG002  # likewise
            return None

    bank = Slow()
    stage.kind("t.sent", sent=bank, after=nothing)
    async with stage.working():
        job = await stage.submit("t.sent")
        await bank.called.wait()
        await stage.cancel(job)
        await until(lambda: any(each.why is not None for each in stage.carriage.interpreter.jobs.values()))  # type: ignore[union-attr]  # it works
        bank.answer.set()
        assert await stage.settled(job) == "cancelled"
    assert (stage.step_row(job)["status"], stage.step_row(job)["reference"]) == ("succeeded", "B-3")
    assert stage.step_row(job, 2)["status"] == "cancelled"
