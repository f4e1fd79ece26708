"""Owns the windowed table: rows by key, of which only those in sight are built, a cursor and marks that stay on their
keys whatever is inserted, removed or refreshed around them.

It holds no rows and asks nobody for any: it reads a `Rows` value that its screen keeps, and tells the screen which part
is in sight. Text is made safe where it is laid out (`present/columns.py`). Widths are cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from jobconsole.present.columns import (
    Column,
    Line,
    Piece,
    Tone,
    clip_line,
    fit,
    heading_line,
    lay_out,
    row_line,
    width_of,
)
from jobconsole.widgets.rows import NoRows, Rows

GUTTER = 3
"""Cells before the first column: cursor, mark, blank."""
CURSOR_SIGN = "▸"
MARK_SIGN = "■"
UNDER_INDENT = 2


class Table(ScrollView, can_focus=True):
    """A table over `Rows` of any length."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "jump(0)", "First row", show=False),
        Binding("end", "jump(-1)", "Last loaded row", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table--heading",
        "table--cursor",
        "table--cursor-blurred",
        *(f"table--{tone.value}" for tone in Tone),
    }
    DEFAULT_CSS = """
    Table { height: 1fr; width: 1fr; background: $background; color: $foreground; overflow-x: hidden;
        scrollbar-size-vertical: 1; }
    Table > .table--heading { color: $secondary; }
    Table > .table--cursor { background: $primary 22%; }
    Table > .table--cursor-blurred { background: $foreground 8%; }
    Table > .table--strong { text-style: bold; }
    Table > .table--quiet { color: $secondary; }
    Table > .table--mine { color: $text-primary; text-style: bold; }
    Table > .table--free { color: $text-success; }
    Table > .table--warn { color: $text-warning; text-style: bold; }
    Table > .table--bad { color: $text-error; }
    Table > .table--good { color: $text-success; }
    Table > .table--credit { color: $text-accent; text-style: bold; }
    Table.-stale > * { color: $secondary; text-style: none; }
    """
    ALLOW_SELECT = False

    @dataclass
    class CursorMoved(Message):
        """The cursor came to another row, or to none."""

        table: Table
        key: str | None

        @property
        def control(self) -> Table:
            """The table that says so."""
            return self.table

    @dataclass
    class Opened(CursorMoved):
        """A row was double-clicked."""

    @dataclass
    class WindowMoved(Message):
        """Other rows came into sight: those from `first` up to, not with, `end`."""

        table: Table
        first: int
        end: int

        @property
        def control(self) -> Table:
            """The table that says so."""
            return self.table

        def can_replace(self, message: Message) -> bool:
            """The newest window is the one that counts."""
            return isinstance(message, Table.WindowMoved)

    @dataclass
    class MarksChanged(Message):
        """Rows were marked or unmarked."""

        table: Table
        count: int = field(default=0)

        @property
        def control(self) -> Table:
            """The table that says so."""
            return self.table

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: Rows = NoRows()
        self._columns: tuple[Column, ...] = ()
        self._needs: Mapping[str, int] = {}
        self._high = 1
        self._widths: Mapping[str, int] = {}
        self._gap = 0
        self._left_out: frozenset[str] = frozenset()
        self._cursor = 0
        self._key: str | None = None
        self._marks: set[str] = set()
        self._anchor: str | None = None
        self._sentence: Line = ()
        self._window = (0, 0)
        self._tones: dict[Tone, Style] | None = None

    @property
    def cursor_key(self) -> str | None:
        """Key of the row under the cursor; None while there are no rows."""
        return self._key

    @property
    def cursor(self) -> int:
        """Index of the row under the cursor."""
        return self._cursor

    @property
    def marks(self) -> frozenset[str]:
        """Keys of the marked rows."""
        return frozenset(self._marks)

    @property
    def window(self) -> tuple[int, int]:
        """Indexes of the rows in sight: first, and one past the last."""
        first = int(self.scroll_offset.y) // self._high
        return first, min(len(self._rows), first + -(-max(0, self.size.height - 1) // self._high) + 1)

    def show(
        self, rows: Rows, columns: Sequence[Column], needs: Mapping[str, int], *, high: int = 1, fresh: bool = False
    ) -> None:
        """Shows `rows`; call it after every change of them. The cursor stays on its key and on its line of the screen.

        `high` is how many lines a row has. `fresh` begins at the top: another list, whose keys mean other things.
        """
        same_height = high == self._high
        old, self._rows = self._cursor, rows
        self._columns, self._needs, self._high = tuple(columns), dict(needs), high
        if fresh:
            self._marks.clear()
            self._anchor = None
        found = None if fresh or self._key is None else rows.index(self._key)
        start = 0 if fresh else min(old, max(0, len(rows) - 1))
        self._cursor = start if found is None else found
        self._lay_out()
        self.virtual_size = self._whole_size()
        if fresh:
            self.scroll_to(y=0, animate=False, force=True)
        elif self._cursor != old and found is not None and same_height:
            self.scroll_to(y=self.scroll_offset.y + (self._cursor - old) * high, animate=False, force=True)
        self._settle()
        self.refresh()

    def say(self, sentence: Line) -> None:
        """What stands here while there are no rows: that it is empty, loading, refused or failing, and what to do."""
        self._sentence = sentence
        self.refresh()

    def repaint(self, keys: Iterable[str]) -> None:
        """Paints the rows with these keys again, where they are in sight."""
        first, end = self.window
        for key in keys:
            at = self._rows.index(key)
            if at is not None and first <= at < end:
                self._refresh_row(at)

    def move_to(self, key: str) -> bool:
        """Puts the cursor on the row with `key`; False where it is not in the list."""
        at = self._rows.index(key)
        if at is not None:
            self._go(at)
        return at is not None

    def toggle_mark(self) -> None:
        """Marks the row under the cursor, or unmarks it."""
        if self._key is not None:
            self._marks ^= {self._key}
            self._anchor = self._key
            self._marked()

    def mark_range(self) -> None:
        """Marks every row from the last one marked to the cursor."""
        if self._key is None:
            return
        start = self._rows.index(self._anchor) if self._anchor is not None else None
        low, high = sorted((self._cursor if start is None else start, self._cursor))
        self._marks.update(self._rows.key(at) for at in range(low, high + 1))
        self._anchor = self._key
        self._marked()

    def clear_marks(self, keys: Iterable[str] | None = None) -> None:
        """Takes the marks away: all, or those of `keys`."""
        before = len(self._marks)
        self._marks = set() if keys is None else self._marks.difference(keys)
        if len(self._marks) != before:
            self._marked()

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the heading, or a line of a row."""
        width = self.scrollable_size.width
        base = self.rich_style
        if not len(self._rows):
            return self._sentence_line(y, width, base)
        if y == 0:
            pieces = heading_line(self._columns, self._widths, self._gap)
            return self._strip((Piece(" " * GUTTER), *pieces), width, base)
        at, part = divmod(y - 1 + int(self.scroll_offset.y), self._high)
        if at >= len(self._rows):
            return Strip.blank(width, base)
        return self._row_strip(at, part, width, base)

    def notify_style_update(self) -> None:
        """The theme or a class changed: read the colours anew."""
        super().notify_style_update()
        self._tones = None

    def on_resize(self) -> None:
        """Lays the columns out for the new width."""
        self._lay_out()
        self.virtual_size = self._whole_size()
        self._settle()

    def on_focus(self) -> None:
        """The cursor's colour depends on the focus."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor's colour depends on the focus."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor on a row, a double click opens it."""
        at = (event.y - 1 + int(self.scroll_offset.y)) // self._high
        if event.y >= 1 and 0 <= at < len(self._rows):
            self._go(at)
            if event.chain == 2:
                self.post_message(self.Opened(self, self._key))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows came into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._tell_window()

    def action_move(self, by: int) -> None:
        """The cursor goes `by` rows."""
        self._go(self._cursor + by)

    def action_page(self, by: int) -> None:
        """The cursor goes `by` screens."""
        self._go(self._cursor + by * max(1, (self.size.height - 1) // self._high - 1))

    def action_jump(self, to: int) -> None:
        """The cursor goes to the first row (0) or the last one loaded (-1)."""
        self._go(len(self._rows) - 1 if to < 0 else 0)

    def _go(self, to: int) -> None:
        old = self._cursor
        self._cursor = max(0, min(to, len(self._rows) - 1))
        if old < len(self._rows):
            self._refresh_row(old)
        self._settle()
        if len(self._rows):
            self._refresh_row(self._cursor)

    def _settle(self) -> None:
        """Brings cursor and sight together, and tells what changed."""
        key = self._rows.key(self._cursor) if len(self._rows) else None
        self._follow()
        if key != self._key:
            self._key = key
            self.post_message(self.CursorMoved(self, key))
        self._tell_window()

    def _follow(self) -> None:
        high = max(self._high, self.size.height - 1)
        top, at = int(self.scroll_offset.y), self._cursor * self._high
        if at < top:
            self.scroll_to(y=at, animate=False, force=True)
        elif at + self._high > top + high and self.size.height > 1:
            rows_above = -(-(at + self._high - high) // self._high)
            self.scroll_to(y=rows_above * self._high, animate=False, force=True)

    def _whole_size(self) -> Size:
        """Heading and rows, and what is left of the height so that a whole row can stand at the top."""
        rest = max(0, self.size.height - 1) % self._high
        return Size(self.scrollable_size.width, len(self._rows) * self._high + 1 + rest)

    def _tell_window(self) -> None:
        if self.is_mounted and self.window != self._window:
            self._window = self.window
            self.post_message(self.WindowMoved(self, *self._window))

    def _marked(self) -> None:
        self.refresh()
        self.post_message(self.MarksChanged(self, len(self._marks)))

    def _lay_out(self) -> None:
        room = max(0, self.scrollable_size.width - GUTTER)
        self._widths, self._gap = lay_out(self._columns, self._needs, room)
        self._left_out = frozenset(column.id for column in self._columns if column.id not in self._widths)

    def _refresh_row(self, at: int) -> None:
        y = at * self._high - int(self.scroll_offset.y) + 1
        top, bottom = max(1, y), min(self.size.height, y + self._high)
        if bottom > top:
            self.refresh(Region(0, top, self.scrollable_size.width, bottom - top))

    def _row_strip(self, at: int, part: int, width: int, base: Style) -> Strip:
        here, key = at == self._cursor, self._rows.key(at)
        if here:
            base += self.get_component_rich_style("table--cursor" if self.has_focus else "table--cursor-blurred")
        row = self._rows.row(at, self._left_out)
        if part:
            indent = GUTTER + UNDER_INDENT
            return self._strip((Piece(" " * indent), *clip_line(row.under, width - indent - 1)), width, base)
        mark = Piece(MARK_SIGN if key in self._marks else " ", Tone.MINE)
        gutter = (Piece(CURSOR_SIGN if here else " ", Tone.MINE), mark, Piece(" "))
        return self._strip((*gutter, *row_line(self._columns, row.cells, self._widths, self._gap)), width, base)

    def _sentence_line(self, y: int, width: int, base: Style) -> Strip:
        if y != 1 or not self._sentence:
            return Strip.blank(width, base)
        return self._strip((Piece(" " * GUTTER), *clip_line(self._sentence, width - GUTTER)), width, base)

    def _strip(self, pieces: Line, width: int, base: Style) -> Strip:
        tones = self._styles()
        strip = Strip([Segment(fit(piece.text, width_of(piece.text)), base + tones[piece.tone]) for piece in pieces])
        return strip.adjust_cell_length(width, base)

    def _styles(self) -> dict[Tone, Style]:
        if self._tones is None:
            self._tones = {tone: self.get_component_rich_style(f"table--{tone.value}", partial=True) for tone in Tone}
        return self._tones
