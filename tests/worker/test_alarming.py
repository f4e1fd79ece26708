"""Alarms of each kind: found by looking over all tenants, opened once, kept while they last, over by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest
import structlog

from jobservice.rules.alarms import thresholds_of
from jobservice.store import duties as rows
from jobservice.store import planning
from jobservice.store.database import Database
from jobservice.worker.alarming import Alarming
from jobservice.worker.fenced import Lease, LeaseLost, take
from tests.conftest import Clock, People
from tests.occurrence_rows import OccurrenceRows
from tests.usecases.desk import SETTINGS

HOLDER = UUID(int=7)
Found = tuple[str, str, str, int, bool]


@dataclass(slots=True)
class Watch:
    """A Worker that looks, and what it wrote."""

    database: Database
    people: People
    clock: Clock
    given: OccurrenceRows
    duty: Alarming
    made: int = 0

    async def lease(self) -> Lease:
        """The duty's lease, taken anew."""
        self.run("update jobs.duties set holder = null, expires_at = null, finished_at = null")
        lease = await take(self.database, self.duty, HOLDER)
        assert lease is not None
        return lease

    async def look(self, after: float = 0.0) -> dict[str, int]:
        """One run of the duty, so many seconds later; what it did."""
        self.clock.advance(after)
        return dict(await self.duty.run_once(await self.lease()))

    def alarms(self) -> list[Found]:
        """Every alarm: tenant, kind, subject, count, whether it is open; the oldest first."""
        found = self.run(
            "select tenant, kind, subject, count, cleared_at is null from jobs.alarms order by opened_at, id"
        )
        return [tuple(row) for row in found]

    def open(self, kind: str) -> list[tuple[str, str, int]]:
        """The open ones of a kind: tenant, subject, count."""
        return [(tenant, subject, count) for tenant, one, subject, count, live in self.alarms() if live and one == kind]

    def run(self, query: str, *values: object) -> list[Any]:
        cursor = self.people.connection.execute(query.encode(), values)
        return cursor.fetchall() if cursor.description else []

    def dead(self, schedule: str = "s.one", *, tenant: str = "acme", ago: float = 0.0) -> UUID:
        """A dead letter that ended so many seconds ago."""
        self.given.schedule(schedule, tenant)
        self.made += 1
        ((one,),) = self.run(
            "insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at, state, cause, started_at,"
            " ended_at) select %s, %s, g.at - make_interval(secs => %s * 1e-6), 'test', %s, g.at, 'dead-letter', 'failed',"
            " g.at, g.at from (select jobs.now() - make_interval(secs => %s) as at) as g returning id",
            tenant,
            schedule,
            self.made,
            schedule,
            ago,
        )
        return UUID(str(one))


@pytest.fixture
async def watch(worker_database: Database, people: People, clock: Clock) -> Watch:
    """A Worker that knows the duty, with one that lives."""
    async with worker_database.transaction(None) as transaction:
        await rows.add_duty(transaction, "alarms")
    return Watch(
        database=worker_database,
        people=people,
        clock=clock,
        given=OccurrenceRows(people.connection),
        duty=Alarming(thresholds=thresholds_of(SETTINGS)),
    )


async def test_a_run_that_is_due_for_too_long_is_late_until_it_started_and_some_time_more(watch: Watch) -> None:
    first = watch.given.add("s.one", due=0)
    watch.given.add("s.one", due=0)
    watch.given.add("s.two", tenant="globex", due=30)
    assert await watch.look(after=119) == {}
    assert await watch.look(after=2) == {"opened": 1}
    assert watch.open("late") == [("acme", "s.one", 2)]
    assert await watch.look(after=30) == {"opened": 1}
    assert watch.open("late") == [("acme", "s.one", 2), ("globex", "s.two", 1)]
    watch.run("update jobs.occurrences set state = 'completed', ended_at = jobs.now() where tenant = 'globex'")
    watch.run(
        "update jobs.occurrences set cancel_asked_at = jobs.now(), cancelled_by = 'x', cancel_reason = 'x' where id = %s",
        first,
    )
    await watch.look(after=20)
    assert watch.open("late") == [("acme", "s.one", 1), ("globex", "s.two", 1)], "gone for a moment is not over"
    await watch.look(after=120)
    assert watch.open("late") == [("acme", "s.one", 1)]


async def test_what_waits_because_a_person_said_so_is_not_late(watch: Watch) -> None:
    watch.given.add("s.off", due=0)
    watch.given.add("s.one", tenant="globex", due=0)
    watch.run(
        "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'x',"
        " disabled_until = jobs.now() + interval '10 minutes' where schedule = 's.off'"
    )
    watch.run(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('globex', 'tenant', 'globex', 'g.fin', 'x')"
    )
    await watch.look(after=300)
    assert watch.open("late") == []
    await watch.look(after=301)
    assert watch.open("late") == [("acme", "s.off", 1)], "its time to be off is over"


async def test_missed_instants_are_an_alarm_for_a_while(watch: Watch) -> None:
    watch.given.schedule("s.one", "acme")
    for number, (policy, merged) in enumerate(
        (("misfire-skip", False), ("misfire-once", True), ("skipped-hour", False))
    ):
        watch.run(
            "insert into jobs.skipped_instants (tenant, schedule, first_at, last_at, count, policy, cause, zone, tzdata,"
            " merged_into) values ('acme', 's.one', jobs.now() - make_interval(hours => %s), jobs.now(), 4, %s, 'x.', 'UTC',"
            " 'x', case when %s then jobs.now() end)",
            number,
            policy,
            merged,
        )
    await watch.look()
    assert watch.open("missed") == [("acme", "s.one", 8)]
    ((sentence,),) = watch.run("select sentence from jobs.alarms")
    assert "4 skipped, 4 done by a later run" in sentence
    await watch.look(after=3_599)
    assert watch.open("missed")
    await watch.look(after=2)
    assert watch.open("missed") == []


async def test_a_schedule_that_cannot_be_computed_is_an_alarm_until_it_can(watch: Watch) -> None:
    watch.given.schedule("s.one", "acme")
    watch.given.schedule("s.gone", "acme")
    watch.run("update jobs.schedules set parked_at = jobs.now(), parked_reason = 'secret words'")
    watch.run("update jobs.schedules set retired_at = jobs.now() where schedule = 's.gone'")
    await watch.look()
    assert watch.open("parked") == [("acme", "s.one", 1)]
    assert "secret" not in watch.run("select sentence from jobs.alarms")[0][0]
    watch.run("update jobs.schedules set parked_at = null, parked_reason = null")
    await watch.look(after=5)
    assert watch.open("parked") == []


@pytest.mark.requirement("remove-occurrences-past-retention")
async def test_dead_letters_are_counted_by_schedule_and_alarmed_a_day_before_they_go(watch: Watch) -> None:
    keep = 30 * 86_400.0
    old = watch.dead(ago=keep - 86_400 - 60)
    watch.dead()
    watch.dead("s.two", tenant="globex")
    watch.run("update jobs.schedules set kept_seconds = %s", keep)
    await watch.look()
    assert watch.open("dead-letter") == [("acme", "s.one", 2), ("globex", "s.two", 1)]
    assert watch.open("leaving") == []
    await watch.look(after=120)
    assert watch.open("leaving") == [("acme", "s.one", 1)]
    watch.run(
        "update jobs.occurrences set discarded_at = jobs.now(), discarded_by = 'o.lind', discard_reason = 'x' where id = %s",
        old,
    )
    await watch.look(after=5)
    assert watch.open("leaving") == []
    assert watch.open("dead-letter") == [("acme", "s.one", 1), ("globex", "s.two", 1)]
    watch.run(
        "update jobs.occurrences set state = 'scheduled', cause = null, ended_at = null where tenant = 'acme'"
        " and discarded_at is null"
    )
    await watch.look(after=5)
    assert watch.open("dead-letter") == [("globex", "s.two", 1)]


async def test_far_more_failures_than_as_a_rule_are_a_spike(watch: Watch) -> None:
    for _ in range(6):
        watch.dead(ago=60)
    for _ in range(3):
        watch.run("update jobs.occurrences set attempts = 1 where id = %s", watch.given.add("s.one", due=3_600))
    for number in range(12):
        watch.dead("s.often", ago=60)
        for back in range(5):
            watch.dead("s.often", ago=7_200 + 60 * number + back)
    await watch.look()
    assert watch.open("spike") == [], "nine are too few; the other fails as ever"
    watch.dead(ago=30)
    await watch.look(after=5)
    assert watch.open("spike") == [("acme", "s.one", 10)]
    await watch.look(after=3_600)
    await watch.look(after=120)
    assert watch.open("spike") == []


async def test_a_worker_that_fell_silent_is_missing_in_every_tenant_until_another_is_started(watch: Watch) -> None:
    gone = watch.given.worker("h1")
    for stops in ("stopped_at", "draining_at"):
        watch.run(f"update jobs.workers set {stops} = jobs.now() where incarnation = %s", watch.given.worker("h2"))
    assert await watch.look(after=59) == {}
    await watch.look(after=2)
    assert watch.open("worker-missing") == [("acme", str(gone), 1), ("globex", str(gone), 1)]
    watch.given.worker("h3")
    await watch.look(after=5)
    assert len(watch.open("worker-missing")) == 2
    watch.run("update jobs.workers set beat_at = jobs.now() + interval '115 s' where host = 'h3'")
    await watch.look(after=120)
    assert watch.open("worker-missing") == []


async def test_every_stop_is_an_alarm_until_it_is_lifted(watch: Watch) -> None:
    watch.run(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'queue', 'p.q', 'o.lind', 'secret words'),"
        " ('acme', 'bulk-command', 'p.b', 'o.lind', 'x'), ('acme', 'tenant', 'acme', 'o.lind', 'x')"
    )
    watch.run("update jobs.money_switches set stopped = true, at = jobs.now(), reason = 'x' where tenant = 'globex'")
    await watch.look()
    assert sorted(watch.open("stopped")) == [
        ("acme", "acme", 1),
        ("acme", "p.b", 1),
        ("acme", "p.q", 1),
        ("globex", "money", 1),
    ]
    ((sentence,),) = watch.run("select sentence from jobs.alarms where subject = 'p.q'")
    assert "by o.lind" in sentence
    assert "secret" not in sentence
    watch.run("delete from jobs.stops where name = 'p.q'")
    await watch.look(after=1)
    assert len(watch.open("stopped")) == 3


async def test_it_opens_once_stays_acknowledged_while_it_lasts_and_opens_anew_after_it_was_over(watch: Watch) -> None:
    one = watch.dead()
    assert await watch.look() == {"opened": 1}
    watch.run("update jobs.alarms set acknowledged_at = jobs.now(), acknowledged_by = 'o.lind', note = 'On it'")
    watch.dead()
    assert await watch.look(after=5) == {}
    assert watch.alarms() == [("acme", "dead-letter", "s.one", 2, True)]
    ((note, version),) = watch.run("select note, version from jobs.alarms")
    assert (note, version) == ("On it", 2), "the version rises where people see a difference"
    assert await watch.look(after=5) == {}
    assert watch.run("select version from jobs.alarms") == [(2,)]
    watch.run("delete from jobs.occurrences")
    assert await watch.look(after=5) == {"cleared": 1}
    watch.dead("s.one")
    assert await watch.look(after=5) == {"opened": 1}
    assert [(live, count) for *_, count, live in watch.alarms()] == [(False, 2), (True, 1)]
    assert watch.run("select acknowledged_at is null from jobs.alarms where cleared_at is null") == [(True,)]
    del one


async def test_those_who_look_are_told_the_log_says_it_and_the_figures_are_kept(watch: Watch) -> None:
    watch.dead()
    watch.given.schedule("s.two", "acme")
    watch.run("update jobs.schedules set parked_at = jobs.now(), parked_reason = 'x' where schedule = 's.two'")
    with structlog.testing.capture_logs() as logs:
        await watch.look()
    said = [(line["kind"], line["subject"], line["alarm"]) for line in logs if line["event"] == "alarm-opened"]
    assert sorted(said) == [("dead-letter", "s.one", True), ("parked", "s.two", True)]
    assert watch.run("select tenant, topic, ref from jobs.hints") == [("acme", "alarms", "alarms")]
    async with watch.database.transaction(None) as transaction:
        figures = await planning.figures(transaction)
    assert (figures["alarms-open.dead-letter"], figures["alarms-open.late"], figures["alarms-unacknowledged"]) == (
        1,
        0,
        2,
    )
    from jobservice.api.metrics import Metrics

    text = Metrics(dict, lambda: 0).text(figures).decode()
    assert 'jobs_alarms_open{kind="parked"} 1.0' in text
    assert 'jobs_alarms_open{kind="worker-missing"} 0.0' in text
    assert "jobs_alarms_unacknowledged 2.0" in text


async def test_a_worker_that_lost_its_lease_writes_nothing(watch: Watch) -> None:
    watch.dead()
    lease = await watch.lease()
    watch.run("update jobs.duties set fence = fence + 1, holder = %s where name = 'alarms'", UUID(int=9))
    with pytest.raises(LeaseLost):
        await watch.duty.run_once(lease)
    assert watch.alarms() == []


async def test_nothing_is_told_where_no_webhook_is_set_and_all_is_where_one_is(watch: Watch) -> None:
    watch.dead()
    await watch.look()
    watch.duty = Alarming(thresholds=thresholds_of(SETTINGS), tells=True)
    watch.dead("s.two")
    with psycopg.connect(watch.people.connection.info.dsn, autocommit=True) as listener:
        listener.execute("listen jobs_work")
        await watch.look(after=5)
        heard = {note.payload for note in listener.notifies(timeout=2, stop_after=1)}
    assert heard == {"alarms"}
    assert watch.run("select subject, told, telling, tell_at is not null from jobs.alarms order by subject") == [
        ("s.one", "nobody", None, False),
        ("s.two", "waiting", "opened", True),
    ]
