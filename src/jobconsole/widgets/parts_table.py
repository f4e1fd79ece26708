"""Owns a table whose rows stand in parts, with lines between them that head a part: the cursor goes over those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jobconsole.present.columns import Column
from jobconsole.widgets.rows import Rows
from jobconsole.widgets.table import Table

HEADS = "#"
"""What the key of a line that heads a part begins with."""


class PartsTable(Table):
    """A table with lines that cannot be selected."""

    def show(self, rows: Rows, columns: Sequence[Column], needs: Mapping[str, int], *, fresh: bool = False) -> None:
        """Shows `rows`; a cursor that came to a heading goes on to the row after it."""
        super().show(rows, columns, needs, fresh=fresh)
        if self._heads(self._cursor):
            self._go(self._cursor)

    def _go(self, to: int) -> None:
        """The cursor goes there, or on in its direction where a heading is; back where no row comes any more."""
        last = len(self._rows) - 1
        at = max(0, min(to, last))
        step = 1 if at >= self._cursor else -1
        for direction in (step, -step):
            found = at
            while self._heads(found):
                found += direction
            if 0 <= found <= last:
                super()._go(found)
                return

    def _heads(self, at: int) -> bool:
        return 0 <= at < len(self._rows) and self._rows.key(at).startswith(HEADS)
