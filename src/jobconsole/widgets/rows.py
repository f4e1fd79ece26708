"""Owns what a table reads: rows by key, in order. Holds none itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from jobconsole.present.columns import Line, Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The text of one row: its cells by column id, and what stands under them."""

    cells: Mapping[str, Piece]
    under: Line = ()
    """Pieces that are never cut and never left out: they take as many lines as they need."""
    aside: Piece | None = None
    """What follows them in the room that their last line leaves."""


class Rows(Protocol):
    """What a table shows: an ordered list with unique keys."""

    @property
    def flat(self) -> bool:
        """Whether every row is one line, whatever its width: then 50,000 of them are laid out in no time."""

    def __len__(self) -> int: ...

    def key(self, index: int) -> str:
        """The key of the row at `index`."""

    def index(self, key: str) -> int | None:
        """Where the row with `key` is now; None where it is not."""

    def under(self, index: int, widths: Mapping[str, int]) -> int:
        """Cells that the pieces under the row at `index` take at most, joined; 0 where nothing stands there."""

    def row(self, index: int, widths: Mapping[str, int]) -> Row:
        """The text of the row at `index`; a column that is not in `widths` found no room."""


class NoRows:
    """An empty list."""

    flat = True

    def __len__(self) -> int:
        return 0

    def key(self, index: int) -> str:
        """Never asked: there is no row."""
        raise IndexError(index)

    def index(self, key: str) -> int | None:  # noqa: ARG002  the protocol's
        """Nothing is in it."""
        return None

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Never asked: there is no row."""
        raise IndexError(index)

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """Never asked: there is no row."""
        raise IndexError(index)
