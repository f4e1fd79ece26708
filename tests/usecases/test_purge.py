"""Purging: what is past its retention goes whole, what is money's evidence or lives stays; the trail holds from the last
head before it on, and says what went."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from jobservice.delivery.heads import Heads
from jobservice.rules.seals import GapKind
from jobservice.store.database import Database
from jobservice.usecases.purge import Keeping, Purged, Purging, TrailBroken, would_purge
from jobservice.usecases.seals import verify
from jobservice.worker.fenced import Lease
from jobservice.worker.job_notices import JobNotices
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from tests.conftest import Clock, People, Server
from tests.usecases.desk import SETTINGS
from tests.usecases.money_desk import MoneyDesk
from tests.usecases.test_seals import others_ended, sealed, written
from tests.worker.jobs_stage import JobStage
from tests.worker.test_delivering import Postbox

pytestmark = pytest.mark.requirement("MONEY-31")
DAY = 86_400.0
KEEPING = Keeping(jobs=90 * DAY, plans=365 * DAY, audit=730 * DAY)
Role = Callable[[str], str]


@pytest.fixture
async def purge_database(clean: None, server: Server, database_name: str) -> AsyncIterator[Database]:
    """The Database as the purge's role."""
    database = await Database.open(server.url("jobs_purge", database_name), name="test purge", most=3)
    yield database
    await database.close()


@dataclass
class Attic:
    """Jobs, plans and the trail of acme, and whoever purges them."""

    database: Database
    stage: JobStage
    clock: Clock
    heads: Heads | None = None

    async def purge(self, *, stopping: Callable[[], bool] = lambda: False, **keeping: float) -> Purged:
        """One run."""
        kept = Keeping(**{name: keeping.get(name, getattr(KEEPING, name)) for name in ("jobs", "plans", "audit")})
        purging = Purging(database=self.database, keeping=kept, heads=self.heads, stopping=stopping)
        would = await would_purge(self.database, kept)
        done = await purging.run()
        assert done == would or stopping()
        return done

    async def failed(self, identity: str) -> str:
        """A job that failed, whose requester was told."""
        job = await self.stage.quiet(identity, "succeeded", "running", engine="SUCCESS")
        await self.stage.run(ReconcilingJobs())
        lease: Lease = await self.stage.lease(JobNotices(delivery=Postbox()))
        await JobNotices(delivery=Postbox()).run_once(lease)
        self.stage.past_the_walls(
            "update jobs.jobs set failure_effect_state = 'done' where failure_effect_state = 'due'"
        )
        return job

    def left(self) -> dict[str, int]:
        """How many rows there are of what belongs to jobs."""
        tables = (
            "jobs.jobs", "jobs.job_steps", "jobs.job_events", "jobs.job_notices", "jobs.job_notice_attempts",
            "jobs.job_causes", "jobs_engine.workflow_status", "jobs_engine.workflow_input",
        )  # fmt: skip
        return {table: self.stage.row(f"select count(*) as n from {table}")["n"] for table in tables}

    def said(self, action: str) -> list[tuple[str | None, dict[str, Any]]]:
        """Tenant and detail of the trail's entries of that action."""
        rows = self.stage.rows("select tenant, detail from jobs.audit where action = %s order by id", action)
        return [(row["tenant"], row["detail"]) for row in rows]


@pytest.fixture
def attic(purge_database: Database, worker_database: Database, people: People, clock: Clock) -> Attic:
    return Attic(database=purge_database, stage=JobStage(database=worker_database, people=people), clock=clock)


def test_a_plan_is_kept_as_long_as_the_jobs_that_refer_to_it() -> None:
    settings = replace(SETTINGS, jobs_keep=400 * DAY, plans_keep=365 * DAY)
    assert Keeping.of(settings) == Keeping(jobs=400 * DAY, plans=400 * DAY, audit=settings.audit_keep)
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


@pytest.fixture
async def trail(attic: Attic, database: Database, worker_database: Database, tmp_path: Path) -> Attic:
    """Three seals of four old entries of two tenants, one of two new ones, and one entry that is not sealed."""
    attic.heads = Heads(folder=tmp_path / "seals")
    for _ in range(3):
        await written(database, 3)
        await written(database, 1, tenant="globex")
        await others_ended(database)
        await sealed(worker_database, heads=attic.heads)
    attic.clock.advance(729 * DAY)
    await written(database, 2)
    await others_ended(database)
    await sealed(worker_database, heads=attic.heads)
    await written(database, 1)
    attic.clock.advance(2 * DAY)
    return attic


async def test_the_trail_holds_from_the_last_head_before_the_purge_on(
    trail: Attic, owner_database: Database, worker_database: Database, database: Database
) -> None:
    assert (await trail.purge()).entries == 12
    found = await verify(owner_database, trail.heads)
    assert (found.gap, found.purged, found.entries, found.heads) == (None, 12, 2, 1)
    said = trail.said("purge-audit")
    assert [(tenant, detail["entries"], detail["upto"]) for tenant, detail in said] == [
        (None, 0, 12),
        ("acme", 9, 12),
        ("globex", 3, 12),
    ]
    await others_ended(database)
    await sealed(worker_database, heads=trail.heads)
    found = await verify(owner_database, trail.heads)
    assert (found.gap, found.purged, found.entries, found.unsealed) == (None, 12, 6, 0), "and it goes on growing"
    assert (await trail.purge()).total == 0
    trail.clock.advance(800 * DAY)
    assert (await trail.purge()).entries == 6
    found = await verify(owner_database, trail.heads)
    assert (found.gap, found.purged, found.entries) == (None, 18, 0)


async def test_a_seal_with_an_entry_that_is_not_so_old_ends_what_goes(
    trail: Attic, database: Database, worker_database: Database
) -> None:
    trail.clock.advance(800 * DAY)
    await written(database, 1)
    trail.clock.advance(-800 * DAY)  # the clock of the server was set back
    await others_ended(database)
    await sealed(worker_database, heads=trail.heads)
    trail.clock.advance(735 * DAY)
    assert (await trail.purge()).entries == 14, "not the last seal, with the entry of a later time"


async def test_a_purge_of_the_trail_that_is_interrupted_leaves_one_that_holds(
    trail: Attic, owner_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobservice.usecases.purge.ROWS", 4)

    class Stopping(Purging):
        """One that is asked to stop after the first step of the trail."""

        async def run(self) -> Purged:
            async with self.database.transaction(None) as transaction:
                row = await transaction.row("purge/families")
            assert row is not None
            await self._keys()
            self.stopping = lambda: next(steps, True)
            await self._trail(row["now"])
            return self.purged

    steps = iter([False, False, True])
    assert (await Stopping(database=trail.database, keeping=KEEPING, heads=trail.heads).run()).entries == 4
    found = await verify(owner_database, trail.heads)
    assert (found.gap, found.purged, found.entries) == (None, 4, 10)
    assert (await trail.purge()).entries == 8
    assert [tenant for tenant, _ in trail.said("purge-audit")] == [None, "acme", "globex"], "it was announced once"
    assert (await verify(owner_database, trail.heads)).gap is None


async def test_a_trail_with_a_gap_is_not_purged(trail: Attic) -> None:
    trail.stage.past_the_walls("update jobs.audit set person = 'x' where id = (select min(id) + 5 from jobs.audit)")
    with pytest.raises(TrailBroken, match="was changed"):
        await Purging(database=trail.database, keeping=KEEPING, heads=trail.heads).run()
    assert trail.stage.row("select count(*) as n from jobs.audit_links")["n"] == 14
    assert trail.said("purge-audit") == []


@pytest.mark.parametrize(
    ("tamper", "gap"),
    [
        ("delete from jobs.audit where action = 'purge-audit'", GapKind.PURGE_UNSAID),
        ("update jobs.audit set detail = jsonb_set(detail, '{head}', '\"00\"') where action = 'purge-audit'",
         GapKind.PURGE_UNSAID),
        ("delete from jobs.audit_seals where place = 12", GapKind.SEAL_CHANGED),
        ("delete from jobs.audit_base", GapKind.LINK_MISSING),
        ("update jobs.audit_base set place = 14", GapKind.PURGE_UNSAID),
        ("delete from jobs.audit_links where place = 13", GapKind.LINK_MISSING),
        ("update jobs.audit set person = 'x' where id in (select entry from jobs.audit_links where place = 13)",
         GapKind.ENTRY_CHANGED),
    ],
)  # fmt: skip
async def test_whoever_removes_more_than_was_said_is_found_out(
    trail: Attic, owner_database: Database, tamper: str, gap: GapKind
) -> None:
    await trail.purge()
    trail.stage.past_the_walls(tamper)
    found = await verify(owner_database, trail.heads)
    assert found.gap is not None
    assert found.gap.kind is gap


async def test_heads_from_outside_still_tell_a_rewritten_base(
    trail: Attic, owner_database: Database, database: Database
) -> None:
    await trail.purge()
    trail.stage.past_the_walls("update jobs.audit_seals set head = sha256('x') where place = 12")
    trail.stage.past_the_walls(
        "update jobs.audit set detail = jsonb_set(detail, '{head}', to_jsonb(encode(sha256('x'), 'hex')))"
        " where action = 'purge-audit'"
    )
    found = await verify(owner_database, trail.heads)
    assert found.gap is not None
    assert found.gap.kind is GapKind.CHAIN_REWRITTEN


RAW = {
    "a young entry": "with e as (select id from jobs.audit order by id desc limit 1) delete from jobs.audit where id in"
    " (select id from e) returning 1",
    "an entry above the base": "delete from jobs.audit returning 1",
    "a link": "delete from jobs.audit_links returning 1",
    "a seal": "delete from jobs.audit_seals returning 1",
}


@pytest.mark.parametrize("what", RAW)
async def test_the_raw_role_removes_nothing_of_the_trail_that_is_not_under_the_base(
    trail: Attic, database_url: Role, what: str
) -> None:
    with psycopg.connect(database_url("jobs_purge")) as connection:
        assert connection.execute(RAW[what].encode()).fetchall() == []


async def test_the_raw_role_removes_nothing_younger_than_thirty_days_whatever_the_base_is(
    trail: Attic, database_url: Role
) -> None:
    with psycopg.connect(database_url("jobs_purge")) as connection:
        connection.execute("insert into jobs.audit_base (place) values (14)")
        assert len(connection.execute("delete from jobs.audit returning 1").fetchall()) == 12
        assert len(connection.execute("delete from jobs.audit_links returning 1").fetchall()) == 12
        connection.rollback()


@pytest.mark.parametrize(
    "statement",
    [
        "update jobs.audit set person = 'x'",
        "insert into jobs.audit (tenant, action, subject, outcome) values ('acme', 'confirm', 's', 'done')",
        "insert into jobs.audit_base (place) values (7)",
        "delete from jobs.releases",
        "delete from jobs.plan_evidence",
        "delete from jobs.items",
        "update jobs.jobs set status = 'failed'",
        "insert into jobs.audit_links (place, entry, seal, link) values (99, 1, 1, '')",
        "select title from jobs.items",
        "select contact from jobs.people",
        "truncate jobs.job_events",
    ],
)
async def test_the_purges_role_does_nothing_else(trail: Attic, database_url: Role, statement: str) -> None:
    with (
        psycopg.connect(database_url("jobs_purge")) as connection,
        pytest.raises((errors.InsufficientPrivilege, errors.RestrictViolation)),
    ):
        connection.execute(statement.encode())


async def test_other_roles_still_remove_nothing(trail: Attic, database_url: Role) -> None:
    job = await trail.stage.submit("one")
    for role in ("jobs_api", "jobs_worker", "jobs_owner"):
        for table in ("audit", "audit_links", "audit_seals", "job_events"):
            with (
                psycopg.connect(database_url(role)) as connection,
                pytest.raises((errors.InsufficientPrivilege, errors.RestrictViolation)),
            ):
                connection.execute(f"delete from jobs.{table}".encode())
    assert trail.stage.history(job)
