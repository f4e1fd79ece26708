"""Owns what happens to a person's plans and recoveries when something happens to the person: unconfirmed ones are voided,
confirmed ones paused (MONEY.md 16, 21).

Part of the transaction of whatever happened, on the owner's connection. Never ends what was confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobcontract.operating import RecoveryState
from jobcontract.states import PlanState
from jobservice.store import hints, recoveries
from jobservice.store import holding_back as store
from jobservice.store.database import Transaction
from jobservice.store.holding_back import LivePlan
from jobservice.usecases.audit import record_on_server


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """The names of the plans and recoveries that were voided and paused."""

    voided: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()


async def hold_back(
    transaction: Transaction, person: str, *, reason: str, tenants: Sequence[str] | None = None
) -> HeldBack:
    """Void the person's open plans and recoveries and pause their confirmed ones; `tenants` None = everywhere.

    `reason` is a sentence that whoever looks at the plan reads.
    """
    voided: list[str] = []
    paused: list[str] = []
    plans = await store.lock_plans(transaction, person, tenants)
    await store.lock_items(transaction, plans, owner=person)
    for plan in plans:
        there = Transaction(transaction.connection, plan.tenant)
        if plan.state is PlanState.OPEN:
            version = await store.void(there, plan, owner=person, reason=reason)
        else:
            version = await store.pause(there, plan, reason=reason)
        if version is None:
            continue
        (voided if plan.state is PlanState.OPEN else paused).append(plan.name)
        await _tell(there, plan, version, reason)
    for tenant, recovery in await store.lock_recoveries(transaction, person, tenants):
        name, was_open = await _hold_recovery(Transaction(transaction.connection, tenant), recovery, reason)
        (voided if was_open else paused).append(name)
    return HeldBack(voided=tuple(voided), paused=tuple(paused))


async def _hold_recovery(transaction: Transaction, recovery: str, reason: str) -> tuple[str, bool]:
    """Give a locked recovery up, or pause it where it was confirmed; its name, and whether it was open."""
    found = await recoveries.lock(transaction, recovery)
    assert found is not None  # noqa: S101  # it is locked already
    was_open = found.state is RecoveryState.OPEN
    state = RecoveryState.DROPPED if was_open else RecoveryState.PAUSED
    version = await recoveries.steer(transaction, found, state, by=None, why=reason)
    assert version is not None  # noqa: S101  # as it was read
    await hints.add_recovery(transaction, recovery=found.id, version=version)
    await record_on_server(
        transaction,
        "drop-recovery" if was_open else "pause-recovery",
        found.id,
        (found.tenant,),
        {"name": found.name, "reason": reason},
    )
    return found.name, was_open


async def _tell(transaction: Transaction, plan: LivePlan, version: int, reason: str) -> None:
    was_open = plan.state is PlanState.OPEN
    await hints.add_plan(transaction, queue=plan.queue, plan=plan.id, version=version)
    if was_open:
        await hints.add_items(transaction, queue=plan.queue, version=version)
    await record_on_server(
        transaction,
        "plan-voided" if was_open else "plan-paused",
        plan.id,
        (plan.tenant,),
        {"plan": plan.name, "reason": reason},
    )
