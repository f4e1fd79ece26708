"""Owns finding and claiming occurrences of one lane: those that take a slot of the Worker each, or the small ones that
share a transaction of their tenant. Which are shared out to whom: `rules/fairness.py`. Runs and settles nothing.

It keeps a lower bound of what waits, of each tenant: claimed rows leave dead entries at the head of the index, and while
an old transaction is open nothing removes them (case PG-06). Everything is looked at again every few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from jobcontract.states import AttemptEnding, DeadCause
from jobservice.rules.attempts import after_attempt, cancelled, unrunnable, worker_lost
from jobservice.rules.fairness import shares
from jobservice.rules.schedules import Schedule
from jobservice.store import occurrence_leases as store
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import (
    Lapsed,
    LockTaken,
    Look,
    Loss,
    Runnable,
    Since,
    TakenOccurrence,
    Waiting,
)

_log = structlog.get_logger("jobservice.worker")

WHOLE_EVERY = 5.0
"""Seconds between two looks at everything; more where such a look is slow: it may cost one part in `WHOLE_SHARE`."""
WHOLE_SHARE = 20
SLACK = timedelta(seconds=2)
"""How long after its instant a row may come to be seen: an insert that was not committed yet when somebody looked."""
REMEMBER = 0.25
"""Seconds for which it is known without another look that more waits than was claimed."""
UNKNOWN_AFTER = 600.0
"""Seconds after which what no Worker here runs becomes a dead letter: until then a newer Worker may know it."""
TRIES = 3
"""How often a claim is tried that met another Worker's under the same lock."""


@dataclass(slots=True, eq=False)
class Heads:
    """Before when nothing waits, by tenant, as far as this process has seen."""

    _tenants: dict[str, datetime] = field(default_factory=dict)
    _others: datetime | None = None
    _whole_at: float = 0.0
    """When everything is to be looked at again, on the monotonic clock."""

    def since(self) -> Since:
        """From where to look: from the beginning where it is time."""
        if self._others is None or time.monotonic() >= self._whole_at:
            return Since(tenants={})
        return Since(tenants=self._tenants, others=self._others, lapsed=self._others)

    def saw(self, look: Look, since: Since, seconds: float) -> None:
        """What a look from there saw, and how long it took."""
        if since.others is None:
            self._whole_at = time.monotonic() + max(WHOLE_EVERY, WHOLE_SHARE * seconds)
        self._others = look.now - SLACK
        self._tenants = {each.tenant: min(each.oldest, self._others) for each in look.waiting}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What was claimed. `next_in`: seconds until it is worth to look again; None: nothing is known to come.
    `cancelled`: one that has not ended is to be cancelled. `changed`: tenant and schedule of what ended without being claimed.
    `in_doubt`: more may have been claimed, and the answer got lost."""

    occurrences: tuple[TakenOccurrence, ...] = ()
    next_in: float | None = None
    cancelled: bool = False
    changed: frozenset[tuple[str, str]] = frozenset()
    in_doubt: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Lane:
    """One lane. `slots` occurrences at once, shared out by `chunk`; `schedules` by id, for what bounds their attempts."""

    database: Database
    schedules: Mapping[str, Schedule]
    runnable: Runnable
    lease: float
    slots: int
    chunk: int = 1
    heads: Heads = field(default_factory=Heads)
    _more: dict[str, int] = field(default_factory=dict)
    """How many of each tenant wait besides what was claimed, the longest waiting tenant first."""
    _more_until: float = 0.0

    async def take(self, holder: UUID, free: int, running: Mapping[str, int], *, lapsed_too: bool) -> Claimed:
        """Claim at most `free`; `running`: how many of each tenant run in this lane. Leases that ran out are taken over
        `lapsed_too`: half of what is free is theirs."""
        for _ in range(TRIES):
            try:
                found, claimed = await self._claim(holder, free, running, lapsed_too=lapsed_too)
                break
            except LockTaken:
                _log.debug("lock-taken-by-another-worker")
        else:
            return Claimed(next_in=REMEMBER)
        next_in = 0.0 if claimed and len(claimed) < free else None if found is None else found.next_in
        if found is None or not (found.lapsed and lapsed_too):
            return Claimed(occurrences=claimed, next_in=next_in, cancelled=found is not None and found.cancelled)
        try:
            over, changed = await self._take_over(holder, free - len(claimed))
        except Exception as error:  # what was claimed is begun; the next look finds the leases again
            if not claimed:
                raise
            _log.warning("leases-not-taken-over", error=str(error))
            return Claimed(occurrences=claimed, next_in=0.0, cancelled=found.cancelled, in_doubt=True)
        return Claimed(
            occurrences=(*claimed, *over),
            next_in=0.0 if over else next_in,
            cancelled=found.cancelled,
            changed=changed,
        )

    async def _claim(
        self, holder: UUID, free: int, running: Mapping[str, int], *, lapsed_too: bool
    ) -> tuple[Look | None, tuple[TakenOccurrence, ...]]:
        """Look, unless it is known what waits, and claim what is shared out, in one transaction."""
        since, found = self.heads.since(), None
        given = self._known(free, running)
        async with self.database.transaction(None, by_index=True) as transaction:
            if not given:
                began = time.monotonic()
                found = await store.look(transaction, self.runnable, since, free=free)
                self.heads.saw(found, since, time.monotonic() - began)
                self._remember(found.waiting)
                room = free // 2 if found.lapsed and lapsed_too else free
                given = self._share(room, running)
            if not given:
                return found, ()
            claimed = await store.claim(transaction, self.runnable, since, given, holder=holder, lease=self.lease)
        self._forget(given, claimed)
        return found, claimed

    def _share(self, free: int, running: Mapping[str, int]) -> dict[str, int]:
        return shares(free=free, slots=self.slots, running=running, waiting=self._more, chunk=self.chunk)

    def _known(self, free: int, running: Mapping[str, int]) -> dict[str, int]:
        """What is shared out without another look; nothing where it is not known what waits."""
        return self._share(free, running) if time.monotonic() < self._more_until else {}

    def _remember(self, waiting: Sequence[Waiting]) -> None:
        self._more = {each.tenant: each.count for each in waiting}
        self._more_until = time.monotonic() + REMEMBER

    def _forget(self, given: Mapping[str, int], claimed: Sequence[TakenOccurrence]) -> None:
        """What was claimed waits no more; where less was there than thought, nothing is known any more."""
        if len(claimed) < sum(given.values()):
            self._more, self._more_until = {}, 0.0
            return
        for each in claimed:
            self._more[each.tenant] -= 1

    async def _take_over(
        self, holder: UUID, free: int
    ) -> tuple[tuple[TakenOccurrence, ...], frozenset[tuple[str, str]]]:
        """Take over leases that ran out, or end what has no attempt left."""
        async with self.database.transaction(None, by_index=True) as transaction:
            lapsed = await store.lapsed(transaction, self.runnable, most=max(free, 1), unknown_after=UNKNOWN_AFTER)
            losses = [self._loss(each) for each in lapsed]
            taken, reached = await store.lose(transaction, losses, holder=holder, lease=self.lease)
            await store.reach(transaction, reached)
        for each, loss in zip(lapsed, losses, strict=True):
            _log.warning(
                "lease-ran-out",
                row=str(each.id),
                schedule=each.schedule,
                tenant=each.tenant,
                fence=each.fence,
                attempts=each.attempts,
                host=each.host,
                cause=loss.cause,
            )
        return taken, frozenset((each.tenant, each.schedule) for each in reached)

    def _loss(self, lapsed: Lapsed) -> Loss:
        if lapsed.cancelled:
            error = cancelled(attempts=lapsed.attempts)
            return Loss(id=lapsed.id, fence=lapsed.fence, cause=DeadCause.CANCELLED, error=error)
        schedule = self.schedules.get(lapsed.schedule)
        if schedule is None or not lapsed.runnable:
            error = unrunnable(schedule=lapsed.schedule, seconds=lapsed.since)
            return Loss(id=lapsed.id, fence=lapsed.fence, cause=DeadCause.UNRUNNABLE, error=error)
        following = after_attempt(
            AttemptEnding.LOST,
            attempts=lapsed.attempts,
            most=schedule.attempts,
            backoff=schedule.backoff,
            error=worker_lost(times=lapsed.losses, host=lapsed.host),
        )
        return Loss(id=lapsed.id, fence=lapsed.fence, cause=following.cause, error=following.error, waits=lapsed.waits)
