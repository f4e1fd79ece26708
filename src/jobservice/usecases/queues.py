"""Owns what a person reads of queues: which there are, and what waits in one. Looking is not audited."""

from __future__ import annotations

from jobcontract.permissions import Permission
from jobcontract.queues import Queue, QueueCurrencyTotal, Queues, QueueTotals, UseCase, UseCaseInput
from jobservice.rules import queues as rules
from jobservice.store import items as store
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import reach
from jobservice.usecases.service import Service
from jobservice.usecases.session import list_colleagues

__all__ = ["list_colleagues", "list_queues", "queue_totals"]


async def list_queues(service: Service, actor: Actor) -> Queues:
    """The queues by title. Refusal PERMISSION_MISSING without queue.read."""
    actor.require(Permission.QUEUE_READ)
    ordered = sorted(service.records.queues.values(), key=lambda queue: (queue.title, queue.id))
    return Queues(queues=tuple(map(_queue, ordered)))


async def queue_totals(service: Service, actor: Actor, queue: str) -> QueueTotals:
    """What waits in a queue, within the actor's reach. Refusal PERMISSION_MISSING, NOT_FOUND."""
    actor.require(Permission.QUEUE_READ)
    found = service.queue(queue)
    async with service.database.transaction(actor.tenant) as transaction:
        row = await store.totals(transaction, found.id, actor.person, reach(actor))
    return QueueTotals(
        queue=found.id,
        matching=row["waiting"],
        waiting=row["waiting"],
        mine=row["mine"],
        set_aside=row["set_aside"],
        unclaimed=row["unclaimed"],
        oldest_created=row["oldest_created"],
        totals=tuple(QueueCurrencyTotal.model_validate(each) for each in row["totals"]),
        as_of=row["as_of"],
    )


def _queue(queue: rules.Queue) -> Queue:
    return Queue(
        id=queue.id,
        title=queue.title,
        claim=queue.claim,
        money=queue.money,
        inputs=tuple(each.name for each in queue.inputs),
        use_cases=tuple(map(_use_case, queue.use_cases)),
        lease_seconds=int(queue.lease_seconds),
        score=queue.score,
    )


def _use_case(use_case: rules.UseCase) -> UseCase:
    return UseCase(
        id=use_case.id,
        title=use_case.title,
        moves=use_case.moves,
        states=tuple(sorted(use_case.states)),
        inputs=tuple(
            UseCaseInput(name=each.name, type=each.type, title=each.title, required=each.required, most=each.most)
            for each in use_case.inputs
        ),
    )
