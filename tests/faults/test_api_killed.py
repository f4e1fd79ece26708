"""kill -9 of the API while jobs are submitted over HTTP: whoever had no answer sends the same again, and it is one job that was
handed over and runs."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from jobservice.bootstrap.keyring import make_keyring, read_keys
from jobservice.bootstrap.public_keys import write_public_keys
from jobservice.migrate import migrate
from tests.bootstrap.test_process import SMALL
from tests.cast import People
from tests.conftest import DATABASE_OWNER, Server

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(400),
    pytest.mark.requirement("LEASE-04", "INV-01", "INV-05"),
]
JOBS = 160
CLIENTS = 8
KILLS = 4
SEED = int(os.environ.get("FAULTS_SEED", str(random.SystemRandom().randrange(1_000_000))))
PATIENCE = 120.0
"""Seconds until everything has been answered, or run."""


@dataclass(slots=True, kw_only=True)
class Deployment:
    """API and Worker of one database as processes, the API always at the same address."""

    server: Server
    name: str
    folder: Path
    token: str
    port: int
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where the API listens while it lives."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, process: str) -> None:
        """Start it; it says in its log how it does."""
        ring, public = self.folder / "ring", self.folder / "public-keys"
        keys = {"JOBSERVICE_KEYRING": str(ring)} if process == "api" else {"JOBSERVICE_PUBLIC_KEYS": str(public)}
        variables: Mapping[str, str] = {
            **os.environ,
            "JOBSERVICE_DATABASE_URL": self.server.url(f"jobs_{process}", self.name),
            "JOBSERVICE_APPLICATION": SMALL,
            "JOBSERVICE_DEPLOYMENT": "test",
            **keys,
        }
        words = [sys.executable, "-m", "jobservice", process]
        words += ["--port", str(self.port)] if process == "api" else []
        with (self.folder / process).open("ab") as log:
            self.processes[process] = subprocess.Popen(words, env=variables, stdout=log, stderr=log)

    def kill(self, process: str) -> None:
        """kill -9."""
        running = self.processes.pop(process)
        running.kill()
        running.wait(30)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query, past the walls."""
        with self.server.superuser(self.name) as connection:
            return connection.execute(query.encode()).fetchall()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def deployment(server: Server, worker_id: str, tmp_path: Path) -> Iterator[Deployment]:
    """A migrated database with the true clock, and an operator."""
    name = f"killed_{worker_id}"
    server.create_database(name)
    migrate(server.url(DATABASE_OWNER, name), families=("payments",))
    make_keyring(tmp_path / "ring")
    write_public_keys(read_keys(tmp_path / "ring").public(), tmp_path / "public-keys")
    with server.superuser(name) as connection:
        connection.execute("insert into jobs.tenants (id, name) values ('acme', 'Acme')")
        people = People(connection)
        people.add("o.lind", "acme", "operator")
        made = Deployment(server=server, name=name, folder=tmp_path, token=people.token("o.lind"), port=_free_port())
    yield made
    for process in tuple(made.processes):
        made.kill(process)
    server.drop_database(name)


@dataclass(slots=True, kw_only=True)
class Submitter:
    """Submits each of its numbers until it is answered, with one idempotency key each."""

    deployment: Deployment
    numbers: list[int]
    jobs: dict[int, str] = field(default_factory=dict)
    """Job by number, once it is known."""
    unknown: int = 0
    """How often no answer came although the request was sent."""

    async def run(self, client: httpx.AsyncClient) -> None:
        """All of them, one after the other."""
        for number in self.numbers:
            self.jobs[number] = await self._until_answered(client, number)

    async def _until_answered(self, client: httpx.AsyncClient, number: int) -> str:
        while True:
            try:
                answer = await send(client, self.deployment, number, key=f"key-{number}")
            except httpx.TransportError as lost:
                self.unknown += not isinstance(lost, httpx.ConnectError)
                await asyncio.sleep(0.05)
                continue
            if answer.status_code == 201:
                return str(answer.json()["job"]["id"])
            assert answer.status_code == 503 or answer.json()["code"] == "idempotency-running", answer.text
            await asyncio.sleep(0.05)


async def send(client: httpx.AsyncClient, deployment: Deployment, number: int, *, key: str) -> httpx.Response:
    """One submission of that number."""
    order = {
        "kind": "access.refresh",
        "submission_identity": f"n-{number}",
        "inputs": {"workspace": f"w-{number}", "cause": "test"},
    }
    headers = {"Authorization": f"Bearer {deployment.token}", "Jobs-Tenant": "acme", "Idempotency-Key": key}
    return await client.post(f"{deployment.url}/v1/jobs", json=order, headers=headers)


async def kill_now_and_then(deployment: Deployment, chance: random.Random, answered: Callable[[], int]) -> None:
    """kill -9 of the API at random moments over the whole of it, and another one in its place."""
    for number in range(KILLS):
        while answered() < (number * JOBS) // (KILLS + 1):  # noqa: ASYNC110  # others count it
            await asyncio.sleep(0.01)
        await asyncio.sleep(chance.uniform(0.0, 0.2))
        await asyncio.to_thread(deployment.kill, "api")
        deployment.start("api")


async def test_a_killed_api_loses_no_submission_and_makes_none_twice(deployment: Deployment) -> None:
    chance = random.Random(SEED)  # noqa: S311  # picks moments, no secret
    deployment.start("api")
    submitters = [Submitter(deployment=deployment, numbers=list(range(n, JOBS, CLIENTS))) for n in range(CLIENTS)]
    async with httpx.AsyncClient(timeout=20, trust_env=False) as client:
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            for each in submitters:
                group.create_task(each.run(client))
            answered = lambda: sum(len(each.jobs) for each in submitters)  # noqa: E731  # counts as they go
            group.create_task(kill_now_and_then(deployment, chance, answered))
        known = {number: job for each in submitters for number, job in each.jobs.items()}
        where = f"seed {SEED}, {sum(each.unknown for each in submitters)} answers were lost"
        for number in range(0, JOBS, 10):
            again = (await send(client, deployment, number, key=f"another-{number}")).json()
            assert (again["first"], again["job"]["id"]) == (False, known[number]), where
    assert any(each.unknown for each in submitters), "nobody was cut off in the middle: the kills hit nothing"
    rows = deployment.rows("select submission_identity, id::text from jobs.jobs")
    assert sorted(rows) == sorted((f"n-{number}", job) for number, job in known.items()), where
    handed = "select count(*), count(distinct workflow_uuid) from jobs_engine.workflow_status where status = 'ENQUEUED'"
    assert deployment.rows(handed) == [(JOBS, JOBS)], f"{where}: each is handed over once"
    lines = "select count(*), count(distinct job) from jobs.job_events where kind = 'submitted'"
    assert deployment.rows(lines) == [(JOBS, JOBS)], where
    acts = "select count(*), count(distinct subject) from jobs.audit where action = 'submit-job'"
    assert deployment.rows(acts) == [(JOBS, JOBS)], f"{where}: each is one act of the trail"
    deployment.start("worker")
    await until_all_ran(deployment, where)
    ran = "select count(*), count(distinct job) from jobs.job_events where kind = 'step-succeeded'"
    assert deployment.rows(ran) == [(JOBS, JOBS)], where


async def until_all_ran(deployment: Deployment, where: str) -> None:
    """Wait until the Worker has carried all of them."""
    query = "select count(*) from jobs.jobs where status = 'succeeded'"
    deadline = time.monotonic() + PATIENCE
    while deployment.rows(query) != [(JOBS,)]:
        log = (deployment.folder / "worker").read_text()[-2_000:]
        assert time.monotonic() < deadline, f"{where}: {deployment.rows(query)}\n{log}"
        await asyncio.sleep(0.2)
