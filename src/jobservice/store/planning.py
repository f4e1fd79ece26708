"""Owns the statements of the planner: rows of schedules, occurrences that are planned, taken back or made up for, skips.

Over all tenants, many rows a statement, each write under the planner's lease. Decides nothing (`rules/planning.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from jobservice.rules.misfires import Skip, Waiting
from jobservice.rules.planning import New, Plan, Standing
from jobservice.store.database import Row, Transaction

WAITING_MOST = 5_000
"""Most waiting rows of one batch; what is left is decided with the next."""
SILENT_SECONDS = 60.0
"""A Worker that was not heard of for so long does not count as one that lives."""
COUNTED_MOST = 100_000
"""Figures are counted to so many."""

Key = tuple[str, str]
"""A tenant and a schedule in it."""
LeaseKey = Mapping[str, object]
"""`name`, `holder` and `fence` of the planner's lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The database's clock, every tenant, and whether something is to be looked at."""

    now: datetime
    tenants: Sequence[str]
    due: bool
    newest: bool
    """Whether no Worker that lives started later than this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A schedule's row as it is compared with the records."""

    key: Key
    definition: str
    kept_seconds: float | None
    retired: bool
    parked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What the records say of a schedule in a tenant, for its row."""

    key: Key
    definition: str
    kept_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """A schedule's row under the lock of this transaction."""

    key: Key
    standing: Standing
    parked: str | None
    version: int
    missed: bool
    """Whether an occurrence of it was missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One plan for one schedule in one tenant, with what its occurrences carry."""

    key: Key
    plan: Plan
    zone: str
    lock: str
    clock_policy: str | None = None
    """What is stated for skipped and for repeated times; None where its clock has none."""


async def outlook(transaction: Transaction, schedules: Collection[str], *, holder: UUID) -> Outlook:
    """What a run reads first, and all that it does where there is nothing to do."""
    row = await transaction.row("planning/outlook", schedules=list(schedules), holder=holder, silent=SILENT_SECONDS)
    assert row is not None  # noqa: S101  # it selects from no table
    return Outlook(now=row["now"], tenants=row["tenants"], due=row["due"], newest=row["newest"])


async def known(transaction: Transaction, tenants: Collection[str]) -> tuple[Known, ...]:
    """Every row of these tenants' schedules, retired ones too."""
    rows = await transaction.rows("planning/known", tenants=list(tenants))
    return tuple(
        Known(
            key=(row["tenant"], row["schedule"]),
            definition=row["definition"],
            kept_seconds=row["kept_seconds"],
            retired=row["retired"],
            parked=row["parked"],
        )
        for row in rows
    )


async def add(transaction: Transaction, lease: LeaseKey, stated: Sequence[Stated], *, now: datetime) -> int:
    """Rows for schedules that have none or were retired, planned from `now` on; how many were."""
    return await transaction.run("planning/add", **lease, now=now, rows=_json(map(_stated, stated)))


async def touch(transaction: Transaction, lease: LeaseKey, stated: Sequence[Stated], *, now: datetime) -> None:
    """Have these looked at, and keep their retention; whoever looks finds what changed."""
    await transaction.run("planning/touch", **lease, now=now, rows=_json(map(_stated, stated)))


async def retire(transaction: Transaction, lease: LeaseKey, keys: Sequence[Key], *, now: datetime) -> None:
    """Retire schedules that the records have no more; what is not due yet is taken back."""
    await transaction.run("planning/retire", **lease, now=now, **_keys(keys))
    await transaction.run("planning/take_back", **lease, now=now, **_keys(keys))


async def lock(
    transaction: Transaction, schedules: Collection[str], *, now: datetime, batch: int
) -> tuple[Locked, ...]:
    """The next of these to look at, locked: at most `batch` that are due for a look, and as many that missed something."""
    rows = await transaction.rows("planning/lock", schedules=list(schedules), now=now, batch=batch)
    return tuple(_locked(row) for row in rows)


async def waiting(transaction: Transaction, keys: Sequence[Key], *, now: datetime) -> Mapping[Key, tuple[Waiting, ...]]:
    """What of these schedules nobody ever started and is missed or was made up for, locked, oldest first."""
    found: dict[Key, list[Waiting]] = {}
    if keys:
        for row in await transaction.rows("planning/waiting", now=now, most=WAITING_MOST, **_keys(keys)):
            each = Waiting(at=row["at"], missed=row["missed"], made_up=row["made_up"])
            found.setdefault((row["tenant"], row["schedule"]), []).append(each)
    return {key: tuple(rows) for key, rows in found.items()}


async def write(
    transaction: Transaction, lease: LeaseKey, written: Sequence[Written], *, now: datetime, tzdata: str
) -> Mapping[str, int]:
    """Write what was planned for schedules that this transaction locked; how many rows of each kind changed."""
    at = {**lease, "now": now}
    back = [each.key for each in written if each.plan.take_back]
    held = [each.key for each in written if each.plan.hold]
    done = {
        "taken_back": await transaction.run("planning/take_back", **at, **_keys(back)) if back else 0,
        "held": await transaction.run("planning/hold", **at, **_keys(held)) if held else 0,
        "restored": await _run(transaction, "planning/restore", lease, _restored(written)),
        "made_up": await _run(transaction, "planning/make_up", lease, _made_up(written)),
    }
    dropped = _dropped(written)
    await _run(transaction, "planning/drop", lease, dropped)
    done["dropped"] = len(dropped)
    done["skipped"] = await _run(transaction, "planning/add_skips", at, _skips(written), tzdata=tzdata)
    done["planned"] = await _run(transaction, "planning/add_occurrences", lease, _occurrences(written), tzdata=tzdata)
    await _run(transaction, "planning/keep", at, [_kept(each) for each in written])
    return done


async def count(transaction: Transaction, *, late_seconds: float) -> None:
    """Count for the metrics; late is what is due for longer than `late_seconds` and was never started."""
    await transaction.run("planning/count", late=late_seconds, most=COUNTED_MOST)


async def figures(transaction: Transaction) -> Mapping[str, int]:
    """What was counted last, by name; whoever reads it need not see a tenant."""
    return {row["name"]: row["value"] for row in await transaction.rows("planning/figures")}


async def _run(
    transaction: Transaction, name: str, lease: LeaseKey, rows: Sequence[Mapping[str, object]], **more: object
) -> int:
    return await transaction.run(name, **lease, **more, rows=Jsonb(rows)) if rows else 0


def _locked(row: Row) -> Locked:
    standing = Standing(
        definition=row["definition"],
        planned_until=row["planned_until"],
        floor_at=row["floor_at"],
        disabled=row["disabled"],
        disabled_until=row["disabled_until"],
    )
    return Locked(
        key=(row["tenant"], row["schedule"]),
        standing=standing,
        parked=row["parked_reason"],
        version=row["version"],
        missed=row["missed"],
    )


def _stated(stated: Stated) -> Mapping[str, object]:
    return {**_key(stated.key), "definition": stated.definition, "kept_seconds": stated.kept_seconds}


def _kept(written: Written) -> Mapping[str, object]:
    plan = written.plan
    return {
        **_key(written.key),
        "definition": plan.definition,
        "planned_until": _text(plan.planned_until),
        "next_at": _text(plan.next_at),
        "look_at": _text(plan.look_at),
        "parked": plan.parked,
    }


def _occurrences(written: Sequence[Written]) -> list[Mapping[str, object]]:
    return [_occurrence(each, new) for each in written for new in each.plan.occurrences]


def _occurrence(written: Written, new: New) -> Mapping[str, object]:
    return {
        **_key(written.key),
        "at": _text(new.at),
        "origin": new.origin.value,
        "zone": written.zone,
        "local_time": _text(new.local),
        "clock": None if new.clock is None else new.clock.value,
        "clock_policy": written.clock_policy,
        "lock": written.lock,
        "miss_at": _text(new.miss_at),
    }


def _skips(written: Sequence[Written]) -> list[Mapping[str, object]]:
    return [_skip(each, skip) for each in written for skip in each.plan.skips]


def _skip(written: Written, skip: Skip) -> Mapping[str, object]:
    return {
        **_key(written.key),
        "first_at": _text(skip.first_at),
        "last_at": _text(skip.last_at),
        "count": skip.count,
        "policy": skip.policy.value,
        "cause": skip.cause,
        "local_time": _text(skip.local),
        "merged_into": _text(skip.merged_into),
        "follows": _text(skip.follows),
        "zone": written.zone,
    }


def _made_up(written: Sequence[Written]) -> list[Mapping[str, object]]:
    return [{**_key(each.key), "at": _text(at)} for each in written for at in each.plan.made_up]


def _restored(written: Sequence[Written]) -> list[Mapping[str, object]]:
    return [
        {**_key(each.key), "at": _text(at), "miss_at": _text(miss_at)}
        for each in written
        for at, miss_at in each.plan.restored
    ]


def _dropped(written: Sequence[Written]) -> list[Mapping[str, object]]:
    rows: list[Mapping[str, object]] = []
    for each in written:
        merged = {skip.merged_into for skip in each.plan.skips if skip.merged_into is not None}
        into = _text(max(merged, default=None))
        rows += [{**_key(each.key), "at": _text(at), "merged_into": into} for at in each.plan.dropped]
    return rows


def _key(key: Key) -> dict[str, object]:
    return {"tenant": key[0], "schedule": key[1]}


def _keys(keys: Sequence[Key]) -> Mapping[str, Any]:
    return {"tenants": [tenant for tenant, _ in keys], "schedules": [schedule for _, schedule in keys]}


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _json(rows: Iterable[Mapping[str, object]]) -> Jsonb:
    return Jsonb(list(rows))
