"""Owns the rows of one view of one queue as they were fetched: pages by cursor, items by id, newest answer wins.

Never asks the service. A page that is fetched again replaces exactly the stretch of the list that it covers, so nothing
is refilled and a row that vanished elsewhere disappears alone. The row under the cursor is never taken away under the
person's hand: it stays, with what became of it, until the cursor leaves it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.columns import width_of
from jobconsole.present.items import Seen, row_cells, under_line, widest_state
from jobconsole.widgets.rows import Row
from jobcontract.states import ItemState, ItemView

if TYPE_CHECKING:
    from jobcontract.items import Item, ItemPage

Place = tuple[datetime, str]
"""Where an item stands in the list: its own date, then its id."""


@dataclass(slots=True)
class _Page:
    """A fetched stretch of the list: the cursor that gives it, the places after which it begins and at which it
    ends, whether it is old."""

    cursor: str | None
    after: Place | None
    last: Place | None = None
    dirty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a page that was fetched again brought: how many rows are new, and the ids of those that are gone."""

    new: int = 0
    gone: frozenset[str] = frozenset()


def place_of(item: Item) -> Place:
    """Where the item stands in its list."""
    return item.created, item.id


def in_view(item: Item, view: ItemView, now: datetime) -> bool:
    """Whether the item belongs to the view by the service's time `now`."""
    if item.state.closed:
        return view is ItemView.CLOSED
    waits = item.state is ItemState.SET_ASIDE and (item.set_aside_until is None or item.set_aside_until > now)
    return view is (ItemView.SET_ASIDE if waits else ItemView.WAITING)


class Listing:
    """The rows of one view, as a table reads them."""

    def __init__(self, view: ItemView, seen: Callable[[], Seen]) -> None:
        self.view = view
        self._seen = seen
        self._items: dict[str, tuple[Item, datetime]] = {}
        self._order: list[Place] = []
        self._pages: list[_Page] = []
        self._departed: set[str] = set()
        self._needs: dict[str, int] = {}
        self.next: str | None = None
        """Cursor of the page after the last one fetched; None where the list ends, or before the first page."""

    def __len__(self) -> int:
        return len(self._order)

    @property
    def started(self) -> bool:
        """Whether a first page was fetched."""
        return bool(self._pages)

    def key(self, index: int) -> str:
        """The id of the item at `index`."""
        return self._order[index][1]

    def index(self, key: str) -> int | None:
        """Where the item is; None where it is not in the list."""
        known = self._items.get(key)
        if known is None:
            return None
        at = bisect_left(self._order, place_of(known[0]))
        return at if at < len(self._order) and self._order[at][1] == key else None

    def row(self, index: int, left_out: frozenset[str]) -> Row:
        """The text of the row at `index`, by the service's time now."""
        item, seen = self._items[self.key(index)][0], self._seen()
        return Row(cells=row_cells(item, seen), under=under_line(item, seen, tuple(sorted(left_out))))

    def item(self, key: str | None) -> Item | None:
        """The item with that id, if it is in the list."""
        known = self._items.get(key) if key is not None else None
        return known[0] if known is not None else None

    def needs(self) -> dict[str, int]:
        """Widths that the columns need for every row so far: they only grow, so that columns stand still."""
        return dict(self._needs)

    def counting(self, first: int, end: int) -> list[str]:
        """Ids of the rows from `first` up to `end` whose text changes by the second."""
        keys = [self.key(at) for at in range(max(0, first), min(end, len(self)))]
        return [key for key in keys if self._items[key][0].holder is not None]

    def append(self, page: ItemPage, keep: str | None) -> Moved:
        """Add the page that `next` gave, or the first one."""
        self._pages.append(_Page(cursor=self.next, after=self._pages[-1].last if self._pages else None))
        return self.replace(len(self._pages) - 1, page, keep)

    def replace(self, number: int, page: ItemPage, keep: str | None) -> Moved:
        """Put a page, fetched again, in the place of the stretch that it covers; `keep` is the row under the cursor."""
        stretch = self._pages[number]
        stretch.dirty = False
        stretch.last = place_of(page.items[-1]) if page.items else stretch.after
        last = place_of(page.items[-1]) if page.items and page.next is not None else None
        if number == len(self._pages) - 1:
            self.next = page.next
        if page.next is None:
            del self._pages[number + 1 :]
            self.next = None
        self._adjoin(number, page.next)
        gone = self._missing(stretch.after, last, {item.id for item in page.items}, page.as_of)
        before = len(self._items)
        for item in page.items:
            self._put(item, page.as_of)
        new = len(self._items) - before
        return Moved(new=new, gone=frozenset(self._depart(gone, keep)))

    def update(self, item: Item, as_of: datetime, keep: str | None) -> None:
        """Take one item as an answer told it; it leaves the list where it belongs to another view now."""
        if item.id not in self._items:
            return
        self._put(item, as_of)
        if not in_view(item, self.view, as_of):
            self._depart([item.id], keep)

    def leave(self, keep: str | None) -> frozenset[str]:
        """Takes away the departed rows that the cursor is not on any more; their ids."""
        gone = frozenset(key for key in self._departed if key != keep)
        for key in gone:
            self._remove(key)
        return gone

    def departed(self, key: str | None) -> bool:
        """Whether the row is only kept because the cursor is on it."""
        return key in self._departed

    def touch(self, ids: Iterable[str]) -> None:
        """Marks as old the stretches that hold these items; all of them for an item that is not known."""
        for key in ids:
            if key not in self._items:
                self.touch_all()
                return
            number = self._page_of(place_of(self._items[key][0]))
            if number is not None:
                self._pages[number].dirty = True

    def touch_all(self) -> None:
        """Marks everything as old."""
        for page in self._pages:
            page.dirty = True

    def restart(self) -> None:
        """Keeps the rows but not the cursors, which the service no longer takes: it is fetched from the first page."""
        del self._pages[1:]
        self.next = None
        self.touch_all()

    def old_pages(self, first: int, end: int) -> list[tuple[int, str | None]]:
        """Number and cursor of the old pages that hold rows from `first` up to `end`."""
        if not self._pages:
            return []
        if not self._order:
            numbers = {0}
        else:
            last = len(self._order) - 1
            low, high = (self._page_of(self._order[min(max(at, 0), last)]) or 0 for at in (first, end - 1))
            if end > last:  # pages at the end may hold no row any more, and hide what came behind the last one
                high = len(self._pages) - 1
            numbers = set(range(low, high + 1))
        return [(number, self._pages[number].cursor) for number in sorted(numbers) if self._pages[number].dirty]

    def _adjoin(self, number: int, cursor: str | None) -> None:
        """Lets the page after `number` begin where that one ends now: what came between must not fall through."""
        if number + 1 >= len(self._pages):
            return
        before, page = self._pages[number], self._pages[number + 1]
        page.dirty = page.dirty or page.after != before.last
        page.cursor, page.after = cursor, before.last

    def _page_of(self, place: Place) -> int | None:
        number = 0
        for at, page in enumerate(self._pages):
            if page.after is None or page.after < place:
                number = at
        return number if self._pages else None

    def _missing(self, after: Place | None, last: Place | None, present: set[str], as_of: datetime) -> list[str]:
        """Ids between the two places that the page did not name and no newer answer told of."""
        low = 0 if after is None else bisect_right(self._order, after)
        high = len(self._order) if last is None else bisect_right(self._order, last)
        keys = [key for _, key in self._order[low:high]]
        return [key for key in keys if key not in present and self._items[key][1] <= as_of]

    def _put(self, item: Item, as_of: datetime) -> None:
        known = self._items.get(item.id)
        if known is not None and known[1] > as_of:
            return
        if known is not None and place_of(known[0]) != place_of(item):
            self._order.remove(place_of(known[0]))
            known = None
        self._items[item.id] = (item, as_of)
        self._measure(item)
        self._departed.discard(item.id)
        if known is None:
            insort(self._order, place_of(item))

    def _measure(self, item: Item) -> None:
        seen = self._seen()
        texts = {column: cell.text for column, cell in row_cells(item, seen).items()}
        texts["state"] = widest_state(item, seen)
        for column in ("amount", "account", "inputs", "state"):
            self._needs[column] = max(self._needs.get(column, 0), width_of(texts[column]))

    def _depart(self, keys: Iterable[str], keep: str | None) -> list[str]:
        gone = []
        for key in keys:
            if key == keep:
                self._departed.add(key)
            else:
                gone.append(key)
                self._remove(key)
        return gone

    def _remove(self, key: str) -> None:
        self._departed.discard(key)
        known = self._items.pop(key, None)
        if known is not None:
            self._order.remove(place_of(known[0]))
