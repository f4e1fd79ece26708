"""Owns verifying the trail, as the owner: the whole chain computed anew, compared with what is stored and with the heads
that lie outside (MONEY.md 31). Changes nothing.

What is read later has at least what was read before it: heads first, then the newest seal, the chain, what is not sealed.
So sealing may go on meanwhile, and is no gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from jobservice.delivery.heads import Heads, HeadsBroken
from jobservice.rules.seals import LONGEST_SECONDS, Checking, Gap, GapKind, HeadsUnreadable, Link, Seal, added
from jobservice.store import seals as store
from jobservice.store.database import Database, Row, Transaction

STATEMENT_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What verifying found: entries that hold, heads outside that agree, entries without a seal, the first gap."""

    entries: int
    seals: int
    heads: int
    unsealed: int
    gap: Gap | None


async def verify(database: Database, heads: Heads | None) -> Verified:
    """Verify the whole trail of all tenants, with the heads in a folder where one is given."""
    written = iter(()) if heads is None else heads.read(heads.sizes())
    async with database.transaction(None, statement_seconds=STATEMENT_SECONDS) as transaction:
        newest = await store.last(transaction)
        last = None if newest is None else _seal(newest, newest["place"])
        checking = Checking(heads=_readable(written))
        gap = await _walk(transaction, checking, last)
        unsealed, first = await _unsealed(transaction, newest)
    if gap is None and first is not None:
        gap = added(first)
    return Verified(
        entries=checking.place,
        seals=0 if checking.seal is None else checking.seal.number,
        heads=checking.compared,
        unsealed=unsealed,
        gap=gap,
    )


def _readable(heads: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    try:
        yield from heads
    except HeadsBroken as broken:
        raise HeadsUnreadable(str(broken)) from broken


async def _walk(transaction: Transaction, checking: Checking, last: Seal | None) -> Gap | None:
    try:
        async for row in store.chain(transaction):
            gap = checking.take(_link(row))
            if gap is not None:
                return gap
        return checking.end(last)
    except HeadsUnreadable as broken:
        return Gap(kind=GapKind.HEADS_UNREADABLE, sentence=str(broken))


async def _unsealed(transaction: Transaction, last: Row | None) -> tuple[int, int | None]:
    """How many entries have no link, and the first that was added; before the first seal nothing is between others."""
    row = await store.unsealed(
        transaction,
        upto=(-1, 0) if last is None else (last["upto_xid"], last["upto_id"]),
        same_life=last is not None and last["xmin"] >= last["upto_xid"],
        sealed_at=datetime(1, 1, 2, tzinfo=UTC) if last is None else last["at"],
        longest=LONGEST_SECONDS,
    )
    return row["unsealed"], row["added"]


def _link(row: Row) -> Link:
    seal = (
        None
        if row["seal"] is None
        else _seal({**row, "number": row["seal"], "at": row["sealed_at"]}, row["seal_place"])
    )
    return Link(
        place=row["place"],
        entry=row["entry"],
        link=bytes(row["link"]),
        texts=row["texts"],
        at=row["at"],
        xid=row["xid"],
        seal=seal,
    )


def _seal(row: Row, place: int) -> Seal:
    return Seal(
        number=row["number"],
        at=row["at"],
        life=row["life"],
        upto=(row["upto_xid"], row["upto_id"]),
        place=place,
        count=row["count"],
        head=bytes(row["head"]),
    )
