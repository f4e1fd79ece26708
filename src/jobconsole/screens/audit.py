"""Owns the place that lists the audit trail, newest first, under a filter: who did what to what, how it ended, why. It looks
again now and then: an entry has no hint of its own, and rows keep their places by their numbers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import audit as client
from jobconsole.commands.situation import Situation
from jobconsole.exports import ExportError, write_new
from jobconsole.present.audit import (
    ALL,
    EMPTY,
    FIELDS,
    AuditFilter,
    audit_cells,
    audit_columns,
    audit_title,
    entry_lines,
    nothing_like_it,
    read_filter,
    typed_filter,
)
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.screens.audit_entry import AuditEntryScreen
from jobconsole.screens.lines_form import LinesForm
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.screens.watching import PAUSE_SECONDS, WatchingScreen, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.permissions import Permission, missing

if TYPE_CHECKING:
    from jobcontract.audit import AuditEntry

LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
AHEAD = 30
"""Rows that are read beyond those in sight."""


class AuditScreen(WatchingScreen):
    """The audit trail of the tenant."""

    PLACE = "audit"
    TITLE_WORDS = "Audit trail"
    READING = "Reading the audit trail"
    EXPLANATION = (
        "Everything that was changed here, and every act that was refused: when, who, what, to what, how it ended, and the "
        "reason that was given. Looking is not in it. / asks for a time, a person, an action and so on; enter shows one "
        "entry with before and after, and how it is sealed; x writes what is shown to a CSV file, which is an entry itself."
    )
    AUTO_FOCUS = "#entries"
    DEFAULT_CSS = """
    AuditScreen #title { height: 1; padding: 0 1; }
    AuditScreen #said { display: none; padding: 0 1; margin-bottom: 1; }
    AuditScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 6; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#entries", Table)
    row = query_one("#row", Lines)

    def __init__(self, asked: AuditFilter = ALL) -> None:
        super().__init__()
        self.asked = asked
        self.rows: ToldRows[AuditEntry] = ToldRows(
            lambda each: str(each.id), lambda each, _: audit_cells(each, self.at())
        )
        self.paged: Paged[AuditEntry] = Paged(self.rows, self._page)
        self.looked_to: datetime | None = None
        """How far a search looked that ended before it had a page."""

    def compose_body(self) -> ComposeResult:
        """Title, list, the entry under the cursor."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="entries")
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
            "audit.open": self.open,
            "audit.filter": self.ask,
            "audit.export": self.export,
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": self.go_to_last,
        }

    def situation(self) -> Situation:
        """Whether an entry is under the cursor."""
        return replace(super().situation(), entry=self.selected() is not None)

    def copyable(self) -> str | None:
        """The number of the entry under the cursor."""
        return self.table.cursor_key

    def go_back(self) -> bool:
        """Takes the filter away first."""
        if self.asked == ALL:
            return False
        self._begin(ALL)
        return True

    # Looking

    async def look(self) -> None:
        """Asks for the trail as far as it is in sight; nothing where the person may not read it."""
        if not self._may():
            return
        end = max(self.table.window[1], self.table.cursor + 1) if self.there() else 0
        await self.paged.again(end + AHEAD)

    def restless(self) -> bool:
        """Entries come without a hint; whoever reads further down is not disturbed."""
        return self._may() and self.there() and self.table.window[0] == 0

    def least_pause(self) -> float:
        """The deeper in the list, the more pages are read."""
        return PAUSE_SECONDS * max(1, self.paged.pages)

    async def _page(self, cursor: str | None) -> Page[AuditEntry]:
        page = await client.audit(self.shell.service, asked=self._query(), cursor=cursor)
        self.looked_to = page.looked_to
        return page.entries, page.next

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    def _query(self) -> client.Asked:
        return client.Asked(**asdict(self.asked))

    def _may(self) -> bool:
        return Permission.AUDIT_READ in super().situation().permissions

    # Commands

    def open(self) -> None:
        """Shows the entry under the cursor whole."""
        if (entry := self.selected()) is not None:
            self.app.push_screen(AuditEntryScreen(entry))

    async def ask(self) -> None:
        """Asks what is to be shown."""
        typed = typed_filter(self.asked, self.at())
        form: LinesForm[AuditFilter] = LinesForm(
            "Filter the audit trail", FIELDS, typed, lambda given: read_filter(given, self.at())
        )
        asked = await self.app.push_screen_wait(form)
        if asked is not None and asked != self.asked:
            self._begin(asked)

    async def export(self) -> None:
        """Writes what the filter shows to a new file."""
        content = await client.export(self.shell.service, asked=self._query())
        try:
            path = await asyncio.to_thread(write_new, Path.cwd(), f"audit-{self.shell.tenant}", "csv", content)
        except ExportError as error:
            self.say(str(error), error=True)
            return
        self.say(f"Written: {path}")
        self.look_again()

    async def go_to_last(self) -> None:
        """Goes to the last row that was read, then reads on: a trail is too long to be read to its end at a key."""
        await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    def _begin(self, asked: AuditFilter) -> None:
        self.asked = asked
        self.paged.begin((), None)
        self.told_at = None
        self.show_all()
        self.look_again()

    # What is shown

    def selected(self) -> AuditEntry | None:
        """The entry under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows title, list and row for what is known now."""
        if not self.there():
            return
        rows, width = self.rows, max(20, self.size.width - 2)
        more = self.paged.next is not None
        self.title_line.show([audit_title(len(rows), more=more, asked=self.asked, at=self.at(), width=width)])
        said = self._said()
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = len(rows) > 0
        self.table.show(rows, audit_columns(), rows.needs())
        if self.table.display and self.focused is None:
            self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_row(self) -> None:
        """Shows the entry under the cursor in full."""
        entry = self.selected()
        self.row.display = entry is not None and self.size.height >= LOW
        self.row.show(entry_lines(entry, self.at()) if entry is not None else [])

    def count_down(self) -> None:
        """`14:30` becomes a date at midnight."""
        repaint(self.table, self.rows)

    def _said(self) -> list[Line]:
        if self.shell.session is not None and not self._may():
            sentence = missing(Permission.AUDIT_READ, self.shell.tenant)
            return [(Piece(f"Only who audits reads the trail. {sentence}", Tone.WARN),)]
        nothing = EMPTY if self.asked == ALL else nothing_like_it(self.looked_to)
        return self.said_lines(nothing, rows=len(self.rows))

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()
            self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + AHEAD >= len(self.rows):
            self.work(self._more(), doing="Reading more of the trail", group="more", exclusive=True)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("audit.open")
