"""Owns the statements of a Worker's leases on plans, and what is written of a whole plan under one (DESIGN.md, leases).

Finding and renewing go over all tenants; everything else is of one. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from jobcontract.states import PlanState, Turn
from jobservice.rules.limits import Sum
from jobservice.rules.turns import Count
from jobservice.store.database import Row, Transaction
from jobservice.store.plan_joins import whole_plan
from jobservice.store.turns import PlanLease


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A plan that was leased."""

    plan: UUID
    tenant: str
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanHead:
    """What a plan is, besides its rows, and how long it may be applied."""

    id: str
    name: str
    command: str
    queue: str
    use_case: str
    use_case_version: int
    parameters: Mapping[str, Any]
    owner: str
    state: PlanState
    salt: bytes
    digest: bytes
    count: int
    frozen_at: datetime
    apply_until: datetime
    signing_key: str
    signature: bytes
    now: datetime


async def take(transaction: Transaction, *, holder: UUID, lease: float, most: int) -> tuple[Taken, ...]:
    """Lease at most `most` plans that want work and that nobody has, for `lease` seconds."""
    found = await transaction.rows("plan_leases/take", holder=holder, lease=lease, most=most)
    return tuple(Taken(plan=row["id"], tenant=row["tenant"], fence=row["fence"]) for row in found)


async def renew(transaction: Transaction, held: Mapping[UUID, int], *, holder: UUID, lease: float) -> frozenset[UUID]:
    """Extend all leases of this process (fence by plan); those that are still its own. Locks first, compares after."""
    await transaction.rows("plan_leases/lock", plans=list(held), holder=holder)
    kept = await transaction.rows(
        "plan_leases/renew", plans=list(held), fences=list(held.values()), holder=holder, lease=lease
    )
    return frozenset(row["id"] for row in kept)


async def give_back(transaction: Transaction, lease: PlanLease) -> bool:
    """Whether the lease was still ours to give back."""
    return await transaction.run("plan_leases/give_back", **lease.parameters()) > 0


async def head(transaction: Transaction, lease: PlanLease) -> PlanHead | None:
    """The plan; None where the lease is lost."""
    row = await transaction.row("plan_leases/head", **lease.parameters())
    if row is None:
        return None
    octets = {name: bytes(row[name]) for name in ("salt", "digest", "signature")}
    return PlanHead(**{**row, **octets, "state": PlanState(row["state"])})


async def pause(transaction: Transaction, lease: PlanLease, reason: str) -> bool:
    """Pause the plan with a reason; whether it was being applied, by us."""
    return await transaction.row("plan_leases/pause", reason=reason, **lease.parameters()) is not None


async def tell(transaction: Transaction, lease: PlanLease) -> Row | None:
    """Raise the plan's version: version, queue, moment (microseconds since 1970)."""
    return await transaction.row("plan_leases/tell", **lease.parameters())


async def finish(transaction: Transaction, lease: PlanLease) -> bool:
    """End the plan as done where every item had its turn; whether it was so."""
    return await transaction.run("plan_leases/finish", **lease.parameters()) > 0


async def close(transaction: Transaction, lease: PlanLease) -> Row | None:
    """Close the account of a plan that has ended and give its lease back: name, owner, state, reason, version, queue,
    command; None where it goes on or a turn is running."""
    return await transaction.row("plan_leases/close", **lease.parameters())


async def correct(transaction: Transaction, plan: str) -> int:
    """Set what an ended plan counts for limits to what went out or may have; how many sums."""
    return await transaction.run("plan_leases/correct", plan=plan)


async def account(transaction: Transaction, plan: str) -> tuple[Count, ...]:
    """The account of a plan."""
    return tuple(
        Count(**{**row, "turn": Turn(row["turn"])}) for row in await transaction.rows("plan_leases/account", plan=plan)
    )


async def watchers(transaction: Transaction, roles: Collection[str]) -> tuple[str, ...]:
    """Active people of the tenant who have one of these roles."""
    return tuple(row["id"] for row in await transaction.rows("plan_leases/watchers", roles=sorted(roles)))


async def overdue(transaction: Transaction, *, most: int) -> Sequence[Row]:
    """Plans of all tenants whose time is over: id, tenant, state."""
    return await transaction.rows("plan_leases/overdue", most=most)


async def lapse(transaction: Transaction, plan: str) -> Row | None:
    """End a locked plan at the end of its window: version, queue, owner, moment; None where it has not come."""
    return await transaction.row("plan_leases/lapse", plan=plan)


async def let_go(transaction: Transaction, plan: str, *, owner: str) -> int:
    """Give back the items of a plan that had no turn; how many."""
    async with whole_plan(transaction):
        return await transaction.run("plan_leases/let_go", plan=plan, owner=owner)


async def counted(transaction: Transaction, plan: str) -> Mapping[str, Sum]:
    """What a plan counts for limits, by currency."""
    found = await transaction.rows("plan_leases/counted", plan=plan)
    return {row["currency"]: Sum(minor=row["minor"], count=row["items"]) for row in found}
