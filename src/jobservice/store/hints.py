"""Owns the statements of live hints: what changed, written with the change, read by position (MONEY.md 34).

A notification carries the tenant's id alone, so no payload is ever too long (case PG-01).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from jobcontract.events import Hint, Topic
from jobservice.store.database import Transaction
from jobservice.store.items import Reach
from jobservice.store.recoveries import Sight

SCHEDULES_ONE_BY_ONE = 3
"""Of more schedules than this in a tenant at once, one hint says it of all."""
JOBS_ONE_BY_ONE = 50
"""Of more background jobs than this in a tenant at once, one hint a kind says it of all."""
BATCH_MAX = 5_000
"""Most hints of one read; where more wait, reloading is cheaper than being told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadHints:
    """What one statement saw, under one snapshot: hints by row id, the position it read up to, the floor."""

    position: int
    """The snapshot's xmin: every transaction below it has ended, and what it wrote has been seen."""
    floor: int
    hints: tuple[tuple[int, Hint], ...]
    """Row id and hint, in the order of their transactions."""
    ahead: frozenset[int]
    """Rows told before or now that a read from `position` would find again."""


async def add(transaction: Transaction, *, queue: str, item: str, version: int) -> None:
    """Say that an item changed, when the transaction commits."""
    await transaction.run("hints/add", topic=Topic.ITEM.value, queue=queue, ref=item, version=version)


async def add_items(transaction: Transaction, *, queue: str, version: int) -> None:
    """Say that many items of a queue changed at once."""
    await transaction.run("hints/add", topic=Topic.ITEMS.value, queue=queue, ref=queue, version=version)


async def add_plan(transaction: Transaction, *, queue: str, plan: str, version: int) -> None:
    """Say that a plan changed, or how far it is."""
    await transaction.run("hints/add", topic=Topic.PLAN.value, queue=queue, ref=plan, version=version)


async def add_money(transaction: Transaction, *, version: int) -> None:
    """Say that the switch that stops money was thrown."""
    await transaction.run("hints/add", topic=Topic.MONEY.value, queue="money", ref="money", version=version)


async def add_schedule(transaction: Transaction, *, schedule: str, version: int) -> None:
    """Say that something of a schedule changed, an occurrence of it too. The version of such a hint is the moment, in
    microseconds since 1970: no counter rises with every occurrence of a schedule."""
    await transaction.run("hints/add", topic=Topic.SCHEDULE.value, queue=schedule, ref=schedule, version=version)


async def add_schedules(transaction: Transaction, changed: Collection[tuple[str, str]]) -> None:
    """Say that something of these schedules (tenant, schedule) changed, now: of a few one by one, of many of a tenant at
    once. The transaction may be of no tenant."""
    by_tenant: dict[str, set[str]] = {}
    for tenant, schedule in changed:
        by_tenant.setdefault(tenant, set()).add(schedule)
    told: list[tuple[str, str, str]] = []
    for tenant, schedules in sorted(by_tenant.items()):
        if len(schedules) > SCHEDULES_ONE_BY_ONE:
            told.append((tenant, Topic.SCHEDULES.value, Topic.SCHEDULES.value))
        else:
            told += [(tenant, Topic.SCHEDULE.value, schedule) for schedule in sorted(schedules)]
    if told:
        tenants, topics, refs = ([each[place] for each in told] for place in range(3))
        await transaction.run("hints/add_schedules", tenants=tenants, topics=topics, refs=refs)


async def add_jobs(transaction: Transaction, changed: Collection[tuple[str, str, str]]) -> None:
    """Say that these background jobs (tenant, kind, job) changed, now: one by one, or where they are many of a tenant, one
    hint a kind. For a transaction across tenants."""
    counted = Counter(tenant for tenant, _, _ in changed)
    told = {
        (tenant, Topic.JOBS.value, kind, kind)
        if counted[tenant] > JOBS_ONE_BY_ONE
        else (tenant, Topic.JOB.value, kind, job)
        for tenant, kind, job in changed
    }
    tenants, topics, kinds, refs = (list(column) for column in zip(*sorted(told), strict=True))
    await transaction.run("hints/add_jobs", tenants=tenants, topics=topics, kinds=kinds, refs=refs)


async def add_workers(transaction: Transaction, *, version: int) -> None:
    """Say that a Worker was asked to take nothing new, or may take again: it serves every schedule, so that is what the
    hint says. The version is the moment, in microseconds since 1970."""
    every = Topic.SCHEDULES.value
    await transaction.run("hints/add", topic=every, queue=every, ref=every, version=version)


async def add_recovery(transaction: Transaction, *, recovery: str, version: int) -> None:
    """Say that a recovery changed, or how far it is."""
    await transaction.run("hints/add", topic=Topic.RECOVERY.value, queue=recovery, ref=recovery, version=version)


async def add_stops(transaction: Transaction, *, version: int) -> None:
    """Say that a stop was set or lifted; the version is the moment, in microseconds since 1970."""
    await transaction.run("hints/add", topic=Topic.STOPS.value, queue="stops", ref="stops", version=version)


async def add_alarms(transaction: Transaction, tenants: Collection[str]) -> None:
    """Say that alarms of these tenants changed, now. The transaction may be of no tenant."""
    if told := sorted(set(tenants)):
        words = [Topic.ALARMS.value] * len(told)
        await transaction.run("hints/add_schedules", tenants=told, topics=words, refs=words)


async def read(transaction: Transaction, *, position: int | None, seen: Collection[int]) -> ReadHints:
    """The tenant's hints written by transactions from `position` on, without those `seen`; None = none, from now."""
    row = await transaction.row("hints/read", position=position, seen=list(seen), most=BATCH_MAX + 1)
    assert row is not None  # noqa: S101  # the floor always has its one row
    hints = tuple(
        (
            each["id"],
            Hint(
                topic=each["topic"], tenant=each["tenant"], queue=each["queue"], id=each["ref"], version=each["version"]
            ),
        )
        for each in row["hints"]
    )
    ahead = {each["id"] for each in row["hints"] if each["xid"] >= row["position"]}
    return ReadHints(
        position=row["position"], floor=row["floor"], hints=hints, ahead=frozenset(ahead.union(row["seen_ahead"]))
    )


async def readable(
    transaction: Transaction,
    reach: Reach,
    sight: Sight | None,
    *,
    items: Collection[str],
    jobs: Collection[str],
    plans: Collection[str],
    recoveries: Collection[str],
) -> frozenset[str]:
    """The ids of those items and jobs of the tenant that are within reach, and of those plans and recoveries that are seen."""
    rows = await transaction.rows(
        "hints/readable",
        items=list(items),
        jobs=list(jobs),
        plans=list(plans),
        recoveries=list(recoveries),
        owner=None if sight is None or not sight.own_jobs_only else sight.person,
        runs=sight is not None and sight.runs,
        retries=sight is not None and sight.jobs,
        **reach.parameters(),
    )
    return frozenset(row["id"] for row in rows)
