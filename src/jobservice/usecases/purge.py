"""Owns purging: what is past its retention is removed, in batches of one short transaction each, and the trail says so
(MONEY.md 31). Repeatable and interruptible between batches; as the role of the purge.

What was sent or released stays, with its plan. Entries of the trail go whole seals at a time, after the trail said that they
would and only where they are as they were sealed; verifying begins behind the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol, TypeVar
from uuid import UUID

from jobservice.delivery.heads import Heads
from jobservice.rules.seals import Checking, Gap
from jobservice.rules.settings import Settings
from jobservice.store import audit
from jobservice.store import purge as store
from jobservice.store import seals as seal_store
from jobservice.store.database import Database, Transaction
from jobservice.store.purge import PastPlan, PastRecovery, PastSeal
from jobservice.usecases.seals import readable_heads, walk

BATCH = 500
"""Lineages of jobs and recoveries that one transaction removes at most."""
ROWS = 10_000
"""Rows of plans, keys, notices, alarms, and entries of the trail, that one transaction removes, but for a plan or a seal that has
more."""
SECONDS = 120.0
"""How long one statement may take."""
Past = TypeVar("Past", PastPlan, PastRecovery)


class _Removal(Protocol):
    """A statement that removes at most so many rows; how many of each tenant."""

    async def __call__(self, transaction: Transaction, *, most: int) -> Mapping[str, int]: ...


NOBODY = ""
"""In place of a tenant, for what has none."""


class TrailBroken(Exception):
    """What was to be purged of the trail is not as it was sealed: nothing of it was removed."""

    def __init__(self, gap: Gap) -> None:
        super().__init__(gap.sentence)
        self.gap = gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """For how many seconds what is kept."""

    jobs: float
    plans: float
    notices: float
    alarms: float
    audit: float

    @classmethod
    def of(cls, settings: Settings) -> Keeping:
        """As the settings say; a plan at least as long as the jobs that refer to it."""
        return cls(
            jobs=settings.jobs_keep,
            plans=max(settings.plans_keep, settings.jobs_keep),
            notices=settings.notices_keep,
            alarms=settings.alarms_keep,
            audit=settings.audit_keep,
        )


@dataclass(slots=True, kw_only=True)
class Purged:
    """How many of what went, or would go."""

    jobs: int = 0
    plans: int = 0
    recoveries: int = 0
    idempotency_keys: int = 0
    notices: int = 0
    """To people, about confirmations and locks."""
    alarms: int = 0
    entries: int = 0
    """Of the trail."""

    @property
    def total(self) -> int:
        """All together."""
        return sum(int(getattr(self, each.name)) for each in fields(self))


@dataclass(slots=True, kw_only=True)
class Purging:
    """One run. `stopping`: whether it is to end after the present batch."""

    database: Database
    keeping: Keeping
    heads: Heads | None = None
    stopping: Callable[[], bool] = lambda: False
    purged: Purged = field(default_factory=Purged)

    async def run(self) -> Purged:
        """Purge all that is past; TrailBroken where the trail has a gap, after everything else went."""
        await self._say()  # what a run that was killed has removed
        try:
            async with self._transaction() as transaction:
                now, families = await store.here(transaction)
            for family in families:
                await self._jobs(family, now)
            await self._plans(now)
            await self._recoveries(now)
            await self._keys()
            await self._notices(now)
            await self._alarms(now)
            await self._trail(now)
        finally:
            await self._say()
        return self.purged

    def _transaction(self) -> AbstractAsyncContextManager[Transaction]:
        return self.database.transaction(None, statement_seconds=SECONDS, by_index=True)

    async def _jobs(self, family: str, now: datetime) -> None:
        past, until, after = _past(now, self.keeping.jobs), _id_at(_past(now, self.keeping.jobs)), store.FIRST
        while not self.stopping():
            async with self._transaction() as transaction:
                found = await store.lineages(transaction, family, after=after, until=until, most=BATCH)
                counts = await store.remove_lineages(transaction, family, found, past=past) if found else {}
                await store.keep_count(transaction, "jobs", counts)
            self.purged.jobs += sum(counts.values())
            if len(found) < BATCH:
                return
            after = found[-1]

    async def _plans(self, now: datetime) -> None:
        past, after = _past(now, self.keeping.plans), None
        while not self.stopping():
            async with self._transaction() as transaction:
                found = await store.plans(transaction, past=past, after=after, most=BATCH)
                taken = _some(found)
                gone = [plan for plan in taken if not plan.sent]
                if gone:
                    await store.remove_plans(transaction, gone)
                    await store.keep_count(transaction, "plans", _by_tenant([plan.tenant for plan in gone]))
            self.purged.plans += len(gone)
            if not taken:
                return
            after = taken[-1]

    async def _recoveries(self, now: datetime) -> None:
        past = _past(now, self.keeping.plans)
        while not self.stopping():
            async with self._transaction() as transaction:
                gone = _some(await store.recoveries(transaction, past=past, most=BATCH))
                if gone:
                    await store.remove_recoveries(transaction, gone)
                    await store.keep_count(transaction, "recoveries", _by_tenant([each.tenant for each in gone]))
            self.purged.recoveries += len(gone)
            if not gone:
                return

    async def _keys(self) -> None:
        self.purged.idempotency_keys += await self._all_of("idempotency_keys", store.remove_keys)

    async def _notices(self, now: datetime) -> None:
        past = _past(now, self.keeping.notices)
        self.purged.notices += await self._all_of("notices", partial(store.remove_past_notices, past=past))

    async def _alarms(self, now: datetime) -> None:
        past = _past(now, self.keeping.alarms)
        self.purged.alarms += await self._all_of("alarms", partial(store.remove_past_alarms, past=past))

    async def _all_of(self, what: str, remove: _Removal) -> int:
        """Remove rows that nothing hangs on, batch by batch; how many."""
        gone = 0
        while not self.stopping():
            async with self._transaction() as transaction:
                counts = await remove(transaction, most=ROWS)
                await store.keep_count(transaction, what, counts)
            gone += sum(counts.values())
            if sum(counts.values()) < ROWS:
                break
        return gone

    async def _trail(self, now: datetime) -> None:
        """Verify what is to go, say that it will, remove it seal by seal."""
        past = _past(now, self.keeping.audit)
        if self.stopping():
            return
        async with self._transaction() as transaction:
            base = await seal_store.base(transaction)
            begun = 0 if base is None else int(base["place"])
            past_seals = await _past_seals(transaction, past, begun)
            if not past_seals:
                return
            last = past_seals[-1]
            checking = Checking(heads=readable_heads(self.heads))
            gap = await walk(transaction, checking, base, None, upto=last.place)
        if gap is not None:
            raise TrailBroken(gap)
        await self._announce(past, begun, last)
        for upto in _steps(past_seals):
            if self.stopping():
                return
            async with self._transaction() as transaction:
                entries, links = await store.remove_trail(transaction, upto)
                if not entries == links == upto - begun:
                    raise RuntimeError(f"{entries} entries and {links} links were removed in place of {upto - begun}")
            self.purged.entries += entries
            begun = upto

    async def _announce(self, past: datetime, begun: int, last: PastSeal) -> None:
        async with self._transaction() as transaction:
            if await store.announced(transaction, last.place):
                return  # by a run that did not come to its end
            counts = dict(await store.entries_of(transaction, after=begun, upto=last.place))
            counts.setdefault(NOBODY, 0)
            for tenant, count in sorted(counts.items()):
                detail = {
                    "entries": count,
                    "upto": last.place,
                    "head": last.head.hex(),
                    "before": past.isoformat(),
                }
                await _add(transaction, tenant, "purge-audit", "audit", detail)

    async def _say(self) -> None:
        """Write into the trail what is gone, a line a tenant."""
        async with self._transaction() as transaction:
            for tenant, counts in await store.take_counts(transaction):
                keep = {
                    f"{each.name}_kept_days": getattr(self.keeping, each.name) / 86_400 for each in fields(self.keeping)
                }
                await _add(transaction, tenant, "purge", "retention", {**counts, **keep})


async def would_purge(database: Database, keeping: Keeping) -> Purged:
    """What a run would remove now; counts it, and changes nothing."""
    found = Purged()
    async with database.transaction(None, statement_seconds=SECONDS) as transaction:
        now, families = await store.here(transaction)
        past = _past(now, keeping.jobs)
        found.jobs = await store.count_jobs(transaction, families, past=past, until=_id_at(past))
        after: PastPlan | None = None
        while plans := await store.plans(transaction, past=_past(now, keeping.plans), after=after, most=BATCH):
            found.plans += sum(not plan.sent for plan in plans)
            after = plans[-1]
        recoveries = await store.recoveries(transaction, past=_past(now, keeping.plans), most=1_000_000)
        found.recoveries = len(recoveries)
        found.idempotency_keys = await store.count_keys(transaction)
        found.notices = await store.count_past_notices(transaction, past=_past(now, keeping.notices))
        found.alarms = await store.count_past_alarms(transaction, past=_past(now, keeping.alarms))
        base = await seal_store.base(transaction)
        begun = 0 if base is None else int(base["place"])
        seals = await _past_seals(transaction, _past(now, keeping.audit), begun)
        found.entries = seals[-1].place - begun if seals else 0
    return found


async def _past_seals(transaction: Transaction, past: datetime, begun: int) -> Sequence[PastSeal]:
    """The seals that can go, in their order: up to the first that covers an entry that is not so old."""
    found: list[PastSeal] = []
    while page := await store.seals(transaction, past=past, after=found[-1].place if found else begun, most=1_000):
        for seal in page:
            if seal.recent:
                return found
            found.append(seal)
    return found


def _steps(seals: Sequence[PastSeal]) -> Sequence[int]:
    """Places up to which the trail goes, one transaction each."""
    steps: list[int] = []
    rows = 0
    for seal in seals:
        if steps and rows + seal.count <= ROWS:
            steps[-1], rows = seal.place, rows + seal.count
        else:
            steps.append(seal.place)
            rows = seal.count
    return steps


def _some(found: Sequence[Past]) -> Sequence[Past]:
    """The first of them that together have no more rows than one transaction removes; one at least."""
    rows = 0
    for number, each in enumerate(found):
        rows += each.count
        if number and rows > ROWS:
            return found[:number]
    return found


def _by_tenant(tenants: Sequence[str]) -> Mapping[str, int]:
    return {tenant: tenants.count(tenant) for tenant in set(tenants)}


def _past(now: datetime, seconds: float) -> datetime:
    return now - timedelta(seconds=seconds)


def _id_at(instant: datetime) -> UUID:
    """The lowest id that is made at that instant: ids rise with time."""
    return UUID(int=int(instant.timestamp() * 1000) << 80)


async def _add(transaction: Transaction, tenant: str, action: str, subject: str, detail: Mapping[str, object]) -> None:
    entry = audit.NewEntry(person=None, action=action, subject=subject, outcome="done", detail=detail, reference=None)
    await audit.add(Transaction(transaction.connection, tenant or None), entry)
