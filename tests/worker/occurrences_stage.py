"""Owns the stage for occurrences as leased work: Workers over one database, and a runner that does what a test says."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from jobcontract.states import AttemptEnding, OccurrenceState
from jobservice.rules.schedules import Itself, Schedule
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import TakenOccurrence
from jobservice.worker.leased_work import Grant, RowLease
from jobservice.worker.occurrences import Occurrences
from jobservice.worker.run_ending import Counts, Ending
from tests.conftest import Clock
from tests.occurrence_rows import OccurrenceRows
from tests.worker.runs_stage import JOB

WELL = Ending(attempt=AttemptEnding.COMPLETED, state=OccurrenceState.COMPLETED, counts=Counts(done=1))
SMALL = replace(JOB, id="s.small", selection=Itself(), batch_path=True)
Behaviour = Callable[[RowLease, TakenOccurrence], Awaitable[Ending]]


async def well(_lease: RowLease, _taken: TakenOccurrence) -> Ending:
    """It goes well."""
    return WELL


@dataclass(slots=True)
class FakeRunner:
    """Counts starts by schedule, and does what a test says."""

    behaves: Behaviour = well
    starts: Counter[str] = field(default_factory=Counter)

    async def run(self, lease: RowLease, taken: TakenOccurrence) -> Ending:
        """One attempt."""
        self.starts[taken.schedule] += 1
        return await self.behaves(lease, taken)


@dataclass(slots=True)
class Stage:
    """Workers over one database, with schedules of three attempts."""

    database: Database
    rows: OccurrenceRows
    clock: Clock
    runner: FakeRunner = field(default_factory=FakeRunner)
    settled: bool = True
    made: list[Occurrences] = field(default_factory=list)

    def work(self, *schedules: Schedule, **change: Any) -> Occurrences:
        """A Worker's occurrences; without schedules, of s.one, s.two and s.three."""
        known = schedules or tuple(replace(JOB, id=each, lock=each) for each in ("s.one", "s.two", "s.three"))
        work = Occurrences(
            database=self.database,
            schedules={each.id: each for each in known},
            deployment="test",
            runner=self.runner,
            settled=lambda _: self.settled,
            **change,
        )
        self.made.append(work)
        return work

    async def take(self, work: Occurrences, holder: UUID, most: int | None = None) -> list[RowLease]:
        """What it claims, as leases."""
        taken = await work.take(holder, work.most if most is None else most, {})
        return [lease_of(grant, holder) for grant in taken.grants]

    async def close(self) -> None:
        """Everything told."""
        for work in self.made:
            await work.close()

    def hints(self) -> list[tuple[str, str, str]]:
        """Tenant, topic and what of all hints."""
        found = self.rows.all("select tenant, topic, ref from jobs.hints order by tenant, topic, ref")
        return [(row["tenant"], row["topic"], row["ref"]) for row in found]


def lease_of(grant: Grant, holder: UUID) -> RowLease:
    """As the claimer makes one."""
    return RowLease(grant=grant, holder=holder, deadline=time.monotonic() + 30)
