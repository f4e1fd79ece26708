"""Owns the statements of purging: what is past its retention, removed batch by batch, and what is kept of that until the
trail says it. Runs as the role of the purge. Decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from jobservice.store.database import Transaction
from jobservice.store.statements import statement

FIRST = UUID(int=0)
_OF_JOBS = (
    "purge/remove_attempts",
    "purge/remove_notices",
    "purge/remove_events",
    "purge/remove_steps",
    "purge/remove_jobs",
)
"""What is removed of jobs, the ones that refer to others first."""
_OF_PLANS = (
    "purge/remove_plan_exclusions",
    "purge/remove_plan_warnings",
    "purge/remove_outgoings",
    "purge/remove_plan_items",
    "purge/remove_plans",
)
_OF_RECOVERIES = ("purge/remove_recovery_rows", "purge/remove_recovery_left_out", "purge/remove_recoveries")


async def alone(connection: AsyncConnection[Any]) -> bool:
    """Whether this session is the only one that purges; held until it ends."""
    row = await (await connection.execute(statement("purge/one_at_a_time"))).fetchone()
    return row is not None and bool(row["taken"])


async def here(transaction: Transaction) -> tuple[datetime, Sequence[str]]:
    """This instant by the database's clock, and the families of jobs."""
    row = await transaction.row("purge/families")
    assert row is not None  # noqa: S101  # a select without from has a row
    return row["now"], row["families"]


async def lineages(transaction: Transaction, family: str, *, after: UUID, until: UUID, most: int) -> Sequence[UUID]:
    """Lineages whose first job is between two ids."""
    rows = await transaction.rows("purge/lineages", family=family, after=after, until=until, most=most)
    return [row["id"] for row in rows]


async def remove_lineages(
    transaction: Transaction, family: str, wanted: Sequence[UUID], *, past: datetime
) -> Mapping[str, int]:
    """Remove those of the lineages that settled whole before `past` and have nothing left to do, with all that belongs to
    them; how many jobs of each tenant. What somebody works on is passed over."""
    names: dict[str, Any] = {"family": family, "lineages": list(wanted)}
    locked = [row["id"] for row in await transaction.rows("purge/lock_lineages", **names)]
    rows = await transaction.rows("purge/whole_lineages", **names, past=past, locked=locked)
    if not rows:
        return {}
    of = {"family": family, "jobs": [row["id"] for row in rows]}
    for name in _OF_JOBS:
        await transaction.run(name, **of)
    await transaction.run("purge/remove_runs", handles=[row["handle"] for row in rows if row["handle"]])
    causes = {row["cause"] for row in rows if row["cause"] is not None}
    if causes:
        await transaction.run("purge/remove_causes", causes=sorted(causes))
    return Counter(row["tenant"] for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastPlan:
    """A plan that is past its retention. `sent`: it stays whole, since something of it was sent or is evidence."""

    id: UUID
    tenant: str
    ended_at: datetime
    count: int
    sent: bool


async def plans(transaction: Transaction, *, past: datetime, after: PastPlan | None, most: int) -> Sequence[PastPlan]:
    """The next plans that ended before `past`, those that ended first before others."""
    rows = await transaction.rows(
        "purge/plans",
        past=past,
        after_at=datetime.min.replace(year=1900, tzinfo=past.tzinfo) if after is None else after.ended_at,
        after=FIRST if after is None else after.id,
        most=most,
    )
    return [PastPlan(**row) for row in rows]


async def remove_plans(transaction: Transaction, gone: Sequence[PastPlan]) -> None:
    """Remove plans of which nothing was sent, with their rows."""
    for name in _OF_PLANS:
        await transaction.run(name, plans=[plan.id for plan in gone])


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRecovery:
    """A recovery that is past its retention."""

    id: UUID
    tenant: str
    count: int


async def recoveries(transaction: Transaction, *, past: datetime, most: int) -> Sequence[PastRecovery]:
    """Recoveries that ended before `past`, the first ones."""
    return [PastRecovery(**row) for row in await transaction.rows("purge/recoveries", past=past, most=most)]


async def remove_recoveries(transaction: Transaction, gone: Sequence[PastRecovery]) -> None:
    """Remove recoveries with their rows."""
    for name in _OF_RECOVERIES:
        await transaction.run(name, recoveries=[recovery.id for recovery in gone])


async def remove_keys(transaction: Transaction, *, most: int) -> Mapping[str, int]:
    """Remove at most `most` idempotency keys past their time; how many of each tenant."""
    return {row["tenant"]: row["count"] for row in await transaction.rows("purge/remove_keys", most=most)}


async def remove_past_notices(transaction: Transaction, *, past: datetime, most: int) -> Mapping[str, int]:
    """Remove at most `most` notices to people that were made before `past` and delivered or given up; how many of each tenant
    ('' = none)."""
    rows = await transaction.rows("purge/remove_past_notices", past=past, most=most)
    return {row["tenant"]: row["count"] for row in rows}


async def remove_past_alarms(transaction: Transaction, *, past: datetime, most: int) -> Mapping[str, int]:
    """Remove at most `most` alarms that were over before `past` and of which nobody is to be told; how many of each tenant."""
    rows = await transaction.rows("purge/remove_past_alarms", past=past, most=most)
    return {row["tenant"]: row["count"] for row in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSeal:
    """A seal that was made before an instant; `recent`: an entry of it says that it is not so old."""

    place: int
    count: int
    head: bytes
    recent: bool


async def seals(transaction: Transaction, *, past: datetime, after: int, most: int) -> Sequence[PastSeal]:
    """The next seals of the trail behind a place, that were made before `past`."""
    rows = await transaction.rows("purge/seals", past=past, after=after, most=most)
    return [PastSeal(**{**row, "head": bytes(row["head"])}) for row in rows]


async def entries_of(transaction: Transaction, *, after: int, upto: int) -> Mapping[str, int]:
    """How many entries of the trail each tenant ('' = none) has between two places."""
    return {row["tenant"]: row["count"] for row in await transaction.rows("purge/entries_of", after=after, upto=upto)}


async def announced(transaction: Transaction, place: int) -> bool:
    """Whether the trail says already that everything up to a place is to go."""
    row = await transaction.row("purge/announced", place=str(place))
    return row is not None and bool(row["said"])


async def remove_trail(transaction: Transaction, place: int) -> tuple[int, int]:
    """Raise the base of the trail to the seal at a place and remove what is under it: how many entries, and links."""
    await transaction.run("purge/raise_base", place=place)
    entries = await transaction.run("purge/remove_entries", place=place)
    links = await transaction.run("purge/remove_links", place=place)
    await transaction.run("purge/remove_seals", place=place)
    return entries, links


async def keep_count(transaction: Transaction, what: str, counts: Mapping[str, int]) -> None:
    """Keep what the transaction removed, by tenant, until the trail says so."""
    if counts:
        await transaction.run("purge/keep_count", what=what, tenants=list(counts), counts=list(counts.values()))


async def take_counts(transaction: Transaction) -> Sequence[tuple[str, Mapping[str, int]]]:
    """Take what is gone and the trail does not say yet: tenant ('' = none), and how many of what."""
    return [(row["tenant"], row["counts"]) for row in await transaction.rows("purge/take_counts")]


async def count_jobs(transaction: Transaction, families: Iterable[str], *, past: datetime, until: UUID) -> int:
    """How many jobs would go; looks at all that are old enough."""
    total = 0
    for family in families:
        row = await transaction.row("purge/count_jobs", family=family, past=past, until=until)
        total += 0 if row is None else int(row["count"])
    return total


async def count_keys(transaction: Transaction) -> int:
    """How many idempotency keys would go."""
    row = await transaction.row("purge/count_keys")
    return 0 if row is None else int(row["count"])


async def count_past_notices(transaction: Transaction, *, past: datetime) -> int:
    """How many notices to people would go."""
    row = await transaction.row("purge/count_past_notices", past=past)
    return 0 if row is None else int(row["count"])


async def count_past_alarms(transaction: Transaction, *, past: datetime) -> int:
    """How many alarms would go."""
    row = await transaction.row("purge/count_past_alarms", past=past)
    return 0 if row is None else int(row["count"])
