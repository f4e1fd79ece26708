"""Owns the calls about work queues: listing, reading, claiming and acting. Screens and headless twins run these.

Every call that acts takes a key made with `new_key()`. Repeating a call with its key gives the first answer, so an act
whose answer got lost is repeated by the service object itself, and may be repeated by the caller after OutcomeUnknown.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from datetime import datetime

from jobconsole.client.service import Service
from jobcontract.filters import Sort, parse
from jobcontract.ids import PAGE_MAX
from jobcontract.items import (
    Acted,
    ActOrder,
    BreakClaim,
    Claimed,
    ClaimNextOrder,
    ClaimOrder,
    HeldClaim,
    Item,
    ItemDetail,
    ItemPage,
)
from jobcontract.queues import Queues, QueueTotals, Vocabulary
from jobcontract.routes import (
    ACT,
    BREAK_CLAIM,
    CLAIM,
    CLAIM_NEXT,
    ITEM,
    QUEUE_ITEMS,
    QUEUE_TOTALS,
    QUEUE_VOCABULARY,
    QUEUES,
    RELEASE_CLAIM,
    RENEW_CLAIM,
)
from jobcontract.states import ItemView

PAGE = 100
"""Rows of a page where the caller does not say."""


def new_key() -> str:
    """A fresh idempotency key: 128 random bits as 32 hexadecimal digits."""
    return secrets.token_hex(16)


async def queues(service: Service) -> Queues:
    """The queues of the tenant that the person may read."""
    return await service.get(QUEUES, Queues)


async def totals(
    service: Service,
    queue: str,
    *,
    view: ItemView = ItemView.WAITING,
    filter: str = "",  # the word of the wire and of the screen
) -> QueueTotals:
    """What waits in a queue and matches the filter: counts, and totals per currency of what is in the view."""
    query = {"view": view.value, "filter": filter or None}
    return await service.get(QUEUE_TOTALS, QueueTotals, parts={"queue": queue}, query=query)


async def vocabulary(service: Service, queue: str) -> Vocabulary:
    """What a filter of the queue may name: fields, their types, values to offer."""
    return await service.get(QUEUE_VOCABULARY, Vocabulary, parts={"queue": queue})


async def items(
    service: Service,
    queue: str,
    *,
    view: ItemView = ItemView.WAITING,
    filter: str = "",  # the word of the wire and of the screen
    start: str | None = None,
    cursor: str | None = None,
    limit: int = PAGE,
) -> ItemPage:
    """One page of a queue in its order, at most `PAGE_MAX` rows.

    `cursor` is `next` or `previous` of another page, asked with the same view, filter and limit; `start` is where a
    first page begins: `first`, `last`, `score:80`, or `item:` with an item's id or key. Not both.
    """
    query = {"view": view.value, "filter": filter or None, "start": start, "cursor": cursor, "limit": limit}
    return await service.get(QUEUE_ITEMS, ItemPage, parts={"queue": queue}, query=query)


async def all_items(
    service: Service,
    queue: str,
    *,
    view: ItemView = ItemView.WAITING,
    filter: str = "",  # as above
) -> AsyncIterator[Item]:
    """Every row of a listing, fetched page by page to the end of the catch-up, each once: as it was first read."""
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = await items(service, queue, view=view, filter=filter, cursor=cursor, limit=PAGE_MAX)
        for row in page.items:
            if row.id not in seen:
                seen.add(row.id)
                yield row
        if page.next is None:
            return
        cursor = page.next


async def every_item(service: Service, queue: str, *, view: ItemView = ItemView.WAITING, filter: str = "") -> ItemPage:
    """A whole listing as one page in its order: each row once, as it was last read, with what the catch-up told."""
    rows: dict[str, Item] = {}
    cursor: str | None = None
    while True:
        page = await items(service, queue, view=view, filter=filter, cursor=cursor, limit=PAGE_MAX)
        rows.update((row.id, row) for row in page.items)
        if page.next is None:
            break
        cursor = page.next
    by_amount = parse(filter).sort is Sort.AMOUNT

    def place(row: Item) -> tuple[int, datetime, str]:
        key = -row.amount.minor if by_amount and row.amount is not None else row.rank
        return key, row.created, row.id

    return ItemPage(items=tuple(sorted(rows.values(), key=place)), next=None, as_of=page.as_of)


async def item(service: Service, item_id: str) -> ItemDetail:
    """One item with payload and history."""
    return await service.get(ITEM, ItemDetail, parts={"item": item_id})


async def claim(service: Service, item_id: str, key: str) -> Claimed:
    """Claim one item."""
    return await service.post(CLAIM, ClaimOrder(), Claimed, key=key, parts={"item": item_id})


async def claim_next(
    service: Service,
    queue: str,
    key: str,
    *,
    filter: str = "",  # as above
) -> Claimed:
    """Claim the first free item of those that match the filter, in its order; `item` is None where none is free."""
    return await service.post(CLAIM_NEXT, ClaimNextOrder(filter=filter), Claimed, key=key, parts={"queue": queue})


async def renew_claim(service: Service, item_id: str, fence: int, key: str) -> Claimed:
    """Keep a held claim for another lease."""
    return await service.post(RENEW_CLAIM, HeldClaim(fence=fence), Claimed, key=key, parts={"item": item_id})


async def release_claim(service: Service, item_id: str, fence: int, key: str) -> Claimed:
    """Give a held claim back."""
    return await service.post(RELEASE_CLAIM, HeldClaim(fence=fence), Claimed, key=key, parts={"item": item_id})


async def break_claim(service: Service, item_id: str, fence: int, reason: str, key: str) -> Claimed:
    """Take the claim that a colleague holds under `fence`, with a reason that both see."""
    order = BreakClaim(fence=fence, reason=reason)
    return await service.post(BREAK_CLAIM, order, Claimed, key=key, parts={"item": item_id})


async def act(service: Service, item_id: str, use_case: str, order: ActOrder, key: str) -> Acted:
    """Run a use case on an item, under the version and the fence that were on the screen."""
    return await service.post(ACT, order, Acted, key=key, parts={"item": item_id, "use_case": use_case})
