"""Owns the windowed table: rows by key, of which only those in sight are built, a cursor and marks that stay on their
keys whatever is inserted, removed or refreshed around them.

It holds no rows and asks nobody for any: it reads a `Rows` value that its screen keeps, and tells the screen which part
is in sight. How rows are laid out is in `laid.py`, how a line is painted in `ink.py`. Widths are cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from jobconsole.present.columns import Column, Line, Piece, Tone, wrap_line
from jobconsole.widgets.ink import cut_out, highlighted, strip_of
from jobconsole.widgets.laid import GUTTER, Laid
from jobconsole.widgets.marks import Marks
from jobconsole.widgets.rows import NoRows, Rows

CURSOR_SIGN = "▸"
MARK_SIGN = "■"


class Table(ScrollView, can_focus=True):
    """A table over `Rows` of any length."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # At once, like the keys that act: what is typed ahead acts on the row that it was moved to.
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
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

    @dataclass
    class Told(Message):
        """Something that the table tells."""

        table: Table

        @property
        def control(self) -> Table:
            """The table that says so."""
            return self.table

    @dataclass
    class CursorMoved(Told):
        """The cursor came to another row, or to none."""

        key: str | None

    @dataclass
    class Opened(CursorMoved):
        """A row was double-clicked."""

    @dataclass
    class WindowMoved(Told):
        """Other rows came into sight: those from `first` up to, not with, `end`."""

        first: int
        end: int

        def can_replace(self, message: Message) -> bool:
            """The newest window is the one that counts."""
            return isinstance(message, Table.WindowMoved)

    @dataclass
    class MarksChanged(Told):
        """Rows were marked or unmarked."""

        count: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: Rows = NoRows()
        self._columns: tuple[Column, ...] = ()
        self._needs: Mapping[str, int] = {}
        self._laid = Laid()
        self._cursor = 0
        self._key: str | None = None
        self._held: tuple[str, int] | None = None
        """The row that keeps its line of the screen when rows come and go, and that line."""
        self.marking = Marks()
        """Read alone: `toggle_mark`, `mark_range`, `mark` and `clear_marks` change it and paint."""
        self._sentence: Line = ()
        self._window = (0, 0)
        self._tones: dict[Tone, Style] | None = None
        self._base: Style | None = None

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
        return frozenset(self.marking.keys)

    @property
    def window(self) -> tuple[int, int]:
        """Indexes of the rows in sight: first, and one past the last."""
        if not len(self._laid):
            return 0, 0
        top = int(self.scroll_offset.y)
        return self._laid.row_at(top), self._laid.row_at(top + max(1, self._sight) - 1) + 1

    @property
    def cursor_in_sight(self) -> bool:
        """Whether the row under the cursor is painted, be it in part, or would be had any row room; the wheel can leave it."""
        first, end = self.window
        return first <= self._cursor < end or not self._sight

    @property
    def _sight(self) -> int:
        """Lines of the screen that rows have."""
        return max(0, self.size.height - 1)

    def show(self, rows: Rows, columns: Sequence[Column], needs: Mapping[str, int], *, fresh: bool = False) -> None:
        """Shows `rows`; call it after every change of them. The cursor stays on its key; it, or the first row in sight
        where it is out of sight, stays on its line of the screen.

        `fresh` begins at the top: another list, whose keys mean other things.
        """
        follow, self._rows = self.cursor_in_sight, rows
        self._columns, self._needs = tuple(columns), dict(needs)
        if fresh:
            self.marking, self._held = Marks(), None
        found = None if fresh or self._key is None else rows.index(self._key)
        start = 0 if fresh else min(self._cursor, max(0, len(rows) - 1))
        self._cursor = start if found is None else found
        self._lay_out()
        if fresh:
            self._scroll_to_line(0)
        else:
            self._hold()
        self._settle(follow=follow or found is None)
        self.refresh()

    def land(self, key: str) -> None:
        """Puts the cursor on the row with `key`, with its neighbours around it. Marks stay."""
        if (at := self._rows.index(key)) is None:
            return
        self._cursor = at
        above = self._laid.top(at) - max(0, self._sight - self._laid.height(at)) // 3
        self._scroll_to_line(self._laid.top(self._laid.row_at(max(0, above))))
        self._settle()
        self.refresh()

    def say(self, sentence: Line) -> None:
        """What stands here while there are no rows."""
        self._sentence = sentence
        self.refresh()

    def repaint(self, keys: Iterable[str]) -> None:
        """Paints the rows with these keys again, where they are in sight; a row may need more lines than it has."""
        first, end = self.window
        for key in keys:
            if (at := self._rows.index(key)) is None or not first <= at < end:
                continue
            if self._laid.height_now(at) != self._laid.height(at):
                self.show(self._rows, self._columns, self._needs)
                return
            self._refresh_row(at)

    def move_to(self, key: str) -> bool:
        """Puts the cursor on the row with `key`; False where it is not in the list."""
        if (at := self._rows.index(key)) is not None:
            self._go(at)
        return at is not None

    def toggle_mark(self) -> None:
        """Marks the row under the cursor, or unmarks it."""
        if self._key is not None:
            self.marking.toggle(self._key)
            self._marked()

    def mark_range(self) -> None:
        """Marks every row from the last one marked to the cursor, of those that are loaded."""
        if self._key is not None:
            self.marking.span(self._rows, self._cursor)
            self._marked()

    def mark(self, keys: Iterable[str] = (), *, everything: bool = False) -> None:
        """Marks the rows with these keys, loaded or not; `everything`: all rows of the list, and none by its key."""
        self.marking.keys = set() if everything else self.marking.keys.union(keys)
        self.marking.everything = everything
        self._marked()

    def clear_marks(self, keys: Iterable[str] | None = None) -> None:
        """Takes the marks away: all, or those of `keys`."""
        if self.marking.clear(keys):
            self._marked()

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the heading, or a line of a row. It may be painted before it hears of another width."""
        if self._laid.width != self.scrollable_size.width:
            self._laid = Laid(self._rows, self._columns, self._needs, self.scrollable_size.width)
        at = 0 if y == 0 else y + int(self.scroll_offset.y)
        strip, selection = self._line_strip(at, y), self.text_selection
        if selection is not None and (span := selection.get_span(at)) is not None:
            strip = highlighted(strip, span, self.screen.get_component_rich_style("screen--selection"))
        return strip.apply_offsets(0, at)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it is painted, without the blanks at the ends of its lines."""
        first = 0 if selection.start is None else selection.start.y
        last = self._laid.lines if selection.end is None else min(selection.end.y, self._laid.lines)
        if selection.start is None and selection.end is None:  # everything: of what is loaded, what is in sight
            first, last = 0, int(self.scroll_offset.y) + self._sight
        lines = [cut_out(self._line_strip(at, at), selection.get_span(at)) for at in range(first, last + 1)]
        return "\n".join(lines), "\n"

    def notify_style_update(self) -> None:
        """The theme or a class changed: read the colours anew."""
        super().notify_style_update()
        self._tones = self._base = None

    def on_resize(self) -> None:
        """Lays the columns out for the new width; a cursor that was in sight stays in sight."""
        follow = self._held is None or self._held[0] == self._key
        self._lay_out()
        self._hold()
        self._settle(follow=follow)

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor's colour depends on the focus."""
        super().watch_has_focus(has_focus)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor on a row, a double click opens it; the end of a drag is neither."""
        line = event.y - 1 + int(self.scroll_offset.y)
        if event.y < 1 or line >= self._laid.lines or self.text_selection is not None:
            return
        self._go(self._laid.row_at(line))
        if event.chain == 2:
            self.post_message(self.Opened(self, self._key))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows came into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._remember()
        self._tell_window()

    def action_move(self, by: int) -> None:
        """The cursor goes `by` rows."""
        self._go(self._cursor + by)

    def action_page(self, by: int) -> None:
        """The cursor goes `by` screens."""
        if not len(self._laid):
            return
        here = self._laid.top(self._cursor)
        far = self._laid.row_at(here + by * max(1, self._sight - self._laid.height(self._cursor)))
        self._go(far if far != self._cursor else self._cursor + by)

    def action_jump(self, to: int) -> None:
        """The cursor goes to the first row there is here (0) or the last one (-1)."""
        self._go(len(self._laid) - 1 if to < 0 else 0)

    def bring_cursor(self) -> None:
        """Puts the cursor on the first row in sight, where the wheel has left it behind."""
        if not self.cursor_in_sight:
            first, end = self.window
            self._cursor = min(first + 1, max(first, end - 1))
            self._settle()
            self.refresh()

    def _go(self, to: int) -> None:
        old = self._cursor
        self._cursor = max(0, min(to, len(self._laid) - 1))
        if old < len(self._laid):
            self._refresh_row(old)
        self._settle()
        if len(self._laid):
            self._refresh_row(self._cursor)

    def _settle(self, *, follow: bool = True) -> None:
        """Brings cursor and sight together, and tells what changed."""
        key = self._rows.key(self._cursor) if len(self._laid) else None
        if follow:
            self._follow()
        if key != self._key:
            self._key = key
            self.post_message(self.CursorMoved(self, key))
        self._remember()
        self._tell_window()

    def _follow(self) -> None:
        """Scrolls as little as it takes to have the cursor's row in sight, and a whole row at the top."""
        if not len(self._laid) or not self._sight:
            return
        top, here = int(self.scroll_offset.y), self._laid.top(self._cursor)
        below = here + self._laid.height(self._cursor) - self._sight
        if here < top or below > here:
            self._scroll_to_line(here)
        elif below > top:
            first = self._laid.row_at(below)
            self._scroll_to_line(self._laid.top(first + (self._laid.top(first) < below)))

    def _remember(self) -> None:
        """Which row is to keep its line of the screen."""
        if not len(self._laid) or len(self._laid) != len(self._rows):
            return
        at = self._cursor if self.cursor_in_sight else self.window[0]
        self._held = (self._rows.key(at), self._laid.top(at) - int(self.scroll_offset.y))

    def _hold(self) -> None:
        """Scrolls so that the row that is to keep its line is on it again."""
        if self._held is not None and (at := self._rows.index(self._held[0])) is not None:
            self._scroll_to_line(self._laid.top(at) - self._held[1])

    def _scroll_to_line(self, line: int) -> None:
        self.scroll_to(y=max(0, line), animate=False, force=True)

    def _tell_window(self) -> None:
        if self.is_mounted and self.window != self._window:
            self._window = self.window
            self.post_message(self.WindowMoved(self, *self._window))

    def _marked(self) -> None:
        self.refresh()
        self.post_message(self.MarksChanged(self, len(self.marking.keys)))

    def _lay_out(self) -> None:
        self._laid = Laid(self._rows, self._columns, self._needs, self.scrollable_size.width)
        # So much stands below the last row that a whole row can stand at the top.
        rest = self._sight % self._laid.height(len(self._laid) - 1) if len(self._laid) else 0
        self.virtual_size = Size(self.scrollable_size.width, self._laid.lines + 1 + rest)

    def _refresh_row(self, at: int) -> None:
        y = self._laid.top(at) - int(self.scroll_offset.y) + 1
        top, bottom = max(1, y), min(self.size.height, y + self._laid.height(at))
        if bottom > top:
            self.refresh(Region(0, top, self.scrollable_size.width, bottom - top))

    def _line_strip(self, at: int, y: int) -> Strip:
        """The line `at` of heading and rows together, which stands on line `y` of the screen."""
        self._base = self._base or self.rich_style
        width, base = self.scrollable_size.width, self._base
        if not len(self._laid):
            said = wrap_line(self._sentence, width - GUTTER)[y - 1 : y] if y else []
            return strip_of((Piece(" " * GUTTER), *(said[0] if said else ())), width, base, self._styles())
        if at == 0:
            return strip_of(self._laid.heading(), width, base, self._styles())
        if at > self._laid.lines:
            return Strip.blank(width, base)
        row = self._laid.row_at(at - 1)
        here, key, part = row == self._cursor, self._rows.key(row), at - 1 - self._laid.top(row)
        if here:
            base += self.get_component_rich_style("table--cursor" if self.has_focus else "table--cursor-blurred")
        text = self._laid.line(row, part)
        if part == 0:
            signs = CURSOR_SIGN if here else " ", MARK_SIGN if key in self.marking else " "
            text = (*(Piece(sign, Tone.MINE) for sign in signs), Piece(" "), *text)
        # What is quiet elsewhere decides here (last four, inputs), on a ground that takes contrast away.
        tones = self._styles() if not here else {**self._styles(), Tone.QUIET: self._styles()[Tone.PLAIN]}
        return strip_of(text, width, base, tones)

    def _styles(self) -> dict[Tone, Style]:
        if self._tones is None:
            self._tones = {tone: self.get_component_rich_style(f"table--{tone.value}", partial=True) for tone in Tone}
        return self._tones
