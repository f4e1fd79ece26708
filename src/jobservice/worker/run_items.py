"""Owns the single path of a run: each item in a unit of work of its own, several of them at once.

Items have their rows before any is begun. A turn locks its row, runs the use case, and writes the outcome under the
occurrence's lease; where that writes nothing, the effects are rolled back with it and the run is over. With a cursor:
one item at a time, in order, and the cursor moves in the item's transaction.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import psycopg
import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobservice.application import JobItem, failed
from jobservice.store import cursors
from jobservice.store import occurrence_items as store
from jobservice.store.database import Transaction
from jobservice.store.occurrence_items import ItemEnding, StoredItem
from jobservice.worker.job_call import ItemCall, ScopeBusy, cancelled, run_use_case
from jobservice.worker.run import ITSELF, LateTransaction, Run
from jobservice.worker.selecting import SelectionUnfit, given_twice

_log = structlog.get_logger("jobservice.worker")

AT_ONCE = 4
"""Items of one run at once, where there are connections; in what order they end nobody promises."""
BUSY_PAUSES = (0.2, 0.5, 1.0)
"""Seconds between looks at items that another transaction has locked; then they are left for the next attempt."""
BUSY = "Another Worker was in the middle of it, and may still end it."


class _NotOurs(Exception):
    """The lease was not ours any more when the outcome was to be written."""


@dataclass(slots=True, kw_only=True, eq=False)
class Feed:
    """Hands out the items of a run one by one: what earlier attempts left first, then what its selection gives."""

    run: Run
    left: bool
    """Whether earlier attempts may have left items."""
    selects: bool = True
    after: str | None = None
    """Key of the item behind which the selection goes on."""
    items: deque[StoredItem] = field(default_factory=deque)
    trouble: SelectionUnfit | None = None
    """Why the selection ended before its end; what was handed out is worked through."""
    _number: int = 0
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def next(self) -> StoredItem | None:
        """The next item; None where there is none any more."""
        if self.items:
            return self.items.popleft()
        async with self._one:
            while not self.items and await self._more():
                pass
            return self.items.popleft() if self.items else None

    async def _more(self) -> bool:
        """Look for more items; False where there are none."""
        if self.left:
            await self._look_at_what_is_left()
            return True
        if not self.selects or self.trouble is not None or self.run.tally.selected_all:
            return False
        try:
            await self._select()
        except SelectionUnfit as unfit:
            self.trouble = unfit
        return True

    async def _look_at_what_is_left(self) -> None:
        most = self.run.schedule.batch_size
        async with self.run.transaction() as transaction:
            found = await store.open_items(transaction, self.run.key, after=self._number, most=most)
        self.items.extend(found)
        self.left = len(found) == most
        if found:
            self._number = found[-1].number

    async def _select(self) -> None:
        async with self.run.transaction(planned_once=False) as transaction:
            await self.run.read_only(transaction)
            found = await self.run.select(transaction, self.after)
        if found:
            self.items.extend(await add_items(self.run, found))
            self.after = found[-1].key
        else:
            self.run.tally.selected_all = True


async def add_items(run: Run, items: Sequence[JobItem]) -> tuple[StoredItem, ...]:
    """Write items that were selected, before any is begun. RunLost; SelectionUnfit where the run has one already."""
    position, again = items[-1].key, run.schedule.cursor is not None
    async with run.transaction() as transaction:
        progress = run.tally.progress(position, selected_all=False)
        added = await store.add(transaction, run.key, items, progress, again=again)
        if added is not None and added.twice is not None:
            raise given_twice(added.twice)
    if added is None:
        raise await run.refused("item")
    run.tally.selected += added.count
    run.tally.position = position
    return tuple(StoredItem(item=item, number=0, attempts=0) for item in items)


@dataclass(slots=True, kw_only=True, eq=False)
class SingleRun:
    """Works through what a feed hands out."""

    run: Run
    feed: Feed
    at_once: int = AT_ONCE
    _busy: list[StoredItem] = field(default_factory=list)

    async def work(self) -> None:
        """Until the feed is empty; then what was locked by others, a few times. RunLost, Refusal DATABASE_AWAY."""
        await self.run.scope.all([self._work() for _ in range(self.at_once)])
        for pause in BUSY_PAUSES:
            if not self._busy:
                return
            await asyncio.sleep(pause)
            again, self._busy = self._busy, []
            for stored in again:
                await self._one(stored)
        for _ in self._busy:
            self.run.tally.leave_busy(BUSY)

    async def _work(self) -> None:
        while (stored := await self.feed.next()) is not None:
            await self._one(stored)

    async def _one(self, stored: StoredItem) -> None:
        try:
            ending = await turn(self.run, stored)
        except ScopeBusy:
            self._busy.append(stored)
        else:
            self.run.tally.add(ending)


async def turn(run: Run, stored: StoredItem, *, cursor: Cursor | None = None) -> ItemEnding:
    """One attempt at an item in a transaction of its own; how it ended. ScopeBusy, RunLost, Refusal DATABASE_AWAY."""
    key = stored.item.key
    try:
        async with run.transaction() as transaction:
            locked = await store.lock(transaction, run.key, key)
            if locked is None:
                raise ScopeBusy(key)
            if locked.outcome is not None:
                return ItemEnding(outcome=locked.outcome, sentence="")
            call = ItemCall(
                calling=run.calling,
                transaction=transaction,
                key=key,
                attempt=locked.attempts + 1,
                now=locked.now,
            )
            ending = run.ending_of(await run_use_case(run.function, call, stored.item))
            if not await store.end(transaction, run.key, key, ending):
                raise _NotOurs
            if cursor is not None and ending.outcome in MOVING:
                await cursor.move(transaction, run, stored)
            return ending
    except _NotOurs:
        raise await run.refused("item") from None
    except (Refusal, psycopg.Error) as error:
        sentence = said(run, error, key)
    return await _keep(run, key, sentence)


def said(run: Run, error: Refusal | psycopg.Error, item: str | None) -> str:
    """The sentence for what the database did with an item's transaction; raises it where the database is away.

    CancelledError where the task was to end: its connection may have been closed for that.
    """
    if cancelled():
        raise asyncio.CancelledError from error
    if isinstance(error, Refusal) and error.kind is ErrorCode.TIMED_OUT:
        return error.detail
    if isinstance(error, Refusal):
        raise error
    _log.error("item-not-written", schedule=run.schedule.id, tenant=run.taken.tenant, item=item, exc_info=error)
    return "The database refused to write it; nothing of it was done. The Worker's log says more."


async def _keep(run: Run, key: str, sentence: str) -> ItemEnding:
    """Keep that an attempt at an item came to nothing, in a transaction of its own."""
    ending = run.ending_of(failed(sentence))
    async with run.transaction() as transaction:
        written = await store.end(transaction, run.key, key, ending)
    if not written:
        raise await run.refused("item")
    return ending


MOVING = frozenset({"done", "refused", "uncertain"})
"""Outcomes that a cursor moves behind: no machine tries them again. (An uncertain one ends the run all the same.)"""


@dataclass(slots=True, kw_only=True, eq=False)
class Cursor:
    """Where a saga-driving run stands. `number`: of the item of this run that it stands behind; 0: of another run's."""

    name: str
    position: str | None
    number: int = 0

    def passed(self, stored: StoredItem) -> bool:
        """Whether it stands behind an item already: one that was refused or is uncertain, and is run again by a replay."""
        return 0 < stored.number <= self.number

    async def move(self, transaction: Transaction, run: Run, stored: StoredItem) -> None:
        """Move behind an item in its transaction, never back; SelectionUnfit where another run moved it meanwhile."""
        key = self.position if self.passed(stored) else stored.item.key
        assert key is not None  # noqa: S101  # what stands behind an item stands somewhere
        if not await cursors.move(transaction, run.key, self.name, was=self.position, position=key):
            raise SelectionUnfit(
                f"Another run moved the cursor {self.name} meanwhile; this one goes on behind it later."
            )


async def follow_cursor(run: Run, name: str, *, left: bool) -> None:
    """Work through the selection behind a cursor, one item at a time and in order, up to the first that is not done or
    refused: what earlier attempts `left` first, whether it is selected again or not. RunLost, SelectionUnfit, Refusal
    DATABASE_AWAY.

    Where another run moved the cursor meanwhile, it may have done what was left: that is tried only where it is selected
    again at once, behind the cursor, and is refused else.
    """
    async with run.transaction() as transaction:
        found = await cursors.read(transaction, run.key, name)
    cursor, moved = Cursor(name=name, position=found.position, number=found.number), found.moved
    if left and not moved and not await _follow(run, Feed(run=run, left=True, selects=False), cursor):
        return
    run.tally.selected_all = False
    feed = Feed(run=run, left=False, after=cursor.position)
    if left and moved:  # before this run moves it: then nobody could tell any more
        await _pass_over(run, feed, name)
    await _follow(run, feed, cursor)


async def _follow(run: Run, feed: Feed, cursor: Cursor) -> bool:
    """Whether all that the feed hands out is done or refused."""
    while (stored := await feed.next()) is not None:
        ending = await _in_turn(run, stored, cursor)
        if ending is None:
            run.tally.leave_busy(BUSY)
            return False
        run.tally.add(ending)
        if ending.outcome in MOVING and not cursor.passed(stored):
            cursor.position, cursor.number = stored.item.key, stored.number
        if ending.outcome not in ("done", "refused"):
            return False
    if feed.trouble is not None:
        raise feed.trouble
    return True


async def _pass_over(run: Run, feed: Feed, name: str) -> None:
    """End what was left and is not among what the feed hands out first. RunLost, SelectionUnfit."""
    if (first := await feed.next()) is not None:
        feed.items.appendleft(first)
    if feed.trouble is not None:
        raise feed.trouble
    sentence = f"Another run moved the cursor {name} past it. This one did nothing of it."
    keep = [stored.item.key for stored in feed.items]
    async with run.transaction() as transaction:
        passed = await store.pass_over(transaction, run.key, sentence, keep=keep)
    run.tally.refused += passed


async def _in_turn(run: Run, stored: StoredItem, cursor: Cursor) -> ItemEnding | None:
    """How it ended; None where another transaction has it locked."""
    for pause in BUSY_PAUSES:
        try:
            return await turn(run, stored, cursor=cursor)
        except ScopeBusy:
            await asyncio.sleep(pause)
    return None


async def run_itself(run: Run) -> None:
    """Run the one item of a run without a selection: its row comes with its outcome. RunLost, Refusal DATABASE_AWAY."""
    tally = run.tally
    tally.selected, tally.selected_all = 1, True
    if tally.unfinished == 0:
        return  # an earlier attempt ended it, and was lost before it could say so
    try:
        tally.add(await _itself(run))
    except ScopeBusy:
        tally.leave_busy(BUSY)


async def _itself(run: Run) -> ItemEnding:
    """Its transaction begins with its first effect: a use case that waits holds none, and one that does nothing here has
    none. Then its row comes with the completion, under the same lease."""
    item = JobItem(key=ITSELF, label=run.schedule.title)
    run.check_lease()
    try:
        async with LateTransaction(run) as late:
            call = ItemCall(
                calling=run.calling,
                transaction=None,
                key=ITSELF,
                attempt=run.taken.attempts,
                now=run.taken.taken_at,
                opens=late.open,
                before_effects=store.try_lock,
            )
            ending = run.ending_of(await run_use_case(run.function, call, item))
            if (transaction := late.transaction) is None:
                run.unwritten = ending
                return ending
            if not await store.end_itself(transaction, run.key, ITSELF, item.label, ending):
                raise _NotOurs
            return ending
    except _NotOurs:
        raise await run.refused("item") from None
    except (Refusal, psycopg.Error) as error:
        sentence = said(run, error, ITSELF)
    ending = run.ending_of(failed(sentence))
    async with run.transaction() as transaction:
        written = await store.end_itself(transaction, run.key, ITSELF, item.label, ending)
    if not written:
        raise await run.refused("item")
    return ending
