"""The one escaper of CSV: what a spreadsheet reads is what was there, and nothing runs."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.csv_text import MARK, Amount, lines

pytestmark = pytest.mark.requirement("MONEY-28")

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def read(file: bytes) -> list[list[str]]:
    """As a reader of RFC 4180 takes it."""
    return list(csv.reader(io.StringIO(file.decode("utf-8"), newline=""), strict=True))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ash & Co", "Ash & Co"),
        ("=1+2", "'=1+2"),
        ("+44 20", "'+44 20"),
        ("-5", "'-5"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("  =1", "'  =1"),
        ("\N{FULLWIDTH EQUALS SIGN}1", "'\N{FULLWIDTH EQUALS SIGN}1"),
        ("\N{FULLWIDTH COMMERCIAL AT}x", "'\N{FULLWIDTH COMMERCIAL AT}x"),
        ('a "b", c', 'a "b", c'),
        ("two\r\nlines", "two\r\nlines"),
        ("Zoë \N{RIGHT-TO-LEFT OVERRIDE}x", "Zoë \N{RIGHT-TO-LEFT OVERRIDE}x"),
        ("\N{MINUS SIGN}5", "\N{MINUS SIGN}5"),
        ("", ""),
    ],
)
def test_a_text_that_would_run_gets_an_apostrophe_and_everything_else_stays(text: str, written: str) -> None:
    assert read(lines([[text, "next"]])) == [[written, "next"]]


@pytest.mark.requirement("MONEY-01")
@pytest.mark.parametrize(
    ("minor", "exponent", "written"),
    [
        (123_450, 2, "1234.50"),
        (-5, 2, "-0.05"),
        (0, 2, "0.00"),
        (-1_234, 0, "-1234"),
        (1_001, 3, "1.001"),
        (9_223_372_036_854_775_807, 2, "92233720368547758.07"),
    ],
)
def test_amounts_stay_numbers_with_the_decimals_of_their_currency(minor: int, exponent: int, written: str) -> None:
    assert lines([[Amount(minor, exponent)]]) == written.encode() + b"\r\n"


def test_a_line_has_every_cell_and_ends_with_cr_lf() -> None:
    summer = datetime(2026, 7, 1, 12, 0, tzinfo=timezone(timedelta(hours=1)))
    assert lines([["a;b", 7, None, summer], []]) == b'"a;b",7,,2026-07-01T11:00:00Z\r\n\r\n'
    assert lines([[datetime(2026, 1, 1, tzinfo=UTC)]]) == b"2026-01-01T00:00:00Z\r\n"
    assert (MARK + lines([["é"]])).decode("utf-8-sig") == "é\r\n"


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=4), min_size=1, max_size=3))
def test_whatever_the_texts_the_rows_come_back_and_none_begins_like_a_formula(rows: list[list[str]]) -> None:
    found = read(lines(rows))
    assert [
        [cell if cell == text else cell.removeprefix("'") for cell, text in zip(*pair, strict=True)]
        for pair in zip(found, rows, strict=True)
    ] == rows
    assert not any(cell.lstrip(" ")[:1] in tuple("=+-@\t\r\n") and cell.strip(" ") for row in found for cell in row)
