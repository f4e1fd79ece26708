"""Owns what a filter of a queue may name, for completion: fields, their types, values that its items have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jobcontract.filter_names import NO, YES
from jobcontract.filters import FREE, INPUT, ME, Sort
from jobcontract.permissions import GRANTS, Permission
from jobcontract.queues import FilterField, Vocabulary
from jobcontract.states import ClaimMode, InputType, ItemState
from jobservice.rules.queues import Queue
from jobservice.store import session as session_store
from jobservice.store import vocabulary as store
from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import reach
from jobservice.usecases.service import Service

NOT_GIVEN_WORD = "none"
AGES = ("1d", "3d", "1w", "30d")


async def queue_vocabulary(service: Service, actor: Actor, queue: str) -> Vocabulary:
    """Fields and values of a queue's filter, within the actor's reach. Refusal PERMISSION_MISSING, NOT_FOUND."""
    actor.require(Permission.QUEUE_READ)
    found = service.queue(queue)
    async with service.database.transaction(actor.tenant) as transaction:
        currencies = await store.currencies(transaction, found.id, reach(actor)) if found.money else ()
        values = await store.input_values(transaction, found.id, reach(actor)) if found.inputs else {}
        people = await _people(transaction, actor)
        as_of = transaction.began_at
    fields = tuple(_fields(found, currencies, people, values))
    return Vocabulary(queue=found.id, fields=fields, currencies=currencies, as_of=as_of)


async def _people(transaction: Transaction, actor: Actor) -> tuple[str, ...]:
    """Ids of the colleagues by name, where the actor may read them."""
    if Permission.COLLEAGUE_READ not in GRANTS[actor.role]:
        return ()
    return tuple(row["id"] for row in await session_store.colleagues(transaction))


def _fields(
    queue: Queue, currencies: tuple[str, ...], people: tuple[str, ...], values: Mapping[str, tuple[str, ...]]
) -> Iterator[FilterField]:
    if queue.money:
        yield _field("amount", "amount", "Amount, in one currency")
        yield _field("currency", "word", "Currency", *currencies)
    if queue.claim is not ClaimMode.DISABLED:
        yield _field("holder", "person", "Who holds it", ME, FREE, *people)
    yield _field("age", "age", "Time since its own date", *AGES)
    if queue.score is not None:
        yield _field("score", "score", "Score", NOT_GIVEN_WORD)
    yield _field("state", "word", "State", *ItemState)
    for each in queue.inputs:
        known = _known(each.type, values.get(each.name, ()), people)
        yield _field(f"{INPUT}{each.name}", each.type.value, each.title, *dict.fromkeys((*known, NOT_GIVEN_WORD)))
    sorts = [*([Sort.SCORE] if queue.score is not None else []), *([Sort.AMOUNT] if queue.money else [])]
    if sorts:
        yield _field("sort", "word", "Order", *sorts)


def _known(kind: InputType, values: tuple[str, ...], people: tuple[str, ...]) -> tuple[str, ...]:
    """Values of an input as a filter takes them, the most frequent first."""
    if kind is InputType.BOOLEAN:
        seen = tuple(YES if value == "true" else NO for value in values)
        return (*seen, *(each for each in (YES, NO) if each not in seen))
    if kind is InputType.INSTANT:
        return tuple(dict.fromkeys(value[:10] for value in values))
    if kind is InputType.PERSON:
        return tuple(dict.fromkeys((ME, *values, *people)))
    return values


def _field(name: str, kind: str, title: str, *values: str) -> FilterField:
    return FilterField(name=name, type=kind, title=title, values=tuple(map(str, values)))
