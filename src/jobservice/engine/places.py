"""Owns how many jobs work at once in this process. A job that only waits, for its next attempt or for a stop to be lifted,
gives its place away meanwhile, and one more is taken up for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from jobservice.engine.running import RunningJob

WAITING_MOST = 5_000
"""Jobs that wait in one process: with more, no further one is taken up."""


@dataclass(slots=True, kw_only=True, eq=False)
class Places:
    """The places of one process. `room` is told how many jobs it has room for, those that wait on top."""

    most: int
    room: Callable[[int], None] = lambda _: None
    _working: set[str] = field(default_factory=set)
    _waiting: set[str] = field(default_factory=set)
    _line: deque[tuple[RunningJob, asyncio.Future[None]]] = field(default_factory=deque)

    @property
    def working(self) -> int:
        """How many work now."""
        return len(self._working)

    async def take(self, running: RunningJob) -> None:
        """Wait for a place, in the order of asking; the job works from now on."""
        self._no_longer_waits(running)
        if len(self._working) >= self.most:
            place = asyncio.get_running_loop().create_future()
            self._line.append((running, place))
            await place
        self._working.add(running.handle)

    def give_back(self, running: RunningJob, *, waits: bool = False) -> None:
        """It works no longer; `waits`: it comes back."""
        self._working.discard(running.handle)
        if waits:
            self._waiting.add(running.handle)
            self._tell()
        else:
            self._no_longer_waits(running)
        self._next()

    def open(self) -> None:
        """Let everybody in who stands in line: this process stops, and they leave at once."""
        while self._line:
            _, place = self._line.popleft()
            if not place.done():
                place.set_result(None)

    def _next(self) -> None:
        while self._line and len(self._working) < self.most:
            running, place = self._line.popleft()
            if not place.done():
                self._working.add(running.handle)
                place.set_result(None)

    def _no_longer_waits(self, running: RunningJob) -> None:
        if running.handle in self._waiting:
            self._waiting.discard(running.handle)
            self._tell()

    def _tell(self) -> None:
        self.room(self.most + min(len(self._waiting), WAITING_MOST))
