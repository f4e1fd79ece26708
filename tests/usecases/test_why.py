"""Why a schedule or an occurrence does not run: each cause made real in PostgreSQL, and found first."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.occurrence_names import occurrence_name
from jobcontract.operating import WhyKind
from jobcontract.why import Why
from jobservice.usecases.why import occurrence_why, schedule_why
from tests.usecases.desk import refused_with
from tests.usecases.schedule_desk import ABROAD, BY_HAND, MINUTELY, NIGHTLY, SETTLE, ScheduleDesk, schedule_desk

PROCEDURES = pytest.mark.requirement("provide-operational-recovery-procedures")
SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=seconds) for seconds in (1, 60, 3_600, 86_400))
LONG_AGO = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """A live Worker with room; the minutely schedule is planned."""
    desk = schedule_desk(database, people)
    desk.worker("a7")
    for each in (MINUTELY, NIGHTLY, SETTLE, BY_HAND):
        desk.planned(each)
    return desk


async def of(jobs: ScheduleDesk, schedule: str = MINUTELY) -> Why:
    """Why a schedule does not run."""
    return await schedule_why(jobs.service, jobs.desk.actor("s.audit"), schedule)


async def named(jobs: ScheduleDesk, name: str) -> Why:
    """Why an occurrence does not run."""
    return await occurrence_why(jobs.service, jobs.desk.actor("s.audit"), name)


def due(jobs: ScheduleDesk, **columns: Any) -> str:
    """A minutely occurrence that is due since a minute."""
    return jobs.occurrence(MINUTELY, jobs.now - MINUTE, **columns)


def update(jobs: ScheduleDesk, table: str, schedule: str = MINUTELY, **columns: Any) -> None:
    """Columns of the rows of a schedule."""
    sets = ", ".join(f"{name} = %s" for name in columns)
    jobs.connection.execute(f"update jobs.{table} set {sets} where schedule = %s", [*columns.values(), schedule])


def _running(jobs: ScheduleDesk) -> None:
    due(jobs, state="processing")


def _ended(jobs: ScheduleDesk) -> None:
    """Asked by id, see the test."""
    due(jobs, state="dead-letter", error="The bank refused.")


def _cancelled(jobs: ScheduleDesk) -> None:
    due(jobs, cancel_asked_at=jobs.now, cancelled_by="o.lind", cancel_reason="wrong file")


def _stopped(jobs: ScheduleDesk) -> None:
    due(jobs)
    jobs.connection.execute(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'tenant', 'acme', 'o.lind', 'bank down')"
    )


def _disabled(jobs: ScheduleDesk) -> None:
    due(jobs)
    update(jobs, "schedules", disabled_at=jobs.now, disabled_by="o.lind", disabled_reason="bank down")


def _parked(jobs: ScheduleDesk) -> None:
    update(jobs, "schedules", parked_at=jobs.now, parked_reason="Mars has no time zone")


def _missed(jobs: ScheduleDesk) -> None:
    due(jobs, miss_at=jobs.now - SECOND)


def _no_worker(jobs: ScheduleDesk) -> None:
    due(jobs)
    jobs.connection.execute("update jobs.workers set draining_at = jobs.now()")


def _lock(jobs: ScheduleDesk) -> None:
    due(jobs)
    jobs.occurrence(MINUTELY, jobs.now - 2 * MINUTE, "processing")


def _before(jobs: ScheduleDesk) -> None:
    """Of another schedule under the same lock; the database's own row says the lock."""
    due(jobs)
    jobs.occurrence(MINUTELY, jobs.now - 90 * SECOND, due_at=jobs.now - 2 * MINUTE)


def _backing_off(jobs: ScheduleDesk) -> None:
    due(jobs, attempts=1, started_at=jobs.now - MINUTE, due_at=jobs.now + MINUTE, error="The bank was away.")


def _full(jobs: ScheduleDesk) -> None:
    due(jobs)
    jobs.connection.execute("update jobs.workers set slots = 1")
    jobs.occurrence(ABROAD, jobs.now - MINUTE, "processing", tenant="globex")


def _not_due(jobs: ScheduleDesk) -> None:
    jobs.occurrence(MINUTELY, jobs.now + MINUTE)


MADE: list[tuple[WhyKind, Callable[[ScheduleDesk], None], str]] = [
    (WhyKind.RUNNING, _running, "It runs: the lease is held by worker "),
    (WhyKind.CANCELLED, _cancelled, "Olle Lind asked for it to be cancelled: it is not started. Reason: wrong file."),
    (WhyKind.TENANT_STOPPED, _stopped, "All work of the tenant is stopped by Olle Lind since "),
    (WhyKind.DISABLED, _disabled, "The schedule is disabled by Olle Lind until somebody enables it: bank down."),
    (WhyKind.PARKED, _parked, "Its schedule is parked, since its instants cannot be computed: Mars has no time zone."),
    (WhyKind.MISSED, _missed, "It was missed at "),
    (WhyKind.NO_WORKER, _no_worker, "No Worker takes work: none is live (1 draining, last heard of "),
    (WhyKind.LOCK_HELD, _lock, "Waiting: the lease is held by worker "),
    (WhyKind.BACKING_OFF, _backing_off, "Waiting for attempt 2 of 3 at "),
    (WhyKind.WORKERS_FULL, _full, "Waiting for a free slot: 1 occurrences run, and the 1 live Worker has room for 1."),
    (WhyKind.NOT_DUE, _not_due, "It is not due yet: it runs at "),
]


@PROCEDURES
@pytest.mark.parametrize(("kind", "make", "said"), MADE, ids=[kind.value for kind, _, _ in MADE])
async def test_each_cause_made_real_is_found_first(
    jobs: ScheduleDesk, kind: WhyKind, make: Callable[[ScheduleDesk], None], said: str
) -> None:
    make(jobs)
    answer = await of(jobs)
    assert answer.sentence.startswith(said)
    assert (answer.causes[0].kind, answer.causes[0].applies) == (kind, True)
    assert len(answer.causes) == len(WhyKind)
    assert answer.causes[0].evidence
    assert answer.schedule == MINUTELY


@PROCEDURES
async def test_the_oldest_that_waits_is_meant_else_what_runs_else_the_next(jobs: ScheduleDesk) -> None:
    now = jobs.now
    jobs.occurrence(MINUTELY, now + MINUTE)
    assert (await of(jobs)).occurrence == occurrence_name(MINUTELY, now + MINUTE)
    jobs.occurrence(MINUTELY, now - 5 * MINUTE, "processing")
    answer = await of(jobs)
    assert (answer.occurrence, answer.causes[0].kind) == (occurrence_name(MINUTELY, now - 5 * MINUTE), WhyKind.RUNNING)
    jobs.occurrence(MINUTELY, now - MINUTE)
    jobs.occurrence(MINUTELY, now - 2 * MINUTE)
    answer = await of(jobs)
    assert answer.occurrence == occurrence_name(MINUTELY, now - 2 * MINUTE)
    held = {each.label: each for each in answer.causes[0].evidence}
    assert held["held by"].value == occurrence_name(MINUTELY, now - 5 * MINUTE)
    renewed, taken = held["renewed"].at, held["taken"].at
    assert renewed is not None
    assert taken is not None
    assert abs(renewed - taken) < SECOND, "never renewed: the lease's length before its end"
    second = await named(jobs, occurrence_name(MINUTELY, now - MINUTE))
    assert {each.label: each.value for each in second.causes[0].evidence}["waiting before it"] == "1"


@PROCEDURES
async def test_what_waits_before_it_under_the_lock_is_named(jobs: ScheduleDesk) -> None:
    _before(jobs)
    first = jobs.one("select scheduled_at from jobs.occurrences order by due_at limit 1")
    last = jobs.one("select scheduled_at from jobs.occurrences order by due_at desc limit 1")
    answer = await named(jobs, occurrence_name(MINUTELY, last))
    assert answer.causes[0].kind is WhyKind.LOCK_HELD
    assert answer.sentence.startswith(f"Waiting: 1 waits before it under the lock {MINUTELY}, ")
    assert occurrence_name(MINUTELY, first) in answer.sentence
    jobs.connection.execute("update jobs.occurrences set lock = 'other' where scheduled_at = %s", (first,))
    free = await named(jobs, occurrence_name(MINUTELY, last))
    assert free.sentence.startswith("Nothing holds it back"), "another lock holds nothing back"
    assert not any(cause.applies for cause in free.causes)


@PROCEDURES
async def test_what_ended_says_how_and_a_recovery_that_it_waits_in(jobs: ScheduleDesk) -> None:
    _ended(jobs)
    name = occurrence_name(MINUTELY, jobs.one("select scheduled_at from jobs.occurrences"))
    identifier = jobs.one("select id::text from jobs.occurrences")
    answer = await named(jobs, identifier)
    assert answer.causes[0].kind is WhyKind.ENDED
    assert answer.sentence.startswith("It became a dead letter at ")
    assert {each.label: each.value for each in answer.causes[0].evidence}["error"] == "The bank refused."
    assert (await named(jobs, name)).sentence == answer.sentence
    recovery = jobs.one(
        "insert into jobs.recoveries (tenant, name, act, reason, asked, owner, state, moves, digest, count, frozen_at,"
        " valid_until, confirmed_at) values ('acme', 'wren-7', 'replay', 'night', '{}', 'o.lind', 'paused', 'nothing',"
        " sha256(''), 1, jobs.now(), jobs.now(), jobs.now()) returning id"
    )
    jobs.connection.execute(
        "insert into jobs.recovery_rows (recovery, number, tenant, key, target, name, schedule, moves, row_version)"
        " values (%s, 1, 'acme', %s, 'occurrence', 'n', %s, 'nothing', 1)",
        (recovery, identifier, MINUTELY),
    )
    assert "waits for its turn in the recovery wren-7" in (await named(jobs, identifier)).sentence
    jobs.connection.execute(
        "update jobs.occurrences set cause = 'cancelled', cancel_asked_at = jobs.now(),"
        " cancelled_by = 'o.lind', cancel_reason = 'late'"
    )
    assert "It was cancelled at " in (await named(jobs, identifier)).sentence


@PROCEDURES
@pytest.mark.requirement("define-misfire-recovery")
async def test_an_instant_without_an_occurrence_is_answered_for(jobs: ScheduleDesk) -> None:
    skip = (
        "insert into jobs.skipped_instants (tenant, schedule, first_at, last_at, count, policy, cause, merged_into, zone,"
        " tzdata) values ('acme', %s, %s, %s, 10, %s, 'Not started within 60 s of its time; it is skipped.', %s, 'UTC', 't')"
    )
    at = LONG_AGO + 5 * MINUTE
    jobs.connection.execute(skip, (MINUTELY, LONG_AGO, LONG_AGO + 10 * MINUTE, "misfire-each-interval", None))
    answer = await named(jobs, occurrence_name(MINUTELY, at))
    assert answer.causes[0].kind is WhyKind.SKIPPED
    assert answer.sentence == "It was skipped: Not started within 60 s of its time; it is skipped."
    update(jobs, "schedules", floor_at=LONG_AGO + DAY)
    assert (await named(jobs, occurrence_name(MINUTELY, at))).causes[0].kind is WhyKind.SKIPPED, "its row is kept still"
    gone = await named(jobs, occurrence_name(MINUTELY, LONG_AGO + HOUR))
    assert (gone.causes[0].kind, gone.sentence[:26]) == (WhyKind.ENDED, "It is gone: retention has ")
    never = await named(jobs, occurrence_name(MINUTELY, LONG_AGO + 2 * DAY))
    assert (never.causes[0].kind, never.sentence[:24]) == (WhyKind.UNPLANNED, "It was never planned: th")
    odd = await named(jobs, occurrence_name(MINUTELY, LONG_AGO + 2 * DAY + SECOND))
    assert odd.causes[0].kind is WhyKind.NOT_DUE
    assert odd.sentence == (
        "Its rhythm has no such instant; its neighbours are 2026-05-06T12:00:00Z and 2026-05-06T12:01:00Z."
    )
    later = jobs.now.replace(second=0, microsecond=0) + DAY
    coming = await named(jobs, occurrence_name(MINUTELY, later))
    assert (coming.causes[0].kind, coming.sentence[:23]) == (WhyKind.NOT_DUE, "It is not due yet: it r")
    update(jobs, "schedules", planned_until=LONG_AGO + 3 * DAY)
    behind = await named(jobs, occurrence_name(MINUTELY, LONG_AGO + 4 * DAY))
    assert behind.causes[0].kind is WhyKind.UNPLANNED
    assert behind.sentence.startswith("It is not planned yet: the planner has come to 2026-05-07 12:00:00 UTC")
    jobs.connection.execute(skip, (NIGHTLY, LONG_AGO - DAY, LONG_AGO - DAY, "misfire-once", LONG_AGO))
    merged = await named(jobs, occurrence_name(NIGHTLY, LONG_AGO - DAY))
    assert merged.sentence.startswith(
        f"It was merged into {occurrence_name(NIGHTLY, LONG_AGO)}, which runs in its place: "
    )


@PROCEDURES
async def test_a_schedule_without_an_occurrence_says_what_it_is(jobs: ScheduleDesk) -> None:
    by_hand = await of(jobs, BY_HAND)
    assert (by_hand.causes[0].kind, by_hand.sentence) == (WhyKind.MANUAL, "Nothing but a person starts it.")
    assert (by_hand.causes[0].remedy or "").endswith(f"jobconsole schedules run {BY_HAND}")
    jobs.connection.execute("delete from jobs.workers")
    assert (await of(jobs, BY_HAND)).causes[0].kind is WhyKind.MANUAL
    assert (await of(jobs, NIGHTLY)).causes[0].kind is WhyKind.NO_WORKER
    jobs.connection.execute("delete from jobs.schedules")
    assert (await of(jobs, NIGHTLY)).causes[0].kind is WhyKind.UNPLANNED
    elsewhere = await of(jobs, "t.elsewhere")
    assert (elsewhere.causes[0].kind, elsewhere.sentence) == (
        WhyKind.ELSEWHERE,
        "Its record says that it runs in production, and not here.",
    )
    jobs.planned("t.gone", retired_at=jobs.now)
    gone = await of(jobs, "t.gone")
    assert (gone.causes[0].kind, "t.gone any more, since " in gone.sentence) == (WhyKind.RETIRED, True)


async def test_what_is_not_there_is_refused_and_nothing_of_another_tenant_is_told(jobs: ScheduleDesk) -> None:
    await refused_with(ErrorCode.NOT_FOUND, of(jobs, "t.unknown"))
    await refused_with(ErrorCode.NOT_FOUND, of(jobs, ABROAD))
    await refused_with(ErrorCode.NOT_FOUND, named(jobs, str(uuid.uuid4())))
    await refused_with(ErrorCode.NOT_FOUND, named(jobs, "no-id"))
    there = jobs.occurrence(ABROAD, jobs.now - MINUTE, tenant="globex")
    await refused_with(ErrorCode.NOT_FOUND, named(jobs, there))
    await refused_with(ErrorCode.PERMISSION_MISSING, occurrence_why(jobs.service, jobs.desk.actor("p.push"), there))
    await refused_with(ErrorCode.PERMISSION_MISSING, schedule_why(jobs.service, jobs.desk.actor("p.push"), MINUTELY))
