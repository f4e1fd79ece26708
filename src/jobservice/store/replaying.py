"""Owns the statements by which a person has an ended occurrence run again, or puts a dead letter away. Decides nothing
(`rules/replays.py`); runs nothing.

`usecases/replays.py` offers both for a transaction that is open already, with lock, decision, history and audit row:

    replay_in(transaction, records, deployment, order)   -> Replayed or Denied
    discard_in(transaction, order)                       -> Discarded or Denied

where `order` is a `usecases.replays.Order` (occurrence, person, reason, version, recovery, allow_money). A recovery's duty
calls them for each of its rows, under the Worker's role, in a transaction of the recovery's tenant; `person` is the owner
who confirmed it. Neither opens a transaction, raises a refusal, or writes anything where it gives a `Denied`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobservice.store.database import Row, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """An occurrence that is to run again. `replay`: which replay it is; `not_done`: items that run again."""

    replay: int
    version: int
    due_at: datetime
    not_done: int


async def lock(transaction: Transaction, occurrence: str) -> Row | None:
    """Lock an occurrence, and then read how it stands; None where the tenant has none of that id."""
    if await transaction.row("replaying/lock", occurrence=occurrence) is None:
        return None
    return await transaction.row("replaying/read", occurrence=occurrence)


async def removed(transaction: Transaction, schedule: str, at: datetime) -> datetime | None:
    """Up to when retention removed occurrences of a schedule, where that instant is not later; else None."""
    row = await transaction.row("replaying/removed", schedule=schedule, at=at)
    return None if row is None else row["floor_at"]


async def replay(
    transaction: Transaction,
    occurrence: str,
    *,
    version: int,
    person: str,
    reason: str,
    recovery: str | None,
    itself: bool,
) -> Again | None:
    """Have a locked occurrence of that version run again; None where it does not stand so any more. `itself`: its
    schedule selects nothing, each run is its own item."""
    row = await transaction.row(
        "replaying/replay",
        occurrence=occurrence,
        version=version,
        person=person,
        reason=reason,
        recovery=recovery,
        itself=itself,
    )
    return None if row is None else Again(**row)


async def discard(transaction: Transaction, occurrence: str, *, version: int, person: str, reason: str) -> int | None:
    """Put a locked dead letter of that version away; its version now, None where it does not stand so any more."""
    row = await transaction.row(
        "replaying/discard", occurrence=occurrence, version=version, person=person, reason=reason
    )
    return None if row is None else row["version"]
