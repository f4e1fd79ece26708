"""Owns a Worker process's life: the tuple of its duties, a loop for each, draining, and its end in a stated order.

Polling stops, what runs drains, what is left is cancelled and given back, the duties end, the row says *stopped*. A
database that is away is waited for (`outage.py`); whatever else a duty raises ends that step alone. Never decides
anything itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobservice.engine.carriage import Carriage
from jobservice.store import duties as duty_rows
from jobservice.store.database import Database
from jobservice.worker.carrying import carrying_duties
from jobservice.worker.claimer import Claimer
from jobservice.worker.duties import Duty, Ends, Pauses, ring, sleep
from jobservice.worker.fenced import Fenced, FencedDuty
from jobservice.worker.held import Held, emptied
from jobservice.worker.leased_work import LeasedWork, RowLease, Why
from jobservice.worker.listening import Listening
from jobservice.worker.outage import Outage
from jobservice.worker.presence import Presence
from jobservice.worker.renewer import Renewer
from jobservice.worker.watchdog import Watchdog

_log = structlog.get_logger("jobservice.worker")

CANCELLED_SECONDS = 2.0
"""How long work that was cancelled has to end; then its lease is given back over its head."""
LAST_WORDS_SECONDS = 5.0
"""How long the Worker waits for the database, to write that it drains or has stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds: between heartbeats, and the first and longest pause while something is wrong."""

    beat: float = 5.0
    first_pause: float = 0.5
    longest_pause: float = 15.0

    def pauses(self) -> Pauses:
        """Pauses of one loop."""
        return Pauses(first=self.first_pause, longest=self.longest_pause)


@dataclass(slots=True, kw_only=True, eq=False)
class Worker:
    """One Worker process: `run` until `stop` is set. `at_once`, set later, ends the grace. `grace` is seconds; `slots`
    is what it says of its room."""

    database: Database
    duties: Sequence[FencedDuty]
    stop: asyncio.Event
    leased: Sequence[LeasedWork] = ()
    at_once: asyncio.Event = field(default_factory=asyncio.Event)
    grace: float = 20.0
    slots: int = 0
    pace: Pace = field(default_factory=Pace)
    incarnation: UUID = field(default_factory=uuid4)
    outage: Outage | None = None
    """Given where leased work is wired with it; else its own."""
    watchdog: Watchdog | None = None
    carriage: Carriage | None = None
    """The engine of background jobs."""
    helds: tuple[Held, ...] = ()
    abandoned: bool = False
    """Whether work was left running that did not end when it was cancelled: the process has to exit the hard way."""
    drains: bool = False
    """Whether a person wants it to take nothing new: what it has goes on to its end."""
    _leaving: asyncio.Event = field(default_factory=asyncio.Event)
    _duties_of_it: tuple[Duty, ...] = ()

    def __post_init__(self) -> None:
        self.helds = tuple(Held(work=work) for work in self.leased)

    async def run(self) -> None:
        """Make itself known, run every duty, and end in good order when `stop` is set."""
        outage = self.outage or Outage(database=self.database)
        outage.pauses = self.pace.pauses()
        presence = Presence(
            database=self.database,
            incarnation=self.incarnation,
            slots=self.slots,
            every=self.pace.beat,
            drained=self._drained,
        )
        duties = self._duties_of_it = self._duties(outage, presence)
        ends = {Ends.FIRST: self.stop, Ends.LAST: asyncio.Event()}
        self.database.report_to(outage.begin)
        if self.watchdog is not None:
            self.watchdog.give_back = None if self.carriage is None else self.carriage.give_back
            self.watchdog.watch(self.helds)
        try:
            async with asyncio.TaskGroup() as group:
                started = asyncio.Event()
                loops = {duty.name: self._loop(duty, outage, started, ends[duty.ends]) for duty in duties}
                tasks = {name: group.create_task(loop, name=name) for name, loop in loops.items()}
                await self._start(outage, presence, list(tasks))
                started.set()
                await self.stop.wait()
                await self._end({duty.name: tasks[duty.name] for duty in duties if duty.ends is Ends.FIRST}, presence)
                ends[Ends.LAST].set()
                await asyncio.wait(tasks.values())
            _log.info("worker-duties-ended")
            await self._last_words(presence.end)
            _log.info("worker-stopped", incarnation=str(self.incarnation))
        finally:
            self.database.report_to(None)
            if self.watchdog is not None:
                self.watchdog.end()
            for held in self.helds:
                for lease in held.leases.values():
                    if lease.task is not None:
                        lease.task.cancel()

    def _duties(self, outage: Outage, presence: Presence) -> tuple[Duty, ...]:
        """All duties of this process."""
        duties: tuple[Duty, ...] = (
            outage,
            presence,
            Renewer(helds=self.helds, holder=self.incarnation, outage=outage),
            *(
                Fenced(duty=duty, database=self.database, holder=self.incarnation, stopping=self._takes_nothing)
                for duty in self.duties
            ),
            *(
                Claimer(
                    held=held,
                    holder=self.incarnation,
                    outage=outage,
                    stopping=self._takes_nothing,
                    leaving=self._leaving,
                )
                for held in self.helds
            ),
        )
        if self.carriage is not None:
            duties += carrying_duties(self.carriage, outage, self._takes_nothing)
        listening = Listening(database=self.database, outage=outage, heard=lambda payload: ring(duties, payload))
        return (*duties, listening)

    def _takes_nothing(self) -> bool:
        return self.drains or self.stop.is_set()

    def _drained(self, drains: bool) -> None:
        """What the process's row says with each beat. Duties that it has are handed back, leased rows go to their end."""
        if drains == self.drains:
            return
        self.drains = drains
        if drains:
            _log.info("worker-asked-to-drain", running=self._running)
        else:
            _log.info("worker-takes-again")
            ring(self._duties_of_it)

    async def _loop(self, duty: Duty, outage: Outage, started: asyncio.Event, end: asyncio.Event) -> None:
        """Step after step until `end`. The outage keeper begins before the Worker is known, all others after."""
        if duty is not outage:
            await started.wait()
        pauses = self.pace.pauses()
        while not end.is_set():
            if duty.waits_for_database and outage.away:
                await outage.over(end)
                # All waited for the same moment: they do not rush in together.
                await sleep(pauses.next(), end)
                continue
            woken = duty.bell.is_set()
            duty.bell.clear()
            wait = await _step(duty, outage, end, pauses, woken=woken)
            await sleep(wait, duty.bell, end)

    async def _start(self, outage: Outage, presence: Presence, names: Sequence[str]) -> None:
        """Make the process and its duties known, however long the database is away; or until `stop`."""
        pauses = self.pace.pauses()
        while not self.stop.is_set():
            await outage.over(self.stop)
            try:
                await presence.begin()
                async with self.database.transaction(None) as transaction:
                    for duty in self.duties:
                        await duty_rows.add_duty(transaction, duty.name)
            except Refusal as refusal:
                outage.begin(refusal.detail)
            except Exception as error:  # nothing can begin without it; nothing is hidden
                _log.error("worker-step-failed", step="start", exc_info=error)
            else:
                _log.info("worker-started", incarnation=str(self.incarnation), duties=names)
                return
            await sleep(pauses.next(), self.stop)

    async def _end(self, first: Mapping[str, asyncio.Task[None]], presence: Presence) -> None:
        """Let what runs end within the grace, cancel what is left, give its leases back."""
        deadline = asyncio.get_running_loop().time() + self.grace
        _log.info("worker-draining", running=self._running, grace_seconds=self.grace)
        words = asyncio.create_task(self._last_words(presence.draining))
        if self.carriage is not None:
            self.carriage.stop()
        claimers = [first[held.work.name] for held in self.helds]
        await self._wait(claimers, deadline)
        _log.info("worker-polling-stopped")
        if all(await asyncio.gather(emptied(self.helds, _until(deadline), self.at_once), self._jobs_ended(deadline))):
            _log.info("worker-drained")
        else:
            _log.warning("worker-grace-over", left=self._running)
            await self._cancel()
        if self.carriage is not None and not await self.carriage.end():
            self.abandoned = True
        await self._wait(first.values(), deadline)
        for task in first.values():
            task.cancel()
        await asyncio.wait([*first.values(), words], timeout=CANCELLED_SECONDS)

    @property
    def _running(self) -> int:
        """How many rows and jobs this process works on."""
        jobs = 0 if self.carriage is None else self.carriage.running
        return sum(len(held) for held in self.helds) + jobs

    async def _jobs_ended(self, deadline: float) -> bool:
        return self.carriage is None or await self.carriage.emptied(_until(deadline), self.at_once)

    async def _cancel(self) -> None:
        """Cancel all work that still runs and give its leases back; those of work that does not end, over its head."""
        self._leaving.set()
        for held in self.helds:
            for lease in tuple(held.leases.values()):
                held.cancel(lease, Why.STOPPING)
        if not await emptied(self.helds, CANCELLED_SECONDS):
            self.abandoned = True
            await asyncio.gather(
                *(abandon(held, lease) for held in self.helds for lease in tuple(held.leases.values()))
            )
        _log.info("worker-leases-given-back", abandoned=self.abandoned)

    async def _wait(self, tasks: Collection[asyncio.Task[None]], deadline: float) -> None:
        """Wait for tasks until then; not at all once `at_once` is set."""
        if not tasks:
            return
        hurry = asyncio.create_task(self.at_once.wait())
        waiting: set[asyncio.Task[Any]] = {*tasks}
        try:
            while waiting and not hurry.done() and _until(deadline) > 0:
                _, waiting = await asyncio.wait(
                    {*waiting, hurry}, timeout=_until(deadline), return_when=asyncio.FIRST_COMPLETED
                )
                waiting.discard(hurry)
        finally:
            hurry.cancel()

    async def _last_words(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write how far the end is, where the database is there."""
        try:
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                await write()
        except TimeoutError:
            _log.warning("worker-end-not-recorded", reason=f"no answer within {LAST_WORDS_SECONDS:g} s")
        except Refusal as away:
            _log.warning("worker-end-not-recorded", reason=away.detail)


async def _step(duty: Duty, outage: Outage, end: asyncio.Event, pauses: Pauses, *, woken: bool) -> float:
    """One step; seconds until the next. One of a duty that ends last is broken off when it is to end."""
    try:
        if duty.ends is Ends.FIRST:
            wait = await duty.step(woken=woken)
        else:
            wait = await _unless(end, duty.step(woken=woken))
    except Refusal as refusal:
        if refusal.kind is ErrorCode.DATABASE_AWAY:
            outage.begin(refusal.detail)
            return 0.0 if duty.waits_for_database else pauses.next()
        wait = pauses.next()
        _log.warning(
            "worker-waits", step=duty.name, code=refusal.kind.code, reason=refusal.detail, seconds=round(wait, 2)
        )
    except Exception as error:  # the outermost frame of a loop that must go on; nothing is hidden
        wait = pauses.next()
        _log.error("worker-step-failed", step=duty.name, seconds=round(wait, 2), exc_info=error)
    else:
        pauses.reset()
    return wait


async def _unless(end: asyncio.Event, step: Coroutine[Any, Any, float]) -> float:
    """The step's answer; it is cancelled when `end` is set."""
    stepping, ending = asyncio.create_task(step), asyncio.create_task(end.wait())
    try:
        await asyncio.wait({stepping, ending}, return_when=asyncio.FIRST_COMPLETED)
        if stepping.done():
            return stepping.result()
        stepping.cancel()
        await asyncio.wait({stepping}, timeout=CANCELLED_SECONDS)
        return 0.0
    finally:
        stepping.cancel()
        ending.cancel()


async def abandon(held: Held, lease: RowLease) -> None:
    """Give back the lease of work that does not end: what it still writes, its fence refuses."""
    lease.lost = True
    row = str(lease.grant.id)
    try:
        async with asyncio.timeout(LAST_WORDS_SECONDS):
            given_back = await held.work.give_back(lease)
    except (Refusal, TimeoutError) as away:
        _log.warning("lease-kept", work=held.work.name, row=row, reason=str(away))
    else:
        _log.error("work-abandoned", work=held.work.name, row=row, given_back=given_back)
    held.remove(lease)


def _until(deadline: float) -> float:
    return max(0.0, deadline - asyncio.get_running_loop().time())
