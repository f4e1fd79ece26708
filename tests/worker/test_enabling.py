"""What enabling says beforehand is what the planner then does: preview, enable, plan, compare."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from jobcontract.acts import DisableOrder, EnableOrder, Enabling, MadeUp
from jobcontract.states import MisfirePolicy
from jobservice.rules.schedules import Schedule
from jobservice.store.database import Database
from jobservice.usecases.service import Service
from jobservice.usecases.switches import disable, enable, enabling
from tests.conftest import Clock, People
from tests.schedules import DAY, EACH, ONCE, SKIP, cron, every, misfire, schedule
from tests.usecases.desk import RECORDS, Desk, application, once
from tests.worker.planners import CLAIMABLE, Ground, planner

LONDON = "Europe/London"
SCHEDULES: tuple[Schedule, ...] = (
    schedule("minute.skip", every(60), SKIP),
    schedule("minute.once", every(60), ONCE),
    schedule("minute.each", every(60), misfire(MisfirePolicy.EACH_INTERVAL, newest=7)),
    schedule("second.late", every(1), misfire(MisfirePolicy.ONCE, after=1_800)),
    schedule("hour.skip", cron("0 * * * *"), SKIP),
    schedule("hour.once", cron("0 * * * *"), ONCE),
    schedule("hour.each", cron("5 * * * *"), EACH),
    schedule("london.each", cron("30 1 * * *", LONDON), EACH),
    schedule("london.once", cron("30 1 * * *", LONDON), misfire(MisfirePolicy.ONCE, after=3_600)),
    schedule("kept.short", every(600), misfire(MisfirePolicy.EACH_INTERVAL, newest=500), retention_seconds=DAY / 2),
    schedule("never.due", cron("0 0 29 2 *"), EACH),
)


@pytest.fixture
def ground(worker_database: Database, people: People, clock: Clock) -> Ground:
    """acme and globex, and nothing planned yet."""
    return Ground(database=worker_database, superuser=people.connection, clock=clock)


@pytest.fixture
def desk(database: Any, people: Any) -> Desk:
    """The API's side, with the same schedules."""
    records = replace(RECORDS, schedules={each.id: each for each in SCHEDULES})
    return Desk(Service(database=database, records=records, application=application, deployment="test"), people)


def stretches(lines: tuple[MadeUp, ...]) -> list[tuple[datetime, datetime, int, str | None]]:
    """As the database has them."""
    return [(each.first_at, each.last_at, each.count, each.policy) for each in lines]


@pytest.mark.requirement("provide-operational-recovery-procedures", "define-misfire-recovery")
@pytest.mark.parametrize(
    ("before", "off", "on"),
    [
        ("2026-10-24T22:29:10", "2026-10-24T22:30:20", "2026-10-26T02:10:20"),
        ("2026-10-24T22:29:10", "2026-10-24T22:30:20", "2026-10-24T22:30:40"),
        ("2026-03-28T23:29:10", "2026-03-28T23:30:20", "2026-03-29T01:45:20"),
    ],
    ids=["over-a-repeated-hour", "for-a-moment", "over-a-skipped-hour"],
)
async def test_what_is_said_before_a_schedule_is_enabled_is_what_the_planner_does(
    ground: Ground, desk: Desk, before: str, off: str, on: str
) -> None:
    actor = desk.actor("o.lind")
    ground.go(before)  # what is due then waits unstarted when it is switched off
    duty = planner(*SCHEDULES)
    await ground.run(duty)
    ground.go(off)
    for each in SCHEDULES:
        order = DisableOrder(reason="the bank is down")
        await disable(desk.service, actor, each.id, order, once(f"/off/{each.id}"))
    await ground.run(duty)
    ground.go(on)
    said: dict[str, Enabling] = {each.id: await enabling(desk.service, actor, each.id) for each in SCHEDULES}
    assert all(each.disabled for each in said.values())
    kept = {each.id: Counter(ground.skips(each.id)) for each in SCHEDULES}
    for each in SCHEDULES:
        await enable(desk.service, actor, each.id, EnableOrder(reason="it is back"), once(f"/on/{each.id}"))
    for _ in range(6):  # a rhythm of seconds takes several looks
        await ground.run(duty)
    for each in SCHEDULES:
        told = said[each.id]
        where = f"where tenant = 'acme' and schedule = '{each.id}' and {CLAIMABLE} order by 1"
        runs = [at for (at,) in ground.rows("scheduled_at", "occurrences", where) if at <= told.now]
        fresh = [row[:4] for row in (Counter(ground.skips(each.id)) - kept[each.id]) if row[0] <= told.now]
        if each.id == "second.late":  # more of it is missed with every second that the test takes
            assert 0 <= sum(line.count for line in told.runs) - len(runs) < 60
            assert [line.first_at for line in told.skips] == [row[0] for row in fresh]
            continue
        assert sum(line.count for line in told.runs) == len(runs), each.id
        ends = [told.runs[0].first_at, told.runs[-1].last_at] if told.runs else []
        assert ends == ([runs[0], runs[-1]] if runs else []), each.id
        assert sorted(stretches(told.skips)) == sorted(fresh), each.id
    if on.startswith("2026-10-26"):
        assert said["hour.once"].words == "Makes up for 1 instant at once; 27 more are skipped."
        assert said["hour.skip"].words == "Makes up for nothing; 28 instants are skipped."
        assert said["minute.each"].words.startswith("Makes up for 8 instants at once; ")
        assert said["never.due"].words == "Nothing was missed: nothing is made up for, and nothing is skipped."
        assert said["kept.short"].skips[0].policy == "retention"
        assert said["london.each"].next is not None
    assert {each for (each,) in ground.rows("disabled_at", "schedules", "where tenant = 'acme'")} == {None}
