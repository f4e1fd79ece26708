"""The watch over the embedded PostgreSQL: growing pauses, one line an event, and no start left under way at a stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from jobservice.bootstrap import children, kept_server
from jobservice.bootstrap.kept_server import KeptServer
from jobservice.cluster import Cluster
from jobservice.settings import StartRefused


@dataclass(frozen=True, kw_only=True)
class Scripted(Cluster):
    """A server that is dead until a start of it succeeds."""

    refusals: list[Exception] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    runs: threading.Event = field(default_factory=threading.Event)

    def died(self) -> bool:
        """Until it runs."""
        return not self.runs.is_set()

    def restart(self, *, given_up: Callable[[], bool]) -> None:
        """The next refusal, else it runs once told to go on."""
        del given_up
        if self.refusals:
            raise self.refusals.pop(0)
        self.begun.set()
        assert self.go_on.wait(30)
        self.runs.set()


def scripted(*refusals: Exception) -> Scripted:
    """Refuses that often first."""
    return Scripted(folder=Path("/nowhere"), programs=Path("/nowhere"), refusals=list(refusals))


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(kept_server, "LOOK_SECONDS", 0.01)


def events(logs: Sequence[object]) -> list[object]:
    """Their names."""
    return [line["event"] for line in logs if isinstance(line, dict)]


async def test_it_tries_again_with_growing_pauses_and_says_each_event_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "with_jitter", lambda pause: pause)
    cluster, stop = scripted(StartRefused("No."), OSError(28, "No space left on device")), asyncio.Event()
    cluster.go_on.set()
    with capture_logs() as logs:
        keeping = asyncio.create_task(KeptServer(cluster=cluster).keep(stop))
        async with asyncio.timeout(30):
            while "database-started" not in events(logs):  # noqa: ASYNC110  # what is waited for is a thread
                await asyncio.sleep(0.01)
            stop.set()
            await keeping
    assert events(logs) == ["database-ended", "database-not-started", "database-not-started", "database-started"]
    assert [line.get("again_in_seconds") for line in logs] == [0.01, 0.02, 0.04, None]
    assert logs[1]["reason"] == "No."


async def test_a_stop_waits_for_the_start_under_way() -> None:
    cluster, stop = scripted(), asyncio.Event()
    keeping = asyncio.create_task(KeptServer(cluster=cluster).keep(stop))
    assert await asyncio.to_thread(cluster.begun.wait, 30)
    stop.set()
    for _ in range(20):  # turns of the loop, in which a watch that does not wait would end
        await asyncio.sleep(0)
    assert not keeping.done()
    cluster.go_on.set()
    async with asyncio.timeout(30):
        await keeping
    assert cluster.runs.is_set()


async def test_a_stop_in_a_pause_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "FIRST_PAUSE", 3600.0)
    cluster, stop = scripted(), asyncio.Event()
    with capture_logs() as logs:
        keeping = asyncio.create_task(KeptServer(cluster=cluster).keep(stop))
        async with asyncio.timeout(30):
            while not logs:  # noqa: ASYNC110  # what is waited for is a thread
                await asyncio.sleep(0.01)
            stop.set()
            await keeping
    assert not cluster.begun.is_set()
