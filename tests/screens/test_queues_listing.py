"""Tests of the rows as they were fetched: refetched pages replace their own stretch, newest answer wins."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobconsole.screens.queues_listing import Listing
from jobcontract.items import Item, ItemPage
from jobcontract.states import ItemState, ItemView
from tests.present.samples import NOW, RAO, amount, held, item, seen

PAGE = 4
PARKED = -(2**40)


def row(number: int, **changes: Any) -> Item:
    return item(id=f"i-{number:03d}", created=NOW - timedelta(minutes=1000 - number), **changes)


class Shelf:
    """A service of rows by number, paged by keyset in both directions."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = set(numbers)
        self.now = NOW

    def page(self, cursor: str | None, start: str | None = None) -> ItemPage:
        found = sorted(self.numbers)
        way, _, place = (cursor or f">{start or 'first'}").partition("-") if cursor else ("", "", "")
        if cursor is None:
            at = {"first": 0, "last": max(0, len(found) - PAGE)}.get(start or "first")
            low = at if at is not None else sum(number < int((start or "").partition(":")[2]) for number in found)
            high = low + PAGE
        elif way == "after":
            low = sum(number <= int(place) for number in found)
            high = low + PAGE
        else:
            high = sum(number < int(place) for number in found)
            low = max(0, high - PAGE)
        shown = found[low:high]
        self.now += timedelta(seconds=1)
        return ItemPage(
            items=tuple(row(number) for number in shown),
            previous=f"before-{shown[0] if shown else 999}" if low > 0 else None,
            next=f"after-{shown[-1] if shown else -1}" if high < len(found) else None,
            as_of=self.now,
        )


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobconsole.screens.queues_listing.PAGE", PAGE)
    monkeypatch.setattr("jobconsole.screens.queues_listing.PAGES_MOST", 3)


def opened(shelf: Shelf, start: str = "first") -> Listing:
    listing = Listing(ItemView.WAITING, seen)
    listing.open(start, shelf.page(None, start), None)
    return listing


def extend(listing: Listing, shelf: Shelf, *, up: bool = False, keep: str | None = None) -> None:
    cursor = listing.beyond(up=up)
    if cursor is not None:
        listing.extend(shelf.page(cursor), keep, up=up)


def loaded(shelf: Shelf, pages: int) -> Listing:
    listing = opened(shelf)
    for _ in range(pages - 1):
        extend(listing, shelf)
    return listing


def numbers(listing: Listing) -> list[int]:
    return [int(listing.key(at)[2:]) for at in range(len(listing))]


def refetch(listing: Listing, shelf: Shelf, keep: str | None = None) -> frozenset[str]:
    gone: frozenset[str] = frozenset()
    while pages := listing.old_pages(0, len(listing) + 1):
        gone |= listing.replace(pages[0], shelf.page(pages[0].cursor, pages[0].start), keep).gone
    return gone


def test_pages_follow_each_other_until_the_list_ends() -> None:
    listing = loaded(Shelf(list(range(10))), 3)
    assert numbers(listing) == list(range(10))
    assert listing.beyond(up=False) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    while listing.beyond(up=False) is not None:
        extend(listing, shelf)
    assert numbers(listing) == sorted(shelf.numbers)
    assert all(listing.index(listing.key(at)) == at for at in range(len(listing)))


def test_what_came_behind_the_last_row_is_fetched_though_its_page_has_no_row_left() -> None:
    shelf = Shelf([1, 2, 3, 4, 6])
    listing = loaded(shelf, 2)
    shelf.numbers = {1, 2, 3, 6, 9}
    listing.touch_all()
    refetch(listing, shelf)
    assert numbers(listing) == [1, 2, 3, 6, 9]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_rows_that_slide_into_the_loaded_part_are_not_called_new() -> None:
    shelf = Shelf(list(range(20)))
    listing = opened(shelf)
    shelf.numbers -= {0, 1}
    moved = listing.replace(listing.pages.all[0], shelf.page(None, "first"), None)
    assert (moved.new, moved.gone) == (0, frozenset({"i-000", "i-001"}))
    shelf.numbers |= {0}
    moved = listing.replace(listing.pages.all[0], shelf.page(None, "first"), None)
    assert (moved.new, moved.gone) == (1, frozenset())


def test_an_older_answer_does_not_undo_a_newer_one() -> None:
    listing = loaded(Shelf([1, 2]), 1)
    claimed = held(RAO, 600, id="i-001", created=row(1).created)
    listing.update(claimed, NOW + timedelta(minutes=1), None)
    late = ItemPage(items=(row(1), row(2)), next=None, as_of=NOW + timedelta(seconds=30))
    listing.replace(listing.pages.all[0], late, None)
    shown = listing.item("i-001")
    assert shown is not None
    assert shown.holder == RAO
    empty = ItemPage(items=(), next=None, as_of=NOW + timedelta(seconds=30))
    assert listing.replace(listing.pages.all[0], empty, None).gone == {"i-002"}
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
    assert listing.old_pages(8, 12) == [listing.pages.all[2]]
    assert not listing.strange


def test_what_is_not_known_may_stand_in_sight_and_nowhere_else_is_looked() -> None:
    shelf = Shelf(list(range(12)))
    listing = loaded(shelf, 3)
    listing.touch(["of another"])
    told = [listing.strange]
    assert listing.old_pages(0, 12) == []
    listing.touch_sight(5, 7)
    assert [*told, listing.strange] == [True, False]
    assert listing.old_pages(0, 12) == [listing.pages.all[1]]


def test_rows_stand_by_rank_then_date_then_id_and_by_amount_where_the_filter_sorts() -> None:
    ranked = (row(1, rank=-80), row(2, rank=-92), row(3, rank=PARKED), row(4, rank=-92))
    page = ItemPage(items=ranked, next=None, as_of=NOW)
    listing = Listing(ItemView.WAITING, seen)
    listing.open("first", page, None)
    assert numbers(listing) == [3, 2, 4, 1]
    by_amount = Listing(ItemView.WAITING, seen, by_amount=True)
    items = tuple(row(number, amount=amount(minor)) for number, minor in ((1, 5), (2, -7), (3, 900), (4, 5)))
    by_amount.open("first", ItemPage(items=items, next=None, as_of=NOW), None)
    assert numbers(by_amount) == [3, 1, 4, 2]


@given(
    st.sets(st.integers(0, 80), min_size=1, max_size=60),
    st.sampled_from(["first", "last", "item:30", "score:50"]),
    st.lists(
        st.tuples(st.sampled_from(["up", "down", "trim", "change"]), st.sets(st.integers(0, 80), max_size=15)),
        max_size=12,
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_window_is_a_whole_stretch_of_what_the_service_has_wherever_one_goes(
    at_first: set[int], start: str, steps: list[tuple[str, set[int]]]
) -> None:
    shelf = Shelf(sorted(at_first))
    listing = opened(shelf, start)
    for step, flipped in steps:
        if step == "change":
            shelf.numbers ^= flipped
            listing.touch_all()
            refetch(listing, shelf)
        elif step == "trim":
            middle = len(listing) // 2
            listing.trim(middle, middle + 1, None)
            assert len(listing.pages) <= 3
        else:
            extend(listing, shelf, up=step == "up")
        listing.touch_all()
        refetch(listing, shelf)
        shown = numbers(listing)
        assert shown == sorted(shown)
        if shown:
            assert shown == sorted(number for number in shelf.numbers if shown[0] <= number <= shown[-1])
            assert listing.pages.begun <= (shown[0] == min(shelf.numbers))
            assert listing.pages.ended <= (shown[-1] == max(shelf.numbers))
    while listing.beyond(up=True) is not None:
        extend(listing, shelf, up=True)
    while listing.beyond(up=False) is not None:
        extend(listing, shelf)
    assert numbers(listing) == sorted(shelf.numbers)


def test_a_row_that_moved_stays_under_the_cursor_until_the_cursor_leaves() -> None:
    listing = opened(Shelf(list(range(4))))
    later = NOW + timedelta(minutes=1)
    page = ItemPage(items=(row(1, rank=-9), row(0), row(2), row(3)), next=None, as_of=later)
    moved = listing.replace(listing.pages.all[0], page, "i-001")
    assert (moved.new, moved.moved) == (0, 1)
    assert numbers(listing) == [0, 1, 2, 3]
    shown = listing.item("i-001")
    assert shown is not None
    assert shown.rank == -9
    listing.leave("i-001")
    assert numbers(listing) == [0, 1, 2, 3]
    assert listing.leave("i-002") == frozenset()
    assert numbers(listing) == [1, 0, 2, 3]
    assert [listing.index(f"i-{number:03d}") for number in (1, 0, 2, 3)] == [0, 1, 2, 3]


def test_what_was_placed_anew_behind_the_reader_is_merged_where_it_stands() -> None:
    listing = loaded(Shelf(list(range(6))), 2)
    caught = ItemPage(
        items=(row(5, rank=-4), row(40, rank=3)), next=None, catch_up=True, as_of=NOW + timedelta(minutes=1)
    )
    moved = listing.extend(caught, None, up=False)
    assert numbers(listing) == [5, 0, 1, 2, 3, 4, 40]
    assert (moved.moved, moved.new) == (1, 1)
    assert listing.pages.ended
    assert listing.beyond(up=False) is None
