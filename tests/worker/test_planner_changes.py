"""The planner where records change what a schedule is: one that goes and comes back, one that a person starts from now on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from jobcontract.states import MisfirePolicy
from jobservice.rules import planning
from jobservice.rules.schedules import Misfire
from jobservice.store.database import Database
from jobservice.worker import planner as worker_planner
from tests.conftest import Clock, People
from tests.schedules import EACH, ONCE, SKIP, at, cron, misfire, schedule
from tests.worker.planners import CLAIMABLE, FIRST, SECOND, Ground, planner

ACME = frozenset({"acme"})
NIGHT = at("2026-03-10T02:00")


@pytest.fixture
def ground(worker_database: Database, people: People, clock: Clock) -> Ground:
    """acme and globex, and nothing planned yet."""
    return Ground(database=worker_database, superuser=people.connection, clock=clock)


@pytest.mark.requirement("derive-stable-occurrence-identity")
@pytest.mark.parametrize("gone", ["the record", "the tenant"])
async def test_what_comes_back_before_its_time_runs_at_its_time(ground: Ground, gone: str) -> None:
    """A release is taken back and rolled out again: the instant that was planned ahead is still to come."""
    ground.go("2026-03-10T01:00:00")
    nightly, other = schedule("nightly", cron("0 2 * * *"), ONCE), schedule("other", None)
    await ground.run(planner(nightly, other))
    ground.go("2026-03-10T01:10:00")
    without = (other,) if gone == "the record" else (other, schedule("nightly", cron("0 2 * * *"), ONCE, tenants=ACME))
    await ground.run(planner(*without), SECOND)
    assert ground.occurrences("nightly", "globex") == []
    ground.go("2026-03-10T01:20:00")
    await ground.run(planner(nightly, other))
    assert ground.occurrences("nightly", "globex") == [NIGHT]
    assert ground.rows("next_at", "schedules", "where schedule = 'nightly' and tenant = 'globex'") == [(NIGHT,)]


@pytest.mark.requirement("define-misfire-recovery")
@pytest.mark.parametrize("policy", [SKIP, ONCE, EACH], ids=("skip", "once", "each"))
async def test_what_an_earlier_rhythm_left_unstarted_does_not_wait_for_ever(ground: Ground, policy: Misfire) -> None:
    """The schedule is one that a person starts by then: what is due may start in time, what is missed is skipped."""
    ground.go("2026-03-10T01:59:00")
    await ground.run(planner(schedule("nightly", cron("0 2 * * *"), policy, tenants=ACME)))
    ground.go("2026-03-10T02:00:20")
    duty = planner(schedule("nightly", None, tenants=ACME))
    await ground.run(duty)
    assert ground.rows("scheduled_at", "occurrences", f"where {CLAIMABLE}") == [(NIGHT,)]
    ground.go("2026-03-10T02:01:00")
    assert (await ground.run(duty))["dropped"] == 1
    assert (ground.occurrences("nightly"), ground.skips("nightly")) == ([], [(NIGHT, NIGHT, 1, "misfire-skip", None)])
    assert not await duty.wanted(ground.database, FIRST), "and nobody looks for it again and again"


async def test_what_is_missed_when_a_person_is_to_start_it_is_skipped(ground: Ground) -> None:
    """Planned or not: nobody lived for three days."""
    ground.go("2026-03-09T01:59:00")
    daily = schedule("daily", cron("0 2 * * *"), misfire(MisfirePolicy.ONCE), tenants=ACME)
    await ground.run(planner(daily))
    ground.go("2026-03-12T12:00:00")
    await ground.run(planner(schedule("daily", None, tenants=ACME)))
    first, last = NIGHT - timedelta(days=1), NIGHT + timedelta(days=2)
    assert (ground.occurrences("daily"), ground.skips("daily")) == ([], [(first, last, 4, "misfire-skip", None)])


async def test_many_looks_let_others_have_their_turn(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases are renewed in the same loop: it does not stand still while hundreds of schedules are caught up with."""
    seen, turns = [], 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def look(*given: Any) -> planning.Plan:
        seen.append(turns)
        return plan(*given)

    plan = planning.plan
    monkeypatch.setattr(planning, "plan", look)
    turning = asyncio.create_task(turn())
    await ground.run(planner(*(schedule(f"s.{number}", cron(f"{number} 2 * * *"), ONCE) for number in range(30))))
    turning.cancel()
    assert len(seen) == len(set(seen)) == 30, "the loop turned between any two looks"


async def test_slow_looks_are_written_a_few_at_a_time(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_planner, "LOOKS_SECONDS", 0.0)
    duty = planner(*(schedule(f"s.{number}", cron(f"{number} 2 * * *"), ONCE) for number in range(9)))
    assert (await ground.run(duty))["planned"] == 18, "one a transaction, until none is left"
    assert await ground.run(duty) == {}
