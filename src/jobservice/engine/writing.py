"""Owns the engine's transactions: few connections for many jobs, and what several jobs have to write at the same moment in
one of them. Knows no job.

What shares a transaction is short, and is written in the order in which it came; where one of them is refused by the
database, none stays, and each is tried alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store.database import Database, Transaction

CONNECTIONS = 8
"""Transactions that the engine has open at once: what is more waits here, and not for the pool, which would take it for an
outage."""
TOGETHER_MOST = 25
"""Jobs that share a transaction: it holds all their rows until it ends."""
AT_ONCE = 3
"""Shared transactions of one tenant at once."""

Result = TypeVar("Result")
Work = Callable[[Transaction], Awaitable[Result]]


@dataclass(slots=True, eq=False)
class _Waiting:
    """Something to write, and who waits for its result."""

    work: Work[Any]
    result: asyncio.Future[Any]


@dataclass(slots=True, eq=False)
class _Line:
    """What one tenant's jobs have to write."""

    waiting: deque[_Waiting] = field(default_factory=deque)
    writers: set[asyncio.Task[None]] = field(default_factory=set)


@dataclass(slots=True, kw_only=True, eq=False)
class Writing:
    """The transactions of one engine."""

    database: Database
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONNECTIONS))
    _lines: dict[str, _Line] = field(default_factory=dict)

    @asynccontextmanager
    async def alone(self, tenant: str | None) -> AsyncIterator[Transaction]:
        """A transaction of its own; Refusal as `Database.transaction`."""
        async with self._places, self.database.transaction(tenant, planned_once=True) as transaction:
            yield transaction

    async def together(self, tenant: str, work: Work[Result]) -> Result:
        """The result of `work`, once what it wrote is committed, together with what others wrote. It must leave nothing to
        undo where its result says that it wrote nothing. Refusal as `Database.transaction`."""
        line = self._lines.setdefault(tenant, _Line())
        waiting = _Waiting(work, asyncio.get_running_loop().create_future())
        line.waiting.append(waiting)
        if len(line.writers) < AT_ONCE:
            writer = asyncio.create_task(self._write(tenant, line), name="jobs writing")
            line.writers.add(writer)
            writer.add_done_callback(line.writers.discard)
        return cast("Result", await waiting.result)

    async def _write(self, tenant: str, line: _Line) -> None:
        await asyncio.sleep(0)  # what comes in the same turn of the loop goes along
        while line.waiting:
            batch = [line.waiting.popleft() for _ in range(min(len(line.waiting), TOGETHER_MOST))]
            batch = [each for each in batch if not each.result.done()]
            try:
                await self._write_batch(tenant, batch)
            except BaseException:  # this task is being cancelled: nobody is left to write for them
                for each in batch:
                    each.result.cancel()
                raise

    async def _write_batch(self, tenant: str, batch: list[_Waiting]) -> None:
        try:
            async with self.alone(tenant) as transaction:
                results = [await each.work(transaction) for each in batch]
        except Exception as error:  # whatever one of them raised is told to it alone, and to the others nothing
            if len(batch) == 1 or (isinstance(error, Refusal) and error.kind is ErrorCode.DATABASE_AWAY):
                for each in batch:
                    _fail(each, error)
                return
            for each in batch:
                await self._write_batch(tenant, [each])
        else:
            for each, result in zip(batch, results, strict=True):
                if not each.result.done():
                    each.result.set_result(result)


def _fail(waiting: _Waiting, error: Exception) -> None:
    if not waiting.result.done():
        waiting.result.set_exception(error)
