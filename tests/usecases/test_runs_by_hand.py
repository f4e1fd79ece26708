"""Starting a manual schedule by hand: its guard, its place, once a key."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any

import pytest

from jobcontract.acts import RunOrder
from jobcontract.errors import ErrorCode
from jobcontract.occurrences import OccurrenceChanged
from jobcontract.permissions import Permission
from jobcontract.states import OccurrenceOrigin, OccurrenceState
from jobservice.rules.schedules import Confirmed, Guard, Schedule, Window
from jobservice.store import items, switches
from jobservice.store.database import Transaction
from jobservice.usecases.audit import list_audit
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.runs_by_hand import run
from tests.usecases.desk import once, refused_with
from tests.usecases.schedule_desk import BY_HAND, NIGHTLY, SCHEDULE_RECORDS, ScheduleDesk, schedule_desk

pytestmark = pytest.mark.requirement("run-manual-jobs-under-their-guard")


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme."""
    desk = schedule_desk(database, people)
    desk.planned(BY_HAND)
    return desk


def changed(jobs: ScheduleDesk, **change: Any) -> Schedule:
    """The manual schedule with something else in its record."""
    schedule = replace(SCHEDULE_RECORDS.schedules[BY_HAND], **change)
    records = replace(SCHEDULE_RECORDS, schedules={**SCHEDULE_RECORDS.schedules, BY_HAND: schedule})
    jobs.desk.service = replace(jobs.service, records=records)
    return schedule


async def started(
    jobs: ScheduleDesk, schedule: str = BY_HAND, *, person: str = "o.lind", request: Once | None = None
) -> Answered:
    """The answer to running it."""
    order = RunOrder(reason="a customer waits")
    return await run(jobs.service, jobs.desk.actor(person), schedule, order, request or once(f"/{schedule}"))


def count(jobs: ScheduleDesk) -> int:
    """Occurrences."""
    found: int = jobs.one("select count(*) from jobs.occurrences")
    return found


async def test_it_is_an_occurrence_of_this_moment_and_a_repeated_key_is_the_same_run(jobs: ScheduleDesk) -> None:
    jobs.connection.execute("listen jobs_work")
    request, before = once("/run"), jobs.now
    first = await started(jobs, request=request)
    (notice,) = jobs.connection.notifies(timeout=2, stop_after=1)
    assert notice.payload == "occurrences"
    jobs.connection.execute("unlisten *")
    again = await started(jobs, request=request)
    assert (first.status, again.replayed, again.body) == (201, True, first.body)
    row = OccurrenceChanged.model_validate(first.body).occurrence
    assert (row.origin, row.state, row.replays, row.attempts) == (
        OccurrenceOrigin.MANUAL,
        OccurrenceState.SCHEDULED,
        0,
        0,
    )
    assert before <= row.scheduled_at == row.due_at <= jobs.now
    assert jobs.connection.execute("select lock, zone, miss_at, tenant from jobs.occurrences").fetchall() == [
        (BY_HAND, "UTC", None, "acme")
    ]
    entry = (await list_audit(jobs.service, jobs.desk.actor("s.audit"), None, 1)).entries[0]
    assert (entry.action, entry.subject, entry.outcome) == ("run-schedule", BY_HAND, "done")
    assert (entry.detail["occurrence"], entry.detail["reason"]) == (row.name, "a customer waits")
    assert jobs.connection.execute("select topic, ref from jobs.hints").fetchall() == [("schedule", BY_HAND)]
    await asyncio.gather(*(started(jobs) for _ in range(3)))
    assert count(jobs) == 4, "another key is another run"


async def test_its_window_is_by_the_databases_clock_and_the_refusal_names_the_next(
    jobs: ScheduleDesk, clock: Any
) -> None:
    def go(hour: int) -> None:
        now = jobs.now
        target = datetime.combine(now.date() + timedelta(days=1), time(hour), now.tzinfo)
        clock.advance((target - now).total_seconds())

    every_day = Window(days=frozenset(range(1, 8)), start=time(8), end=time(18))
    changed(jobs, guard=Guard(permission=Permission.SCHEDULE_RUN, windows=(every_day,), reason_required=True))
    go(19)
    refusal = await refused_with(ErrorCode.GUARD_REFUSED, started(jobs))
    opens = jobs.now.date() + timedelta(days=1)
    assert refusal.detail.endswith(f"It may be run next from {opens:%Y-%m-%d} 08:00 UTC.")
    assert count(jobs) == 0
    assert jobs.desk.audited()[-1] == ("o.lind", "run-schedule", "refused")
    go(9)
    await started(jobs)
    assert count(jobs) == 1


async def test_the_permission_of_its_guard_is_needed_besides_that_of_the_act(jobs: ScheduleDesk) -> None:
    for person in ("m.ito", "s.audit", "p.push"):
        await refused_with(ErrorCode.PERMISSION_MISSING, started(jobs, person=person))
    changed(jobs, guard=Guard(permission=Permission.PAYOUT_RELEASE, windows=(), reason_required=True))
    refusal = await refused_with(ErrorCode.PERMISSION_MISSING, started(jobs))
    assert "payout.release" in refusal.detail
    assert count(jobs) == 0


async def test_what_runs_by_itself_elsewhere_or_moves_money_is_not_started_by_hand(jobs: ScheduleDesk) -> None:
    refusal = await refused_with(ErrorCode.SCHEDULE_UNFIT, started(jobs, NIGHTLY))
    assert f"{NIGHTLY} runs by itself" in refusal.detail
    for unknown in ("t.never", "t.abroad"):
        await refused_with(ErrorCode.NOT_FOUND, started(jobs, unknown))
    changed(jobs, runs_where=frozenset({"production", "night"}))
    refusal = await refused_with(ErrorCode.RUNS_ELSEWHERE, started(jobs))
    assert refusal.detail == f"{BY_HAND} runs in night, production, and this is test."
    changed(jobs, selection=Confirmed(command="t.release-many"))
    await refused_with(ErrorCode.NEEDS_PLAN, started(jobs))
    assert count(jobs) == 0


OFF = "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'broken'"
STOP = "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'tenant', 'acme', 'o.lind', 'fire')"


async def test_one_that_is_disabled_in_this_very_moment_is_refused(
    jobs: ScheduleDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = items.now

    async def then_off(transaction: Transaction) -> datetime:
        jobs.connection.execute(OFF)
        return await look(transaction)

    monkeypatch.setattr(items, "now", then_off)
    await refused_with(ErrorCode.SCHEDULE_DISABLED, started(jobs))
    assert count(jobs) == 0


@pytest.mark.parametrize("held", [OFF, STOP], ids=["disabled", "stopped"])
async def test_the_statement_that_starts_one_compares_by_itself(jobs: ScheduleDesk, held: str) -> None:
    jobs.connection.execute(held)
    async with jobs.service.database.transaction("acme") as transaction:
        assert await switches.start(transaction, BY_HAND, at=jobs.now, lock=BY_HAND, tzdata="2026f") is None
    assert count(jobs) == 0


@pytest.mark.requirement("provide-operational-recovery-procedures")
async def test_a_disabled_schedule_and_a_stopped_tenant_start_nothing(jobs: ScheduleDesk) -> None:
    jobs.connection.execute(OFF)
    refusal = await refused_with(ErrorCode.SCHEDULE_DISABLED, started(jobs))
    assert refusal.detail == f"{BY_HAND} is disabled by Olle Lind: broken. Enable it first."
    jobs.connection.execute("update jobs.schedules set disabled_at = null, disabled_by = null, disabled_reason = null")
    jobs.connection.execute(STOP)
    refusal = await refused_with(ErrorCode.WORK_STOPPED, started(jobs))
    assert "fire" in refusal.detail
    jobs.connection.execute("delete from jobs.stops")
    await started(jobs)
    assert count(jobs) == 1
