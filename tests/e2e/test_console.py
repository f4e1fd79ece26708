"""`jobconsole demo` on a terminal: the console opens on the example, and leaving it stops everything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from jobconsole.demo_service import DemoService, temporary_folder
from tests.fakes.waiting import eventually
from tests.terminal import Terminal

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder for demos that end: whichever comes first fills it, the next one finds it so."""
    made = temporary_folder()
    yield made
    shutil.rmtree(made)


def see(terminal: Terminal, words: str) -> None:
    """Wait for words; a first start takes longer than a screen."""
    for last in (False, False, True):
        try:
            terminal.see(words)
        except AssertionError:
            if last:
                raise
        else:
            return


def test_it_opens_signed_in_and_stops_everything_when_left(folder: Path) -> None:
    command = [sys.executable, "-m", "jobconsole", "demo", "--as", "k.rao", "--data", str(folder / "demo")]
    with Terminal(command, columns=140, lines=40) as terminal:
        see(terminal, "Supplier payouts")
        see(terminal, "k.rao")
        see(terminal, "GBP")
        started = psutil.Process(terminal.process.pid).children(recursive=True)
        assert len(started) >= 3, "the service, the API and the Worker"
        terminal.type(b"\x11")
        assert terminal.ended() == 0
        assert f"stays in {folder / 'demo'}" in terminal.text()
        assert "jc_" not in terminal.text(), "no token was painted"
    assert not [process for process in started if process.is_running()]


@pytest.mark.long
def test_a_second_console_joins_the_demo_that_runs_and_leaves_it_running(demo: DemoService) -> None:
    command = [sys.executable, "-m", "jobconsole", "demo", "--as", "k.rao", "--data", str(demo.data)]
    with Terminal(command, columns=140, lines=40) as terminal:
        see(terminal, "Supplier payouts")
        see(terminal, "k.rao")
        see(terminal, "GBP")
        terminal.type(b"\x11")
        assert terminal.ended() == 0
        assert "second console" in terminal.text()
    assert demo.process is not None
    assert demo.process.poll() is None


@pytest.mark.long
def test_a_shell_can_be_signed_in_to_the_demo_that_runs(demo: DemoService) -> None:
    command = [sys.executable, "-m", "jobconsole", "demo", "--env", "--as", "a.reyes", "--data", str(demo.data)]
    told = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    url, token, _ = told.stdout.splitlines()
    assert url == f"export JOBCONSOLE_URL={demo.url}"
    said = subprocess.run(
        ["/bin/sh", "-c", 'eval "$TOLD"; jobconsole whoami'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PATH": "/usr/bin:/bin", "TOLD": told.stdout},
    )
    assert "a.reyes" in said.stdout, said.stderr
    assert token.partition("=")[2] not in said.stdout + said.stderr


@pytest.mark.long
async def test_a_demo_that_is_killed_takes_its_service_along(folder: Path) -> None:
    before = set(temporary_logs())
    command = [sys.executable, "-m", "jobconsole", "demo", "--data", str(folder / "demo")]
    with Terminal(command, columns=140, lines=40) as terminal:
        see(terminal, "Supplier payouts")
        started = psutil.Process(terminal.process.pid).children(recursive=True)
        terminal.process.kill()
    await eventually(lambda: not any(process.is_running() for process in started), what="the service has ended")
    for log in set(temporary_logs()) - before:
        log.unlink()  # a killed process removes nothing


def temporary_logs() -> list[Path]:
    """Logs of demos in the folder of temporary files."""
    return list(Path(tempfile.gettempdir()).glob("jobconsole-demo-*.log"))


@pytest.mark.long
def test_an_unknown_person_is_told_who_there_is(demo: DemoService) -> None:
    command = [sys.executable, "-m", "jobconsole", "demo", "--as", "n.one", "--data", str(demo.data)]
    with Terminal(command) as terminal:
        see(terminal, "m.ito (finance)")
        assert terminal.ended() == 3
    assert demo.process is not None
    assert demo.process.poll() is None
