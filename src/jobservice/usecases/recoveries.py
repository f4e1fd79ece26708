"""Owns making, changing and dropping recoveries before they are confirmed. Reading them: `recovery_reading.py`; what
follows: `recovery_confirming.py`, `recovery_steering.py`.

Making freezes a set and does nothing to it: each row keeps the version that was seen, and whoever acts compares it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime

from psycopg.types.json import Jsonb

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState
from jobcontract.permissions import Permission
from jobcontract.recoveries import RecoveryOrder, RecoverySteer, TakeOutOrder
from jobcontract.states import Moves
from jobservice.rules import recoveries as rules
from jobservice.rules.claims import Decision, Denied
from jobservice.rules.plans import NAMES_TRIED, plan_name
from jobservice.rules.recovery_jobs import JOB_ACTS
from jobservice.store import audit as trail
from jobservice.store import hints
from jobservice.store import recoveries as store
from jobservice.store import recovery_rows as rows
from jobservice.store.database import Transaction
from jobservice.store.recoveries import LockedRecovery
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import CHANGED, record
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.recovery_freezing import add_count, counts, freeze, freeze_set, told
from jobservice.usecases.recovery_jobs import freeze_jobs
from jobservice.usecases.recovery_views import changed, locked, sight
from jobservice.usecases.service import Service, refuse

STATEMENT_SECONDS = 25.0
"""For one statement about a whole recovery: fifty thousand rows, found in a stretch of millions."""


async def make(service: Service, actor: Actor, order: RecoveryOrder, once: Once) -> Answered:
    """Freeze a set of occurrences, skipped instants, schedules or jobs (201, `RecoveryChanged`). Nothing is done to them.

    Refusal PERMISSION_MISSING (also of an act of which the actor may do nothing at all), FILTER_INVALID, PLAN_TOO_LARGE,
    PLANS_MAX, PLAN_EMPTY (with `left_out`), INVALID_REQUEST for an end that is not later than its beginning, or a time to
    enable again that has passed.
    """

    async def work(transaction: Transaction) -> Answered:
        now = transaction.began_at
        _refuse_act(actor, order.act)
        _refuse_times(order, now)
        await store.lock_owner(transaction, actor.person)
        _judge(
            rules.decide_count(
                await store.open_names(transaction, actor.person), service.records.settings.recovery_open
            )
        )
        identifier, name = await _add(transaction, service, actor, order)
        freezes = freeze_jobs if order.act in JOB_ACTS else freeze_set
        chosen = await freezes(transaction, service, actor, order, identifier)
        _judge(rules.decide_size(chosen.count, service.records.settings.recovery_max_items))
        if not chosen.count:
            raise _empty(chosen.left_out, order.act)
        await rows.keep_left_out(transaction, identifier, chosen.kept)
        found, now = await locked(transaction, actor, identifier)
        version = await freeze(transaction, service, found, chosen.left_out, now=now, again=False)
        detail = {
            "name": name,
            "act": order.act.value,
            "reason": order.reason,
            "words": rules.order_words(order),
            "count": chosen.count,
            "left_out": {reason.value: count for reason, count in chosen.left_out.items()},
        }
        await record(transaction, actor, "make-recovery", identifier, detail)
        await hints.add_recovery(transaction, recovery=identifier, version=version)
        return Answered(status=201, body=await changed(transaction, service, identifier))

    deed = Deed(action="make-recovery", subject=order.act.value, permission=Permission.RECOVERY_MAKE)
    return await act_once(service, actor, deed, once, work, statement_seconds=STATEMENT_SECONDS)


def _refuse_act(actor: Actor, act: RecoveryAct) -> None:
    """Refusal PERMISSION_MISSING of an act on what the actor does not see, or on jobs where they may do it to none."""
    if not sight(actor).sees(act, actor.person) or (act in JOB_ACTS and not rules.may_retry_or_cancel(actor.role, act)):
        actor.require(rules.permission_for(act, Moves.NOTHING))


def _refuse_times(order: RecoveryOrder, now: datetime) -> None:
    if order.since is not None and order.until is not None and order.since >= order.until:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"The stretch ends at {order.until.isoformat()} and begins at {order.since.isoformat()}: nothing lies in it.",
        )
    if order.disable_until is not None and order.disable_until <= now:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"{order.disable_until.isoformat()} has passed: name a later time to enable the schedules again, or none.",
        )


async def _add(transaction: Transaction, service: Service, actor: Actor, order: RecoveryOrder) -> tuple[str, str]:
    """A new recovery's id and name."""
    new = store.NewRecovery(
        act=order.act.value,
        reason=order.reason,
        asked=Jsonb(order.model_dump(mode="json")),
        owner=actor.person,
        disable_until=order.disable_until,
        at_once=service.records.settings.recovery_at_once,
    )
    for attempt in range(NAMES_TRIED):
        name = plan_name(attempt, secrets.randbelow)
        identifier = await store.add(transaction, new, name)
        if identifier is not None:
            return identifier, name
    raise RuntimeError("no name was free for a recovery")


def _empty(left_out: Mapping[LeftOut, int], act: RecoveryAct) -> Refusal:
    return Refusal(ErrorCode.PLAN_EMPTY, rules.nothing_left(left_out, act), left_out=counts(left_out))


def _judge(decision: Decision) -> None:
    if isinstance(decision, Denied):
        raise refuse(decision)


async def take_out(service: Service, actor: Actor, recovery: str, order: TakeOutOrder, once: Once) -> Answered:
    """Take rows out of one's own open recovery and freeze it anew under its name (`RecoveryChanged`).

    Its rows stay as they were shown: what changed meanwhile is told when it is confirmed. Refusal NOT_FOUND (the
    recovery; a row that is not in it), PERMISSION_MISSING, PLAN_STATE, PLAN_EMPTY where nothing would be left.
    """

    async def work(transaction: Transaction) -> Answered:
        found, now = await _own(transaction, actor, recovery)
        keys = list(dict.fromkeys(order.keys))
        taken = await rows.take_out(transaction, found.id, keys)
        if len(taken) < len(keys):
            raise Refusal(
                ErrorCode.NOT_FOUND,
                f"{len(keys) - len(taken):,} of these rows are not in {found.name}. Load the recovery again.",
            )
        if len(taken) == found.count:
            raise Refusal(ErrorCode.PLAN_EMPTY, f"That would leave nothing in {found.name}. Drop it instead.")
        left_out = {LeftOut(each["reason"]): int(each["count"]) for each in found.left_out}
        add_count(left_out, LeftOut.TAKEN_OUT, len(taken))
        kept = [told(LeftOut.TAKEN_OUT, row["schedule"], row["name"], found.act, row["scheduled_at"]) for row in taken]
        await rows.keep_left_out(transaction, found.id, kept)
        version = await freeze(transaction, service, found, left_out, now=now, again=True)
        detail = {"name": found.name, "rows": len(taken), "left": found.count - len(taken)}
        await record(transaction, actor, "take-out-of-recovery", found.id, detail)
        await hints.add_recovery(transaction, recovery=found.id, version=version)
        return Answered(status=200, body=await changed(transaction, service, found.id))

    deed = Deed(action="take-out-of-recovery", subject=recovery, permission=Permission.RECOVERY_MAKE)
    return await act_once(service, actor, deed, once, work, statement_seconds=STATEMENT_SECONDS)


async def drop(service: Service, actor: Actor, recovery: str, order: RecoverySteer, once: Once) -> Answered:
    """Give one's own open recovery up (`RecoveryChanged`). Refusal NOT_FOUND, PERMISSION_MISSING, PLAN_STATE."""

    async def work(transaction: Transaction) -> Answered:
        found, _ = await _own(transaction, actor, recovery)
        await end_open(
            transaction,
            found,
            RecoveryState.DROPPED,
            why=order.reason,
            by=actor.person,
            reference=actor.reference or None,
        )
        return Answered(status=200, body=await changed(transaction, service, found.id))

    deed = Deed(action="drop-recovery", subject=recovery, permission=Permission.RECOVERY_MAKE)
    return await act_once(service, actor, deed, once, work)


async def _own(transaction: Transaction, actor: Actor, recovery: str) -> tuple[LockedRecovery, datetime]:
    """A locked recovery that the actor may change now. Refusal NOT_FOUND, PERMISSION_MISSING, PLAN_STATE."""
    found, now = await locked(transaction, actor, recovery)
    _judge(rules.decide_change(found.name, found.owner, found.owner_name, found.standing(now), actor=actor.person))
    return found, now


_ENDINGS: Mapping[RecoveryState, str] = {
    RecoveryState.DROPPED: "drop-recovery",
    RecoveryState.EXPIRED: "expire-recovery",
}


async def end_open(
    transaction: Transaction,
    found: LockedRecovery,
    state: RecoveryState,
    *,
    why: str,
    by: str | None,
    reference: str | None = None,
) -> None:
    """End a locked recovery that was not confirmed as dropped or expired, with audit row and hint.

    The API and the Worker may both do so, each in a transaction of its tenant. `by`: None = the service itself.
    """
    version = await store.steer(transaction, found, state, by=by, why=why)
    if version is None:
        raise RuntimeError("a locked recovery is as it was read")
    await trail.add(
        transaction,
        trail.NewEntry(
            person=by,
            action=_ENDINGS[state],
            subject=found.id,
            outcome=CHANGED,
            detail={"name": found.name, "rows": found.count, "reason": why},
            reference=reference,
        ),
    )
    await hints.add_recovery(transaction, recovery=found.id, version=version)
