"""API and Worker as real processes: refused with a sentence where a wall is missing, gone at SIGTERM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psycopg
import pytest

from jobservice.bootstrap.keyring import make_keyring, read_keys
from jobservice.bootstrap.public_keys import write_public_keys
from jobservice.migrate import migrate
from tests.bootstrap.test_process import SMALL
from tests.conftest import Server

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def deployed(server: Server, worker_id: str) -> Iterator[str]:
    """A migrated database with the true clock, as a deployment has."""
    name = f"deployed_{worker_id}"
    server.create_database(name)
    migrate(server.url("jobs_owner", name), families=("payments",))
    yield name
    server.drop_database(name)


@pytest.fixture
def environment(server: Server, deployed: str, tmp_path: Path) -> Callable[[str], Mapping[str, str]]:
    """`environment(role)`: of a process under that role."""
    make_keyring(tmp_path / "ring")
    write_public_keys(read_keys(tmp_path / "ring").public(), tmp_path / "public-keys")

    def variables(role: str) -> Mapping[str, str]:
        return {
            **os.environ,
            "JOBSERVICE_DATABASE_URL": server.url(role, deployed),
            "JOBSERVICE_APPLICATION": SMALL,
            "JOBSERVICE_DEPLOYMENT": "test",
            "JOBSERVICE_PUBLIC_KEYS": str(tmp_path / "public-keys"),
            "JOBSERVICE_KEYRING": str(tmp_path / "ring"),
        }

    return variables


def run(environment: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """A process that ends by itself."""
    return subprocess.run(
        (sys.executable, "-m", "jobservice", *words), env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("process", ["api", "worker"])
@pytest.mark.parametrize(("role", "said"), [("postgres", "is a superuser"), ("jobs_owner", "owns tables")])
def test_a_process_with_too_many_rights_does_not_start(
    environment: Callable[[str], Mapping[str, str]], process: str, role: str, said: str
) -> None:
    ended = run(environment(role), process)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.requirement("MONEY-25")
def test_the_api_does_not_start_with_the_workers_role_or_on_a_network(
    environment: Callable[[str], Mapping[str, str]],
) -> None:
    assert "is not jobs_api" in run(environment("jobs_worker"), "api", "--port", "0").stderr
    assert "must not travel in clear" in run(environment("jobs_api"), "api", "--host", "0.0.0.0").stderr  # noqa: S104  # refused


@pytest.mark.requirement("MONEY-17", "MONEY-19")
@pytest.mark.parametrize(("process", "role"), [("api", "jobs_api"), ("worker", "jobs_worker")])
def test_a_process_ends_at_sigterm_with_exit_code_0(
    environment: Callable[[str], Mapping[str, str]], server: Server, deployed: str, process: str, role: str
) -> None:
    words = (sys.executable, "-m", "jobservice", process, *(("--port", "0") if process == "api" else ()))
    others = "JOBSERVICE_KEYRING" if process == "worker" else "JOBSERVICE_PUBLIC_KEYS"
    own = {**environment(role), others: ""}  # each process has its own half of the keys alone (MONEY.md 17)
    with subprocess.Popen(words, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert json.loads(child.stdout.readline())["event"] == "ready"
        child.send_signal(signal.SIGTERM)
        _, stderr = child.communicate(timeout=60)
    assert child.returncode == 0, stderr
    assert all(json.loads(line) for line in stderr.splitlines())
    if process == "worker":
        with psycopg.connect(server.url("postgres", deployed)) as connection:
            assert connection.execute("select stopped_at is not null from jobs.workers").fetchall() in ([(True,)], [])
            assert connection.execute("select count(*) from jobs.duties where holder is not null").fetchone() == (0,)
