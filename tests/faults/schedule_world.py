"""Owns the world of the fault suite: nurseries of Workers with wrong clocks, Workers that are killed, frozen, thawed and
started again, and what happens to them at random. Judges nothing (`schedule_judge.py`)."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.conftest import Server
from tests.fakes.line import Line
from tests.faults.schedule_worker import Order, text_of

CLOCKS = {"ahead": (5 * 3_600.0, 1.0), "behind": (-76.5 * 3_600.0, 1.04), "years": (2.2 * 365 * 86_400.0, 0.97)}
"""Seconds that the clock of a nursery's Workers is wrong, and how fast its monotonic clock runs."""
FROZEN = "Workers frozen by a run"
WRONG_CLOCK = Path(__file__).with_name("wrong_clock")
START_SECONDS = 90.0
"""A nursery imports the whole service; the machine may be busy with other tests."""


class Nursery:
    """A process that forks Workers whose clocks are wrong; `said` are the lines of all of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shift, rate = CLOCKS[name]
        path = os.pathsep.join((str(WRONG_CLOCK), *filter(None, (os.environ.get("PYTHONPATH"),))))
        self._running = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.schedule_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env={
                **os.environ,
                "PYTHONPATH": path,
                "WRONG_CLOCK_SECONDS": str(self.shift),
                "WRONG_CLOCK_RATE": str(rate),
                "TZ": "Pacific/Apia",
            },
        )
        self.said: list[Mapping[str, Any]] = []
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self._running.stdout is not None
        for line in self._running.stdout:
            with self._changed:
                self.said.append({**json.loads(line), "heard": time.time(), "at": time.monotonic()})
                self._changed.notify_all()

    def hear(self, wanted: Callable[[Mapping[str, Any]], bool], since: int = 0) -> Mapping[str, Any]:
        """Wait for a line."""
        with self._changed:
            found = self._changed.wait_for(lambda: next(filter(wanted, self.said[since:]), None), START_SECONDS)
        assert found is not None, f"{self.name} did not say it: {self.said[since:]}"
        return found

    def fork(self, order: Order) -> int:
        """A new Worker; its process."""
        assert self._running.stdin is not None
        since = len(self.said)
        self._running.stdin.write(text_of(order) + "\n")
        self._running.stdin.flush()
        return int(self.hear(lambda line: line["event"] == "forked", since)["worker"])

    def close(self) -> None:
        """End it and whatever it forked."""
        assert self._running.stdin is not None
        self._running.stdin.close()
        self._running.wait(20)
        self._thread.join(20)
        assert self._running.stdout is not None
        self._running.stdout.close()


@dataclass(kw_only=True, eq=False)
class WorkerProcess:
    """A Worker that is started, killed, frozen, thawed and ended. `pid` is None while there is none."""

    nursery: Nursery
    order: Order
    pid: int | None = None
    thaw_at: float | None = None
    _since: int = 0

    def start(self) -> None:
        """Start it; it may not be ready yet."""
        self._since = len(self.nursery.said)
        self.pid, self.thaw_at = self.nursery.fork(self.order), None

    def ready(self) -> Mapping[str, Any]:
        """Wait until it says so; the line."""
        return self.nursery.hear(lambda line: line["event"] == "ready" and line["pid"] == self.pid, self._since)

    def lines(self, event: str) -> list[Mapping[str, Any]]:
        """What this process said of that."""
        return [line for line in self.nursery.said[self._since :] if line["event"] == event and line["pid"] == self.pid]

    def ended(self) -> bool:
        """Whether it ended; by itself, too."""
        return any(line["event"] == "ended" and line["worker"] == self.pid for line in self.nursery.said[self._since :])

    def signal(self, number: int) -> None:
        """Send it a signal."""
        if self.pid is not None and not self.ended():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait_end(self) -> None:
        """Wait until it is gone."""
        self.nursery.hear(lambda line: line["event"] == "ended" and line["worker"] == self.pid, self._since)
        self.pid = None

    def kill(self) -> None:
        """Kill it where it stands."""
        if self.pid is not None:
            self.signal(signal.SIGKILL)
            self.wait_end()

    def end(self) -> None:
        """End it in good order."""
        if self.pid is not None:
            self.thaw()
            self.signal(signal.SIGTERM)
            until = time.monotonic() + START_SECONDS
            while not self.ended() and time.monotonic() < until:
                self.signal(signal.SIGCONT)  # a run may have frozen it meanwhile
                time.sleep(0.1)
            self.wait_end()

    def freeze(self, seconds: float) -> None:
        """Stop its clockwork for so long."""
        self.signal(signal.SIGSTOP)
        self.thaw_at = time.monotonic() + seconds

    def thaw(self) -> None:
        """Let it go on."""
        self.thaw_at = None
        self.signal(signal.SIGCONT)


@contextmanager
def nurseries(*names: str) -> Iterator[tuple[Nursery, ...]]:
    """Those nurseries, ready; ended at the end with all their Workers."""
    started: list[Nursery] = []
    try:
        started += [Nursery(name) for name in names]
        for each in started:
            each.hear(lambda line: line["event"] == "nursery")
        yield tuple(started)
    finally:
        for each in started:
            each.close()


@contextmanager
def workers(*made: WorkerProcess) -> Iterator[None]:
    """Kill those that are left at the end."""
    try:
        yield
    finally:
        for each in made:
            each.kill()


@dataclass(kw_only=True)
class Chaos:
    """What happens to Workers, their lines and the server. `happened` counts it."""

    workers: list[WorkerProcess]
    chance: random.Random
    lease: float
    line: Line | None = None
    server: Server | None = None
    """One that may be stopped and killed."""
    happened: Counter[str] = field(default_factory=Counter)
    _frozen: int = 0
    _seen: dict[str, int] = field(default_factory=dict)
    _background: set[asyncio.Task[None]] = field(default_factory=set)

    async def tend(self) -> None:
        """Thaw who was frozen for long enough, start who died."""
        for worker in self.workers:
            self._hear_of_freezing(worker)
            if worker.thaw_at is not None and time.monotonic() >= worker.thaw_at:
                worker.thaw()
            if worker.pid is not None and worker.ended():
                self.happened["Workers that a run killed"] += 1
                await asyncio.to_thread(worker.start)

    def _hear_of_freezing(self, worker: WorkerProcess) -> None:
        """One that froze itself: it thaws after its lease was over for a while."""
        if len(froze := worker.lines("frozen")) > self._seen_of(worker):
            self._seen[f"{id(worker)} {worker.pid}"] = len(froze)
            self.happened[FROZEN] += 1
            worker.thaw_at = max(worker.thaw_at or 0.0, time.monotonic() + self.longer_than_a_lease())

    def _seen_of(self, worker: WorkerProcess) -> int:
        return self._seen.get(f"{id(worker)} {worker.pid}", 0)

    def longer_than_a_lease(self) -> float:
        """How long a Worker stays frozen, seconds."""
        return self.lease + self.chance.uniform(0.4, 1.6)

    async def happen(self, what: str) -> None:
        """One of `kill`, `freeze`, `end`, `cut`, `swallow`, `stop-server`, `kill-server`."""
        # Who is frozen is left to wake: what it still wants to write then is what is to be refused.
        awake = [
            each for each in self.workers if each.thaw_at is None and not each.lines("frozen")[self._seen_of(each) :]
        ]
        victim = self.chance.choice(awake or self.workers)
        if what == "kill":
            await asyncio.to_thread(victim.kill)
            await asyncio.to_thread(victim.start)
        elif what == "freeze" and victim.thaw_at is None:
            victim.freeze(self.longer_than_a_lease())
        elif what == "end" and victim.thaw_at is None:
            await asyncio.to_thread(victim.end)
            await asyncio.to_thread(victim.start)
        elif what == "cut" and self.line is not None:
            self.line.cut()
        elif what == "swallow" and self.line is not None and not self.line.swallowing:
            self._begin(_swallow(self.line, self.chance.uniform(0.5, 3.0)))
        elif what in ("stop-server", "kill-server") and self.server is not None:
            await asyncio.to_thread(_restart, self.server, kill=what == "kill-server")
        else:
            return
        self.happened[what] += 1

    def _begin(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def calm(self, *, anew: bool) -> None:
        """Nothing happens any more: everybody thaws; where `anew`, Workers that freeze by themselves no more take over."""
        if self._background:
            await asyncio.wait(self._background)
        for worker in self.workers:
            worker.thaw()
            if anew:
                await asyncio.to_thread(worker.end)
                worker.order = replace(worker.order, freezes_before_settling=0.0)
                await asyncio.to_thread(worker.start)


async def _swallow(line: Line, seconds: float) -> None:
    with line.swallows():
        await asyncio.sleep(seconds)


def _restart(server: Server, *, kill: bool) -> None:
    """Stop or kill PostgreSQL, and start it again."""
    if kill:
        pid = int((server.cluster.pgdata / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)
    else:
        server.cluster.stop()
    server.cluster.restart(given_up=lambda: False)


def begun(folder: Path) -> list[Mapping[str, Any]]:
    """Every beginning of a use case that was written outside of the database."""
    sink = folder / "began"
    if not sink.exists():
        return []
    # The last line may be half-written where its Worker was killed.
    return [json.loads(line) for line in sink.read_text().split("\n")[:-1]]
