"""Owns the rows of one view of one queue as they were fetched: a window of pages, items by id, newest answer wins.

Never asks the service. A page that is fetched again replaces exactly the stretch of the list that it covers, so nothing
is refilled and a row that vanished elsewhere disappears alone. The row under the cursor is never taken away or moved
under the person's hand: it stays where it is, with what became of it, until the cursor leaves it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.item_rows import Measured, aside_piece, measure, row_cells, under_pieces
from jobconsole.present.items import Seen
from jobconsole.screens.queues_pages import Page, Pages, Place, Stretch
from jobconsole.widgets.rows import Row
from jobcontract.states import ItemState, ItemView

if TYPE_CHECKING:
    from jobcontract.items import Item, ItemPage

PAGE = 100
"""Rows asked for at once."""
PAGES_MOST = 10
"""Pages kept around what is in sight; those farther away are let go, and fetched again on the way back."""
COLUMNS = ("score", "amount", "account", "inputs", "state")
"""Columns that are as wide as their widest text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What an answer changed: how many rows are new, which are gone, how many have another place."""

    new: int = 0
    gone: frozenset[str] = frozenset()
    moved: int = 0

    def __add__(self, other: Moved) -> Moved:
        """Both, one after the other."""
        return Moved(new=self.new + other.new, gone=self.gone | other.gone, moved=self.moved + other.moved)

    def __bool__(self) -> bool:
        return bool(self.new or self.gone or self.moved)


@dataclass(slots=True)
class _Known:
    """An item as the newest answer told it, when that was, where it stands in the list, how wide its row is."""

    item: Item
    as_of: datetime
    place: Place
    measured: Measured


def in_view(item: Item, view: ItemView, now: datetime) -> bool:
    """Whether the item belongs to the view by the service's time `now`."""
    if item.state.closed:
        return view is ItemView.CLOSED
    waits = item.state is ItemState.SET_ASIDE and (item.set_aside_until is None or item.set_aside_until > now)
    return view is (ItemView.SET_ASIDE if waits else ItemView.WAITING)


class Listing:
    """The rows of one view, as a table reads them."""

    flat = False

    def __init__(
        self,
        view: ItemView,
        seen: Callable[[], Seen],
        *,
        by_amount: bool = False,
        needs: Mapping[str, int] | None = None,
    ) -> None:
        """`by_amount`: the largest amount first. `needs`: widths to begin with, of the same list elsewhere."""
        self.view = view
        self.pages = Pages(PAGE)
        self.scope: tuple[str, ...] = ()
        """Queue, view and filter that it is of."""
        self.opened: str | None = None
        """Id of the row where it was opened."""
        self.changes = 0
        """Rises whenever rows come, go or move, or need wider columns."""
        self._seen = seen
        self.by_amount = by_amount
        self._known: dict[str, _Known] = {}
        self._order: list[Place] = []
        self._departed: set[str] = set()
        self._pinned: set[str] = set()
        """Rows that stand where they stood because the cursor is on them."""
        self._needs: dict[str, int] = dict(needs or {})
        self._strange = False
        self._caught_up = False
        self._rest: str | None = None
        """Cursor of further rows that were placed anew."""

    def __len__(self) -> int:
        return len(self._order)

    @property
    def started(self) -> bool:
        """Whether a first page was fetched."""
        return len(self.pages) > 0

    @property
    def first_loaded(self) -> Item | None:
        """The item of the first row that is loaded."""
        return self._known[self.key(0)].item if len(self) else None

    def place_of(self, item: Item) -> Place:
        """Where the item belongs in this list."""
        amount = -item.amount.minor if item.amount is not None else 0
        return amount if self.by_amount else item.rank, item.created, item.id

    def key(self, index: int) -> str:
        """The id of the item at `index`."""
        return self._order[index][2]

    def index(self, key: str) -> int | None:
        """Where the item is; None where it is not in the list."""
        known = self._known.get(key)
        return bisect_left(self._order, known.place) if known is not None else None

    def under(self, index: int, widths: Mapping[str, int]) -> int:
        """Cells of what stands under the row at `index`; none where its inputs have a column that is wide enough."""
        measured = self._known[self.key(index)].measured
        if measured.cells["inputs"] <= widths.get("inputs", -1):
            return 0
        return measured.under_with(self._left_out(widths))

    def row(self, index: int, widths: Mapping[str, int]) -> Row:
        """The text of the row at `index`, by the service's time now."""
        item, seen = self._known[self.key(index)].item, self._seen()
        cells = row_cells(item, seen)
        if self.under(index, widths) == 0:
            return Row(cells=cells)
        under = under_pieces(item, seen, self._left_out(widths))
        beside = {column: cell for column, cell in cells.items() if column != "inputs"}
        return Row(cells=beside, under=under, aside=aside_piece(item))

    def item(self, key: str | None) -> Item | None:
        """The item with that id, if it is in the list."""
        known = self._known.get(key) if key is not None else None
        return known.item if known is not None else None

    def needs(self) -> dict[str, int]:
        """Widths that the columns need for every row so far: they only grow, so that columns stand still."""
        return dict(self._needs)

    def counting(self, first: int, end: int) -> list[str]:
        """Ids of the rows from `first` up to `end` whose text changes by the second."""
        keys = [self.key(at) for at in range(max(0, first), min(end, len(self)))]
        return [key for key in keys if self._known[key].item.holder is not None]

    def open(self, start: str, page: ItemPage, keep: str | None) -> Moved:
        """Begin with the page that `start` gave. Rows that are known already, and stand in it, stay."""
        self.opened = page.items[0].id if page.items else None
        return self._take(page, self.pages.open(start, page, self._places(page)), keep)

    def beyond(self, *, up: bool) -> str | None:
        """Cursor of what comes above the first, or below the last row that is loaded; None where nothing does."""
        if not self.started:
            return None
        if up:
            return self.pages.all[0].previous
        last = self.pages.all[-1]
        if not last.ended:
            return last.next
        walked = not last.backward and not self._caught_up
        return last.next if walked else self._rest

    def extend(self, page: ItemPage, keep: str | None, *, up: bool) -> Moved:
        """Add what came above or below. A catch-up page says that the list ended before it: its rows were placed anew
        meanwhile, and are merged wherever they stand; those outside of what is loaded are left out."""
        if page.catch_up:
            self.pages.all[-1].ended = self._caught_up = True
            self._rest = page.next
            return self._merge(page, keep)
        self._take(page, self.pages.extend(page, self._places(page), up=up), keep)
        return Moved()

    def replace(self, old: Page, page: ItemPage, keep: str | None) -> Moved:
        """Put a page, fetched again, in the place of the stretch that it covers; `keep` is the row under the cursor."""
        number = self.pages.number(old)
        if number is None:
            return Moved()
        moved = Moved()
        if page.catch_up:  # nothing stands there any more
            moved = self._merge(page, keep)
            page = page.model_copy(update={"items": (), "previous": None, "next": None})
        slid = self._slid(old, page)
        moved += self._take(page, self.pages.refreshed(number, page, self._places(page)), keep)
        return replace(moved, new=moved.new - slid)

    def _slid(self, old: Page, page: ItemPage) -> int:
        """How many rows of a page fetched again stood just outside of it before, and slid in for those that are gone."""
        edge = old.first if old.backward else old.last
        if edge is None or (old.previous is None if old.backward else old.ended):
            return 0
        unknown = [self.place_of(item) for item in page.items if item.id not in self._known]
        return sum(place < edge if old.backward else place > edge for place in unknown)

    def _merge(self, page: ItemPage, keep: str | None, *, covered: bool = False) -> Moved:
        """Take the items of a page; `covered`: the page says where they stand, else they may stand anywhere."""
        moved = Moved()
        for item in page.items:
            moved += self._put(item, page.as_of, keep, here=covered)
        return moved

    def update(self, item: Item, as_of: datetime, keep: str | None) -> Moved:
        """Take one item as an answer told it; it leaves the list where it belongs to another view now."""
        if item.id not in self._known:
            return Moved()
        moved = self._put(item, as_of, keep)
        if item.id in self._known and not in_view(item, self.view, as_of):
            moved += Moved(gone=frozenset(self._depart([item.id], keep)))
        return moved

    def leave(self, keep: str | None) -> frozenset[str]:
        """Takes away the departed rows that the cursor is not on any more, and moves those that it held back; the ids
        of those that went."""
        gone = set()
        for key in [key for key in self._departed if key != keep]:
            gone.add(key)
            self._remove(key)
        for key in [key for key in self._pinned if key != keep]:
            self._place_anew(key)
        return frozenset(gone)

    def departed(self, key: str | None) -> bool:
        """Whether the row is only kept because the cursor is on it."""
        return key in self._departed

    def trim(self, first: int, end: int, keep: str | None) -> None:
        """Lets go of the pages farthest from the rows from `first` up to `end`, until few enough are left."""
        while len(self.pages) > PAGES_MOST:
            top = first > len(self) - end
            keys = [key for key in self._in(self.pages.drop(top=top)) if key != keep]
            for key in keys:
                self._remove(key)
            if top:
                first, end = max(0, first - len(keys)), end - len(keys)

    # What is old

    def touch(self, ids: Iterable[str]) -> None:
        """Marks as old the pages that hold these items; an item that is not known may stand anywhere."""
        for key in ids:
            known = self._known.get(key)
            if known is None:
                self._strange = True
            elif self.started:
                self.pages.all[self.pages.of(known.place)].dirty = True
                self.pages.all[self.pages.of(self.place_of(known.item))].dirty = True

    @property
    def strange(self) -> bool:
        """Whether something changed of which it is not known where it stands."""
        return self._strange

    def touch_sight(self, first: int, end: int) -> None:
        """Marks as old the pages that hold rows from `first` up to `end`: what is not known may stand there."""
        self._strange = False
        for number in self._numbers(first, end):
            self.pages.all[number].dirty = True

    def touch_all(self) -> None:
        """Marks everything as old."""
        for page in self.pages.all:
            page.dirty = True

    def old_pages(self, first: int, end: int) -> list[Page]:
        """The old pages that hold rows from `first` up to `end`."""
        pages = [self.pages.all[number] for number in self._numbers(first, end)]
        return [page for page in pages if page.dirty]

    def _numbers(self, first: int, end: int) -> list[int]:
        if not self.started:
            return []
        last = len(self) - 1
        if last < 0:
            return [0]
        low, high = (self.pages.of(self._order[min(max(at, 0), last)]) for at in (first, end - 1))
        # Pages at the ends may hold no row any more, and hide what came before the first or behind the last one.
        return list(range(0 if first <= 0 else low, (high if end <= last else len(self.pages) - 1) + 1))

    def _places(self, page: ItemPage) -> list[Place]:
        return [self.place_of(item) for item in page.items]

    def _left_out(self, widths: Mapping[str, int]) -> list[str]:
        scored = "score" in self._needs and self._seen().scored
        return [
            column for column in ("score", "state", "name") if column not in widths and (column != "score" or scored)
        ]

    def _take(self, page: ItemPage, covered: Stretch, keep: str | None) -> Moved:
        present = {item.id for item in page.items}
        here = [key for key in self._in(covered) if key not in present and key not in self._pinned]
        missing = [key for key in here if self._known[key].as_of <= page.as_of]
        return self._merge(page, keep, covered=True) + Moved(gone=frozenset(self._depart(missing, keep)))

    def _in(self, stretch: Stretch) -> list[str]:
        """Ids of the rows in the stretch."""
        low = high = None
        if stretch.low is not None:
            low = (bisect_left if stretch.low_in else bisect_right)(self._order, stretch.low)
        if stretch.high is not None:
            high = (bisect_right if stretch.high_in else bisect_left)(self._order, stretch.high)
        return [key for _, _, key in self._order[low:high]]

    def _reached(self, place: Place) -> bool:
        """Whether a row at that place would stand in the pages that are loaded."""
        top, bottom = self.pages.all[0], self.pages.all[-1]
        end = bottom.edge if bottom.backward else bottom.last
        return top.holds(place) and (bottom.ended or end is None or place <= end)

    def _put(self, item: Item, as_of: datetime, keep: str | None, *, here: bool = False) -> Moved:
        known = self._known.get(item.id)
        if known is not None and known.as_of > as_of:
            return Moved()
        place = self.place_of(item)
        if known is None:
            if not here and not self._reached(place):
                return Moved()
            self._known[item.id] = _Known(item, as_of, place, self._measure(item))
            insort(self._order, place)
            self.changes += 1
            return Moved(new=1)
        moved = place != self.place_of(known.item)
        if known.item != item:
            known.item, known.measured = item, self._measure(item)
        known.as_of = as_of
        self._departed.discard(item.id)
        if known.place == place:
            self._pinned.discard(item.id)
        elif item.id == keep:
            self._pinned.add(item.id)
        else:
            self._place_anew(item.id, here=here)
        return Moved(moved=int(moved))

    def _measure(self, item: Item) -> Measured:
        measured = measure(item, self._seen())
        for column in COLUMNS:
            if measured.cells[column] > self._needs.get(column, 0):
                self._needs[column] = measured.cells[column]
                self.changes += 1
        return measured

    def _place_anew(self, key: str, *, here: bool = False) -> None:
        """Puts a row where it belongs now, if that is loaded."""
        self._pinned.discard(key)
        known = self._known[key]
        place = self.place_of(known.item)
        del self._order[bisect_left(self._order, known.place)]
        self.changes += 1
        if here or self._reached(place):
            known.place = place
            insort(self._order, place)
        else:
            del self._known[key]

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
        self._pinned.discard(key)
        known = self._known.pop(key, None)
        if known is not None:
            del self._order[bisect_left(self._order, known.place)]
            self.changes += 1
