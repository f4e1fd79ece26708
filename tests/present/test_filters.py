"""The filter line in words: counts with their age, the caret under the right cell, offers in one line, pastes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from jobconsole.present.columns import plain, width_of
from jobconsole.present.filters import (
    Fault,
    Offer,
    agreed_offer,
    fault_in,
    fault_lines,
    fault_of,
    filter_lines,
    match_words,
    offers_line,
    one_line,
)
from jobcontract.queues import FilterField, QueueTotals, Vocabulary
from tests.hostile import HOSTILE
from tests.screens.stage import PAYOUTS, START


def counted(matching: int, *, exact: bool = True) -> QueueTotals:
    return QueueTotals(
        queue=PAYOUTS,
        filter="x",
        matching=matching,
        waiting=matching,
        mine=0,
        set_aside=0,
        unclaimed=0,
        oldest_created=None,
        totals=(),
        exact=exact,
        as_of=START,
    )


VOCABULARY = Vocabulary(
    queue=PAYOUTS,
    fields=(
        FilterField(name="amount", type="amount", title="Amount", values=()),
        FilterField(name="input.invoice", type="text", title="Invoice", values=("missing",)),
    ),
    currencies=("GBP", "EUR"),
    as_of=START,
)


@pytest.mark.parametrize(
    ("totals", "words"),
    [
        (None, "counting …"),
        (counted(0), "0 match"),
        (counted(1), "1 matches"),
        (counted(10_000), "10,000 match"),
        (counted(12_000, exact=False), "about 12,000 match · counted 40 s ago"),
    ],
)
def test_the_count_says_how_sure_and_how_old_it_is(totals: QueueTotals | None, words: str) -> None:
    assert match_words(totals, START + timedelta(seconds=40)) == words


@pytest.mark.requirement("MONEY-03")
def test_a_filter_is_judged_by_its_form_and_with_a_vocabulary_by_what_the_queue_has() -> None:
    assert fault_of("amount>1000 currency:GBP", VOCABULARY) is None
    form = fault_of("age:3d")
    assert form is not None
    assert (form.at, form.length) == (3, 1)
    assert fault_of("word amount>1000") is None
    names = fault_of("word amount>1000", VOCABULARY)
    assert names is not None
    assert names.at == 5
    assert "GBP, EUR" in names.sentence
    assert fault_of("input.invoice:missing", VOCABULARY) is None
    assert fault_of("input.other:x", VOCABULARY) is not None


def test_what_the_service_says_is_pointed_at_and_never_outside_of_the_text() -> None:
    assert fault_in("No.", {"at": 4, "length": 2}, "abc def") == Fault(sentence="No.", at=4, length=2)
    assert fault_in("No.", {"at": 4, "length": 99}, "abc def") == Fault(sentence="No.", at=4, length=3)
    for told in ({}, {"at": "4", "length": 2}, {"at": -1, "length": 2}, {"at": 99, "length": 2}):
        assert fault_in("No.", told, "abc def") == Fault(sentence="No.", at=0, length=7)


def caret(text: str, fault: Fault, *, scrolled: int = 0, width: int = 78) -> tuple[int, int]:
    """First cell and length of the carets."""
    lines = fault_lines(text, fault, scrolled, width)
    assert all(width_of(plain(line)) <= width for line in lines), lines
    drawn = plain(lines[0])
    return cell_len(drawn[: drawn.index("^")]), drawn.count("^")


@pytest.mark.parametrize(
    ("text", "at", "length", "cell", "cells"),
    [
        ("age:3d", 3, 1, 2 + 3, 1),
        ("株式会社 age:3d", 8, 1, 2 + 8 + 4, 1),
        ("age>株式", 4, 2, 2 + 4, 4),
        ("e\u0301toile age:3d", 11, 1, 2 + 10, 1),
        ("amount>", 7, 0, 2 + 7, 1),
    ],
)
def test_the_caret_points_at_the_right_cell(text: str, at: int, length: int, cell: int, cells: int) -> None:
    assert caret(text, Fault(sentence="No.", at=at, length=length)) == (cell, cells)


def test_the_sentence_stands_beside_the_caret_where_it_fits_and_is_never_lost() -> None:
    said = "Leave out the colon: amount>1000"
    (right,) = fault_lines("a:>1", Fault(sentence=said, at=1, length=1), 0, 78)
    assert plain(right) == f"   ^ {said}"
    (left,) = fault_lines("x" * 60 + ":", Fault(sentence=said, at=60, length=1), 0, 78)
    assert plain(left).rstrip().endswith(f"{said} ^")
    assert caret("x" * 60 + ":", Fault(sentence=said, at=60, length=1)) == (62, 1)
    below = fault_lines("x" * 30 + ":", Fault(sentence=said * 3, at=30, length=1), 0, 60)
    assert "".join(" ".join(plain(line) for line in below[1:]).split()) == "".join((said * 3).split())


def test_a_fault_out_of_sight_is_pointed_at_from_the_edge() -> None:
    fault = Fault(sentence="No.", at=0, length=3)
    assert caret("x" * 200, fault, scrolled=100) == (2, 1)
    assert caret("x" * 200, Fault(sentence="No.", at=150, length=50), scrolled=0)[0] == 77


@settings(max_examples=50)
@given(st.text(max_size=80), st.integers(0, 80), st.integers(0, 80), st.integers(0, 100), st.integers(20, 160))
def test_no_text_and_no_place_is_beyond_the_caret(text: str, at: int, length: int, scrolled: int, width: int) -> None:
    caret(text, Fault(sentence="Not so.", at=min(at, len(text)), length=length), scrolled=scrolled, width=width)


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("text", HOSTILE)
def test_the_filter_in_force_is_shown_with_its_count_at_the_right(text: str) -> None:
    lines = filter_lines(text, "212 match", 78)
    assert all(width_of(plain(line)) <= 78 for line in lines)
    assert plain(lines[0]).startswith("/ ")
    assert plain(lines[0]).endswith("212 match")


def test_a_long_filter_says_that_it_goes_on() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    lines = filter_lines(text, "about 12,000 match · counted 40 s ago", 78)
    assert len(lines) == 2
    assert plain(lines[0]).endswith("counted 40 s ago")
    assert plain(lines[1]).endswith(" …")
    assert all(width_of(plain(line)) <= 78 for line in lines)


def offer(text: str, title: str = "", start: int = 0, end: int = 0) -> Offer:
    return Offer(text=text, start=start, end=end, title=title)


def test_an_offer_replaces_what_was_typed_of_it() -> None:
    assert offer("currency:", start=2, end=5).taken("x cur y") == ("x currency: y", 11)


@pytest.mark.parametrize(
    ("typed", "texts", "agreed"),
    [
        ("c", ["currency:"], "currency:"),
        ("holder:", ["holder:me", "holder:free"], None),
        ("i", ["input.invoice:", "input.evidence:"], "input."),
        ("input.", ["input.invoice:", "input.evidence:"], None),
        ("CUR", ["currency:"], "currency:"),
    ],
)
def test_what_all_offers_begin_with_is_completed(typed: str, texts: list[str], agreed: str | None) -> None:
    found = agreed_offer(typed, [offer(text, start=0, end=len(typed)) for text in texts])
    assert (found.text if found is not None else None) == agreed


def test_offers_of_different_places_agree_in_nothing() -> None:
    assert agreed_offer("ab", [offer("abc", start=0, end=2), offer("abd", start=1, end=2)]) is None


def test_six_offers_are_shown_with_their_titles_as_far_as_there_is_room() -> None:
    offers = [offer(f"field{number}:", "Title") for number in range(8)]
    assert plain(offers_line(offers, None, 120)) == "  " + "".join(f" field{n}: Title " for n in range(6)) + " … 2 more"
    assert "Title" not in plain(offers_line(offers, None, 78))
    assert "▸field7:" in plain(offers_line(offers, 7, 78))
    assert plain(offers_line(offers, 7, 78)).startswith("  … ")


@settings(max_examples=50)
@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=20), st.integers(0, 19), st.integers(60, 160))
def test_the_chosen_offer_is_always_in_sight(texts: list[str], chosen: int, width: int) -> None:
    line = offers_line([offer(text, "title") for text in texts], min(chosen, len(texts) - 1), width)
    assert [piece for piece in line if piece.text.startswith("▸")]


@pytest.mark.parametrize(
    ("pasted", "room", "text", "cut"),
    [
        ("  currency:GBP\n\tholder:me \r\n", 500, "currency:GBP holder:me", False),
        ("a\x1b[31mb\x00", 500, "a[31mb", False),
        ("x" * 600, 500, "x" * 500, True),
        ("abc", 0, "", True),
    ],
)
def test_a_paste_is_one_line_and_tells_that_something_was_left_out(
    pasted: str, room: int, text: str, cut: bool
) -> None:
    assert one_line(pasted, room) == (text, cut)
