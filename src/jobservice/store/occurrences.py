"""Owns the statements that read occurrences for people, and the one by which a person asks that one be cancelled.
Claims and leases are `store/occurrence_leases.py`. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobcontract.states import OccurrenceState
from jobservice.store.database import Row, Transaction
from jobservice.store.items import readable

Place = tuple[datetime, str]
"""Where an occurrence stands in a listing: its scheduled instant and its id."""
ItemPlace = tuple[int, int]
"""Where an item stands among those of its run: its kind (0 failed or uncertain, 1 open, 2 settled) and its number."""
FIRST_ITEM: ItemPlace = (-1, 0)
"""Before every item."""
_EVER = datetime(1, 1, 1, tzinfo=UTC)
_NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_START: Place = (_NEVER, "ffffffff-ffff-ffff-ffff-ffffffffffff")
_TICK = timedelta(microseconds=1)
_EVERY_STATE = tuple(OccurrenceState)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which occurrences of the tenant: of one schedule or all, in some states, scheduled from `since` to before `until`."""

    schedule: str | None = None
    states: Sequence[OccurrenceState] = _EVERY_STATE
    since: datetime | None = None
    until: datetime | None = None


async def page(transaction: Transaction, wanted: Wanted, *, behind: Place | None, most: int) -> list[Row]:
    """At most `most` + 1 of them behind a place, the latest scheduled first."""
    at, after = behind or _START
    return await _listed(transaction, None, wanted, at=at, after=after, most=most)


async def of_id(transaction: Transaction, occurrence: str) -> Row | None:
    """The occurrence of that id; None where the tenant has none, or the text is no id."""
    if not readable(occurrence):
        return None
    at, after = _START
    rows = await _listed(transaction, occurrence, Wanted(), at=at, after=after, most=1)
    return rows[0] if rows else None


async def of_instant(transaction: Transaction, schedule: str, scheduled_at: datetime) -> Row | None:
    """The occurrence of a schedule at an instant; None where the tenant has none."""
    at, after = _START
    if scheduled_at >= _NEVER:  # no rhythm comes so far, and a tick more is no datetime
        return None
    wanted = Wanted(schedule=schedule, since=scheduled_at, until=scheduled_at + _TICK)
    rows = await _listed(transaction, None, wanted, at=at, after=after, most=1)
    return rows[0] if rows else None


async def _listed(
    transaction: Transaction, occurrence: str | None, wanted: Wanted, *, at: datetime, after: str, most: int
) -> list[Row]:
    return list(
        await transaction.rows(
            "occurrences/listed",
            occurrence=occurrence,
            schedule=wanted.schedule,
            states=[state.value for state in wanted.states],
            since=wanted.since or _EVER,
            # The place bounds the range too: of several upper bounds an index begins at one alone, and not at the lowest.
            until=min(wanted.until or _NEVER, at + _TICK if at < _NEVER else _NEVER),
            at=at,
            after=after,
            most=most,
        )
    )


async def counted(transaction: Transaction, occurrence: str) -> Row | None:
    """Counts of its items by their rows, of one that is not completed; None where those that it has itself hold.

    Reads every row of the run (120,000 take some 30 ms): for one occurrence, never for a list.
    """
    return await transaction.row("occurrences/counted", occurrence=occurrence)


async def attempts(transaction: Transaction, occurrence: str, *, most: int) -> list[Row]:
    """Its attempts that ended, newest first."""
    return list(await transaction.rows("occurrences/attempts", occurrence=occurrence, most=most))


async def refused(transaction: Transaction, occurrence: str, *, most: int) -> list[Row]:
    """What was refused of it because the lease was not the Worker's any more, newest first."""
    return list(await transaction.rows("occurrences/refused", occurrence=occurrence, most=most))


async def replays(transaction: Transaction, occurrence: str, *, most: int) -> list[Row]:
    """Its replays, the latest first."""
    return list(await transaction.rows("occurrences/replays", occurrence=occurrence, most=most))


async def items(transaction: Transaction, occurrence: str, *, behind: ItemPlace, most: int) -> list[Row]:
    """At most `most` + 1 of its items behind a place: failed ones first, then open ones, each with its `kind`."""
    kind, number = behind
    return list(await transaction.rows("occurrences/items", occurrence=occurrence, kind=kind, number=number, most=most))


async def lock(transaction: Transaction, occurrence: str) -> Row | None:
    """Lock the occurrence of that id, waiting for whoever has it; None where the tenant has none."""
    return await transaction.row("occurrences/lock", occurrence=occurrence)


async def cancel(transaction: Transaction, occurrence: str, *, person: str, reason: str) -> int | None:
    """Ask that a locked occurrence be cancelled; its version, or None where it has ended or was asked before."""
    row = await transaction.row("occurrences/cancel", occurrence=occurrence, person=person, reason=reason)
    return None if row is None else int(row["version"])
