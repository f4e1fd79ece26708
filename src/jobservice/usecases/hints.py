"""Owns reading live hints from a position: repeats rather than misses, and says when only a reload helps."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from jobcontract.events import Hint
from jobservice.store import hints as store
from jobservice.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class HintBatch:
    """Hints since a position. Hand `position` and `seen` to the next read: what was told once is not told again."""

    position: int
    hints: tuple[Hint, ...]
    seen: frozenset[int]
    """Rows told so far that the next read would find again (their transaction is at or above `position`)."""
    reset: bool
    """The position was too old, of another database, or too much waited: reload everything."""


_UNSEEN: frozenset[int] = frozenset()


async def read_hints(
    database: Database, tenant: str, position: int | None, *, seen: Collection[int] = _UNSEEN
) -> HintBatch:
    """What changed in `tenant` since `position`; None begins now. Positions never go back."""
    async with database.transaction(tenant) as transaction:
        found = await store.read(transaction, position=position, seen=seen)
    lost = position is not None and not found.floor < position <= found.position
    if position is None or lost or len(found.hints) > store.BATCH_MAX:
        return HintBatch(position=found.position, hints=(), seen=_UNSEEN, reset=position is not None)
    return HintBatch(
        position=found.position,
        hints=tuple(hint for _, hint in found.hints),
        seen=found.ahead,
        reset=False,
    )
