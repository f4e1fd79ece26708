"""Recoveries that move money: the duty runs what a person confirmed with a code, and nothing that was written past that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobcontract.operating import TimelineKind
from jobservice.rules.keys import PublicKeys
from jobservice.store.database import Database
from jobservice.usecases.timeline import AskedTimeline, read_timeline
from tests.usecases.desk import RELEASE_MANY
from tests.usecases.recovery_desk import DAY, MONEY, NIGHT, recovery_desk
from tests.worker.recoveries_stage import FIRST, RecoveryStage

pytestmark = pytest.mark.requirement("MONEY-1", "MONEY-19")


@pytest.fixture
def stage(database: Database, worker_database: Database, people: Any) -> RecoveryStage:
    desk = recovery_desk(database, people)
    desk.planned()
    return RecoveryStage(desk=desk, database=worker_database)


async def test_what_moves_money_runs_only_under_a_signature_that_holds(stage: RecoveryStage) -> None:
    desk = stage.desk.with_settings(recovery_at_once=1)
    one = desk.dead(MONEY)
    desk.dead(MONEY, NIGHT + DAY)
    made = await desk.confirm(await desk.make(person="m.ito"), "m.ito", code=desk.money.code())
    assert await stage.run() == {"begun": 1}
    assert desk.rows("select replays, recovery::text from jobs.occurrences where id = %s", one) == [(1, made["id"])]
    assert await stage.proves(made, one)
    assert not await stage.proves(made, str(FIRST))
    assert not await stage.proves(made, one, keys=PublicKeys(keys={}))
    await stage.complete(MONEY)
    desk.one("update jobs.recovery_rows set row_version = 2 where number = 2 returning 1")
    desk.one("update jobs.occurrences set version = 2 where scheduled_at = %s returning 1", NIGHT + DAY)
    assert await stage.run() == {"settled": 1}
    read = await desk.shown(made)
    shown, now = read.recovery, read.now
    assert shown.state == "paused"
    assert (shown.why or "").startswith(
        f"Row 2, {MONEY}@2026-11-29T01:00:00Z, is not as it was confirmed. Somebody wrote"
    )
    assert desk.rows("select sum(replays) from jobs.occurrences") == [(1,)]
    asked = AskedTimeline(since=now - DAY, until=now + DAY, kinds=frozenset({TimelineKind.RECOVERY}), limit=50)
    told = [each.sentence for each in (await read_timeline(desk.service, desk.actor("o.lind"), asked, None)).entries]
    assert any("The service paused it: Row 2, " in each for each in told)


@pytest.mark.requirement("MONEY-20")
@pytest.mark.parametrize(
    ("stop", "lift"),
    [
        (
            "update jobs.money_switches set stopped = true, at = jobs.now(), by = 'k.rao', reason = 'A fraud'",
            "update jobs.money_switches set stopped = false, at = null, by = null, reason = null",
        ),
        (
            "insert into jobs.stops (tenant, scope, name, by, reason) values"
            f" ('acme', 'bulk-command', '{RELEASE_MANY}', 'k.rao', 'A fraud')",
            "delete from jobs.stops",
        ),
    ],
    ids=["money", "command"],
)
async def test_while_what_it_moves_is_stopped_nothing_begins_and_counts_as_done(
    stage: RecoveryStage, stop: str, lift: str
) -> None:
    desk = stage.desk
    desk.dead(MONEY)
    made = await desk.confirm(await desk.make(person="m.ito"), "m.ito", code=desk.money.code())
    desk.hand.connection.execute(stop)
    assert await stage.run() == {}
    assert [turn for _, turn, _ in stage.turns(made)] == ["not-started"]
    desk.hand.connection.execute(lift)
    assert await stage.run() == {"begun": 1}


@pytest.mark.parametrize(
    "forged",
    [
        "update jobs.recoveries set signature = %s",
        "update jobs.recoveries set reason = 'Other' where %s is not null",
        "update jobs.recoveries set count = 2 where %s is not null",
        'update jobs.recoveries set money = \'[{"currency": "GBP", "exponent": 2, "out_minor": 1, "count": 1}]\''
        " where %s is not null",
        "update jobs.recoveries set owner = 'k.rao' where %s is not null",
        "update jobs.recoveries set money = '[{}]' where %s is not null",
        "update jobs.recovery_rows set name = 'x' where %s is not null",
        "update jobs.recovery_rows set key = 'x' where %s is not null",
        "delete from jobs.recovery_rows where %s is not null",
    ],
)
async def test_a_row_written_past_the_service_runs_nothing(stage: RecoveryStage, forged: str) -> None:
    desk = stage.desk
    one = desk.dead(MONEY)
    made = await desk.confirm(await desk.make(person="m.ito"), "m.ito", code=desk.money.code())
    desk.hand.connection.execute(forged, (bytes(64),))
    await stage.run()
    assert desk.rows("select sum(replays) from jobs.occurrences") == [(0,)]
    state = desk.one("select state from jobs.recoveries where id = %s", made["id"])
    assert state == "paused"
    assert not await stage.proves(made, one)


async def test_without_public_keys_no_money_runs(stage: RecoveryStage) -> None:
    desk = stage.desk
    desk.dead(MONEY)
    made = await desk.confirm(await desk.make(person="m.ito"), "m.ito", code=desk.money.code())
    stage.proof = None
    assert await stage.run() == {}
    assert (await desk.shown(made)).recovery.state == "paused"


OTHER_OCCURRENCE = (
    "update jobs.recovery_rows set occurrence = (select id from jobs.occurrences where scheduled_at = %s)"
)


async def test_a_row_that_was_turned_to_another_run_runs_neither(stage: RecoveryStage) -> None:
    desk = stage.desk
    one, other = desk.dead(MONEY), desk.dead(MONEY, NIGHT + DAY)
    made = await desk.confirm(
        await desk.make(person="m.ito", act="requeue", occurrences=(one,)), "m.ito", code=desk.money.code()
    )
    desk.hand.connection.execute(OTHER_OCCURRENCE, (NIGHT + DAY,))
    await stage.run()
    assert desk.rows("select sum(replays) from jobs.occurrences") == [(0,)]
    assert (await desk.shown(made)).recovery.state == "paused"
    assert not await stage.proves(made, other)


async def test_a_skipped_instant_that_was_turned_to_another_makes_neither(stage: RecoveryStage) -> None:
    desk = stage.desk
    desk.skipped(NIGHT - timedelta(hours=1), NIGHT - timedelta(hours=1), 1, schedule=MONEY)
    made = await desk.confirm(await desk.make(person="m.ito", skipped=True), "m.ito", code=desk.money.code())
    desk.hand.connection.execute("update jobs.recovery_rows set scheduled_at = scheduled_at + interval '1 day'")
    await stage.run()
    assert desk.rows("select count(*) from jobs.occurrences") == [(0,)]
    assert (await desk.shown(made)).recovery.state == "paused"


async def test_a_row_that_has_ended_runs_nothing_any_more(stage: RecoveryStage) -> None:
    desk = stage.desk
    one = desk.dead(MONEY)
    desk.dead(MONEY, NIGHT + DAY)
    made = await desk.confirm(await desk.make(person="m.ito"), "m.ito", code=desk.money.code())
    assert await stage.run() == {"begun": 2}
    assert await stage.proves(made, one)
    desk.one("update jobs.recovery_rows set turn = 'done', ended_at = jobs.now() where key = %s returning 1", one)
    assert not await stage.proves(made, one)
