"""Names that look alike: by letters that are easily confused (UTS 39), by the width shown; and what does not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobservice.rules.look_alikes import WIDTH_SHOWN, look_alikes, skeleton

ALIKE = (
    ("paypal", "p\N{CYRILLIC SMALL LETTER A}yp\N{CYRILLIC SMALL LETTER A}l"),
    ("Aspire Care", "\N{CYRILLIC CAPITAL LETTER A}spire Care"),
    ("Booker", "B\N{GREEK SMALL LETTER OMICRON}oker"),
    ("Modern Ltd", "Modem Ltd"),
    ("Hill 10", "Hi11 1O"),
    ("Café", "Cafe\N{COMBINING ACUTE ACCENT}"),
    ("paypal", "\N{MATHEMATICAL SANS-SERIF BOLD SMALL P}aypal"),
)


@pytest.mark.requirement("MONEY-11")
@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_confusable_letters_have_one_skeleton_and_each_payee_names_the_other(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)
    assert look_alikes([("S-1", one), ("S-2", other), ("S-3", "Quite Another")]) == {"S-1": other, "S-2": one}


@pytest.mark.requirement("MONEY-11")
def test_names_that_are_cut_to_the_same_on_a_narrow_screen_look_alike() -> None:
    shared = "Yorkshire Housing Association"
    assert len(shared) > WIDTH_SHOWN
    north, south = f"{shared} North", f"{shared} South"
    assert look_alikes([("S-1", north), ("S-2", south)]) == {"S-1": south, "S-2": north}


def test_one_payee_under_two_spellings_of_its_own_is_no_warning() -> None:
    assert look_alikes([("S-1", "Booker"), ("S-1", "BOOKER"), ("S-2", "Brook")]) == {}


def test_of_three_each_is_told_of_another() -> None:
    found = look_alikes([("S-1", "Hill"), ("S-2", "Hi11"), ("S-3", "HilI")])
    assert set(found) == {"S-1", "S-2", "S-3"}
    assert found["S-1"] != "Hill"
    assert found["S-2"] != "Hi11"


@given(st.text(max_size=40))
def test_how_a_text_is_composed_changes_nothing(text: str) -> None:
    assert skeleton(unicodedata.normalize("NFC", text)) == skeleton(unicodedata.normalize("NFD", text))
