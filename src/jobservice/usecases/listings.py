"""Owns listing a queue: pages in its order, both ways, from an end, a score or an item, and the catch-up after them
(requirements order-queue-items-by-score, order-unscored-queues-by-age).

What a walk over `next` promises, and why it holds, is in `docs/decisions/2026-11-30-catch-up-pages.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NoReturn
from uuid import UUID

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import PAGE_MAX
from jobcontract.permissions import Permission
from jobcontract.starts import (
    FROM_FIRST,
    Start,
    StartKind,
    elsewhere,
    no_scores,
    read_start,
    sorted_by_amount,
    start_and_cursor,
)
from jobcontract.states import ItemView
from jobservice.rules.queues import Queue
from jobservice.store import listing as store
from jobservice.store.database import Row, Transaction
from jobservice.store.items import FIRST, Place
from jobservice.store.listing import LAST, Listing, PlacedAt
from jobservice.usecases.actor import Actor
from jobservice.usecases.filtering import read_filter
from jobservice.usecases.items import not_found, reach
from jobservice.usecases.service import Service

SNAPSHOT_MOST = 600
"""Most characters of a snapshot that a mark carries; a longer one is cut to one that saw less."""
Mark = tuple[str | int, ...]
"""Where to go on, as a page gives it and takes it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of a queue: one of its views, what matches a filter (as a person writes it), rows of a page."""

    queue: str
    view: ItemView = ItemView.WAITING
    filter: str = ""
    limit: int = PAGE_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPage:
    """One page of a listing: `json` is the array of items as PostgreSQL built it (`jobcontract.items.Item` each)."""

    json: bytes
    previous: Mark | None
    next: Mark | None
    catch_up: bool
    as_of: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Since:
    """What a walk saw when it began: the snapshot, and the clock that decided whose set-aside had ended (ISO 8601)."""

    snapshot: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A page to read: the rows behind a place in one direction. `since` None: the walk begins with it."""

    back: bool
    place: Place
    since: _Since | None = None

    def mark(self, since: _Since, *, back: bool, place: Place) -> Mark:
        return ("previous" if back else "next", *place, since.snapshot, since.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CatchingUp:
    """A page of rows placed anew since a walk began. `round`: what the first such page saw, once there was one."""

    since: _Since
    after: PlacedAt | None = None
    round: _Since | None = None

    def mark(self) -> Mark:
        after, seen = self.after or (-1, ""), self.round or _Since(snapshot="", at="")
        return ("catch-up", *after, self.since.snapshot, self.since.at, seen.snapshot, seen.at)


async def list_items(
    service: Service, actor: Actor, asked: Asked, *, start: str | None = None, mark: Mark | None = None
) -> ListedPage:
    """One page, at most `PAGE_MAX` rows: where `mark` of another page leads, else from `start` (None: the first row).

    Refusal PERMISSION_MISSING, NOT_FOUND (queue; an item to start at, with `where` it is), INVALID_REQUEST (`start`),
    FILTER_INVALID, CURSOR_INVALID (`mark` is not what a page gave).
    """
    actor.require(Permission.QUEUE_READ)
    queue = service.queue(asked.queue)
    if start is not None and mark is not None:
        raise start_and_cursor()
    begins = FROM_FIRST if start is None else read_start(start)
    onward = None if mark is None else _read(mark)
    limit = max(1, min(asked.limit, PAGE_MAX))
    async with service.database.transaction(actor.tenant) as transaction:
        wanted = await read_filter(transaction, service, actor, queue, asked.filter)
        listing = Listing(
            queue=queue.id,
            view=asked.view,
            reach=reach(actor),
            condition=wanted.condition,
            currency=wanted.currency,
        )
        if isinstance(onward, _CatchingUp):
            return await _catch_up(transaction, listing, onward, limit)
        reading = onward or await _begin(transaction, service, queue, listing, begins)
        return await _page(transaction, listing, reading, limit)


async def _begin(transaction: Transaction, service: Service, queue: Queue, listing: Listing, start: Start) -> _Reading:
    if start.kind is StartKind.FIRST:
        return _Reading(back=False, place=FIRST)
    if start.kind is StartKind.LAST:
        return _Reading(back=True, place=LAST)
    if start.kind is StartKind.ITEM:
        return _Reading(back=False, place=await _just_before(transaction, service, listing, start.item))
    if queue.score is None:
        raise no_scores(queue.title)
    if listing.currency is not None:
        raise sorted_by_amount()
    return _Reading(back=False, place=store.after_rank(-start.score - 1))


async def _just_before(transaction: Transaction, service: Service, listing: Listing, item: str) -> Place:
    """The place before an item of the listing. Refusal NOT_FOUND, saying where it is where it is elsewhere."""
    found = await store.find(transaction, listing, item)
    if found is None:
        raise not_found(item)
    if not (found["in_view"] and found["matches"] and found["sorted"]):
        _refuse_elsewhere(service, listing, item, found)
    place: Place = found["place"]
    return store.just_before(place)


def _refuse_elsewhere(service: Service, listing: Listing, item: str, found: Row) -> NoReturn:
    if found["queue"] != listing.queue:
        known = service.records.queues.get(found["queue"])
        title = found["queue"] if known is None else known.title
        raise elsewhere(item, found["queue"], f"It is in {title}.")
    if found["in_view"]:
        sentence = (
            "It does not match the filter."
            if not found["matches"]
            else f"The list is sorted by amounts of {listing.currency}, and it has none."
        )
        raise elsewhere(item, "filtered", sentence)
    if found["closed"]:
        raise elsewhere(item, ItemView.CLOSED, f"It is closed: {found['state']}.")
    if found["set_aside_until"] is not None:
        raise elsewhere(
            item, ItemView.SET_ASIDE, f"It is set aside until {found['set_aside_until']:%Y-%m-%d %H:%M:%S} UTC."
        )
    raise elsewhere(item, ItemView.WAITING, "It waits.")


async def _page(transaction: Transaction, listing: Listing, reading: _Reading, limit: int) -> ListedPage:
    place, back = reading.place, reading.back
    if back:
        page = await store.page_back(transaction, listing, before=place, limit=limit)
    else:
        page = await store.page(transaction, listing, after=place, limit=limit)
    since = reading.since or _Since(snapshot=_kept(page.snapshot), at=transaction.began_at.isoformat())
    ahead = None
    if page.more and page.far is not None:
        ahead = reading.mark(since, back=back, place=page.far)
    behind = None
    if page.mark or await _beside(transaction, listing, reading):
        # An empty page has its neighbours right at the place from which it was read, that place included.
        edge = page.near or (store.just_before(place) if back else store.just_after(place))
        behind = reading.mark(since, back=not back, place=edge)
    following, previous = (behind, ahead) if back else (ahead, behind)
    if following is None and reading.since is not None:
        following = _CatchingUp(since=since).mark()
    return ListedPage(json=page.json, previous=previous, next=following, catch_up=False, as_of=transaction.began_at)


async def _beside(transaction: Transaction, listing: Listing, reading: _Reading) -> bool:
    """Whether rows stand behind the place from which a page is read, where none stands at it."""
    if reading.place in (FIRST, LAST):
        return False
    if reading.back:
        found = await store.page(transaction, listing, after=reading.place, limit=1)
    else:
        found = await store.page_back(transaction, listing, before=reading.place, limit=1)
    return found.near is not None


async def _catch_up(transaction: Transaction, listing: Listing, catching: _CatchingUp, limit: int) -> ListedPage:
    found = await store.catch_up(
        transaction,
        listing,
        since=catching.since.snapshot,
        since_at=catching.since.at,
        after=catching.after,
        limit=limit,
    )
    began = catching.round or _Since(snapshot=_kept(found.snapshot), at=transaction.began_at.isoformat())
    following = None
    if found.last is not None:
        following = _CatchingUp(since=catching.since, after=found.last, round=began)
    elif catching.after is not None:
        following = _CatchingUp(since=began)
    return ListedPage(
        json=found.json,
        previous=None,
        next=None if following is None else following.mark(),
        catch_up=True,
        as_of=transaction.began_at,
    )


def _kept(snapshot: str) -> str:
    """A snapshot as a mark carries it: with very many transactions under way, one that saw nothing since the oldest of
    them, so that the catch-up repeats rather than misses."""
    oldest = snapshot.partition(":")[0]
    return snapshot if len(snapshot) <= SNAPSHOT_MOST else f"{oldest}:{oldest}:"


def _read(mark: Mark) -> _Reading | _CatchingUp:
    try:
        if mark[0] == "catch-up":
            _, xid, identifier, snapshot, at, seen, seen_at = mark
            return _CatchingUp(
                since=_since(snapshot, at),
                after=None if int(xid) < 0 else (int(xid), str(UUID(str(identifier)))),
                round=_since(seen, seen_at) if seen else None,
            )
        way, rank, created, identifier, snapshot, at = mark
        place = (int(rank), _instant(created), str(UUID(str(identifier))))
        return _Reading(back={"previous": True, "next": False}[str(way)], place=place, since=_since(snapshot, at))
    except (ValueError, OverflowError, LookupError):
        raise Refusal(
            ErrorCode.CURSOR_INVALID, "The place to go on from is not one that a page of this listing gave."
        ) from None


def _since(snapshot: str | int, at: str | int) -> _Since:
    numbers = str(snapshot).replace(",", ":").rstrip(":").split(":")
    if not all(number.isdecimal() for number in numbers) or not len(numbers) >= 2:
        raise ValueError("not a snapshot")
    return _Since(snapshot=str(snapshot), at=_instant(at))


def _instant(text: str | int) -> str:
    if text in (FIRST[1], LAST[1]):
        return str(text)
    return datetime.fromisoformat(str(text)).astimezone(UTC).isoformat()
