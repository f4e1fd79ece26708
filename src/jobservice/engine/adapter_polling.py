"""Owns when this process looks for jobs to take: when a notification came or a job ended, and slowly otherwise; never while
it is held. The look itself is the engine library's own: it runs in a thread, with a bell where it expects a stop event.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from dbos import DBOS, Queue

# The library's own loop, which only polls: run by us with a bell, it looks when there is something, and not otherwise.
from dbos._queue import queue_worker_thread

LEAST_SECONDS = 0.01
"""Between two looks: what is submitted meanwhile is taken at once, many in one look."""
IDLE_SECONDS = 5.0
"""Between two looks where nothing rings: a notification may be lost."""
HELD_SECONDS = 0.5
"""How often a loop that is held looks whether it is still."""
END_SECONDS = 3.0
"""How long the thread has to end."""


@dataclass(slots=True, eq=False)
class Bell:
    """What the library's loop waits on. `ring` is called from any thread. `held` is asked by the loop's thread: while it says
    so, no look begins."""

    held: Callable[[], bool] = lambda: False
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _rung: bool = False
    _over: bool = False

    def ring(self) -> None:
        """There may be something to take."""
        with self._changed:
            self._rung = True
            self._changed.notify_all()

    def end(self) -> None:
        """Let the loop end."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def is_set(self) -> bool:
        """Whether the loop is to end: the library asks."""
        return self._over

    def wait(self, timeout: float | None = None) -> bool:
        """Until the next look is due; whether the loop is to end instead."""
        with self._changed:
            self._changed.wait_for(lambda: self._over, LEAST_SECONDS)
            due = time.monotonic() + (IDLE_SECONDS if timeout is None else timeout)
            while not self._over:
                held, left = self.held(), due - time.monotonic()
                if not held and (self._rung or left <= 0):
                    break
                self._changed.wait(HELD_SECONDS if held else left)
            self._rung = False
            return self._over


@dataclass(slots=True, eq=False)
class Polling:
    """The thread that takes jobs of one queue."""

    library: DBOS
    queue: Queue
    bell: Bell
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; the first look is at once."""
        self.bell.ring()
        event = cast("threading.Event", self.bell)
        self._thread = threading.Thread(
            target=queue_worker_thread, args=(event, self.library, self.queue), name="jobs-taking", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        """Let the thread end; blocks for a look that is under way."""
        self.bell.end()
        if self._thread is not None:
            self._thread.join(timeout=END_SECONDS)

    def room(self, most: int) -> None:
        """How many jobs this process has at once, from the next look on."""
        self.queue._worker_concurrency = most  # the public setter writes it for all processes
