"""Owns the statements of what is in a recovery and what is not: freezing, taking out, comparing, reading. Decides nothing:
why something is left out is compared in the statement, in the order of `LeftOut` as `rules/recoveries.py` tells it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.states import Moves, OccurrenceState, Turn
from jobservice.rules.recoveries import CHANGED_TOLD, LEFT_KEPT, ChangedRow
from jobservice.store.database import Row, Transaction

EVER = datetime(1, 1, 1, tzinfo=UTC)
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_CHUNK = 5_000
"""Rows that are hashed at a time."""
_DEAD = (OccurrenceState.DEAD_LETTER,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """What the records say of a schedule that runs here for the tenant."""

    schedule: str
    moves: Moves
    itself: bool = False
    """Whether it selects nothing: each run is its own item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOccurrence:
    """One that was named: by its id, or by schedule and instant; neither where the text is no name at all."""

    text: str
    id: str | None = None
    schedule: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedInstant:
    """One skipped instant that was asked for; `key` is its name."""

    key: str
    schedule: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Occurrences scheduled from `since` to before `until`, of some schedules (None: all)."""

    since: datetime = EVER
    until: datetime = NEVER
    schedules: Sequence[str] | None = None
    causes: Sequence[str] | None = None
    """Of dead letters; None: any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be frozen into a recovery. Either `named` or a `stretch`."""

    recovery: str
    book: Sequence[Booked]
    named: Sequence[AskedOccurrence] = ()
    stretch: Stretch | None = None
    skips: Sequence[SkippedInstant] = ()
    dead_only: bool
    """Whether only dead letters that nobody put away are fit."""
    runs: bool
    """Whether what is taken runs again, so that its schedule has to be there and switched on."""
    may_money: bool
    may_others: bool
    now: datetime
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How many rows are fit (above the most: one more, and nothing was written), how many each reason keeps out, and the
    first of those: `text`, `schedule`, `at`, `reason`, `state`, `disabled_by`, `disabled_reason`, `recovery`."""

    found: int
    left_out: Mapping[str, int]
    kept: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOut:
    """One left-out thing, with the sentence that says why."""

    name: str
    schedule: str
    reason: str
    sentence: str
    at: datetime | None


async def freeze(transaction: Transaction, wanted: Wanted) -> Found:
    """Write the rows of a recovery over occurrences, by number."""
    stretch = wanted.stretch or Stretch()
    states = _DEAD if wanted.dead_only else tuple(OccurrenceState)
    row = await transaction.row(
        "recovery_rows/freeze",
        recovery=wanted.recovery,
        book=Jsonb(
            [{"schedule": each.schedule, "moves": each.moves.value, "itself": each.itself} for each in wanted.book]
        ),
        asked=Jsonb(
            [
                {
                    "place": place,
                    "text": each.text,
                    "id": each.id,
                    "schedule": each.schedule,
                    "at": None if each.at is None else each.at.isoformat(),
                }
                for place, each in enumerate(wanted.named)
            ]
        ),
        stretch=wanted.stretch is not None,
        states=[state.value for state in states],
        since=stretch.since,
        until=stretch.until,
        schedules=None if stretch.schedules is None else list(stretch.schedules),
        causes=None if stretch.causes is None else list(stretch.causes),
        skips=Jsonb([{"key": each.key, "schedule": each.schedule, "at": each.at.isoformat()} for each in wanted.skips]),
        dead_only=wanted.dead_only,
        runs=wanted.runs,
        may_money=wanted.may_money,
        may_others=wanted.may_others,
        now=wanted.now,
        most=wanted.most,
        kept=LEFT_KEPT,
    )
    return _found(row)


async def freeze_schedules(
    transaction: Transaction,
    recovery: str,
    schedules: Sequence[str],
    *,
    book: Sequence[Booked],
    may_others: bool,
    now: datetime,
    most: int,
) -> Found:
    """Write the rows of a recovery that disables schedules, by number."""
    row = await transaction.row(
        "recovery_rows/freeze_schedules",
        recovery=recovery,
        schedules=list(schedules),
        book=Jsonb([{"schedule": each.schedule} for each in book]),
        may_others=may_others,
        now=now,
        most=most,
    )
    return _found(row)


def _found(row: Row | None) -> Found:
    assert row is not None  # noqa: S101  # an aggregate has a row
    return Found(found=row["found"], left_out=row["left_out"], kept=row["kept"])


async def all_done(transaction: Transaction, stretch: Stretch) -> Found:
    """What of a stretch was completed with every item selected and done."""
    row = await transaction.row(
        "recovery_rows/all_done",
        since=stretch.since,
        until=stretch.until,
        schedules=None if stretch.schedules is None else list(stretch.schedules),
        kept=LEFT_KEPT,
    )
    assert row is not None  # noqa: S101  # a select without from has a row
    return Found(found=0, left_out={"all-done": row["count"]}, kept=row["kept"])


async def skips(transaction: Transaction, stretch: Stretch) -> list[Row]:
    """Runs of skipped instants that reach into a stretch: `schedule`, `first_at`, `last_at`, `count`, `made`."""
    return list(
        await transaction.rows(
            "recovery_rows/skips",
            since=stretch.since,
            until=stretch.until,
            schedules=None if stretch.schedules is None else list(stretch.schedules),
        )
    )


async def keep_left_out(transaction: Transaction, recovery: str, kept: Sequence[KeptOut]) -> None:
    """Keep what is left out by name, behind what is there, up to `LEFT_KEPT` of a recovery."""
    if kept:
        await transaction.run(
            "recovery_rows/add_left_out",
            recovery=recovery,
            names=[each.name for each in kept],
            schedules=[each.schedule for each in kept],
            reasons=[each.reason for each in kept],
            sentences=[each.sentence for each in kept],
            instants=[each.at for each in kept],
            kept=LEFT_KEPT,
        )


async def by_schedule(transaction: Transaction, recovery: str) -> list[Row]:
    """How many rows each schedule has: `schedule`, `moves`, `count`."""
    return list(await transaction.rows("recovery_rows/by_schedule", recovery=recovery))


async def hashed(transaction: Transaction, recovery: str) -> AsyncIterator[Sequence[Row]]:
    """What of its rows goes through the digest, by number, a chunk at a time."""
    after = 0
    while True:
        rows = await transaction.rows("recovery_rows/hashed", recovery=recovery, after=after, most=_CHUNK)
        if not rows:
            return
        yield rows
        after = rows[-1]["number"]


async def confirmed(transaction: Transaction, recovery: str, key: str) -> Row | None:
    """What of one row goes through the digest, what it acts on (`schedule`, `scheduled_at`, `occurrence`, `job`) and its
    `turn`; None where the recovery has no row of that key."""
    return await transaction.row("recovery_rows/confirmed", recovery=recovery, key=key)


async def page(transaction: Transaction, recovery: str, *, turn: Turn | None, after: int, most: int) -> list[Row]:
    """At most `most` + 1 rows behind a number."""
    return list(
        await transaction.rows(
            "recovery_rows/page",
            recovery=recovery,
            turn=None if turn is None else turn.value,
            after=after,
            most=most,
        )
    )


async def left_out(transaction: Transaction, recovery: str, *, after: int, most: int) -> list[Row]:
    """At most `most` + 1 left-out things behind a number."""
    return list(await transaction.rows("recovery_rows/left_out", recovery=recovery, after=after, most=most))


async def take_out(transaction: Transaction, recovery: str, keys: Sequence[str]) -> list[Row]:
    """Take rows out by their keys and count the rest anew; those that were in it: `name`, `schedule`, `scheduled_at`."""
    taken = await transaction.rows("recovery_rows/take_out", recovery=recovery, keys=list(keys))
    await transaction.run("recovery_rows/renumber", recovery=recovery)
    return list(taken)


async def lock_targets(transaction: Transaction, recovery: str) -> None:
    """Lock the occurrences and schedules that its rows are about, in the order of their ids."""
    await transaction.row("recovery_rows/lock_targets", recovery=recovery)
    await transaction.row("recovery_rows/lock_schedules", recovery=recovery)


async def changed(
    transaction: Transaction, recovery: str, *, runs: bool, now: datetime
) -> tuple[tuple[ChangedRow, ...], int]:
    """The first rows that are no longer as they were frozen, and how many there are. What they are about is locked."""
    rows = await transaction.rows("recovery_rows/changed", recovery=recovery, runs=runs, now=now, most=CHANGED_TOLD)
    count = int(rows[0]["changed"]) if rows else 0
    names = tuple(field for field in ChangedRow.__dataclass_fields__)
    return tuple(ChangedRow(**{name: row[name] for name in names}) for row in rows), count
