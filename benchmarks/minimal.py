"""Owns the peer of the console: the least that a Textual app can be, or one DataTable of a thousand rows.

Run as `python -m benchmarks.minimal` or `python -m benchmarks.minimal table`.
"""

from __future__ import annotations

import sys

from textual.app import App, ComposeResult
from textual.widgets import DataTable, Static

READY = "ready to be measured"
ROWS, COLUMNS = 1_000, 8


class Minimal(App[None]):
    """One line of text."""

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static(READY)


class TableOnly(App[None]):
    """One DataTable, as its documentation builds it."""

    def compose(self) -> ComposeResult:
        """The table."""
        yield DataTable[str](cursor_type="row")

    def on_mount(self) -> None:
        """Fill the table."""
        table = self.query_one(DataTable)
        table.add_columns(*(f"Column {number}" for number in range(COLUMNS)))
        for row in range(ROWS):
            table.add_row(f"{row:07d}", *(f"{row * 7919 % 9973:,}" for _ in range(COLUMNS - 2)), f"{READY} {row}")
        table.focus()


if __name__ == "__main__":
    (TableOnly() if sys.argv[1:] == ["table"] else Minimal()).run()
