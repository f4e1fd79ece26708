"""The duty that carries recoveries out: row by row, each act with what is written of it, and nothing twice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from jobservice.store import duties as duty_rows
from jobservice.store.database import Database
from jobservice.worker.fenced import give_back, take
from jobservice.worker.recovering import Recovering
from tests.conftest import Clock
from tests.occurrence_rows import Holder, completed
from tests.usecases.money_desk import KEYS
from tests.usecases.recovery_desk import DAY, HOURLY, MONEY, NIGHT, NIGHTLY, SINCE, UNTIL, RecoveryDesk, recovery_desk

HOUR = timedelta(hours=1)
FIRST, SECOND = UUID(int=31), UUID(int=32)


@dataclass
class RecoveryStage:
    """A desk that confirms as the API's role, and a Worker's role that carries out."""

    desk: RecoveryDesk
    database: Database
    keys: Any = KEYS.public

    async def run(self, holder: UUID = FIRST, **changes: Any) -> dict[str, int]:
        """One run of the duty, by itself."""
        duty = replace(Recovering(records=self.desk.service.records, deployment="test", keys=self.keys), **changes)
        async with self.database.transaction(None) as transaction:
            await duty_rows.add_duty(transaction, duty.name)
        lease = await take(self.database, duty, holder, woken=True)
        assert lease is not None
        try:
            return dict(await duty.run_once(lease))
        finally:
            await give_back(lease, whole=True)

    def turns(self, recovery: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Rows by number: name, turn, sentence."""
        return self.desk.rows(
            "select name, turn, sentence from jobs.recovery_rows where recovery = %s order by number", recovery["id"]
        )

    async def complete(self, *schedules: str, most: int = 100) -> int:
        """Another Worker runs what waits, and all of it goes well."""
        from jobservice.store.occurrence_leases import Runnable

        holder = Holder(database=self.database, runnable=Runnable(everywhere=schedules or (NIGHTLY, HOURLY, MONEY)))
        taken = await holder.take(most=most)
        await holder.settle(*[completed(each) for each in taken])
        return len(taken)


@pytest.fixture
def stage(database: Database, worker_database: Database, people: Any) -> RecoveryStage:
    return RecoveryStage(desk=recovery_desk(database, people), database=worker_database)


async def test_rows_run_in_their_order_and_not_more_at_once_than_may(stage: RecoveryStage) -> None:
    desk = stage.desk.with_settings(recovery_at_once=2)
    desk.planned()
    for day in range(2):
        desk.dead(at=NIGHT + day * DAY)
    desk.dead(HOURLY)
    made = await desk.confirm(await desk.make())
    assert (made["state"], made["started_at"]) == ("applying", None)
    assert await stage.run() == {"begun": 2}
    assert [turn for _, turn, _ in stage.turns(made)] == ["running", "running", "not-started"]
    assert await stage.run() == {}
    assert await stage.complete(HOURLY) == 1
    assert await stage.run() == {"settled": 1, "begun": 1}
    assert [turn for _, turn, _ in stage.turns(made)] == ["done", "running", "running"]
    assert await stage.complete(NIGHTLY, most=1) == 1
    assert await stage.complete(NIGHTLY, most=1) == 1
    assert await stage.run() == {"settled": 2, "finished": 1}
    shown = (await desk.shown(made)).recovery
    assert (shown.state, [(each.turn, each.count) for each in shown.account]) == ("done", [("done", 3)])
    assert desk.rows("select count(*) from jobs.occurrences where recovery is not null") == [(0,)]
    assert (
        desk.rows("select replay, person, reason, recovery::text from jobs.occurrence_replays")
        == [(1, "o.lind", "A missed night", made["id"])] * 3
    )
