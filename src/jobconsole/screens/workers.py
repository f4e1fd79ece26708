"""Owns the place that lists the Worker processes: how each is doing, since when, when it was last heard, how much it holds
here. No hint tells of a beat: it looks by itself every few seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import workers as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.workers import (
    EMPTY,
    drained_words,
    none_live_words,
    silent_words,
    workers_cells,
    workers_columns,
    workers_title,
)
from jobconsole.screens.shell import Handler
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import ToldRows
from jobconsole.screens.watching import WatchingScreen, repaint
from jobconsole.screens.worker_acts import drain, undrain, worker_facts
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.workers import Worker


class WorkersScreen(WatchingScreen):
    """Worker processes."""

    PLACE = "workers"
    TITLE_WORDS = "Workers"
    READING = "Reading the Workers"
    EXPLANATION = (
        "The Worker processes that run schedules and apply plans, and those that stopped within the last day. ● live, ‖ "
        "draining: takes nothing new and ends what it has, ✗ silent: was not heard of although it should have been, – "
        "stopped. Who had one drained and why stands above the list. Each start of a process is a Worker of its own; its host is a name for people. What it processes is "
        "counted in this tenant alone. What a lost Worker held is taken over once its leases run out."
    )
    AUTO_FOCUS = "#workers"
    DEFAULT_CSS = """
    WorkersScreen #title { height: 1; padding: 0 1; }
    WorkersScreen #said { display: none; padding: 0 1; margin-bottom: 1; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#workers", Table)

    def __init__(self) -> None:
        super().__init__()
        self.rows: ToldRows[Worker] = ToldRows(
            lambda each: each.incarnation, lambda each, _: workers_cells(each, self.at())
        )
        self.wanted: str | None = None
        """The Worker to which the cursor goes once it is read."""

    def compose_body(self) -> ComposeResult:
        """Title, what needs a look, list."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="workers")

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Draining, and moving in the list."""
        return {
            "worker.drain": self.drain,
            "worker.undrain": self.undrain,
            "timeline.open": lambda: open_timeline(self),
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": lambda: self.table.action_jump(-1),
        }

    def situation(self) -> Situation:
        """The Worker under the cursor."""
        return replace(super().situation(), worker=worker_facts(self.selected()))

    def selected(self) -> Worker | None:
        """The Worker under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    async def drain(self) -> None:
        """Asks for a reason, then has the Worker under the cursor take nothing new."""
        if (selected := self.selected()) is not None:
            self._put(await drain(self, selected))

    async def undrain(self) -> None:
        """Asks for a reason, then lets the Worker under the cursor take work again."""
        if (selected := self.selected()) is not None:
            self._put(await undrain(self, selected))

    def _put(self, told: Worker | None) -> None:
        if told is not None:
            self.rows.put(told)
            self.show_all()
        self.look_again()

    def copyable(self) -> str | None:
        """The incarnation of the Worker under the cursor."""
        return self.table.cursor_key

    async def look(self) -> None:
        """Asks for the Workers."""
        self.rows.show((await client.workers(self.shell.service)).workers)

    def restless(self) -> bool:
        """Beats come without a hint."""
        return True

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#workers"))

    def show_all(self) -> None:
        """Shows title and list for what is known now."""
        if not self.there():
            return
        rows = self.rows
        self.title_line.show([workers_title(rows.rows if self.told_at is not None or len(rows) else None)])
        said = self._said()
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = len(rows) > 0
        self.table.show(rows, workers_columns(), rows.needs())
        if self.wanted is not None and self.table.move_to(self.wanted):
            self.wanted = None
        if self.table.display and self.focused is None:
            self.table.focus()
        self.situation_changed()

    def count_down(self) -> None:
        """Ages of what is in sight."""
        repaint(self.table, self.rows)

    def _said(self) -> list[Line]:
        rows = self.rows.rows
        warnings = [none_live_words(rows), *(silent_words(each, self.at()) for each in rows)]
        told: list[Line] = [(Piece(f"✗ {words}", Tone.BAD),) for words in warnings if words]
        drained = [drained_words(each, self.at()) for each in rows]
        told += [(Piece(words, Tone.WARN),) for words in drained if words]
        return [*self.said_lines(EMPTY, rows=len(self.rows)), *told[:4]]

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        self.situation_changed()
