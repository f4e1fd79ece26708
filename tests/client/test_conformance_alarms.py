"""Alarms and the overview of the fake service mean what those of the real one mean: both run every test."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.client import alarms
from jobconsole.client.overview import overview
from jobconsole.client.queues import new_key
from jobcontract.operating import AlarmKind
from jobcontract.states import OccurrenceState, ScheduleStanding
from tests.client.schedule_stage import (
    BY_HAND,
    HOURLY,
    MINUTELY,
    FakeScheduleStage,
    RealScheduleStage,
    ScheduleStage,
    real_schedule_stage,
)
from tests.client.stage import AUDITOR, FIRST, OPERATOR, PUSHER
from tests.client.test_conformance_schedules import refused

SCHEDULED, DEAD, COMPLETED = OccurrenceState.SCHEDULED, OccurrenceState.DEAD_LETTER, OccurrenceState.COMPLETED
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> ScheduleStage:
    """The service under comparison, with a Worker; the real one only where it is asked for, it needs a database."""
    found: ScheduleStage = FakeScheduleStage()
    if request.param == "real":
        found = real_schedule_stage(request.getfixturevalue("database"), request.getfixturevalue("people"))
    found.worker("a7")
    return found


def raised(stage: ScheduleStage, kind: AlarmKind, schedule: str, *, over: bool = False) -> str:
    """An alarm about a schedule, as the duty writes it; its id."""
    if isinstance(stage, FakeScheduleStage):
        identifier = stage.fake.alarms.add(kind, schedule, "Something is.")
        if over:
            stage.fake.alarms.clear(identifier)
        return identifier
    assert isinstance(stage, RealScheduleStage)
    return str(
        stage.rows.one(
            "insert into jobs.alarms (tenant, kind, subject, schedule, sentence, cleared_at)"
            " values ('acme', %s, %s, %s, 'Something is.', case when %s then jobs.now() end) returning id",
            kind,
            schedule,
            schedule,
            over,
        )
    )


async def test_alarms_come_by_urgency_and_somebody_looks_after_one(stage: ScheduleStage) -> None:
    over = raised(stage, AlarmKind.PARKED, BY_HAND, over=True)
    missed, dead = raised(stage, AlarmKind.MISSED, HOURLY), raised(stage, AlarmKind.DEAD_LETTER, MINUTELY)
    service = stage.sign_in(OPERATOR)
    page = await alarms.alarms(service)
    assert [each.id for each in page.alarms] == [dead, missed, over]
    assert (page.open, page.unacknowledged, page.next) == (2, 2, None)
    shown = [(each.kind, each.subject, each.schedule, each.sentence, each.count) for each in page.alarms[:1]]
    assert shown == [(AlarmKind.DEAD_LETTER, MINUTELY, MINUTELY, "Something is.", 1)]
    first = await alarms.alarms(service, limit=2)
    rest = await alarms.alarms(service, first.next, limit=2)
    assert ([each.id for each in (*first.alarms, *rest.alarms)], rest.next) == ([dead, missed, over], None)
    assert [each.id for each in await alarms.open_alarms(service)] == [dead, missed]
    assert (await refused(alarms.alarms(service, "nonsense"))).code == "cursor-invalid"
    assert (await refused(alarms.alarms(service, limit=0))).code == "invalid-request"
    changed = await alarms.acknowledge(service, dead, "I look at it", new_key())
    assert (changed.alarm.note, changed.again) == ("I look at it", False)
    assert changed.alarm.acknowledged_by is not None
    assert changed.alarm.acknowledged_by.name == "Olle Lind"
    again = await alarms.acknowledge(service, dead, "The bank is down", new_key())
    assert (again.alarm.note, again.again) == ("The bank is down", True)
    page = await alarms.alarms(service)
    assert ([each.id for each in page.alarms], page.open, page.unacknowledged) == ([dead, missed, over], 2, 1)
    assert (await refused(alarms.acknowledge(service, over, "x", new_key()))).code == "alarm-cleared"
    nobody = alarms.acknowledge(service, "00000000-0000-4000-8000-000000000000", "x", new_key())
    assert (await refused(nobody)).code == "not-found"


async def test_who_may_look_at_alarms_and_after_one(stage: ScheduleStage) -> None:
    identifier = raised(stage, AlarmKind.LATE, HOURLY)
    assert [each.id for each in (await alarms.alarms(stage.sign_in(AUDITOR))).alarms] == [identifier]
    assert (await refused(alarms.alarms(stage.sign_in(PUSHER)))).code == "permission-missing"
    for part in (AUDITOR, PUSHER):
        call = alarms.acknowledge(stage.sign_in(part), identifier, "x", new_key())
        assert (await refused(call)).code == "permission-missing", part


async def test_the_overview_counts_what_needs_somebody(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(OPERATOR)
    quiet = await overview(service)
    assert (quiet.late, quiet.dead, quiet.parked, quiet.disabled, quiet.retrying, quiet.processing) == (0,) * 6
    assert (quiet.urgent, quiet.alarms, quiet.stops, quiet.recoveries, quiet.plans) == ((), (), (), 0, 0)
    assert (quiet.workers, quiet.workers_silent, quiet.workers_draining, quiet.money_stopped) == (1, 0, 0, None)
    stage.plan(MINUTELY, now - HOUR)
    stage.plan(HOURLY, now - HOUR, attempts=1)
    stage.plan(HOURLY, now - 2 * HOUR, attempts=1)
    stage.plan(HOURLY, now - 3 * HOUR, DEAD)
    stage.plan(HOURLY, now - 4 * HOUR, COMPLETED)
    missed, dead = raised(stage, AlarmKind.MISSED, HOURLY), raised(stage, AlarmKind.DEAD_LETTER, HOURLY)
    found = await overview(service)
    assert (found.late, found.dead, found.retrying, found.processing) == (1, 1, 2, 0)
    assert [(each.id, each.standing) for each in found.urgent] == [
        (MINUTELY, ScheduleStanding.LATE),
        (HOURLY, ScheduleStanding.RETRYING),
    ]
    assert all(each.words for each in found.urgent)
    assert ([each.id for each in found.alarms], found.alarms_open) == ([dead, missed], 2)
    await alarms.acknowledge(service, dead, "I look at it", new_key())
    found = await overview(service)
    assert ([each.id for each in found.alarms], found.alarms_open) == ([missed], 2)


async def test_each_person_sees_the_parts_of_the_overview_that_they_may_read(stage: ScheduleStage) -> None:
    stage.plan(MINUTELY, stage.now - HOUR, DEAD)
    for part in (FIRST, AUDITOR, OPERATOR):
        found = await overview(stage.sign_in(part))
        assert (found.dead, found.plans, found.uncertain, found.workers) == (1, 0, 0, 1), part
        assert found.queues, part
        assert found.trend is not None, part
    pusher = await overview(stage.sign_in(PUSHER))
    nothing = (pusher.dead, pusher.workers, pusher.alarms_open, pusher.recoveries, pusher.plans, pusher.uncertain)
    assert nothing == (None,) * 6
    assert (pusher.trend, pusher.urgent, pusher.alarms, pusher.stops, pusher.queues) == (None, (), (), (), ())
