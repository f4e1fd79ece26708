"""Owns pausing, resuming and aborting a confirmed plan (MONEY.md 20).

Pausing and aborting take a reason and no code: whoever watches can. Resuming takes a fresh code of the owner or of a
second finance person. After a pause the apply window keeps running.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from jobcontract.permissions import Permission
from jobcontract.plan_digest import microseconds
from jobcontract.plans import AbortPlan, PausePlan, Plan, ResumePlan
from jobcontract.states import HOLDING_PLANS, PlanState
from jobservice.rules import confirming as rules
from jobservice.rules import notices as words
from jobservice.rules.confirming import RUNS
from jobservice.store import confirming as store
from jobservice.store import hints, notices
from jobservice.store import items as item_store
from jobservice.store import money as money_store
from jobservice.store import session as sessions
from jobservice.store.database import Transaction
from jobservice.store.plans import LockedPlan
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.coded_acts import STATEMENT_SECONDS, act_with_code
from jobservice.usecases.codes import Judged, refuse_code
from jobservice.usecases.confirming import plan_state
from jobservice.usecases.held_still import refuse_held
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.money import refuse_stopped
from jobservice.usecases.plan_views import locked, shown
from jobservice.usecases.service import Service


async def pause(service: Service, actor: Actor, plan: str, order: PausePlan, once: Once) -> Answered:
    """Let no further item begin (`Plan`). A plan that is paused stays as it is, with its first reason.

    Refusal PERMISSION_MISSING without payout.stop, NOT_FOUND, PLAN_STATE.
    """

    async def work(transaction: Transaction) -> Answered:
        found, now = await locked(transaction, actor, plan)
        if found.state is PlanState.PAUSED:
            return await _as_it_stands(transaction, service, actor, found)
        if found.state not in RUNS:
            raise plan_state(found, now, _drop_it(found, now))
        version = await store.steer(transaction, found, PlanState.PAUSED, by=actor.person, reason=order.reason)
        detail = {"was": found.state.value, "reason": order.reason}
        return await _steered(transaction, service, actor, found, "paused", version, detail)

    return await act_once(service, actor, _deed("pause", plan, Permission.PAYOUT_STOP), once, work)


async def resume(service: Service, actor: Actor, plan: str, order: ResumePlan, once: Once) -> Answered:
    """Go on with a paused plan (`Plan`).

    Refusal PERMISSION_MISSING without payout.release, NOT_FOUND, PLAN_STATE (not paused, or its window has ended),
    MONEY_STOPPED, WORK_STOPPED (its command, or all work), those of a code.
    """

    async def may(transaction: Transaction) -> bool:
        found, now = await locked(transaction, actor, plan)
        _refuse_resuming(found, now)
        return True

    async def work(transaction: Transaction, judged: Judged | None) -> Answered:
        found, now = await locked(transaction, actor, plan)
        _refuse_resuming(found, now)
        refuse_stopped(await money_store.switch(transaction))
        await refuse_held(transaction, command=found.command)
        if judged is None:
            raise RuntimeError("a plan was resumed without a code being judged")
        if not judged.right:
            raise refuse_code(judged)
        version = await store.steer(transaction, found, rules.resumed_state(found.armed_until, now))
        return await _steered(transaction, service, actor, found, "resumed", version, {})

    deed = _deed("resume", plan, Permission.PAYOUT_RELEASE)
    return await act_with_code(service, actor, deed, once, order.code, may=may, work=work)


async def abort(service: Service, actor: Actor, plan: str, order: AbortPlan, once: Once) -> Answered:
    """End a confirmed plan (`Plan`): items without a turn are given back now, a running one ends by the Worker. A plan
    that was aborted stays as it is.

    Refusal PERMISSION_MISSING without payout.stop, NOT_FOUND, PLAN_STATE.
    """

    async def work(transaction: Transaction) -> Answered:
        found, now = await locked(transaction, actor, plan)
        if found.state is PlanState.ABORTED:
            return await _as_it_stands(transaction, service, actor, found)
        if found.state not in HOLDING_PLANS:
            raise plan_state(found, now, _drop_it(found, now))
        await store.lock_items(transaction, found.id, store.WITHOUT_TURN)
        now = await item_store.now(transaction)
        version = await store.steer(
            transaction, found, PlanState.ABORTED, by=actor.person, reason=order.reason, ended_at=now
        )
        given = await store.give_back(transaction, found)
        await hints.add_items(transaction, queue=found.queue, version=microseconds(now))
        detail = {"was": found.state.value, "reason": order.reason, "given_back": given}
        return await _steered(transaction, service, actor, found, "aborted", version, detail)

    deed = _deed("abort", plan, Permission.PAYOUT_STOP)
    return await act_once(service, actor, deed, once, work, statement_seconds=STATEMENT_SECONDS)


def _deed(what: str, plan: str, permission: Permission) -> Deed:
    return Deed(action=f"{what}-plan", subject=plan, permission=permission)


def _drop_it(found: LockedPlan, now: datetime) -> str | None:
    if found.standing(now) is not PlanState.OPEN:
        return None
    return f"Plan {found.name} is open: nothing of it runs. Its owner can drop it."


def _refuse_resuming(found: LockedPlan, now: datetime) -> None:
    """Refusal PLAN_STATE unless the plan is paused and its window still open."""
    if found.state is not PlanState.PAUSED:
        said = None
        if found.state in RUNS:
            said = f"Plan {found.name} is not paused: it is {found.state}. There is nothing to resume."
        raise plan_state(found, now, said)
    if found.apply_until is not None and found.apply_until <= now:
        raise plan_state(
            found,
            now,
            f"The window of plan {found.name} ended at {found.apply_until:%Y-%m-%d %H:%M:%S} UTC: what had no turn by "
            "then has none. Make a new plan of what is left.",
        )


async def _as_it_stands(transaction: Transaction, service: Service, actor: Actor, found: LockedPlan) -> Answered:
    return Answered(status=200, body=await shown(transaction, service, actor, found.id))


async def _steered(
    transaction: Transaction,
    service: Service,
    actor: Actor,
    found: LockedPlan,
    what: str,
    version: int,
    detail: dict[str, Any],
) -> Answered:
    """The trail, the hint, the notice to an owner who did not do it themselves, and the answer."""
    action = {"paused": "pause-plan", "resumed": "resume-plan", "aborted": "abort-plan"}[what]
    await record(transaction, actor, action, found.id, {"name": found.name, **detail})
    await hints.add_plan(transaction, queue=found.queue, plan=found.id, version=version)
    body = await shown(transaction, service, actor, found.id)
    if found.owner != actor.person:
        rows = await sessions.colleagues(transaction)
        by = next((str(row["name"]) for row in rows if row["id"] == actor.person), actor.person)
        told = words.plan_steered(Plan.model_validate(body), what=what, by=by, reason=detail.get("reason"))
        await notices.add(
            transaction,
            notices.NewNotice(person=found.owner, kind=told.kind, subject=told.subject, text=told.text, about=found.id),
        )
    return Answered(status=200, body=body)
