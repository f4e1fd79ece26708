"""The duty that carries recoveries out: row by row, each act with what is written of it, and nothing twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobcontract.acts import ReplayOrder
from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.store import duties as duty_rows
from jobservice.store import planning
from jobservice.store import recovering as store
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import Runnable
from jobservice.usecases import replays
from jobservice.worker.fenced import LeaseLost, give_back, take
from jobservice.worker.recovering import Recovering
from tests.conftest import Clock
from tests.occurrence_rows import Holder, completed
from tests.usecases.desk import once
from tests.usecases.recovery_desk import DAY, HOURLY, MONEY, NIGHT, NIGHTLY, recovery_desk
from tests.worker.recoveries_stage import FIRST, SECOND, RecoveryStage

HOUR = timedelta(hours=1)


@pytest.fixture
def stage(database: Database, worker_database: Database, people: Any) -> RecoveryStage:
    desk = recovery_desk(database, people)
    desk.planned()
    return RecoveryStage(desk=desk, database=worker_database)


async def test_rows_run_in_their_order_and_not_more_at_once_than_may(stage: RecoveryStage) -> None:
    desk = stage.desk.with_settings(recovery_at_once=2)
    for day in range(2):
        desk.dead(at=NIGHT + day * DAY)
    desk.dead(HOURLY)
    made = await desk.confirm(await desk.make())
    assert (made["state"], made["started_at"]) == ("applying", None)
    assert await stage.run() == {"begun": 2}
    assert [turn for _, turn, _ in stage.turns(made)] == ["running", "running", "not-started"]
    assert await stage.run() == {}
    assert await stage.complete(HOURLY) == 1
    assert await stage.run() == {"settled": 1, "begun": 1}
    assert [turn for _, turn, _ in stage.turns(made)] == ["done", "running", "running"]
    assert await stage.complete(NIGHTLY, most=1) == 1
    assert await stage.complete(NIGHTLY, most=1) == 1
    assert await stage.run() == {"settled": 2, "finished": 1}
    shown = (await desk.shown(made)).recovery
    assert (shown.state, [(each.turn, each.count) for each in shown.account]) == ("done", [("done", 3)])
    assert desk.rows("select count(*) from jobs.occurrences where recovery is not null") == [(0,)]
    assert (
        desk.rows("select replay, person, reason, recovery::text from jobs.occurrence_replays")
        == [(1, "o.lind", "A missed night", made["id"])] * 3
    )


async def stopped_at(stage: RecoveryStage, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Run the duty until that function of the store was called, and no further: as if the process was killed there."""

    class Killed(BaseException):
        """The process is gone."""

    called = getattr(store, where)

    async def killed(*given: Any, **named: Any) -> Any:
        await called(*given, **named)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(store, where, killed)
        with pytest.raises(Killed):
            await stage.run()


@pytest.mark.requirement("audit-manual-replay")
@pytest.mark.parametrize("where", ["next_row", "begin", "progress", "settle", "finish"])
async def test_killed_at_any_point_nothing_is_done_twice_and_nothing_lost(
    stage: RecoveryStage, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    desk = stage.desk
    desk.dead()
    desk.skipped(NIGHT + HOUR, NIGHT + HOUR, 1)
    made = await desk.confirm(await desk.make(skipped=True))
    if where in ("settle", "finish"):
        assert await stage.run() == {"begun": 2}
        assert await stage.complete() == 2
    await stopped_at(stage, monkeypatch, where)
    await stage.run(SECOND)
    await stage.complete()
    await stage.run()
    assert [turn for _, turn, _ in stage.turns(made)] == ["done", "done"]
    assert desk.rows("select replays, fence from jobs.occurrences order by scheduled_at") == [(1, 2), (0, 1)]
    assert desk.rows("select count(*) from jobs.occurrence_replays") == [(1,)]
    assert desk.rows("select count(*) from jobs.audit where action = 'replay-occurrence'") == [(2,)]
    assert desk.rows("select state from jobs.recoveries") == [("done",)]


async def test_a_worker_that_lost_the_duty_writes_nothing(stage: RecoveryStage) -> None:
    """A second Worker took over while the first was in the middle of its run: the fence shuts it out."""
    desk = stage.desk
    desk.dead()
    desk.dead(at=NIGHT + DAY)
    made = await desk.confirm(await desk.make())
    duty = Recovering(records=desk.service.records, deployment="test", proof=None)
    async with stage.database.transaction(None) as transaction:
        await duty_rows.add_duty(transaction, duty.name)
    late = await take(stage.database, duty, FIRST, woken=True)
    assert late is not None
    desk.one("update jobs.duties set expires_at = jobs.now() where name = %s returning 1", duty.name)
    assert await stage.run(SECOND) == {"begun": 2}
    with pytest.raises(LeaseLost):
        await duty.run_once(late)
    assert [turn for _, turn, _ in stage.turns(made)] == ["running", "running"]
    assert desk.rows("select replays from jobs.occurrences") == [(1,), (1,)]


async def test_two_workers_at_once_begin_each_row_once(stage: RecoveryStage) -> None:
    desk = stage.desk.with_settings(recovery_at_once=20)
    for hour in range(12):
        desk.dead(HOURLY, NIGHT + hour * HOUR)
    await desk.confirm(await desk.make())
    duty = Recovering(records=desk.service.records, deployment="test", proof=None)
    async with stage.database.transaction(None) as transaction:
        await duty_rows.add_duty(transaction, duty.name)

    async def one(holder: UUID) -> int:
        lease = await take(stage.database, duty, holder, woken=True)
        if lease is None:
            return 0
        begun = int((await duty.run_once(lease)).get("begun", 0))
        await give_back(lease, whole=True)
        return begun

    assert sum(await asyncio.gather(one(FIRST), one(SECOND))) == 12
    assert desk.rows("select distinct replays from jobs.occurrences") == [(1,)]


async def test_what_changed_since_it_was_confirmed_is_refused_and_named(stage: RecoveryStage) -> None:
    desk = stage.desk
    changed, gone, fine = desk.dead(), desk.dead(HOURLY), desk.dead(at=NIGHT + DAY)
    desk.skipped(NIGHT + HOUR, NIGHT + 2 * HOUR, 2)
    made = await desk.confirm(await desk.make(skipped=True))
    desk.one("update jobs.occurrences set version = 9 where id = %s returning 1", changed)
    desk.one("delete from jobs.occurrences where id = %s returning 1", gone)
    desk.hand.occurrence(HOURLY, NIGHT + HOUR)
    desk.one("update jobs.schedules set floor_at = %s where schedule = %s returning 1", NIGHT + 2 * HOUR, HOURLY)
    assert await stage.run() == {"begun": 5}
    turns = {name: (turn, sentence) for name, turn, sentence in stage.turns(made)}
    assert turns[f"{HOURLY}@2026-11-28T01:00:00Z"] == (
        "refused",
        f"{HOURLY}@2026-11-28T01:00:00Z is not there any more: retention removed it.",
    )
    assert turns[f"{NIGHTLY}@2026-11-28T01:00:00Z"][0] == "refused"
    assert turns[f"{HOURLY}@2026-11-28T02:00:00Z"] == (
        "refused",
        f"{HOURLY}@2026-11-28T02:00:00Z became an occurrence meanwhile: replay that.",
    )
    assert "lies before what retention has removed" in turns[f"{HOURLY}@2026-11-28T03:00:00Z"][1]
    assert turns[f"{NIGHTLY}@2026-11-29T01:00:00Z"][0] == "running"
    assert desk.rows("select replays from jobs.occurrences where id = %s", fine) == [(1,)]
    assert desk.rows("select replays from jobs.occurrences where id = %s", changed) == [(0,)]


async def test_an_instant_that_was_skipped_becomes_what_the_planner_would_have_written(stage: RecoveryStage) -> None:
    desk = stage.desk
    desk.skipped(NIGHT, NIGHT, 1)
    made = await desk.confirm(await desk.make(skipped=True))
    await stage.run()
    ((origin, zone, local, tzdata, lock, miss, due, recovery, identifier),) = desk.rows(
        "select origin, zone, local_time, tzdata, lock, miss_at, due_at <= jobs.now(), recovery::text, id::text"
        " from jobs.occurrences"
    )
    assert (origin, zone, local, lock, miss, due, recovery) == ("made-up", "UTC", None, HOURLY, None, True, made["id"])
    assert tzdata
    assert desk.rows("select occurrence::text from jobs.recovery_rows") == [(identifier,)]
    assert desk.rows(
        "select person, subject, detail ->> 'reason' from jobs.audit where action = 'replay-occurrence'"
    ) == [("o.lind", identifier, "A missed night")]
    await stage.complete(HOURLY)
    await stage.run()
    assert [(turn, sentence) for _, turn, sentence in stage.turns(made)] == [("done", "Completed.")]


async def test_a_changed_rhythm_is_not_run_at_instants_of_the_old_one(stage: RecoveryStage) -> None:
    desk = stage.desk
    desk.skipped(NIGHT, NIGHT, 1)
    made = await desk.confirm(await desk.make(skipped=True))
    records = desk.service.records
    later = replace(records.schedules[HOURLY], rhythm=records.schedules[MONEY].rhythm)
    await stage.run(records=replace(records, schedules={**records.schedules, HOURLY: later}))
    assert "is no instant of its rhythm any more" in stage.turns(made)[0][2]
    assert desk.rows("select count(*) from jobs.occurrences") == [(0,)]


async def test_dead_letters_are_discarded_and_schedules_disabled_each_in_the_name_of_who_confirmed(
    stage: RecoveryStage,
) -> None:
    desk = stage.desk.with_settings(recovery_at_once=1)
    dead_one, other = desk.dead(), desk.dead(HOURLY)
    discard = await desk.confirm(await desk.make("discard", reason="Known noise"))
    until = desk.hand.now + DAY
    disable = await desk.confirm(await desk.make("disable", schedules=(NIGHTLY, HOURLY), disable_until=until))
    desk.one("update jobs.schedules set version = 5, switched = 2 where schedule = %s returning 1", HOURLY)
    desk.one("update jobs.schedules set version = 7 where schedule = %s returning 1", NIGHTLY)  # it ran meanwhile
    assert await stage.run() == {"begun": 4, "finished": 2}
    assert [turn for _, turn, _ in stage.turns(discard)] == ["done", "done"]
    assert desk.rows(
        "select id::text, state, discarded_by, discard_reason from jobs.occurrences order by schedule"
    ) == [(other, "dead-letter", "o.lind", "Known noise"), (dead_one, "dead-letter", "o.lind", "Known noise")]
    assert [(name, turn) for name, turn, _ in stage.turns(disable)] == [(HOURLY, "refused"), (NIGHTLY, "done")]
    assert desk.rows(
        "select disabled_by, disabled_reason, disabled_until, version from jobs.schedules where disabled_at is not null"
    ) == [("o.lind", "A missed night", until, 8)]
    assert desk.rows("select action, person, subject from jobs.audit where action in ('disable-schedule')") == [
        ("disable-schedule", "o.lind", NIGHTLY)
    ]
    assert desk.rows("select count(*) from jobs.audit where action = 'finish-recovery'") == [(2,)]


async def test_nothing_begins_while_it_is_paused_and_what_has_begun_ends(stage: RecoveryStage) -> None:
    desk = stage.desk.with_settings(recovery_at_once=1)
    desk.dead()
    desk.dead(at=NIGHT + DAY)
    made = await desk.confirm(await desk.make())
    await stage.run()
    await desk.steer("pause", made)
    await stage.complete()
    assert await stage.run() == {"settled": 1}
    assert [turn for _, turn, _ in stage.turns(made)] == ["done", "not-started"]
    await desk.resume(made)
    assert await stage.run() == {"begun": 1}
    await desk.steer("abort", made)
    assert await stage.run() == {}
    assert [turn for _, turn, _ in stage.turns(made)] == ["done", "running"]
    await stage.complete()
    assert await stage.run() == {"settled": 1, "finished": 1}
    shown = (await desk.shown(made)).recovery
    assert (shown.state, [(each.turn, each.count) for each in shown.account]) == ("aborted", [("done", 2)])
    assert await stage.run() == {}


async def test_an_aborted_one_leaves_what_has_not_started_for_ever(stage: RecoveryStage) -> None:
    desk = stage.desk
    dead_one = desk.dead()
    made = await desk.confirm(await desk.make())
    await desk.steer("abort", made)
    assert await stage.run() == {"finished": 1}
    assert [turn for _, turn, _ in stage.turns(made)] == ["not-started"]
    again = await desk.make()
    assert [row.key for row in (await desk.shown(again)).rows] == [dead_one]


async def test_a_stopped_tenant_holds_turns_back_and_a_dead_letter_is_a_failed_row(stage: RecoveryStage) -> None:
    desk = stage.desk
    desk.dead()
    made = await desk.confirm(await desk.make())
    desk.one(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'tenant', 'acme', 'o.lind', 'x')"
        " returning 1"
    )
    assert await stage.run() == {}
    assert [turn for _, turn, _ in stage.turns(made)] == ["not-started"]
    desk.one("delete from jobs.stops returning 1")
    assert await stage.run() == {"begun": 1}
    holder = Holder(database=stage.database, runnable=Runnable(everywhere=(NIGHTLY,)))
    (taken,) = await holder.take()
    gone = replace(
        completed(taken),
        ending=AttemptEnding.FAILED,
        state=OccurrenceState.DEAD_LETTER,
        cause=DeadCause.FAILED,
        error="The bank is closed.",
    )
    await holder.settle(gone)
    assert await stage.run() == {"settled": 1, "finished": 1}
    ((_, turn, sentence),) = stage.turns(made)
    assert (turn, sentence) == ("failed", "The bank is closed.")


async def test_an_end_that_was_replayed_once_more_before_it_was_seen_counts_as_it_was(stage: RecoveryStage) -> None:
    """Somebody was quicker than the duty: how this recovery's replay ended is kept with the next one."""
    desk = stage.desk
    one = desk.dead()
    made = await desk.confirm(await desk.make())
    await stage.run()
    await stage.complete()
    version = desk.one("select version from jobs.occurrences where id = %s", one)
    order = ReplayOrder(reason="Once more", version=version)
    await replays.replay(desk.service, desk.actor("o.lind"), one, order, once())
    assert await stage.run() == {"settled": 1, "finished": 1}
    assert [turn for _, turn, _ in stage.turns(made)] == ["done"]
    assert desk.rows("select state, replays from jobs.occurrences") == [("scheduled", 2)]


async def test_an_open_one_expires_and_says_so_once(stage: RecoveryStage, clock: Clock) -> None:
    desk = stage.desk
    desk.dead()
    made = await desk.make()
    assert await stage.run() == {}
    clock.advance(1_801)
    duty = Recovering(records=desk.service.records, deployment="test", proof=None)
    assert await duty.wanted(stage.database, FIRST)
    assert await stage.run() == {"expired": 1}
    assert not await duty.wanted(stage.database, FIRST)
    shown = (await desk.shown(made)).recovery
    assert (shown.state, shown.why, shown.ended_by) == ("expired", "Nobody confirmed it in time.", None)
    assert desk.rows("select person, outcome from jobs.audit where action = 'expire-recovery'") == [(None, "done")]


async def test_the_planner_leaves_an_instant_alone_that_a_recovery_runs(stage: RecoveryStage) -> None:
    """Else it would merge it into a later one, or drop it as missed, and the recovery would wait for ever."""
    desk = stage.desk
    desk.skipped(NIGHT, NIGHT, 1)
    await desk.confirm(await desk.make(skipped=True))
    await stage.run()
    async with stage.database.transaction(None) as transaction:
        now = desk.hand.now
        assert await planning.waiting(transaction, [("acme", HOURLY)], now=now) == {}


async def test_a_confirmation_and_an_end_wake_the_duty(stage: RecoveryStage) -> None:
    desk = stage.desk
    desk.dead()
    made = await desk.make()
    with psycopg.connect(desk.hand.connection.info.dsn, autocommit=True) as listener:
        listener.execute("listen jobs_work")
        await desk.confirm(made)
        assert "recoveries" in {each.payload for each in listener.notifies(timeout=5, stop_after=1)}
        await stage.run()
        await stage.complete()
        payloads = {each.payload for each in listener.notifies(timeout=1)}
    assert "recoveries" in payloads


async def test_a_pause_that_comes_after_the_look_lets_nothing_begin(
    stage: RecoveryStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the duty looked up is old by the time it begins a row: the state is compared again under the lock."""
    desk = stage.desk
    desk.dead()
    made = await desk.confirm(await desk.make())
    look = store.due

    async def then_paused(*given: Any, **named: Any) -> Any:
        found = await look(*given, **named)
        if desk.one("select state from jobs.recoveries") == "applying":
            await desk.steer("pause", made)
        return found

    monkeypatch.setattr(store, "due", then_paused)
    assert await stage.run() == {}
    assert [turn for _, turn, _ in stage.turns(made)] == ["not-started"]
