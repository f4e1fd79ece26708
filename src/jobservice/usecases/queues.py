"""Owns what a person reads of queues: which there are, what waits in one, whether it is stopped, what its filter may
name. Looking is not audited."""

from __future__ import annotations

from jobcontract.permissions import Permission
from jobcontract.queues import BulkCommand, Queue, Queues, UseCase, UseCaseInput
from jobservice.rules import queues as rules
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service
from jobservice.usecases.session import list_colleagues
from jobservice.usecases.stops import queue_stops
from jobservice.usecases.totals import queue_totals
from jobservice.usecases.vocabulary import queue_vocabulary

__all__ = ["list_colleagues", "list_queues", "queue_totals", "queue_vocabulary"]


async def list_queues(service: Service, actor: Actor) -> Queues:
    """The queues by title. Refusal PERMISSION_MISSING without queue.read."""
    actor.require(Permission.QUEUE_READ)
    ordered = sorted(service.records.queues.values(), key=lambda queue: (queue.title, queue.id))
    async with service.database.transaction(actor.tenant) as transaction:
        everything, stopped = await queue_stops(transaction)
    return Queues(queues=tuple(_queue(service, queue, everything or stopped.get(queue.id)) for queue in ordered))


def _queue(service: Service, queue: rules.Queue, stopped: str | None) -> Queue:
    return Queue(
        id=queue.id,
        title=queue.title,
        claim=queue.claim,
        money=queue.money,
        inputs=tuple(each.name for each in queue.inputs),
        use_cases=tuple(map(_use_case, queue.use_cases)),
        lease_seconds=int(queue.lease_seconds),
        bulk=tuple(
            BulkCommand(
                id=each.id,
                title=each.title,
                use_case=each.use_case,
                confirm_by=each.confirm_by,
                most=service.records.settings.plan_max_items,
            )
            for each in service.records.bulk_of(queue.id)
        ),
        uncertain_of=tuple(each.id for each in service.records.bulk.values() if each.uncertain == queue.id),
        score=queue.score,
        stopped=stopped,
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
