"""Owns what is known of one job while it runs in this process: whose it is, the attempt that is under way, and why it is to
end. Never writes anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from jobservice.application import Outcome
from jobservice.rules.job_states import StepState
from jobservice.usecases.job_reports import Run

SWALLOWS_SECONDS = 0.6
"""How long a task that was cancelled has to end; then it is left behind. A person's cancel is done within a second."""


class Why(Enum):
    """Why a job's run in this process is to end."""

    CANCELLED = "cancelled"
    """A person asked for it."""
    LOST = "lost"
    """Another Worker has it, or it is settled."""
    STOPPING = "stopping"
    """This Worker stops."""
    STOPPED = "stopped"
    """Its grace is over: what still runs is cancelled, and its attempt given back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """An attempt that was ended before its function had returned. `left`: it did not end when it was cancelled, and goes
    on; nothing of it is ever written."""

    left: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Overran:
    """An attempt that ran past its bound."""

    left: bool


LEFT_BEHIND: set[asyncio.Task[Any]] = set()
"""Tasks that go on although their attempt is over. Kept until they end: the loop alone would forget them half-way."""


@dataclass(slots=True, eq=False)
class Attempt:
    """A function that runs as a task of its own, until it returns, its bound is over, or it is interrupted."""

    coroutine: Coroutine[Any, Any, Outcome]
    bound: float
    name: str
    _task: asyncio.Task[Outcome] | None = None
    _ended: asyncio.Future[None] | None = None
    _overran: bool = False
    _interrupted: bool = False

    @property
    def task(self) -> asyncio.Task[Outcome] | None:
        """What it runs as; None before it does."""
        return self._task

    async def run(self) -> Outcome | Interrupted | Overran:
        """Its outcome, or how it was ended. A cancellation of the caller ends it, too."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        self._task = loop.create_task(self.coroutine, name=self.name)
        self._task.add_done_callback(lambda _: self._end())
        timer = loop.call_later(self.bound, self._overrun)
        if self._interrupted:
            self.interrupt()
        try:
            await self._ended
        except asyncio.CancelledError:
            self._task.cancel()
            _leave_behind(self._task)
            raise
        finally:
            timer.cancel()
        left = not self._task.done()
        if left:
            _leave_behind(self._task)
        if self._interrupted:
            return Interrupted(left=left)
        if self._overran:
            return Overran(left=left)
        return self._task.result()

    def interrupt(self) -> None:
        """Cancel it; it is over when it ended, or soon after."""
        self._interrupted = True
        self._cancel()

    def _overrun(self) -> None:
        self._overran = True
        self._cancel()

    def _cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            self._task.get_loop().call_later(SWALLOWS_SECONDS, self._end)

    def _end(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)


def _leave_behind(task: asyncio.Task[Any]) -> None:
    if not task.done():
        LEFT_BEHIND.add(task)
        task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    LEFT_BEHIND.discard(task)
    if not task.cancelled():
        task.exception()  # it was told: nobody asks for it any more


@dataclass(slots=True, kw_only=True, eq=False)
class RunningJob:
    """One job that this process runs. `handle`: the engine's name of its workflow."""

    family: str
    job: str
    tenant: str
    handle: str
    kind: str = ""
    run: Run | None = None
    """What its reports carry."""
    held: Run | None = None
    """The same, once it is committed: what may be compared with the account."""
    steps: tuple[StepState, ...] = ()
    """As they were when it was taken up; their order and what they are stay."""
    why: Why | None = None
    attempt: Attempt | None = None
    keeps_on: bool = False
    """Whether what runs now is a call to the outside world that was sent: a cancellation waits for its end."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Ends its pauses and its wait for a place."""

    def end(self, why: Why) -> None:
        """It is to end: waits end at once, and the attempt is cancelled where this ends attempts. A call that was sent goes
        on to its own end, as long as this Worker has."""
        if self.why is Why.LOST or (self.why is Why.CANCELLED and not (why is Why.LOST or self.keeps_on)):
            return
        self.why = why
        self.woken.set()
        self.interrupt()

    def works_in(self, task: asyncio.Task[Any] | None) -> bool:
        """Whether its attempt is that task."""
        return task is not None and self.attempt is not None and self.attempt.task is task

    def interrupt(self) -> None:
        """Cancel the attempt, where why it is to end says so."""
        if self.attempt is None or self.why in (None, Why.STOPPING) or (self.why is Why.CANCELLED and self.keeps_on):
            return
        self.attempt.interrupt()

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until it is woken."""
        if seconds <= 0 or self.woken.is_set():
            return
        try:
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        except TimeoutError:
            pass
