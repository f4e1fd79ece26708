"""Owns saying why an item stands where it stands, and where it would stand with other inputs.

Looking, both: nothing is written, and neither is audited (requirements order-queue-items-by-score,
show-the-score-beside-each-item).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import Explanation, NewAmount, Placement, Supposed, WhatIf
from jobcontract.money import exponent
from jobcontract.permissions import Permission
from jobcontract.scores import ItemCount, Rule, RuleInput, Score, ScorePart, Threshold
from jobcontract.states import ItemState
from jobservice.rules import scores as rules
from jobservice.rules.inputs import check_inputs
from jobservice.rules.items import Content, Payment, created_faults, payment_faults
from jobservice.rules.queues import Queue
from jobservice.rules.scores import Scored
from jobservice.store import scores as store
from jobservice.store.database import Row, Transaction
from jobservice.store.items import Place
from jobservice.usecases.actor import Actor
from jobservice.usecases.content import refuse_strangers
from jobservice.usecases.items import not_found, reach, shown
from jobservice.usecases.service import Service

AHEAD_MOST = 10_000
"""Most items before a place that are counted."""
LEEWAY = timedelta(minutes=1)
"""How far a supposed date may be ahead of the database's clock: clocks of consoles differ."""
WAITING = (ItemState.OPEN, ItemState.EVIDENCE_ASKED)


async def explain(service: Service, actor: Actor, item: str) -> Explanation:
    """Why the item stands where it stands. Refusal PERMISSION_MISSING, NOT_FOUND (foreign ids answer as unknown)."""
    actor.require(Permission.QUEUE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        row = await shown(transaction, actor, item)
        found: dict[str, Any] = row["item"]
        placement = None
        if found["state"] in WAITING:
            place = (found["rank"], found["created"], found["id"])
            placement = await _placement(transaction, actor, found["queue"], place, row["now"])
    rule = _rule(service, found["queue"])
    return Explanation.model_validate({"item": found, "rule": rule, "placement": placement, "as_of": row["now"]})


async def suppose(service: Service, actor: Actor, item: str, supposed: WhatIf) -> Supposed:
    """The score that the item would have with other inputs, and the place that it would take now; nothing is saved.

    Refusal PERMISSION_MISSING, NOT_FOUND, ITEM_CLOSED, USE_CASE_UNFIT (its queue has no rule), INVALID_REQUEST and
    COLLEAGUE_UNFIT as for a push.
    """
    actor.require(Permission.QUEUE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        own = await store.scorable(transaction, item, reach(actor))
        if own is None:
            raise not_found(item)
        queue, rule = _scored_queue(service, own)
        content = await _supposed_content(transaction, queue, own, supposed)
        created = own.created if supposed.created is None else supposed.created.astimezone(UTC)
        standing = service.scorer.stand(queue, content, created, own.now)
        assert standing.scored is not None  # noqa: S101  # the queue has a rule
        place = (standing.scored.rank, created.isoformat(), item)
        placement = await _placement(transaction, actor, queue.id, place, own.now)
    return Supposed(score=_score(standing.scored, rule, own.now), placement=placement, as_of=own.now)


def _scored_queue(service: Service, own: store.Scorable) -> tuple[Queue, rules.Rule]:
    if own.closed:
        raise Refusal(ErrorCode.ITEM_CLOSED, f"The item is {own.state}: it has no place in the order any more.")
    queue = service.queue(own.queue)
    rule = service.scorer.rule(queue)
    if rule is None:
        raise Refusal(
            ErrorCode.USE_CASE_UNFIT, f"{queue.title} has no rule: its oldest item is first, and no input moves it."
        )
    return queue, rule


async def _supposed_content(transaction: Transaction, queue: Queue, own: store.Scorable, supposed: WhatIf) -> Content:
    """The item's content with what is supposed in its place. Refusal INVALID_REQUEST with everything that is wrong."""
    given = supposed.inputs
    # What the item has already was checked when it was pushed, and what is left out stays: only what is given counts.
    declared = [replace(each, required=each.required and each.name in given) for each in queue.inputs]
    inputs = check_inputs(declared, given)
    payment = _supposed_payment(own.content.payment, supposed.amount)
    faults = [*inputs.faults, *_faults(queue, own, supposed, payment)]
    if faults:
        raise Refusal(ErrorCode.INVALID_REQUEST, " ".join(faults))
    await refuse_strangers(transaction, inputs.persons)
    kept = {name: value for name, value in own.content.inputs.items() if name not in given}
    return replace(own.content, payment=payment, inputs={**kept, **inputs.kept})


def _supposed_payment(own: Payment | None, amount: NewAmount | None) -> Payment | None:
    if own is None or amount is None:
        return own
    return replace(own, minor=amount.minor, currency=amount.currency)


def _faults(queue: Queue, own: store.Scorable, supposed: WhatIf, payment: Payment | None) -> Iterator[str]:
    if supposed.amount is not None:
        if payment is None:
            yield "This item carries no money: leave out `amount`."
        else:
            yield from payment_faults(queue, payment)
    yield from created_faults(supposed.created)
    if supposed.created is not None and supposed.created > own.now + LEEWAY:
        yield f"`created` is in the future: now is {own.now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}. Give an earlier instant."


async def _placement(transaction: Transaction, actor: Actor, queue: str, place: Place, now: datetime) -> Placement:
    row: Row = await store.placement(transaction, queue, place, reach(actor), now=now, most=AHEAD_MOST)
    ahead = ItemCount(count=min(row["ahead"], AHEAD_MOST), exact=row["ahead"] <= AHEAD_MOST)
    return Placement.model_validate({"ahead": ahead, "above": row["above"], "below": row["below"]})


def _score(scored: Scored, rule: rules.Rule, now: datetime) -> Score:
    return Score(
        value=scored.value,
        rule=rule.id,
        version=rule.version,
        parts=tuple(ScorePart(**asdict(part)) for part in scored.parts),
        scored_at=now,
        failure=scored.failure,
    )


def _rule(service: Service, queue: str) -> Rule | None:
    known = service.records.queues.get(queue)
    rule = None if known is None else service.scorer.rule(known)
    if rule is None:
        return None
    return Rule(
        id=rule.id,
        title=rule.title,
        version=rule.version,
        formula=rule.formula,
        inputs=tuple(
            RuleInput(name=each.name, type=each.type, title=each.title, unit=each.unit, source=each.source)
            for each in rule.inputs
        ),
        thresholds=tuple(
            Threshold(name=name, currency=currency, minor=money.minor, exponent=exponent(currency))
            for currency, amounts in rule.thresholds.items()
            for name, money in amounts.items()
        ),
        refresh_seconds=None if rule.refresh_seconds is None else int(rule.refresh_seconds),
    )
