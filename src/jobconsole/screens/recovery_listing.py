"""Owns the rows of a recovery as a table reads them: those of a preview by number, those of one that is applied with what
needs a look first. Asks nobody; paints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import width_of
from jobconsole.present.recovery_rows import rows_cells
from jobconsole.widgets.rows import Row
from jobcontract.states import Turn

if TYPE_CHECKING:
    from jobcontract.recoveries import RecoveryRow

COLUMNS = ("number", "state", "turn", "name", "items")
"""Columns whose widths depend on the rows."""
LOOKED_AT = (Turn.FAILED, Turn.REFUSED, Turn.UNCERTAIN, Turn.RUNNING, Turn.WAITING)
"""Turns that come first while a recovery is applied; the others follow by number."""


class FrozenRows:
    """Rows of one edition by number; row N stands at N-1."""

    flat = True

    def __init__(self) -> None:
        self._rows: Sequence[RecoveryRow] = ()
        self._length = 0
        self._needs: dict[str, int] = {}
        self.painted = False
        """Whether a row of it was ever on the screen."""

    def __len__(self) -> int:
        return self._length

    def key(self, index: int) -> str:
        """The number of the row at `index`."""
        return str(index + 1)

    def index(self, key: str) -> int | None:
        """Where the row with that number is."""
        return int(key) - 1 if key.isdigit() and 0 < int(key) <= self._length else None

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Nothing stands under a row."""
        return 0

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """The text of a row."""
        self.painted = True
        return Row(cells=rows_cells(self._rows[index], confirmed=False))

    def take(self, rows: Sequence[RecoveryRow]) -> None:
        """These were read so far; another list, or a shorter one, begins anew."""
        if rows is not self._rows or len(rows) < self._length:
            self._rows, self._length, self._needs, self.painted = rows, 0, {}, False
        _measure(self._needs, (rows[at] for at in range(self._length, len(rows))), confirmed=False)
        self._length = len(rows)

    def find(self, key: str | None) -> RecoveryRow | None:
        """The row with that number."""
        at = self.index(key) if key is not None else None
        return self._rows[at] if at is not None else None

    def needs(self) -> dict[str, int]:
        """Widths that the columns need."""
        return self._needs


class TurnRows:
    """Rows of a confirmed recovery that are known, what needs a look first, then by number."""

    flat = True

    def __init__(self) -> None:
        self._known: dict[int, RecoveryRow] = {}
        self._order: list[int] = []
        self._at: dict[int, int] = {}
        self._needs: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._order)

    def key(self, index: int) -> str:
        """The number of the row at `index`."""
        return str(self._order[index])

    def index(self, key: str) -> int | None:
        """Where the row with that number is."""
        return self._at.get(int(key)) if key.isdigit() else None

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Nothing stands under a row."""
        return 0

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """The text of a row."""
        return Row(cells=rows_cells(self._known[self._order[index]], confirmed=True))

    def take(self, rows: Iterable[RecoveryRow]) -> None:
        """Rows as they are now."""
        told = list(rows)
        self._known.update((row.number, row) for row in told)
        self._order = sorted(self._known, key=lambda number: (_rank(self._known[number].turn), number))
        self._at = {number: at for at, number in enumerate(self._order)}
        _measure(self._needs, told, confirmed=True)

    def find(self, key: str | None) -> RecoveryRow | None:
        """The row with that number."""
        return self._known.get(int(key)) if key is not None and key.isdigit() else None

    def needs(self) -> dict[str, int]:
        """Widths that the columns need."""
        return self._needs


def _rank(turn: Turn) -> int:
    return LOOKED_AT.index(turn) if turn in LOOKED_AT else len(LOOKED_AT)


def _measure(needs: dict[str, int], rows: Iterable[RecoveryRow], *, confirmed: bool) -> None:
    for row in rows:
        cells = rows_cells(row, confirmed=confirmed)
        for column in COLUMNS:
            needs[column] = max(needs.get(column, 0), width_of(cells[column].text))
