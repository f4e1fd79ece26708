"""Workers as processes: killed in a step, stopped in a pause, and their PostgreSQL restarted under them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobservice.migrate import migrate
from jobservice.store.database import Database
from tests.conftest import DATABASE_OWNER, Server
from tests.engine.carrier import KINDS
from tests.engine.stage import EngineStage, until

pytestmark = pytest.mark.long


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts a Worker process on a database; those that still run are killed in the end."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(url: str) -> subprocess.Popen[bytes]:
        log = tmp_path / f"carrier-{len(started)}.log"
        with log.open("wb") as written:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.engine.carrier", url], stdout=written, stderr=subprocess.STDOUT
            )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()


def with_kinds(stage: EngineStage) -> EngineStage:
    """The stage, with the kinds of the processes."""

    stage.records = replace(stage.records, job_kinds=KINDS)
    return stage


@pytest.mark.requirement("RETRY-01", "LEASE-04")
async def test_a_job_that_kills_its_worker_starts_three_times_and_fails_and_the_others_complete(
    stage: EngineStage, start: Callable[[str], Any]
) -> None:
    with_kinds(stage)
    killer = await stage.submit("t.kills")
    others = [await stage.submit("t.plain") for _ in range(10)]
    for _ in range(3):
        process = start(stage.url)
        assert await asyncio.to_thread(process.wait, 60) == -9
    start(stage.url)
    assert await stage.settled(killer, 60) == "failed"
    assert stage.step_row(killer)["attempts"] == 3
    assert "its Worker was lost" in stage.row(killer)["failure_summary"]
    for job in others:
        assert await stage.settled(job, 60) == "succeeded"


async def test_a_step_that_blocks_the_event_loop_costs_an_attempt_and_the_others_go_on(
    stage: EngineStage, start: Callable[[str], Any]
) -> None:
    """The process replaces itself, whatever the loop stands in; what ran there is taken up by what it has become."""
    with_kinds(stage)
    blocking, beside = await stage.submit("t.blocks"), await stage.submit("t.ticks")
    process = start(stage.url)
    await until(lambda: stage.step_row(blocking)["attempts"], 60)
    after = await stage.submit("t.ticks")
    for job in (blocking, beside, after):
        assert await stage.settled(job, 60) == "succeeded"
    assert stage.step_row(blocking)["attempts"] == 2
    tries = stage.rows(
        "select attempts - handed_back as counted, handed_back from jobs.job_steps where step <> 'blocks'"
    )
    assert {each["counted"] for each in tries} == {1}, "they did nothing wrong"
    assert any(each["handed_back"] for each in tries)
    workers = stage.rows("select stopped_at is not null as stopped from jobs.workers order by started_at")
    assert [each["stopped"] for each in workers] == [True, False]
    assert process.poll() is None


def kill(server: Server) -> None:
    """The postmaster dies at once, and its children find out."""
    postmaster = server.cluster._server()
    assert postmaster is not None
    postmaster.kill()


@pytest.mark.parametrize("how", ["stopped", "killed", "away at first"])
async def test_postgresql_that_was_away_over_its_socket_strands_nothing(
    spare_server: Server, start: Callable[[str], Any], how: str
) -> None:
    """The library's own retries know no refused socket: what was under way stayed so for ever."""
    url = spare_server.url("jobs_worker", "jobs")
    migrate(spare_server.url(DATABASE_OWNER, "jobs"), families=["payments"])
    with spare_server.superuser("jobs") as superuser:
        superuser.execute("insert into jobs.tenants (id, name) values ('acme', 'Acme')")
    database = await Database.open(spare_server.url("jobs_api", "jobs"), name="test", most=4)
    superuser = spare_server.superuser("jobs")
    stage = with_kinds(EngineStage(database, database, superuser, url))
    jobs = [await stage.submit("t.ticks") for _ in range(8)]
    if how != "away at first":
        process = start(url)
        await until(lambda: stage.rows("select 1 from jobs.job_steps where status = 'succeeded'"), 60)
    await database.close()
    superuser.close()
    if how == "killed":
        kill(spare_server)
    else:
        spare_server.cluster.stop()
    if how == "away at first":
        process = start(url)
    await asyncio.sleep(4)  # away for longer than a connection is tried
    await asyncio.to_thread(spare_server.cluster.start)
    with spare_server.superuser("jobs") as connection:
        stage.superuser = connection
        for job in jobs:
            assert await stage.settled(job, 90) == "succeeded"
        steps = stage.rows("select count(*) as n from jobs.job_events where kind = 'step-succeeded'")
        assert steps == [{"n": 3 * len(jobs)}]
    process.terminate()
    assert await asyncio.to_thread(process.wait, 30) == 0


@pytest.mark.requirement("SAGA-06")
async def test_a_worker_process_leaves_in_time_though_a_job_waits(
    stage: EngineStage, start: Callable[[str], Any], server: Server, database_url: Callable[[str], str]
) -> None:
    with_kinds(stage)
    jobs = [await stage.submit("t.ticks") for _ in range(3)]
    process = start(stage.url)
    await until(lambda: all(stage.row(job)["status"] == "running" for job in jobs), 60)
    process.terminate()
    assert await asyncio.to_thread(process.wait, 30) == 0
    left = stage.rows("select status, count(*) as n from jobs_engine.workflow_status group by 1")
    assert all(each["status"] == "ENQUEUED" for each in left)
    start(stage.url)
    for job in jobs:
        assert await stage.settled(job, 60) == "succeeded"
    assert [
        each["attempts"] for each in stage.rows("select attempts - handed_back as attempts from jobs.job_steps")
    ] == [1] * 9
