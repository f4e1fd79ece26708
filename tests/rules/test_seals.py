"""Links: no two entries have the same bytes, and a chain of any length holds until one thing in it is changed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobservice.rules.seals import GENESIS, Checking, GapKind, Link, Seal, link_of

pytestmark = pytest.mark.requirement("MONEY-31")
AT = datetime(2026, 11, 30, tzinfo=UTC)
TEXTS = st.lists(st.none() | st.text(max_size=5), min_size=3, max_size=3)


@given(TEXTS, TEXTS)
@settings(max_examples=200)
def test_a_link_tells_any_two_entries_apart(one: list[str | None], other: list[str | None]) -> None:
    assert (link_of(GENESIS, one) == link_of(GENESIS, other)) is (one == other)


@pytest.mark.parametrize(
    ("one", "other"), [(["ab", "c"], ["a", "bc"]), ([None, ""], ["", None]), (["a", None], ["a"]), ([""], [None])]
)
def test_lengths_keep_texts_apart(one: list[str | None], other: list[str | None]) -> None:
    assert link_of(GENESIS, one) != link_of(GENESIS, other)


def chain(length: int) -> list[Link]:
    """A chain in one seal."""
    links, before = [], GENESIS
    for place in range(1, length + 1):
        before = link_of(before, [str(place)])
        links.append((place, before))
    seal = Seal(number=1, at=AT, life=1, upto=(99, 0), place=length, count=length, head=before)
    return [
        Link(place=place, entry=place + 100, link=link, texts=[str(place)], at=AT, xid=1, seal=seal)
        for place, link in links
    ]


def first_gap(links: list[Link]) -> tuple[GapKind, int | None] | None:
    checking = Checking(heads=iter(()))
    for link in links:
        if (gap := checking.take(link)) is not None:
            return gap.kind, gap.place
    gap = checking.end(links[-1].seal)
    return None if gap is None else (gap.kind, gap.place)


@given(st.integers(2, 8).flatmap(lambda length: st.tuples(st.just(length), st.integers(0, length - 1))))
@settings(max_examples=60)
def test_the_first_thing_that_was_done_to_a_chain_is_named(where: tuple[int, int]) -> None:
    length, at = where
    links = chain(length)
    assert first_gap(links) is None

    def with_change(**change: object) -> list[Link]:
        fields = {name: getattr(links[at], name) for name in Link.__slots__}
        return [*links[:at], Link(**(fields | change)), *links[at + 1 :]]

    assert first_gap(with_change(texts=["other"])) == (GapKind.ENTRY_CHANGED, at + 1)
    assert first_gap(with_change(texts=None)) == (GapKind.ENTRY_MISSING, at + 1)
    assert first_gap(with_change(link=bytes(32))) == (GapKind.LINK_REWRITTEN, at + 1)
    if at < length - 1:
        assert first_gap([*links[:at], *links[at + 1 :]]) == (GapKind.LINK_MISSING, at + 1)
