"""Owns the place that lists the audit trail, newest first, under a filter: who did what to what, how it ended, why. It looks
again now and then: an entry has no hint of its own, and rows keep their places by their numbers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

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
from jobconsole.present.columns import Column, Line, Piece, Tone
from jobconsole.screens.audit_entry import AuditEntryScreen
from jobconsole.screens.lines_form import LinesForm
from jobconsole.screens.listed import PagedScreen
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page, ToldRows
from jobcontract.permissions import Permission, missing

if TYPE_CHECKING:
    from jobcontract.audit import AuditEntry


class AuditScreen(PagedScreen["AuditEntry"]):
    """The audit trail of the tenant."""

    PLACE = "audit"
    TITLE_WORDS = "Audit trail"
    READING = "Reading the audit trail"
    MORE = "Reading more of the trail"
    LIST = "entries"
    OPENS = "audit.open"
    AHEAD = 30
    DEFAULT_CSS = "AuditScreen #row { max-height: 6; }"
    EXPLANATION = (
        "Everything that was changed here, and every act that was refused: when, who, what, to what, how it ended, and the "
        "reason that was given. Looking is not in it. / asks for a time, a person, an action and so on; enter shows one "
        "entry with before and after, and how it is sealed; x writes what is shown to a CSV file, which is an entry itself."
    )

    def __init__(self, asked: AuditFilter = ALL) -> None:
        super().__init__(ToldRows(lambda each: str(each.id), lambda each, _: audit_cells(each, self.at())))
        self.asked = asked
        self.looked_to: datetime | None = None
        """How far a search looked that ended before it had a page."""

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "audit.open": self.open,
            "audit.filter": self.ask,
            "audit.export": self.export,
            **super().handlers(),
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
        if self._may():
            await super().look()

    def restless(self) -> bool:
        """Entries come without a hint; whoever reads further down is not disturbed."""
        return self._may() and self.there() and self.table.window[0] == 0

    async def page(self, cursor: str | None) -> Page[AuditEntry]:
        """Entries; a search that found none says how far it looked."""
        page = await client.audit(self.shell.service, asked=self._query(), cursor=cursor)
        self.looked_to = page.looked_to
        return page.entries, page.next

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
        self.begin()
        self.look_again()

    # What is shown

    def heading(self, width: int) -> Sequence[Line]:
        """How many entries were read, under which filter."""
        more = self.paged.next is not None
        return [audit_title(len(self.rows), more=more, asked=self.asked, at=self.at(), width=width)]

    def columns(self) -> tuple[Column, ...]:
        """The columns of the trail."""
        return audit_columns()

    def row_lines(self, row: AuditEntry) -> Sequence[Line]:
        """Everything of an entry."""
        return entry_lines(row, self.at())

    def words(self) -> Sequence[Line]:
        """Who may read the trail; how far a search looked that found nothing."""
        if self.shell.session is not None and not self._may():
            sentence = missing(Permission.AUDIT_READ, self.shell.tenant)
            return [(Piece(f"Only who audits reads the trail. {sentence}", Tone.WARN),)]
        nothing = (
            EMPTY if self.asked == ALL else nothing_like_it(self.looked_to, key_words(self, "audit.filter", "row.last"))
        )
        return self.said_lines(nothing, rows=len(self.rows))
