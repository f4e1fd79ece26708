"""Owns the place that watches one confirmed recovery: bar, account, who paused it and why, its rows; when it ended, what came
of it. Leaving it changes nothing: the recovery goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import recoveries as client
from jobconsole.commands.situation import SelectedRecovery, Situation
from jobconsole.present.columns import Piece, Tone
from jobconsole.present.plans import counted
from jobconsole.present.recoveries import JOBS, money_lines, state_now
from jobconsole.present.recovery_progress import account_line, bar_line, progress_lines, progress_title
from jobconsole.present.recovery_rows import row_lines, rows_columns
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_acts import RecoveryActingScreen
from jobconsole.screens.recovery_listing import LOOKED_AT, TurnRows
from jobconsole.screens.shell import Handler
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.recoveries import Recovery, RecoveryRow

PAUSE_SECONDS = 1.0
"""Between two looks, however fast hints come."""
EVERY = 10
"""Seconds between two looks that no hint asks for, while it is applied."""
LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
AHEAD = 30
"""Rows that are read beyond those in sight."""
PAGES_MOST = 5
"""Most pages that a look reads again; rows beyond are read when one scrolls to them."""


class RecoveryProgress(RecoveryActingScreen):
    """One recovery, from its confirmation to its end and after."""

    TITLE_WORDS = "Recovery being applied"
    EXPLANATION = (
        "How far a confirmed recovery is. Every row is in exactly one outcome, and they add up to what was confirmed. A row "
        "that is replayed runs until its occurrence ends: completed is done, a dead letter is failed. ✗ refused: it changed "
        "since it was confirmed, and nothing was done about it. What needs a look stands first. Going back changes nothing: "
        "the recovery goes on."
    )
    AUTO_FOCUS = "#rows"
    DEFAULT_CSS = """
    RecoveryProgress #heading, RecoveryProgress #state, RecoveryProgress #account, RecoveryProgress #about-rows
        { padding: 0 1; }
    RecoveryProgress #heading { height: 2; }
    RecoveryProgress #about-rows { height: 1; margin-top: 1; }
    RecoveryProgress #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 6; }
    """

    heading = query_one("#heading", Lines)
    standing = query_one("#state", Lines)
    account = query_one("#account", Lines)
    about_rows = query_one("#about-rows", Lines)
    table = query_one("#rows", Table)
    row = query_one("#row", Lines)

    def __init__(self, recovery: Recovery) -> None:
        super().__init__(recovery)
        self.rows = TurnRows()
        self.failure = ""
        self.told = False
        """Whether the service told its rows."""
        self._next: str | None = None
        self._again = self._looking = False
        self._ticks = 0

    def compose_body(self) -> ComposeResult:
        """Title and bar, sentences, account, rows, the row under the cursor."""
        with Vertical():
            yield Lines(id="heading", clipped=True)
            yield Lines(id="state", indent=2)
            yield Lines(id="account", clipped=True)
            yield Lines(id="about-rows", clipped=True)
            yield Table(id="rows")
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Shows what is known; what is not, the place asks for itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another size has other columns."""
        self.call_after_refresh(self.show_all)

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of looking, then those that steer it."""
        return {
            **super().handlers(),
            **row_handlers(lambda: self.table, self.go_to_last),
        }

    def situation(self) -> Situation:
        """The recovery, and whether a row of it is selected."""
        found, seen = self.recovery, self.seen()
        selected = SelectedRecovery(
            state=state_now(found, seen.now),
            mine=found.owner.id == seen.me,
            owner=found.owner.id,
            count=found.count,
            row=self.selected_row() is not None,
        )
        return replace(super().situation(), recovery=selected)

    def tick(self) -> None:
        """Looks by itself now and then while it is applied."""
        self._ticks += 1
        if self._ticks % EVERY == 0 and not self.recovery.state.ended and self.shell.link.connected:
            self.look_soon()

    def copyable(self) -> str | None:
        """The name of the row under the cursor, else the recovery's."""
        row = self.selected_row()
        return row.name if row is not None else self.recovery.name

    # Looking

    async def reload(self) -> None:
        """Asks for the recovery, for the rows that need a look, and for those in sight."""
        if self.shell.session is None:
            return
        service, identifier = self.shell.service, self.recovery.id
        detail = await client.recovery(service, identifier)
        rows: list[RecoveryRow] = list(detail.rows)
        counts = {each.turn: each.count for each in detail.recovery.account}
        for turn in LOOKED_AT:
            if counts.get(turn):
                rows += (await client.rows(service, identifier, turn=turn)).rows
        cursor, pages, loaded = detail.next, 0, len(self.rows)
        while cursor is not None and len(rows) < loaded and pages < PAGES_MOST:
            page = await client.rows(service, identifier, cursor=cursor)
            rows, cursor, pages = [*rows, *page.rows], page.next, pages + 1
        self._next = cursor
        self.rows.take(rows)
        self.told = True
        self.took(detail.recovery)

    def changed(self, hints: Sequence[Hint]) -> None:
        """Looks again where a hint names it."""
        if any(hint.topic is Topic.RECOVERY and hint.id == self.recovery.id for hint in hints):
            self.look_soon()

    def look_soon(self) -> None:
        """Lets a look begin, or another one follow the one that runs."""
        self._again = True
        if not self._looking:
            self._looking = True
            self.work(self._looks(), doing="Reading the recovery", group="looks")

    def took(self, recovery: Recovery) -> None:
        """An answer told how it stands; an older one changes nothing."""
        if recovery.version >= self.recovery.version:
            self.recovery = recovery
        self.show_all()

    async def go_to_last(self) -> None:
        """Reads what is left, and goes to the last row."""
        while self._next is not None:
            await self._more()
        self.table.action_jump(-1)

    async def _more(self) -> None:
        if self._next is not None:
            page = await client.rows(self.shell.service, self.recovery.id, cursor=self._next)
            self._next = page.next
            self.rows.take(page.rows)
            self.show_all()

    async def _looks(self) -> None:
        try:
            while self._again and self.shell.session is not None:
                self._again = False
                await self.reload()
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self._looking = False

    # What is shown

    def selected_row(self) -> RecoveryRow | None:
        """The row under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#heading")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        found, seen, width = self.recovery, self.seen(), max(20, self.size.width - 2)
        self.heading.show([progress_title(found, seen, width), bar_line(found, width)])
        keys = key_words(self, "recovery.resume", "recovery.make-anew")
        self.standing.show(progress_lines(found, seen, keys))
        self.account.show([*account_line(found, width), *money_lines(found, width)])
        loaded = len(self.rows)
        many = f"first {loaded:,} of {counted(found.count, 'row')}" if loaded < found.count else counted(loaded, "row")
        self.about_rows.show([(Piece(f"{many} · what needs a look first, then by number", Tone.QUIET),)])
        self.table.show(
            self.rows,
            rows_columns(confirmed=True, jobs=self.recovery.act in JOBS),
            self.rows.needs(),
            fresh=self.table.cursor == 0,
        )
        self.table.say((Piece("" if loaded or self.told else "Reading its rows …", Tone.QUIET),))
        self.table.set_class(not self.shell.link.connected and loaded > 0, "-stale")
        self._show_row()
        self.situation_changed()

    def _show_row(self) -> None:
        row = self.selected_row()
        self.row.display = row is not None and self.size.height >= LOW
        self.row.show(row_lines(row, self.shell.frame.zone, confirmed=True) if row is not None else [])

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self._show_row()
            self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self._next is not None and event.end + AHEAD >= len(self.rows):
            self.work(self._more(), doing="Reading more rows", group="more", exclusive=True)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("recovery.open-row")
