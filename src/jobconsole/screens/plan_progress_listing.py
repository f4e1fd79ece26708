"""Owns the rows of a plan while it runs, as far as they were loaded: what needs a look first, the rest by number.

A row has its place by how far it is and by its number, so that one that is told again moves alone and nothing is filled
anew. Asks nobody; paints nothing.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from jobconsole.present.amounts import amount_piece
from jobconsole.present.columns import width_of
from jobconsole.present.plan_progress import TURN_CELLS, turn_cells
from jobconsole.widgets.rows import Row
from jobcontract.states import Turn

if TYPE_CHECKING:
    from jobcontract.plans import PlanItem

LOOKED_AT = (Turn.UNCERTAIN, Turn.FAILED, Turn.REFUSED, Turn.WAITING)
"""Turns that need a look, in the order in which they are listed."""
_LEFT = (*LOOKED_AT, Turn.RUNNING, Turn.NOT_STARTED, Turn.DONE)
"""The order once the plan ended: what had no turn is of interest then."""


class TurnRows:
    """Rows by number. `ended`: whether the plan did, which changes their order."""

    flat = True

    def __init__(self) -> None:
        self.ended = False
        self._rows: dict[int, PlanItem] = {}
        self._groups: list[list[int]] = [[] for _ in _LEFT]
        self._amount = 0

    def __len__(self) -> int:
        return len(self._rows)

    def key(self, index: int) -> str:
        """The number of the row at `index`."""
        for group in self._groups:
            if index < len(group):
                return str(group[index])
            index -= len(group)
        raise IndexError(index)

    def index(self, key: str) -> int | None:
        """Where the row with that number is."""
        row = self.find(key)
        if row is None:
            return None
        rank = self._rank(row.turn)
        return sum(map(len, self._groups[:rank])) + bisect_left(self._groups[rank], row.number)

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Nothing stands under a row."""
        return 0

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """The text of the row at `index`."""
        return Row(cells=turn_cells(self._rows[int(self.key(index))]))

    def find(self, key: str | None) -> PlanItem | None:
        """The row with that number, where it was loaded."""
        return self._rows.get(int(key)) if key is not None else None

    def take(self, rows: Iterable[PlanItem]) -> None:
        """Rows as they were told last."""
        for row in rows:
            before = self._rows.get(row.number)
            self._rows[row.number] = row
            rank = self._rank(row.turn)
            if before is None:
                self._amount = max(self._amount, width_of(amount_piece(row.amount).text))
            elif self._rank(before.turn) != rank:
                group = self._groups[self._rank(before.turn)]
                group.pop(bisect_left(group, row.number))
            else:
                continue
            insort(self._groups[rank], row.number)

    def drop(self, number: int) -> None:
        """Nothing is known of a row any more."""
        row = self._rows.pop(number, None)
        if row is not None:
            group = self._groups[self._rank(row.turn)]
            group.pop(bisect_left(group, number))

    def clear(self) -> None:
        """Another edition: other rows."""
        self._rows.clear()
        self._groups = [[] for _ in _LEFT]
        self._amount = 0

    def end(self, *, ended: bool) -> None:
        """The plan ended, or goes on after all: other rows come first."""
        if ended != self.ended:
            rows = list(self._rows.values())
            self.clear()
            self.ended = ended
            self.take(rows)

    def numbers(self, turn: Turn) -> set[int]:
        """Numbers of the rows that are known to be in that turn."""
        return {number for number in self._groups[self._rank(turn)] if self._rows[number].turn is turn}

    def moving(self, first: int, end: int) -> set[int]:
        """Of the rows from `first` up to, not with, `end`: the numbers of those whose turn did not end yet."""
        numbers = {int(self.key(at)) for at in range(first, min(end, len(self)))}
        return {number for number in numbers if not self._rows[number].turn.ended}

    def unended(self) -> set[int]:
        """Numbers of all rows whose turn had not ended when they were told."""
        return {number for number, row in self._rows.items() if not row.turn.ended}

    def needs(self) -> dict[str, int]:
        """Widths that the columns need."""
        return {"turn": TURN_CELLS, "amount": self._amount, "account": 5}

    def _rank(self, turn: Turn) -> int:
        if self.ended or turn in LOOKED_AT:
            return _LEFT.index(turn)
        return len(LOOKED_AT)
