"""Owns making, changing and ending plans before they are confirmed (MONEY.md 6 to 12). Reading them: `plan_reading.py`.

Making locks every item of the set first, in the order of their ids, and compares after: it waits for whoever works on
one, and since everybody who locks several does so in that order, nobody waits in a ring. Nothing here moves money.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobcontract.plans import DropPlan, KeepIn, PlanOrder, TakeOut
from jobcontract.states import Exclusion, Moves, PlanState
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.claims import Decision, Denied
from jobservice.rules.plans import NAMES_TRIED, decide_change, decide_count, decide_size, nothing_left, plan_name
from jobservice.rules.queues import UseCase
from jobservice.store import audit as trail
from jobservice.store import hints
from jobservice.store import items as item_store
from jobservice.store import plan_rows as rows
from jobservice.store import plans as store
from jobservice.store.database import Transaction
from jobservice.store.plan_rows import ItemSet
from jobservice.store.plans import LockedPlan
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import CHANGED, record
from jobservice.usecases.filtering import read_filter
from jobservice.usecases.held_still import refuse_held
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.items import reach
from jobservice.usecases.plan_views import locked, shown
from jobservice.usecases.plan_warnings import warn
from jobservice.usecases.service import Service, refuse

STATEMENT_SECONDS = 25.0
"""For one statement about a whole plan: fifty thousand rows with their indexes, on a slow disk."""
_SALT_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Set:
    """The items of a plan to be: what was named, or what a condition found."""

    items: ItemSet
    named: bool
    condition: Mapping[str, object] | None = None


async def make(service: Service, actor: Actor, queue: str, order: PlanOrder, once: Once) -> Answered:
    """Freeze a set of items and claim them for the actor (201, `Plan`).

    Refusal PERMISSION_MISSING, NOT_FOUND (queue, command), WORK_STOPPED, FILTER_INVALID, PLAN_TOO_LARGE, PLANS_MAX, PLAN_EMPTY (with
    `excluded`).
    """

    async def work(transaction: Transaction) -> Answered:
        command, use_case = _command(service, queue, order.command)
        await refuse_held(transaction, queue=command.queue, command=command.id)
        chosen = await _chosen(transaction, service, actor, order, command)
        await store.lock_owner(transaction, actor.person)
        names = await store.open_names(transaction, actor.person)
        _judge(decide_count(names, service.records.settings.plan_open))
        plan, name, salt = await _add(transaction, actor, command, use_case, order.filter)
        items = await rows.lock(transaction, command.queue, reach(actor), chosen.items)
        now = await item_store.now(transaction)
        until = now + timedelta(seconds=service.records.settings.plan_expiry)
        taking = rows.Taking(
            plan=plan,
            queue=command.queue,
            command=command.id,
            name=name,
            owner=actor.person,
            salt=salt,
            now=now,
            until=until,
            states=sorted(use_case.states),
            currencies=sorted(command.limits.currencies) if use_case.moves is Moves.MONEY else None,
            command_title=command.title,
            use_case_title=use_case.title,
        )
        taken = await rows.take(
            transaction, taking, items, asked=chosen.items if chosen.named else None, condition=chosen.condition
        )
        if not taken.taken:
            await refuse_held(transaction, queue=command.queue, command=command.id)
            raise _empty(taken.excluded)
        version = await rows.freeze(transaction, plan, now=now, until=until, again=False)
        await warn(transaction, service, command, plan)
        detail = {"name": name, "command": command.id, "items": taken.taken, "excluded": dict(taken.excluded)}
        await record(transaction, actor, "make-plan", plan, detail)
        await _tell(transaction, command.queue, plan, version, now)
        return Answered(status=201, body=await shown(transaction, service, actor, plan))

    deed = Deed(action="make-plan", subject=queue, permission=Permission.PAYOUT_RELEASE)
    return await act_once(service, actor, deed, once, work, statement_seconds=STATEMENT_SECONDS)


def _command(service: Service, queue: str, identifier: str) -> tuple[BulkCommand, UseCase]:
    """The command and its use case. Refusal NOT_FOUND, naming those that the queue has."""
    known = service.records.bulk_of(service.queue(queue).id)
    command = next((each for each in known if each.id == identifier), None)
    if command is None:
        there = ", ".join(each.id for each in known) or "none"
        raise Refusal(ErrorCode.NOT_FOUND, f"{queue} has no bulk command {identifier[:80]!r}; there is {there}.")
    return command, service.records.use_cases[command.use_case]


async def _chosen(
    transaction: Transaction, service: Service, actor: Actor, order: PlanOrder, command: BulkCommand
) -> _Set:
    """What is asked for. Refusal PLAN_TOO_LARGE, FILTER_INVALID, PLAN_EMPTY where a filter finds nothing."""
    most = service.records.settings.plan_max_items
    if order.items is not None:
        named = ItemSet.of(order.items)
        _judge(decide_size(named.count, most, exact=True))
        return _Set(items=named, named=True)
    queue = service.queue(command.queue)
    wanted = await read_filter(transaction, service, actor, queue, order.filter or "")
    now = transaction.began_at
    found = await rows.find(transaction, queue.id, reach(actor), wanted.condition, now=now, most=most)
    _judge(decide_size(found.count, most, exact=False))
    if not found.count:
        raise _empty({})
    return _Set(items=found, named=False, condition=wanted.condition)


async def _add(
    transaction: Transaction, actor: Actor, command: BulkCommand, use_case: UseCase, filter_text: str | None
) -> tuple[str, str, bytes]:
    """A new plan's id, name and salt."""
    new = store.NewPlan(
        command=command.id,
        queue=command.queue,
        use_case=use_case.id,
        use_case_version=use_case.version,
        filter=filter_text,
        owner=actor.person,
        salt=secrets.token_bytes(_SALT_BYTES),
    )
    for attempt in range(NAMES_TRIED):
        name = plan_name(attempt, secrets.randbelow)
        plan = await store.add(transaction, new, name)
        if plan is not None:
            return plan, name, new.salt
    raise RuntimeError("no name was free for a plan")


def _empty(excluded: Mapping[str, int]) -> Refusal:
    counted = {Exclusion(reason): count for reason, count in excluded.items()}
    told = [{"reason": reason.value, "count": counted[reason]} for reason in Exclusion if reason in counted]
    return Refusal(ErrorCode.PLAN_EMPTY, nothing_left(counted), excluded=told)


def _judge(decision: Decision) -> None:
    if isinstance(decision, Denied):
        raise refuse(decision)


async def take_out(service: Service, actor: Actor, plan: str, order: TakeOut, once: Once) -> Answered:
    """Take items out of one's own open plan and freeze it anew under its name (`Plan`).

    Its rows stay as they were shown: what changed meanwhile is told when it is confirmed. Refusal NOT_FOUND (the plan;
    an item that is not in it), PERMISSION_MISSING, PLAN_STATE, PLAN_EMPTY where nothing would be left.
    """

    async def work(transaction: Transaction) -> Answered:
        found, now = await _own(transaction, actor, plan)
        items = ItemSet.of(order.items)
        await _refuse_strangers(transaction, found, items)
        await rows.lock_planned(transaction, found.id)
        now = await item_store.now(transaction)
        _judge(decide_change(found.name, found.owner, found.standing(now), actor=actor.person))
        until = now + timedelta(seconds=service.records.settings.plan_expiry)
        await rows.take_out(transaction, found.id, items, until=until)
        version = await rows.freeze(transaction, found.id, now=now, until=until, again=True)
        await warn(transaction, service, service.records.bulk[found.command], found.id)
        detail = {"name": found.name, "items": items.count, "left": found.count - items.count}
        await record(transaction, actor, "take-out-plan", found.id, detail)
        await _tell(transaction, found.queue, found.id, version, now)
        return Answered(status=200, body=await shown(transaction, service, actor, found.id))

    deed = Deed(action="take-out-plan", subject=plan, permission=Permission.PAYOUT_RELEASE)
    return await act_once(service, actor, deed, once, work, statement_seconds=STATEMENT_SECONDS)


async def _refuse_strangers(transaction: Transaction, plan: LockedPlan, items: ItemSet) -> None:
    """Refusal NOT_FOUND for an item that is not in the plan, PLAN_EMPTY where these are all that it has."""
    planned, stranger = await rows.planned(transaction, plan.id, items)
    if stranger is not None:
        raise Refusal(
            ErrorCode.NOT_FOUND,
            f"{items.count - planned:,} of these items are not in {plan.name}, like {stranger}. Load the plan again.",
        )
    if planned == plan.count:
        raise Refusal(ErrorCode.PLAN_EMPTY, f"That would leave nothing in {plan.name}. Drop the plan instead.")


async def keep_in(service: Service, actor: Actor, plan: str, order: KeepIn, once: Once) -> Answered:
    """Answer a warning of one's own open plan: the item stays in, and why (`Plan`).

    Refusal NOT_FOUND (the plan, the warning), PERMISSION_MISSING, PLAN_STATE.
    """

    async def work(transaction: Transaction) -> Answered:
        found, _ = await _own(transaction, actor, plan)
        kept = await store.keep_in(transaction, found.id, order.warning, reason=order.reason)
        if kept is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"{found.name} has no such warning any more. Load its warnings again.")
        version = await store.touch(transaction, found.id)
        detail = {"name": found.name, "item": kept["item"], "warning": kept["kind"], "reason": order.reason}
        await record(transaction, actor, "keep-in-plan", found.id, detail)
        await hints.add_plan(transaction, queue=found.queue, plan=found.id, version=version)
        return Answered(status=200, body=await shown(transaction, service, actor, found.id))

    deed = Deed(action="keep-in-plan", subject=plan, permission=Permission.PAYOUT_RELEASE)
    return await act_once(service, actor, deed, once, work)


async def drop(service: Service, actor: Actor, plan: str, order: DropPlan, once: Once) -> Answered:  # noqa: ARG001  # the order says nothing further yet
    """Give one's own open plan up; its items are free again (`Plan`).

    Refusal NOT_FOUND, PERMISSION_MISSING, PLAN_STATE.
    """

    async def work(transaction: Transaction) -> Answered:
        found, _ = await _own(transaction, actor, plan)
        await end_open(
            transaction,
            found,
            PlanState.DROPPED,
            reason="Its owner dropped it.",
            by=actor.person,
            reference=actor.reference or None,
        )
        return Answered(status=200, body=await shown(transaction, service, actor, found.id))

    deed = Deed(action="drop-plan", subject=plan, permission=Permission.PAYOUT_RELEASE)
    return await act_once(service, actor, deed, once, work, statement_seconds=STATEMENT_SECONDS)


async def _own(transaction: Transaction, actor: Actor, plan: str) -> tuple[LockedPlan, datetime]:
    """A locked plan that the actor may change now. Refusal NOT_FOUND, PERMISSION_MISSING, PLAN_STATE."""
    found, now = await locked(transaction, actor, plan)
    _judge(decide_change(found.name, found.owner, found.standing(now), actor=actor.person))
    return found, now


_ENDINGS: Mapping[PlanState, str] = {
    PlanState.DROPPED: "drop-plan",
    PlanState.VOIDED: "void-plan",
    PlanState.EXPIRED: "expire-plan",
}


async def end_open(
    transaction: Transaction,
    plan: LockedPlan,
    state: PlanState,
    *,
    reason: str,
    by: str | None,
    reference: str | None = None,
) -> int:
    """End a locked plan that was not confirmed as dropped, voided or expired: its claims are given back, with audit row
    and hints. How many items are free again; nothing is done to a plan that is not open any more.

    The API and the Worker may both do so, each in a transaction of the plan's tenant. `by`: None = the service itself.
    """
    if plan.state is not PlanState.OPEN:
        return 0
    await rows.lock_planned(transaction, plan.id)
    freed = await rows.give_back(transaction, plan.id)
    version = await store.end(transaction, plan, state, by=by, reason=reason)
    if version is None:
        raise RuntimeError("a locked plan is as it was read")
    await trail.add(
        transaction,
        trail.NewEntry(
            person=by,
            action=_ENDINGS[state],
            subject=plan.id,
            outcome=CHANGED,
            detail={"name": plan.name, "items": freed, "reason": reason},
            reference=reference,
        ),
    )
    await _tell(transaction, plan.queue, plan.id, version, await item_store.now(transaction))
    return freed


async def _tell(transaction: Transaction, queue: str, plan: str, version: int, now: datetime) -> None:
    """One hint that many items of the queue changed, one of the plan."""
    await hints.add_items(transaction, queue=queue, version=int(now.timestamp() * 1_000_000))
    await hints.add_plan(transaction, queue=queue, plan=plan, version=version)
