"""One identity is one job within its kind, also under races and in open transactions; inputs; money; the desk."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobservice.usecases.job_desk import ServiceJobDesk
from jobservice.usecases.job_submission import Submission, submit_in
from tests.usecases.desk import refused_with
from tests.usecases.job_desk_stage import JOB_RECORDS, MONEY, SINGLE, SYNC, JobStage, job_stage

PLAN = "01a22f4b-d2c3-773c-ad11-0122e993c3d1"


@pytest.fixture
def stage(database: Any, worker_database: Any, people: Any) -> JobStage:
    return job_stage(database, worker_database, people)


def submission(identity: str = "A-1", kind: str = SINGLE, **more: Any) -> Submission:
    return Submission(**{"kind": kind, "submission_identity": identity, "inputs": {}, "requester": "o.lind", **more})


def counted(stage: JobStage) -> tuple[int, int, int, int]:
    """Roots, steps, first events and workflows that there are."""
    row = stage.people.connection.execute(
        "select (select count(*) from jobs.jobs), (select count(*) from jobs.job_steps),"
        " (select count(*) from jobs.job_events), (select count(*) from jobs_engine.workflow_status)"
    ).fetchone()
    return tuple(row)


@pytest.mark.requirement("INV-01")
async def test_a_duplicate_gets_the_first_job_and_another_intention_a_conflict_that_names_it(stage: JobStage) -> None:
    first = await stage.submit(SYNC, "A-1", inputs={"month": "2026-11", "pages": 1}, subject="November")
    same = await stage.submit(SYNC, "A-1", inputs={"pages": 1, "month": "2026-11"}, subject="Called otherwise")
    assert (same.id, same.first, first.first) == (first.id, False, True)
    for more, words in (
        ({"inputs": {"month": "2026-12", "pages": 1}}, "input month"),
        ({"inputs": {"month": "2026-11", "pages": 1}, "customer": "c-1"}, "customer"),
    ):
        refusal = await refused_with(ErrorCode.JOB_IDENTITY_TAKEN, stage.submit(SYNC, "A-1", **more))
        assert refusal.extra["job"] == first.id
        assert words in refusal.detail
        assert "2026" not in refusal.detail
    other = await stage.submit(SINGLE, "A-1")  # another kind, another job
    assert other.first
    assert counted(stage) == (2, 4, 2, 2)


@pytest.mark.requirement("INV-01")
async def test_duplicates_in_open_transactions_wait_and_get_the_first_job(stage: JobStage) -> None:
    database, held = stage.service.database, asyncio.Event()

    async def first() -> str:
        async with database.transaction("acme") as transaction:
            submitted = await submit_in(transaction, stage.records, submission())
            again = await submit_in(transaction, stage.records, submission())  # in the same transaction too
            assert (again.id, again.first) == (submitted.id, False)
            held.set()
            await waited_for(stage, 2)
            return submitted.id

    async def second() -> Any:
        await held.wait()
        async with database.transaction("acme") as transaction:
            submitted = await submit_in(transaction, stage.records, submission())
            other = await submit_in(transaction, stage.records, submission("A-2"))
            assert other.first or submitted.first is False  # the transaction goes on
            return submitted

    async def third() -> Refusal:
        await held.wait()
        return await refused_with(ErrorCode.JOB_IDENTITY_TAKEN, stage.submit(identity="A-1", inputs={"pages": 9}))

    identifier, duplicate, conflict = await asyncio.gather(first(), second(), third())
    assert (duplicate.id, duplicate.first) == (identifier, False)
    assert conflict.extra["job"] == identifier
    assert counted(stage) == (2, 2, 2, 2)


async def waited_for(stage: JobStage, count: int) -> None:
    """Until so many backends wait for a transaction of another."""
    for _ in range(2_000):
        (waiting,) = stage.people.connection.execute(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        ).fetchone()
        if waiting >= count:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("nobody waits")


@pytest.mark.requirement("PG-04", "INV-01")
async def test_a_first_that_is_rolled_back_makes_the_duplicate_the_first(stage: JobStage) -> None:
    held = asyncio.Event()

    async def gives_up() -> None:
        async with stage.service.database.transaction("acme") as transaction:
            await submit_in(transaction, stage.records, submission())
            held.set()
            await waited_for(stage, 1)
            raise ZeroDivisionError

    async def goes_on() -> Any:
        await held.wait()
        return await stage.submit(identity="A-1", inputs={"pages": 9})

    other = asyncio.create_task(goes_on())
    with pytest.raises(ZeroDivisionError):
        await gives_up()
    submitted = await other
    assert submitted.first
    assert stage.row(submitted.id)["inputs"] == {"pages": 9}
    assert counted(stage) == (1, 1, 1, 1)


@pytest.mark.requirement("INV-09")
@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"mont": "x"}, "`mont` is not declared by the kind. Did you mean `month`?"),
        ({"pages": "three"}, "`pages` is a whole number"),
        ({"month": "x" * 101}, "at most 100"),
        ({"month": {"a": 1}}, "`month` is text"),
        ({"month": "Bearer abc123def456ghi"}, "`month` looks like it holds a bearer token"),
        ({"sk_live_abcdefghijk": "x"}, "name looks like a credential"),
    ],
)
async def test_inputs_that_do_not_fit_are_refused_without_repeating_them(
    stage: JobStage, inputs: dict[str, Any], says: str
) -> None:
    refusal = await refused_with(ErrorCode.JOB_INPUTS_UNFIT, stage.submit(SYNC, inputs=inputs))
    assert says in refusal.detail
    assert "abc" not in refusal.detail
    assert counted(stage) == (0, 0, 0, 0)


async def test_money_takes_a_plan_and_an_unknown_kind_names_the_nearest(stage: JobStage) -> None:
    refusal = await refused_with(ErrorCode.NEEDS_PLAN, stage.submit(MONEY, database=stage.worker))
    assert "t.release-many" in refusal.detail
    assert (await stage.submit(MONEY, "M-1", database=stage.worker, plan=PLAN)).first
    taken = stage.submit(MONEY, "M-1", database=stage.worker, plan=PLAN[:-1] + "2")
    assert "another plan" in (await refused_with(ErrorCode.JOB_IDENTITY_TAKEN, taken)).detail
    with pytest.raises(psycopg.errors.InsufficientPrivilege):  # the API's role moves no money, whatever the code says
        await stage.submit(MONEY, "M-2", plan=PLAN)
    unknown = await refused_with(ErrorCode.NOT_FOUND, stage.submit("t.synk"))
    assert "Did you mean t.sync?" in unknown.detail
    wrong: tuple[dict[str, Any], ...] = (
        {"submission_identity": ""},
        {"submission_identity": " \u200b"},
        {"subject": "a\x1b[2Jb"},
        {"subject": "a\x00b"},
        {"customer": "password=hunter2"},
    )
    for words in wrong:
        await refused_with(ErrorCode.INVALID_REQUEST, stage.submit(**words))


async def test_the_desk_joins_the_application_s_transaction(stage: JobStage, database_url: Any) -> None:
    desk = ServiceJobDesk(JOB_RECORDS)
    more = {"requester": None, "subject": "Nightly", "customer": None, "workspace": "w-1"}
    async with await psycopg.AsyncConnection.connect(database_url("jobs_worker"), autocommit=True) as connection:
        with pytest.raises(RuntimeError, match="open a transaction first"):
            await desk.submit(connection, "acme", SINGLE, "D-1", {}, **more)
        async with connection.transaction(force_rollback=True):
            await desk.submit(connection, "acme", SINGLE, "D-1", {}, **more)
        assert counted(stage) == (0, 0, 0, 0)
        async with connection.transaction():
            job = await desk.submit(connection, "acme", SINGLE, "D-1", {}, **more)
            with pytest.raises(Refusal):
                await desk.submit(connection, "acme", SINGLE, "D-1", {"pages": 2}, **more)
            assert await desk.submit(connection, "acme", SINGLE, "D-1", {}, **more) == job
    row = stage.row(job)
    assert (row["tenant"], row["subject"], row["workspace"], row["requester"]) == ("acme", "Nightly", "w-1", None)
