"""Owns the screen that lists the stops in force: what is held still, by whom, since when and why; lifting one. It looks
again when a hint says that stops changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import stops as client
from jobconsole.commands.situation import SelectedStop, Situation
from jobconsole.present.stops import EMPTY, stop_lines, stops_cells, stops_columns, stops_title
from jobconsole.screens.shell import Handler
from jobconsole.screens.stops_acting import lift_stop, stop_tenant
from jobconsole.screens.told_rows import ToldRows
from jobconsole.screens.watching import WatchingScreen, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.stops import Stop, StopsChanged

LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
MONEY_TOO = "The switch of money is another one: the line at the top says so while it is thrown."


class StopsScreen(WatchingScreen):
    """Stops of the tenant."""

    PLACE = "stops"
    TITLE_WORDS = "Stops"
    READING = "Reading the stops"
    EXPLANATION = (
        "What is held still, the latest first: a queue, a command over many items, or all work of the tenant. Everybody sees "
        "it, whoever may lift it. A stop of all work stops money as well, which is started by itself and with a code. "
        f"{MONEY_TOO}"
    )
    AUTO_FOCUS = "#stops"
    DEFAULT_CSS = """
    StopsScreen #title { height: 1; padding: 0 1; }
    StopsScreen #said { display: none; padding: 0 1; margin-bottom: 1; }
    StopsScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 8; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#stops", Table)
    row = query_one("#row", Lines)

    def __init__(self) -> None:
        super().__init__()
        self.wanted: str | None = None
        """The stop on which the cursor is to stand once it is read."""
        self.rows: ToldRows[Stop] = ToldRows(_key, lambda each, _: stops_cells(each, self.at()))

    def compose_body(self) -> ComposeResult:
        """Title, list, the row under the cursor."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="stops")
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "stop.work": self.stop,
            "stop.lift": self.lift,
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": lambda: self.table.action_jump(-1),
        }

    def situation(self) -> Situation:
        """The stop under the cursor."""
        stop = self.selected()
        selected = SelectedStop(by_code=stop.lifted_by_code, mine=stop.by.id == self.seen().me) if stop else None
        return replace(super().situation(), stop=selected)

    def copyable(self) -> str | None:
        """What the stop under the cursor says."""
        stop = self.selected()
        return f"{stop.scope} {stop.name}: {stop.reason}" if stop is not None else None

    async def look(self) -> None:
        """Asks for the stops."""
        self.rows.show((await client.stops(self.shell.service)).stops)

    def concerned(self, hint: Hint) -> bool:
        """Whether stops changed."""
        return hint.topic is Topic.STOPS

    async def stop(self) -> None:
        """Asks for a reason, then stops all work of the tenant."""
        self._took(await stop_tenant(self))

    async def lift(self) -> None:
        """Asks for what it takes, then lets what is under the cursor go on."""
        if (stop := self.selected()) is not None:
            self._took(await lift_stop(self, stop))

    def selected(self) -> Stop | None:
        """The stop under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows title, list and row for what is known now."""
        if not self.there():
            return
        rows = self.rows
        self.title_line.show([stops_title(rows.rows if self.told_at is not None or len(rows) else None)])
        said = self.said_lines(f"{EMPTY} {MONEY_TOO}", rows=len(rows))
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = len(rows) > 0
        self.table.show(rows, stops_columns(), rows.needs())
        if self.wanted is not None and self.table.move_to(self.wanted):
            self.wanted = None
        if self.table.display and self.focused is None:
            self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_row(self) -> None:
        """Shows everything of the stop under the cursor."""
        stop = self.selected()
        self.row.display = stop is not None and self.size.height >= LOW
        self.row.show(stop_lines(stop, self.at()) if stop is not None else [])

    def count_down(self) -> None:
        """Ages of what is in sight."""
        repaint(self.table, self.rows)

    def _took(self, answer: StopsChanged | None) -> None:
        if answer is not None:
            self.rows.show(answer.stops)
            self.show_all()
        self.look_again()

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()
            self.situation_changed()

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("stop.lift")


def _key(stop: Stop) -> str:
    return f"{stop.scope}:{stop.name}"
