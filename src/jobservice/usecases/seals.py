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
    """What verifying found: entries that hold, heads outside that agree, entries without a seal, the first gap. `purged`:
    so many entries were before the first, and are gone."""

    purged: int = 0
    entries: int
    seals: int
    heads: int
    unsealed: int
    gap: Gap | None


async def verify(database: Database, heads: Heads | None) -> Verified:
    """Verify the whole trail of all tenants, with the heads in a folder where one is given; from the last head before a
    purge on, where there was one.

    A gap is one only where the trail still begins where it was walked from: a purge that overtook the walk leaves what looks
    like one. A purge has an end, so has this.
    """
    while True:
        found, begun = await _verify(database, heads)
        if found.gap is None:
            return found
        async with database.transaction(None) as transaction:
            if _place(await store.base(transaction)) == begun:
                return found


async def _verify(database: Database, heads: Heads | None) -> tuple[Verified, int]:
    """What one walk finds, and where it began."""
    written = readable_heads(heads)
    async with database.transaction(None, statement_seconds=STATEMENT_SECONDS) as transaction:
        base = await store.base(transaction)
        newest = await store.last(transaction)
        last = None if newest is None else _seal(newest, newest["place"])
        checking = Checking(heads=written)
        gap = await walk(transaction, checking, base, last)
        unsealed, first = await _unsealed(transaction, newest)
    if gap is None and first is not None:
        gap = added(first)
    begun = _place(base)
    found = Verified(
        purged=begun,
        entries=max(0, checking.place - begun),
        seals=0 if checking.seal is None else checking.seal.number - (base["number"] or 0 if base is not None else 0),
        heads=checking.compared,
        unsealed=unsealed,
        gap=gap,
    )
    return found, begun


def _place(base: Row | None) -> int:
    """The place that the trail begins behind."""
    return 0 if base is None else int(base["place"])


def readable_heads(heads: Heads | None) -> Iterator[tuple[int, bytes]]:
    """The heads as they lie there now; HeadsUnreadable where one cannot be read."""
    return iter(()) if heads is None else _readable(heads.read(heads.sizes()))


def _readable(heads: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    try:
        yield from heads
    except HeadsBroken as broken:
        raise HeadsUnreadable(str(broken)) from broken


async def walk(
    transaction: Transaction, checking: Checking, base: Row | None, last: Seal | None, *, upto: int = store.EVERY
) -> Gap | None:
    """The first gap of the chain, from its base up to a place; `last`: the newest seal, where it is walked to its end."""
    try:
        gap = await _begin(transaction, checking, base)
        if gap is not None:
            return gap
        async for row in store.chain(transaction, after=_place(base), upto=upto):
            gap = checking.take(_link(row))
            if gap is not None:
                return gap
        return checking.end(last) if upto == store.EVERY else checking.pause()
    except HeadsUnreadable as broken:
        return Gap(kind=GapKind.HEADS_UNREADABLE, sentence=str(broken))


async def _begin(transaction: Transaction, checking: Checking, base: Row | None) -> Gap | None:
    if base is None:
        return None
    seal = None if base["number"] is None else _seal(base, base["place"])
    said = await store.announced(transaction, base["place"])
    return checking.begin(seal, base["place"], None if said is None else (said["upto"], said["head"]))


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
