"""Owns the three lists of a plan as tables read them: its items, its warnings, what is kept out of it. Never asks the
service. A plan's items are known by their number before they are read; which of them were painted is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.plan_rows import (
    ItemWidths,
    excluded_cells,
    excluded_needs,
    item_cells,
    search_text,
    unread_cells,
    warning_cells,
    warning_needs,
)
from jobconsole.widgets.rows import Row
from jobcontract.states import PlanSort

if TYPE_CHECKING:
    from jobconsole.client.plan_rows import PlanRow
    from jobcontract.plans import ExcludedItem, PlanWarning

Place = tuple[object, ...]


class ItemRows:
    """The items of one edition of a plan, in one order, those that match a search."""

    flat = True

    def __init__(self, warnings: WarningRows) -> None:
        self.count = 0
        """How many rows the plan has, read or not."""
        self.rows: Sequence[PlanRow] = ()
        """Those read so far; row N at N-1."""
        self.order = PlanSort.NUMBER.value
        self.search = ""
        self._warnings = warnings
        self._widths = ItemWidths()
        self._placed: list[int] | None = None
        """Numbers in the order shown; None: all of them, by number."""
        self._at: dict[int, int] = {}
        self._painted: set[tuple[str, int]] = set()

    def __len__(self) -> int:
        return self.count if self._placed is None else len(self._placed)

    def key(self, index: int) -> str:
        """The number of the row at `index`."""
        return str(index + 1 if self._placed is None else self._placed[index])

    def index(self, key: str) -> int | None:
        """Where the row with that number is."""
        number = int(key)
        if self._placed is None:
            return number - 1 if 0 < number <= self.count else None
        return self._at.get(number)

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Nothing stands under a row."""
        return 0

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """The text of a row. A table asks for it when it paints it: from then on the row was on the screen."""
        key = self.key(index)
        row = self.read(key)
        if row is None:
            return Row(cells=unread_cells(int(key)))
        self._painted.add((row.item, row.money_version))
        told = self._warnings.of(row.item)
        waits = any(warning.must_answer and warning.answer is None for warning in told)
        answered = any(warning.answer is not None for warning in told)
        return Row(cells=item_cells(row, to_answer=waits, answered=answered))

    def read(self, key: str | None) -> PlanRow | None:
        """The row with that number, if it was read."""
        return self.rows[int(key) - 1] if key is not None and int(key) <= len(self.rows) else None

    def needs(self) -> dict[str, int]:
        """Widths that the columns need for the rows so far."""
        return self._widths.needs(self.count)

    @property
    def painted(self) -> int:
        """How many rows of this edition were on the screen so far."""
        return min(len(self._painted), self.count)

    def begin(self, count: int) -> None:
        """Another edition: the same order and search, other rows."""
        self.count, self.rows, self._widths = count, (), ItemWidths()
        self._placed, self._at = None, {}

    def take(self, rows: Sequence[PlanRow]) -> None:
        """The rows read so far; once all are there, they stand in their order."""
        self.rows = rows
        self._widths.take(rows)
        if len(rows) >= self.count:
            self._painted &= {(row.item, row.money_version) for row in rows}
            self.arrange()

    def arrange(self, order: str | None = None, search: str | None = None) -> None:
        """Puts the rows in an order, and leaves those that match a search."""
        self.order = self.order if order is None else order
        self.search = self.search if search is None else search
        if self.order == PlanSort.NUMBER.value and not self.search:
            self._placed, self._at = None, {}
            return
        wanted = self.search.replace(",", "").casefold() if self.search else ""
        found = [row for row in self.rows if not wanted or wanted in search_text(row)]
        if self.order != PlanSort.NUMBER.value:
            found.sort(key=self._place())
        self._placed = [row.number for row in found]
        self._at = {number: at for at, number in enumerate(self._placed)}

    def _place(self) -> Callable[[PlanRow], Place]:
        if self.order == PlanSort.AMOUNT.value:
            return lambda row: (row.currency, -row.minor, row.number)
        if self.order == PlanSort.PAYEE.value:
            return lambda row: (row.payee_name.casefold(), row.number)
        waiting = self._warnings.waiting()
        return lambda row: (row.item not in waiting, not row.warned, row.number)


class WarningRows:
    """The warnings of a plan that were loaded: those to answer first."""

    flat = True

    def __init__(self) -> None:
        self.warnings: tuple[PlanWarning, ...] = ()
        self._at: dict[str, int] = {}
        self._of: dict[str, list[PlanWarning]] = {}
        self._needs: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.warnings)

    def key(self, index: int) -> str:
        """The id of the warning at `index`."""
        return self.warnings[index].id

    def index(self, key: str) -> int | None:
        """Where the warning is."""
        return self._at.get(key)

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Nothing stands under a row."""
        return 0

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """The text of a warning."""
        return Row(cells=warning_cells(self.warnings[index]))

    def show(self, warnings: Sequence[PlanWarning]) -> None:
        """These are the warnings that are loaded."""
        self.warnings = tuple(warnings)
        self._at = {warning.id: at for at, warning in enumerate(self.warnings)}
        self._of = {}
        for warning in self.warnings:
            self._of.setdefault(warning.item, []).append(warning)
        self._needs = warning_needs(self.warnings, {})

    def find(self, key: str | None) -> PlanWarning | None:
        """The warning with that id."""
        at = self._at.get(key) if key is not None else None
        return self.warnings[at] if at is not None else None

    def of(self, item: str) -> Sequence[PlanWarning]:
        """The warnings of one item."""
        return self._of.get(item, ())

    def waiting(self) -> set[str]:
        """The items whose warnings wait for an answer."""
        return {warning.item for warning in self.warnings if warning.must_answer and warning.answer is None}

    def needs(self) -> dict[str, int]:
        """Widths that the columns need."""
        return dict(self._needs)


class ExcludedRows:
    """What is not in a plan, as far as it was loaded."""

    flat = True

    def __init__(self) -> None:
        self.excluded: tuple[ExcludedItem, ...] = ()
        self._at: dict[str, int] = {}
        self._needs: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.excluded)

    def key(self, index: int) -> str:
        """The id of the item at `index`."""
        return self.excluded[index].item

    def index(self, key: str) -> int | None:
        """Where the item is."""
        return self._at.get(key)

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Nothing stands under a row."""
        return 0

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """The text of an excluded item."""
        return Row(cells=excluded_cells(self.excluded[index]))

    def show(self, excluded: Sequence[ExcludedItem]) -> None:
        """These are the exclusions that are loaded."""
        self.excluded = tuple(excluded)
        self._at = {row.item: at for at, row in enumerate(self.excluded)}
        self._needs = excluded_needs(self.excluded, {})

    def find(self, key: str | None) -> ExcludedItem | None:
        """The excluded item with that id."""
        at = self._at.get(key) if key is not None else None
        return self.excluded[at] if at is not None else None

    def needs(self) -> dict[str, int]:
        """Widths that the columns need."""
        return dict(self._needs)
