"""Owns counting what waits in a queue: exact while that is cheap, else of a while ago and said so."""

from __future__ import annotations

from jobcontract.permissions import Permission
from jobcontract.queues import QueueCurrencyTotal, QueueTotals
from jobcontract.states import ItemView
from jobservice.store import totals as store
from jobservice.store.totals import Counting, Counts
from jobservice.usecases.actor import Actor
from jobservice.usecases.counting import KeptCounts
from jobservice.usecases.filtering import read_filter
from jobservice.usecases.items import reach
from jobservice.usecases.service import Service

COUNTED_MOST = 10_000
"""Rows that are counted at every look."""
FILTERED_MOST = 50_000
"""Rows that are looked at for those that match a filter, at every look."""
WHOLE_SECONDS = 25.0
"""Seconds that a count of everything may take."""


async def queue_totals(
    service: Service,
    actor: Actor,
    queue: str,
    *,
    view: ItemView = ItemView.WAITING,
    text: str = "",
    kept: KeptCounts | None = None,
) -> QueueTotals:
    """What waits in a queue and matches the filter `text`, within the actor's reach.

    Exact up to 10,000 rows; past them `kept` holds a whole count for a minute, and only the actor's own claims are of
    now. Refusal PERMISSION_MISSING, NOT_FOUND, FILTER_INVALID, TIMED_OUT.
    """
    actor.require(Permission.QUEUE_READ)
    found = service.queue(queue)
    kept = KeptCounts() if kept is None else kept
    async with service.database.transaction(actor.tenant) as transaction:
        wanted = await read_filter(transaction, service, actor, found, text)
        counting = Counting(queue=found.id, view=view, condition=wanted.condition, reach=reach(actor))
        mine = await store.mine(transaction, counting, actor.person)
        counts = kept.kept(actor.tenant, counting, transaction.began_at)
        exact = False
        if counts is None:
            most = COUNTED_MOST if wanted.condition is None else FILTERED_MOST
            looked = await store.counts(transaction, counting, most=most)
            exact = looked.looked <= most
            counts = looked if exact else None
    if counts is None:
        counts = await kept.count(actor.tenant, counting, lambda: _whole(service, actor.tenant, counting))
    return _totals(found.id, text, counts, mine, exact=exact)


async def _whole(service: Service, tenant: str, counting: Counting) -> Counts:
    async with service.database.transaction(tenant, statement_seconds=WHOLE_SECONDS) as transaction:
        return await store.counts(transaction, counting, most=None)


def _totals(queue: str, text: str, counts: Counts, mine: int, *, exact: bool) -> QueueTotals:
    return QueueTotals(
        queue=queue,
        filter=text,
        matching=counts.matching,
        waiting=counts.waiting,
        mine=mine,
        set_aside=counts.set_aside,
        unclaimed=counts.unclaimed,
        oldest_created=counts.oldest_created,
        totals=tuple(map(QueueCurrencyTotal.model_validate, counts.totals)),
        exact=exact,
        as_of=counts.as_of,
    )
