"""Property tests of what shares one line: whole columns are never cut, widths are exact, text stays data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from jobconsole.present.columns import (
    Column,
    Piece,
    Tone,
    clip,
    clip_line,
    fit,
    joined,
    lay_out,
    plain,
    row_line,
    whole_pieces,
    width_of,
    wrap_line,
)

TEXT = st.text(max_size=60)
WIDE = st.text(alphabet="ab漢字é\u0301ｱ👍 …", max_size=60)


@given(TEXT | WIDE, st.integers(min_value=0, max_value=50))
def test_clipped_text_never_takes_more_cells_than_it_has(text: str, width: int) -> None:
    assert cell_len(clip(text, width)) <= width


@given(TEXT | WIDE, st.integers(min_value=1, max_value=50), st.booleans())
def test_fitted_text_takes_exactly_its_cells(text: str, width: int, right: bool) -> None:
    assert cell_len(fit(text, width, right=right)) == width


@given(TEXT)
def test_no_control_or_direction_character_survives(text: str) -> None:
    shown = fit(text, 40)
    assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in shown)
    assert not set(shown) & {"\u202e", "\u2066", "\u200b", "\ufeff"}


def test_what_was_cut_says_so() -> None:
    assert clip("Aspire Care Ltd", 8) == "Aspire…"
    assert clip("Aspire Care Ltd", 15) == "Aspire Care Ltd"
    assert clip("東京システム", 6) == "東京…"


COLUMNS = (
    Column(id="amount", label="amount", least=6, right=True, whole=True),
    Column(id="account", label="acct", least=5, whole=True),
    Column(id="name", label="payee", least=12, yields=2),
    Column(id="inputs", label="inputs", least=20, most=44, yields=0),
    Column(id="state", label="holder", least=10, most=22, yields=1),
)


@given(
    st.integers(min_value=6, max_value=30),
    st.integers(min_value=40, max_value=240),
    st.integers(min_value=0, max_value=60),
    st.integers(min_value=0, max_value=60),
)
def test_whole_columns_get_all_they_need_and_the_line_fits(amount: int, width: int, inputs: int, state: int) -> None:
    needs = {"amount": amount, "account": 5, "inputs": inputs, "state": state}
    widths, gap = lay_out(COLUMNS, needs, width)
    assert widths["amount"] == amount
    assert widths["account"] == 5
    assert sum(widths.values()) + gap * (len(widths) - 1) <= width
    for column in COLUMNS:
        assert column.id not in widths or widths[column.id] >= column.least


@pytest.mark.parametrize(("width", "left_out"), [(140, set()), (60, {"inputs"}), (43, {"inputs", "state"})])
def test_columns_give_way_in_their_order(width: int, left_out: set[str]) -> None:
    widths, _ = lay_out(COLUMNS, {"amount": 14, "account": 5}, width)
    assert {column.id for column in COLUMNS} - set(widths) == left_out


@given(st.dictionaries(st.sampled_from(["amount", "account", "name", "state"]), WIDE), st.integers(40, 120))
def test_a_row_is_as_wide_as_its_columns(cells: dict[str, str], width: int) -> None:
    shown = {name: Piece(text) for name, text in cells.items()}
    widths, gap = lay_out(COLUMNS, {"amount": 14, "account": 5}, width)
    assert width_of(plain(row_line(COLUMNS, shown, widths, gap))) == sum(widths.values()) + gap * (len(widths) - 1)


@given(st.lists(TEXT | WIDE, max_size=6), st.integers(min_value=12, max_value=60), st.integers(0, 9))
def test_wrapping_loses_no_word_and_fits(texts: list[str], width: int, indent: int) -> None:
    line = tuple(Piece(text, Tone.QUIET) for text in texts)
    lines = wrap_line(line, width, indent)
    assert all(width_of(plain(part)) <= width for part in lines)
    kept = "".join(plain(part) for part in lines).replace(" ", "")
    assert kept == plain(line).replace(" ", "")
    assert all(plain(part).startswith(" " * indent) for part in lines[1:])


@given(st.lists(st.text(alphabet="abc ", min_size=1, max_size=12), max_size=6), st.integers(0, 60))
def test_only_whole_pieces_are_shown(texts: list[str], width: int) -> None:
    shown = whole_pieces([Piece(text) for text in texts], width)
    assert width_of(plain(shown)) <= width
    assert plain(shown) in {plain(joined([Piece(text) for text in texts[:count]])) for count in range(len(texts) + 1)}


def test_a_clipped_line_ends_where_it_was_cut() -> None:
    line = (Piece("6 days old"), Piece(" · "), Piece("invoice on file"), Piece(" · more"))
    assert plain(clip_line(line, 20)) == "6 days old · invoic…"


def test_an_instant_is_not_broken_where_a_line_holds_it_whole() -> None:
    told = (Piece("met by its identity · 019cacb8 · Mon 2026-03-02 04:05:00 GMT, 5 h ago"),)
    assert [plain(each) for each in wrap_line(told, 50, 2)] == [
        "met by its identity · 019cacb8 · ",
        "  Mon 2026-03-02 04:05:00 GMT, 5 h ago",
    ]
    assert [plain(each).strip() for each in wrap_line((Piece("at Mon 2026-03-02 04:05:00 GMT"),), 16, 2)] == [
        "at Mon",
        "2026-03-02",
        "04:05:00 GMT",
    ]
