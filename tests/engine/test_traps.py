"""What bites in the engine's library, each held by a test (the first one by a restart of PostgreSQL in test_processes.py)."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from jobservice.application import Outcome, done
from jobservice.application_jobs import StepCall
from jobservice.engine import adapter
from jobservice.engine.adapter import POOL
from jobservice.migrate import migrate
from jobservice.store.database import Database
from jobservice.usecases.deployment import check_families
from tests.conftest import DATABASE_OWNER, Server
from tests.engine.stage import EngineStage, nothing, until


def test_a_socket_that_refuses_is_a_lost_connection(tmp_path: Path) -> None:
    """Else the library takes it for the workflow's fault, and leaves the workflow for ever."""
    engine = adapter._connections(f"postgresql://jobs_worker@/jobs?host={tmp_path}")
    with pytest.raises(sa.exc.OperationalError) as refused:
        engine.connect()
    assert isinstance(refused.value.orig, psycopg.OperationalError)
    assert refused.value.orig.sqlstate is None
    assert refused.value.connection_invalidated


async def test_the_version_is_ours_and_what_is_kept_are_ids_in_json(stage: EngineStage) -> None:
    """Versions by the library are hashes of sources: every edit would strand what is under way. Pickle runs code."""
    stage.kind("t.plain", plain=nothing)
    job = await stage.submit("t.plain", month="2026-11")
    row = stage.rows(
        "select s.application_version, s.serialization, s.application_name, i.inputs from jobs_engine.workflow_status as s "
        "inner join jobs_engine.workflow_input as i using (workflow_uuid)"
    )[0]
    assert (row["application_version"], row["serialization"]) == (adapter.VERSION, "portable_json")
    assert json.loads(row["inputs"])["positionalArgs"] == ["payments", job, "acme"]
    assert stage.row(job)["execution_handle"] != job


async def test_what_the_database_refuses_ends_the_run_and_never_a_step(stage: EngineStage) -> None:
    """A broad `except` around steps took the library's and the database's errors for the step's."""
    starts = []

    async def works(call: StepCall) -> Outcome:
        starts.append(call.attempt)
        return done("Worked.")

    stage.kind("t.plain", plain=works)
    stage.superuser.execute(
        "create function test_clock.refuse() returns trigger language plpgsql as "
        "$$ begin raise exception 'refused' using errcode = 'integrity_constraint_violation'; end $$;"
        "create trigger zz_refuse before update on jobs.job_steps for each row when (new.status = 'succeeded') "
        "execute function test_clock.refuse()"
    )
    try:
        async with stage.working():
            job = await stage.submit("t.plain")
            await until(lambda: stage.rows("select 1 from jobs_engine.workflow_status where status = 'ERROR'"))
    finally:
        stage.superuser.execute("drop trigger zz_refuse on jobs.job_steps; drop function test_clock.refuse()")
    assert starts == [1]
    # The account still says that it runs: the reconciler finds that the engine ended without it.
    assert (stage.row(job)["status"], stage.step_row(job)["status"]) == ("running", "running")


async def test_threads_are_bounded_and_gone_when_the_worker_has_stopped(stage: EngineStage) -> None:
    """Without bounds the library starts the whole backlog, each in threads of its own."""
    most = 0

    async def works(call: StepCall) -> Outcome:
        nonlocal most
        assert stage.carriage is not None
        most = max(most, stage.carriage.interpreter.places.working)
        await call.wait(0.01)
        return done("Worked.")

    stage.kind("t.plain", plain=works)
    jobs = [await stage.submit("t.plain") for _ in range(16)]
    async with stage.working(at_once=4):
        for job in jobs:
            assert await stage.settled(job) == "succeeded"
        ours = [each.name for each in threading.enumerate() if each.name.startswith(("jobs-engine", "dbos-executor"))]
        assert len(ours) <= 2 * POOL
    assert most <= 4
    await until(lambda: not {each.name for each in threading.enumerate()} & {"jobs-taking", "jobs-engine_0"})


async def test_a_job_is_handed_over_once(stage: EngineStage) -> None:
    """A workflow of a known id is the first one, whatever its arguments are: nobody would notice."""
    stage.kind("t.plain", plain=nothing)
    job = await stage.submit("t.plain")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="already"):
        async with stage.database.transaction("acme") as transaction:
            await transaction.connection.execute("select jobs.hand_over('payments', %s)", (job,))
    with pytest.raises(psycopg.errors.NoDataFound):
        async with stage.database.transaction("globex") as transaction:
            await transaction.connection.execute("select jobs.hand_over('payments', %s)", (job,))


async def test_what_is_over_is_removed_and_what_ended_without_its_job_is_kept(stage: EngineStage) -> None:
    """The library keeps what ended for ever."""
    stage.kind("t.plain", plain=nothing)
    odd = await stage.submit("t.plain")
    stage.superuser.execute(
        "update jobs_engine.workflow_status set status = 'ERROR', "
        "completed_at = (extract(epoch from now()) * 1000)::bigint"
    )
    jobs = [await stage.submit("t.plain") for _ in range(5)]
    async with stage.working():
        for job in jobs:
            assert await stage.settled(job) == "succeeded"
        await until(lambda: len(stage.rows("select 1 from jobs_engine.workflow_status")) == 1)
    assert stage.rows("select status from jobs_engine.workflow_status") == [{"status": "ERROR"}]
    assert len(stage.rows("select 1 from jobs_engine.workflow_input")) == 1
    assert stage.row(odd)["status"] == "pending"


@pytest.mark.parametrize(
    "statement",
    [
        "select 1 from jobs_engine.workflow_status",
        "delete from jobs_engine.workflow_status",
        "select jobs_engine.enqueue_workflow('carry', 'jobs')",
    ],
)
async def test_the_api_has_nothing_of_the_engines(database: Database, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.transaction("acme") as transaction:
            await transaction.connection.execute(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "create table jobs_engine.more (a int)",
        "alter table jobs_engine.workflow_status add column more text",
        "truncate jobs_engine.workflow_status",
        "update jobs_engine.dbos_migrations set version = 0",
        "insert into jobs_engine.operation_outputs default values",
        "insert into jobs_engine.workflow_schedules default values",
        "insert into jobs_engine.datasource_outputs default values",
    ],
)
async def test_the_worker_changes_no_table_of_the_engines(worker_database: Database, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with worker_database.transaction(None) as transaction:
            await transaction.connection.execute(statement.encode())


async def test_a_process_says_what_to_run_where_a_familys_tables_are_missing(database: Database) -> None:
    assert await check_families(database, {"payments", "service"}) == ()
    (sentence,) = await check_families(database, {"payments", "ledger"})
    assert "ledger" in sentence
    assert "payments" not in sentence
    assert "jobservice migrate" in sentence


def test_migrating_makes_the_engines_tables_and_the_families_once(server: Server, worker_id: str) -> None:
    name = f"engine_{worker_id}"
    server.create_database(name)
    try:
        url: Any = server.url(DATABASE_OWNER, name)
        assert migrate(url, families={"payments", "ledger"}).families == ("ledger", "payments")
        assert migrate(url, families={"payments", "ledger"}).families == ()
    finally:
        server.drop_database(name)
