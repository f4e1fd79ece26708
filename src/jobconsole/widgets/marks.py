"""Owns which rows of a list are marked: by key, so that they stay marked wherever their rows go, or all there are."""

from __future__ import annotations

from collections.abc import Iterable

from jobconsole.widgets.rows import Rows


class Marks:
    """Marked keys. `everything`: every row of the list is marked, loaded or not, and the keys mean nothing."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.everything = False
        self.last: str | None = None
        """The key marked last: where a range begins."""

    def __contains__(self, key: str) -> bool:
        return self.everything or key in self.keys

    def toggle(self, key: str) -> None:
        """Marks the row, or takes its mark away."""
        self.keys ^= {key}
        self.last = key

    def span(self, rows: Rows, cursor: int) -> None:
        """Marks every row from the one marked last to the cursor, of those that are loaded."""
        start = rows.index(self.last) if self.last is not None else None
        low, high = sorted((cursor if start is None else start, cursor))
        self.keys.update(rows.key(at) for at in range(low, high + 1))
        self.last = rows.key(cursor)

    def clear(self, keys: Iterable[str] | None = None) -> bool:
        """Takes the marks away, all or those of `keys`; whether there were any."""
        before = len(self.keys), self.everything
        self.keys = set() if keys is None else self.keys.difference(keys)
        self.everything = self.everything and keys is not None
        return (len(self.keys), self.everything) != before
