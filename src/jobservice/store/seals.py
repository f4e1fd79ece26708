"""Owns the statements of the seals of the trail: sealing as the Worker's role, reading the chain as the owner."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from psycopg.rows import dict_row

from jobservice.store.database import Row, Transaction
from jobservice.store.statements import statement

EVERY = 2**62
"""Behind every place."""
_AT_ONCE = 2_000
"""Rows of the chain that are fetched at a time."""


async def seal(transaction: Transaction, *, most: int) -> Row | None:
    """Seal at most `most` entries as one batch; number, place, count, head and instant of the seal, None where nothing
    is to be sealed."""
    return await transaction.row("seals/seal", most=most)


async def waits(transaction: Transaction) -> Row:
    """Whether something `waits` to be sealed, and the `place` of the newest head."""
    row = await transaction.row("seals/waits")
    assert row is not None  # noqa: S101  # a select without from has a row
    return row


async def last(transaction: Transaction) -> Row | None:
    """The newest seal; None before the first."""
    return await transaction.row("seals/last")


async def base(transaction: Transaction) -> Row | None:
    """The seal that the trail begins behind, `number` None where it is gone; None where nothing was purged."""
    return await transaction.row("seals/base")


async def announced(transaction: Transaction, place: int) -> Row | None:
    """The latest entry that says that the trail is purged up to that place, or further; None where none says so."""
    return await transaction.row("seals/announced", place=place)


async def chain(transaction: Transaction, *, after: int = 0, upto: int = EVERY) -> AsyncIterator[Row]:
    """Every link behind a place, up to another, in its order, through a cursor of the server: the trail may be larger
    than the memory here."""
    async with transaction.connection.cursor(name="chain", row_factory=dict_row) as cursor:
        cursor.itersize = _AT_ONCE
        await cursor.execute(statement("seals/chain"), {"after": after, "upto": upto})
        async for row in cursor:
            yield row


async def unsealed(
    transaction: Transaction, *, upto: tuple[int, int], same_life: bool, sealed_at: datetime, longest: float
) -> Row:
    """How many entries have no link, and the first (`added`) that cannot have been there when the last seal was made:
    up to `upto` (transaction and entry), or older than `longest` seconds before it."""
    row = await transaction.row(
        "seals/unsealed",
        upto_xid=upto[0],
        upto_id=upto[1],
        same_life=same_life,
        whole=upto[0] >= 0 and upto[1] == 0,  # a batch that was full left older entries to the next one
        sealed_at=sealed_at,
        longest=longest,
    )
    assert row is not None  # noqa: S101  # a count has a row
    return row
