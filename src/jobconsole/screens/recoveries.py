"""Owns the place that lists the recoveries of the tenant, the latest first: what each does, whose it is, how far it is. It
looks again when a hint names one; a row stays where it is by its recovery's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import recoveries as client
from jobconsole.commands.situation import SelectedRecovery, Situation
from jobconsole.present.columns import Piece, Tone, whole_pieces
from jobconsole.present.recoveries import recoveries_cells, recoveries_columns, state_now
from jobconsole.screens.recovery_making import making_handlers, open_recovery
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.screens.watching import PAUSE_SECONDS, WatchingScreen, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.recoveries import Recovery

AHEAD = 20
"""Rows that are read beyond those in sight."""
EMPTY = (
    "No recovery was made here lately. y replays a stretch of time; in a schedule's occurrences Q requeues its dead letters "
    "and Z discards them. Each is shown before anything is done."
)


class RecoveriesScreen(WatchingScreen):
    """Recoveries of the tenant."""

    PLACE = "recoveries"
    TITLE_WORDS = "Recoveries"
    READING = "Reading the recoveries"
    EXPLANATION = (
        "Acts on many occurrences or schedules at once, the latest first: replays of a stretch of time, dead letters that "
        "run again or are discarded, schedules that are switched off. Each was frozen and shown before it was confirmed. ○ "
        "open: nothing of it was done yet. ▶ applying. ‖ paused. ¤ moves money. Enter shows everything of one."
    )
    AUTO_FOCUS = "#recoveries"
    DEFAULT_CSS = """
    RecoveriesScreen #title { height: 1; padding: 0 1; }
    RecoveriesScreen #said { display: none; padding: 0 1; margin-bottom: 1; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#recoveries", Table)

    def __init__(self) -> None:
        super().__init__()
        self.rows: ToldRows[Recovery] = ToldRows(
            lambda each: each.id, lambda each, _: recoveries_cells(each, self.seen())
        )
        self.paged: Paged[Recovery] = Paged(self.rows, self._page)

    def compose_body(self) -> ComposeResult:
        """Title and list."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="recoveries")

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "recovery.open": self.open,
            **making_handlers(self),
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": self.go_to_last,
        }

    def situation(self) -> Situation:
        """The recovery under the cursor."""
        facts, found = super().situation(), self.selected()
        if found is None:
            return facts
        seen = self.seen()
        mine = found.owner.id == seen.me
        selected = SelectedRecovery(
            state=state_now(found, seen.now), mine=mine, owner=found.owner.id, count=found.count
        )
        return replace(facts, recovery=selected)

    def copyable(self) -> str | None:
        """The headless command that makes the recovery under the cursor once more."""
        found = self.selected()
        return found.command if found is not None else None

    def names(self) -> tuple[str, ...]:
        """The names of the recoveries: `:tern-42` opens one."""
        return tuple(each.name for each in self.rows.rows)

    def go_to_name(self, word: str) -> bool:
        """Opens the recovery with that name."""
        found = next((each for each in self.rows.rows if each.name == word.strip().casefold()), None)
        if found is not None:
            open_recovery(self, found)
        return found is not None

    # Looking

    async def look(self) -> None:
        """Asks for the recoveries as far as they are in sight."""
        end = max(self.table.window[1], self.table.cursor + 1) if self.there() else 0
        await self.paged.again(end + AHEAD)

    def concerned(self, hint: Hint) -> bool:
        """Whether a recovery changed."""
        return hint.topic is Topic.RECOVERY

    def least_pause(self) -> float:
        """The deeper in the list, the more pages are read."""
        return PAUSE_SECONDS * max(1, self.paged.pages)

    async def _page(self, cursor: str | None) -> Page[Recovery]:
        page = await client.recoveries(self.shell.service, cursor=cursor)
        return page.recoveries, page.next

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    # Commands

    def open(self) -> None:
        """Shows the recovery under the cursor."""
        if (found := self.selected()) is not None:
            open_recovery(self, found)

    async def go_to_last(self) -> None:
        """Reads what is left, and goes to the last row."""
        while self.paged.next is not None:
            await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    # What is shown

    def selected(self) -> Recovery | None:
        """The recovery under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#recoveries"))

    def show_all(self) -> None:
        """Shows title and list for what is known now."""
        if not self.there():
            return
        rows, seen = self.rows, self.seen()
        live = [each for each in rows.rows if not state_now(each, seen.now).ended]
        mine = sum(each.owner.id == seen.me for each in live)
        more = ", more follow" if self.paged.next is not None else ""
        told = [
            Piece("Recoveries", Tone.STRONG),
            Piece(
                f"{len(live):,} open or being applied" if self.told_at is not None else "",
                Tone.MINE if live else Tone.QUIET,
            ),
            Piece(f"{mine:,} yours" if mine else "", Tone.MINE),
            Piece(f"{len(rows) - len(live):,} ended{more}" if len(rows) > len(live) else "", Tone.QUIET),
        ]
        self.title_line.show([whole_pieces(told, max(20, self.size.width - 2))])
        said = self.said_lines(EMPTY, rows=len(rows))
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = len(rows) > 0
        self.table.show(rows, recoveries_columns(), rows.needs())
        if self.table.display and self.focused is None:
            self.table.focus()
        self.situation_changed()

    def count_down(self) -> None:
        """Counts down what is in sight."""
        repaint(self.table, self.rows)

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + AHEAD >= len(self.rows):
            self.work(self._more(), doing="Reading more recoveries", group="more", exclusive=True)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("recovery.open")
