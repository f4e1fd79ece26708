"""Owns what one run holds while it lasts, and gives all of it back at its end: its tasks, its open transactions, its
share of the connections (requirement use-execution-scopes). Knows no item.

A task that swallows its cancellation is left behind: its connection is closed under it, so that it can never commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog
from psycopg import AsyncConnection

from jobservice.store.database import Database, Transaction

_log = structlog.get_logger("jobservice.worker")

PATIENCE = 0.6
"""Seconds that a cancelled task has to end before it is left behind: a person's cancel is done within one second."""

Result = TypeVar("Result")


SHARED = 8
"""Places that the runs of a process share, as `Room.most`."""


@dataclass(slots=True, eq=False)
class Room:
    """How many transactions the runs of this process have open at once, besides the first of each: that one has a place of
    its own, so that runs whose handlers hang keep no other from going on. Whoever comes first is served first."""

    most: int = SHARED
    left_behind: set[asyncio.Task[Any]] = field(default_factory=set)
    """Tasks that go on although their run ended. Kept until they end: the loop alone would forget them half-way."""
    places: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.places = asyncio.Semaphore(self.most)


@dataclass(slots=True, eq=False)
class _Open:
    """A transaction that a task of the run has open."""

    task: asyncio.Task[Any] | None
    connection: AsyncConnection[Any]
    shared: bool
    given_up: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """The tasks and open transactions of one run. Close it: nothing of the run stays after."""

    database: Database
    room: Room
    own: bool = True
    """Whether one place is its own; else (there are very many small runs) all its places are shared ones."""
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _open: set[_Open] = field(default_factory=set)
    _closed: bool = False

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Begin work of this run in a task of its own."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def all(self, works: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Do several works at once to their end; the first exception of one ends the others, and is raised. What does not
        let itself be ended is left to `close`."""
        tasks = [self.start(work) for work in works]
        _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=PATIENCE)
        errors = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        for error in errors:
            if error is not None:
                raise error

    @asynccontextmanager
    async def transaction(
        self,
        tenant: str,
        *,
        planned_once: bool = True,
        idle_seconds: float | None = None,
        task: asyncio.Task[Any] | None = None,
    ) -> AsyncIterator[Transaction]:
        """A transaction of the run, as `Database.transaction`; waits for its place among those of all runs.

        `task`: of the run, whose it is; None: the present one. Its connection is closed where that is left behind.
        CancelledError once the scope was closed: what was left behind begins nothing more.
        """
        if self._closed:
            raise asyncio.CancelledError
        shared = await self._place()
        held: _Open | None = None
        try:
            async with self.database.transaction(
                tenant, planned_once=planned_once, idle_seconds=idle_seconds
            ) as transaction:
                held = _Open(task=task or asyncio.current_task(), connection=transaction.connection, shared=shared)
                self._open.add(held)
                yield transaction
        finally:
            if held is not None:
                self._open.discard(held)
            if held is None or not held.given_up:
                self._give_place_back(shared=shared)

    async def _place(self) -> bool:
        """Wait for a place; whether it is a shared one."""
        if self.own:
            self.own = False
            return False
        await self.room.places.acquire()
        return True

    def _give_place_back(self, *, shared: bool) -> None:
        if shared:
            self.room.places.release()
        else:
            self.own = True

    async def close(self) -> int:
        """End every task of the run; how many had to be left behind."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        try:
            if self._tasks:
                await asyncio.wait(tuple(self._tasks), timeout=PATIENCE)
        finally:
            left = tuple(self._tasks)
            self._leave(left)
        return len(left)

    def _leave(self, tasks: Sequence[asyncio.Task[Any]]) -> None:
        for task in tasks:
            self.room.left_behind.add(task)
            task.add_done_callback(self._ended_at_last)
        for held in tuple(self._open):
            if held.task in tasks:
                held.given_up = True
                self._open.discard(held)
                self._give_place_back(shared=held.shared)
                closing = asyncio.create_task(self.database.give_up(held.connection))
                self.room.left_behind.add(closing)
                closing.add_done_callback(self.room.left_behind.discard)

    def _ended_at_last(self, task: asyncio.Task[Any]) -> None:
        self.room.left_behind.discard(task)
        error = None if task.cancelled() else task.exception()
        _log.info("task-left-behind-ended", error=None if error is None else type(error).__name__)
