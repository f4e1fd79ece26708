"""Owns writing declared progress: of each job once a second at most, of all jobs in few transactions. Declaring costs nothing;
what was declared last is what is written. Transitions are not written here, and never wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg
import structlog

from jobcontract.errors import Refusal
from jobservice.engine.running import RunningJob
from jobservice.engine.writing import Writing
from jobservice.rules.jobs import safe
from jobservice.store import engine as store
from jobservice.store.engine import Declared

_log = structlog.get_logger("jobservice.engine")

EVERY_SECONDS = 1.0
"""Between two writes of one job."""
LEAST_SECONDS = 0.1
"""Between two writes of this process: what comes meanwhile goes along."""
TOGETHER_MOST = 200
"""Jobs of one statement."""
AGAIN_SECONDS = 0.3
"""Until the next try, where a job's row was just being written."""
AWAY_SECONDS = 1.0
"""Until the next try, where the database did not take it."""


@dataclass(slots=True, eq=False)
class _Declared:
    """What a job's step declared, and when the last of it was written, on the loop's clock."""

    running: RunningJob
    position: int
    percent: int = 0
    sentence: str | None = None
    new: bool = False
    written_at: float = float("-inf")


@dataclass(slots=True, kw_only=True, eq=False)
class Progresses:
    """What the jobs of one process declared. `changed` is told (tenant, kind, job) after it is written."""

    writing: Writing
    holder: str
    changed: Callable[[str, str, str], None]
    _declared: dict[str, _Declared] = field(default_factory=dict)
    _new: set[str] = field(default_factory=set)
    _writer: asyncio.Task[None] | None = None

    def declare(self, running: RunningJob, position: int, percent: int, sentence: str | None) -> None:
        """A running step is so far; less than before counts for nothing."""
        known = self._declared.get(running.handle)
        if known is None or known.position != position:
            at = float("-inf") if known is None else known.written_at
            known = self._declared[running.handle] = _Declared(running, position, written_at=at)
        if percent <= known.percent and sentence is None:
            return
        known.percent = max(known.percent, percent)
        known.sentence = sentence or known.sentence
        self._new.add(running.handle)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="jobs declaring")

    def forget(self, running: RunningJob) -> None:
        """The job runs here no longer."""
        self._declared.pop(running.handle, None)
        self._new.discard(running.handle)

    def end(self) -> None:
        """Write nothing more."""
        if self._writer is not None:
            self._writer.cancel()

    async def _write(self) -> None:
        clock = asyncio.get_running_loop().time
        while self._new:
            now = clock()
            due = [
                each for each in map(self._declared.get, self._new) if each and each.written_at + EVERY_SECONDS <= now
            ]
            for start in range(0, len(due), TOGETHER_MOST):
                await self._write_some(due[start : start + TOGETHER_MOST], now)
            await asyncio.sleep(LEAST_SECONDS)

    async def _write_some(self, due: list[_Declared], now: float) -> None:
        some = [
            Declared(
                family=each.running.family,
                job=each.running.job,
                fence=each.running.run.fence,
                position=each.position,
                percent=each.percent,
                sentence=None if each.sentence is None else safe(each.sentence),
            )
            for each in due
            if each.running.run is not None
        ]
        said = {each.running.handle: each.sentence for each in due}
        for each in due:
            each.written_at, each.sentence = now, None
            self._new.discard(each.running.handle)
        try:
            async with self.writing.alone(None) as transaction:
                written = await store.declare(transaction, self.holder, some)
        except (Refusal, psycopg.Error) as error:  # the next one that is declared says more than this one did
            _log.info("progress-not-written", count=len(some), reason=str(error))
            await asyncio.sleep(AWAY_SECONDS)
            return
        for each in due:
            if each.running.job in written:
                self.changed(each.running.tenant, each.running.kind, each.running.job)
            elif self._declared.get(each.running.handle) is each:  # another transaction has its row: soon again
                each.written_at = now - EVERY_SECONDS + AGAIN_SECONDS
                each.sentence = each.sentence or said[each.running.handle]
                self._new.add(each.running.handle)
