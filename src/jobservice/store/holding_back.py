"""Owns the statements that hold a person's plans and recoveries back: voided before they are confirmed, paused after
(MONEY.md 16, 21).

They run on the owner's connection, over all tenants of a person. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobcontract.states import PlanState
from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePlan:
    """A plan of a person that something may still come of, locked."""

    id: str
    tenant: str
    name: str
    queue: str
    state: PlanState


async def lock_plans(transaction: Transaction, person: str, tenants: Sequence[str] | None) -> tuple[LivePlan, ...]:
    """Lock a person's live plans; `tenants` None = in all of them."""
    rows = await transaction.rows(
        "holding_back/lock_plans", person=person, tenants=None if tenants is None else list(tenants)
    )
    return tuple(LivePlan(**{**row, "state": PlanState(row["state"])}) for row in rows)


async def lock_items(transaction: Transaction, plans: Sequence[LivePlan], *, owner: str) -> None:
    """Lock what the unconfirmed ones of locked plans took, of all of them together."""
    taking = [plan.id for plan in plans if plan.state is PlanState.OPEN]
    await transaction.row("holding_back/lock_items", plans=taking, owner=owner)


async def void(transaction: Transaction, plan: LivePlan, *, owner: str, reason: str) -> int | None:
    """End an unconfirmed plan and give back what it took; its new version, None where it was confirmed or ended."""
    row = await transaction.row("holding_back/void", plan=plan.id, reason=reason)
    if row is None:
        return None
    await transaction.run("holding_back/give_back", plan=plan.id, owner=owner)
    return int(row["version"])


async def pause(transaction: Transaction, plan: LivePlan, *, reason: str) -> int | None:
    """Pause a confirmed plan; its new version, None where it is paused already, or over."""
    row = await transaction.row("holding_back/pause", plan=plan.id, reason=reason)
    return None if row is None else int(row["version"])


async def lock_recoveries(
    transaction: Transaction, person: str, tenants: Sequence[str] | None
) -> tuple[tuple[str, str], ...]:
    """Lock a person's recoveries that something may still begin of, as tenant and id; `tenants` None = in all of them."""
    rows = await transaction.rows(
        "holding_back/lock_recoveries", person=person, tenants=None if tenants is None else list(tenants)
    )
    return tuple((row["tenant"], row["id"]) for row in rows)
