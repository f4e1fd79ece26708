"""Purging the trail: what is left holds from the last head before it on, and says what went; who may remove it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from jobservice.delivery.heads import Heads
from jobservice.rules.seals import GapKind
from jobservice.store import seals
from jobservice.store.database import Database, Row, Transaction
from jobservice.usecases.purge import Purged, Purging, TrailBroken
from jobservice.usecases.seals import verify
from tests.usecases.attic import DAY, KEEPING, Attic, Role
from tests.usecases.test_seals import others_ended, sealed, written

pytestmark = pytest.mark.requirement("MONEY-31")


@pytest.fixture
async def trail(attic: Attic, database: Database, worker_database: Database, tmp_path: Path) -> Attic:
    """Three seals of four old entries of two tenants, one of two new ones, and one entry that is not sealed."""
    attic.heads = Heads(folder=tmp_path / "seals")
    for _ in range(3):
        await written(database, 3)
        await written(database, 1, tenant="globex")
        await others_ended(database, tenant="globex")
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


class Stopping(Purging):
    """One that is asked to stop after the first step of the trail."""

    async def run(self) -> Purged:
        async with self.database.transaction(None) as transaction:
            row = await transaction.row("purge/families")
        assert row is not None
        await self._keys()
        steps = iter([False, False, True])
        self.stopping = lambda: next(steps, True)
        await self._trail(row["now"])
        return self.purged


async def one_step(trail: Attic) -> Purged:
    """A purge of the trail that removes what one transaction does."""
    return await Stopping(database=trail.database, keeping=KEEPING, heads=trail.heads).run()


async def test_a_purge_of_the_trail_that_is_interrupted_leaves_one_that_holds(
    trail: Attic, owner_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobservice.usecases.purge.ROWS", 4)

    assert (await one_step(trail)).entries == 4
    found = await verify(owner_database, trail.heads)
    assert (found.gap, found.purged, found.entries) == (None, 4, 10)
    assert (await trail.purge()).entries == 8
    assert [tenant for tenant, _ in trail.said("purge-audit")] == [None, "acme", "globex"], "it was announced once"
    assert (await verify(owner_database, trail.heads)).gap is None


async def test_verifying_while_a_purge_goes_on_finds_no_gap_however_often_it_is_overtaken(
    attic: Attic,
    database: Database,
    owner_database: Database,
    worker_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A step of the purge is committed each time between the two looks at where the trail begins."""
    monkeypatch.setattr("jobservice.usecases.purge.ROWS", 2)
    attic.heads = Heads(folder=tmp_path / "seals")
    for _ in range(8):
        await written(database, 2)
        await others_ended(database)
        await sealed(worker_database, heads=attic.heads)
    attic.clock.advance(731 * DAY)
    last, steps = seals.last, 0

    async def overtaken(transaction: Transaction) -> Row | None:
        nonlocal steps
        steps += (await one_step(attic)).entries == 2
        return await last(transaction)

    with monkeypatch.context() as patched:
        patched.setattr(seals, "last", overtaken)
        found = await verify(owner_database, attic.heads)
    assert (found.gap, found.purged, found.entries) == (None, 16, 0)
    assert steps == 8


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
