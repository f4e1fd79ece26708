"""Owns the one run of the service's own: the scores of a queue that time changes are counted anew. Decides no score
(`usecases/scoring.py`, the application's rules).

The batch path: a batch is read without a lock, computed outside of any transaction in a thread of its own, and written
in one statement that leaves out what somebody works on; the occurrence moves on in the same transaction. A batch is
written while the next one is computed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from jobservice.rules.queues import Queue
from jobservice.store import occurrence_items as items
from jobservice.store import scores as store
from jobservice.usecases.scoring import Scorer
from jobservice.worker.run import Run
from jobservice.worker.score_batches import Computed, Faults, compute

_log = structlog.get_logger("jobservice.worker")


class _NotOurs(Exception):
    """The lease was not ours any more when the batch was to be written."""


@dataclass(slots=True, kw_only=True, eq=False)
class ScoreRun:
    """Scores what was due when the run began, each item once: one that somebody works on stays due for the next run."""

    run: Run
    scorer: Scorer
    queue: Queue
    faults: Faults

    async def work(self) -> None:
        """Until nothing is due. RunLost, Refusal DATABASE_AWAY."""
        try:
            await self._work()
        finally:
            self.faults.log()

    async def _work(self) -> None:
        until: datetime | None = None
        after: store.Due | None = None
        writing: asyncio.Task[None] | None = None
        while True:
            batch, until = await self._due(until, after)
            if writing is not None:
                await writing
            if not batch:
                break
            last = batch[-1][0]
            assert last.rescore_at is not None  # noqa: S101  # it was found by that
            after = (last.rescore_at, last.id)
            writing = self.run.scope.start(self._write(batch))
        self.run.tally.selected_all = True

    async def _due(self, until: datetime | None, after: store.Due | None) -> tuple[Sequence[Computed], datetime]:
        """The next batch of what is due, computed, and until when the run looks."""
        async with self.run.transaction(planned_once=False) as transaction:
            clock = transaction.began_at
            bound = until or clock
            most = self.run.schedule.batch_size
            found = await store.due(transaction, self.queue.id, until=bound, after=after, batch=most)
        if not found:
            return (), bound
        batch = await asyncio.to_thread(compute, self.scorer, self.queue, found, clock, self.faults)
        return batch, bound

    async def _write(self, batch: Sequence[Computed]) -> None:
        run = self.run
        try:
            async with run.transaction(planned_once=False) as transaction:
                written = await store.rescore_under_run(transaction, run.key, batch)
                moved = await items.advance(
                    transaction, run.key, was=None, position=None, selected_all=False, added=written.scored
                )
                if not moved:
                    raise _NotOurs
        except _NotOurs:
            raise await run.refused("batch") from None
        run.tally.selected += written.scored
        run.tally.done += written.scored
