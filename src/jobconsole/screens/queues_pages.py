"""Owns the pages of a listing as they were fetched: the stretch of the list that each covers, the cursor that gives it
again, and which of them are old. Holds no rows and asks nobody.

Pages lie side by side. A page is fetched forwards, from the last row of the page before it, or backwards, from the
first row of the page after it; where a page ends elsewhere than it did, its neighbour begins there from then on, so
that nothing falls through between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jobcontract.items import ItemPage

Place = tuple[int, datetime, str]
"""Where an item stands in the list: its rank in the order, then its own date, then its id."""
FIRST, LAST = "first", "last"


@dataclass(slots=True, kw_only=True, eq=False)
class Page:
    """A fetched stretch of the list."""

    start: str | None = None
    """Where it begins (`first`, `last`, `score:80`), for a page without a cursor."""
    cursor: str | None = None
    backward: bool = False
    edge: Place | None = None
    """It holds the rows after this place, or before it where it was fetched backwards; None: from the end of the list."""
    first: Place | None = None
    last: Place | None = None
    previous: str | None = None
    next: str | None = None
    ended: bool = False
    """Whether no row stands after it: what its `next` leads to was placed anew."""
    dirty: bool = False

    @property
    def low(self) -> Place | None:
        """The place where its rows begin; None where that is the beginning of the list."""
        if self.edge is not None and not self.backward:
            return self.edge
        return self.first if self.previous is not None else None

    @property
    def low_in(self) -> bool:
        """Whether a row at `low` itself belongs to it."""
        return self.backward or self.edge is None

    def holds(self, place: Place) -> bool:
        """Whether a row at that place would be in it, as far as its beginning goes."""
        low = self.low
        return low is None or (place >= low if self.low_in else place > low)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What an answer covers: every row between the two places. None: to that end of the list."""

    low: Place | None
    low_in: bool
    """Whether a row at `low` itself belongs to it."""
    high: Place | None
    high_in: bool


class Pages:
    """The pages of one listing, in order."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        """Rows asked for at once; a shorter page ends the list."""
        self.all: list[Page] = []

    def __len__(self) -> int:
        return len(self.all)

    @property
    def begun(self) -> bool:
        """Whether the first row of the list is in a page."""
        return bool(self.all) and self.all[0].previous is None

    @property
    def ended(self) -> bool:
        """Whether the last row of the list is in a page."""
        return bool(self.all) and self.all[-1].ended

    def open(self, start: str, page: ItemPage, places: list[Place]) -> Stretch:
        """Begin with the page that `start` gave."""
        begins = page.previous is None and start != LAST
        self.all = [Page(start=FIRST if begins else start, backward=start == LAST)]
        return self.refreshed(0, page, places)

    def extend(self, page: ItemPage, places: list[Place], *, up: bool) -> Stretch:
        """Add the page that the cursor above, or below, gave."""
        end = self.all[0 if up else -1]
        if up:
            edge = end.first
            self.all.insert(0, Page(cursor=end.previous, backward=True, edge=edge))
            return self.refreshed(0, page, places)
        self.all.append(Page(cursor=end.next, edge=end.last))
        return self.refreshed(len(self.all) - 1, page, places)

    def refreshed(self, number: int, page: ItemPage, places: list[Place]) -> Stretch:
        """Take what the page holds now; what it covers."""
        told, before = self.all[number], replace(self.all[number])
        begins = not places and not told.backward and number == 0 and told.edge is not None
        told.previous = told.previous if begins else page.previous  # an empty page does not know what is above it
        told.dirty, told.next = False, page.next
        told.first, told.last = (places[0], places[-1]) if places else (told.edge, told.edge)
        told.ended = page.next is None or told.start == LAST or (not told.backward and len(places) < self.limit)
        if told.next is None or (told.ended and not told.backward):
            del self.all[number + 1 :]
        if told.previous is None and told.backward:
            del self.all[:number]
            number = 0
        if told.backward and not places and len(self.all) > 1:
            self._begin_below()
        else:
            self._join_above(number)
            self._join_below(number)
        self._split_off(told, before)
        if told.backward:
            low = told.first if told.previous is not None else None
            return Stretch(low=low, low_in=True, high=None if told.ended else told.edge, high_in=False)
        return Stretch(low=told.edge, low_in=False, high=None if told.ended else told.last, high_in=True)

    def number(self, page: Page) -> int | None:
        """Which page it is; None once it was let go."""
        return next((number for number, known in enumerate(self.all) if known is page), None)

    def of(self, place: Place) -> int:
        """The number of the page that holds a row at that place."""
        found = 0
        for number, page in enumerate(self.all):
            if number and page.holds(place):
                found = number
        return found

    def drop(self, *, top: bool) -> Stretch:
        """Let the page at one end go; the stretch whose rows go with it."""
        gone = self.all.pop(0 if top else -1)
        kept = self.all[0 if top else -1]
        if top:
            return Stretch(low=None, low_in=False, high=kept.low, high_in=not kept.low_in)
        return Stretch(low=gone.low, low_in=gone.low_in, high=None, high_in=False)

    def _split_off(self, told: Page, before: Page) -> None:
        """Gives the rows that a page at an end of what is loaded no longer has a page of their own, an old one."""
        first, last = told.first or before.first, told.last or before.last
        if first is None or last is None or before.first is None or before.last is None:
            return
        top, bottom = told is self.all[0], told is self.all[-1]
        if told.backward and top and told.previous is not None and before.first < first:
            self.all.insert(0, replace(before, start=None, cursor=told.previous, edge=first, dirty=True))
        elif not told.backward and bottom and not told.ended and before.last > last:
            self.all.append(replace(before, start=None, cursor=told.next, edge=last, dirty=True))

    def _begin_below(self) -> None:
        """Lets the list begin with the second page: nothing stands before it any more."""
        del self.all[0]
        page = self.all[0]
        if page.backward:
            page.previous = None
            return
        page.start, page.cursor, page.edge, page.previous = FIRST, None, None, None

    def _join_below(self, number: int) -> None:
        """Lets a page that is fetched forwards begin where the one before it ends now."""
        if number + 1 >= len(self.all):
            return
        page, after = self.all[number], self.all[number + 1]
        if after.backward:
            return
        after.dirty = after.dirty or after.edge != page.last
        after.start, after.cursor, after.edge = None, page.next, page.last

    def _join_above(self, number: int) -> None:
        """Lets a page that is fetched backwards end where the one after it begins now."""
        if number == 0:
            return
        page, before = self.all[number], self.all[number - 1]
        if not page.backward or not before.backward:
            return
        before.dirty = before.dirty or before.edge != page.first
        before.cursor, before.edge = page.previous, page.first
