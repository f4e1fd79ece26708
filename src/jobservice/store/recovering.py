"""Owns the statements of the duty that carries recoveries out: what is due, the next row, how rows begin and end.

Each runs in a transaction that holds the duty's lease, most of them with the recovery's row locked. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from jobcontract.states import Turn
from jobservice.store.database import Row, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A recovery that there is something to do about; `state` as it is written."""

    tenant: str
    id: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRow:
    """The row whose turn it is, locked. Its columns: migration 0005."""

    number: int
    key: str
    target: str
    name: str
    schedule: str
    moves: str
    scheduled_at: datetime | None
    row_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRow:
    """A row that runs, locked, and its occurrence: `there` is False where retention removed that."""

    key: str
    schedule: str
    there: bool
    state: str | None
    cause: str | None
    error: str | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a row ended; `at` None = now."""

    key: str
    turn: Turn
    sentence: str | None
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOccurrence:
    """An occurrence to make of a skipped instant, as the planner would have written it."""

    schedule: str
    at: datetime
    zone: str
    local_time: datetime | None
    clock: str | None
    clock_policy: str | None
    tzdata: str
    lock: str


async def due(transaction: Transaction, *, most: int) -> tuple[Due, ...]:
    """At most so many recoveries of all tenants that there is something to do about, the oldest first."""
    return tuple(Due(**row) for row in await transaction.rows("recovering/due", most=most))


async def running(transaction: Transaction, recovery: str) -> tuple[RunningRow, ...]:
    """The rows of it that run, and how their occurrences stand."""
    return tuple(RunningRow(**row) for row in await transaction.rows("recovering/running", recovery=recovery))


async def settle(transaction: Transaction, recovery: str, ended: Sequence[Ended]) -> int:
    """Write how rows ended and let go of their occurrences; how many."""
    row = await transaction.row(
        "recovering/settle",
        recovery=recovery,
        keys=[each.key for each in ended],
        turns=[each.turn.value for each in ended],
        sentences=[each.sentence for each in ended],
        ended=[each.at for each in ended],
    )
    return 0 if row is None else int(row["settled"])


async def next_row(
    transaction: Transaction, recovery: str, *, at_once: int, commands: Mapping[str, str], cancels: bool = False
) -> NextRow | None:
    """The row whose turn it is; None where `at_once` run already, the tenant or what they move is stopped, or none is left.
    `commands`: the bulk command of each schedule or kind of job that moves money. `cancels`: its rows cancel jobs, which
    asks for no room and goes on while everything is stopped."""
    row = await transaction.row(
        "recovering/next",
        recovery=recovery,
        at_once=at_once,
        schedules=list(commands),
        commands=list(commands.values()),
        cancels=cancels,
    )
    return None if row is None else NextRow(**row)


async def begin(
    transaction: Transaction,
    recovery: str,
    row: NextRow,
    turn: Turn,
    *,
    sentence: str | None,
    occurrence: str | None,
    made: str | None = None,
) -> None:
    """Write that a row runs, or how it ended at once; `occurrence` or `made`, a job: what was made for it."""
    written = await transaction.run(
        "recovering/begin",
        recovery=recovery,
        key=row.key,
        number=row.number,
        turn=turn.value,
        sentence=sentence,
        occurrence=occurrence,
        made=made,
    )
    if written != 1:
        raise RuntimeError("a locked row has not started yet")


async def add_occurrence(transaction: Transaction, recovery: str, new: NewOccurrence) -> str | None:
    """Make an occurrence, due now; its id, or None where it may not be: see `standing`."""
    row = await transaction.row(
        "recovering/add_occurrence",
        recovery=recovery,
        schedule=new.schedule,
        at=new.at,
        zone=new.zone,
        local_time=new.local_time,
        clock=new.clock,
        clock_policy=new.clock_policy,
        tzdata=new.tzdata,
        lock=new.lock,
    )
    return None if row is None else str(row["id"])


async def standing(transaction: Transaction, schedule: str, at: datetime) -> Row:
    """Why no occurrence could be made of an instant: `there`, `removed`, `disabled_by`, `disabled_reason`."""
    row = await transaction.row("recovering/standing", schedule=schedule, at=at)
    assert row is not None  # noqa: S101  # it selects one row from no table
    return row


async def progress(transaction: Transaction, recovery: str, account: Mapping[str, int]) -> int:
    """Count a step of a locked recovery, whose rows are so many by turn now; its version."""
    row = await transaction.row("recovering/progress", recovery=recovery, account=Jsonb(dict(account)))
    assert row is not None  # noqa: S101  # the recovery is locked
    return int(row["version"])


async def finish(transaction: Transaction, recovery: str, *, why: str | None = None) -> Row | None:
    """End a locked recovery of which nothing runs or waits: `state`, `account`, `version`; None where something does.
    `why`: what is to be said of it where it is done."""
    return await transaction.row("recovering/finish", recovery=recovery, why=why)


async def head(transaction: Transaction, recovery: str) -> Row | None:
    """A confirmed recovery that moves money, as its digest has it, with its signature; None where it is none."""
    return await transaction.row("recovering/head", recovery=recovery)


async def instant(transaction: Transaction, occurrence: UUID) -> tuple[str, datetime] | None:
    """Schedule and scheduled instant of an occurrence; None where there is none."""
    row = await transaction.row("recovering/instant", occurrence=occurrence)
    return None if row is None else (row["schedule"], row["scheduled_at"])
