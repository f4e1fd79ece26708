"""Owns pausing, resuming and aborting a confirmed recovery.

Pausing and aborting take a reason and no code: whoever watches can. Resuming one that moves money takes a fresh code of a
person with payout.release. What has begun goes on to its end, whatever becomes of its recovery.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobcontract.operating import RecoveryState
from jobcontract.permissions import Permission
from jobcontract.recoveries import RecoverySteer, ResumeRecovery
from jobcontract.states import Moves
from jobservice.store import hints
from jobservice.store import money as money_store
from jobservice.store import recoveries as store
from jobservice.store.database import Transaction
from jobservice.store.recoveries import LockedRecovery
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.coded_acts import act_with_code
from jobservice.usecases.codes import Judged
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.money import refuse_stopped
from jobservice.usecases.recovery_confirming import refuse_unfit, refuse_wrong_code, takes_code
from jobservice.usecases.recovery_views import changed, locked, wrong_state
from jobservice.usecases.service import Service


async def pause(service: Service, actor: Actor, recovery: str, order: RecoverySteer, once: Once) -> Answered:
    """Let no further row begin (`RecoveryChanged`). A paused one stays as it is, with its first reason.

    Refusal PERMISSION_MISSING, NOT_FOUND, PLAN_STATE.
    """

    async def work(transaction: Transaction) -> Answered:
        found, now = await locked(transaction, actor, recovery)
        if found.state is RecoveryState.PAUSED:
            return await _answer(transaction, service, found)
        if found.state is not RecoveryState.APPLYING:
            raise wrong_state(found, now, _open(found, now))
        return await _steer(transaction, service, actor, found, RecoveryState.PAUSED, "pause", order.reason)

    return await act_once(service, actor, _deed("pause", recovery), once, work)


async def resume(service: Service, actor: Actor, recovery: str, order: ResumeRecovery, once: Once) -> Answered:
    """Go on with a paused recovery (`RecoveryChanged`).

    Refusal PERMISSION_MISSING without what its rows need, NOT_FOUND, PLAN_STATE, INVALID_REQUEST (a code where none is
    asked for); where it moves money MONEY_STOPPED and those of a code.
    """

    async def may(transaction: Transaction) -> bool:
        found = await _paused(transaction, actor, recovery)
        return takes_code(found, order.code)

    async def work(transaction: Transaction, judged: Judged | None) -> Answered:
        found = await _paused(transaction, actor, recovery)
        if found.moves is Moves.MONEY:
            refuse_stopped(await money_store.switch(transaction))
            refuse_wrong_code(found, judged)
        return await _steer(transaction, service, actor, found, RecoveryState.APPLYING, "resume", order.reason)

    return await act_with_code(service, actor, _deed("resume", recovery), once, order.code, may=may, work=work)


async def abort(service: Service, actor: Actor, recovery: str, order: RecoverySteer, once: Once) -> Answered:
    """End a confirmed recovery (`RecoveryChanged`): rows that have not started never do. An aborted one stays as it is.

    Refusal PERMISSION_MISSING, NOT_FOUND, PLAN_STATE.
    """

    async def work(transaction: Transaction) -> Answered:
        found, now = await locked(transaction, actor, recovery)
        if found.state is RecoveryState.ABORTED:
            return await _answer(transaction, service, found)
        if found.state not in (RecoveryState.APPLYING, RecoveryState.PAUSED):
            raise wrong_state(found, now, _open(found, now))
        return await _steer(transaction, service, actor, found, RecoveryState.ABORTED, "abort", order.reason)

    return await act_once(service, actor, _deed("abort", recovery), once, work)


def _deed(what: str, recovery: str) -> Deed:
    return Deed(action=f"{what}-recovery", subject=recovery, permission=Permission.RECOVERY_MAKE)


def _open(found: LockedRecovery, now: datetime) -> str | None:
    if found.standing(now) is not RecoveryState.OPEN:
        return None
    return f"Recovery {found.name} is open: nothing of it runs. Its owner can drop it."


async def _paused(transaction: Transaction, actor: Actor, recovery: str) -> LockedRecovery:
    """A paused recovery, locked, whose rows the actor may do. Refusal NOT_FOUND, PERMISSION_MISSING, PLAN_STATE."""
    found, now = await locked(transaction, actor, recovery)
    refuse_unfit(actor, found)
    if found.state is not RecoveryState.PAUSED:
        said = None
        if found.state is RecoveryState.APPLYING:
            said = f"Recovery {found.name} is not paused: it is being applied. There is nothing to resume."
        raise wrong_state(found, now, said)
    return found


async def _answer(transaction: Transaction, service: Service, found: LockedRecovery) -> Answered:
    return Answered(status=200, body=await changed(transaction, service, found.id))


async def _steer(
    transaction: Transaction,
    service: Service,
    actor: Actor,
    found: LockedRecovery,
    state: RecoveryState,
    what: str,
    reason: str,
) -> Answered:
    """The state, the trail, the hint, and the answer."""
    why = None if state is RecoveryState.APPLYING else reason
    version = await store.steer(transaction, found, state, by=actor.person, why=why)
    if version is None:
        raise RuntimeError("a locked recovery is as it was read")
    detail: Mapping[str, Any] = {"name": found.name, "was": found.state.value, "reason": reason}
    await record(transaction, actor, f"{what}-recovery", found.id, detail)
    await hints.add_recovery(transaction, recovery=found.id, version=version)
    return await _answer(transaction, service, found)
