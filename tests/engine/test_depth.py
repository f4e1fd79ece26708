"""Jobs that submit jobs: a chain of them ends, whoever wrote it, with a failure that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobservice.application import Application, Outcome, done
from jobservice.application_jobs import StepCall
from jobservice.rules.jobs import DEPTH_MOST
from jobservice.usecases.job_desk import ServiceJobDesk
from tests.engine.stage import EngineStage, until

DEEP = (
    f"Echo: Echo was not submitted: {DEPTH_MOST} jobs have submitted one another already, each the next, and there it ends. What goes "
    "on and on belongs into steps of one job, or to a schedule."
)


def chain(stage: EngineStage) -> list[Any]:
    """Depth and status of all jobs of the chain, from its first."""
    return stage.rows(
        "select id::text, depth, status, failure_summary from jobs.jobs where kind = 't.echo' order by id"
    )


def over(stage: EngineStage) -> bool:
    """Whether nothing runs any more."""
    return not stage.rows("select 1 from jobs.jobs where settled_at is null")


async def echo(call: StepCall) -> Outcome:
    """Submits its own kind, under a new identity."""
    call.submit("t.echo", f"after-{call.job}", {})
    return done("Submitted the next.")


async def test_a_kind_that_submits_itself_comes_to_an_end(stage: EngineStage) -> None:
    stage.kind("t.echo", echo=echo)
    await stage.submit("t.echo")
    async with stage.working():
        await until(lambda: over(stage) or len(chain(stage)) > DEPTH_MOST + 1, 60)
    jobs = chain(stage)
    assert [job["depth"] for job in jobs] == list(range(DEPTH_MOST + 1))
    assert [job["status"] for job in jobs] == ["succeeded"] * DEPTH_MOST + ["failed"]
    assert jobs[-1]["failure_summary"] == DEEP
    assert stage.step_row(jobs[-1]["id"])["attempts"] == 1, "another attempt would end as this one did"
    second = stage.rows("select sentence from jobs.job_events where job = %s and sequence = 1", jobs[1]["id"])
    assert second == [{"sentence": f"It was submitted by job {jobs[0]['id']}."}]


async def test_what_is_there_already_is_no_deeper(stage: EngineStage) -> None:
    """A step that is tried again, or that makes sure of a job that somebody submitted, submits nothing."""

    async def last(call: StepCall) -> Outcome:
        call.submit("t.echo", "there-already" if call.step == "ensure" else f"after-{call.job}", {})
        return done("Done.")

    stage.kind("t.echo", echo=last)
    stage.kind("t.ensures", ensure=last)
    there = await stage.submit("t.echo")
    deepest = await stage.submit("t.ensures")
    with stage.superuser.transaction():
        stage.superuser.execute("set local session_replication_role = replica")
        stage.superuser.execute("update jobs.jobs set submission_identity = 'there-already' where id = %s", (there,))
        stage.superuser.execute(
            "update jobs.jobs set depth = %s where id = any(%s::uuid[])", (DEPTH_MOST, [deepest, there])
        )
    async with stage.working():
        assert await stage.settled(deepest) == "succeeded"
        assert await stage.settled(there) == "failed"
    assert stage.row(there)["failure_summary"] == DEEP


async def test_a_retry_stands_as_deep_as_what_it_retries(stage: EngineStage) -> None:
    stage.kind("t.echo", echo=echo)
    first = await stage.submit("t.echo")
    async with stage.working():
        await until(lambda: over(stage) and chain(stage), 60)
        deepest = chain(stage)[-1]
        retried = await stage.retry(deepest["id"])
        assert await stage.settled(retried) == "failed"
    assert stage.row(retried)["depth"] == DEPTH_MOST
    assert stage.row(first)["depth"] == 0


async def test_what_a_step_submits_in_a_transaction_of_its_own_is_as_deep(
    stage: EngineStage, database_url: Any
) -> None:
    """Whoever submits past the step's report is no way around."""
    desk = Application("payments", Path(__file__).parent)
    url = database_url("jobs_worker")

    async def goes_around(call: StepCall) -> Outcome:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            await desk.submit(
                connection, tenant="acme", kind="t.echo", submission_identity=f"after-{call.job}", inputs={}
            )
        return done("Submitted the next.")

    stage.kind("t.echo", echo=goes_around)
    desk.connect_jobs(ServiceJobDesk(stage.records))
    await stage.submit("t.echo")
    async with stage.working():
        await until(lambda: over(stage) or len(chain(stage)) > DEPTH_MOST + 1, 60)
    assert [job["depth"] for job in chain(stage)] == list(range(DEPTH_MOST + 1))
    assert chain(stage)[-1]["failure_summary"] == DEEP


async def test_the_account_takes_none_that_is_deeper(stage: EngineStage) -> None:
    stage.kind("t.echo", echo=echo)
    job = await stage.submit("t.echo")
    with pytest.raises(psycopg.errors.RestrictViolation, match="stays what was submitted"):
        stage.superuser.execute("update jobs.jobs set depth = 1, version = version + 1 where id = %s", (job,))
    deeper = f"set local session_replication_role = replica; update jobs.jobs set depth = {DEPTH_MOST + 1}"
    with stage.superuser.transaction(), pytest.raises(psycopg.errors.CheckViolation):
        stage.superuser.execute(deeper.encode())
