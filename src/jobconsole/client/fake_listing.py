"""Owns the pages of the fake service: order, both directions, starts, and a catch-up of what was placed anew.

Follows the meaning that the real service gives to a listing (`tests/client/test_conformance.py`); never changes an item.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from jobconsole.client import fake_filters
from jobconsole.client.fake_queues import OPEN, FakeItem, FakeQueues
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.filter_names import QueueNames
from jobcontract.filters import Sort, parse
from jobcontract.items import Item, ItemPage
from jobcontract.session import Person
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
from jobcontract.states import InputType, ItemState, ItemView

Place = tuple[int, datetime, str]
BEFORE_ALL: Place = (-(2**63), datetime.min.replace(tzinfo=UTC), "")
AFTER_ALL: Place = (2**63 - 1, datetime.max.replace(tzinfo=UTC), "~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a listing was asked for: whose it is, which queue and view, the filter as it was written, rows of a page."""

    person: Person
    queue: str
    view: ItemView
    filter: str
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """What a cursor leads to: the rows after or before a place, or those placed anew since the first page of a walk."""

    way: str
    """`next`, `previous` or `catch-up`."""
    walk: int
    place: Place


@dataclass(slots=True, kw_only=True)
class FakeListing:
    """Pages over the items of a FakeQueues."""

    queues: FakeQueues
    people: tuple[str, ...] = ()
    """Ids of the colleagues that a filter may name."""
    _walks: dict[int, Mapping[str, Place]] = field(default_factory=dict)
    """Where each row stood when the first page of a walk was given."""

    def rows(self, asked: Asked) -> list[Item]:
        """Every row of the listing in its order; Refusal NOT_FOUND (queue), FILTER_INVALID."""
        rows = self.queues.listed(asked.queue, asked.view)
        names = self.names(asked.queue)
        filter_, currency = fake_filters.read(asked.filter, names, self.people)
        found = [
            row
            for row in rows
            if fake_filters.matches(
                row, filter_, asked.person.id, self.queues.now(), currency=currency, inputs=names.inputs
            )
        ]
        return fake_filters.ordered(found, filter_, currency)

    def names(self, queue: str) -> QueueNames:
        """What a filter of the queue may name; Refusal NOT_FOUND."""
        unfinished = (*self.queues.listed(queue, ItemView.WAITING), *self.queues.listed(queue, ItemView.SET_ASIDE))
        found = self.queues.queue(queue)
        return QueueNames(
            money=found.money,
            inputs=dict.fromkeys(found.inputs, InputType.TEXT),
            currencies=tuple(sorted({row.amount.currency for row in unfinished if row.amount is not None})),
        )

    def page(self, asked: Asked, *, start: str | None, cursor: str | None) -> ItemPage:
        """One page. Refusal INVALID_REQUEST, NOT_FOUND, FILTER_INVALID, CURSOR_INVALID."""
        if start is not None and cursor is not None:
            raise start_and_cursor()
        rows = self.rows(asked)
        if cursor is not None:
            spot = _read(asked, cursor)
            if spot.walk not in self._walks:
                raise _invalid()
            if spot.way == "catch-up":
                return self._catch_up(asked, rows, spot)
            return self._cut(asked, rows, spot)
        begins = FROM_FIRST if start is None else read_start(start)
        if begins.kind is StartKind.LAST:
            return self._slice(asked, rows, max(0, len(rows) - asked.limit), len(rows), None)
        at = self._index(asked, rows, begins)
        return self._slice(asked, rows, at, at + asked.limit, None)

    def _index(self, asked: Asked, rows: list[Item], start: Start) -> int:
        if start.kind is StartKind.FIRST:
            return 0
        if start.kind is StartKind.SCORE:
            queue = self.queues.queue(asked.queue)
            if queue.score is None:
                raise no_scores(queue.title)
            if by_amount(asked.filter):
                raise sorted_by_amount()
            return sum(row.rank < -start.score for row in rows)
        found = self._named(start.item)
        ids = [row.id for row in rows]
        if found.id not in ids:
            raise self._elsewhere(asked, found, start.item)
        return ids.index(found.id)

    def _named(self, text: str) -> FakeItem:
        for row in self.queues.items.values():
            if text in (row.id, row.key):
                return row
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no item {text[:80]!r} that you may see.")

    def _elsewhere(self, asked: Asked, found: FakeItem, name: str) -> Refusal:
        if found.queue.id != asked.queue:
            return elsewhere(name, found.queue.id, f"It is in {found.queue.title}.")
        state = self.queues.state(found)
        if state is ItemState.SET_ASIDE and asked.view is not ItemView.SET_ASIDE:
            return elsewhere(name, ItemView.SET_ASIDE, f"It is set aside until {found.until:%Y-%m-%d %H:%M:%S} UTC.")
        if state.closed and asked.view is not ItemView.CLOSED:
            return elsewhere(name, ItemView.CLOSED, f"It is closed: {state}.")
        if state in OPEN and asked.view is not ItemView.WAITING:
            return elsewhere(name, ItemView.WAITING, "It waits.")
        return elsewhere(name, "filtered", "It does not match the filter.")

    def _cut(self, asked: Asked, rows: list[Item], spot: Spot) -> ItemPage:
        key = order(asked.filter)
        if spot.way == "previous":
            end = sum(key(row) < spot.place for row in rows)
            return self._slice(asked, rows, max(0, end - asked.limit), end, spot.walk)
        begin = sum(key(row) <= spot.place for row in rows)
        return self._slice(asked, rows, begin, begin + asked.limit, spot.walk)

    def _slice(self, asked: Asked, rows: list[Item], begin: int, end: int, walk: int | None) -> ItemPage:
        key = order(asked.filter)
        page = rows[begin:end]
        before, after = begin > 0, end < len(rows)
        first_page = walk is None
        if walk is None and (before or after):
            walk = self._begin({row.id: key(row) for row in rows})
        previous = following = None
        if before and walk is not None:
            previous = _write(asked, Spot(way="previous", walk=walk, place=key(page[0]) if page else AFTER_ALL))
        if after and walk is not None:
            following = _write(asked, Spot(way="next", walk=walk, place=key(page[-1]) if page else BEFORE_ALL))
        elif walk is not None and not first_page:
            following = _write(asked, Spot(way="catch-up", walk=walk, place=BEFORE_ALL))
        return ItemPage(items=tuple(page), previous=previous, next=following, as_of=self.queues.now())

    def _begin(self, places: Mapping[str, Place]) -> int:
        number = len(self._walks) + 1
        self._walks[number] = places
        return number

    def _catch_up(self, asked: Asked, rows: list[Item], spot: Spot) -> ItemPage:
        key = order(asked.filter)
        known = self._walks[spot.walk]
        moved = sorted(row.id for row in rows if known.get(row.id) != key(row) and row.id > spot.place[2])
        page = moved[: asked.limit]
        by_id = {row.id: row for row in rows}
        following = None
        if len(moved) > len(page):
            place = (BEFORE_ALL[0], BEFORE_ALL[1], page[-1])
            following = _write(asked, Spot(way="catch-up", walk=spot.walk, place=place))
        return ItemPage(
            items=tuple(by_id[identifier] for identifier in page),
            next=following,
            catch_up=True,
            as_of=self.queues.now(),
        )


def by_amount(text: str) -> bool:
    """Whether a filter asks for the order of amounts."""
    return parse(text).sort is Sort.AMOUNT


def order(text: str) -> Callable[[Item], Place]:
    """The key of the order that a filter asks for: the queue's own, or the largest amount first."""
    if by_amount(text):
        return lambda row: (0 if row.amount is None else -row.amount.minor, row.created, row.id)
    return lambda row: (row.rank, row.created, row.id)


def _write(asked: Asked, spot: Spot) -> str:
    key, created, identifier = spot.place
    body = json.dumps([_context(asked), spot.way, spot.walk, key, created.isoformat(), identifier]).encode()
    return base64.urlsafe_b64encode(body).rstrip(b"=").decode()


def _read(asked: Asked, cursor: str) -> Spot:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        context, way, walk, key, created, identifier = json.loads(raw)
    except (binascii.Error, ValueError) as broken:
        raise _invalid() from broken
    if context != _context(asked):
        raise _invalid()
    return Spot(way=way, walk=walk, place=(key, datetime.fromisoformat(created), identifier))


def _context(asked: Asked) -> list[str]:
    return [asked.person.id, asked.queue, asked.view.value, asked.filter, str(asked.limit)]


def _invalid() -> Refusal:
    return Refusal(ErrorCode.CURSOR_INVALID, "The cursor does not belong to this listing.")
