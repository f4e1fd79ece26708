"""Owns the timeline of an incident: it asks for a stretch of time, then lists what happened in it, the earliest first, page
by page; and writes all of it as Markdown for a report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jobconsole.client import timeline as client
from jobconsole.exports import ExportError, write_new
from jobconsole.present.columns import Column, Line, Piece, Tone
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
from jobconsole.screens.listed import PagedScreen
from jobconsole.screens.place import PlaceScreen
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page, ToldRows

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.timeline import TimelineEntry

EXPORT_MOST = 20_000
"""Most entries of one report."""


class TimelineScreen(PagedScreen[tuple[int, "TimelineEntry"]]):
    """What happened in a stretch of time."""

    PLACE = "timeline"
    TITLE_WORDS = "Timeline"
    READING = "Reading the timeline"
    MORE = "Reading more of the timeline"
    LIST = "happened"
    AHEAD = 30
    DEFAULT_CSS = "TimelineScreen #row { max-height: 6; }"
    EXPLANATION = (
        "What happened in a stretch of time, over all nouns: acts and refusals with their reasons, runs that were late, "
        "failed, became dead letters or came good, instants that were left out, leases lost and late writes refused, "
        "schedules parked, disabled, enabled, Workers, stops, alarms, plans, recoveries. The earliest stands first. / asks "
        "for another stretch, v goes through the kinds, x writes all of it as Markdown."
    )

    def __init__(self, stretch: Stretch | None = None) -> None:
        """`stretch` None: it asks for one."""
        super().__init__(ToldRows(lambda each: str(each[0]), lambda each, _: self._cells(each[1])))
        self.stretch = stretch
        self._count = 0

    def on_mount(self) -> None:
        """Opens the form over an empty timeline."""
        if self.stretch is None:
            self.run_command("timeline.stretch")

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "timeline.stretch": self.ask,
            "timeline.kind": self.next_kind,
            "timeline.export": self.export,
            **super().handlers(),
        }

    def copyable(self) -> str | None:
        """The entry under the cursor, in one line."""
        entry = self.entry_here()
        return None if entry is None else f"{entry.at.isoformat()} {entry.kind} {entry.subject}: {entry.sentence}"

    # Looking

    async def look(self) -> None:
        """Asks for the timeline as far as it is in sight."""
        if self.stretch is not None:
            await super().look()

    def concerned(self, hint: Hint) -> bool:  # noqa: ARG002  the protocol's
        """The past does not change; r reads it again."""
        return False

    async def page(self, cursor: str | None) -> Page[tuple[int, TimelineEntry]]:
        """Entries, numbered as they stand."""
        stretch = self.stretch
        assert stretch is not None  # noqa: S101  nothing is asked for without one
        if cursor is None:
            self._count = 0
        page = await client.timeline(self.shell.service, stretch.since, stretch.until, stretch.kinds, cursor)
        first, self._count = self._count, self._count + len(page.entries)
        return list(enumerate(page.entries, first)), page.next

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
            self.say(self._unasked(), error=True)
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
        self.begin()
        self.look_again()

    # What is shown

    def entry_here(self) -> TimelineEntry | None:
        """The entry under the cursor."""
        selected = self.selected()
        return None if selected is None else selected[1]

    def count_down(self) -> None:
        """Nothing of the past grows older."""

    def heading(self, width: int) -> Sequence[Line]:
        """Which stretch of time, how much happened in it."""
        if self.stretch is None:
            return [(Piece("Timeline", Tone.STRONG),)]
        more = self.paged.next is not None
        return [timeline_title(self.stretch, len(self.rows), more=more, at=self.at(), width=width)]

    def words(self) -> Sequence[Line]:
        """That no stretch was chosen yet, or that nothing happened in it."""
        if self.stretch is None:
            return [(Piece(self._unasked(), Tone.QUIET),)]
        key = key_words(self, "timeline.stretch")["timeline.stretch"]
        empty = f"Nothing happened then that is told of. {key} asks for another stretch or other kinds."
        return self.said_lines(empty, rows=len(self.rows))

    def _unasked(self) -> str:
        return f"No stretch of time was chosen: {key_words(self, 'timeline.stretch')['timeline.stretch']} asks for one."

    def columns(self) -> tuple[Column, ...]:
        """The columns of a timeline."""
        return timeline_columns()

    def row_lines(self, row: tuple[int, TimelineEntry]) -> Sequence[Line]:
        """Everything of an entry."""
        return timeline_lines(row[1], self.at())

    def _cells(self, entry: TimelineEntry) -> Mapping[str, Piece]:
        at = self.at()
        return timeline_cells(entry, at, days=self.stretch is not None and several_days(self.stretch, at.zone))


def open_timeline(screen: PlaceScreen) -> None:
    """Opens the timeline over a place; it asks for the stretch."""
    screen.app.push_screen(TimelineScreen())
