"""Owns starting the programs that are measured, as a person starts them, and ending them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.ground import ROOT, SETTINGS, Ground
from jobservice.bootstrap.dev import API
from jobservice.settings import APPLICATION, DATABASE_URL, DEPLOYMENT, KEYRING

SERVICE, WITH_PEER = "jobservice", "benchmarks.peer"
"""Modules that the API is run from: as it is, and with the peer of the page beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """A running API process."""

    url: str
    pid: int

    @property
    def port(self) -> int:
        """Its port on the loopback."""
        return int(self.url.rpartition(":")[2])


@contextmanager
def api(ground: Ground, database: str, module: str = SERVICE) -> Iterator[Api]:
    """One API process over a database, on a free port, until the block ends."""
    assignments = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    environment = environ(
        {
            DATABASE_URL: ground.url(API, database),
            KEYRING: str(ground.keyring),
            APPLICATION: "examples.payments:application",
            DEPLOYMENT: "benchmark",
        }
    )
    arguments = ("api", "--port", "0", *assignments, "--until-stdin-closes")
    with program(module, arguments, environment, log=ground.folder / "api.log") as process:
        yield Api(url=str(said(process)["url"]), pid=process.pid)


@contextmanager
def program(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], *, log: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A Python program of the repository with pipes to it; ended, with its children, when the block ends.

    What it says on standard error goes to `log`, else to ours.
    """
    with ExitStack() as stack:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if log is None else stack.enter_context(log.open("ab")),
            text=True,
        )
    try:
        yield process
    finally:
        _end(process)


def said(process: subprocess.Popen[str]) -> Mapping[str, object]:
    """The next JSON line that the program says; RuntimeError where it ended instead."""
    assert process.stdout is not None  # noqa: S101  # asked for above
    for line in process.stdout:
        if line.startswith("{"):
            found: Mapping[str, object] = json.loads(line)
            return found
    raise RuntimeError(f"{process.args!r} ended with {process.wait()}; its lines above or its log say why")


def environ(more: Mapping[str, str]) -> dict[str, str]:
    """The environment of a measured program: compiled Python, no setting of the person's, log lines that matter."""
    ours = ("JOBSERVICE_", "JOBCONSOLE_", "PG", "XDG_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | dict(more)


def _end(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            for each in (*psutil.Process(process.pid).children(recursive=True), process):
                each.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
