"""Owns the way out of an event loop that does not turn: a thread that sees it, names the culprit, ends its attempt, gives
the other leases of the process back, and replaces the process.

It has a loop and a database of its own, and touches none of the process's. It counts only time in which the thread itself
ran, so that a process that was frozen as a whole is not mistaken for one that is blocked.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, NoReturn
from uuid import UUID
from weakref import WeakKeyDictionary

import structlog

from jobcontract.errors import Refusal
from jobservice.store import workers
from jobservice.store.database import Database
from jobservice.worker.held import Held
from jobservice.worker.leased_work import CARRIED, RowLease

_log = structlog.get_logger("jobservice.worker")

LOOK_SECONDS = 0.5
"""Between two looks."""
BLOCKED_LEAST = 1.0
"""Seconds that the loop must have stood still before a run that is over its bound is ended for it: less is no block."""
PART = 1 / 2
"""Which part of the shortest lease held the loop may stand still, whosever fault it is. Renewed three times in its time, a
lease has a sixth left then, to be given back in."""
IDLE_LEASE = 30.0
"""Seconds, in place of the shortest lease where none is held."""
WRITING_SECONDS = 4.0
"""How long it may take to write all that; then the leases are left to run out."""


GiveBack = Callable[[Database, asyncio.Task[Any] | None], Coroutine[Any, Any, None]]


def replace_process() -> NoReturn:
    """Begin this program anew in this process: same arguments, environment and standard files. Connections close."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # our own command line


@dataclass(slots=True, kw_only=True, eq=False)
class Watchdog:
    """Watches the loop that `watch` is called in. `replace` does not return, but in tests."""

    url: str
    holder: UUID
    replace: Callable[[], None] = replace_process
    helds: Sequence[Held] = ()
    look_seconds: float = LOOK_SECONDS
    least: float = BLOCKED_LEAST
    give_back: GiveBack | None = None
    """Gives back what else runs in the process, but for what the blocked task does."""
    limit: float | None = None
    """Seconds that the loop may stand still; None = a part of the shortest lease held."""
    _loop: asyncio.AbstractEventLoop | None = None
    _turned: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _watched: int = 0
    """The thread that the loop turns in."""
    _leases: WeakKeyDictionary[asyncio.Task[Any], RowLease] = field(default_factory=WeakKeyDictionary)
    """By task: the lease that it works under, for every task that the work of a lease starts."""

    def watch(self, helds: Sequence[Held]) -> None:
        """Begin, in the loop that runs now, over these leases."""
        self.helds = helds
        self._loop = asyncio.get_running_loop()
        self._watched = threading.get_ident()
        self._loop.set_task_factory(self._task)
        self._thread = threading.Thread(target=self._run, daemon=True, name="watchdog")
        self._thread.start()

    def end(self) -> None:
        """Watch no longer."""
        self._over.set()
        if self._loop is not None:
            self._loop.set_task_factory(None)
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        context: Context | None = None,
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=loop, context=context)
        lease = CARRIED.get() if context is None else context.get(CARRIED)
        if lease is not None:
            self._leases[task] = lease
        return task

    def _run(self) -> None:
        """Look, until the end: a loop that does not turn between many looks is blocked."""
        assert self._loop is not None  # noqa: S101  # watch sets it before it starts the thread
        blocked, last = 0.0, time.monotonic()
        self._ask()
        while not self._over.wait(self.look_seconds):
            now = time.monotonic()
            passed, last = now - last, now
            if self._turned.is_set():
                blocked = 0.0
                self._ask()
                continue
            # No more than one look's time each: while the whole process stood still, the loop was not to blame.
            blocked += min(passed, 2 * self.look_seconds)
            culprit = self._culprit()
            if self._too_long(blocked, culprit, now):
                self._end_it(blocked, culprit)
                return

    def _ask(self) -> None:
        """Ask the loop to turn once."""
        self._turned.clear()
        with suppress(RuntimeError):  # it was closed
            self._loop.call_soon_threadsafe(self._turned.set)  # type: ignore[union-attr]  # set before the thread is

    def _culprit(self) -> RowLease | None:
        """The lease that the task which is running now works under; None where it is no leased work's."""
        task = asyncio.current_task(self._loop)
        return None if task is None else self._leases.get(task)

    def _too_long(self, blocked: float, culprit: RowLease | None, now: float) -> bool:
        if culprit is not None and culprit.bound is not None and now >= culprit.bound and blocked >= self.least:
            return True
        limit = self.limit
        if limit is None:
            limit = min((held.work.lease for held in self.helds if len(held)), default=IDLE_LEASE) * PART
        return blocked >= limit

    def _end_it(self, blocked: float, culprit: RowLease | None) -> None:
        try:
            self._tell(blocked, culprit)
            asyncio.run(self._write(blocked, culprit))
        except Exception as error:  # what could not be written runs out by itself; the process is replaced all the same
            with suppress(Exception):
                _log.error("watchdog-not-written", exc_info=error)
        with suppress(Exception):  # not even a log that cannot be written keeps the process
            _log.error("worker-replaced", incarnation=str(self.holder))
        self.replace()

    def _tell(self, blocked: float, culprit: RowLease | None) -> None:
        task = asyncio.current_task(self._loop)
        frame = sys._current_frames().get(self._watched)
        _log.error(
            "event-loop-blocked",
            alarm=True,
            seconds=round(blocked, 1),
            task=None if task is None else task.get_name(),
            row=None if culprit is None else str(culprit.grant.id),
            tenant=None if culprit is None else culprit.grant.tenant,
            where=[] if frame is None else [line.rstrip() for line in traceback.format_stack(frame)[-12:]],
        )

    async def _write(self, blocked: float, culprit: RowLease | None) -> None:
        """End the culprit's attempt, give everything else back, and say that this incarnation has stopped."""
        database = await Database.open(self.url, name="jobservice watchdog", most=4, wait_seconds=WRITING_SECONDS)
        try:
            async with asyncio.timeout(WRITING_SECONDS):
                sentence = _sentence(blocked, culprit)
                await asyncio.gather(
                    *(
                        self._settle(database, held, lease, sentence if lease is culprit else None)
                        for held in self.helds
                        for lease in tuple(held.leases.values())
                        if not lease.over
                    )
                )
                async with database.transaction(None) as transaction:
                    await workers.hand_back_duties(transaction, self.holder)
                    await workers.stop_worker(transaction, self.holder)
                if self.give_back is not None:
                    await self.give_back(database, asyncio.current_task(self._loop))
        finally:
            await database.close()

    async def _settle(self, database: Database, held: Held, lease: RowLease, sentence: str | None) -> None:
        """One row's end; what cannot be written of one is not the others' trouble."""
        try:
            if sentence is not None:
                await held.work.overrun(database, lease, sentence)
            elif not await held.work.give_back(lease, database):
                _log.warning("lease-was-lost", work=held.work.name, row=str(lease.grant.id), fence=lease.grant.fence)
        except Refusal as refusal:
            _log.warning("lease-kept", work=held.work.name, row=str(lease.grant.id), reason=refusal.detail)


def _sentence(blocked: float, culprit: RowLease | None) -> str:
    if culprit is not None and culprit.bound is not None and time.monotonic() >= culprit.bound:
        return f"It ran past its duration bound and blocked its Worker for {blocked:.0f} s: the Worker replaced itself."
    return f"It blocked its Worker for {blocked:.0f} s: the Worker replaced itself."
