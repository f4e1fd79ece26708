"""Owns what a Worker does so that background jobs are carried: launching the engine, telling it that there is work, watching
what runs, and the fenced duties that take over a dead Worker's jobs and remove what is over. Knows no step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

import structlog

from jobservice.engine.adapter import VERSION, EngineError
from jobservice.engine.carriage import Carriage
from jobservice.store import engine as store
from jobservice.store.database import Database, reason
from jobservice.worker.duties import Duty, Ends, Pauses
from jobservice.worker.fenced import Lease
from jobservice.worker.outage import Outage

_log = structlog.get_logger("jobservice.worker")

STRAYS_SECONDS = 10.0
"""Between two looks for what is marked as running here and does not run."""
LOOK_SECONDS = 0.9
"""Between two looks whether what runs is to end: a person's cancel reaches it within a second, also where its notification
was lost."""
SILENT_SECONDS = 20.0
"""How long a Worker may be silent until its jobs are taken over: four heartbeats. A live one that is taken for dead loses an
attempt, and nothing else: its fence refuses what it writes."""
BATCH = 500
"""Workflows that one run takes over or removes."""


@dataclass(slots=True, kw_only=True)
class Taking:
    """Launches the engine once the database is there, and rings its bell when a job was submitted."""

    carriage: Carriage
    outage: Outage
    takes_nothing: Callable[[], bool]
    pauses: Pauses = field(default_factory=lambda: Pauses(first=0.5, longest=5.0))
    every: float = STRAYS_SECONDS
    name: str = "jobs"
    wakes: frozenset[str] = frozenset({"job-ready"})
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    ends: ClassVar[Ends] = Ends.FIRST
    waits_for_database: ClassVar[bool] = True
    _looked_at: float = float("-inf")

    async def step(self, *, woken: bool) -> float:
        """Ring, and put back what went astray."""
        if not self.carriage.engine.launched:
            return await self._launch()
        if woken:
            self.carriage.engine.bell.ring()
        now = asyncio.get_running_loop().time()
        if now - self._looked_at >= self.every:
            self._looked_at = now
            await self.carriage.recover_strays()
        return self.every

    async def _launch(self) -> float:
        self.carriage.held_while(lambda: self.takes_nothing() or self.outage.away)
        try:
            await self.carriage.engine.launch()
        except EngineError as error:
            wait = self.pauses.next()
            _log.warning("engine-not-launched", reason=reason(error), again_in_seconds=round(wait, 2))
            self.outage.begin(reason(error))
            return wait
        _log.info("engine-launched", version=VERSION)
        return self.every


@dataclass(slots=True, kw_only=True)
class Looking:
    """Ends what a person asked to cancel and what was lost."""

    carriage: Carriage
    every: float = LOOK_SECONDS
    name: str = "jobs-watching"
    wakes: frozenset[str] = frozenset({"cancel-job"})
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    ends: ClassVar[Ends] = Ends.LAST
    waits_for_database: ClassVar[bool] = True

    async def step(self, *, woken: bool) -> float:  # noqa: ARG002  # it looks, whatever woke it
        """Look once."""
        await self.carriage.watching.look()
        return self.every


@dataclass(slots=True, kw_only=True)
class LettingGo:
    """Lets what a stop or the money switch held still look again, when they changed."""

    carriage: Carriage
    name: str = "jobs-held"
    wakes: frozenset[str] = frozenset({"stops", "plans"})  # a money switch that is lifted tells what plans wait for
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    ends: ClassVar[Ends] = Ends.FIRST
    waits_for_database: ClassVar[bool] = True

    async def step(self, *, woken: bool) -> float:
        """Let go."""
        if woken:
            self.carriage.watching.let_go()
        return 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingOver:
    """The fenced duty that puts jobs of dead Workers back, for whoever looks next, and adopts what an earlier version of the
    interpreter was to run. Nobody is taken for dead who could not say that it lives, because the database was away."""

    carriage: Carriage
    settled: Callable[[float], bool]
    silent: float = SILENT_SECONDS
    every: float = 5.0
    name: str = "jobs-taking-over"
    lease: float = 30.0
    wakes: frozenset[str] = frozenset()

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether there is something to take over."""
        if not self.carriage.engine.launched or not self.settled(self.silent):
            return False
        async with database.transaction(None) as transaction:
            return bool(await store.orphans(transaction, silent=self.silent, most=1)) or await store.adoptable(
                transaction, VERSION
            )

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Take over a batch."""
        async with lease.transaction():
            pass  # it is ours
        taken, adopted = await self.carriage.take_over(silent=self.silent, most=BATCH)
        return {"taken_over": taken, "adopted": adopted} if taken or adopted else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovingWorkflows:
    """The fenced duty that removes what the engine's library keeps of jobs that are over: it has no retention of its own."""

    carriage: Carriage
    every: float = 15.0
    name: str = "jobs-removing"
    lease: float = 30.0
    wakes: frozenset[str] = frozenset()

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether there is something to remove."""
        if not self.carriage.engine.launched:
            return False
        async with database.transaction(None) as transaction:
            return bool(await store.finished(transaction, most=1))

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Remove, batch by batch, while this Worker does not want to stop."""
        removed = 0
        while not lease.stopping():
            async with lease.transaction():
                pass  # it is ours
            some = await self.carriage.remove_finished(most=BATCH)
            removed += some
            if some < BATCH:
                break
        return {"removed": removed} if removed else {}


def carrying_duties(carriage: Carriage, outage: Outage, takes_nothing: Callable[[], bool]) -> tuple[Duty, ...]:
    """What every Worker does for its jobs."""
    return (
        Taking(carriage=carriage, outage=outage, takes_nothing=takes_nothing),
        Looking(carriage=carriage),
        LettingGo(carriage=carriage),
    )
