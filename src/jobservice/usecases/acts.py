"""Owns running a use case on an item: who may, under which claim and version, what it leaves, what is kept of it.

One transaction an act (requirement state-the-claim-mode). An outcome refused or failed is committed with its record
and without the function's effects; a Refusal leaves nothing but its audit row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import psycopg
import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import storable
from jobcontract.items import ActOrder
from jobcontract.money import Money
from jobcontract.permissions import Permission
from jobcontract.states import ClaimEnding, Moves, OutcomeKind
from jobservice.application import NewPayment, Outcome, UseCaseFunction, WorkItem, failed
from jobservice.rules.claims import Denied, decide_act, lease_end
from jobservice.rules.inputs import CheckedInputs, check_inputs
from jobservice.rules.items import standing_state
from jobservice.rules.queues import Queue, UseCase
from jobservice.store import acts as store
from jobservice.store import claims as claim_store
from jobservice.store import hints
from jobservice.store import items as item_store
from jobservice.store.database import Transaction
from jobservice.store.items import LockedItem
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.call import Effect, ItemCall
from jobservice.usecases.claims import end_lapsed, written
from jobservice.usecases.content import refuse_strangers
from jobservice.usecases.held_still import locked_to_work
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.items import shown
from jobservice.usecases.service import Service, refuse
from jobservice.usecases.versions import version_changed

SENTENCE_MAX = 4_000
"""Most characters that are kept of an outcome's sentence."""

_log = structlog.get_logger(__name__)


async def act(service: Service, actor: Actor, item: str, use_case: str, order: ActOrder, once: Once) -> Answered:
    """Run `use_case` on `item` (`Acted`; 200 whatever the outcome).

    Refusal PERMISSION_MISSING, NOT_FOUND, WORK_STOPPED, IN_PLAN, CLAIM_REQUIRED, CLAIM_HELD, CLAIM_LOST, VERSION_CHANGED, NEEDS_PLAN,
    ITEM_CLOSED, USE_CASE_UNFIT, INVALID_REQUEST, COLLEAGUE_UNFIT, in this order.
    """

    async def work(transaction: Transaction) -> Answered:
        found, now = await locked_to_work(transaction, actor, item)
        queue = service.queue(found.queue)
        chosen = _chosen(queue, use_case)
        _refuse_claim(queue, found, actor, order, now)
        if order.money_version != found.version.number:
            raise await version_changed(transaction, found, order.money_version)
        _refuse_state(chosen, found, now)
        inputs = check_inputs(chosen.inputs, order.inputs)
        if inputs.faults:
            raise Refusal(ErrorCode.INVALID_REQUEST, " ".join(inputs.faults))
        await refuse_strangers(transaction, inputs.persons)
        call = ItemCall(transaction, actor, queue, found, now=now, claims_max=service.records.settings.claims_max)
        outcome = await _run(service, actor, chosen, call, found, inputs, now)
        effect = call.effect if outcome.kind is OutcomeKind.DONE else None
        _refuse_unanswered(chosen, found, effect)
        await _write(transaction, service, actor, queue, found, effect, now)
        await _keep(transaction, actor, chosen, found, effect, outcome, inputs.kept)
        row = await shown(transaction, actor, item)
        body = {
            "outcome": outcome.kind.value,
            "sentence": outcome.sentence,
            "item": row["item"],
            "as_of": row["now"].isoformat(),
        }
        return Answered(status=200, body=body)

    deed = Deed(action=use_case, subject=item, permission=Permission.QUEUE_ACT)
    return await act_once(service, actor, deed, once, work)


def _chosen(queue: Queue, use_case: str) -> UseCase:
    chosen = queue.use_case(use_case)
    if chosen is None:
        there = ", ".join(each.id for each in queue.use_cases) or "none"
        raise Refusal(ErrorCode.NOT_FOUND, f"{queue.id} has no use case {use_case[:80]!r}; there is {there}.")
    return chosen


def _refuse_claim(queue: Queue, found: LockedItem, actor: Actor, order: ActOrder, now: datetime) -> None:
    decided = decide_act(queue.claim, found.holding, now=now, actor=actor.person, carried_fence=order.fence)
    if isinstance(decided, Denied):
        raise refuse(decided)


def _refuse_state(chosen: UseCase, found: LockedItem, now: datetime) -> None:
    """Refusal NEEDS_PLAN, ITEM_CLOSED, USE_CASE_UNFIT."""
    if chosen.moves is Moves.MONEY:
        raise Refusal(
            ErrorCode.NEEDS_PLAN,
            f"{chosen.title} moves money, which goes only through a confirmed plan; none holds this.",
        )
    if found.closed:
        raise Refusal(ErrorCode.ITEM_CLOSED, f"The item is {found.version.state}; no act changes it any more.")
    state = standing_state(found.version.state, found.version.set_aside_until, now)
    if state not in chosen.states:
        fit = " or ".join(sorted(chosen.states))
        raise Refusal(ErrorCode.USE_CASE_UNFIT, f"{chosen.title} is for items that are {fit}; this one is {state}.")


def _refuse_unanswered(chosen: UseCase, found: LockedItem, effect: Effect | None) -> None:
    """Refusal USE_CASE_UNFIT where the question whether a payout was paid would close without an answer (MONEY.md 5)."""
    if found.about is not None and effect is not None and effect.state.closed:
        raise Refusal(
            ErrorCode.USE_CASE_UNFIT,
            f"{chosen.title} would close the item, and it asks whether a payout was paid: only the answer, was paid or "
            "was not paid, closes it. Nothing was done.",
        )


async def _run(
    service: Service,
    actor: Actor,
    chosen: UseCase,
    call: ItemCall,
    found: LockedItem,
    inputs: CheckedInputs,
    now: datetime,
) -> Outcome:
    """Run the application's function under a savepoint that stays only where it is done."""
    function = service.application.use_cases[chosen.id]
    outcome = failed("")
    try:
        async with call.savepoint() as savepoint:
            outcome = await _bounded(service, function, call, _work_item(found, now), inputs.taken)
            if outcome.kind is not OutcomeKind.DONE:
                raise psycopg.Rollback(savepoint)
    except (Refusal, psycopg.OperationalError):
        raise
    except Exception:  # the application's code is not ours: whatever it raises is the act's outcome, never a traceback
        _log.exception("use-case-failed", use_case=chosen.id, item=found.id, reference=actor.reference)
        outcome = failed(f"{chosen.title} went wrong in the application; nothing of it was done.")
    return Outcome(
        kind=outcome.kind,
        sentence=_safe(outcome.sentence),
        after_seconds=outcome.after_seconds,
        reference=outcome.reference,
    )


async def _bounded(
    service: Service,
    function: UseCaseFunction,
    call: ItemCall,
    item: WorkItem,
    taken: Mapping[str, Any],
) -> Outcome:
    """The function's outcome, or failed past `service.act_seconds`."""
    try:
        async with asyncio.timeout(service.act_seconds) as limit:
            outcome = await function(call, item, **taken)
    except TimeoutError:
        if not limit.expired():
            raise
        return failed(f"It took longer than {service.act_seconds:g} s and was stopped; nothing of it was done.")
    if not isinstance(outcome, Outcome):
        raise TypeError(f"a use case returns an Outcome, not {type(outcome).__name__}")
    return outcome


def _work_item(found: LockedItem, now: datetime) -> WorkItem:
    payment = found.version.content.payment
    return WorkItem(
        id=found.id,
        queue=found.queue,
        key=found.key,
        title=found.version.content.title,
        created=found.created,
        state=standing_state(found.version.state, found.version.set_aside_until, now),
        payment=None
        if payment is None
        else NewPayment(
            money=Money(minor=payment.minor, currency=payment.currency),
            payee_id=payment.payee_id,
            payee_name=payment.payee_name,
            account=payment.account,
        ),
        inputs=found.version.content.inputs,
        money_version=found.version.number,
    )


def _safe(sentence: str) -> str:
    kept = sentence[:SENTENCE_MAX]
    return kept if storable(kept) else "The application's sentence cannot be shown."


def raised(found: LockedItem, effect: Effect | None) -> bool:
    """Whether an effect changes what the item's version counts: state and set-aside, never the claim."""
    if effect is None:
        return False
    version = found.version
    return (effect.state, effect.set_aside_until) != (version.state, version.set_aside_until)


async def _write(
    transaction: Transaction,
    service: Service,
    actor: Actor,
    queue: Queue,
    found: LockedItem,
    effect: Effect | None,
    now: datetime,
) -> None:
    """Write the effect under the claim and version that were read; history of the claim; version; hint."""
    version = found.version
    ends = effect is not None and effect.ends_claim and effect.heir is None
    row_version = await store.apply(
        transaction,
        found,
        store.Effect(
            state=version.state if effect is None else effect.state,
            set_aside_until=version.set_aside_until if effect is None else effect.set_aside_until,
            closed_at=now if effect is not None and effect.state.closed else None,
            raised=raised(found, effect),
            ends_claim=ends,
        ),
    )
    if row_version is None:
        raise Refusal(ErrorCode.CLAIM_LOST, "The item is no longer as it was read. Nothing was done; load it again.")
    if ends:
        await end_lapsed(transaction, found, now)
        await claim_store.end(transaction, found, at=now, ending=ClaimEnding.ACTED, by=actor.person)
    if effect is not None and effect.heir is not None:
        row_version = await _hand_over(transaction, service, actor, queue, found, effect.heir, now)
    if raised(found, effect):
        await item_store.keep_version(transaction, found.id, changer=actor.person)
    await hints.add(transaction, queue=found.queue, item=found.id, version=row_version)


async def _hand_over(
    transaction: Transaction,
    service: Service,
    actor: Actor,
    queue: Queue,
    found: LockedItem,
    heir: str,
    now: datetime,
) -> int:
    await end_lapsed(transaction, found, now)
    await claim_store.end(transaction, found, at=now, ending=ClaimEnding.HANDED_OVER, by=actor.person)
    taken_at = await item_store.now(transaction)  # what the function took is not taken off the colleague's lease
    total = service.records.settings.claims_total
    until = lease_end(taken_at, lease=queue.lease_seconds, taken_at=taken_at, total=total)
    granted = written(await claim_store.grant(transaction, found, person=heir, now=taken_at, until=until))
    return granted.row_version


async def _keep(
    transaction: Transaction,
    actor: Actor,
    chosen: UseCase,
    found: LockedItem,
    effect: Effect | None,
    outcome: Outcome,
    inputs: Mapping[str, Any],
) -> None:
    """The record of the act and its audit row, whatever the outcome."""
    number = found.version.number + int(raised(found, effect))
    await store.add(
        transaction,
        found,
        store.NewAct(
            person=actor.person,
            use_case=chosen.id,
            outcome=outcome.kind,
            sentence=outcome.sentence,
            inputs=inputs,
            money_version=number,
        ),
    )
    detail: dict[str, Any] = {"queue": found.queue, "money_version": number, "sentence": outcome.sentence}
    if chosen.audit_reason is not None and chosen.audit_reason in inputs:
        detail["reason"] = inputs[chosen.audit_reason]
    if effect is not None and effect.heir is not None:
        detail["handed_to"] = effect.heir
    await record(transaction, actor, chosen.id, found.id, detail, outcome=outcome.kind.value)
