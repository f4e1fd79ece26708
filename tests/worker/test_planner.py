"""The planner: occurrences ahead of their time, each once, whoever plans; downtime, pauses, edits, changes of the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import psycopg
import pytest
import structlog

from jobcontract.states import MisfirePolicy, Repeated, SkipPolicy
from jobservice.rules import rhythms
from jobservice.store.database import Database
from jobservice.worker.fenced import LeaseLost, take
from tests.conftest import Clock, People
from tests.schedules import EACH, ONCE, SKIP, at, cron, every, misfire, schedule
from tests.worker.planners import CLAIMABLE, FIRST, SECOND, Ground, planner

NIGHTLY = cron("0 2 * * *")
HOURLY = cron("0 * * * *")


@pytest.fixture
def ground(worker_database: Database, people: People, clock: Clock) -> Ground:
    """acme and globex, and nothing planned yet."""
    return Ground(database=worker_database, superuser=people.connection, clock=clock)


@pytest.mark.requirement(
    "derive-stable-occurrence-identity", "scope-occurrences-and-leases-by-tenant", "define-misfire-recovery"
)
async def test_every_record_is_planned_ahead_in_every_tenant(ground: Ground) -> None:
    ground.go("2026-10-24T23:00:10")
    statements = schedule("statements", cron("30 1 * * *", "Europe/London"), lock="books", tenants=frozenset({"acme"}))
    duty = planner(statements, schedule("pulse", every(60, at("2026-01-01T00:00"))), schedule("by-hand", None))
    assert await ground.run(duty) == {"added": 5, "planned": 3}
    where = "order by tenant, schedule, scheduled_at"
    columns = "tenant, schedule, scheduled_at, due_at, miss_at, zone, local_time, clock, lock, origin, state, attempts"
    minute = at("2026-10-24T23:01")
    after = minute + timedelta(seconds=60)
    first = at("2026-10-25T00:30")
    local = datetime(2026, 10, 25, 1, 30)  # noqa: DTZ001  # a wall clock
    same = ("planned", "scheduled", 0)
    assert ground.rows(columns, "occurrences", where) == [
        ("acme", "pulse", minute, minute, after, "UTC", None, None, "pulse", *same),
        (
            *("acme", "statements", first, first, first + timedelta(seconds=60)),
            *("Europe/London", local, "first", "books", *same),
        ),
        ("globex", "pulse", minute, minute, after, "UTC", None, None, "pulse", *same),
    ]
    assert {each for (each,) in ground.rows("tzdata", "occurrences")} == {rhythms.tzdata_version()}
    assert ground.rows("tenant, next_at, look_at, parked_at", "schedules", "where schedule = 'by-hand'") == [
        (tenant, None, None, None) for tenant in ("acme", "globex")
    ]
    assert await ground.run(duty) == {}, "a second look has nothing to do"
    ground.go("2026-10-24T23:01:20")
    assert (await ground.run(duty))["planned"] == 2, "the next minute, of both tenants, and not the next day"
    assert ground.rows("schedule, last_scheduled_at", "schedules", "where tenant = 'globex' order by 1") == [
        ("by-hand", None),
        ("pulse", minute),
    ]


@pytest.mark.requirement("derive-stable-occurrence-identity")
async def test_what_is_planned_again_is_what_it_was(ground: Ground) -> None:
    """Whatever made somebody plan a stretch twice: one identity is one row, in whatever state it is by then."""
    ground.go("2026-03-10T09:59:00")
    duty = planner(schedule("pulse", every(60), misfire(MisfirePolicy.EACH_INTERVAL, after=600.0)))
    await ground.run(duty)
    ground.go("2026-03-10T10:00:01")
    assert len(ground.complete("pulse")) == 2
    before = ground.rows("id, state, fence", "occurrences", "order by id")
    ground.superuser.execute(
        "update jobs.schedules set planned_until = %s, look_at = jobs.now()", (at("2026-03-10T09:59"),)
    )
    await ground.run(planner(*duty.schedules.values()), SECOND)
    assert [row for row in ground.rows("id, state, fence", "occurrences", "order by id") if row in before] == before
    assert len(set(ground.occurrences("pulse"))) == len(ground.occurrences("pulse"))
    with pytest.raises(psycopg.errors.UniqueViolation):
        ground.superuser.execute(
            "insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)"
            " select tenant, schedule, scheduled_at, tzdata, lock, due_at from jobs.occurrences limit 1"
        )


POLICIES = {"skip": SKIP, "once": ONCE, "each": EACH}
DAYS = [at("2026-03-10T02:00"), at("2026-03-11T02:00")]


@pytest.mark.requirement("TIME-06", "define-misfire-recovery")
async def test_a_resumed_schedule_does_what_its_policy_says_and_nothing_runs_before(ground: Ground) -> None:
    """Paused at 01:00, resumed the next day at 07:49; time disabled counts as downtime."""
    ground.go("2026-03-09T12:00:00")
    duty = planner(*(schedule(name, NIGHTLY, policy, tenants=frozenset({"acme"})) for name, policy in POLICIES.items()))
    await ground.run(duty)
    ground.go("2026-03-10T01:00:00")
    with psycopg.connect(ground.superuser.info.dsn, autocommit=True) as listener:
        listener.execute("listen jobs_work")
        ground.disable(POLICIES)
        assert "schedules" in {told.payload for told in listener.notifies(timeout=5, stop_after=1)}
    assert (await ground.run(duty))["taken_back"] == 3
    for tick in ("2026-03-10T02:00:05", "2026-03-11T02:00:05"):
        ground.go(tick)
        await ground.run(duty)
        assert ground.rows("scheduled_at", "occurrences") == []
    ground.go("2026-03-11T07:49:00")
    ground.enable()
    await ground.run(duty)
    await ground.run(duty, SECOND)
    ran = {name: ground.complete(name) for name in POLICIES}
    assert ran == {"skip": [], "once": DAYS[1:], "each": DAYS}
    assert ground.skips("skip") == [(*DAYS, 2, "misfire-skip", None)]
    assert ground.skips("once") == [(DAYS[0], DAYS[0], 1, "misfire-once", DAYS[1])]
    assert ground.skips("each") == []
    assert {each for (each,) in ground.rows("next_at", "schedules")} == {at("2026-03-12T02:00")}
    assert {each for (each,) in ground.rows("origin", "occurrences", "where state = 'completed'")} == {"made-up"}


@pytest.mark.requirement("TIME-06")
async def test_what_is_due_when_it_is_disabled_starts_no_more(ground: Ground) -> None:
    ground.go("2026-03-10T09:59:50")
    duty = planner(schedule("hourly", HOURLY, misfire(MisfirePolicy.ONCE, after=600.0), tenants=frozenset({"acme"})))
    await ground.run(duty)
    ground.go("2026-03-10T10:00:01")
    ground.disable(["hourly"])
    await ground.run(duty)
    assert ground.rows("scheduled_at", "occurrences", f"where {CLAIMABLE}") == []
    ground.go("2026-03-10T10:01:00")
    ground.enable()
    await ground.run(duty)
    assert ground.complete("hourly") == [at("2026-03-10T10:00")], "not missed yet, so it simply runs"
    ground.go("2026-03-10T12:30:00")
    ground.superuser.execute(
        "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'until one',"
        " disabled_until = '2026-03-10T13:00Z'"
    )
    await ground.run(duty)
    assert ground.rows("look_at", "schedules") == [(at("2026-03-10T13:00"),)]
    ground.go("2026-03-10T13:00:01")
    await ground.run(duty)
    assert ground.complete("hourly") == [at("2026-03-10T12:00"), at("2026-03-10T13:00")], "it came to its end by itself"


@pytest.mark.requirement("TIME-08")
async def test_saving_a_schedule_unchanged_loses_nothing_that_was_due(ground: Ground) -> None:
    """The Workers are stopped; at 10:00:05 the description changes; one starts at 10:01."""
    ground.go("2026-03-10T09:30:00")
    late = misfire(MisfirePolicy.SKIP, after=300.0)
    hourly = schedule("hourly", HOURLY, late)
    phased = schedule("phased", every(3_600, at("2026-01-01T00:00")), late)
    await ground.run(planner(hourly, phased))
    ground.go("2026-03-10T10:01:00")
    anew = planner(replace(hourly, title="Hourly, said better"), replace(phased, title="Phased, said better"))
    assert "taken_back" not in await ground.run(anew)
    for name in ("hourly", "phased"):
        assert ground.complete(name) == [at("2026-03-10T10:00")] * 2, "of both tenants, once"
        assert ground.occurrences(name) == [at("2026-03-10T10:00"), at("2026-03-10T11:00")]
    edited = planner(replace(hourly, rhythm=cron("20 * * * *")), phased)
    ground.go("2026-03-10T11:00:02")
    done = await ground.run(edited)
    assert done["planned"] >= 2
    assert ground.occurrences("hourly") == [at(f"2026-03-10T{each}") for each in ("10:00", "11:00", "11:20")]
    assert ground.complete("hourly") == [at("2026-03-10T11:00")] * 2, "it was due before the edit"
    assert ground.rows("next_at", "schedules", "where schedule = 'hourly'") == [(at("2026-03-10T11:20"),)] * 2


@pytest.mark.requirement("TIME-12")
async def test_a_run_by_hand_moves_no_rhythm(ground: Ground) -> None:
    ground.go("2026-01-06T01:00:01")
    duty = planner(schedule("daily", every(86_400, at("2026-01-05T01:00")), tenants=frozenset({"acme"})))
    await ground.run(duty)
    ground.go("2026-01-06T11:30:00")
    ground.superuser.execute(
        "insert into jobs.occurrences (tenant, schedule, scheduled_at, origin, tzdata, lock, due_at)"
        " values ('acme', 'daily', jobs.now(), 'manual', '2026a', 'daily', jobs.now())"
    )
    await ground.run(duty)
    assert [each for each in ground.occurrences("daily") if each.minute == 0] == [at("2026-01-07T01:00")]
    ground.go("2026-01-06T13:00:00")
    await ground.run(duty)
    assert len(ground.complete("daily")) == 1, "what a person started is never missed"


@pytest.mark.requirement("TIME-02", "test-time-transitions", "define-business-local-clock-behavior")
async def test_the_hour_that_comes_twice_with_two_planners(ground: Ground) -> None:
    """30 1 * * * in New York from 05:00Z to 07:00Z on 2 November 2025; one planner is started anew in between."""
    made = {
        name: schedule(name, cron("30 1 * * *", "America/New_York", repeated=each), tenants=frozenset({"acme"}))
        for name, each in (("first", Repeated.FIRST), ("second", Repeated.SECOND), ("both", Repeated.BOTH))
    }
    ground.go("2025-11-02T05:00:00")
    duties = {FIRST: planner(*made.values()), SECOND: planner(*made.values())}
    ran: dict[str, list[datetime]] = {name: [] for name in made}
    for minute in range(0, 125, 5):
        holder = (FIRST, SECOND)[minute // 5 % 2]
        ground.go(f"2025-11-02T{5 + minute // 60:02}:{minute % 60:02}:01")
        if minute == 60:
            duties[holder] = planner(*made.values())
        await ground.run(duties[holder], holder)
        for name in made:
            ran[name] += ground.complete(name)
    early, late = at("2025-11-02T05:30"), at("2025-11-02T06:30")
    assert ran == {"first": [early], "second": [late], "both": [early, late]}
    assert [ground.skips(name) for name in made] == [
        [(late, late, 1, SkipPolicy.REPEATED_HOUR.value, None)],
        [(early, early, 1, SkipPolicy.REPEATED_HOUR.value, None)],
        [],
    ]
    where = "where schedule = 'both' and state = 'completed' order by scheduled_at"
    half_past = datetime(2025, 11, 2, 1, 30)  # noqa: DTZ001  # a wall clock
    assert ground.rows("local_time, clock, clock_policy, zone, tzdata", "occurrences", where) == [
        (half_past, each, "skip, both", "America/New_York", rhythms.tzdata_version()) for each in ("first", "second")
    ]
    assert {ground.occurrences(name)[-1] for name in made} == {at("2025-11-03T06:30")}


@pytest.mark.requirement("define-misfire-recovery")
async def test_downtime_leaves_one_row_a_run_of_skips(ground: Ground) -> None:
    ground.go("2026-03-10T10:00:30")
    duty = planner(
        *(schedule(name, every(60), policy, tenants=frozenset({"acme"})) for name, policy in POLICIES.items()),
    )
    await ground.run(duty)
    ground.go("2026-03-10T12:00:30")
    await ground.run(planner(*duty.schedules.values()), SECOND)
    first, newest = at("2026-03-10T10:01"), at("2026-03-10T11:59")
    assert ground.skips("skip") == [(first, newest, 119, "misfire-skip", None)]
    assert ground.skips("once") == [(first, at("2026-03-10T11:58"), 118, "misfire-once", newest)]
    assert ground.skips("each") == [(first, at("2026-03-10T11:57"), 117, "misfire-each-interval", None)]
    assert ground.complete("once") == [newest, at("2026-03-10T12:00")]
    assert ground.complete("each") == [at("2026-03-10T11:58"), newest, at("2026-03-10T12:00")]


@pytest.mark.requirement("define-misfire-recovery")
async def test_what_waits_behind_its_lock_is_missed_and_once_still_runs_once(ground: Ground) -> None:
    """The lock is held, nobody can start: each minute one more is missed, and one run is made up for all of them."""
    ground.go("2026-03-10T10:00:30")
    duty = planner(schedule("stuck", every(60), ONCE, tenants=frozenset({"acme"})))
    for minute in range(5):
        ground.go(f"2026-03-10T10:0{minute}:30")
        await ground.run(duty)
    assert ground.rows("origin, scheduled_at", "occurrences", "where miss_at is null") == [
        ("made-up", at("2026-03-10T10:03"))
    ]
    ran = at("2026-03-10T10:03")
    assert ground.skips("stuck") == [(at("2026-03-10T10:01"), at("2026-03-10T10:02"), 2, "misfire-once", ran)], (
        "one run of skips that grew, merged into what runs in the end"
    )
    started = "update jobs.occurrences set attempts = 1, fence = 1, state = 'scheduled' where scheduled_at = %s"
    ground.superuser.execute(started, (ran,))
    ground.go("2026-03-10T10:20:30")
    await ground.run(duty)
    assert ran in ground.occurrences("stuck"), "what was started once is never missed"


async def test_a_row_that_is_being_claimed_is_not_waited_for(ground: Ground) -> None:
    ground.go("2026-03-10T10:00:30")
    duty = planner(schedule("busy", every(60), SKIP, tenants=frozenset({"acme"})))
    await ground.run(duty)
    ground.go("2026-03-10T10:02:30")
    with psycopg.connect(ground.superuser.info.dsn) as claimer:
        claimer.execute("select from jobs.occurrences where scheduled_at = %s for update", (at("2026-03-10T10:01"),))
        await ground.run(duty)
        assert at("2026-03-10T10:01") in ground.occurrences("busy")
    await ground.run(duty)
    assert at("2026-03-10T10:01") not in ground.occurrences("busy")


async def test_one_that_cannot_be_computed_is_parked_and_the_others_go_on(ground: Ground) -> None:
    ground.go("2026-03-10T09:59:00")
    broken = schedule("broken", cron("0 * * * *", "Mars/Olympus"))
    duty = planner(broken, schedule("well", HOURLY), batch=1)
    with structlog.testing.capture_logs() as logs:
        await ground.run(duty)
        await ground.run(duty)
    parked = [each for each in logs if each["event"] == "schedule-parked"]
    assert [(each["schedule"], each["alarm"]) for each in parked] == [("broken", True)], "one line for two tenants"
    assert ground.occurrences("well") == [at("2026-03-10T10:00")]
    ((since, why, version),) = ground.rows(
        "parked_at, parked_reason, version", "schedules", "where schedule = 'broken' and tenant = 'acme'"
    )
    assert "Mars/Olympus" in why
    assert ground.rows("value", "figures", "where name = 'schedules-parked'") == [(2,)]
    ground.go("2026-03-10T10:30:00")
    await ground.run(planner(broken, schedule("well", HOURLY)))
    again = ground.rows("parked_at, version", "schedules", "where schedule = 'broken' and tenant = 'acme'")
    assert again == [(since, version + 1)], "tried again at a start, and parked since the first time"
    with structlog.testing.capture_logs() as logs:
        await ground.run(planner(schedule("broken", HOURLY, EACH), schedule("well", HOURLY)))
    assert "schedule-computed-again" in {each["event"] for each in logs}
    assert ground.rows("parked_at", "schedules", "where schedule = 'broken'") == [(None,), (None,)]
    assert ground.occurrences("broken") == [at("2026-03-10T10:00"), at("2026-03-10T11:00")], "parked was down"


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_records_and_tenants_come_and_go(ground: Ground) -> None:
    ground.go("2026-03-10T09:59:50")
    hourly, daily = schedule("hourly", HOURLY), schedule("daily", NIGHTLY)
    await ground.run(planner(hourly, daily))
    ground.go("2026-03-10T10:05:00")
    without = planner(daily)
    assert (await ground.run(without))["retired"] == 2
    assert ground.occurrences("hourly") == [at("2026-03-10T10:00")], "what is due stays, and what was to come goes"
    assert (
        ground.rows("scheduled_at", "occurrences", f"where schedule = 'hourly' and {CLAIMABLE}")
        == [(at("2026-03-10T10:00"),)] * 2
    ), "whoever takes it ends it as what cannot be run"
    ground.superuser.execute("insert into jobs.tenants (id, name) values ('initech', 'Initech')")
    assert await ground.run(without) == {"added": 1, "planned": 1}
    assert ground.occurrences("daily", "initech") == [at("2026-03-11T02:00")]
    ground.go("2026-03-10T13:30:00")
    await ground.run(planner(hourly, replace(daily, tenants=frozenset({"acme"}))))
    assert ground.occurrences("hourly")[1:] == [at("2026-03-10T14:00")], "it was not scheduled while it was gone"
    assert ground.occurrences("daily", "globex") == []
    assert ground.occurrences("daily") == [at("2026-03-11T02:00")]


async def test_people_are_told_each_schedule_or_once_a_tenant(ground: Ground) -> None:
    ground.go("2026-03-10T09:59:00")
    alone = schedule("alone", HOURLY, tenants=frozenset({"globex"}))
    await ground.run(planner(alone, *(schedule(f"s-{each}", HOURLY, tenants=frozenset({"acme"})) for each in range(4))))
    assert ground.rows("tenant, topic, ref", "hints", "order by tenant") == [
        ("acme", "schedules", "schedules"),
        ("globex", "schedule", "alone"),
    ]


async def test_a_lost_lease_plans_nothing(ground: Ground) -> None:
    ground.go("2026-03-10T09:59:00")
    duty = planner(schedule("hourly", HOURLY))
    await ground.run(duty)
    before = ground.rows("*", "schedules", "order by tenant")
    lease = await take(ground.database, duty, FIRST, woken=True)
    assert lease is not None
    ground.go("2026-03-10T10:30:30")
    assert await take(ground.database, duty, SECOND, woken=True) is not None
    with pytest.raises(LeaseLost):
        await duty.run_once(lease)
    assert ground.rows("*", "schedules", "order by tenant") == before


@pytest.mark.requirement("persist-occurrence-recovery-points")
async def test_times_survive_a_restart(ground: Ground) -> None:
    ground.go("2026-03-10T09:59:00")
    hourly = schedule("hourly", HOURLY, tenants=frozenset({"acme"}))
    await ground.run(planner(hourly))
    ground.go("2026-03-10T10:00:40")
    ground.complete("hourly")
    await ground.run(planner(hourly))
    ground.superuser.execute("delete from jobs.occurrences where state = 'completed'")
    ground.go("2026-03-10T10:40:00")
    await ground.run(planner(hourly), SECOND)
    columns = "last_scheduled_at, next_at, planned_until, look_at"
    assert ground.rows(columns, "schedules") == [
        (at("2026-03-10T10:00"), at("2026-03-10T11:00"), at("2026-03-10T11:00"), at("2026-03-10T11:00:30"))
    ]
    ground.go("2026-03-10T11:00:40")
    await ground.run(planner(hourly), SECOND)
    assert ground.rows("last_scheduled_at", "schedules") == [(at("2026-03-10T11:00"),)], "and go on from there"


async def test_only_the_worker_that_started_last_compares_again(ground: Ground) -> None:
    """Versions are exchanged: the older Worker must not undo what the newer one made of its records."""
    ground.go("2026-03-10T09:59:00")
    old, new = planner(schedule("hourly", HOURLY)), planner(schedule("hourly", HOURLY), schedule("added", NIGHTLY))
    for holder in (FIRST, SECOND):
        ground.superuser.execute(
            "insert into jobs.workers (incarnation, version, host) values (%s, '1', 'here')", (holder,)
        )
    await ground.run(old, FIRST)
    await ground.run(new, SECOND)
    old._compare_again = new._compare_again = 0.0
    assert await ground.run(old, FIRST) == {}
    assert ground.rows("retired_at", "schedules", "where schedule = 'added'") == [(None,), (None,)]
    ground.superuser.execute("update jobs.workers set stopped_at = jobs.now() where incarnation = %s", (SECOND,))
    old._compare_again = 0.0
    assert (await ground.run(old, FIRST))["retired"] == 2
