"""Owns the stage for runs: schedules built by hand, a small application, occurrences made and claimed by SQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from jobcontract.states import Moves, ScheduleType
from jobservice.application import (
    Application,
    JobCall,
    JobItem,
    NewWorkItem,
    Outcome,
    Selecting,
    SelectionFunction,
    UseCaseFunction,
    done,
)
from jobservice.records import RecordSet
from jobservice.rules.rhythms import Every
from jobservice.rules.schedules import Backoff, Itself, JobUseCase, Registered, Schedule
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import TakenOccurrence
from jobservice.worker.leased_work import Grant, RowLease, Why
from jobservice.worker.run_ending import Ending
from jobservice.worker.run_scope import Room
from jobservice.worker.running import Runner
from tests.conftest import People
from tests.usecases.desk import NOTES, RECORDS
from tests.usecases.desk import application as desk_application

AT = datetime(2026, 3, 4, 1, 30, tzinfo=UTC)
FIRST, SECOND = UUID(int=7), UUID(int=8)
LEASE = 30.0
JOB = Schedule(
    id="t.job",
    title="The job",
    type=ScheduleType.SCHEDULED,
    rhythm=Every(seconds=3600, anchor=AT),
    reason=None,
    misfire=None,
    selection=Registered(id="t.things"),
    batch_size=3,
    runs="t.do",
    batch_path=False,
    cursor=None,
    lock="t.job",
    bound_seconds=30.0,
    attempts=3,
    backoff=Backoff(first_seconds=10.0, most_seconds=60.0),
    tenants=None,
    retention="t.keep",
    retention_seconds=86_400.0,
    guard=None,
    runs_where=None,
)


def keys(count: int, first: int = 1) -> list[str]:
    """`item-01` and on."""
    return [f"item-{number:02}" for number in range(first, first + count)]


def selection_of(names: Sequence[str]) -> SelectionFunction:
    """A selection over fixed keys, in their order."""

    async def selection(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
        start = 0 if after is None else names.index(after) + 1
        return [JobItem(key=name, label=name.title(), given={"n": start}) for name in names[start : start + limit]]

    return selection


async def push_note(call: JobCall, item: JobItem) -> Outcome:
    """The plain use case of tests: one note an item, whose business key is the scope."""
    await call.push(NOTES, NewWorkItem(key=call.scope, title=item.label))
    return done("noted")


@dataclass(slots=True, kw_only=True)
class RunStage:
    """The Worker's half of one deployment, and the rows past the walls."""

    people: People
    database: Database
    function: UseCaseFunction = push_note
    selection: SelectionFunction = field(default_factory=lambda: selection_of(keys(7)))
    schedule: Schedule = JOB
    room: Room = field(default_factory=lambda: Room(most=8))
    at_once: int = 4
    logs: list[Any] = field(default_factory=list)
    """Log lines of this process."""
    started: list[asyncio.Task[Ending]] = field(default_factory=list)

    def runner(self, **change: Any) -> Runner:
        """A Runner of a Worker that has just started; `change` of the schedule."""
        application = Application("t", Path(__file__).parent)
        application.use_cases["t.do"] = self.function
        application.selections["t.things"] = self.selection
        application.rules.update(desk_application.rules)
        schedule = replace(self.schedule, **change)
        records: RecordSet = replace(
            RECORDS,
            schedules={schedule.id: schedule},
            job_use_cases={"t.do": JobUseCase(id="t.do", title="Do it", moves=Moves.NOTHING, batch=True)},
        )
        return Runner(
            database=self.database,
            records=records,
            application=application,
            room=self.room,
            at_once=self.at_once,
            jitter=lambda: 0.0,
        )

    def due(self, *, at: datetime = AT, tenant: str = "acme") -> UUID:
        """An occurrence that is due."""
        row = self.people.connection.execute(
            "insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)"
            " values (%s, %s, %s, 't', %s, jobs.now()) returning id",
            (tenant, self.schedule.id, at, f"{self.schedule.id} {at}"),
        ).fetchone()
        assert row is not None
        identifier: UUID = row[0]
        return identifier

    def claim(self, occurrence: UUID, *, holder: UUID = FIRST) -> tuple[RowLease, TakenOccurrence]:
        """Claim it as a Worker does: attempt and fence one more."""
        with self.people.connection.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(
                "update jobs.occurrences set state = 'processing', holder = %s, taken_at = jobs.now(),"
                " expires_at = jobs.now() + make_interval(secs => %s), fence = fence + 1, attempts = attempts + 1"
                " where id = %s"
                " returning id, tenant, schedule, scheduled_at, attempts, taken_at, fence, fence_base, position, selected_all, done,"
                " refused, failed",
                (holder, LEASE, occurrence),
            ).fetchone()
        assert row is not None
        taken = TakenOccurrence(**row)
        grant = Grant(id=occurrence, tenant=taken.tenant, fence=taken.fence, content=taken)
        return RowLease(grant=grant, holder=holder, deadline=time.monotonic() + LEASE), taken

    def settle(self, occurrence: UUID, ending: Ending) -> None:
        """Write an ending as the settler does."""
        over = ending.state.ended
        self.people.connection.execute(
            "update jobs.occurrences set state = %s, holder = null, taken_at = null, expires_at = null, done = %s,"
            " refused = %s, failed = %s, unfinished = %s, position = %s, selected_all = %s, cause = %s, error = %s,"
            " ended_at = case when %s then jobs.now() end where id = %s",
            (
                ending.state,
                ending.counts.done,
                ending.counts.refused,
                ending.counts.failed,
                ending.counts.unfinished,
                ending.position,
                ending.selected_all,
                ending.cause,
                ending.error,
                over,
                occurrence,
            ),
        )
        if ending.item is not None:
            self.people.connection.execute(
                "insert into jobs.occurrence_items"
                " (occurrence, key, tenant, number, label, outcome, attempts, sentence, fence, ended_at)"
                " select id, 'itself', tenant, 1, %s, %s, 1, %s, fence, case when %s then jobs.now() end"
                " from jobs.occurrences where id = %s"
                " on conflict (occurrence, key) do update set outcome = excluded.outcome,"
                " attempts = occurrence_items.attempts + 1, sentence = excluded.sentence, fence = excluded.fence,"
                " ended_at = excluded.ended_at",
                (
                    ending.label,
                    ending.item.outcome,
                    ending.item.sentence,
                    ending.item.outcome is not None,
                    occurrence,
                ),
            )

    async def attempt(self, occurrence: UUID, *, holder: UUID = FIRST, **change: Any) -> Ending:
        """One whole attempt, settled."""
        lease, taken = self.claim(occurrence, holder=holder)
        ending = await self.runner(**change).run(lease, taken)
        self.settle(occurrence, ending)
        return ending

    async def begun(
        self, occurrence: UUID, *, holder: UUID = FIRST, **change: Any
    ) -> tuple[asyncio.Task[Ending], RowLease]:
        """An attempt that is under way."""
        lease, taken = self.claim(occurrence, holder=holder)
        task = asyncio.create_task(self.runner(**change).run(lease, taken))
        self.started.append(task)
        return task, lease

    async def close(self) -> None:
        """End what a test that failed left under way: its locks would hang the next one."""
        for task in self.started:
            task.cancel()
        if self.started:
            await asyncio.wait(self.started)

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Rows past the walls."""
        return self.people.connection.execute(query, values).fetchall()

    def items(self, occurrence: UUID) -> dict[str, str | None]:
        """Outcome of every item that has a row, by key."""
        return dict(self.rows("select key, outcome from jobs.occurrence_items where occurrence = %s", occurrence))

    def notes(self, tenant: str = "acme") -> list[str]:
        """The keys of the notes that runs pushed, sorted; each is the scope of an item."""
        found = self.rows("select business_key from jobs.items where tenant = %s and queue = %s", tenant, NOTES)
        return sorted(key.rpartition(" ")[2] for (key,) in found)

    def refusals(self) -> list[tuple[str, int]]:
        """What was refused, and under which fence."""
        return [tuple(row) for row in self.rows("select what, fence from jobs.refused_completions order by id")]

    def position(self, cursor: str = "t.cursor") -> str | None:
        """Where a cursor stands."""
        found = self.rows("select position from jobs.cursors where name = %s", cursor)
        return found[0][0] if found else None


async def cancel(task: asyncio.Task[Ending], lease: RowLease, why: Why) -> float:
    """Cancel an attempt as the machinery does; how long it took to end, in seconds."""
    lease.why = why
    before = time.monotonic()
    task.cancel()
    await asyncio.wait((task,))
    return time.monotonic() - before


ITSELF = replace(JOB, selection=Itself())
HOUR = timedelta(hours=1)
Superuser = psycopg.Connection[Any]
