"""Retention: what ended long ago goes, in small batches and with all that belongs to it, and is never planned again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
import structlog

from jobservice.store.database import Database
from jobservice.worker.fenced import LeaseLost, take
from jobservice.worker.retention import DAY, Retention
from tests.conftest import Clock, People
from tests.schedules import EACH, at, every, schedule
from tests.worker.planners import FIRST, SECOND, Ground, planner

pytestmark = pytest.mark.requirement("remove-occurrences-past-retention")
KEPT = 10 * DAY
NOW = "2026-03-20T12:00:00"
EDGE = at(NOW) - timedelta(seconds=KEPT)
DEAD = "state = 'dead-letter', cause = 'failed', ended_at = scheduled_at"


@pytest.fixture
def ground(worker_database: Database, people: People, clock: Clock) -> Ground:
    """acme and globex with a schedule whose occurrences are kept for ten days, at noon of 20 March."""
    ground = Ground(database=worker_database, superuser=people.connection, clock=clock)
    ground.go(NOW)
    return ground


def ended(ground: Ground, number: int, *, hours: int = 1, tenant: str = "acme", name: str = "old") -> None:
    """So many completed occurrences at whole hours up to `hours` before the edge of retention, with two items and an
    attempt each, and a refused completion."""
    ground.superuser.execute(
        "insert into jobs.schedules (tenant, schedule, definition, planned_until, kept_seconds)"
        " values (%s, %s, 'x', jobs.now(), %s) on conflict do nothing",
        (tenant, name, KEPT),
    )
    ground.superuser.execute(
        "with made as (insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at, state, fence,"
        " attempts, ended_at) select %s, %s, at, '2026a', %s, at, 'completed', 1, 1, at from (select %s::timestamptz"
        " - make_interval(hours => n + %s) as at from generate_series(0, %s) as n) as g returning id, tenant),"
        " items as (insert into jobs.occurrence_items (occurrence, key, tenant, number, label)"
        " select id, k::text, tenant, k, 'x' from made, generate_series(1, 2) as k),"
        " refused as (insert into jobs.refused_completions (tenant, occurrence, worker, fence, what)"
        " select tenant, id, gen_random_uuid(), 1, 'item' from made)"
        " insert into jobs.occurrence_attempts (occurrence, fence, tenant, attempt, worker, taken_at, expires_at,"
        " renewals, ended_at, ending) select id, 1, tenant, 1, gen_random_uuid(), jobs.now(), jobs.now(), 0, jobs.now(),"
        " 'completed' from made",
        (tenant, name, name, EDGE, hours, number - 1),
    )


def left(ground: Ground) -> list[int]:
    """How many occurrences, items, attempts and refused completions there are."""
    tables = ("occurrences", "occurrence_items", "occurrence_attempts", "refused_completions")
    return [number for table in tables for (number,) in ground.rows("count(*)", table)]


async def test_what_is_older_than_its_schedules_retention_goes_with_all_that_belongs_to_it(ground: Ground) -> None:
    ended(ground, 7)
    ended(ground, 3, tenant="globex")
    ended(ground, 2, hours=-1)  # one at the edge, which goes, and one after it
    ground.superuser.execute("update jobs.occurrences set " + DEAD + " where tenant = 'globex'")
    assert await ground.run(Retention(batch=4)) == {"occurrences": 11, "items": 22}
    assert left(ground) == [1, 2, 1, 1]
    assert ground.occurrences("old") == [EDGE + timedelta(hours=1)]
    floors = ground.rows("tenant, floor_at", "schedules", "order by tenant")
    assert [tenant for tenant, _ in floors] == ["acme", "globex"]
    assert all(timedelta() <= floor - EDGE < timedelta(seconds=60) for _, floor in floors)
    assert await ground.run(Retention()) == {}


async def test_each_transaction_is_small_and_a_run_is_bounded(ground: Ground) -> None:
    ended(ground, 30)
    duty = Retention(batch=5, most=12)
    done = await ground.run(duty)
    assert 12 <= sum(done.values()) < 12 + 2 * duty.batch
    while await ground.run(duty):
        pass
    assert left(ground) == [0, 0, 0, 0]


async def test_what_did_not_end_and_what_somebody_holds_stays(ground: Ground) -> None:
    ended(ground, 4)
    first, second, third, fourth = ground.occurrences("old")
    ground.superuser.execute(
        "update jobs.occurrences set state = 'scheduled', ended_at = null where scheduled_at = %s", (first,)
    )
    ground.superuser.execute(
        "update jobs.occurrences set state = 'processing', ended_at = null, holder = %s, taken_at = jobs.now(),"
        " expires_at = jobs.now(), fence = 2 where scheduled_at = %s",
        (FIRST, second),
    )
    with psycopg.connect(ground.superuser.info.dsn) as reader:
        reader.execute("select from jobs.occurrences where scheduled_at = %s for update", (third,))
        assert (await ground.run(Retention()))["occurrences"] == 1, "the fourth, and nobody was waited for"
    assert ground.occurrences("old") == [first, second, third]
    assert (await ground.run(Retention()))["occurrences"] == 1
    assert ground.occurrences("old") == [first, second]
    assert fourth not in ground.occurrences("old")


@pytest.mark.requirement("audit-manual-replay")
async def test_what_runs_again_stays_until_it_has_ended_and_goes_with_its_replays(ground: Ground) -> None:
    ended(ground, 1)
    ground.superuser.execute(
        "insert into jobs.occurrence_replays (occurrence, replay, tenant, person, reason, state_before, ended_before,"
        " attempts_before, fence_before, not_done) select id, 1, tenant, 'o.lind', 'x', state, ended_at, 1, 1, 0"
        " from jobs.occurrences"
    )
    again = "update jobs.occurrences set state = 'scheduled', ended_at = null, replays = 1, fence_base = fence"
    ground.superuser.execute(again)
    assert await ground.run(Retention()) == {}
    assert (left(ground), ground.rows("replay", "occurrence_replays")) == ([1, 2, 1, 1], [(1,)])
    ground.superuser.execute("update jobs.occurrences set state = 'completed', ended_at = jobs.now()")
    assert (await ground.run(Retention()))["occurrences"] == 1
    assert (left(ground), ground.rows("replay", "occurrence_replays")) == ([0, 0, 0, 0], [])


async def test_what_was_removed_is_never_planned_again(ground: Ground) -> None:
    """The planner's own mark is lost (an old copy, a bug): the floor stands, and only rises."""
    hourly = schedule("old", every(3_600, at("2026-01-01T00:00")), EACH, retention_seconds=KEPT)
    ended(ground, 5)
    await ground.run(Retention())
    assert ground.occurrences("old") == []
    ground.superuser.execute("update jobs.schedules set planned_until = %s", (EDGE - timedelta(days=3),))
    ground.clock.advance(-5 * DAY)  # and the clock is behind
    await ground.run(planner(hourly))
    ((floor,),) = ground.rows("floor_at", "schedules", "where tenant = 'acme'")
    assert min(ground.occurrences("old")) > floor
    ((until,),) = ground.rows("last_at", "skipped_instants", "where policy = 'retention' and tenant = 'acme'")
    assert until <= floor
    await ground.run(Retention())
    assert ground.rows("floor_at", "schedules", "where tenant = 'acme'") == [(floor,)]
    for lower in ("null", "floor_at - interval '1 second'"):
        with pytest.raises(psycopg.errors.RestrictViolation):
            ground.superuser.execute(f"update jobs.schedules set floor_at = {lower} where tenant = 'acme'".encode())


async def test_old_skips_and_rows_of_workers_long_gone_go_too(ground: Ground) -> None:
    ended(ground, 1)
    for days, last in ((11, 10.5), (10.5, 9), (1, 1)):
        ground.superuser.execute(
            "insert into jobs.skipped_instants (tenant, schedule, first_at, last_at, count, policy, cause, zone, tzdata)"
            " select 'acme', 'old', n - make_interval(secs => %s), n - make_interval(secs => %s), 2, 'misfire-skip', 'x',"
            " 'UTC', 'x' from (select jobs.now() as n) as t",
            (days * DAY, last * DAY),
        )
    for number, days in enumerate((8, 6)):
        ground.superuser.execute(
            "insert into jobs.workers (incarnation, version, host, beat_at) values (%s, '1', 'h', jobs.now() - %s::interval)",
            (UUID(int=number), f"{days} days"),
        )
    assert await ground.run(Retention()) == {"occurrences": 1, "items": 2, "skips": 1, "workers": 1}
    assert len(ground.rows("id", "skipped_instants")) == 2, "a run that reaches into what is kept stays whole"
    assert ground.rows("incarnation", "workers") == [(UUID(int=1),)]


def leaving(logs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What is said of dead letters that go soon; other duties of the process may say more."""
    return [each for each in logs if each["event"] == "dead-letters-leave-within-a-day"]


async def test_dead_letters_are_named_and_counted_a_day_before_they_go(ground: Ground) -> None:
    ended(ground, 3, hours=-25)  # an hour more than a day to go, a day, and an hour less
    ground.superuser.execute("update jobs.occurrences set " + DEAD)
    duty = Retention()
    with structlog.testing.capture_logs() as logs:
        assert await ground.run(duty) == {}
        assert await ground.run(duty) == {}
    assert [(each["alarm"], each["tenant"], each["schedule"], each["count"]) for each in leaving(logs)] == [
        (True, "acme", "old", 2)
    ], "once, not with every look"
    assert ground.rows("value", "figures", "where name = 'dead-letters-leaving'") == [(2,)]
    ground.clock.advance(3_600)
    with structlog.testing.capture_logs() as logs:
        await ground.run(duty)
    assert [each["count"] for each in leaving(logs)] == [3], "another one came to it"


async def test_a_schedule_that_the_records_have_no_more_keeps_its_retention(ground: Ground) -> None:
    await ground.run(planner(schedule("gone", every(60), retention_seconds=KEPT)))
    await ground.run(planner(schedule("other", every(60))))
    ground.superuser.execute(
        "update jobs.occurrences set state = 'completed', ended_at = jobs.now() where schedule = 'gone'"
    )
    ended(ground, 2, name="gone")
    assert (await ground.run(Retention()))["occurrences"] == 2


async def test_a_lost_lease_removes_nothing(ground: Ground) -> None:
    ended(ground, 2)
    duty = Retention()
    await ground.run(Retention(most=0))
    lease = await take(ground.database, duty, FIRST, woken=True)
    assert lease is not None
    ground.clock.advance(duty.lease + 1)
    assert await take(ground.database, duty, SECOND, woken=True) is not None
    with pytest.raises(LeaseLost):
        await duty.run_once(lease)
    assert left(ground) == [2, 4, 2, 2]
