"""Owns the place that lists alarms: what needs somebody, since when, who looks after it, whether others were told. It looks
again when a hint says that alarms changed; a row stays where it is by its alarm's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import alarms as client
from jobconsole.commands.situation import SelectedAlarm, Situation
from jobconsole.present.alarms import EMPTY, alarm_lines, alarms_cells, alarms_columns, alarms_title
from jobconsole.screens.alarms_acting import acknowledge
from jobconsole.screens.overview_going import open_subject
from jobconsole.screens.shell import Handler
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.screens.watching import PAUSE_SECONDS, WatchingScreen, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.alarms import Alarm, Alarms
    from jobcontract.events import Hint

WIDE = 100
"""From this width on the list also says whether others were told."""
LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
AHEAD = 20
"""Rows that are read beyond those in sight."""


class AlarmsScreen(WatchingScreen):
    """Alarms of the tenant."""

    PLACE = "alarms"
    TITLE_WORDS = "Alarms"
    READING = "Reading the alarms"
    EXPLANATION = (
        "What needs somebody: ■ a stop in force, ✗ no Worker, a schedule that is parked or has dead letters, ▲ late, or far "
        "more failures than as a rule (spike), △ missed, ◔ dead letters that are removed within a day. Open ones stand first, "
        "the most urgent first; ✓ what is over, the latest first. Acknowledging says who looks after it and how; an alarm "
        "ends by itself once what it tells of is over. told: whether others heard of it by webhook."
    )
    AUTO_FOCUS = "#alarms"
    DEFAULT_CSS = """
    AlarmsScreen #title { height: 1; padding: 0 1; }
    AlarmsScreen #said { display: none; padding: 0 1; margin-bottom: 1; }
    AlarmsScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 8; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#alarms", Table)
    row = query_one("#row", Lines)

    def __init__(self) -> None:
        super().__init__()
        self.wanted: str | None = None
        """The alarm on which the cursor is to stand once it is read."""
        self.head: Alarms | None = None
        self.rows: ToldRows[Alarm] = ToldRows(lambda each: each.id, lambda each, _: alarms_cells(each, self.at()))
        self.paged: Paged[Alarm] = Paged(self.rows, self._page)

    def compose_body(self) -> ComposeResult:
        """Title, list, the row under the cursor."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="alarms")
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
            "alarm.open": self.open,
            "alarm.acknowledge": self.acknowledge,
            "timeline.open": lambda: open_timeline(self),
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": self.go_to_last,
        }

    def situation(self) -> Situation:
        """The alarm under the cursor."""
        alarm = self.selected()
        selected = SelectedAlarm(over=alarm.cleared_at is not None) if alarm is not None else None
        return replace(super().situation(), alarm=selected)

    def copyable(self) -> str | None:
        """What the alarm under the cursor says."""
        alarm = self.selected()
        return f"{alarm.kind} {alarm.subject}: {alarm.sentence}" if alarm is not None else None

    # Looking

    async def look(self) -> None:
        """Asks for the alarms as far as they are in sight."""
        end = max(self.table.window[1], self.table.cursor + 1) if self.there() else 0
        await self.paged.again(end + AHEAD)

    def concerned(self, hint: Hint) -> bool:
        """Whether alarms changed."""
        return hint.topic is Topic.ALARMS

    def least_pause(self) -> float:
        """The deeper in the list, the more pages are read."""
        return PAUSE_SECONDS * max(1, self.paged.pages)

    async def _page(self, cursor: str | None) -> Page[Alarm]:
        self.head = page = await client.alarms(self.shell.service, cursor)
        return page.alarms, page.next

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    # Commands

    async def open(self) -> None:
        """Shows what the alarm under the cursor is about."""
        if (alarm := self.selected()) is not None:
            await open_subject(self, alarm)

    async def acknowledge(self) -> None:
        """Asks for a note, then says that it is looked after."""
        alarm = self.selected()
        if alarm is not None and (told := await acknowledge(self, alarm)) is not None:
            self.rows.put(told)
            self.show_all()
        self.look_again()

    async def go_to_last(self) -> None:
        """Reads what is left, and goes to the last row."""
        while self.paged.next is not None:
            await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    # What is shown

    def selected(self) -> Alarm | None:
        """The alarm under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows title, list and row for what is known now."""
        if not self.there():
            return
        rows = self.rows
        self.title_line.show([alarms_title(self.head, max(20, self.size.width - 2))])
        said = self.said_lines(EMPTY, rows=len(rows))
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = len(rows) > 0
        self.table.show(rows, alarms_columns(wide=self.size.width >= WIDE), rows.needs())
        if self.wanted is not None and self.table.move_to(self.wanted):
            self.wanted = None
        if self.table.display and self.focused is None:
            self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_row(self) -> None:
        """Shows everything of the alarm under the cursor."""
        alarm = self.selected()
        self.row.display = alarm is not None and self.size.height >= LOW
        self.row.show(alarm_lines(alarm, self.at()) if alarm is not None else [])

    def count_down(self) -> None:
        """Ages of what is in sight."""
        repaint(self.table, self.rows)

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()
            self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + AHEAD >= len(self.rows):
            self.work(self._more(), doing="Reading more alarms", group="more", exclusive=True)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("alarm.open")
