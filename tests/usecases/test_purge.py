"""Purging: what is past its retention goes whole, what is money's evidence or lives stays. The trail: `test_purge_trail.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobservice.usecases.purge import Keeping, Purging
from tests.usecases.attic import DAY, KEEPING, Attic
from tests.usecases.desk import SETTINGS
from tests.usecases.money_desk import MoneyDesk

pytestmark = pytest.mark.requirement("MONEY-31")


def test_a_plan_is_kept_as_long_as_the_jobs_that_refer_to_it() -> None:
    settings = replace(SETTINGS, jobs_keep=400 * DAY, plans_keep=365 * DAY, notices_keep=3 * DAY, alarms_keep=2 * DAY)
    assert Keeping.of(settings) == Keeping(
        jobs=400 * DAY, plans=400 * DAY, notices=3 * DAY, alarms=2 * DAY, audit=settings.audit_keep
    )
    assert Keeping.of(replace(settings, jobs_keep=DAY)).plans == 365 * DAY


async def test_a_job_goes_with_all_that_belongs_to_it_once_it_is_past(attic: Attic) -> None:
    await attic.failed("one")
    attic.clock.advance(89 * DAY)
    assert (await attic.purge()).total == 0
    before = attic.left()
    assert all(before.values())
    attic.clock.advance(2 * DAY)
    live = await attic.stage.quiet("live", "running", engine="PENDING")
    assert (await attic.purge()).jobs == 1
    assert [row["id"] for row in attic.stage.rows("select id from jobs.jobs")] == [UUID(live)]
    left = attic.left()
    assert (left["jobs.job_notices"], left["jobs.job_notice_attempts"], left["jobs.job_causes"]) == (0, 0, 0)
    assert (left["jobs.job_steps"], left["jobs_engine.workflow_status"], left["jobs_engine.workflow_input"]) == (
        3,
        1,
        1,
    )
    assert (await attic.purge()).total == 0
    ((tenant, detail),) = attic.said("purge")
    assert (tenant, detail["jobs"], detail["jobs_kept_days"]) == ("acme", 1, 90)
    tallied = "select sum(c)::int as n from (select count as c from jobs.job_tallies union all select change from jobs.job_tally_changes) as t"  # fmt: skip
    assert attic.stage.row(tallied)["n"] == 1


async def test_a_lineage_goes_whole_or_not_at_all(attic: Attic) -> None:
    first = await attic.failed("first")
    attic.clock.advance(60 * DAY)
    retry = await attic.failed("retry")
    attic.stage.past_the_walls(
        f"update jobs.jobs set lineage = '{first}', retry_of = '{first}', retry_reason = 'r' where id = '{retry}'"
    )
    attic.clock.advance(60 * DAY)
    assert (await attic.purge()).jobs == 0, "its retry is not past"
    attic.clock.advance(31 * DAY)
    for still in ("failure_effect_state = 'due'", "failure_effect_state = 'done'"):
        attic.stage.past_the_walls(f"update jobs.jobs set {still} where id = '{retry}'")
        assert (await attic.purge()).jobs == (0 if "due" in still else 2)


async def test_what_somebody_works_on_is_passed_over(attic: Attic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobservice.usecases.purge.BATCH", 1)
    looks = iter(range(30))
    busy, free = await attic.failed("busy"), await attic.failed("free")
    attic.clock.advance(91 * DAY)
    async with attic.stage.database.transaction("acme") as transaction:
        await transaction.row("jobs/lock", family="payments", job=busy)
        purging = Purging(database=attic.database, keeping=KEEPING, stopping=lambda: next(looks, None) is None)
        assert (await purging.run()).jobs == 1
    assert [str(row["id"]) for row in attic.stage.rows("select id from jobs.jobs")] == [busy] != [free]
    assert (await attic.purge()).jobs == 1


async def test_a_run_that_is_interrupted_has_said_what_it_removed_and_the_next_goes_on(
    attic: Attic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobservice.usecases.purge.BATCH", 2)
    for number in range(5):
        await attic.failed(f"job-{number}")
    attic.clock.advance(91 * DAY)
    asked = iter([False] * 2 + [True] * 50)
    assert (await Purging(database=attic.database, keeping=KEEPING, stopping=lambda: next(asked)).run()).jobs in (2, 4)
    gone = 5 - attic.left()["jobs.jobs"]
    assert [detail["jobs"] for _, detail in attic.said("purge")] == [gone]
    # One that is killed between a batch and its end leaves counts behind: the next run says them.
    attic.stage.past_the_walls("insert into jobs.purged (tenant, what, count) values ('acme', 'jobs', 7)")
    assert (await attic.purge()).jobs == 5 - gone
    assert [detail["jobs"] for _, detail in attic.said("purge")] == [gone, 7, 5 - gone]


async def test_plans_of_which_nothing_was_sent_go_and_others_stay_whole(
    attic: Attic, money: MoneyDesk, stage_of_plans: Callable[[], Any]
) -> None:
    sent, dropped = await stage_of_plans()
    attic.clock.advance(366 * DAY)
    assert (await attic.purge()).plans == 1
    plans = [str(row["id"]) for row in attic.stage.rows("select id from jobs.plans")]
    assert plans == [sent]
    assert {str(row["plan"]) for row in attic.stage.rows("select plan from jobs.plan_items")} == {sent}
    assert attic.stage.row("select count(*) as n from jobs.releases")["n"] == 1
    assert [detail["plans"] for _, detail in attic.said("purge")] == [1]
    assert dropped not in plans


@pytest.fixture
def stage_of_plans(money: MoneyDesk, attic: Attic) -> Callable[[], Any]:
    """Makes a plan that released something, and one that was dropped; their ids."""

    async def make() -> tuple[str, str]:
        items = await money.pushed(2)
        plans = [await money.plan([item]) for item in items]
        ids = [str(plan["id"]) for plan in plans]
        attic.stage.past_the_walls(
            "update jobs.plans set state = case when id = '%s' then 'done' else 'dropped' end, ended_at = jobs.now(),"
            " confirmed_at = case when id = '%s' then jobs.now() end, signature = case when id = '%s' then '\\x00'::bytea end,"
            " signing_key = case when id = '%s' then 'k' end, accounted_at = jobs.now()" % ((ids[0],) * 4)
        )
        attic.stage.past_the_walls(
            f"update jobs.plan_items set turn = 'done', attempts = 1, outward_key = 'jc', sent_at = jobs.now(),"
            f" ended_at = jobs.now() where plan = '{ids[0]}'"
        )
        attic.stage.past_the_walls(
            "insert into jobs.releases (item, tenant, plan, person, amount_minor, currency, payee_id, account, outward_key)"
            f" select item, tenant, plan, 'm.ito', amount_minor, currency, payee_id, account, 'jc' from jobs.plan_items"
            f" where plan = '{ids[0]}'"
        )
        attic.stage.past_the_walls("update jobs.items set plan = null, plan_name = null, held = false")
        return ids[0], ids[1]

    return make


async def test_keys_and_recoveries_go_when_their_time_is_over(attic: Attic) -> None:
    for key, days in (("old", -1), ("new", 1)):
        attic.stage.past_the_walls(
            "insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)"
            f" values ('acme', 'm.ito', 'POST', '/', '{key}', '', 200, '{{}}', jobs.now() + interval '{days} days')"
        )
    for name, state in (("open", "open"), ("gone", "dropped")):
        ended = "null" if state == "open" else "jobs.now()"
        attic.stage.past_the_walls(
            "with made as (insert into jobs.recoveries (tenant, name, act, reason, asked, owner, state, moves, digest,"
            " count, frozen_at, valid_until, ended_at) values"
            f" ('acme', '{name}', 'discard', 'r', '{{}}', 'm.ito', '{state}', 'nothing', decode(repeat('00', 32), 'hex'), 1,"
            f" jobs.now(), jobs.now(), {ended}) returning id)"
            " insert into jobs.recovery_rows (recovery, number, tenant, key, target, name, schedule, moves, row_version)"
            " select id, 1, 'acme', 'k', 'occurrence', 'n', 's', 'nothing', 1 from made"
        )
    done = await attic.purge()
    assert (done.idempotency_keys, done.recoveries) == (1, 0)
    attic.clock.advance(366 * DAY)
    done = await attic.purge()
    assert (done.idempotency_keys, done.recoveries) == (1, 1)
    assert attic.stage.rows(
        "select r.name from jobs.recoveries as r join jobs.recovery_rows as w on w.recovery = r.id"
    ) == [{"name": "open"}]


async def test_notices_go_when_they_were_delivered_or_given_up_long_ago(
    attic: Attic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobservice.usecases.purge.ROWS", 2)
    for tenant in ("'acme'", "'globex'", "null"):
        for end in ("null, null", "jobs.now(), null", "null, jobs.now()"):
            attic.stage.past_the_walls(
                "insert into jobs.notices (tenant, person, kind, subject, text, sent_at, given_up_at)"
                f" values ({tenant}, 'm.ito', 'locked', 's', 't', {end})"
            )
    attic.clock.advance(90 * DAY - 60)
    assert (await attic.purge()).total == 0
    attic.clock.advance(120)
    assert (await attic.purge()).notices == 6
    left = attic.stage.rows("select tenant, coalesce(sent_at, given_up_at) as ended from jobs.notices order by tenant")
    assert left == [{"tenant": tenant, "ended": None} for tenant in ("acme", "globex", None)], "those wait"
    assert [(tenant, detail["notices"], detail["notices_kept_days"]) for tenant, detail in attic.said("purge")] == [
        (None, 2, 90),
        ("acme", 2, 90),
        ("globex", 2, 90),
    ]


async def test_alarms_go_when_they_are_over_for_long_and_everybody_was_told(attic: Attic) -> None:
    for subject, cleared, told in (
        ("open", "null", "'sent', 'opened'"),
        ("over", "jobs.now()", "'sent', 'cleared'"),
        ("quiet", "jobs.now()", "'nobody', null"),
        ("to tell", "jobs.now()", "'waiting', 'cleared'"),
    ):
        attic.stage.past_the_walls(
            "insert into jobs.alarms (tenant, kind, subject, sentence, cleared_at, told, telling, tell_at)"
            f" values ('acme', 'late', '{subject}', 's', {cleared}, {told}, jobs.now())"
        )
    attic.clock.advance(90 * DAY - 60)
    assert (await attic.purge()).total == 0
    attic.clock.advance(120)
    assert (await attic.purge()).alarms == 2
    assert [row["subject"] for row in attic.stage.rows("select subject from jobs.alarms order by subject")] == [
        "open",
        "to tell",
    ]
    ((tenant, detail),) = attic.said("purge")
    assert (tenant, detail["alarms"], detail["alarms_kept_days"]) == ("acme", 2, 90)


def test_the_role_of_the_purge_can_remove_no_notice_that_waits_and_no_alarm_that_stands(
    attic: Attic, database_url: Callable[[str], str]
) -> None:
    attic.stage.past_the_walls(
        "insert into jobs.notices (tenant, person, kind, subject, text, made_at, sent_at) values"
        " ('acme', 'm.ito', 'locked', 'waits', 't', jobs.now() - interval '9 days', null),"
        " ('acme', 'm.ito', 'locked', 'young', 't', jobs.now(), jobs.now())"
    )
    attic.stage.past_the_walls(
        "insert into jobs.alarms (tenant, kind, subject, sentence, cleared_at, told, telling, tell_at) values"
        " ('acme', 'late', 'open', 's', null, 'nobody', null, null),"
        " ('acme', 'late', 'young', 's', jobs.now(), 'nobody', null, null),"
        " ('acme', 'late', 'to tell', 's', jobs.now() - interval '9 days', 'waiting', 'cleared', jobs.now())"
    )
    with psycopg.connect(database_url("jobs_purge")) as connection:
        assert [connection.execute(f"delete from jobs.{each}").rowcount for each in ("notices", "alarms")] == [0, 0]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select text from jobs.notices")
    for table, count in (("notices", 2), ("alarms", 3)):
        assert attic.stage.row(f"select count(*) as n from jobs.{table}")["n"] == count
