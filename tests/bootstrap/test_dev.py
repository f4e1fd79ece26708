"""`jobservice dev`: everything from an empty folder, each process under its own role, gone without a trace of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest

from jobcontract import routes
from jobservice import embedded
from jobservice.cluster import Cluster
from tests.bootstrap.test_process import SMALL

pytestmark = pytest.mark.timeout(300)
SECONDS = 120


class Dev:
    """A running `jobservice dev` on `data`."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.process = subprocess.Popen(
            command(data), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            pytest.fail(self.process.communicate()[1])
        self.ready: dict[str, Any] = json.loads(line)
        self.stdout = line

    @property
    def url(self) -> str:
        """Of the API."""
        return str(self.ready["url"])

    def children(self) -> dict[str, psutil.Process]:
        """The API's and the Worker's processes by name."""
        found = {}
        for child in psutil.Process(self.process.pid).children():
            try:
                words = child.cmdline()
            except psutil.NoSuchProcess:  # ended meanwhile, perhaps not yet waited for
                continue
            if "-m" in words:
                found[words[words.index("jobservice") + 1]] = child
        return found

    def end(self, how: Callable[[], None]) -> str:
        """End it that way; what it logged."""
        how()
        stdout, stderr = self.process.communicate(timeout=SECONDS)
        assert stdout == ""
        return stderr

    def tokens(self) -> dict[str, str]:
        """Person to token."""
        text = json.loads(Path(self.ready["tokens_file"]).read_text("utf-8"))
        return {entry["person"]: entry["token"] for entry in text["tokens"]}


def command(data: Path, application: str = SMALL) -> tuple[str, ...]:
    """The command line of a dev."""
    words = ("-m", "jobservice", "dev", "--data", str(data), "--application", application, "--set", "claims.lease=PT7S")
    return (sys.executable, *words, "--until-stdin-closes")


def postmaster(data: Path) -> int:
    """The process that the server's own file names; 0 where there is none."""
    try:
        return int((data / "cluster" / "postmaster.pid").read_text().split()[0])
    except (FileNotFoundError, IndexError):
        return 0


def serves(data: Path, process: psutil.Process) -> bool:
    """Whether that process works in the server's files."""
    try:
        return bool(process.cwd() == str(data / "cluster"))
    except psutil.Error:
        return False


def until(condition: Callable[[], bool]) -> None:
    """Wait until that is so."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not become so"
        time.sleep(0.05)


def answers(url: str) -> bool:
    """Whether the API is ready."""
    try:
        return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder for one dev."""
    folder = Path(tempfile.mkdtemp(prefix="jc-d-"))
    folder.chmod(0o711)
    yield folder
    Cluster(folder=folder, programs=embedded.wheel_programs(18), user=embedded.server_user()).stop()
    shutil.rmtree(folder)


@pytest.mark.long  # the walk, in tests/e2e, goes through the same in the short run
@pytest.mark.requirement("MONEY-35")
def test_everything_from_nothing_and_back_to_nothing(data: Path) -> None:
    dev = Dev(data)
    tokens = dev.tokens()
    file = Path(dev.ready["tokens_file"])
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
    assert not any(token in dev.stdout for token in tokens.values())
    assert set(tokens) == {"o.lind", "m.ito", "k.rao", "n.ode", "s.bell", "a.reyes", "p.push", "d.adm", "y.ward"}
    signed = httpx.get(f"{dev.url}{routes.ME.path}", headers={"Authorization": f"Bearer {tokens['y.ward']}"})
    assert [(tenant["tenant"], tenant["role"]) for tenant in signed.json()["tenants"]] == [("york", "finance")]

    second = subprocess.run(command(data), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    assert second.returncode == 1
    assert f"Process {dev.process.pid} already runs the service in {data}" in second.stderr
    assert json.loads(second.stdout) == {"event": "running", "tokens_file": str(file)}

    children = dev.children()
    for name, role, ring in (("api", "jobs_api", True), ("worker", "jobs_worker", False)):
        environment = children[name].environ()
        assert f"//{role}@" in environment["JOBSERVICE_DATABASE_URL"]
        assert ("JOBSERVICE_KEYRING" in environment) is ring
        assert not any(token in value for token in tokens.values() for value in environment.values())

    children["api"].kill()
    until(lambda: dev.children().get("api", children["api"]) != children["api"] and answers(dev.url))

    logged = dev.end(dev.process.terminate)
    assert dev.process.returncode == 0
    assert '"child-ended"' in logged
    assert not any(token in logged for token in tokens.values())
    assert not psutil.pid_exists(children["worker"].pid)
    assert not any(process.info["cwd"] == str(data / "cluster") for process in psutil.process_iter(["cwd"]))

    again = Dev(data)  # the same data, not seeded twice, with new tokens
    try:
        assert set(again.tokens().values()).isdisjoint(tokens.values())
        old = httpx.get(f"{again.url}{routes.ME.path}", headers={"Authorization": f"Bearer {tokens['m.ito']}"})
        assert old.status_code == 401
        cluster = Cluster(folder=data, programs=embedded.wheel_programs(18))
        with psycopg.connect(cluster.url("jobs_owner", "jobs")) as owner:
            assert owner.execute("select count(*) from jobs.items").fetchone() == (2,)
            stopped = owner.execute("select stopped_at is not null from jobs.workers order by started_at").fetchall()
            starts = owner.execute("select count(*) from jobs.audit where action = 'service-started'").fetchone()
        assert stopped == [(True,), (False,)]
        assert starts == (5,)  # twice both, and the API once more
    finally:
        logged = again.end(lambda: None)  # reading to its end closes its standard input: that is what ends it
    assert again.process.returncode == 0
    assert '"worker-stopped"' in logged


@pytest.mark.long
def test_a_dev_and_a_database_that_were_killed_come_back_with_what_was_in_it(data: Path) -> None:
    dev = Dev(data)
    cluster = Cluster(folder=data, programs=embedded.wheel_programs(18))
    with psycopg.connect(cluster.url("jobs_owner", "jobs")) as owner:
        before = owner.execute("select id, business_key, title from jobs.items order by id").fetchall()
    assert len(before) == 2
    children = dev.children()
    os.kill(dev.process.pid, signal.SIGKILL)  # it takes its children along, and can be started again
    dev.process.communicate(timeout=SECONDS)
    until(lambda: not any(child.is_running() and child.status() != "zombie" for child in children.values()))

    dev = Dev(data)
    assert answers(dev.url)
    first = postmaster(data)
    os.kill(first, signal.SIGKILL)
    until(lambda: postmaster(data) not in {0, first} and answers(dev.url))
    with psycopg.connect(cluster.url("jobs_owner", "jobs")) as owner:
        assert owner.execute("select id, business_key, title from jobs.items order by id").fetchall() == before

    os.kill(postmaster(data), signal.SIGKILL)  # and a stop while it is away, or being started
    logged = dev.end(dev.process.terminate)
    assert dev.process.returncode == 0
    events = [json.loads(line).get("event") for line in logged.splitlines() if line.startswith("{")]
    assert events.index("database-ended") < events.index("database-started") < events.index("dev-stopped")
    assert events.count("database-started") <= events.count("database-ended") <= 2
    until(lambda: not any(serves(data, process) for process in psutil.process_iter()))


@pytest.mark.long
def test_a_stop_while_it_is_seeded_breaks_that_off_and_the_next_start_seeds_again(data: Path) -> None:
    slow = subprocess.Popen(
        command(data, "tests.bootstrap.slow_application:application"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert slow.stderr is not None
    for line in slow.stderr:
        if "seeding-goes-on" in line:
            break
    slow.terminate()
    stdout, logged = slow.communicate(timeout=SECONDS)
    assert (slow.returncode, stdout) == (0, "")
    assert "Traceback" not in logged
    assert '"dev-stopped"' in logged
    again = Dev(data)
    cluster = Cluster(folder=data, programs=embedded.wheel_programs(18))
    with psycopg.connect(cluster.url("jobs_owner", "jobs")) as owner:
        assert owner.execute("select count(*) from jobs.items").fetchone() == (2,)
    again.end(again.process.terminate)
