"""Verifying the trail: whatever somebody with every right does to it, the first gap is named; what only takes long is none."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobservice.delivery.heads import Head, Heads
from jobservice.rules.seals import GENESIS, GapKind, link_of
from jobservice.store import audit, seals
from jobservice.store.database import Database
from jobservice.usecases.seals import Verified, verify
from tests.conftest import Clock, People

Superuser = psycopg.Connection[Any]
pytestmark = pytest.mark.requirement("MONEY-31")


async def written(database: Database, count: int, *, tenant: str = "acme") -> None:
    """So many entries, one a transaction."""
    for number in range(count):
        async with database.transaction(tenant) as transaction:
            entry = audit.NewEntry(
                person="m.ito",
                action="claim",
                subject=f"x-{number}",
                outcome="done",
                detail={"n": number},
                reference=None,
            )
            await audit.add(transaction, entry)


async def others_ended(database: Database, *, tenant: str = "acme") -> None:
    """Until nothing that began before the last entry still runs on the server, other tests' work too: then it is sealed."""
    loop = asyncio.get_running_loop()
    end = loop.time() + 30
    while loop.time() < end:
        async with database.transaction(tenant) as transaction:
            row = await (
                await transaction.connection.execute(
                    b"select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > coalesce(max(a.xid), 0) as over"
                    b" from jobs.audit as a"
                )
            ).fetchone()
        if row is not None and row["over"]:
            return
        await asyncio.sleep(0.01)
    raise TimeoutError("something that began before the last entry still runs")


async def sealed(database: Database, *, most: int = 100, heads: Heads | None = None) -> int:
    """Seal one batch as the Worker does; its entries."""
    async with database.transaction(None) as transaction:
        row = await seals.seal(transaction, most=most)
    if row is not None and heads is not None:
        heads.add(Head(place=row["place"], count=row["count"], link=bytes(row["head"]), at=row["at"]))
    return 0 if row is None else int(row["count"])


class Trail:
    """Twelve sealed entries in batches of four, with their heads outside, and two that are not sealed."""

    def __init__(self, superuser: Superuser, owner: Database, heads: Heads) -> None:
        self.superuser, self.owner, self.heads = superuser, owner, heads

    @property
    def ids(self) -> list[int]:
        """Ids of the entries, by place."""
        rows = self.superuser.execute("select id from jobs.audit order by id").fetchall()
        return [number for (number,) in rows]

    def tamper(self, *statements: str) -> None:
        """What somebody who may do everything does, triggers off."""
        with self.superuser.transaction():
            self.superuser.execute("set local session_replication_role = replica")
            for text in statements:
                self.superuser.execute(text.encode())

    def rewrite(self) -> None:
        """Compute every link and every head anew, as the sealer would."""
        before, number = GENESIS, 0
        rows = self.superuser.execute(
            "select l.entry, jobs.audit_texts(a) from jobs.audit_links as l join jobs.audit as a on a.id = l.entry order by 1"
        ).fetchall()
        for entry, texts in rows:
            before, number = link_of(before, texts), number + 1
            link = f"'\\x{before.hex()}'"
            self.tamper(
                f"update jobs.audit_links set link = {link}, place = {number} where entry = {entry}",
                f"update jobs.audit_seals set head = {link} where place = {number}",
            )

    async def found(self, *, outside: bool = True) -> Verified:
        """What verifying says, as the owner."""
        return await verify(self.owner, self.heads if outside else None)


@pytest.fixture
async def trail(
    database: Database, worker_database: Database, owner_database: Database, people: People, tmp_path: Path
) -> Trail:
    heads = Heads(folder=tmp_path / "seals")
    await written(database, 12)
    await others_ended(database)
    for most in (4, 4, 5):  # the last batch has all there is
        assert await sealed(worker_database, most=most, heads=heads) == 4
    await written(database, 2)
    return Trail(people.connection, owner_database, heads)


async def test_a_whole_trail_holds_and_python_computes_what_the_database_did(trail: Trail) -> None:
    found = await trail.found()
    assert (found.entries, found.seals, found.heads, found.unsealed, found.gap) == (12, 3, 3, 2, None)
    (texts,) = trail.superuser.execute("select jobs.audit_texts(a) from jobs.audit as a order by id limit 1").fetchone()  # type: ignore[misc]  # there is one
    at = texts[1]
    assert texts[2:8] == ["acme", "m.ito", "claim", "x-0", "done", '{"n": 0}']
    parts = [None if text is None else text.encode() for text in texts]
    raw = b"".join(b"\xff" * 4 if part is None else len(part).to_bytes(4, "big") + part for part in parts)
    first = trail.superuser.execute("select link from jobs.audit_links where place = 1").fetchone()
    assert first == (hashlib.sha256(hashlib.sha256(b"jobs.audit.1").digest() + raw).digest(),)
    assert trail.superuser.execute(
        "select (extract(epoch from at) * 1000000)::bigint::text from jobs.audit order by id limit 1"
    ).fetchone() == (at,)


@pytest.mark.parametrize(
    "change",
    ["subject = 'y'", "detail = '{\"n\": 7}'", "person = null", "at = at + interval '1 microsecond'", "reference = ''"],
)
async def test_a_changed_entry_is_named(trail: Trail, change: str) -> None:
    entry = trail.ids[5]
    trail.tamper(f"update jobs.audit set {change} where id = {entry}")
    gap = (await trail.found(outside=False)).gap
    assert gap is not None
    assert (gap.kind, gap.place, gap.entry) == (GapKind.ENTRY_CHANGED, 6, entry)


async def test_the_last_entry_of_the_chain_is_named_by_its_seal(trail: Trail) -> None:
    entry = trail.ids[11]
    trail.tamper(f"update jobs.audit set outcome = 'refused' where id = {entry}")
    gap = (await trail.found()).gap
    assert gap is not None
    assert (gap.kind, gap.place) == (GapKind.ENTRY_CHANGED, 12)
    assert gap.sentence.startswith(f"Entry {entry} was changed:")


async def test_a_missing_entry_is_named_with_and_without_its_link(trail: Trail) -> None:
    entry = trail.ids[6]
    trail.tamper(f"delete from jobs.audit where id = {entry}")
    gap = (await trail.found()).gap
    assert gap is not None
    assert (gap.kind, gap.place, gap.entry) == (GapKind.ENTRY_MISSING, 7, entry)
    trail.tamper(f"delete from jobs.audit_links where entry = {entry}")
    gap = (await trail.found()).gap
    assert gap is not None
    assert (gap.kind, gap.place) == (GapKind.LINK_MISSING, 7)


@pytest.mark.parametrize("sealing", [False, True], ids=["not sealed", "sealed since"])
@pytest.mark.parametrize(
    "values",
    ["(900, jobs.now() - interval '2 days', default)", "(900, jobs.now(), (select min(xid) from jobs.audit))"],
    ids=["an old instant", "an old transaction"],
)
async def test_an_entry_that_was_added_between_is_named(
    trail: Trail, worker_database: Database, values: str, sealing: bool
) -> None:
    head, tail = values.removeprefix("(900, ").removesuffix(")").rsplit(", ", 1)
    trail.tamper(
        "insert into jobs.audit (id, at, xid, tenant, action, subject, outcome) overriding system value"
        f" values (900, {head}, {tail}, 'acme', 'claim', 'x', 'done')"
    )
    if sealing:
        # The sealer takes what is behind its mark; what says that it is older is not taken, or is found in the chain.
        await sealed(worker_database)
    gap = (await trail.found()).gap
    assert gap is not None
    assert (gap.kind, gap.entry) == (GapKind.ENTRY_ADDED, 900)


async def test_a_rewritten_link_is_told_from_a_changed_entry(trail: Trail) -> None:
    trail.tamper("update jobs.audit_links set link = sha256('x') where place = 6")
    gap = (await trail.found()).gap
    assert gap is not None
    assert (gap.kind, gap.place, gap.entry) == (GapKind.LINK_REWRITTEN, 6, trail.ids[5])


@pytest.mark.parametrize("change", ["head = sha256('x')", "count = count + 1"])
async def test_a_changed_seal_is_named(trail: Trail, change: str) -> None:
    trail.tamper(f"update jobs.audit_seals set {change} where number = 2")
    gap = (await trail.found(outside=False)).gap
    assert gap is not None
    assert (gap.kind, gap.place) == (GapKind.SEAL_CHANGED, 8)


async def test_a_chain_that_was_rewritten_whole_is_caught_by_the_heads_outside_alone(trail: Trail) -> None:
    trail.tamper(f"update jobs.audit set person = 'k.rao' where id = {trail.ids[5]}")
    trail.rewrite()
    assert (await trail.found(outside=False)).gap is None
    gap = (await trail.found()).gap
    assert gap is not None
    assert gap.kind is GapKind.CHAIN_REWRITTEN
    assert "between place 5 and place 8" in gap.sentence


async def test_a_tail_that_was_cut_off_is_caught_by_the_seals_or_by_the_heads_outside(trail: Trail) -> None:
    (first, *_) = trail.ids[8:]
    trail.tamper(f"delete from jobs.audit where id >= {first}", "delete from jobs.audit_links where place > 8")
    gap = (await trail.found(outside=False)).gap
    assert gap is not None
    assert (gap.kind, gap.place) == (GapKind.TAIL_MISSING, 9)
    trail.tamper("delete from jobs.audit_seals where place > 8")
    assert (await trail.found(outside=False)).gap is None
    gap = (await trail.found()).gap
    assert gap is not None
    assert (gap.kind, gap.place) == (GapKind.TAIL_MISSING, 9)
    assert "know of 12 entries" in gap.sentence


async def test_heads_that_cannot_be_read_are_a_gap_and_a_torn_line_is_none(trail: Trail) -> None:
    (file,) = trail.heads.folder.glob("heads-*.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"place": 1')
    assert (await trail.found()).gap is None
    file.write_bytes(b"x\n" + whole)
    gap = (await trail.found()).gap
    assert gap is not None
    assert gap.kind is GapKind.HEADS_UNREADABLE
    lines = whole.splitlines(keepends=True)
    file.write_bytes(b"".join([*lines, lines[0]]))
    gap = (await trail.found()).gap
    assert gap is not None
    assert gap.kind in (GapKind.HEADS_UNREADABLE, GapKind.TAIL_MISSING)


async def test_what_commits_late_with_an_early_id_is_sealed_later_and_is_no_gap(
    database: Database, worker_database: Database, owner_database: Database, people: People
) -> None:
    async with database.transaction("acme") as slow:
        await audit.add(
            slow, audit.NewEntry(person=None, action="slow", subject="s", outcome="done", detail={}, reference=None)
        )
        await written(database, 3)
        assert await sealed(worker_database) == 0  # nothing that comes after a transaction that still runs
    await others_ended(database)
    assert await sealed(worker_database) == 4
    rows = people.connection.execute(
        "select a.action from jobs.audit_links as l join jobs.audit as a on a.id = l.entry order by l.place"
    ).fetchall()
    assert [action for (action,) in rows] == ["slow", "claim", "claim", "claim"]
    async with database.transaction("acme") as early:
        await early.rows("items/now")  # without a write it has no transaction id yet
        (reserved,) = people.connection.execute("select nextval(pg_get_serial_sequence('jobs.audit', 'id'))").fetchone()  # type: ignore[misc]  # there is one
        await written(database, 2)
        await others_ended(database)
        assert await sealed(worker_database) == 2
        with people.connection.transaction():
            people.connection.execute("set local session_replication_role = replica")
            people.connection.execute(
                "insert into jobs.audit (id, tenant, action, subject, outcome) overriding system value"
                " values (%s, 'acme', 'late', 's', 'done')",
                (reserved,),
            )
    assert (await verify(owner_database, None)).unsealed == 1
    await others_ended(database)
    assert await sealed(worker_database) == 1
    found = await verify(owner_database, None)
    assert (found.entries, found.unsealed, found.gap) == (7, 0, None)


async def test_what_waited_for_days_to_be_sealed_in_several_batches_is_no_gap(
    database: Database, worker_database: Database, owner_database: Database, people: People, clock: Clock
) -> None:
    await written(database, 5)
    await others_ended(database)
    clock.advance(3 * 86_400)
    assert await sealed(worker_database, most=2) == 2
    assert (await verify(owner_database, None)).gap is None
    assert [await sealed(worker_database, most=2) for _ in range(2)] == [2, 1]
    found = await verify(owner_database, None)
    assert (found.entries, found.gap) == (5, None)


async def test_two_sealers_at_once_seal_each_entry_once(
    database: Database, worker_database: Database, owner_database: Database, people: People
) -> None:
    await written(database, 20)
    await others_ended(database)
    counts = await asyncio.gather(*(sealed(worker_database, most=6) for _ in range(5)))
    assert sum(counts) == 20
    found = await verify(owner_database, None)
    assert (found.entries, found.gap) == (20, None)


async def test_a_dump_restored_into_a_younger_server_goes_on(trail: Trail, worker_database: Database) -> None:
    # What a dump carries over: transaction ids as data, far beyond those of the new server.
    trail.tamper(
        "update jobs.audit set xid = xid + 1000000000",
        "update jobs.audit_seals set upto_xid = upto_xid + 1000000000",
    )
    trail.rewrite()
    assert await sealed(worker_database, most=1) == 1
    assert await sealed(worker_database, most=1) == 1
    assert await sealed(worker_database, most=1) == 0
    lives = trail.superuser.execute("select life from jobs.audit_seals order by number").fetchall()
    assert [life for (life,) in lives] == [1, 1, 1, 2, 2]
    found = await trail.found(outside=False)
    assert (found.entries, found.unsealed, found.gap) == (14, 0, None)


async def test_seals_only_grow_and_the_worker_links_nothing_itself(
    trail: Trail, database: Database, worker_database: Database
) -> None:
    refused = (psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation)
    for table in ("audit_links", "audit_seals"):
        for change in (f"delete from jobs.{table}", f"truncate jobs.{table}", f"update jobs.{table} set place = place"):
            for role in (database, worker_database, trail.owner):
                with pytest.raises(refused):
                    async with role.transaction("acme") as transaction:
                        await transaction.connection.execute(change)
    with pytest.raises(refused):
        async with database.transaction("acme") as transaction:
            await seals.seal(transaction, most=1)
    with pytest.raises(refused):
        async with worker_database.transaction("acme") as transaction:
            await transaction.connection.execute("insert into jobs.audit_links values (99, 99, 1, sha256('x'))")


async def test_the_clock_of_the_database_may_move(
    trail: Trail, database: Database, worker_database: Database, clock: Clock
) -> None:
    clock.advance(86_400)
    await others_ended(database)
    assert await sealed(worker_database) == 2
    assert (await trail.found()).gap is None
