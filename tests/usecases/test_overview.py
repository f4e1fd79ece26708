"""The overview: every part from what stands in PostgreSQL, by permission, within reach, in one answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from jobcontract.operating import AlarmKind, StopScope
from jobcontract.overview import HOURS, Overview
from jobcontract.states import ScheduleStanding
from jobservice.usecases import job_counting
from jobservice.usecases import overview as usecase
from jobservice.usecases.overview import overview
from tests.usecases.desk import DISPUTES, PAYOUTS
from tests.usecases.job_hand import JobHand
from tests.usecases.schedule_desk import ABROAD, BROKEN, BY_HAND, MINUTELY, NIGHTLY, SETTLE, ScheduleDesk, schedule_desk

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme, a live Worker."""
    desk = schedule_desk(database, people)
    desk.worker()
    for each in (BROKEN, BY_HAND, MINUTELY, NIGHTLY, SETTLE):
        desk.planned(each)
    return desk


async def of(jobs: ScheduleDesk, person: str = "m.ito") -> Overview:
    """What a person sees."""
    return await overview(jobs.service, jobs.desk.actor(person))


def alarm(jobs: ScheduleDesk, kind: AlarmKind, subject: str, **columns: Any) -> None:
    """An open alarm."""
    given = {"tenant": "acme", "kind": kind.value, "subject": subject, "sentence": f"{subject} needs you.", **columns}
    names = ", ".join(given)
    marks = ", ".join(["%s"] * len(given))
    jobs.connection.execute(f"insert into jobs.alarms ({names}) values ({marks})", list(given.values()))


async def test_schedules_occurrences_and_workers_are_counted_and_the_urgent_named_by_urgency(
    jobs: ScheduleDesk,
) -> None:
    now = jobs.now
    jobs.connection.execute(
        "update jobs.schedules set parked_at = jobs.now(), parked_reason = 'no such zone' where schedule = %s",
        (BROKEN,),
    )
    jobs.connection.execute(
        "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'x' where schedule = %s",
        (SETTLE,),
    )
    jobs.occurrence(SETTLE, now - HOUR)
    jobs.occurrence(MINUTELY, now - MINUTE)
    jobs.occurrence(NIGHTLY, now - HOUR, attempts=1, started_at=now - HOUR, due_at=now + MINUTE)
    jobs.occurrence(MINUTELY, now - 2 * MINUTE, "processing")
    jobs.occurrence(MINUTELY, now - HOUR, "dead-letter")
    jobs.occurrence(
        MINUTELY, now - 2 * HOUR, "dead-letter", discarded_at=now, discarded_by="o.lind", discard_reason="known"
    )
    jobs.occurrence(ABROAD, now - HOUR, "dead-letter", tenant="globex")
    jobs.worker("b1", draining_at=now)
    jobs.worker("b2", beat_at=now - MINUTE)
    jobs.worker("b3", stopped_at=now)
    found = await of(jobs)
    assert (found.late, found.parked, found.disabled) == (1, 1, 1)
    assert (found.dead, found.retrying, found.processing) == (1, 1, 1)
    assert (found.workers, found.workers_draining, found.workers_silent) == (1, 1, 1)
    assert [(each.id, each.standing) for each in found.urgent] == [
        (BROKEN, ScheduleStanding.PARKED),
        (MINUTELY, ScheduleStanding.LATE),
        (NIGHTLY, ScheduleStanding.RETRYING),
    ]
    assert found.urgent[0].words == "Cannot be computed: no such zone."


async def test_alarms_that_somebody_looks_after_are_counted_and_not_listed_and_stops_are_told(
    jobs: ScheduleDesk,
) -> None:
    alarm(jobs, AlarmKind.MISSED, "last")
    alarm(jobs, AlarmKind.PARKED, "first")
    alarm(jobs, AlarmKind.LATE, "seen", acknowledged_at=jobs.now, acknowledged_by="o.lind", note="on it")
    alarm(jobs, AlarmKind.LATE, "over", cleared_at=jobs.now)
    jobs.connection.execute(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'queue', %s, 'o.lind', 'bank down')",
        (PAYOUTS,),
    )
    jobs.connection.execute(
        "update jobs.money_switches set stopped = true, at = jobs.now(), by = 'o.lind', reason = 'audit'"
    )
    found = await of(jobs)
    assert (found.alarms_open, [each.subject for each in found.alarms]) == (3, ["first", "last"])
    assert [(each.scope, each.name, each.reason) for each in found.stops] == [(StopScope.QUEUE, PAYOUTS, "bank down")]
    assert found.money_stopped == "audit"


async def test_queues_stand_by_their_oldest_item_with_what_nobody_claimed_and_is_to_go_out(
    jobs: ScheduleDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (await jobs.desk.push(DISPUTES))["id"]
    claimed = (await jobs.desk.push(PAYOUTS))["id"]
    await jobs.desk.push(PAYOUTS)
    back = (await jobs.desk.push(PAYOUTS))["id"]
    jobs.connection.execute("update jobs.items set created = jobs.now() - interval '2 days' where id = %s", (first,))
    jobs.connection.execute("update jobs.items set created = jobs.now() - interval '1 day' where id = %s", (claimed,))
    jobs.connection.execute("update jobs.items set amount_minor = -700 where id = %s", (back,))
    amounts = jobs.connection.execute(
        "select currency, amount_minor from jobs.items where queue = %s and id not in (%s, %s)",
        (PAYOUTS, claimed, back),
    ).fetchall()
    await jobs.desk.claim("k.rao", claimed)
    lines = {line.queue: line for line in (await of(jobs)).queues}
    assert list(lines)[:2] == [DISPUTES, PAYOUTS]
    payouts = lines[PAYOUTS]
    assert (payouts.open, payouts.unclaimed, payouts.whole) == (3, 2, True)
    assert [(each.currency, each.minor) for each in payouts.unclaimed_out] == amounts, "what comes back is not in it"
    assert payouts.oldest_at == jobs.one("select created from jobs.items where id = %s", claimed)
    monkeypatch.setattr(usecase, "QUEUE_ROWS", 2)
    payouts = {line.queue: line for line in (await of(jobs)).queues}[PAYOUTS]
    assert (payouts.open, payouts.whole) == (2, False)
    assert payouts.oldest_at == jobs.one("select created from jobs.items where id = %s", claimed)
    narrow = replace(jobs.desk.actor("m.ito"), customers=("nobody's",))
    assert {line.open for line in (await overview(jobs.service, narrow)).queues} == {0}


async def test_parts_without_their_permission_are_none_and_another_tenant_is_not_counted(jobs: ScheduleDesk) -> None:
    now = jobs.now
    jobs.occurrence(MINUTELY, now - HOUR, "dead-letter")
    pusher = await of(jobs, "p.push")
    assert {value for value in pusher.model_dump(exclude={"now"}).values()} == {None, ()}
    support = await of(jobs, "s.bell")
    assert (support.late, support.plans, support.trend, support.queues) == (None, None, None, ())
    abroad = await of(jobs, "g.fin")
    assert (abroad.dead, abroad.processing, abroad.workers) == (0, 0, 1)


async def test_the_trend_has_a_point_an_hour_the_present_one_last(jobs: ScheduleDesk) -> None:
    jobs.connection.execute(
        "insert into jobs.hourly_tallies (tenant, hour, completed, dead, missed)"
        " select 'acme', date_trunc('hour', jobs.now(), 'UTC') - make_interval(hours => n), 100 + n, n, 0"
        " from unnest(array[0, 1, 23, 24]) as n"
    )
    trend = (await of(jobs)).trend
    assert trend is not None
    assert trend.completed == (123, *(0,) * (HOURS - 3), 101, 100)
    assert (trend.dead[0], trend.dead[-1], len(trend.missed)) == (23, 0, HOURS)


async def test_jobs_are_counted_within_the_reach_of_whoever_asks(
    jobs: ScheduleDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = JobHand(jobs.connection)
    for status in ("failed", "failed", "running", "pending", "pending", "pending", "succeeded"):
        hand.job(status)
    hand.job(resolution="resolved", resolved_at="now", resolved_by="s.bell", resolution_reason="By hand.")
    hand.job(tenant="globex")
    for person in ("m.ito", "s.bell", "s.audit"):
        found = (await of(jobs, person)).jobs
        assert found is not None
        assert (found.unresolved, found.running, found.pending) == (2, 1, 3)
    assert (await of(jobs, "a.admin")).jobs is None
    hand.job(customer="C-1")
    hand.job("running", customer="C-1")
    hand.job(customer="C-2")
    narrowed = replace(jobs.desk.actor("s.bell"), customers=("C-1",))
    found = (await overview(jobs.service, narrowed)).jobs
    assert found is not None
    assert (found.unresolved, found.running, found.pending, found.whole) == (1, 1, 0, True)
    monkeypatch.setattr(job_counting, "COUNTED", 0)
    found = (await overview(jobs.service, narrowed)).jobs
    assert found is not None
    assert not found.whole
