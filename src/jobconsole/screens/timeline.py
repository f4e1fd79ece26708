"""Owns the timeline of an incident: it asks for a stretch of time, then lists what happened in it, the earliest first, page
by page; and writes all of it as Markdown for a report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import timeline as client
from jobconsole.exports import ExportError, write_new
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.timeline import (
    FIELDS,
    Made,
    Stretch,
    file_stem,
    markdown,
    next_kinds,
    read_stretch,
    several_days,
    timeline_cells,
    timeline_columns,
    timeline_lines,
    timeline_title,
    typed_stretch,
    usual,
)
from jobconsole.screens.lines_form import LinesForm
from jobconsole.screens.place import PlaceScreen
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.screens.watching import WatchingScreen
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.timeline import TimelineEntry

LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
AHEAD = 30
"""Rows that are read beyond those in sight."""
UNASKED = "No stretch of time was chosen: / asks for one."
EMPTY = "Nothing happened then that is told of. / asks for another stretch or other kinds."
EXPORT_MOST = 20_000
"""Most entries of one report."""


class TimelineScreen(WatchingScreen):
    """What happened in a stretch of time."""

    PLACE = "timeline"
    TITLE_WORDS = "Timeline"
    READING = "Reading the timeline"
    EXPLANATION = (
        "What happened in a stretch of time, over all nouns: acts and refusals with their reasons, runs that were late, "
        "failed, became dead letters or came good, instants that were left out, leases lost and late writes refused, "
        "schedules parked, disabled, enabled, Workers, stops, alarms, plans, recoveries. The earliest stands first. / asks "
        "for another stretch, v goes through the kinds, x writes all of it as Markdown."
    )
    AUTO_FOCUS = "#happened"
    DEFAULT_CSS = """
    TimelineScreen #title { height: 1; padding: 0 1; }
    TimelineScreen #said { display: none; padding: 0 1; margin-bottom: 1; }
    TimelineScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 6; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#happened", Table)
    row = query_one("#row", Lines)

    def __init__(self, stretch: Stretch | None = None) -> None:
        """`stretch` None: it asks for one."""
        super().__init__()
        self.stretch = stretch
        self._count = 0
        self.rows: ToldRows[tuple[int, TimelineEntry]] = ToldRows(
            lambda each: str(each[0]), lambda each, _: self._cells(each[1])
        )
        self.paged: Paged[tuple[int, TimelineEntry]] = Paged(self.rows, self._page)

    def compose_body(self) -> ComposeResult:
        """Title, list, the entry under the cursor."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="happened")
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Opens the form over an empty timeline."""
        self.show_all()
        if self.stretch is None:
            self.run_command("timeline.stretch")

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "timeline.stretch": self.ask,
            "timeline.kind": self.next_kind,
            "timeline.export": self.export,
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": self.go_to_last,
        }

    def copyable(self) -> str | None:
        """The entry under the cursor, in one line."""
        entry = self.selected()
        return None if entry is None else f"{entry.at.isoformat()} {entry.kind} {entry.subject}: {entry.sentence}"

    # Looking

    async def look(self) -> None:
        """Asks for the timeline as far as it is in sight."""
        if self.stretch is not None:
            end = max(self.table.window[1], self.table.cursor + 1) if self.there() else 0
            await self.paged.again(end + AHEAD)

    def concerned(self, hint: Hint) -> bool:  # noqa: ARG002  the protocol's
        """The past does not change; r reads it again."""
        return False

    async def _page(self, cursor: str | None) -> Page[tuple[int, TimelineEntry]]:
        stretch = self.stretch
        assert stretch is not None  # noqa: S101  nothing is asked for without one
        if cursor is None:
            self._count = 0
        page = await client.timeline(self.shell.service, stretch.since, stretch.until, stretch.kinds, cursor)
        first, self._count = self._count, self._count + len(page.entries)
        return list(enumerate(page.entries, first)), page.next

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    # Commands

    async def ask(self) -> None:
        """Asks for a stretch of time."""
        typed = typed_stretch(self.stretch or usual(self.at()), self.at())
        form: LinesForm[Stretch] = LinesForm(
            "Timeline of an incident", FIELDS, typed, lambda given: read_stretch(given, self.at())
        )
        stretch = await self.app.push_screen_wait(form)
        if stretch is not None:
            self._begin(stretch)

    def next_kind(self) -> None:
        """Shows the next kind alone."""
        if (stretch := self.stretch) is not None:
            self._begin(Stretch(since=stretch.since, until=stretch.until, kinds=next_kinds(stretch.kinds)))

    async def export(self) -> None:
        """Writes the whole timeline to a new file, and sends it to the clipboard."""
        stretch = self.stretch
        if stretch is None:
            self.say(UNASKED, error=True)
            return
        entries: list[TimelineEntry] = []
        async for entry in client.every_entry(self.shell.service, stretch.since, stretch.until, stretch.kinds):
            entries.append(entry)
            if len(entries) > EXPORT_MOST:
                self.say(f"More than {EXPORT_MOST:,} entries: choose a shorter stretch or a kind.", error=True)
                return
        seen = self.seen()
        text = markdown(entries, stretch, Made(tenant=self.shell.tenant, person=seen.me, at=seen.now, zone=seen.zone))
        try:
            path = await asyncio.to_thread(write_new, Path.cwd(), file_stem(stretch), "md", text.encode())
        except ExportError as error:
            self.say(str(error), error=True)
            return
        self.app.copy_to_clipboard(text)
        self.say(f"Written: {path}. Sent to your terminal's clipboard, too.")

    async def go_to_last(self) -> None:
        """Reads on, and goes to the last row that was read."""
        await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    def _begin(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self.paged.begin((), None)
        self.told_at = None
        self.show_all()
        self.look_again()

    # What is shown

    def selected(self) -> TimelineEntry | None:
        """The entry under the cursor."""
        found = self.rows.find(self.table.cursor_key) if self.there() else None
        return None if found is None else found[1]

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows title, list and row for what is known now."""
        if not self.there():
            return
        rows, width, stretch = self.rows, max(20, self.size.width - 2), self.stretch
        if stretch is None:
            self.title_line.show([(Piece("Timeline", Tone.STRONG),)])
            said: list[Line] = [(Piece(UNASKED, Tone.QUIET),)]
        else:
            more = self.paged.next is not None
            self.title_line.show([timeline_title(stretch, len(rows), more=more, at=self.at(), width=width)])
            said = self.said_lines(EMPTY, rows=len(rows))
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = len(rows) > 0
        self.table.show(rows, timeline_columns(), rows.needs())
        if self.table.display and self.focused is None:
            self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_row(self) -> None:
        """Shows the entry under the cursor in full."""
        entry = self.selected()
        self.row.display = entry is not None and self.size.height >= LOW
        self.row.show(timeline_lines(entry, self.at()) if entry is not None else [])

    def _cells(self, entry: TimelineEntry) -> Mapping[str, Piece]:
        at = self.at()
        return timeline_cells(entry, at, days=self.stretch is not None and several_days(self.stretch, at.zone))

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + AHEAD >= len(self.rows):
            self.work(self._more(), doing="Reading more of the timeline", group="more", exclusive=True)


def open_timeline(screen: PlaceScreen) -> None:
    """Opens the timeline over a place; it asks for the stretch."""
    screen.app.push_screen(TimelineScreen())
