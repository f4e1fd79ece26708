"""Tests of the rows as they were fetched: refetched pages replace their own stretch, newest answer wins."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from jobconsole.screens.queues_listing import Listing, place_of
from jobcontract.items import Item, ItemPage
from jobcontract.states import ItemState, ItemView
from tests.present.samples import NOW, RAO, held, item, seen

PAGE = 4


def row(number: int) -> Item:
    return item(id=f"i-{number:03d}", created=NOW - timedelta(minutes=1000 - number))


class Shelf:
    """A service of rows by number, paged by keyset."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = set(numbers)
        self.now = NOW

    def page(self, cursor: str | None) -> ItemPage:
        after = -1 if cursor is None else int(cursor)
        found = sorted(number for number in self.numbers if number > after)
        shown = found[:PAGE]
        more = str(shown[-1]) if len(found) > PAGE else None
        self.now += timedelta(seconds=1)
        return ItemPage(items=tuple(row(number) for number in shown), next=more, as_of=self.now)


def loaded(shelf: Shelf, pages: int) -> Listing:
    listing = Listing(ItemView.WAITING, seen)
    for _ in range(pages):
        if not listing.started or listing.next is not None:
            listing.append(shelf.page(listing.next), None)
    return listing


def numbers(listing: Listing) -> list[int]:
    return [int(listing.key(at)[2:]) for at in range(len(listing))]


def refetch(listing: Listing, shelf: Shelf, keep: str | None = None) -> frozenset[str]:
    gone: frozenset[str] = frozenset()
    while pages := listing.old_pages(0, len(listing)):
        number, cursor = pages[0]
        gone |= listing.replace(number, shelf.page(cursor), keep).gone
    return gone


def test_pages_follow_each_other_until_the_list_ends() -> None:
    listing = loaded(Shelf(list(range(10))), 3)
    assert numbers(listing) == list(range(10))
    assert listing.next is None


@given(
    st.sets(st.integers(0, 60), min_size=1, max_size=40),
    st.sets(st.integers(0, 60), max_size=20),
    st.sets(st.integers(0, 60), max_size=20),
    st.integers(1, 6),
)
def test_after_fetching_again_the_list_is_what_the_service_has(
    at_first: set[int], added: set[int], removed: set[int], pages: int
) -> None:
    shelf = Shelf(sorted(at_first))
    listing = loaded(shelf, pages)
    shelf.numbers = (shelf.numbers | added) - removed
    listing.touch_all()
    refetch(listing, shelf)
    while listing.next is not None:
        listing.append(shelf.page(listing.next), None)
    assert numbers(listing) == sorted(shelf.numbers)
    assert all(listing.index(listing.key(at)) == at for at in range(len(listing)))


def test_what_came_behind_the_last_row_is_fetched_though_its_page_has_no_row_left() -> None:
    shelf = Shelf([1, 2, 3, 4, 6])
    listing = loaded(shelf, 2)
    shelf.numbers = {1, 2, 3, 6, 9}
    listing.touch_all()
    refetch(listing, shelf)
    assert numbers(listing) == [1, 2, 3, 6, 9]


@given(st.integers(0, 7), st.sets(st.integers(0, 7), max_size=8))
def test_the_row_under_the_cursor_stays_until_the_cursor_leaves(cursor: int, removed: set[int]) -> None:
    shelf = Shelf(list(range(8)))
    listing = loaded(shelf, 2)
    shelf.numbers -= removed
    listing.touch_all()
    keep = f"i-{cursor:03d}"
    gone = refetch(listing, shelf, keep)
    assert keep not in gone
    assert numbers(listing) == sorted(shelf.numbers | {cursor})
    assert listing.departed(keep) == (cursor in removed)
    left = listing.leave("another")
    assert left == (frozenset({keep}) if cursor in removed else frozenset())
    assert numbers(listing) == sorted(shelf.numbers)


def test_an_older_answer_does_not_undo_a_newer_one() -> None:
    listing = loaded(Shelf([1, 2]), 1)
    claimed = held(RAO, 600, id="i-001", created=row(1).created)
    listing.update(claimed, NOW + timedelta(minutes=1), None)
    late = ItemPage(items=(row(1), row(2)), next=None, as_of=NOW + timedelta(seconds=30))
    listing.replace(0, late, None)
    shown = listing.item("i-001")
    assert shown is not None
    assert shown.holder == RAO
    empty = ItemPage(items=(), next=None, as_of=NOW + timedelta(seconds=30))
    assert listing.replace(0, empty, None).gone == {"i-002"}
    assert numbers(listing) == [1]


def test_an_item_that_belongs_elsewhere_now_leaves() -> None:
    listing = loaded(Shelf([1, 2, 3]), 1)
    later = NOW + timedelta(minutes=1)
    until = NOW + timedelta(days=1)
    listing.update(row(1).model_copy(update={"state": ItemState.REJECTED}), later, None)
    listing.update(row(2).model_copy(update={"state": ItemState.SET_ASIDE, "set_aside_until": until}), later, "i-002")
    assert numbers(listing) == [2, 3]
    assert listing.departed("i-002")


def test_only_the_old_pages_in_sight_are_fetched_again() -> None:
    shelf = Shelf(list(range(12)))
    listing = loaded(shelf, 3)
    listing.touch(["i-009"])
    assert listing.old_pages(0, 4) == []
    assert [number for number, _ in listing.old_pages(8, 12)] == [2]
    listing.touch(["of another"])
    assert [number for number, _ in listing.old_pages(0, 2)] == [0]
    assert [number for number, _ in listing.old_pages(0, 12)] == [0, 1, 2]


def test_a_listing_whose_cursors_are_refused_begins_again_and_keeps_its_rows() -> None:
    shelf = Shelf(list(range(12)))
    listing = loaded(shelf, 3)
    shelf.numbers -= {1, 9}
    listing.restart()
    assert len(listing) == 12
    refetch(listing, shelf)
    assert numbers(listing) == [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    while listing.next is not None:
        listing.append(shelf.page(listing.next), None)
    assert numbers(listing) == sorted(shelf.numbers)


def test_places_are_ordered_by_date_then_id() -> None:
    same: datetime = row(1).created
    listing = Listing(ItemView.WAITING, seen)
    items = tuple(item(id=key, created=same) for key in ("b", "a", "c"))
    listing.append(ItemPage(items=items, next=None, as_of=NOW), None)
    assert [listing.key(at) for at in range(3)] == ["a", "b", "c"]
    assert place_of(items[0]) == (same, "b")
