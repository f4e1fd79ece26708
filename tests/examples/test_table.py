"""Reading CSV: every row is read, empty, or named with its reason; a file is refused only where rows cannot be told."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.payments.table import ROW_MOST, FileRefused, Table, Unreadable, read_table

FILES = Path(__file__).parent / "files"


def read(name: str) -> Table:
    """One of the small files."""
    return read_table((FILES / name).read_bytes(), "utf-8")


@pytest.mark.requirement("CSV-01")
def test_a_byte_order_mark_is_no_part_of_the_first_column() -> None:
    table = read("bom.csv")
    assert table.columns == ("ref", "amount", "currency")
    assert [row.fields["ref"] for row in table.rows] == ["P-1", "P-2"]


@pytest.mark.requirement("CSV-01")
def test_a_column_that_stands_twice_refuses_the_file_by_its_name() -> None:
    with pytest.raises(FileRefused, match="'amount' stands twice"):
        read("repeated-column.csv")


@pytest.mark.requirement("CSV-01")
def test_ragged_rows_are_named_and_the_others_are_read() -> None:
    table = read("ragged.csv")
    assert [row.fields["ref"] for row in table.rows] == ["P-1", "P-4"]
    assert table.unreadable == (
        Unreadable(line=3, why="has 2 fields, the header has 3"),
        Unreadable(line=4, why="has 4 fields, the header has 3"),
    )


@pytest.mark.requirement("CSV-02")
@pytest.mark.parametrize("name", ["open-quote.csv", "typographic-quote.csv"])
def test_a_quote_that_never_closes_refuses_the_file_and_names_its_line(name: str) -> None:
    with pytest.raises(FileRefused, match="quote opened on line 3 is not closed"):
        read(name)


@pytest.mark.requirement("CSV-02")
def test_line_breaks_and_quotes_inside_quotes_are_text() -> None:
    table = read("line-break-in-quotes.csv")
    assert [(row.line, row.fields["note"]) for row in table.rows] == [(2, 'two\r\nlines, and "quotes"'), (4, "next")]


@pytest.mark.requirement("CSV-02")
def test_a_quote_that_closes_too_late_costs_one_row_that_says_which_lines_it_took() -> None:
    table = read_table(b'ref,note\r\nP-1,"open\r\nP-2,x\r\nP-3,"y\r\nP-4,v\r\n', "utf-8")
    assert [row.fields["ref"] for row in table.rows] == ["P-4"]
    assert table.unreadable == (Unreadable(line=2, why="has a quote inside a field; it spans lines 2 to 4"),)


@pytest.mark.requirement("CSV-02")
def test_a_row_of_200_000_characters_is_dropped_with_its_reason_and_the_next_is_read() -> None:
    content = b'ref,note\nP-1,"' + b"x" * 200_000 + b'"\nP-2,short\n'
    table = read_table(content, "utf-8")
    assert [row.fields["ref"] for row in table.rows] == ["P-2"]
    assert table.unreadable == (Unreadable(line=2, why=f"is longer than {ROW_MOST:,} characters"),)


def test_a_byte_of_another_encoding_refuses_the_file_and_names_its_line() -> None:
    with pytest.raises(FileRefused, match="Line 3: the byte 0xa0 is not utf-8"):
        read_table(b"a\nb\n\xa0\n", "utf-8")


def test_rows_of_blanks_and_commas_are_empty() -> None:
    table = read_table(b"a,b\r\n,\r\n\r\n ,  \r\nx,y\r\n,,,\r\n", "utf-8")
    assert (len(table.rows), table.empty, table.unreadable) == (1, 4, ())


def test_a_value_under_no_name_is_not_dropped_in_silence() -> None:
    table = read_table(b"a,,\n1,,\n2,,lost\n", "utf-8")
    assert [row.fields for row in table.rows] == [{"a": "1"}]
    assert table.unreadable == (Unreadable(line=3, why="has a value in a column without a name"),)


def test_a_file_without_a_header_is_refused() -> None:
    with pytest.raises(FileRefused, match="no header"):
        read_table(b"", "utf-8")


@given(st.lists(st.lists(st.text(st.sampled_from('ab," \n\r')), min_size=3, max_size=3), max_size=8))
def test_what_the_standard_writer_writes_is_read_back_row_by_row(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["x", "y", "z"], *rows])
    table = read_table(text.getvalue().encode(), "utf-8")
    full = [row for row in rows if any(field.strip() for field in row)]
    assert [list(row.fields.values()) for row in table.rows] == full
    assert (table.empty, table.unreadable) == (len(rows) - len(full), ())


@given(st.lists(st.text(st.sampled_from('ab," '), max_size=12), max_size=8))
def test_every_line_of_any_text_is_in_one_row_or_the_file_is_refused(lines: list[str]) -> None:
    content = "\n".join(["x,y", *lines, ""]).encode()
    if content.count(b'"') % 2:
        with pytest.raises(FileRefused, match="is not closed"):
            read_table(content, "utf-8")
        return
    table = read_table(content, "utf-8")
    begun = [*(row.line for row in table.rows), *(row.line for row in table.unreadable)]
    assert len(set(begun)) == len(begun)
    assert len(begun) + table.empty <= len(lines)
    open_at_the_end = 0
    for number, line in enumerate(lines, 2):
        assert open_at_the_end or not line.strip(' ,"') or number in begun
        open_at_the_end = (open_at_the_end + line.count('"')) % 2
