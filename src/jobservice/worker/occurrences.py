"""Owns occurrences as leased work: which are claimed, that each is run, and that its end is written. How one is run:
`running.py`. How claims are found and shared out: `occurrence_lanes.py`. How ends are written: `settler.py`.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol
from uuid import UUID

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import storable
from jobcontract.states import AttemptEnding, DeadCause
from jobservice.rules.attempts import after_attempt, cancelled, unrunnable
from jobservice.rules.schedules import Itself, Schedule
from jobservice.store import hints
from jobservice.store import occurrence_leases as store
from jobservice.store import occurrence_stuck as stuck_store
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import Completion, Reached, Runnable, TakenOccurrence, Written
from jobservice.worker.leased_work import Grant, Renewed, RowLease, Taken, Why
from jobservice.worker.occurrence_lanes import UNKNOWN_AFTER, Claimed, Lane
from jobservice.worker.run import ITSELF
from jobservice.worker.run_ending import Ending, RunLost
from jobservice.worker.schedule_hints import ScheduleHints
from jobservice.worker.settler import Settler

_log = structlog.get_logger("jobservice.worker")

SMALL_SLOTS = 400
"""Most small occurrences at once in one process: those that share a transaction of their tenant."""
SMALL_CHUNK = 100
"""How many small ones of a tenant are claimed together, so that they can share one."""
SWEEP_EVERY = 60.0
"""Seconds between two looks for what nobody here runs."""
SWEEP_MOST = 100
"""Most occurrences that are ended unstarted at once (of a tenant, where nobody runs them)."""
SENTENCE_MOST = 4_000
UNKNOWN = "Handed back: its Worker did not learn that it had claimed it."
DOUBT_SECONDS = 15.0
"""After a claim whose answer got lost: for how long the server may still commit it (a statement, and its answer)."""
BROKEN_OFF_MOST = 10
"""How often an occurrence is handed back uncounted before it counts that the database was away for it: what loses its
connection oftener does so by itself, and would be begun again for ever."""


class Runs(Protocol):
    """What runs one attempt (`running.py`)."""

    async def run(self, lease: RowLease, taken: TakenOccurrence) -> Ending:
        """Run it; how it ended. RunLost, CancelledError, Refusal DATABASE_AWAY: nothing is to be settled."""


@dataclass(slots=True, eq=False)
class _Begun:
    """An occurrence of this process: its lane, when it was asked for (monotonic), when its attempt began after that."""

    tenant: str
    lane: Lane
    asked: float
    began_after: float | None = None


def runnable_of(schedules: Mapping[str, Schedule], deployment: str) -> Runnable:
    """What of these runs in that deployment, and in which tenants."""
    here = [each for each in schedules.values() if each.runs_where is None or deployment in each.runs_where]
    return Runnable(
        everywhere=tuple(each.id for each in here if each.tenants is None),
        somewhere=tuple((tenant, each.id) for each in here for tenant in sorted(each.tenants or ())),
    )


def is_small(schedule: Schedule) -> bool:
    """Whether its occurrences share a transaction of their tenant, so that one takes no slot for itself."""
    return isinstance(schedule.selection, Itself) and schedule.batch_path and schedule.cursor is None


@dataclass(slots=True, kw_only=True, eq=False)
class Occurrences:
    """Occurrences as `LeasedWork`. `schedules` by id; `slots` occurrences at once, besides small ones.

    `settled`: whether a lease that ran out did so because of its holder (`Outage.settled`).
    """

    database: Database
    schedules: Mapping[str, Schedule]
    deployment: str
    runner: Runs
    settled: Callable[[float], bool]
    slots: int = 16
    lease: float = 30.0
    every: float = 2.0
    jitter: Callable[[], float] = random.random
    name: str = "occurrences"
    wakes: frozenset[str] = frozenset({"occurrences", "cancel", "schedules", "stops"})
    _lanes: tuple[Lane, ...] = ()
    _all: Runnable = field(init=False)
    _held: dict[tuple[UUID, int], _Begun] = field(default_factory=dict)
    """By occurrence and fence."""
    _settler: Settler = field(init=False)
    _hints: ScheduleHints = field(init=False)
    _sweep_at: float = 0.0
    in_doubt: float | None = None
    """When a claim last ended so that nobody knows whether it was committed (monotonic); None: what is held is known."""

    def __post_init__(self) -> None:
        self._all = runnable_of(self.schedules, self.deployment)
        small = {each.id: each for each in self.schedules.values() if is_small(each)}
        large = {each.id: each for each in self.schedules.values() if each.id not in small}
        lanes = [self._lane(large, slots=self.slots)]
        if small:
            lanes.append(self._lane(small, slots=SMALL_SLOTS, chunk=SMALL_CHUNK))
        self._lanes = tuple(lanes)
        self._hints = ScheduleHints(database=self.database)
        self._settler = Settler(database=self.database, told=self._written)

    def _lane(self, schedules: Mapping[str, Schedule], *, slots: int, chunk: int = 1) -> Lane:
        return Lane(
            database=self.database,
            schedules=self.schedules,
            runnable=runnable_of(schedules, self.deployment),
            lease=self.lease,
            slots=slots,
            chunk=chunk,
        )

    @property
    def most(self) -> int:
        """All lanes together."""
        return sum(lane.slots for lane in self._lanes)

    async def take(self, holder: UUID, most: int, running: Mapping[str, int]) -> Taken:  # noqa: ARG002  # by lane here
        """Claim what is due, fairly between tenants, and take over leases that ran out; end what is not to start."""
        if self.in_doubt is not None:
            await self._give_back_unknown(holder, self.in_doubt)
        try:
            return await self._look(holder, most)
        except BaseException:  # whatever it is, it may have come after a commit
            self.in_doubt = time.monotonic()
            raise

    async def _look(self, holder: UUID, most: int) -> Taken:
        grants: list[Grant] = []
        soonest: list[float] = []
        some_cancelled = False
        asked = time.monotonic()
        # All lanes at once: a storm in one does not wait for a look at the other each time.
        taken = await asyncio.gather(*(self._take(lane, holder, most) for lane in self._lanes), return_exceptions=True)
        for lane, claimed in zip(self._lanes, taken, strict=True):
            if isinstance(claimed, BaseException):
                continue
            grants += [self._grant(lane, each, asked) for each in claimed.occurrences]
            self._note(claimed.changed)
            some_cancelled |= claimed.cancelled
            if claimed.in_doubt:
                self.in_doubt = time.monotonic()
            if claimed.next_in is not None:
                soonest.append(claimed.next_in)
        errors = [each for each in taken if isinstance(each, BaseException)]
        if errors and not grants:
            raise errors[0]
        if errors:  # what one lane claimed is begun; the other says again what is wrong, at once
            self.in_doubt = time.monotonic()
            return Taken(grants=tuple(grants), next_in=0.0)
        try:
            if some_cancelled:
                await self._end_cancelled()
            await self._sweep()
        except Exception as error:  # what was claimed is begun, or its leases would run out and its slots stay taken
            if not grants:
                raise
            _log.warning("occurrences-not-ended", error=str(error))
            return Taken(grants=tuple(grants), next_in=0.0)
        return Taken(grants=tuple(grants), next_in=min(soonest, default=None))

    async def _give_back_unknown(self, holder: UUID, since: float) -> None:
        """Give back what was claimed for this process without its knowledge: nobody would run it, and its attempt would
        count as lost. Until the server cannot commit such a claim any more."""
        async with self.database.transaction(None, by_index=True) as transaction:
            returned = await store.hand_back_unknown(
                transaction, self._held, holder=holder, expired_too=not self.settled(self.lease), error=UNKNOWN
            )
        if time.monotonic() - since >= DOUBT_SECONDS:
            self.in_doubt = None
        if returned:
            _log.warning("claims-in-doubt-given-back", schedules=sorted({schedule for _, schedule in returned}))
        self._note(returned)

    async def _take(self, lane: Lane, holder: UUID, most: int) -> Claimed:
        """Claim what is due in one lane."""
        by_tenant = Counter(begun.tenant for begun in self._held.values() if begun.lane is lane)
        free = min(most, lane.slots - by_tenant.total())
        if free <= 0:
            return Claimed()
        return await lane.take(holder, free, by_tenant, lapsed_too=self.settled(self.lease))

    def _grant(self, lane: Lane, taken: TakenOccurrence, asked: float) -> Grant:
        self._held[taken.id, taken.fence] = _Begun(taken.tenant, lane, asked)
        self._hints.note(taken.tenant, taken.schedule)
        return Grant(id=taken.id, tenant=taken.tenant, fence=taken.fence, content=taken)

    async def _end_cancelled(self) -> None:
        """End what waits and was cancelled."""
        async with self.database.transaction(None, by_index=True) as transaction:
            stuck = await stuck_store.cancelled_waiting(transaction, most=SWEEP_MOST)
            sentences = [cancelled(attempts=each.attempts) for each in stuck]
            ended = await stuck_store.end_waiting(transaction, stuck, DeadCause.CANCELLED, sentences)
        self._note(ended)

    async def _sweep(self) -> None:
        """End what has been due for long and nobody here runs, now and then."""
        if time.monotonic() < self._sweep_at:
            return
        async with self.database.transaction(None, by_index=True) as transaction:
            stuck = await stuck_store.unknown_waiting(
                transaction, self._all, most=SWEEP_MOST, unknown_after=UNKNOWN_AFTER
            )
            sentences = [unrunnable(schedule=each.schedule, seconds=each.since) for each in stuck]
            ended = await stuck_store.end_waiting(transaction, stuck, DeadCause.UNRUNNABLE, sentences)
        self._sweep_at = time.monotonic() + SWEEP_EVERY
        for each in stuck:
            _log.error("occurrence-unrunnable", row=str(each.id), schedule=each.schedule, tenant=each.tenant)
        self._note(ended)

    async def renew(self, holder: UUID, held: Mapping[UUID, int]) -> Renewed:
        """Extend the leases; says which a person asked to cancel."""
        began = {
            each: begun.began_after
            for each, fence in held.items()
            if (begun := self._held.get((each, fence))) is not None and begun.began_after is not None
        }
        async with self.database.transaction(None, by_index=True) as transaction:
            kept = await store.renew(transaction, held, began, holder=holder, lease=self.lease)
            started = [each for each in kept if each.began_at is not None]
            await store.reach(
                transaction,
                [Reached(tenant=each.tenant, schedule=each.schedule, began_at=each.began_at) for each in started],
            )
        self._note({(each.tenant, each.schedule) for each in kept})
        return Renewed(
            kept=frozenset(each.id for each in kept), cancelled=frozenset(each.id for each in kept if each.cancelled)
        )

    async def cancelled(self, holder: UUID, held: Mapping[UUID, int]) -> Collection[UUID]:
        """Which a person asked to cancel. Where all slots are taken nobody takes, so what waits is ended from here."""
        async with self.database.transaction(None, by_index=True) as transaction:
            found = await store.cancelled_held(transaction, held, holder=holder)
        if len(self._held) >= self.most:
            await self._end_cancelled()
        return found

    async def carry(self, lease: RowLease) -> None:
        """Run one attempt and write how it ended."""
        taken = _content(lease)
        begun = self._held.get((taken.id, taken.fence))
        if begun is not None:
            begun.began_after = time.monotonic() - begun.asked
        try:
            ending = await self.runner.run(lease, taken)
        except RunLost:
            return  # whoever gives the lease back finds out what became of it
        except Refusal as away:
            if away.kind is not ErrorCode.DATABASE_AWAY or taken.handed_back < BROKEN_OFF_MOST:
                raise
            _log.error("run-broken-off-often", row=str(taken.id), schedule=taken.schedule, reason=away.detail)
            sentence = f"Its connection to the database was lost, after it had been handed back {BROKEN_OFF_MOST} times or more."
            completion = self._ended(taken, AttemptEnding.FAILED, sentence)
        except Exception as error:  # whatever breaks the runner ends this attempt, and it counts
            _log.error("run-failed", row=str(taken.id), schedule=taken.schedule, exc_info=error)
            completion = self._ended(taken, AttemptEnding.FAILED, "It went wrong in the Worker, as its log says.")
        else:
            completion = _completion(taken, ending)
        completion = replace(completion, began_after=None if begun is None else begun.began_after)
        await self._settler.settle(completion, holder=lease.holder, live=lambda: lease.live)
        lease.over = True  # what could not be written is lost, and taken over as such
        self._held.pop((taken.id, taken.fence), None)

    async def give_back(self, lease: RowLease, database: Database | None = None) -> bool:
        """Give a lease back, its attempt uncounted; not one that ran out through its holder's own fault."""
        taken = _content(lease)
        begun = self._held.get((taken.id, taken.fence))
        try:
            async with (database or self.database).transaction(None, by_index=True) as transaction:
                returned = await store.hand_back(
                    transaction,
                    taken,
                    holder=lease.holder,
                    expired_too=not self.settled(self.lease),
                    began_after=None if begun is None else begun.began_after,
                    error=_given_back(lease),
                )
                if database is not None and returned is not None:
                    await hints.add_schedules(transaction, ((taken.tenant, taken.schedule),))
        except BaseException as error:  # however it ends, a cancellation too: what cannot be asked again is not held
            if not (isinstance(error, Refusal) and error.kind is ErrorCode.DATABASE_AWAY):  # else held, and asked again
                self._held.pop((taken.id, taken.fence), None)
            raise
        self._held.pop((taken.id, taken.fence), None)
        if database is None:
            self._hints.note(taken.tenant, taken.schedule)
        return returned is not None

    async def overrun(self, database: Database, lease: RowLease, sentence: str) -> None:
        """Write that the attempt ran over its bound, from the watchdog's thread."""
        taken = _content(lease)
        begun = self._held.get((taken.id, taken.fence))
        completion = replace(
            self._ended(taken, AttemptEnding.OVER_BOUND, sentence),
            began_after=None if begun is None else begun.began_after,
        )
        async with database.transaction(None, by_index=True) as transaction:
            written = await store.settle(transaction, (completion,), holder=lease.holder)
            await hints.add_schedules(transaction, ((taken.tenant, taken.schedule),))
        if not written:
            _log.warning("completion-refused", row=str(taken.id), fence=taken.fence)
        lease.over = True

    async def close(self) -> None:
        """Tell what is not told yet; call it when nothing runs any more."""
        await self._hints.close()

    def _ended(self, taken: TakenOccurrence, ending: AttemptEnding, sentence: str) -> Completion:
        """An attempt that ended so, by the schedule's attempts and back-off; what is done of it stays as it is written."""
        schedule = self.schedules[taken.schedule]
        following = after_attempt(
            ending,
            attempts=taken.attempts,
            most=schedule.attempts,
            backoff=schedule.backoff,
            error=sentence,
            jitter=self.jitter(),
        )
        return Completion(
            id=taken.id,
            tenant=taken.tenant,
            fence=taken.fence,
            ending=ending,
            state=following.state,
            cause=following.cause,
            error=following.error,
            retry_after=following.retry_after,
        )

    def _written(self, written: Written) -> None:
        if written.tenant is not None and written.schedule is not None:
            self._hints.note(written.tenant, written.schedule)

    def _note(self, changed: Collection[tuple[str, str]]) -> None:
        for tenant, schedule in changed:
            self._hints.note(tenant, schedule)


def _content(lease: RowLease) -> TakenOccurrence:
    if not isinstance(lease.grant.content, TakenOccurrence):
        raise TypeError("a lease of other work")
    return lease.grant.content


def _given_back(lease: RowLease) -> str:
    if lease.why is Why.STOPPING or lease.stopping():
        return "Handed back: its Worker stopped."
    return "Handed back: its Worker could not go on with it."


def _completion(taken: TakenOccurrence, ending: Ending) -> Completion:
    counts = None if ending.cause is DeadCause.UNRUNNABLE else ending.counts
    return Completion(
        id=taken.id,
        tenant=taken.tenant,
        fence=taken.fence,
        ending=ending.attempt,
        state=ending.state,
        cause=ending.cause,
        error=_safe(ending.error),
        retry_after=ending.retry_after,
        done=None if counts is None else counts.done,
        refused=None if counts is None else counts.refused,
        failed=None if counts is None else counts.failed,
        unfinished=None if counts is None else counts.unfinished,
        position=ending.position,
        selected_all=None if counts is None else ending.selected_all,
        item=None if ending.item is None else ITSELF,
        item_label=ending.label,
        item_outcome=None if ending.item is None else ending.item.outcome,
        item_sentence=None if ending.item is None else ending.item.sentence,
        item_after=None if ending.item is None else ending.item.after,
    )


def _safe(sentence: str | None) -> str | None:
    if sentence is None or storable(sentence):
        return sentence and sentence[:SENTENCE_MOST]
    return "Its sentence cannot be shown."
