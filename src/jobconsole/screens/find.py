"""Owns finding: asking for a text, and the list of what it leads to over every noun that the person may read. One thing
that is found is opened at once. Nothing is changed, and nothing is kept of what was looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import finding as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Line
from jobconsole.present.found import (
    WIDE,
    find_title,
    found_cells,
    found_columns,
    found_lines,
    key_of,
    nothing_lines,
    read_text,
)
from jobconsole.screens.find_opening import open_found
from jobconsole.screens.go_to import GoToScreen
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import ToldRows
from jobconsole.screens.watching import WatchingScreen, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen
    from jobcontract.events import Hint
    from jobcontract.jobs import Finding, Found

LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
ASKED = "Find: an id, an identity, a reference, a person"
EXAMPLE = "E-1F2A · inv-2041 · m.ito · lark-42"


class FindScreen(WatchingScreen):
    """What one text leads to."""

    PLACE = "find"
    TITLE_WORDS = "Find"
    READING = "Looking"
    EXPLANATION = (
        "Everything that a text leads to, of what you may read: jobs by id, submission identity, failure reference or whoever "
        "asked for them; items by id, key and payout reference; plans and recoveries by name; schedules, occurrences, people, "
        "entries of the audit trail, Workers. Whole words are found, no parts of them. One thing alone is opened at once; "
        "going back comes here."
    )
    AUTO_FOCUS = "#found"
    DEFAULT_CSS = """
    FindScreen #title { height: 1; padding: 0 1; }
    FindScreen #said { display: none; padding: 0 1; margin-top: 1; }
    FindScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 5; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#found", Table)
    row = query_one("#row", Lines)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.finding: Finding | None = None
        self.rows: ToldRows[Found] = ToldRows(key_of, lambda each, _: found_cells(each, self.at()))
        self._opened_one = False

    def compose_body(self) -> ComposeResult:
        """Title, what is said in words, list, the row under the cursor."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="found")
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Shows that it is looking; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "find.open": self.open,
            "find.again": self.again,
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": lambda: self.table.action_jump(-1),
        }

    def situation(self) -> Situation:
        """Whether a row is selected."""
        return replace(super().situation(), line=self.selected() is not None)

    def copyable(self) -> str | None:
        """The id of what is under the cursor."""
        found = self.selected()
        return found.id if found is not None else self.text

    # Looking

    async def look(self) -> None:
        """Asks what the text leads to; one thing alone is opened."""
        finding = self.finding = await client.find(self.shell.service, self.text)
        self.rows.show(finding.found)
        if len(finding.found) == 1 and not finding.more and not self._opened_one:
            self._opened_one = True
            self.show_all()
            await open_found(self, finding.found[0])

    def concerned(self, hint: Hint) -> bool:  # noqa: ARG002  the base's form
        """What was found is as of the look; refreshing looks again."""
        return False

    # Commands

    async def open(self) -> None:
        """Opens what is under the cursor."""
        if (found := self.selected()) is not None:
            await open_found(self, found)

    async def again(self) -> None:
        """Asks for another text and looks it up here."""
        text = await asked_text(self)
        if text is not None:
            self.text, self.finding, self.told_at, self._opened_one = text, None, None, False
            self.rows.show(())
            self.show_all()
            self.refresh_all()

    # What is shown

    def selected(self) -> Found | None:
        """What is under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows title and list for what is known now."""
        if not self.there():
            return
        self.title_line.show([find_title(self.text, self.finding)])
        said = self._said()
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = len(self.rows) > 0
        self.table.show(self.rows, found_columns(wide=self.size.width >= WIDE), self.rows.needs())
        if self.table.display and self.focused is None:
            self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_row(self) -> None:
        """Shows what is under the cursor in full."""
        found = self.selected()
        self.row.display = found is not None and self.size.height >= LOW
        key = key_words(self, "find.open")["find.open"]
        self.row.show(found_lines(found, self.at(), key) if found is not None else [])

    def count_down(self) -> None:
        """Ages of what is in sight."""
        repaint(self.table, self.rows)

    def _said(self) -> list[Line]:
        if self.finding is not None and not self.finding.found and not self.failure:
            return nothing_lines(self.finding, {"again": key_words(self, "find.again")["find.again"]})
        return self.said_lines("", rows=len(self.rows))

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()
            self.situation_changed()

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("find.open")


async def asked_text(screen: PlaceScreen) -> str | None:
    """The text that a person wants looked up; None where it was given up."""
    return await screen.app.push_screen_wait(GoToScreen(ASKED, EXAMPLE, read_text))


async def ask_find(screen: PlaceScreen) -> None:
    """Asks for a text, and shows what it leads to."""
    text = await asked_text(screen)
    if text is not None:
        show_found(screen, text)


def show_found(screen: PlaceScreen, typed: str) -> None:
    """Shows what the typed text leads to."""
    try:
        text = read_text(typed)
    except ValueError as error:
        screen.say(str(error), error=True)
        return
    if isinstance(screen, FindScreen):
        screen.app.switch_screen(FindScreen(text))
    else:
        screen.app.push_screen(FindScreen(text))
