"""What a person reads of Worker processes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.states import ScheduleStanding, WorkerStanding
from jobservice.rules.standing import BEAT
from jobservice.usecases.occurrences import Asked, list_occurrences, read_occurrence
from jobservice.usecases.schedules import read_schedule
from jobservice.usecases.workers import list_workers
from jobservice.worker.process import Pace
from tests.usecases.desk import refused_with
from tests.usecases.schedule_desk import MINUTELY, NIGHTLY, ScheduleDesk, schedule_desk

SECOND = timedelta(seconds=1)


def test_silence_is_measured_in_the_heartbeats_that_workers_have() -> None:
    assert timedelta(seconds=Pace().beat) == BEAT


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme, one of globex, one of another deployment."""
    return schedule_desk(database, people)


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_workers_are_listed_with_their_standing_and_what_they_hold_in_the_tenant(jobs: ScheduleDesk) -> None:
    now = jobs.now
    live = jobs.worker("live", started_at=now - 5 * SECOND)
    jobs.worker("draining", started_at=now - 6 * SECOND, draining_at=now)
    jobs.worker("silent", started_at=now - 600 * SECOND, beat_at=now - 20 * SECOND, draining_at=now - 60 * SECOND)
    jobs.worker("stopped", started_at=now - 700 * SECOND, beat_at=now - 60 * SECOND, stopped_at=now - 60 * SECOND)
    day = timedelta(days=1)
    jobs.worker("stopped long ago", started_at=now - 3 * day, stopped_at=now - day)
    jobs.worker("silent for ever", started_at=now - 3 * day, beat_at=now - day)
    jobs.occurrence(NIGHTLY, now, "processing", holder=live)
    jobs.occurrence(MINUTELY, now, "processing", holder=live)
    jobs.occurrence(NIGHTLY, now, "processing", holder=live, tenant="globex")
    for person, processing in (("o.lind", 2), ("g.fin", 1)):
        found = (await list_workers(jobs.service, jobs.desk.actor(person))).workers
        assert [(each.host, each.standing, each.processing, each.slots) for each in found] == [
            ("live", WorkerStanding.LIVE, processing, 16),
            ("draining", WorkerStanding.DRAINING, 0, 16),
            ("silent", WorkerStanding.SILENT, 0, 16),
            ("stopped", WorkerStanding.STOPPED, 0, 16),
        ]
    for person in ("s.bell", "p.push", "a.admin"):
        await refused_with(ErrorCode.PERMISSION_MISSING, list_workers(jobs.service, jobs.desk.actor(person)))


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_every_statement_names_the_tenant_without_row_security_too(owner_database: Any, people: Any) -> None:
    jobs = schedule_desk(owner_database, people)
    now, holder = jobs.now, jobs.worker("live")
    theirs = jobs.occurrence(NIGHTLY, now, "processing", holder=holder, tenant="globex")
    jobs.planned(NIGHTLY, tenant="globex")
    actor = jobs.desk.actor("o.lind")
    (worker,) = (await list_workers(jobs.service, actor)).workers
    assert worker.processing == 0
    asked = Asked(schedule=None, states=(), since=None, until=None, limit=5)
    assert (await list_occurrences(jobs.service, actor, asked, None)).occurrences == ()
    await refused_with(ErrorCode.NOT_FOUND, read_occurrence(jobs.service, actor, theirs))
    shown = (await read_schedule(jobs.service, actor, NIGHTLY)).schedule
    assert (shown.standing, shown.recent) == (ScheduleStanding.UNPLANNED, ())
