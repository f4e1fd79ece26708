"""Owns the screen of one occurrence: where it stands, who holds it, every attempt with the late writes that were refused,
its items with how each ended. It looks again when a hint names its schedule, and every few seconds while it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import occurrences as client
from jobconsole.commands.situation import Situation
from jobconsole.present.attempts import attempts_columns, item_cells, item_lines, items_columns, run_lists
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.occurrences import LABEL, occurrence_lines, occurrence_title
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.occurrence_acts import discard, replay
from jobconsole.screens.occurrence_attempts import TriedRows, in_order, tried_lines
from jobconsole.screens.occurrence_cancel import cancel, end_cancelling, selected_facts
from jobconsole.screens.runbook import open_runbook
from jobconsole.screens.shell import Handler
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.screens.watching import PAUSE_SECONDS, WatchingScreen, repaint
from jobconsole.screens.why import why_occurrence
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.occurrences import Occurrence, OccurrenceDetail, OccurrenceItem

AHEAD = 20
"""Items that are read beyond those in sight."""
LOW = 18
"""Below this many lines only the list that has the keyboard is shown."""
HIGH = 30
"""From this many lines on the items stay in sight while the keyboard is in the timeline."""


class OccurrenceScreen(WatchingScreen):
    """Everything of one occurrence."""

    PLACE = "occurrence"
    TITLE_WORDS = "Occurrence"
    READING = "Reading the occurrence"
    EVERY = 5
    EXPLANATION = (
        "One time of a schedule: where it stands, and which Worker holds it, by a lease that it renews; the fence rises with "
        "every attempt. The attempts stand newest first; ! late, refused is a write of a Worker that had lost its lease: it "
        "changed nothing; ↻ a person had it run again: why stands under it, what was before below. The items of the run stand below, what failed first. tab goes from one list to the other; the "
        "lines at the bottom say everything of the row under the cursor."
    )
    CSS_PATH: ClassVar[str] = "occurrence.tcss"
    AUTO_FOCUS = "#items"

    heading = query_one("#heading", Lines)
    said = query_one("#said", Lines)
    standing = query_one("#standing", Lines)
    lists = query_one("#lists", Lines)
    attempts_table = query_one("#attempts", Table)
    items_table = query_one("#items", Table)
    row = query_one("#row", Lines)

    def __init__(self, name: str, occurrence: Occurrence | None = None, *, money: bool = False) -> None:
        """`name`: its id, or `schedule@instant`; `occurrence` as it is known already, and whether it moves money."""
        super().__init__()
        self.money = money
        self.name_asked = name
        self.occurrence = occurrence
        self.detail: OccurrenceDetail | None = None
        self.list = "items"
        """Which list has the keyboard: `items` or `attempts`."""
        self.tried = TriedRows(lambda: self.occurrence, self.at)
        self.items: ToldRows[OccurrenceItem] = ToldRows(
            lambda each: str(each.number), lambda each, _: item_cells(each, self.at())
        )
        self.paged: Paged[OccurrenceItem] = Paged(self.items, self._page)

    def compose_body(self) -> ComposeResult:
        """Heading, where it stands, attempts, items, the row under the cursor."""
        with Vertical():
            yield Lines(id="heading", clipped=True)
            yield Lines(id="said")
            yield Lines(id="standing", indent=LABEL)
            yield Lines(id="lists", clipped=True)
            yield Table(id="attempts")
            yield Table(id="items")
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Shows what is known; what is not, the place asks for itself."""
        self.show_all()

    def on_resize(self, event: events.Resize) -> None:
        """Another size has other columns, and room for other parts."""
        self.set_class(event.size.height < LOW, "-low")
        self.call_after_refresh(self.show_all)

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of one occurrence."""
        return {
            "occurrence.list": self.next_list,
            "occurrence.cancel": self.cancel,
            "occurrence.replay": self.replay,
            "occurrence.discard": self.discard,
            "runbook.show": self.show_runbook,
            "why.show": lambda: why_occurrence(self, self.occurrence, None),
            "timeline.open": lambda: open_timeline(self),
            **row_handlers(lambda: self.table, self.go_to_last),
        }

    def situation(self) -> Situation:
        """The occurrence."""
        schedule = self.occurrence.schedule if self.occurrence is not None else None
        return replace(
            super().situation(), schedule=schedule, occurrence=selected_facts(self.occurrence, money=self.money)
        )

    def copyable(self) -> str | None:
        """The name of the occurrence; with its items under the cursor that item's key."""
        item = self.items.find(self.items_table.cursor_key) if self.there() and self.list == "items" else None
        if item is not None:
            return item.key
        return self.occurrence.name if self.occurrence is not None else self.name_asked

    def go_to_name(self, word: str) -> bool:
        """Opens another occurrence that is named `schedule@instant`."""
        return open_named(self, word)

    # Looking

    async def look(self) -> None:
        """Asks for the occurrence, and for its items as far as they are in sight."""
        end = max(self.items_table.window[1], self.items_table.cursor + 1) if self.there() else 0
        await self.paged.again(end + AHEAD)

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about its schedule."""
        schedule = self.occurrence.schedule if self.occurrence is not None else self.name_asked.partition("@")[0]
        return hint.topic is Topic.SCHEDULES or (hint.topic is Topic.SCHEDULE and hint.id == schedule)

    def restless(self) -> bool:
        """A lease is renewed without a hint."""
        return self.occurrence is not None and self.occurrence.lease is not None

    def least_pause(self) -> float:
        """The deeper in the items, the more pages are read."""
        return PAUSE_SECONDS * max(1, self.paged.pages)

    async def _page(self, cursor: str | None) -> Page[OccurrenceItem]:
        name = self.occurrence.id if self.occurrence is not None else self.name_asked
        if cursor is not None:
            page = await client.occurrence_items(self.shell.service, name, cursor)
            return page.items, page.next
        detail = await client.occurrence(self.shell.service, name)
        if self.detail is None or detail.now >= self.detail.now:
            self.detail, self.occurrence = detail, detail.occurrence
            self.tried.show(in_order(detail))
        return detail.items, detail.items_next

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    # Commands

    async def cancel(self) -> None:
        """Asks for a reason, then cancels it."""
        if self.occurrence is not None:
            self._took(await cancel(self, self.occurrence))

    async def replay(self) -> None:
        """Asks for a reason, then has it run again."""
        if self.occurrence is not None:
            self._took(await replay(self, self.occurrence))

    async def discard(self) -> None:
        """Asks for a reason, then puts the dead letter away."""
        if self.occurrence is not None:
            self._took(await discard(self, self.occurrence))

    def _took(self, told: Occurrence | None) -> None:
        if told is not None:
            self.occurrence = told
            self.show_all()
        self.look_again()

    def show_runbook(self) -> None:
        """Shows the runbooks of its schedule; their replay is about this occurrence."""
        if self.occurrence is not None:
            open_runbook(self, self.occurrence.schedule, self.occurrence)

    def next_list(self) -> None:
        """The keyboard goes to the other list."""
        self.list = "attempts" if self.list == "items" and len(self.tried) else "items"
        self.show_all()
        self.table.focus()

    async def go_to_last(self) -> None:
        """Reads what is left, and goes to the last row."""
        while self.list == "items" and self.paged.next is not None:
            await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    # What is shown

    @property
    def table(self) -> Table:
        """The list that has the keyboard."""
        return self.items_table if self.list == "items" else self.attempts_table

    @property
    def tried_room(self) -> int:
        """Lines of the attempts above the items: more on a high screen."""
        return 5 + max(0, self.size.height - 24) // 3

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#heading")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        self.show_heading()
        end_cancelling(self, self.occurrence)
        known = self.detail is not None
        if known and self.list == "items" and not len(self.items) and len(self.tried):
            self.list = "attempts"
        # The timeline has all lines while one is in it, unless there are many: what an attempt says takes some, too.
        low = self.has_class("-low") or (self.list == "attempts" and self.size.height < HIGH)
        tables = (("attempts", self.attempts_table, self.tried), ("items", self.items_table, self.items))
        for name, table, rows in tables:
            table.display = len(rows) > 0 and (not low or name == self.list)
        room = self.tried_room if len(self.items) and not low else None
        self.attempts_table.styles.height = min(self.tried.lines, room) + 1 if room is not None else "1fr"
        self.attempts_table.styles.max_height = room + 1 if room is not None else "100%"
        self.attempts_table.show(self.tried, attempts_columns(), self.tried.needs())
        self.items_table.show(self.items, items_columns(), self.items.needs())
        self.lists.display = known
        self.lists.show([self._lists()])
        if self.focused not in (self.table, None) or (self.focused is None and self.table.display):
            self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_heading(self) -> None:
        """Shows name and state, and where it stands."""
        occurrence = self.occurrence
        title: Line = (Piece(self.name_asked, Tone.STRONG),)
        self.heading.show([occurrence_title(occurrence) if occurrence is not None else title])
        said = self.said_lines("", rows=int(occurrence is not None))
        self.said.display = bool(said)
        self.said.show(said)
        self.standing.show(occurrence_lines(occurrence, self.at()) if occurrence is not None else [])

    def show_row(self) -> None:
        """Shows everything of the row under the cursor."""
        lines = self._row_lines()
        self.row.display = bool(lines)
        self.row.show(lines)

    def count_down(self) -> None:
        """Counts down."""
        self.show_heading()
        repaint(self.attempts_table, self.tried)
        repaint(self.items_table, self.items)

    def _lists(self) -> Line:
        if self.occurrence is None:
            return ()
        return run_lists(self.tried.attempts, self.tried.late, len(self.items), self.occurrence, self.list)

    def _row_lines(self) -> Sequence[Line]:
        at = self.at()
        if self.list == "items":
            item = self.items.find(self.items_table.cursor_key)
            return item_lines(item, at) if item is not None else ()
        tried = self.tried.find(self.attempts_table.cursor_key)
        return tried_lines(tried, at) if tried is not None else ()

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()

    @on(Table.WindowMoved, "#items")
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + AHEAD >= len(self.items):
            self.work(self._more(), doing="Reading more items", group="more", exclusive=True)


def open_named(screen: WatchingScreen, word: str) -> bool:
    """Opens the occurrence that is named `schedule@instant`; False where `word` is no such name."""
    if "@" not in word:
        return False
    screen.app.push_screen(OccurrenceScreen(word))
    return True
