"""Completions are written in batches, none is lost silently, and one that cannot be written harms no other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store import occurrence_leases as store
from jobservice.store.database import Database, Transaction
from jobservice.store.occurrence_leases import Completion, Written
from jobservice.worker.settler import Settler
from tests.conftest import Clock, People
from tests.fakes.waiting import eventually
from tests.occurrence_rows import Holder, OccurrenceRows, completed


@dataclass(slots=True)
class Stage:
    """A settler over the Worker's pool that can be away, and what it wrote, statement by statement."""

    database: Database
    rows: OccurrenceRows
    holder: Holder
    away: int = 0
    """How many transactions fail from now on."""
    tried: int = 0
    batches: list[int] = field(default_factory=list)
    told: list[Written] = field(default_factory=list)

    @asynccontextmanager
    async def transaction(self, tenant: str | None, **options: Any) -> AsyncIterator[Transaction]:
        """The pool's, or the refusal that the database is away."""
        self.tried += 1
        if self.away:
            self.away -= 1
            raise Refusal(ErrorCode.DATABASE_AWAY, "The database cannot be reached just now.")
        async with self.database.transaction(tenant, **options) as transaction:
            yield transaction

    def settler(self) -> Settler:
        """One of this stage."""
        return Settler(database=self, told=self.told.append)  # type: ignore[arg-type]  # it has what a settler calls

    def settle(
        self, settler: Settler, completion: Completion, live: Callable[[], bool] = lambda: True
    ) -> asyncio.Task[bool]:
        """Ask for it in a task."""
        return asyncio.create_task(settler.settle(completion, holder=self.holder.id, live=live))

    def states(self) -> dict[str, int]:
        """How many occurrences are in which state."""
        found = self.rows.all("select state, count(*) from jobs.occurrences group by state")
        return {row["state"]: row["count"] for row in found}


@pytest.fixture
def stage(people: People, worker_database: Database, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The stage."""
    stage = Stage(worker_database, OccurrenceRows(people.connection), Holder(worker_database))

    async def counted(
        transaction: Transaction, completions: Sequence[Completion], *, holder: UUID
    ) -> tuple[Written, ...]:
        stage.batches.append(len(completions))
        return await settle(transaction, completions, holder=holder)

    settle = store.settle
    monkeypatch.setattr(store, "settle", counted)
    return stage


async def test_completions_of_one_moment_are_written_in_batches(stage: Stage) -> None:
    for number in range(250):
        stage.rows.add(lock=f"lock {number}")
    taken = await stage.holder.take(most=250)
    settler = stage.settler()
    settler.batch = 100
    assert all(await asyncio.gather(*(stage.settle(settler, completed(each)) for each in taken)))
    assert stage.states() == {"completed": 250}
    assert max(stage.batches) <= 100
    assert len(stage.batches) <= 4
    assert len(stage.told) == 250


async def test_what_comes_alone_is_written_alone_and_at_once(stage: Stage) -> None:
    stage.rows.add(), stage.rows.add("s.two")
    one, two = await stage.holder.take()
    settler = stage.settler()
    assert await stage.settle(settler, completed(one))
    assert await stage.settle(settler, completed(two))
    assert stage.batches == [1, 1]


@pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")
async def test_while_the_database_is_away_it_is_tried_again(stage: Stage) -> None:
    stage.rows.add()
    (taken,) = await stage.holder.take()
    stage.away = 2
    assert await stage.settle(stage.settler(), completed(taken))
    assert (stage.tried, stage.states()) == (3, {"completed": 1})


async def test_what_could_not_be_written_in_time_is_said_and_ends_as_a_lost_lease(stage: Stage, clock: Clock) -> None:
    occurrence, other = stage.rows.add(), stage.rows.add("s.two")
    taken = {each.id: each for each in await stage.holder.take()}
    stage.away = 10_000
    settler, live = stage.settler(), True
    with capture_logs() as logs:
        late = stage.settle(settler, completed(taken[occurrence]), lambda: live)
        in_time = stage.settle(settler, completed(taken[other]))
        await eventually(lambda: stage.tried > 0, what="it was tried")
        live = False
        assert not await late
        stage.away = 0
        assert await in_time
    said = [line for line in logs if line["event"] == "completion-not-written"]
    assert [(line["row"], line["fence"], line["log_level"]) for line in said] == [(str(occurrence), 1, "error")]
    assert stage.states() == {"processing": 1, "completed": 1}
    clock.advance(31)
    assert [each.id for each in await Holder(stage.database).take_over()] == [occurrence]


async def test_one_that_cannot_be_written_harms_no_other(stage: Stage) -> None:
    for number in range(5):
        stage.rows.add(lock=f"lock {number}")
    taken = await stage.holder.take()
    broken = replace(completed(taken[2]), error="a NUL \x00 that PostgreSQL does not take")
    settler = stage.settler()
    with capture_logs() as logs:
        stood = await asyncio.gather(
            *(stage.settle(settler, broken if each is taken[2] else completed(each)) for each in taken)
        )
    assert stood == [True, True, False, True, True]
    assert stage.states() == {"completed": 4, "processing": 1}
    assert [line["row"] for line in logs if line["event"] == "completion-not-writable"] == [str(taken[2].id)]


@pytest.mark.requirement("prevent-duplicate-completion")
async def test_one_that_came_too_late_is_answered_so(stage: Stage, clock: Clock) -> None:
    occurrence = stage.rows.add()
    (taken,) = await stage.holder.take()
    clock.advance(31)
    with capture_logs() as logs:
        assert not await stage.settle(stage.settler(), completed(taken))
    assert [line["event"] for line in logs] == ["completion-refused"]
    assert stage.rows.refused() == [(occurrence, 1, "completion")]


async def test_a_caller_that_is_cancelled_meanwhile_has_its_completion_written(stage: Stage) -> None:
    stage.rows.add()
    (taken,) = await stage.holder.take()
    stage.away = 1
    asking = stage.settle(stage.settler(), completed(taken))
    await eventually(lambda: stage.tried > 0, what="it was tried")
    asking.cancel()
    assert await asking
    assert stage.states() == {"completed": 1}


async def test_a_settler_that_is_ended_leaves_nobody_waiting(stage: Stage) -> None:
    stage.rows.add()
    (taken,) = await stage.holder.take()
    stage.away = 10_000
    settler = stage.settler()
    asking = stage.settle(settler, completed(taken))
    await eventually(lambda: stage.tried > 0, what="it was tried")
    (flushing,) = [task for task in asyncio.all_tasks() if task.get_name() == "settler"]
    flushing.cancel()
    assert not await asking
