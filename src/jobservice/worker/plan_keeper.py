"""Owns the duty that ends plans whose time is over: open ones expire, confirmed ones lapse (MONEY.md 6, 18).

Nobody depends on it for correctness: an open plan past its end counts as expired, and no turn begins past the window.
It gives the items back and says so. What is running ends by itself, under the lease of the Worker that applies it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from jobcontract.states import PlanState
from jobservice.store import audit, confirming, hints, items, plans
from jobservice.store import leases as store
from jobservice.store.database import Database, Row
from jobservice.usecases.plans import end_open
from jobservice.worker.applying import STATEMENT_SECONDS
from jobservice.worker.fenced import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanKeeper:
    """The duty with its pace."""

    every: float = 10.0
    lease: float = 90.0
    batch: int = 20
    wakes: frozenset[str] = frozenset()
    name: str = "plan-keeper"

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether a plan is overdue."""
        async with database.transaction(None) as transaction:
            return bool(await store.overdue(transaction, most=1))

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """End what is overdue until nothing is or the Worker stops; how many expired and how many lapsed."""
        done = {"expired": 0, "lapsed": 0}
        while not lease.stopping():
            async with lease.transaction() as transaction:
                rows = await store.overdue(transaction, most=self.batch)
            for row in rows:
                what = "expired" if row["state"] == PlanState.OPEN else "lapsed"
                done[what] += await (self._expire(lease, row) if what == "expired" else self._lapse(lease, row))
            if len(rows) < self.batch:
                break
        return {what: count for what, count in done.items() if count}

    async def _expire(self, lease: Lease, row: Row) -> int:
        """Expire one open plan; 0 where it was confirmed or ended meanwhile."""
        async with lease.transaction(row["tenant"], statement_seconds=STATEMENT_SECONDS) as transaction:
            found = await plans.lock(transaction, row["id"])
            now = await items.now(transaction)
            if found is None or found.state is not PlanState.OPEN or found.standing(now) is not PlanState.EXPIRED:
                return 0
            reason = "Nobody confirmed it in time."
            await end_open(transaction, found, PlanState.EXPIRED, reason=reason, by=None)
        return 1

    async def _lapse(self, lease: Lease, row: Row) -> int:
        """Lapse one plan and give back what had no turn; 0 where it ended meanwhile."""
        async with lease.transaction(row["tenant"], statement_seconds=STATEMENT_SECONDS) as transaction:
            if await plans.lock(transaction, row["id"]) is None:
                return 0
            await confirming.lock_items(transaction, row["id"], confirming.WITHOUT_TURN)
            lapsed = await store.lapse(transaction, row["id"])
            if lapsed is None:
                return 0
            given = await store.let_go(transaction, row["id"], owner=lapsed["owner"])
            entry = audit.NewEntry(
                person=None,
                action="lapse-plan",
                subject=row["id"],
                outcome="done",
                detail={"given_back": given},
                reference=None,
            )
            await audit.add(transaction, entry)
            await hints.add_plan(transaction, queue=lapsed["queue"], plan=row["id"], version=lapsed["version"])
            await hints.add_items(transaction, queue=lapsed["queue"], version=lapsed["moment"])
        return 1
