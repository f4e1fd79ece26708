"""Owns the engine as its Worker sees it: made of its parts, launched, told that there is work, and ended. Never knows a duty of
the Worker's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from jobcontract.errors import Refusal
from jobcontract.states import Moves
from jobservice.application_jobs import RegisteredStep
from jobservice.engine.adapter import VERSION, Engine
from jobservice.engine.attempts import Attempts
from jobservice.engine.effects import Effects
from jobservice.engine.interpreter import Interpreter, Proof
from jobservice.engine.job_hints import JobHints
from jobservice.engine.places import Places
from jobservice.engine.progress import Progresses
from jobservice.engine.running import LEFT_BEHIND, RunningJob
from jobservice.engine.watching import Watching
from jobservice.engine.writing import Writing
from jobservice.records import RecordSet
from jobservice.store import engine as store
from jobservice.store.database import Database
from jobservice.usecases import job_reports as reports
from jobservice.usecases.scoring import Scorer

_log = structlog.get_logger("jobservice.engine")

CUT_OFF_SECONDS = 2.0
"""How long what was cancelled has to give its attempts back."""


@dataclass(slots=True, kw_only=True, eq=False)
class Carriage:
    """The engine of one Worker process."""

    engine: Engine
    interpreter: Interpreter
    watching: Watching
    progresses: Progresses
    hints: JobHints
    writing: Writing
    _astray: set[str] = field(default_factory=set)
    """Handles that are marked as running here, and did not run when it was looked last."""

    @classmethod
    def of(
        cls,
        database: Database,
        url: str,
        holder: str,
        *,
        records: RecordSet,
        scorer: Scorer,
        steps: Mapping[str, RegisteredStep],
        proof: Proof | None,
        at_once: int,
    ) -> Carriage:
        """The engine of the Worker `holder`, not launched yet. `url`: of the database, for the library's own connections."""
        writing = Writing(database=database)
        hints = JobHints(writing=writing)
        progresses = Progresses(writing=writing, holder=holder, changed=hints.note)
        places = Places(most=at_once)
        interpreter = Interpreter(
            holder=holder,
            attempts=Attempts(writing=writing, progresses=progresses, steps=steps),
            effects=Effects(records=records, scorer=scorer),
            places=places,
            changed=hints.note,
            proof=proof,
            money=frozenset(each.id for each in records.step_use_cases.values() if each.moves is Moves.MONEY),
        )
        engine = Engine(url=url, executor=holder, at_once=at_once, carry=interpreter.carry)
        places.room = engine.room
        watching = Watching(writing=writing, interpreter=interpreter)
        return cls(
            engine=engine,
            interpreter=interpreter,
            watching=watching,
            progresses=progresses,
            hints=hints,
            writing=writing,
        )

    @property
    def running(self) -> int:
        """How many jobs run or wait here."""
        return len(self.interpreter.jobs)

    def held_while(self, held: Callable[[], bool]) -> None:
        """Take nothing while `held` says so; it is asked by another thread."""
        self.engine.bell.held = held

    async def recover_strays(self) -> int:
        """Put back what is marked as running here and does not run: the database went away while it was taken, or while its
        end was written. How many. Refusal."""
        async with self.writing.alone(None) as transaction:
            marked = await store.strays(transaction, self.interpreter.holder)
        astray = marked - self.engine.running
        lasting, self._astray = astray & self._astray, astray
        await self.engine.resume(lasting)
        if lasting:
            _log.warning("jobs-put-back", count=len(lasting))
            self.engine.bell.ring()
        return len(lasting)

    async def take_over(self, *, silent: float, most: int) -> tuple[int, int]:
        """Put back what runs on Workers that do not live, and adopt what earlier versions were to run; how many of each.
        Refusal."""
        async with self.writing.alone(None) as transaction:
            orphans = await store.orphans(transaction, silent=silent, most=most)
            adopted = await store.adopt(transaction, VERSION)
        await self.engine.resume(orphans)
        if orphans or adopted:
            self.engine.bell.ring()
        return len(orphans), adopted

    async def remove_finished(self, *, most: int) -> int:
        """Remove what the engine's library keeps of jobs that are settled; how many. Refusal."""
        async with self.writing.alone(None) as transaction:
            finished = await store.finished(transaction, most=most)
        await self.engine.remove(finished)
        return len(finished)

    def stop(self) -> None:
        """Take nothing more; what only waits is left at once, what works goes to its end."""
        self.engine.bell.end()
        self.interpreter.stop()

    async def emptied(self, seconds: float, *hurry: asyncio.Event) -> bool:
        """Wait until nothing runs; False where something does after so long, or once an event is set."""
        deadline = asyncio.get_running_loop().time() + seconds
        while self.interpreter.jobs:
            if asyncio.get_running_loop().time() >= deadline or any(event.is_set() for event in hurry):
                return False
            await asyncio.sleep(0.02)
        return True

    async def give_back(self, database: Database, blocking: asyncio.Task[Any] | None) -> None:
        """Give back the attempts of what runs beside the one that blocks the loop, which alone counts: nothing, where no
        attempt is known to. For the loop of another thread, while this one's stands still; `database` is that one's."""
        beside = [each for each in self.interpreter.jobs.values() if not each.works_in(blocking)]
        if len(beside) == len(self.interpreter.jobs):
            return
        await asyncio.gather(*(_give_back(database, each) for each in beside))

    async def end(self) -> bool:
        """Cancel what still works and give its attempts back, hand everything over that was left, end the library. Whether all
        of it ended: where not, the process has to be left the hard way."""
        self.stop()
        self.interpreter.cut_off()
        emptied = await self.emptied(CUT_OFF_SECONDS)
        self.progresses.end()
        ended = await self.engine.end(self.interpreter.left)
        await self.hints.close()
        return emptied and ended and not LEFT_BEHIND


async def _give_back(database: Database, running: RunningJob) -> None:
    if running.held is None:
        return
    try:
        async with database.transaction(running.tenant) as transaction:
            await reports.hand_back(
                transaction, running.held, "The Worker replaced itself: another job had blocked it."
            )
    except Refusal as refusal:
        _log.warning("job-not-given-back", job=running.job, tenant=running.tenant, reason=refusal.detail)
