"""Owns how the rows of a table are laid out at one width: the columns that find room, how many lines each row has, and
the text of each line. It paints nothing and knows no screen; widths are cells, lines count from the first row's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from jobconsole.present.columns import (
    Column,
    Line,
    Piece,
    Tone,
    clip,
    heading_line,
    lay_out,
    plain,
    row_line,
    width_of,
    wrap_pieces,
)
from jobconsole.widgets.rows import NoRows, Rows

GUTTER = 3
"""Cells before the first column: cursor, mark, blank."""
UNDER_INDENT = 2
HANGING_FROM = 60
"""From this width on the lines under a row begin after a column that lets them hang."""
ASIDE_LEAST = 12
"""Cells below which what may be left out is left out."""
SEPARATOR = " · "


class Laid:
    """Rows at one width. It is made anew when rows, columns or width change."""

    def __init__(
        self,
        rows: Rows | None = None,
        columns: Sequence[Column] = (),
        needs: Mapping[str, int] | None = None,
        width: int = 0,
    ) -> None:
        self._rows: Rows = rows or NoRows()
        self._columns = tuple(columns)
        self.width = width
        self.widths, self._gap = lay_out(self._columns, needs or {}, max(0, width - GUTTER))
        self._indent = self._under_indent()
        self._room = max(8, width - self._indent - 1)
        count = len(self._rows)
        # A range counts as a list does, and needs no time to be made.
        self._tops: Sequence[int] = (
            range(count + 1) if self._rows.flat else [0, *accumulate(self.height_now(at) for at in range(count))]
        )
        self._built: tuple[int, list[Line]] | None = None

    def __len__(self) -> int:
        return len(self._tops) - 1

    @property
    def lines(self) -> int:
        """Lines of all rows together."""
        return self._tops[-1]

    def top(self, at: int) -> int:
        """The first line of the row at `at`; for one past the last row, the line after it."""
        return self._tops[at]

    def height(self, at: int) -> int:
        """How many lines the row at `at` has."""
        return self._tops[at + 1] - self._tops[at]

    def height_now(self, at: int) -> int:
        """How many lines the row needs by what its text is now."""
        if self._rows.flat:
            return 1
        under = self._rows.under(at, self.widths)
        if under <= self._room:
            return 2 if under else 1
        return 1 + max(1, len(wrap_pieces(self._rows.row(at, self.widths).under, self._room)))

    def row_at(self, line: int) -> int:
        """The row that has that line; the first or last one for a line that none has. There are rows."""
        return max(0, min(bisect_right(self._tops, line) - 1, len(self) - 1))

    def heading(self) -> Line:
        """The labels of the columns."""
        return (Piece(" " * GUTTER), *heading_line(self._columns, self.widths, self._gap))

    def line(self, at: int, part: int) -> Line:
        """The text of one line of a row, `part` 0 being that of its cells, which begins after the gutter."""
        if part == 0 or self._built is None or self._built[0] != at:
            self._built = (at, self._lines(at))
        lines = self._built[1]
        return lines[part] if part < len(lines) else ()

    def _lines(self, at: int) -> list[Line]:
        row = self._rows.row(at, self.widths)
        lines: list[Line] = [row_line(self._columns, row.cells, self.widths, self._gap)]
        if self.height(at) == 1:
            return lines
        under = wrap_pieces(row.under, self._room) or [()]
        under[-1] = self._with_aside(under[-1], row.aside)
        return lines + [(Piece(" " * self._indent), *line) for line in under]

    def _with_aside(self, line: Line, aside: Piece | None) -> Line:
        left = self._room - width_of(plain(line)) - len(SEPARATOR)
        if aside is None or not aside.text or left < min(ASIDE_LEAST, width_of(aside.text)):
            return line
        return (*line, Piece(SEPARATOR, Tone.QUIET), Piece(clip(aside.text, left), aside.tone))

    def _under_indent(self) -> int:
        hanging = [column for column in self._columns[:1] if column.hangs and column.id in self.widths]
        if hanging and self.width >= HANGING_FROM:
            return GUTTER + self.widths[hanging[0].id] + self._gap
        return GUTTER + UNDER_INDENT
