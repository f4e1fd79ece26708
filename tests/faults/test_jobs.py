"""Small jobs by the thousand while their Workers and their server are killed and frozen at random moments: nothing is lost,
nothing is done twice, and what is told of them is true.

`make faults` runs ten thousand under twenty kills. The seed is in the failure, and FAULTS_SEED repeats it.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobcontract.errors import Refusal
from jobservice.migrate import migrate
from jobservice.store.database import Database
from jobservice.usecases import job_acts
from jobservice.usecases.job_acts import JobOrder
from jobservice.usecases.job_submission import Submission, submit_in
from tests.conftest import DATABASE_OWNER, Server, spare
from tests.faults.job_judge import findings, letters
from tests.faults.job_worker import FAILS, KINDS, PLAIN, THREE
from tests.usecases.desk import RECORDS

JOBS = int(os.environ.get("FAULTS_JOBS", "250"))
LONG = JOBS > 1_000
KILLS = 20 if LONG else 3
SEED = int(os.environ.get("FAULTS_SEED", str(random.SystemRandom().randrange(1_000_000))))
WORKERS = 2
BATCH = 25
STUCK_SECONDS = 120.0
"""So long nothing may have settled: what was under way on a killed Worker is taken over sooner."""
AT_MOST = 300.0 + JOBS / 4
REQUESTED = 4
"""Every fourth job is a person's, who is told of its end."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(2 * AT_MOST),
    pytest.mark.requirement("LEASE-04", "INV-01", "INV-05", "INV-11"),
]


@dataclass(slots=True, kw_only=True)
class World:
    """A server and its Workers, and what happens to them."""

    server: Server
    folder: Path
    url: str
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))  # noqa: S311  # picks moments, no secret
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """What happened, in order."""

    def start(self) -> subprocess.Popen[bytes]:
        """One more Worker."""
        words = [sys.executable, "-m", "tests.faults.job_worker", self.url, str(self.folder)]
        with (self.folder / "log").open("ab") as log:
            worker = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
        self.workers.append(worker)
        return worker

    def happen(self) -> None:
        """One thing at random."""
        what = self.chance.choice((self.kill_worker, self.kill_worker, self.kill_server, self.freeze, self.cut))
        self.told.append(what.__name__)
        what()

    def kill_worker(self) -> None:
        """kill -9; another one is started in its place."""
        victim = self.workers.pop(self.chance.randrange(len(self.workers)))
        victim.kill()
        _reap(victim)
        self.start()

    def kill_server(self) -> None:
        """kill -9 of the postmaster; it is started again a moment later."""
        postmaster = self.server.cluster._server()
        assert postmaster is not None
        postmaster.kill()
        time.sleep(self.chance.uniform(0.0, 2.5))
        self.server.cluster.start()

    def freeze(self) -> None:
        """Stop a Worker for longer than it may be silent, and let it go on: it is a zombie then."""
        victim = self.chance.choice(self.workers)
        victim.send_signal(signal.SIGSTOP)
        time.sleep(self.chance.uniform(0.5, 5.0))
        victim.send_signal(signal.SIGCONT)

    def cut(self) -> None:
        """End every connection of the Workers, in the middle of whatever they do."""
        self.ask("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'jobs_worker'")

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query, past the walls."""
        with self.server.superuser("jobs") as connection:
            return connection.execute(query.encode()).fetchall()

    def settled(self) -> int:
        """How many jobs are; of those that were submitted here."""
        return int(
            self.ask("select count(*) from jobs.jobs where settled_at is not null and submission_identity like 'n-%'")[
                0
            ][0]
        )

    def log(self) -> str:
        """The end of what the Workers said."""
        return (self.folder / "log").read_text()[-3_000:]


def _reap(worker: subprocess.Popen[bytes]) -> None:
    if worker.stdin is not None:
        worker.stdin.close()
    worker.wait(60)


@pytest.fixture
def world(run_folder: Path, worker_id: str, tmp_path: Path) -> Iterator[World]:
    """A server that keeps what it said it committed, with one tenant and one person."""
    with spare(run_folder / f"jobs-{worker_id}") as server:
        server.create_database("jobs")
        with server.superuser() as connection:  # what it committed stays, also where it is killed right after
            connection.execute("alter database jobs set synchronous_commit = on")
        migrate(server.url(DATABASE_OWNER, "jobs"), families=("payments",))
        with server.superuser("jobs") as connection:
            connection.execute("insert into jobs.tenants (id, name) values ('acme', 'Acme')")
            connection.execute(
                "insert into jobs.people (id, name, contact) values ('m.ito', 'M. Ito', 'm@example.org')"
            )
            connection.execute(
                "insert into jobs.memberships (person, tenant, role) values ('m.ito', 'acme', 'finance')"
            )
        made = World(server=server, folder=tmp_path, url=server.url("jobs_worker", "jobs"))
        try:
            yield made
        finally:
            for worker in made.workers:
                worker.kill()
                _reap(worker)


def submission(number: int) -> Submission:
    """The one of that number: most are of one step, some of three, and some fail."""
    kind = FAILS if number % 7 == 3 else THREE if number % 7 == 5 else PLAIN
    requester = "m.ito" if number % REQUESTED == 0 else None
    return Submission(kind=kind, submission_identity=f"n-{number}", inputs={}, requester=requester)


async def submit_all(world: World) -> None:
    """Submit them, a batch a transaction, each again until it is known that it is there; a few are cancelled."""
    records = replace(RECORDS, job_kinds=KINDS)
    database = await Database.open(world.server.url("jobs_api", "jobs"), name="submits", most=2, wait_seconds=2.0)
    try:
        for first in range(0, JOBS, BATCH):
            numbers = range(first, min(first + BATCH, JOBS))
            while True:
                try:
                    await _submit(database, records, numbers)
                except Refusal:
                    await asyncio.sleep(0.2)
                else:
                    break
            await asyncio.sleep(world.chance.uniform(0.0, 0.2))
    finally:
        await database.close()


async def _submit(database: Database, records: Any, numbers: range) -> None:
    async with database.transaction("acme") as transaction:
        made = [await submit_in(transaction, records, submission(number)) for number in numbers]
    async with database.transaction("acme") as transaction:
        order = JobOrder(job=made[0].id, person="m.ito", reason="Not wanted")
        await job_acts.cancel_in(transaction, order)


async def test_whatever_dies_every_job_is_done_once(world: World) -> None:
    for _ in range(WORKERS):
        world.start()
    submitting = asyncio.create_task(submit_all(world))
    try:
        await asyncio.wait_for(chaos(world, submitting), AT_MOST)
        assert world.ask("show synchronous_commit") == [("on",)]
    finally:
        submitting.cancel()
        await asyncio.gather(submitting, return_exceptions=True)
    for worker in world.workers:
        worker.terminate()
    for worker in world.workers:
        await asyncio.to_thread(_reap, worker)
    where = f"seed {SEED}, after {world.told}: "
    assert world.ask("select count(*) from jobs.jobs where submission_identity like 'n-%'") == [(JOBS,)], where
    assert findings(world.ask) == {}, where
    assert letters(world.ask, world.folder / "letters") == {}, where


async def chaos(world: World, submitting: asyncio.Task[None]) -> None:
    """Kill and freeze, spread over the whole of it; then wait until all is quiet."""
    for number in range(KILLS):
        await until_settled(world, (number * JOBS) // (KILLS + 1))
        await asyncio.sleep(world.chance.uniform(0.0, 1.0))
        await asyncio.to_thread(world.happen)
    await submitting
    await until_settled(world, JOBS)
    await until_quiet(world)


async def until_settled(world: World, wanted: int) -> None:
    """Wait until so many are settled; fail where none settles any more."""
    best, moved_at = -1, time.monotonic()
    while best < wanted:
        with suppress(psycopg.OperationalError):
            now = await asyncio.to_thread(world.settled)
            if now > best:
                best, moved_at = now, time.monotonic()
        assert time.monotonic() - moved_at < STUCK_SECONDS, (
            f"seed {SEED}, after {world.told}: {best} of {wanted} settled\n{world.log()}"
        )
        await asyncio.sleep(0.1)


async def until_quiet(world: World) -> None:
    """Wait until nothing is due any more: children, effects, notices, runs of the engine."""
    query = """
        select (select count(*) from jobs.jobs where settled_at is null or failure_effect_state = 'due')
        + (select count(*) from jobs.job_notices where state in ('due', 'claimed'))
        + (select count(*) from jobs_engine.workflow_status where status in ('ENQUEUED', 'DELAYED', 'PENDING'))"""
    deadline = time.monotonic() + STUCK_SECONDS + JOBS / 25
    while (left := (await asyncio.to_thread(world.ask, query))[0][0]) > 0:
        assert time.monotonic() < deadline, f"seed {SEED}, after {world.told}: {left} are left\n{world.log()}"
        await asyncio.sleep(0.3)
