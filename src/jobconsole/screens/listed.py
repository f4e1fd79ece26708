"""Owns what the places have that are one list: a title, what is to be said in words, the rows, and in a window that has room
for it the row under the cursor in full. A subclass says what stands there:

    class StopsScreen(ListedScreen[Stop]):
        LIST = "stops"

        def __init__(self) -> None:
            super().__init__(ToldRows(key, cells))

        def heading(self, width: int) -> Sequence[Line]: ...
        def columns(self) -> tuple[Column, ...]: ...
        def row_lines(self, row: Stop) -> Sequence[Line]: ...       # none: the row is told by its cells alone
        async def look(self) -> None: ...

`PagedScreen` is one whose rows come page by page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.present.columns import Column, Line
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.screens.watching import WatchingScreen, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table

if TYPE_CHECKING:
    from jobconsole.screens.shell import Handler

T = TypeVar("T")
LOW = 18
"""Below this many lines the row under the cursor is not told in full."""


def row_handlers(table: Callable[[], Table], last: Handler | None = None) -> Mapping[str, Handler]:
    """The commands that move through the rows of a table; `last` where more is done than to go to the last one."""
    return {
        "row.next": lambda: table().action_move(1),
        "row.previous": lambda: table().action_move(-1),
        "row.first": lambda: table().action_jump(0),
        "row.last": last or (lambda: table().action_jump(-1)),
    }


class ListedScreen(WatchingScreen, Generic[T]):
    """A place that is one list."""

    LIST: ClassVar[str] = ""
    """The id of its table."""
    EMPTY: ClassVar[str] = ""
    """What is said where there is no row."""
    OPENS: ClassVar[str] = ""
    """The command that enter runs; empty: none."""
    INDENT: ClassVar[int] = 2
    """Cells by which lines of the row in full that go on are indented."""
    AUTO_FOCUS = "Table"
    DEFAULT_CSS = """
    ListedScreen #title { height: 1; padding: 0 1; }
    ListedScreen #said { display: none; padding: 0 1; margin-bottom: 1; }
    ListedScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 8; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one(Table)
    row = query_one("#row", Lines)

    def __init__(self, rows: ToldRows[T]) -> None:
        super().__init__()
        self.rows = rows
        self.wanted: str | None = None
        """The row on which the cursor is to stand once it is read."""

    def heading(self, width: int) -> Sequence[Line]:
        """The title, in so many cells."""
        raise NotImplementedError

    def columns(self) -> tuple[Column, ...]:
        """The columns of the list."""
        raise NotImplementedError

    def words(self) -> Sequence[Line]:
        """What is to be said in words before the list: a failure, that it is being read, that there is nothing."""
        return self.said_lines(self.EMPTY, rows=len(self.rows))

    def row_lines(self, row: T) -> Sequence[Line]:  # noqa: ARG002  for subclasses
        """Everything of the row under the cursor."""
        return ()

    def compose_body(self) -> ComposeResult:
        """Title, what is said in words, list, the row under the cursor."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id=self.LIST)
            yield Lines(id="row", indent=self.INDENT)

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Moving through the rows."""
        return row_handlers(lambda: self.table)

    def selected(self) -> T | None:
        """What the row under the cursor is about."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows title, list and row for what is known now."""
        if not self.there():
            return
        self.title_line.show(self.heading(max(20, self.size.width - 2)))
        words = self.words()
        self.said.display = bool(words)
        self.said.show(words)
        self.table.display = len(self.rows) > 0
        self.table.show(self.rows, self.columns(), self.rows.needs())
        if self.wanted is not None and self.table.move_to(self.wanted):
            self.wanted = None
        if self.table.display and self.focused is None:
            self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_row(self) -> None:
        """Shows everything of the row under the cursor, where there is room."""
        row = self.selected()
        lines = self.row_lines(row) if row is not None and self.size.height >= LOW else ()
        self.row.display = bool(lines)
        self.row.show(lines)

    def count_down(self) -> None:
        """Ages and times of what is in sight."""
        repaint(self.table, self.rows)

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()
            self.situation_changed()

    @on(Table.Opened)
    def _opened(self) -> None:
        if self.OPENS:
            self.run_command(self.OPENS)


class PagedScreen(ListedScreen[T], Generic[T]):
    """A place that is one list, read page by page as far as it is in sight."""

    MORE: ClassVar[str] = "Reading more"
    """What it does while it reads on, for sentences."""
    AHEAD: ClassVar[int] = 20
    """Rows that are read beyond those in sight."""

    def __init__(self, rows: ToldRows[T]) -> None:
        super().__init__(rows)
        self.paged = Paged(rows, self.page)

    async def page(self, cursor: str | None) -> Page[T]:
        """The page that a cursor leads to; None: the first."""
        raise NotImplementedError

    def handlers(self) -> Mapping[str, Handler]:
        """Moving through the rows; the last one may have to be read first."""
        return row_handlers(lambda: self.table, self.go_to_last)

    async def look(self) -> None:
        """Asks for the rows as far as they are in sight."""
        end = max(self.table.window[1], self.table.cursor + 1) if self.there() else 0
        await self.paged.again(end + self.AHEAD)

    def least_pause(self) -> float:
        """The deeper in the list, the more pages are read."""
        return super().least_pause() * max(1, self.paged.pages)

    async def go_to_last(self) -> None:
        """Reads what is left, and goes to the last row."""
        while self.paged.next is not None:
            await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    def begin(self) -> None:
        """Another list is wanted: what is shown is gone, and it is read from its beginning."""
        self.paged.begin((), None)
        self.told_at = None
        self.show_all()

    async def _read_on(self) -> None:
        await self.paged.more()
        self.show_all()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + self.AHEAD >= len(self.rows):
            self.work(self._read_on(), doing=self.MORE, group="more", exclusive=True)
