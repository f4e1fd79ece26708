"""Owns the screen of the occurrences of one schedule: the latest scheduled first, page by page, all or those in one state.
It looks again when a hint names the schedule; a row stays where it is by its occurrence's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import occurrences as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Column, Piece
from jobconsole.present.occurrences import (
    FILTERS,
    empty_words,
    occurrences_cells,
    occurrences_columns,
    occurrences_title,
    row_lines,
)
from jobconsole.screens.occurrence import OccurrenceScreen, open_named
from jobconsole.screens.occurrence_acts import discard, replay
from jobconsole.screens.occurrence_cancel import cancel, end_cancelling, selected_facts
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_making import making_handlers, mark_handlers
from jobconsole.screens.runbook import open_runbook
from jobconsole.screens.shell import Handler
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.screens.watching import PAUSE_SECONDS, WatchingScreen, repaint
from jobconsole.screens.why import why_occurrence
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.occurrences import Occurrence
    from jobcontract.schedules import Schedule

LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
AHEAD = 20
"""Rows that are read beyond those in sight."""


class OccurrencesScreen(WatchingScreen):
    """Occurrences of one schedule."""

    PLACE = "occurrences"
    TITLE_WORDS = "Occurrences"
    READING = "Reading the occurrences"
    EXPLANATION = (
        "Every time at which the schedule was to run, the latest first, each in exactly one of four states: ○ scheduled, also "
        "while it waits for its next attempt; ◆ processing; ✓ completed; ✗ dead letter, which no machine tries again. Next "
        "to it stands how many attempts it took of those it may have, and how its items ended. Times are UTC: they are the "
        "occurrence's name."
    )
    AUTO_FOCUS = "#occurrences"
    DEFAULT_CSS = """
    OccurrencesScreen #title { height: 2; padding: 0 1; }
    OccurrencesScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 5; }
    OccurrencesScreen #said { display: none; padding: 0 1; margin-bottom: 1; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#occurrences", Table)
    row = query_one("#row", Lines)

    def __init__(self, schedule: str, known: Schedule | None = None) -> None:
        """`known`: the schedule as the list had it."""
        super().__init__()
        self.schedule = schedule
        self.money = known is not None and known.moves is Moves.MONEY
        self.cancelled: str | None = None
        """Which was asked last to be cancelled."""
        self.shown = 0
        """Which of `FILTERS` is in force."""
        self.rows: ToldRows[Occurrence] = ToldRows(lambda each: each.id, lambda each, _: self.cells(each))
        self.paged: Paged[Occurrence] = Paged(self.rows, self._page)

    def compose_body(self) -> ComposeResult:
        """Title and list."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="occurrences")
            yield Lines(id="row")

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "occurrence.open": self.open,
            "occurrence.states": self.next_states,
            "occurrence.cancel": self.cancel,
            "occurrence.replay": self.replay,
            "occurrence.discard": self.discard,
            "runbook.show": lambda: open_runbook(self, self.schedule),
            "why.show": lambda: why_occurrence(self, self.selected(), self.schedule),
            **making_handlers(self, schedules=lambda: (self.schedule,), occurrences=self.marked),
            **mark_handlers(lambda: self.table, self.situation_changed),
            "timeline.open": lambda: open_timeline(self),
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": self.go_to_last,
        }

    def situation(self) -> Situation:
        """The occurrence under the cursor."""
        facts, marked = super().situation(), len(self.table.marks) if self.there() else 0
        occurrence = selected_facts(self.selected(), money=self.money)
        return replace(facts, schedule=self.schedule, occurrence=occurrence, marked=marked)

    def marked(self) -> tuple[str, ...]:
        """The marked occurrences, by id."""
        return tuple(each.id for each in self.rows.rows if each.id in self.table.marks)

    def copyable(self) -> str | None:
        """The name of the occurrence under the cursor."""
        selected = self.selected()
        return selected.name if selected is not None else self.schedule

    def go_to_name(self, word: str) -> bool:
        """Opens the occurrence that is named `schedule@instant`, of whichever schedule."""
        return open_named(self, word)

    # Looking

    async def look(self) -> None:
        """Asks for the occurrences as far as they are in sight."""
        end = max(self.table.window[1], self.table.cursor + 1) if self.there() else 0
        await self.paged.again(end + AHEAD)

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about the schedule."""
        return hint.topic is Topic.SCHEDULES or (hint.topic is Topic.SCHEDULE and hint.id == self.schedule)

    def restless(self) -> bool:
        """Leases are renewed without a hint."""
        return any(each.lease is not None for each in self.rows.rows)

    def least_pause(self) -> float:
        """The deeper in the list, the more pages are read."""
        return PAUSE_SECONDS * max(1, self.paged.pages)

    async def _page(self, cursor: str | None) -> Page[Occurrence]:
        states = FILTERS[self.shown][1]
        page = await client.occurrences(self.shell.service, self.schedule, states, cursor=cursor)
        return page.occurrences, page.next

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    # Commands

    def open(self) -> None:
        """Shows everything of the occurrence under the cursor."""
        if (selected := self.selected()) is not None:
            self.app.push_screen(OccurrenceScreen(selected.id, selected, money=self.money))

    def next_states(self) -> None:
        """Shows those in the next state."""
        self.shown = (self.shown + 1) % len(FILTERS)
        self.rows.show(())
        self.told_at, self.paged.next = None, None
        self.show_all()
        self.refresh_all()

    async def cancel(self) -> None:
        """Asks for a reason, then cancels the occurrence under the cursor."""
        selected = self.selected()
        if selected is not None and (told := await cancel(self, selected)) is not None:
            self.cancelled = told.id
            self._put(told)
        self.look_again()

    async def replay(self) -> None:
        """Asks for a reason, then has the occurrence under the cursor run again."""
        if (selected := self.selected()) is not None:
            self._put(await replay(self, selected))
            self.look_again()

    async def discard(self) -> None:
        """Asks for a reason, then puts the dead letter under the cursor away."""
        if (selected := self.selected()) is not None:
            self._put(await discard(self, selected))
            self.look_again()

    def _put(self, told: Occurrence | None) -> None:
        if told is not None:
            self.rows.put(told)
            self.show_all()

    async def go_to_last(self) -> None:
        """Reads what is left, and goes to the last row."""
        while self.paged.next is not None:
            await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    # What is shown

    def columns(self) -> tuple[Column, ...]:
        """The columns of the list."""
        return occurrences_columns()

    def cells(self, occurrence: Occurrence) -> Mapping[str, Piece]:
        """The cells of one row."""
        return occurrences_cells(occurrence, self.at())

    def selected(self) -> Occurrence | None:
        """The occurrence under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows title and list for what is known now."""
        if not self.there():
            return
        rows = self.rows
        more, key = self.paged.next is not None, key_words(self, "occurrence.states")["occurrence.states"]
        self.title_line.show(occurrences_title(self.schedule, self.shown, len(rows), more=more, key=key))
        said = self.said_lines(empty_words(self.schedule, self.shown, key), rows=len(rows))
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = len(rows) > 0
        self.table.show(rows, self.columns(), rows.needs())
        if self.table.display and self.focused is None:
            self.table.focus()
        end_cancelling(self, self.rows.find(self.cancelled))
        self.show_row()
        self.situation_changed()

    def show_row(self) -> None:
        """Shows what is to know of the occurrence under the cursor."""
        selected = self.selected()
        self.row.display = selected is not None and self.size.height >= LOW
        self.row.show(row_lines(selected, self.at()) if selected is not None else [])

    def count_down(self) -> None:
        """Counts down what is in sight."""
        repaint(self.table, self.rows)
        self.show_row()

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()
            self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + AHEAD >= len(self.rows):
            self.work(self._more(), doing="Reading more occurrences", group="more", exclusive=True)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("occurrence.open")
