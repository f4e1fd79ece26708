"""Failure effects: exactly once a job, whatever dies, raises or happens twice; given up in the end, and never in silence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast
from uuid import UUID

import psycopg
import pytest
from structlog.testing import capture_logs

from jobcontract.money import Money
from jobservice.application import Application, NewPayment, NewWorkItem, Outcome, done, failed, refused, retry
from jobservice.application_jobs import FailedJob
from jobservice.rules.jobs import DEPTH_MOST, too_deep
from jobservice.store.database import Database
from jobservice.usecases.job_desk import ServiceJobDesk
from jobservice.worker.failure_effects import ATTEMPTS_MOST, EffectCall, FailureEffects
from jobservice.worker.fenced import LeaseLost, take
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from tests.conftest import Clock, People
from tests.usecases.desk import NOTES, PAYOUTS, RECORDS
from tests.usecases.desk import application as desk_application
from tests.worker.jobs_stage import KIND, JobStage

pytestmark = pytest.mark.requirement("INV-08")
EFFECT = "payments.note-failed"
RECORDS_WITH_KIND = replace(RECORDS, job_kinds={KIND.id: KIND})


@dataclass
class Effect:
    """An effect that pushes one item and submits one job, then does what the test says."""

    ends: list[object] = field(default_factory=list)
    calls: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    goes_on: asyncio.Event | None = None

    async def __call__(self, job: FailedJob) -> Outcome:
        """Push, submit, end."""
        self.calls += 1
        item = NewWorkItem(key=f"failed-{job.job}-{self.calls}", title=f"{job.subject}: {job.summary}", inputs={})
        await job.push(NOTES, item)
        await job.submit(KIND.id, f"again-{self.calls}", {})
        self.reached.set()
        if self.goes_on is not None:
            await self.goes_on.wait()
        end = self.ends.pop(0) if self.ends else done(f"noted {job.step}")
        if isinstance(end, BaseException):
            raise end
        return end  # type: ignore[return-value]  # what an application returns may be anything


@dataclass
class World:
    """A failed job whose effect is due, and the duty."""

    stage: JobStage
    effect: Effect
    job: str
    application: Application

    def duty(self, name: str = "failure-effects") -> FailureEffects:
        """The duty; another name has a lease of its own."""
        return FailureEffects(records=RECORDS_WITH_KIND, application=self.application, name=name)

    async def run(self) -> dict[str, int]:
        """One run."""
        return dict(await self.stage.run(self.duty()))

    @property
    def effects(self) -> tuple[int, int]:
        """How many items were pushed and jobs submitted."""
        items = self.stage.rows("select 1 from jobs.items")
        return len(items), len(self.stage.rows("select 1 from jobs.jobs where submission_identity like 'again-%%'"))

    @property
    def state(self) -> tuple[str, int]:
        """Of the effect, and its attempts."""
        root = self.stage.job(self.job)
        return root["failure_effect_state"], root["failure_effect_attempts"]


@pytest.fixture
async def world(worker_database: Database, people: People) -> World:
    stage = JobStage(database=worker_database, people=people)
    job = await stage.quiet("one", "succeeded", "running", engine="SUCCESS")
    await stage.run(ReconcilingJobs())
    application, effect = copy(desk_application), Effect()
    application.failure_effects = {EFFECT: effect}
    return World(stage=stage, effect=effect, job=job, application=application)


@pytest.mark.requirement("corrected reconciliation")
async def test_an_effect_is_done_once_with_the_word_that_it_was(world: World) -> None:
    assert world.state == ("due", 0)
    assert await world.run() == {"done": 1}
    assert (world.state, world.effects) == (("done", 1), (1, 1))
    assert world.stage.history(world.job)[-1] == ("effect-done", "Failure effect done: noted check")
    for _ in range(2):
        await world.stage.run(ReconcilingJobs())
        assert await world.run() == {}
    assert (world.effect.calls, world.effects) == (1, (1, 1))


async def test_what_an_effect_did_before_it_went_wrong_is_undone_and_tried_again(world: World, clock: Clock) -> None:
    world.effect.ends = [
        RuntimeError("secret"),
        failed("Not now."),
        "no outcome",
        SystemExit(3),
        asyncio.CancelledError(),
        done(cast("str", None)),
        retry("Later.", after_seconds=cast("float", "soon")),
    ]
    for number in range(1, 8):
        with capture_logs() as logs:
            assert await world.run() == {"again": 1}
            assert await world.run() == {}, "it has its pause"
        assert (world.state, world.effects) == (("due", number), (0, 0))
        assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["failure-effect-not-done"]
        clock.advance(4_000)
    assert await world.run() == {"done": 1}
    assert (world.state, world.effects) == (("done", 8), (1, 1))
    assert "secret" not in str(world.stage.history(world.job))


async def test_an_effect_that_goes_on_after_the_database_refused_is_not_done(world: World) -> None:
    async def careless(job: FailedJob) -> Outcome:
        assert isinstance(job, EffectCall)
        try:
            await job.transaction.connection.execute(b"select 1/0")
        except psycopg.Error:
            return done("all well")
        raise AssertionError

    world.application.failure_effects[EFFECT] = careless
    assert await world.run() == {"again": 1}
    assert world.state == ("due", 1)


async def test_an_effect_is_given_up_in_the_end_and_somebody_is_called(world: World, clock: Clock) -> None:
    world.effect.ends = [retry("Later.", after_seconds=1.0) for _ in range(20)]
    with capture_logs() as logs:
        for _ in range(ATTEMPTS_MOST + 2):
            await world.run()
            clock.advance(2)
    assert world.state == ("failed", ATTEMPTS_MOST)
    assert world.effect.calls == ATTEMPTS_MOST
    kind, sentence = world.stage.history(world.job)[-1]
    assert (kind, sentence) == (
        "effect-failed",
        f"Failure effect {EFFECT} was tried 10 times and given up; a person has to do it. Later.",
    )
    assert [line["job"] for line in logs if line.get("alarm")] == [world.job]


async def test_an_effect_that_no_worker_survived_is_not_begun_again(world: World) -> None:
    world.stage.past_the_walls(f"update jobs.jobs set failure_effect_attempts = {ATTEMPTS_MOST}")
    assert await world.run() == {"given_up": 1}
    assert world.effect.calls == 0
    assert "Every attempt was broken off" in world.stage.history(world.job)[-1][1]


async def test_an_effect_pushes_no_money_and_what_it_submits_is_of_the_jobs_customer(world: World) -> None:
    kept: list[FailedJob] = []

    async def pays(job: FailedJob) -> Outcome:
        kept.append(job)
        await job.submit(KIND.id, "again-1", {})
        payment = NewPayment(
            money=Money(minor=100, currency="GBP"), payee_id="P-1", payee_name="Pat", account="GB00TEST0001"
        )
        return done(await job.push(PAYOUTS, NewWorkItem(key="k", title="T", inputs={"invoice": "i"}, payment=payment)))

    world.stage.past_the_walls("update jobs.jobs set customer = 'C-1', workspace = 'W-1'")
    world.application.failure_effects[EFFECT] = pays
    with capture_logs() as logs:
        assert await world.run() == {"again": 1}
    assert "a failure effect pushes none" in next(line["reason"] for line in logs if "reason" in line)
    assert world.effects == (0, 0)

    async def submits(job: FailedJob) -> Outcome:
        await kept[0].submit(KIND.id, "again-2", {})
        raise AssertionError

    world.stage.past_the_walls("update jobs.jobs set failure_effect_at = jobs.now()")
    world.application.failure_effects[EFFECT] = submits
    assert await world.run() == {"again": 1}, "the call of an attempt that is over does nothing"
    world.stage.past_the_walls("update jobs.jobs set failure_effect_at = jobs.now()")
    world.application.failure_effects[EFFECT] = world.effect
    assert await world.run() == {"done": 1}
    made = "select customer, workspace from jobs.jobs where submission_identity like 'again-%%'"
    assert world.stage.rows(made) == [{"customer": "C-1", "workspace": "W-1"}]


async def test_an_effect_that_refuses_is_given_up_at_once_and_one_without_code_is_not(
    world: World, clock: Clock
) -> None:
    del world.application.failure_effects[EFFECT]
    assert await world.run() == {"again": 1}, "an older Worker may not know it yet"
    clock.advance(60)
    world.application.failure_effects[EFFECT] = world.effect
    world.effect.ends = [refused("There is nothing to note.")]
    assert await world.run() == {"given_up": 1}
    assert (world.state, world.effects) == (("failed", 2), (0, 0))


async def test_a_worker_that_dies_over_an_effect_leaves_it_undone_and_the_next_does_it_once(
    world: World, clock: Clock
) -> None:
    world.effect.goes_on = asyncio.Event()
    task = asyncio.create_task(world.run())
    await world.effect.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (world.state, world.effects) == (("due", 1), (0, 0)), "the attempt counts, and nothing of it is there"
    world.effect.goes_on = None
    clock.advance(60)
    assert await world.run() == {"done": 1}
    assert (world.state, world.effects) == (("done", 2), (1, 1))


async def test_two_workers_at_once_do_an_effect_once(world: World, clock: Clock) -> None:
    """The first is frozen in the middle for so long that the second takes the same effect."""
    first, second = world.duty(name="effects-1"), world.duty(name="effects-2")
    leases = [await world.stage.lease(first, UUID(int=1)), await world.stage.lease(second, UUID(int=2))]
    world.effect.goes_on = asyncio.Event()
    frozen = asyncio.create_task(first.run_once(leases[0]))
    await world.effect.reached.wait()
    clock.advance(30)
    assert await second.run_once(leases[1]) == {}, "the row is locked, and is passed over"
    world.effect.goes_on.set()
    assert await frozen == {"done": 1}
    assert await second.run_once(leases[1]) == {}
    assert (world.effect.calls, world.effects) == (1, (1, 1))


async def test_a_lease_that_was_lost_does_nothing(world: World, clock: Clock) -> None:
    duty = world.duty()
    lease = await world.stage.lease(duty)
    clock.advance(3_600)
    assert await take(world.stage.database, duty, UUID(int=8), woken=True) is not None
    with pytest.raises(LeaseLost):
        await duty.run_once(lease)
    assert (world.effect.calls, world.effects) == (0, (0, 0))


async def test_what_an_effect_submits_is_one_deeper_and_comes_to_an_end(world: World) -> None:
    """A kind whose effect submits it again fails and submits, for ever; nothing of an effect past the bound is done."""
    assert await world.run() == {"done": 1}
    (made,) = world.stage.rows(
        "select depth, sentence from jobs.jobs as j join jobs.job_events as e on e.job = j.id and"
        " e.sequence = 1 where submission_identity = 'again-1'"
    )
    assert made == {"depth": 1, "sentence": f"It was submitted by job {world.job}."}
    deep = await world.stage.quiet("deep", "failed", engine="ERROR", depth=str(DEPTH_MOST))
    await world.stage.run(ReconcilingJobs())
    assert await world.run() == {"given_up": 1}
    assert world.effects == (1, 1)
    said = world.stage.history(deep)[-1]
    assert said[0] == "effect-failed"
    assert said[1].endswith(too_deep("Note", DEPTH_MOST + 1) or "?")


async def test_what_an_effect_submits_in_a_transaction_of_its_own_is_as_deep(
    world: World, database_url: Callable[[str], str]
) -> None:
    """Whoever submits past the effect's transaction is no way around; and what comes after an effect is of no job."""
    desk = Application("payments", Path(__file__).parent)
    desk.connect_jobs(ServiceJobDesk(RECORDS_WITH_KIND))

    async def submits(identity: str) -> None:
        async with await psycopg.AsyncConnection.connect(database_url("jobs_worker")) as connection:
            await desk.submit(connection, tenant="acme", kind=KIND.id, submission_identity=identity, inputs={})

    async def goes_around(job: FailedJob) -> Outcome:
        await submits(f"after-{job.job}")
        return done("noted")

    world.application.failure_effects[EFFECT] = goes_around
    assert await world.run() == {"done": 1}
    await submits("nobody-s")
    made = world.stage.rows("select submission_identity as named, depth from jobs.jobs where id <> %s", world.job)
    assert {each["named"]: each["depth"] for each in made} == {f"after-{world.job}": 1, "nobody-s": 0}
