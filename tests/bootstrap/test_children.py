"""A child process is started again when it dies, gives up where it never began, and ends with its starter."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from jobservice.bootstrap import children
from jobservice.bootstrap.children import Child, child_environment
from jobservice.settings import StartRefused

SLEEPER = """
import os, sys
print('{"event": "ready"}', flush=True)
sys.stdin.read()
"""


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Child]:
    """`child(code)`: a Child that runs that Python instead of the service."""
    real = asyncio.create_subprocess_exec

    def made(code: str) -> Child:
        async def start(program: str, *_: str, **keywords: Any) -> asyncio.subprocess.Process:
            process = await real(program, "-c", code, **keywords)
            STARTED.append(process)
            return process

        monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
        monkeypatch.setattr(children, "FIRST_PAUSE", 0.05)
        STARTED.clear()
        return Child(name="test", arguments=(), environment=child_environment())

    return made


STARTED: list[asyncio.subprocess.Process] = []


async def until(condition: Callable[[], bool]) -> None:
    """Wait until that is so."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  # what is waited for is another process
            await asyncio.sleep(0.01)


async def ended(keeping: Awaitable[None]) -> None:
    """Wait for the end, within bounds."""
    async with asyncio.timeout(30):
        await keeping


async def test_a_dead_child_is_started_again_and_said(child: Callable[[str], Child]) -> None:
    stop, kept = asyncio.Event(), child(SLEEPER)
    with capture_logs() as logs:
        keeping = asyncio.create_task(kept.keep(stop))
        await ended(kept.ready.wait())  # type: ignore[arg-type]  # it returns True
        STARTED[0].kill()
        await until(lambda: len([line for line in logs if line["event"] == "child-ready"]) == 2)
        stop.set()
        await ended(keeping)
    assert [line["code"] for line in logs if line["event"] == "child-ended"] == [-9]
    assert [process.returncode is not None for process in STARTED] == [True, True]


async def test_a_child_that_never_was_ready_is_not_tried_again(child: Callable[[str], Child]) -> None:
    with pytest.raises(StartRefused, match="ended with 3"):
        await ended(child("raise SystemExit(3)").keep(asyncio.Event()))
    assert len(STARTED) == 1


async def test_a_child_that_does_not_end_is_killed(
    child: Callable[[str], Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "ENDING_SECONDS", 0.2)
    deaf = 'import signal, time; signal.signal(15, signal.SIG_IGN); print(\'{"event": "ready"}\', flush=True); time.sleep(600)'
    stop, kept = asyncio.Event(), child(deaf)
    keeping = asyncio.create_task(kept.keep(stop))
    await ended(kept.ready.wait())  # type: ignore[arg-type]  # it returns True
    stop.set()
    await ended(keeping)
    assert STARTED[0].returncode == -9


def test_a_child_gets_no_address_or_token_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JOBSERVICE_DATABASE_URL", "JOBSERVICE_KEYRING", "JOBCONSOLE_TOKEN", "PGPASSWORD"):
        monkeypatch.setenv(name, "secret")
    environment = child_environment(JOBSERVICE_DEPLOYMENT="demo")
    assert "secret" not in environment.values()
    assert environment["JOBSERVICE_DEPLOYMENT"] == "demo"
