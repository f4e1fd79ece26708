"""API and Worker as real processes whose database is away when they start: they wait, say so, go on, and end when told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from jobservice.bootstrap.keyring import make_keyring, read_keys
from jobservice.bootstrap.public_keys import write_public_keys
from jobservice.migrate import migrate
from tests.bootstrap.test_process import SMALL
from tests.conftest import DATABASE_OWNER, Server, spare

pytestmark = [pytest.mark.timeout(180), pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")]
PATIENCE = 60.0
"""Seconds for a process to start on a machine that does much else."""

Start = Callable[[str], "Started"]


class Started:
    """A process that was started, with what it wrote."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process, self._folder = process, folder

    def lines(self, event: str) -> list[dict[str, Any]]:
        """The log lines of an event."""
        found = (json.loads(line) for line in self.stderr.splitlines() if line.startswith("{"))
        return [line for line in found if line["event"] == event]

    @property
    def stderr(self) -> str:
        """What it wrote there."""
        return (self._folder / "stderr").read_text()

    @property
    def said(self) -> list[dict[str, Any]]:
        """What it said to whoever started it."""
        return [json.loads(line) for line in (self._folder / "stdout").read_text().splitlines()]

    def until(self, true: Callable[[], Any]) -> None:
        """Wait until something is so; fail where the process ends before, or where it takes too long."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert self.process.poll() is None, self.stderr
            assert time.monotonic() < deadline, self.stderr
            time.sleep(0.05)

    def end(self) -> int:
        """Its exit code at SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(15)


@pytest.fixture(scope="module")
def away(run_folder: Path, worker_id: str) -> Iterator[Server]:
    """A PostgreSQL of these tests' own; its database `jobs` is migrated, `empty` is not."""
    with spare(run_folder / f"away-{worker_id}") as server:
        for name in ("jobs", "empty"):
            server.create_database(name)
        migrate(server.url(DATABASE_OWNER, "jobs"), families=("payments",))
        yield server


@pytest.fixture
def start(away: Server, tmp_path: Path) -> Iterator[Start]:
    """`start("api")`, `start("worker")`: in its own role, while the server is stopped. In the end it runs again."""
    make_keyring(tmp_path / "ring")
    write_public_keys(read_keys(tmp_path / "ring").public(), tmp_path / "public-keys")
    address = away.url("ROLE", "DATABASE")  # a server that is stopped has none to tell
    away.cluster.stop()
    started: list[Started] = []

    def begin(process: str, *, database: str = "jobs") -> Started:
        variables: Mapping[str, str] = {
            **os.environ,
            "JOBSERVICE_DATABASE_URL": address.replace("ROLE", f"jobs_{process}").replace("DATABASE", database),
            "JOBSERVICE_APPLICATION": SMALL,
            "JOBSERVICE_DEPLOYMENT": "test",
            "JOBSERVICE_PUBLIC_KEYS": str(tmp_path / "public-keys"),
            "JOBSERVICE_KEYRING": str(tmp_path / "ring"),
        }
        folder = tmp_path / f"{process}-{len(started)}"
        folder.mkdir()
        words = (sys.executable, "-m", "jobservice", process, *(("--port", "0") if process == "api" else ()))
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            started.append(Started(subprocess.Popen(words, env=variables, stdout=out, stderr=err), folder))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()
    away.cluster.start()


def test_a_worker_waits_for_a_database_that_is_away_and_then_works(away: Server, start: Start) -> None:
    worker, ended = start("worker"), start("worker")
    for each in (worker, ended):
        each.until(lambda each=each: each.lines("database-away"))  # type: ignore[misc]  # bound now, not at the end
    assert ended.end() == 0, "at SIGTERM, also while it waits"
    assert ended.said == []
    time.sleep(2.5)  # long enough to ask several times
    (line,) = worker.lines("database-away")
    assert line["level"] == "warning"
    assert "No such file" in line["reason"]
    assert worker.said == []
    away.cluster.start()
    worker.until(lambda: worker.lines("worker-started"))
    (there,) = worker.lines("database-there-again")
    assert there["seconds"] > 2
    assert [said["event"] for said in worker.said] == ["ready"]
    assert worker.end() == 0
    assert worker.lines("worker-stopped")
    assert "Traceback" not in worker.stderr + ended.stderr


def test_the_api_answers_503_while_its_database_is_away_and_then_serves(away: Server, start: Start) -> None:
    api = start("api")
    api.until(lambda: api.lines("api-started"))
    (line,) = api.lines("api-started")
    with httpx.Client(base_url=line["url"], timeout=10) as client:
        assert client.get("/healthz").status_code == 200
        for path in ("/readyz", "/v1/queues", "/v1/events"):
            answer = client.get(path, headers={"Authorization": "Bearer jc_whatever"})
            assert (answer.status_code, answer.json()["code"]) == (503, "database-away")
            assert answer.headers["Retry-After"] == "5"
            assert answer.json()["reference"] == answer.headers["Jobs-Reference"]
        assert len(api.lines("database-away")) == 1
        assert api.said == [], "nothing is ready yet"
        away.cluster.start()
        api.until(lambda: client.get("/readyz").status_code == 200)
        assert client.get("/v1/queues").status_code == 401
    assert [said["url"] for said in api.said if said["event"] == "ready"] == [line["url"]]
    assert api.end() == 0
    assert "Traceback" not in api.stderr


def test_what_is_wrong_with_a_database_that_came_ends_the_process(away: Server, start: Callable[..., Started]) -> None:
    """Its tables are missing: nobody may use it, and waiting would not help."""
    waiting = [start(process, database="empty") for process in ("api", "worker")]
    for each in waiting:
        each.until(lambda each=each: each.lines("database-away"))  # type: ignore[misc]  # bound now, not at the end
    away.cluster.start()
    for each in waiting:
        assert each.process.wait(PATIENCE) == 1
        assert "The database has no tables of the service yet. Run as its owner: jobservice migrate." in each.stderr
        assert "Traceback" not in each.stderr
        assert each.said == []
