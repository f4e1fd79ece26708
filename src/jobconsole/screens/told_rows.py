"""Owns rows as the service told them last: by key, in its order, and read page by page from the beginning of a list.

A list that is read again is read as far as it is in sight; what lies beyond is asked for when it is scrolled to. So a row
has its place by its key alone, and nothing is filled anew. Asks nobody by itself; paints nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from jobconsole.present.columns import Piece, width_of
from jobconsole.widgets.rows import Row

T = TypeVar("T")
Cells = Mapping[str, Piece]
Page = tuple[Sequence[T], str | None]
"""Rows, and what the page after them is asked for with; None: it was the last one."""


class ToldRows(Generic[T]):
    """Rows that a table reads. `cells` gets the widths of the columns, empty while they are measured."""

    flat = True

    def __init__(self, key: Callable[[T], str], cells: Callable[[T, Mapping[str, int]], Cells]) -> None:
        self.rows: tuple[T, ...] = ()
        self._key = key
        self._cells = cells
        self._at: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> str:
        """The key of the row at `index`."""
        return self._key(self.rows[index])

    def index(self, key: str) -> int | None:
        """Where the row is."""
        return self._at.get(key)

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Nothing stands under a row."""
        return 0

    def row(self, index: int, widths: Mapping[str, int]) -> Row:
        """The text of a row."""
        return Row(cells=self._cells(self.rows[index], widths))

    def show(self, rows: Iterable[T]) -> None:
        """These are the rows; of two with one key the later one counts."""
        told = {self._key(row): row for row in rows}
        self.rows = tuple(told.values())
        self._at = {key: at for at, key in enumerate(told)}

    def put(self, row: T) -> None:
        """One row as it is now, where it is among them."""
        at = self._at.get(self._key(row))
        if at is not None:
            self.rows = (*self.rows[:at], row, *self.rows[at + 1 :])

    def find(self, key: str | None) -> T | None:
        """The row with that key."""
        at = self._at.get(key) if key is not None else None
        return self.rows[at] if at is not None else None

    def needs(self) -> dict[str, int]:
        """Widths that the columns need."""
        needs: dict[str, int] = {}
        for row in self.rows:
            for column, piece in self._cells(row, {}).items():
                needs[column] = max(needs.get(column, 0), width_of(piece.text))
        return needs


BARREN = 5
"""Pages without a row, one after the other, after which a search goes on only where a person says so."""


class Paged(Generic[T]):
    """A list of the service that is read page by page into `rows`."""

    def __init__(self, rows: ToldRows[T], ask: Callable[[str | None], Awaitable[Page[T]]]) -> None:
        """`ask` reads the page that a cursor leads to; None: the first."""
        self.rows = rows
        self.next: str | None = None
        self.pages = 0
        """How many pages the last reading took."""
        self._ask = ask
        self._turn = asyncio.Lock()

    async def again(self, least: int) -> None:
        """Reads the list anew, as far as `least` rows."""
        async with self._turn:
            found: list[T] = []
            cursor, self.pages, barren = None, 0, 0
            while self.pages == 0 or (cursor is not None and len(found) < least and barren < BARREN):
                page, cursor = await self._ask(cursor)
                found += page
                self.pages += 1
                barren = 0 if page else barren + 1
            self.rows.show(found)
            self.next = cursor

    async def more(self) -> None:
        """Reads the page after what is known, where there is one."""
        async with self._turn:
            if self.next is not None:
                page, self.next = await self._ask(self.next)
                self.rows.show([*self.rows.rows, *page])

    def begin(self, rows: Sequence[T], following: str | None) -> None:
        """The first page came with another answer."""
        self.rows.show(rows)
        self.next = following
