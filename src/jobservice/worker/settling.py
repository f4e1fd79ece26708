"""Owns the duty that writes what people said became of uncertain payouts: paid, or not paid (MONEY.md 5, 19).

The API keeps the word of a person as evidence and resolves the review item; it may not write *released*. Never decides
itself, never asks the outside world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from jobcontract.states import OutcomeKind, Turn
from jobservice.rules.turns import Ending, outward_key
from jobservice.store import hints, plans, scores
from jobservice.store import leases as store
from jobservice.store import turns as turn_store
from jobservice.store.database import Database, Row, Transaction
from jobservice.store.turns import Ended
from jobservice.worker.fenced import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """The duty with its pace: a person waits for what it writes, so that what they say wakes it;
    between, it looks for what nobody was told of."""

    every: float = 30.0
    lease: float = 30.0
    batch: int = 100
    wakes: frozenset[str] = frozenset({"evidence"})
    name: str = "settling"

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether something was said that is not written."""
        async with database.transaction(None) as transaction:
            tenants, _ = await scores.tenants(transaction)
        for tenant in tenants:
            async with database.transaction(tenant) as transaction:
                if await turn_store.said(transaction, most=1):
                    return True
        return False

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Write all that was said and is not written yet; how many payouts."""
        async with lease.transaction() as transaction:
            tenants, _ = await scores.tenants(transaction)
        settled = 0
        for tenant in tenants:
            while not lease.stopping():
                # Read without the lease: what commits under it waits for the disk, and mostly nothing was said.
                async with lease.database.transaction(tenant) as transaction:
                    said = await turn_store.said(transaction, most=self.batch)
                written = 0
                for row in said:
                    written += await self._settle(lease, tenant, row)
                settled += written
                if written < self.batch:
                    break
        return {"settled": settled} if settled else {}

    async def _settle(self, lease: Lease, tenant: str, said: Row) -> bool:
        """Write one payout's end in one transaction; False where it is not uncertain any more."""
        async with lease.transaction(tenant) as transaction:
            plan = await plans.lock(transaction, said["plan"])
            begun = await turn_store.lock_sent(transaction, said["plan"], said["item"])
            if plan is None or begun is None or begun.turn is not Turn.UNCERTAIN:
                return False
            ended = Ended(
                plan=said["plan"],
                item=said["item"],
                was=Turn.UNCERTAIN,
                turn_fence=begun.turn_fence,
                action=plan.use_case,
                outward_key=outward_key(said["item"]),
                said_by=said["person"],
            )
            if not await turn_store.end(transaction, ended, _ending(said)):
                return False
            await store.correct(transaction, said["plan"])
            await self._tell(transaction, said, plan.queue)
        return True

    async def _tell(self, transaction: Transaction, said: Row, queue: str) -> None:
        version = await plans.touch(transaction, said["plan"])
        await hints.add_plan(transaction, queue=queue, plan=said["plan"], version=version)
        row_version = await turn_store.row_version(transaction, said["item"])
        await hints.add(transaction, queue=queue, item=said["item"], version=row_version)


def _ending(said: Row) -> Ending:
    turn = Turn.DONE if said["outcome"] == OutcomeKind.DONE else Turn.FAILED
    return Ending(turn=turn, sentence=said["sentence"], reference=said["reference"])
