"""Owns writing how occurrences ended, in batches: at once when nothing else is to be written, else whatever came while the
last batch was written. What cannot be written while the lease lives is logged, and ends as a lost lease."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from jobcontract.errors import Refusal
from jobservice.store import occurrence_leases as store
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import Completion, Reached, Written

_log = structlog.get_logger("jobservice.worker")

BATCH = 400
"""Most completions of one statement: as many as there are small occurrences at once, so that what they free is claimed in
one piece, too."""
GATHER = 0.002
"""Seconds that a batch waits for more behind another one that was full of them."""
PAUSE_FIRST, PAUSE_MOST = 0.05, 1.0
"""Seconds between two tries while the database is away."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Entry:
    completion: Completion
    holder: UUID
    live: Callable[[], bool]
    written: asyncio.Future[bool]


@dataclass(slots=True, kw_only=True, eq=False)
class Settler:
    """Completions of this process that are not written yet. `told` hears of each that was."""

    database: Database
    told: Callable[[Written], None]
    batch: int = BATCH
    _waiting: list[_Entry] = field(default_factory=list)
    _writing: list[_Entry] = field(default_factory=list)
    _flushing: asyncio.Task[None] | None = None

    async def settle(self, completion: Completion, *, holder: UUID, live: Callable[[], bool]) -> bool:
        """Write it; whether it stands. False: it came too late, or could not be written while `live`, which is logged.

        It is written even where the caller is cancelled meanwhile; then the caller ends as if it had not been.
        """
        written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Entry(completion=completion, holder=holder, live=live, written=written))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush(), name="settler")
        while not written.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(written)
        return written.result()

    async def _flush(self) -> None:
        """Write what waits until nothing does. Whoever waits is answered, also where the process is being ended."""
        try:
            await self._write_all()
        finally:
            for entry in (*self._writing, *self._waiting):
                _answer(entry, stands=False)

    async def _write_all(self) -> None:
        pause = PAUSE_FIRST
        while self._waiting:
            self._writing, self._waiting = self._waiting[: self.batch], self._waiting[self.batch :]
            done, count = await self._write(self._writing), len(self._writing)
            kept = [] if done else [entry for entry in self._writing if self._worth_it(entry)]
            self._writing, self._waiting = [], kept + self._waiting
            if not done:
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311  # jitter, no secret
                pause = min(pause * 2, PAUSE_MOST)
                continue
            pause = PAUSE_FIRST
            if count > 1 and len(self._waiting) < self.batch:
                await asyncio.sleep(GATHER)

    async def _write(self, batch: Sequence[_Entry]) -> bool:
        """Write a batch; whether it is done with. False: the database is away, or gave way to others."""
        try:
            await self._settle(batch)
        except Refusal as away:
            _log.info("completions-wait", count=len(batch), reason=away.detail)
            return False
        except Exception as error:  # what one completion breaks the others must not pay for
            if len(batch) > 1:
                answers = [await self._write([entry]) for entry in batch]
                return all(answers)
            self._give_up(batch[0], "completion-not-writable", error)
        return True

    async def _settle(self, batch: Sequence[_Entry]) -> None:
        for holder in {entry.holder for entry in batch}:
            mine = [entry for entry in batch if entry.holder == holder]
            async with self.database.transaction(None, by_index=True) as transaction:
                written = await store.settle(transaction, [entry.completion for entry in mine], holder=holder)
                await store.reach(transaction, _reached(written))
            stands = {(each.id, each.fence) for each in written}
            for each in written:
                self.told(each)
            for entry in mine:
                key = (entry.completion.id, entry.completion.fence)
                if key not in stands:
                    _log.warning("completion-refused", row=str(key[0]), fence=key[1])
                _answer(entry, stands=key in stands)

    def _worth_it(self, entry: _Entry) -> bool:
        """Whether it is to be tried again; what cannot be written any more is answered, and said."""
        if entry.written.done():
            return False
        if entry.live():
            return True
        self._give_up(entry, "completion-not-written", None)
        return False

    def _give_up(self, entry: _Entry, event: str, error: Exception | None) -> None:
        completion = entry.completion
        _log.error(
            event, row=str(completion.id), fence=completion.fence, ending=completion.ending.value, exc_info=error
        )
        _answer(entry, stands=False)


def _answer(entry: _Entry, *, stands: bool) -> None:
    if not entry.written.done():
        entry.written.set_result(stands)


def _reached(written: Sequence[Written]) -> list[Reached]:
    return [
        Reached(tenant=each.tenant, schedule=each.schedule, began_at=each.began_at, completed_at=each.completed_at)
        for each in written
        if each.tenant is not None and each.schedule is not None
    ]
