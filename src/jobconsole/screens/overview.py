"""Owns the place that shows what needs somebody now, over all nouns, in one answer: each line leads to its place. It looks
again at hints, and slowly by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one

from jobconsole.client import overview as client
from jobconsole.commands.situation import SelectedAlarm, Situation
from jobconsole.places import PLACES as ALL_PLACES
from jobconsole.present.columns import Line, Piece
from jobconsole.present.overview import (
    WIDE,
    Goal,
    Lead,
    Part,
    calm_lines,
    leads_cells,
    leads_columns,
    leads_of,
    overview_title,
    trend_lines,
)
from jobconsole.screens.alarms_acting import acknowledge
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.overview_going import go_to
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_making import making_handlers
from jobconsole.screens.shell import Handler
from jobconsole.screens.stops_acting import stop_tenant
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import ToldRows
from jobconsole.screens.watching import WatchingScreen, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.parts_table import PartsTable
from jobconsole.widgets.table import Table

if TYPE_CHECKING:
    from jobcontract.alarms import Alarm
    from jobcontract.events import Hint
    from jobcontract.overview import Overview

PAUSE_SECONDS = 2.0
"""Between two looks, however fast hints come: hints of items may be many."""
SPACED = 30
"""From this many lines on a blank one stands between the parts."""
LOW = 18
"""Below this many lines the last day is left out."""


class OverviewScreen(WatchingScreen):
    """What needs somebody."""

    PLACE = "overview"
    TITLE_WORDS = "Overview"
    READING = "Reading the overview"
    EVERY = 15
    EXPLANATION = (
        "Everything that needs somebody now, the most urgent first: ■ stopped, alarms that nobody looks after, schedules that "
        "are parked or late, dead letters, payouts that nobody knows the outcome of, Workers that are silent. Then the "
        "queues by their oldest item, and what runs. Enter goes to the place of a line; its key stands at the right. Below, "
        "the last 24 hours, one sign an hour, the present one at the right. What your role may not read is left out."
    )
    AUTO_FOCUS = "#leads"
    DEFAULT_CSS = """
    OverviewScreen #title { height: 1; padding: 0 1; }
    OverviewScreen #said { display: none; padding: 0 1; }
    OverviewScreen #trend { height: auto; padding: 0 1; border-top: solid $foreground 25%;
        border-title-color: $foreground; border-title-style: none; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#leads", PartsTable)
    trend = query_one("#trend", Lines)

    def __init__(self) -> None:
        super().__init__()
        self.overview: Overview | None = None
        self.rows: ToldRows[Lead] = ToldRows(lambda each: each.key, self._cells)
        self._keys = {place.id: place.key for place in ALL_PLACES}

    def compose_body(self) -> ComposeResult:
        """Title, what is said in words, lines, the last day."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield PartsTable(id="leads")
            yield Lines(id="trend", clipped=True)

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks by itself."""
        self.trend.border_title = Content(" last 24 hours, now at the right ")
        self.show_all()

    def on_resize(self) -> None:
        """Another size has other columns, and room for other parts."""
        self.call_after_refresh(self.show_all)

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the overview."""
        return {
            "overview.open": self.open,
            "alarm.acknowledge": self.acknowledge,
            "stop.work": partial(stop_tenant, self),
            **making_handlers(self),
            "timeline.open": lambda: open_timeline(self),
            **row_handlers(lambda: self.table),
        }

    def situation(self) -> Situation:
        """The line under the cursor."""
        facts, lead, alarm = super().situation(), self.selected(), self.selected_alarm()
        over = SelectedAlarm(over=alarm.cleared_at is not None) if alarm is not None else None
        return replace(facts, line=lead is not None, alarm=over)

    def copyable(self) -> str | None:
        """What the line under the cursor says."""
        lead = self.selected()
        return lead.texts[0] if lead is not None else None

    # Looking

    async def look(self) -> None:
        """Asks for everything in one call."""
        self.overview = await client.overview(self.shell.service)

    def concerned(self, hint: Hint) -> bool:  # noqa: ARG002  the base's form
        """Every noun is on it."""
        return True

    def restless(self) -> bool:
        """Ages grow and Workers fall silent without a hint."""
        return True

    def least_pause(self) -> float:
        """Longer than elsewhere: every hint is about something of it."""
        return PAUSE_SECONDS

    # Commands

    async def open(self) -> None:
        """Goes to the place of the line under the cursor."""
        if (lead := self.selected()) is not None:
            await go_to(self, lead)

    async def acknowledge(self) -> None:
        """Asks for a note, then says that the alarm under the cursor is looked after."""
        if (alarm := self.selected_alarm()) is not None and await acknowledge(self, alarm) is not None:
            self.look_again()

    # What is shown

    def selected(self) -> Lead | None:
        """The line under the cursor, where it leads somewhere."""
        lead = self.rows.find(self.table.cursor_key) if self.there() else None
        return lead if lead is not None and lead.goal is not None else None

    def selected_alarm(self) -> Alarm | None:
        """The alarm under the cursor."""
        lead = self.selected()
        if lead is None or lead.goal is not Goal.ALARM or self.overview is None:
            return None
        return next((each for each in self.overview.alarms if each.id == lead.id), None)

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#trend"))

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        overview, width = self.overview, max(20, self.size.width - 2)
        self._keys["stops"] = key_words(self, "stop.list")["stop.list"]
        self.title_line.show([overview_title(overview, width)])
        leads = leads_of(overview, self.at(), spaced=self.size.height >= SPACED) if overview is not None else []
        self.rows.show(leads)
        said = self._said(leads)
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = bool(leads)
        self.table.show(
            self.rows, leads_columns(leads[0] if leads else None, wide=self.size.width >= WIDE), self.rows.needs()
        )
        if self.table.display and self.focused is None:
            self.table.focus()
        trend = trend_lines(overview, width) if overview is not None and self.size.height >= LOW else []
        self.trend.display = bool(trend)
        self.trend.show(trend)
        self.situation_changed()

    def count_down(self) -> None:
        """Ages of what is in sight."""
        overview = self.overview
        if overview is not None:
            self.rows.show(leads_of(overview, self.at(), spaced=self.size.height >= SPACED))
            repaint(self.table, self.rows)

    def _said(self, leads: list[Lead]) -> list[Line]:
        if self.overview is None or self.failure:
            return self.said_lines("", rows=len(leads))
        calm = not any(lead.part is Part.NEEDS for lead in leads)
        return [*calm_lines(self.overview), (Piece(""),)] if calm else []

    def _cells(self, lead: Lead, widths: Mapping[str, int]) -> Mapping[str, Piece]:
        return leads_cells(lead, self._keys, widths, wide=self.size.width >= WIDE)

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        self.situation_changed()

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("overview.open")
