"""The one conversion of text from outside, and the line filter behind it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from jobconsole.present.text import CONTROL_FILTER, block, cell, line, txt
from tests.hostile import HOSTILE, MARKUP, harmless

ANY = st.text(st.characters(), max_size=60) | st.sampled_from(HOSTILE)
BLACK = Color(0, 0, 0)


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("text", MARKUP)
def test_markup_appears_character_for_character_and_styles_nothing(text: str) -> None:
    assert line(text) == text
    assert txt(text).plain == text
    assert txt(text).spans == []
    assert cell(text).plain == text
    assert cell(text).spans == []


@given(ANY)
def test_a_converted_line_can_do_nothing_but_be_read(text: str) -> None:
    converted = line(text)
    assert harmless(converted)
    assert len(converted) == len(text)
    assert converted.encode("utf-8").decode("utf-8") == converted


@given(ANY)
def test_a_converted_block_keeps_newlines_alone(text: str) -> None:
    assert all(harmless(part) for part in block(text).split("\n"))


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=30))
def test_letters_digits_and_signs_stay_what_they_are(text: str) -> None:
    readable = "".join(character for character in text if harmless(character) and character not in "\u115f\u1160\uffa0")
    assert line(readable) == readable


def test_what_steers_a_terminal_is_shown_as_a_sign() -> None:
    assert line("a\x1b]52;c;eA==\x07b\nc\x7fd\x9be\u202ef") == "a␛]52;c;eA==␇b␊c␡d\ufffde\ufffdf"


@given(st.lists(ANY, max_size=4))
def test_the_filter_lets_no_control_byte_through_and_keeps_the_width(texts: list[str]) -> None:
    segments = [Segment(text) for text in texts]
    filtered = CONTROL_FILTER.apply(segments, BLACK)
    assert all(harmless(segment.text) for segment in filtered)
    assert [cell_len(a.text) for a in filtered] == [cell_len(line_without(b.text)) for b in segments]


def line_without(text: str) -> str:
    """`text` with the blanks that the filter puts for what it drops."""
    return "".join(character if harmless(character) else " " * cell_len(character) for character in text)


def test_the_filter_leaves_clean_lines_alone() -> None:
    segments = [Segment("GBP 1,250.00"), Segment("Étoile 株式")]
    assert CONTROL_FILTER.apply(segments, BLACK) == segments
