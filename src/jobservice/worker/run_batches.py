"""Owns the batch path of a run, for use cases that say of themselves that many items may share one transaction.

One transaction a batch: select, run the use case for each item, and move the occurrence's position and counts under its
lease. Where anything is not done, all of that is rolled back and the batch goes the single path; then batches go on.
Items that went well have no row: the position stands for them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from uuid import UUID

import psycopg
import structlog

from jobcontract.errors import Refusal
from jobcontract.states import OutcomeKind
from jobservice.application import JobItem
from jobservice.store import occurrence_items as store
from jobservice.store.database import Transaction
from jobservice.worker.job_call import ItemCall, run_use_case
from jobservice.worker.run import ITSELF, LateTransaction, Run, keep_refused
from jobservice.worker.run_items import Feed, SingleRun, add_items, said
from jobservice.worker.selecting import SelectionUnfit, given_twice

_log = structlog.get_logger("jobservice.worker")

REMEMBERED = 10_000
"""Keys of the attempt that are remembered, at least, besides those of a batch: no row says that they were given."""
TURN_OF_THE_LOOP = 50
"""Items after which others of this process have their turn, and a cancellation is seen."""


class _Given:
    """The keys that a selection gave last in this attempt: one that comes again would be run again."""

    def __init__(self) -> None:
        self._older: set[str] = set()
        self._newer: set[str] = set()

    def add(self, items: Sequence[JobItem]) -> None:
        """Those of a batch; SelectionUnfit where one was given before."""
        for item in items:
            if item.key in self._newer or item.key in self._older:
                raise given_twice(item.key)
        if len(self._newer) >= REMEMBERED:
            self._older, self._newer = self._newer, set()
        self._newer.update(item.key for item in items)


class _NotWhole(Exception):
    """Something of a batch is not done."""


class _NotOurs(Exception):
    """The lease was not ours any more when the batch was to be written."""


async def run_batches(run: Run, *, left: bool) -> None:
    """Work through the selection batch by batch; what earlier attempts `left` first, singly. RunLost, SelectionUnfit,
    Refusal DATABASE_AWAY."""
    if left:
        await SingleRun(run=run, feed=Feed(run=run, left=True, selects=False)).work()
    given = _Given()
    while not run.tally.selected_all:
        unwell = await _batch(run, given)
        if unwell:
            stored = await add_items(run, unwell)
            await SingleRun(run=run, feed=Feed(run=run, left=False, selects=False, items=deque(stored))).work()


async def _batch(run: Run, given: _Given) -> Sequence[JobItem]:
    """One batch; its items where it did not go well whole, and nothing of it stayed."""
    items: Sequence[JobItem] = ()
    tally = run.tally
    try:
        async with run.transaction() as transaction:
            items = await run.select(transaction, tally.position)
            given.add(items)
            if run.taken.fence > 1 and (twice := await store.twice(transaction, run.key, [each.key for each in items])):
                raise given_twice(twice)
            await _call_each(run, transaction, items)
            position = items[-1].key if items else tally.position
            written = await store.advance(
                transaction,
                run.key,
                was=tally.position,
                position=position,
                selected_all=not items,
                added=len(items),
            )
            if not written:
                raise _NotOurs
    except _NotOurs:
        raise await run.refused("batch") from None
    except _NotWhole:
        return items
    except (Refusal, psycopg.Error) as error:
        sentence = said(run, error, None)
        if not items:
            raise SelectionUnfit(sentence) from error
        return items
    tally.position, tally.selected_all = position, not items
    tally.selected += len(items)
    tally.done += len(items)
    return ()


async def _call_each(run: Run, transaction: Transaction, items: Sequence[JobItem]) -> None:
    """Run the use case for each item of a batch; _NotWhole with the first that is not done."""
    now = transaction.began_at
    for number, item in enumerate(items, start=1):
        if number % TURN_OF_THE_LOOP == 0:
            await asyncio.sleep(0)
        call = ItemCall(calling=run.calling, transaction=transaction, key=item.key, attempt=1, now=now, shares=True)
        await _whole(run, call, item)


async def _whole(run: Run, call: ItemCall, item: JobItem) -> None:
    """Run the use case for one item. _NotWhole where it is not done."""
    outcome = await run_use_case(run.function, call, item)
    if outcome.kind is not OutcomeKind.DONE:
        raise _NotWhole


async def run_together(runs: Sequence[Run]) -> frozenset[Run]:
    """The one item of each of many occurrences of one tenant, in one transaction that begins with the first effect; those
    that are done by it.

    None of them where anything is not done or a lease is not ours any more: then nothing of it stayed, and each goes its
    own way. Refusal DATABASE_AWAY.
    """
    first = runs[0]
    fences = {run.taken.id: run.taken.fence for run in runs}
    written: frozenset[UUID] = frozenset()
    first.check_lease()
    try:
        async with LateTransaction(first) as late:
            for number, run in enumerate(runs, start=1):
                if number % TURN_OF_THE_LOOP == 0:
                    await asyncio.sleep(0)
                item = JobItem(key=ITSELF, label=run.schedule.title)
                call = ItemCall(
                    calling=run.calling,
                    transaction=late.transaction,
                    key=ITSELF,
                    attempt=run.taken.attempts,
                    now=run.taken.taken_at,
                    opens=late.open,
                    shares=True,
                )
                await _whole(run, call, item)
            if (
                late.transaction is not None
            ):  # else there is nothing that a second run would do twice, and the completion says it all
                written = await store.advance_many(late.transaction, first.lease.holder, fences)
                if len(written) < len(runs):
                    raise _NotOurs
    except _NotOurs:
        lost = {occurrence: fence for occurrence, fence in fences.items() if occurrence not in written}
        await keep_refused(first.scope, first.taken.tenant, first.lease.holder, lost, "batch")
        return frozenset()
    except _NotWhole:
        return frozenset()
    except (Refusal, psycopg.Error) as error:
        said(first, error, None)
        return frozenset()
    for run in runs:
        run.tally.selected, run.tally.done, run.tally.selected_all = 1, 1, True
    return frozenset(runs)
