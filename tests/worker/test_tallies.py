"""Hourly tallies: exact whenever they were counted last, whoever was killed, and whatever is written late."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobservice.store.database import Database
from jobservice.worker.fenced import LeaseLost, take
from jobservice.worker.tallies import LATE, LONGEST, Tallies, first_hour
from tests.conftest import Clock, People
from tests.schedules import at
from tests.worker.planners import FIRST, SECOND, Ground

NOW = at("2026-03-20T12:20:00")


@pytest.fixture
def ground(worker_database: Database, people: People, clock: Clock) -> Ground:
    """acme and globex at twenty past noon."""
    ground = Ground(database=worker_database, superuser=people.connection, clock=clock)
    ground.go("2026-03-20T12:20:00")
    return ground


def ended(ground: Ground, minutes: int, ending: str = "completed", *, tenant: str = "acme") -> None:
    """An attempt that ended so many minutes before twenty past noon; a dead letter where it failed."""
    when = NOW - timedelta(minutes=minutes)
    ground.superuser.execute(
        "with made as (insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at, state, fence,"
        " attempts, ended_at, cause) select %s, 's', %s - make_interval(secs => random()), 't', 's', %s,"
        " case when %s = 'completed' then 'completed' else 'dead-letter' end, 1, 1, %s,"
        " case when %s = 'completed' then null else 'failed' end returning id, tenant)"
        " insert into jobs.occurrence_attempts (occurrence, fence, tenant, attempt, worker, taken_at, expires_at,"
        " renewals, ended_at, ending) select id, 1, tenant, 1, gen_random_uuid(), %s, %s, 0, %s, %s from made",
        (tenant, when, when, ending, when, ending, when, when, when, ending),
    )


def tallies(ground: Ground) -> list[tuple[Any, ...]]:
    """Every row: tenant, hour, completed, dead, missed."""
    return ground.rows(
        "tenant, extract(hour from hour at time zone 'UTC')::int, completed, dead, missed",
        "hourly_tallies",
        "order by tenant, jobs.hourly_tallies.hour",
    )


async def test_each_hour_is_counted_by_tenant_and_counting_again_changes_nothing(ground: Ground) -> None:
    for minutes in (0, 5, 20, 21, 80):
        ended(ground, minutes)
    ended(ground, 6, "failed")
    ended(ground, 7, "retry")
    ended(ground, 90, tenant="globex")
    ended(ground, 27 * 60)
    ground.superuser.execute(
        "insert into jobs.skipped_instants (tenant, schedule, first_at, last_at, count, policy, cause, zone, tzdata,"
        " decided_at) values ('acme', 's', %(at)s, %(at)s, 40, 'misfire-skip', 'c', 'UTC', 't', %(at)s),"
        " ('acme', 's', %(at)s, %(at)s, 9, 'skipped-hour', 'c', 'UTC', 't', %(at)s)",
        {"at": NOW - timedelta(minutes=70)},
    )
    expected = [("acme", 11, 2, 0, 40), ("acme", 12, 3, 2, 0), ("globex", 10, 1, 0, 0)]
    await ground.run(Tallies())
    assert tallies(ground) == expected
    await ground.run(Tallies(), SECOND)
    assert tallies(ground) == expected


async def test_what_is_written_late_or_while_nobody_counted_is_counted_by_the_next_run(ground: Ground) -> None:
    await ground.run(Tallies())
    ended(ground, 9)
    ended(ground, 0)
    ground.go("2026-03-20T15:05:00")
    ended(ground, -60)
    await ground.run(Tallies())
    assert tallies(ground) == [("acme", 12, 2, 0, 0), ("acme", 13, 1, 0, 0)]


async def test_without_its_lease_nothing_is_counted(ground: Ground) -> None:
    ended(ground, 5)
    duty = Tallies()
    await ground.run(duty)
    lost = await take(ground.database, duty, FIRST, woken=True)
    assert lost is not None
    ground.superuser.execute("update jobs.duties set fence = fence + 1")
    ended(ground, 5)
    with pytest.raises(LeaseLost):
        await duty.run_once(lost)
    assert tallies(ground) == [("acme", 12, 1, 0, 0)]


@given(st.none() | st.integers(0, 200_000), st.integers(0, 3_600))
def test_the_first_hour_leaves_out_nothing_that_may_be_written_late(ago: int | None, second: int) -> None:
    now = NOW + timedelta(seconds=second)
    until = None if ago is None else now - timedelta(seconds=ago)
    first = first_hour(until, now)
    assert (first.minute, first.second, first.microsecond) == (0, 0, 0)
    assert first <= (now if until is None else max(until - LATE, now - LONGEST))
    assert first >= now - LONGEST - timedelta(hours=1)
