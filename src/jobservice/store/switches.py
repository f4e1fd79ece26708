"""Owns the statements by which a person switches a schedule off and on, or starts a manual one. Decides nothing.

A switch locks the schedule's row before it reads it, so that the planner and a colleague are waited for.
"""

from __future__ import annotations

from datetime import datetime

from jobservice.rules.misfires import Waiting
from jobservice.store.database import Row, Transaction

WAITING_MOST = 5_000
"""Most waiting rows that a look ahead counts."""


async def lock(transaction: Transaction, schedule: str) -> Row | None:
    """Lock a schedule's row and read it; None where no Worker has made it yet."""
    if await transaction.row("switches/lock", schedule=schedule) is None:
        return None
    return await read(transaction, schedule)


async def read(transaction: Transaction, schedule: str) -> Row | None:
    """Where a schedule stands; None where no Worker has made its row yet."""
    return await transaction.row("switches/read", schedule=schedule)


async def waiting(transaction: Transaction, schedule: str, *, now: datetime) -> tuple[Waiting, ...]:
    """What of it waits unstarted and is missed, or was made up for, oldest first."""
    rows = await transaction.rows("switches/waiting", schedule=schedule, now=now, most=WAITING_MOST)
    return tuple(Waiting(at=row["at"], missed=row["missed"], made_up=row["made_up"]) for row in rows)


async def disable(
    transaction: Transaction,
    schedule: str,
    *,
    version: int,
    person: str,
    reason: str,
    until: datetime | None,
    off: bool,
) -> bool:
    """Switch a locked schedule of that version off; `off`: it is, and stays so since then. Whether it was written."""
    written = await transaction.run(
        "switches/disable", schedule=schedule, version=version, person=person, reason=reason, until=until, off=off
    )
    return written > 0


async def enable(transaction: Transaction, schedule: str, *, version: int) -> bool:
    """Switch a locked schedule of that version on. Whether it was written."""
    return await transaction.run("switches/enable", schedule=schedule, version=version) > 0


async def start(transaction: Transaction, schedule: str, *, at: datetime, lock: str, tzdata: str) -> str | None:
    """Make an occurrence of a manual schedule; its id. None where that instant is taken, its schedule switched off, or the
    tenant's work stopped."""
    row = await transaction.row("switches/start", schedule=schedule, at=at, lock=lock, tzdata=tzdata)
    return None if row is None else str(row["id"])
