"""Owns turning the text of a filter into what the statements of a listing take. Decides nothing about items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.filter_names import QueueNames, judge_names, needs_currencies
from jobcontract.filters import Filter, FilterError, Sort, parse
from jobservice.rules import filters as rules
from jobservice.rules.queues import Queue
from jobservice.store import filters as filter_store
from jobservice.store import session as session_store
from jobservice.store import vocabulary as store
from jobservice.store.database import Transaction
from jobservice.store.items import Reach
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a listing is to hold: the condition as `jobs.matches` takes it (None: everything), and the currency by whose
    amounts it is sorted (None: the queue's own order)."""

    condition: Mapping[str, object] | None = None
    currency: str | None = None


async def read_filter(transaction: Transaction, service: Service, actor: Actor, queue: Queue, text: str) -> Wanted:  # noqa: ARG001  # a part of the seam: where records decide what a name means
    """What `text` wants of a queue, whatever the instant: ages count from the clock that a statement is given.

    For the rest of the transaction, listings walk their index (see `store.filters`). Refusal FILTER_INVALID with `at` and `length`, in characters of the text, and `choices` where one has to be named.
    """
    try:
        filter_ = parse(text)
        names = await _names(transaction, actor, queue, filter_)
        currency = judge_names(filter_, names)
        await _judge_people(transaction, filter_)
    except FilterError as wrong:
        choices = {"choices": list(wrong.choices)} if wrong.choices else {}
        raise Refusal(ErrorCode.FILTER_INVALID, wrong.sentence, at=wrong.at, length=wrong.length, **choices) from None
    condition = rules.condition(filter_, currency=currency, inputs=names.inputs, person=actor.person)
    if condition is not None:
        await filter_store.keep_order(transaction)
    return Wanted(condition=condition, currency=currency if filter_.sort is Sort.AMOUNT else None)


async def _names(transaction: Transaction, actor: Actor, queue: Queue, filter_: Filter) -> QueueNames:
    currencies: tuple[str, ...] = ()
    if queue.money and needs_currencies(filter_):
        reach = Reach(customers=actor.customers, workspaces=actor.workspaces)
        currencies = await store.currencies(transaction, queue.id, reach)
    return QueueNames(money=queue.money, inputs={each.name: each.type for each in queue.inputs}, currencies=currencies)


async def _judge_people(transaction: Transaction, filter_: Filter) -> None:
    """FilterError where `holder` names nobody of the tenant."""
    named = list(rules.people_of(filter_))
    if not named:
        return
    people = {row["id"]: row["name"] for row in await session_store.colleagues(transaction)}
    for condition, index in named:
        if condition.values[index] not in people:
            at, length = condition.places[index]
            raise FilterError(rules.no_colleague(condition.values[index], people), at=at, length=length)
