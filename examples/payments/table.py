"""Owns reading a CSV file (RFC 4180) row by row, so that each row is either read, empty, or named with the reason.

A file is refused whole only where its rows cannot be told apart: wrong encoding, a repeated column, an open quote.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

ROW_MOST = 100_000
"""Most characters of one row; a longer one is unreadable."""


class FileRefused(Exception):
    """A file of which nothing is taken; the message says what is wrong and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row with its fields by column name, and the line where it begins (the header is line 1)."""

    line: int
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A row that was not taken: where it begins, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file read: `rows` + `empty` + `unreadable` are all of its rows below the header."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    empty: int
    unreadable: tuple[Unreadable, ...]


def read_table(content: bytes, encoding: str) -> Table:
    """Read a whole file; a byte-order mark is no part of the first column (case CSV-01). FileRefused as above."""
    records = _records(_decoded(content, encoding))
    first = next(records, None)
    header = None if first is None else _fields(first[1])
    if header is None:
        raise FileRefused("The file has no header row.")
    columns = tuple(name.strip() for name in header)
    repeated = [name for name, times in Counter(columns).items() if name and times > 1]
    if repeated:
        raise FileRefused(f"The column {repeated[0]!r} stands twice in the header; nobody can say which one counts.")
    return _table(columns, records)


def _table(columns: tuple[str, ...], records: Iterator[tuple[int, str]]) -> Table:
    rows: list[Row] = []
    unreadable: list[Unreadable] = []
    empty = 0
    for line, text in records:
        fields = _fields(text)
        if fields is not None and not any(field.strip() for field in fields):
            empty += 1
            continue
        why = _why_not(columns, text, fields)
        if why is None and fields is not None:
            named = zip(columns, fields, strict=True)
            rows.append(Row(line=line, fields={name: field for name, field in named if name}))
        else:
            unreadable.append(Unreadable(line=line, why=_spanning(why or "is not CSV", line, text)))
    return Table(columns=columns, rows=tuple(rows), empty=empty, unreadable=tuple(unreadable))


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileRefused(f"Line {line}: the byte {content[error.start]:#04x} is not {encoding}.") from None


def _records(text: str) -> Iterator[tuple[int, str]]:
    """Each record with the line where it begins: lines are joined until every quote is closed."""
    begun, record, quotes = 1, "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if not record:
            begun = number
        record += line + "\n"
        quotes += line.count('"')
        if quotes % 2 == 0:
            if record != "\n" or number <= text.count("\n"):
                yield begun, record.removesuffix("\n").removesuffix("\r")
            record, quotes = "", 0
    if record:
        raise FileRefused(f"The quote opened on line {begun} is not closed before the end of the file.")


def _fields(record: str) -> list[str] | None:
    """The fields of one record; None where it is not CSV or too long to be a row."""
    if len(record) > ROW_MOST:
        return None
    if '"' not in record:
        return record.split(",")
    try:
        return next(iter(csv.reader(record.splitlines(keepends=True), strict=True)))
    except csv.Error:
        return None


def _why_not(columns: tuple[str, ...], text: str, fields: list[str] | None) -> str | None:
    if len(text) > ROW_MOST:
        return f"is longer than {ROW_MOST:,} characters"
    if fields is None:
        return "has a quote inside a field"
    if len(fields) != len(columns):
        return f"has {len(fields)} fields, the header has {len(columns)}"
    if any(field.strip() and not name for name, field in zip(columns, fields, strict=True)):
        return "has a value in a column without a name"
    if "\x00" in text:
        return "holds a NUL character"
    return None


def _spanning(why: str, line: int, text: str) -> str:
    last = line + text.count("\n")
    return why if last == line else f"{why}; it spans lines {line} to {last}"
