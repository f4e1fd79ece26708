"""Owns the duty that plans: rows of schedules for every record and tenant, occurrences ahead of their time, what becomes
of missed ones, and what is taken back. Decides nothing itself (`rules/planning.py`, `rules/misfires.py`).

Idempotent: an identity is written once, whoever plans it again. A schedule that cannot be computed is parked with its
reason, and the others go on. With nothing to do a run is one statement.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, TypeVar
from uuid import UUID

import structlog

from jobservice.rules import planning, rhythms
from jobservice.rules.misfires import Waiting
from jobservice.rules.planning import Plan, Standing
from jobservice.rules.rhythms import Cron
from jobservice.rules.schedules import Schedule
from jobservice.store import hints
from jobservice.store import planning as store
from jobservice.store.database import Database
from jobservice.store.planning import Key, Known, Locked, Outlook, Stated, Written
from jobservice.worker.fenced import Lease

_log = structlog.get_logger("jobservice.worker")
_Row = TypeVar("_Row")

UTC_ZONE = "UTC"
LATE_SECONDS = 10.0
"""An occurrence that is due for longer, and was never started, is counted as late."""
COUNT_SECONDS = 15.0
"""Between two counts for the metrics."""
COMPARE_SECONDS = 300.0
"""Between two comparisons of all rows with the records. Only the Worker that started last repeats it: while versions are
exchanged, Workers with other records must not undo each other's."""
BATCHES_MOST = 200
"""Most batches of one run: what keeps coming back does not keep it from comparing records again."""

LOOKS_SECONDS = 2.0
"""How long the looks of one batch may take before what was looked at is written."""


@dataclass(slots=True, kw_only=True)
class Planner:
    """The duty with its pace: a second, because what was missed or disabled is decided within one; planning itself is
    more than half a minute ahead."""

    schedules: Mapping[str, Schedule]
    deployment: str
    every: float = 1.0
    lease: float = 30.0
    batch: int = 500
    name: str = "planner"
    wakes: ClassVar[frozenset[str]] = frozenset({"schedules"})
    _compared: set[str] = field(default_factory=set)
    """Tenants whose rows were compared with the records since the start."""
    _compare_again: float = 0.0
    """When to compare all of them again, monotonic."""
    _said: dict[str, str] = field(default_factory=dict)
    """Why schedules are parked, by id: logged once."""
    _counted: float | None = None
    """When figures were counted last, monotonic."""

    async def wanted(self, database: Database, holder: UUID) -> bool:
        """Whether a run would find something: one statement, without the lease."""
        if self._counted is None or time.monotonic() >= self._counted + COUNT_SECONDS:
            return True
        async with database.transaction(None) as transaction:
            outlook = await store.outlook(transaction, self.schedules, holder=holder)
        compares = outlook.newest and time.monotonic() > self._compare_again
        return outlook.due or compares or not self._compared.issuperset(outlook.tenants)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Compare new tenants with the records, plan what is due for it until nothing is; rows changed, by kind."""
        async with lease.database.transaction(None) as transaction:
            outlook = await store.outlook(transaction, self.schedules, holder=lease.holder)
        done: dict[str, int] = {}
        if outlook.newest and time.monotonic() > self._compare_again:
            self._compare_again = time.monotonic() + COMPARE_SECONDS
            self._compared.clear()
        fresh = [tenant for tenant in outlook.tenants if tenant not in self._compared]
        if fresh:
            await self._compare(lease, fresh, outlook.now, done)
        if fresh or outlook.due:
            await self._plan(lease, outlook, done)
        await self._count(lease)
        return {what: number for what, number in done.items() if number}

    async def _compare(self, lease: Lease, tenants: Sequence[str], now: datetime, done: dict[str, int]) -> None:
        """Make rows that are missing, retire those without a record, look at those that changed or are parked."""
        tzdata = rhythms.tzdata_version()
        for some in _batches(tenants, 10):
            async with lease.database.transaction(None) as transaction:
                known = {each.key: each for each in await store.known(transaction, some)}
            stated = {each.key: each for tenant in some for each in self._stated(tenant, tzdata)}
            missing = [each for key, each in stated.items() if key not in known or known[key].retired]
            changed = [each for key, each in stated.items() if key in known and _differs(known[key], each)]
            gone = [key for key, each in known.items() if key not in stated and not each.retired]
            for rows in _batches(missing, self.batch):
                async with lease.transaction() as transaction:
                    _add(done, "added", await store.add(transaction, lease.key, rows, now=now))
            for rows in _batches(changed, self.batch):
                async with lease.transaction() as transaction:
                    await store.touch(transaction, lease.key, rows, now=now)
            for keys in _batches(gone, self.batch):
                async with lease.transaction() as transaction:
                    await store.retire(transaction, lease.key, keys, now=now)
                    await hints.add_schedules(transaction, keys)
                _add(done, "retired", len(keys))
            self._compared.update(some)

    def _stated(self, tenant: str, tzdata: str) -> Iterable[Stated]:
        for schedule in self.schedules.values():
            if schedule.runs_in(tenant, self.deployment):
                yield Stated(
                    key=(tenant, schedule.id),
                    definition=planning.definition(schedule, tzdata),
                    kept_seconds=schedule.retention_seconds,
                )

    async def _plan(self, lease: Lease, outlook: Outlook, done: dict[str, int]) -> None:
        tzdata = rhythms.tzdata_version()
        looks = _Looks(now=outlook.now, tzdata=tzdata)
        for _ in range(BATCHES_MOST):
            if lease.stopping():
                return
            async with lease.transaction() as transaction:
                locked = await store.lock(transaction, self.schedules, now=outlook.now, batch=self.batch)
                unclear = [each.key for each in locked if self._may_have_missed(each, outlook.now)]
                waiting = await store.waiting(transaction, unclear, now=outlook.now)
                written = await self._looked_at(looks, locked, waiting)
                changed = await store.write(transaction, lease.key, written, now=outlook.now, tzdata=tzdata)
                await hints.add_schedules(transaction, [each.key for each in written if _shows(each.plan)])
            self._complain(locked[: len(written)], written)
            for what, number in changed.items():
                _add(done, what, number)
            if len(written) == len(locked) < self.batch:
                return

    async def _looked_at(
        self, looks: _Looks, locked: Sequence[Locked], waiting: Mapping[Key, tuple[Waiting, ...]]
    ) -> list[Written]:
        """What these looks write; of the first of them alone where a long downtime makes them slow. Completions wait for
        the locked rows, and renewals for the loop."""
        written: list[Written] = []
        until = time.monotonic() + LOOKS_SECONDS
        for each in locked:
            written.append(self._look(looks, each, waiting.get(each.key, ())))
            await asyncio.sleep(0)
            if time.monotonic() >= until:
                break
        return written

    def _may_have_missed(self, locked: Locked, now: datetime) -> bool:
        """Whether rows of it wait that the misfire policy may have to decide about."""
        if locked.standing.disabled:
            return False
        misfire = self.schedules[locked.key[1]].misfire
        late = misfire is not None and locked.standing.planned_until + timedelta(seconds=misfire.after_seconds) <= now
        return locked.missed or late

    def _look(self, looks: _Looks, locked: Locked, waiting: tuple[Waiting, ...]) -> Written:
        schedule = self.schedules[locked.key[1]]
        zone, policy = UTC_ZONE, None
        if isinstance(schedule.rhythm, Cron) and schedule.rhythm.zone != UTC_ZONE:
            zone, policy = schedule.rhythm.zone, f"{schedule.rhythm.skipped}, {schedule.rhythm.repeated}"
        plan = looks.at(schedule, locked.standing, waiting)
        return Written(key=locked.key, plan=plan, zone=zone, lock=schedule.lock, clock_policy=policy)

    def _complain(self, locked: Sequence[Locked], written: Sequence[Written]) -> None:
        """One log line for each schedule that is parked now and was not, or for another reason; and once it is not."""
        reasons = {each.key[1]: each.plan for each in written if each.plan.parked is not None}
        for schedule, plan in reasons.items():
            assert plan.parked is not None  # noqa: S101  # chosen by that
            if self._said.get(schedule) != plan.parked:
                self._said[schedule] = plan.parked
                _log.error("schedule-parked", alarm=True, schedule=schedule, reason=plan.parked, exc_info=plan.fault)
        freed = {each.key[1] for each in locked if each.parked is not None} - reasons.keys()
        for schedule in sorted(freed):
            self._said.pop(schedule, None)
            _log.info("schedule-computed-again", schedule=schedule)

    async def _count(self, lease: Lease) -> None:
        now = time.monotonic()
        if self._counted is not None and now < self._counted + COUNT_SECONDS:
            return
        self._counted = now
        async with lease.transaction() as transaction:
            await store.count(transaction, late_seconds=LATE_SECONDS)


@dataclass(slots=True, kw_only=True)
class _Looks:
    """The looks of one run: all tenants in which a schedule stands alike share one."""

    now: datetime
    tzdata: str
    _plans: dict[tuple[str, Standing, tuple[Waiting, ...]], Plan] = field(default_factory=dict)

    def at(self, schedule: Schedule, standing: Standing, waiting: tuple[Waiting, ...]) -> Plan:
        key = (schedule.id, standing, waiting)
        found = self._plans.get(key)
        if found is None:
            found = self._plans[key] = planning.plan(schedule, standing, waiting, self.now, self.tzdata)
        return found


def _differs(known: Known, stated: Stated) -> bool:
    """Whether a row is to be looked at: another definition or retention, or parked and worth another try."""
    return not known.retired and (
        known.parked or known.definition != stated.definition or known.kept_seconds != stated.kept_seconds
    )


def _shows(plan: Plan) -> bool:
    """Whether people see a difference."""
    return bool(
        plan.occurrences
        or plan.skips
        or plan.made_up
        or plan.dropped
        or plan.take_back
        or plan.restored
        or plan.parked is not None
    )


def _batches(rows: Sequence[_Row], size: int) -> Iterable[Sequence[_Row]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _add(done: dict[str, int], what: str, number: int) -> None:
    done[what] = done.get(what, 0) + number
