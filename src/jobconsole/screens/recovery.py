"""Owns the preview of a recovery: exactly what one confirmation would do, its sums always in sight, every row, what is left
out and why. Every row goes through the digest in the background; only then can it be confirmed.

Rows of two editions never stand together. Going back leaves it open until its time is over.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import recoveries as client
from jobconsole.client.errors import ClientError, PlanUnfit
from jobconsole.client.recoveries import RecoveryReading
from jobconsole.commands.situation import SelectedRecovery, Situation
from jobconsole.present.columns import Line
from jobconsole.present.plans import PlanSeen
from jobconsole.present.recoveries import JOBS, money_lines, schedules_line, state_now
from jobconsole.present.recovery_preview import left_out_line, preview_lines, preview_title
from jobconsole.present.recovery_rows import left_cells, left_columns, left_lines, row_lines, rows_columns, undone_words
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_acts import RecoveryActingScreen
from jobconsole.screens.recovery_listing import FrozenRows
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic
from jobcontract.operating import RecoveryState

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.recoveries import Recovery, RecoveryLeftOut, RecoveryRow

PROGRESS_SECONDS = 0.1
"""Between two paints of how far the reading is."""
LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
AHEAD = 40
"""Further rows of what is left out are asked for when the end of what is loaded is this near."""


class RecoveryScreen(RecoveryActingScreen):
    """Everything that a recovery would do, before it is confirmed."""

    TITLE_WORDS = "Recovery"
    EXPLANATION = (
        "Exactly what one confirmation would do. The set is frozen: what changed meanwhile is named when you confirm, and of "
        "a row that changes after that nothing is done. Items that are done stay done; what is not done runs again. ¤ moves "
        "money: it goes in only for finance, and confirming it takes the six digits from your phone. tab shows what is left "
        "out and why. Going back leaves the recovery open until its time is over."
    )
    AUTO_FOCUS = "#rows"
    DEFAULT_CSS = """
    RecoveryScreen #title, RecoveryScreen #sums, RecoveryScreen #state, RecoveryScreen #lists { padding: 0 1; }
    RecoveryScreen #title, RecoveryScreen #lists { height: 1; }
    RecoveryScreen #left { display: none; }
    RecoveryScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 6; }
    """

    title_line = query_one("#title", Lines)
    sums = query_one("#sums", Lines)
    standing = query_one("#state", Lines)
    lists = query_one("#lists", Lines)
    table = query_one("#rows", Table)
    left_table = query_one("#left", Table)
    row = query_one("#row", Lines)

    def __init__(self, recovery: Recovery) -> None:
        super().__init__(recovery)
        self.list = "rows"
        """Which list has the keyboard: `rows` or `left`."""
        self.rows = FrozenRows()
        self.kept_out: ToldRows[RecoveryLeftOut] = ToldRows(
            lambda each: f"{each.reason}:{each.name}", lambda each, _: left_cells(each)
        )
        self.paged: Paged[RecoveryLeftOut] = Paged(self.kept_out, self._left_page)
        self.reading: RecoveryReading | None = None
        self.unfit = ""
        """Why its rows cannot be trusted."""
        self.failure = ""
        """Why its rows could not be read; empty while they could."""
        self._told_at = float("-inf")
        self._expiry_asked = False

    def compose_body(self) -> ComposeResult:
        """Title, sums, where it stands, the lists' names, both lists, the row under the cursor."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="sums", clipped=True)
            yield Lines(id="state", indent=2)
            yield Lines(id="lists", clipped=True)
            yield Table(id="rows")
            yield Table(id="left")
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Shows what is known; what is not, the place asks for itself."""
        self.show_all()
        self.call_after_refresh(self.show_all)
        if self.greeting:
            self.call_after_refresh(self.say, self.greeting)

    def on_resize(self) -> None:
        """Another size has other columns."""
        self.call_after_refresh(self.show_all)

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of looking, then those that change it."""
        return {
            **super().handlers(),
            "recovery.list": self.next_list,
            **row_handlers(lambda: self.shown_table),
        }

    def situation(self) -> Situation:
        """The recovery, and whether a row of it is selected."""
        found, checked = self.recovery, self.checked
        selected = SelectedRecovery(
            state=state_now(found, self.seen().now),
            mine=found.owner.id == self.seen().me,
            owner=found.owner.id,
            count=found.count,
            checked=found.count if self.digest is not None else min(checked, max(0, found.count - 1)),
            unfit=self.unfit or self.failure,
            shown=self.rows.painted,
            row=self.selected_row() is not None,
        )
        return replace(super().situation(), recovery=selected)

    def tick(self) -> None:
        """Counts its time down."""
        if not self.there():
            return
        over = state_now(self.recovery, self.seen().now) is RecoveryState.EXPIRED
        if over and self.recovery.state is RecoveryState.OPEN and not self._expiry_asked:
            self._expiry_asked = True
            self.refresh_all()
        self.show_heading()
        self.situation_changed()

    def copyable(self) -> str | None:
        """The name of the row under the cursor, else the headless command that makes the same one."""
        row = self.selected_row()
        return row.name if row is not None else self.recovery.command

    # Looking

    @property
    def checked(self) -> int:
        """How many rows of this edition went through the digest."""
        reading = self.reading
        return reading.checked if reading is not None and reading.recovery.edition == self.recovery.edition else 0

    @property
    def digest(self) -> str | None:
        """The digest of the edition that is on the screen, once every row went through."""
        reading = self.reading
        return reading.digest if reading is not None and reading.recovery.edition == self.recovery.edition else None

    def undone(self) -> str:
        """How many items of all its rows run again, in words, as far as they were read."""
        return undone_words(self.reading.rows if self.reading is not None else ())

    def seen(self) -> PlanSeen:
        """From where it is looked at, now."""
        return replace(super().seen(), checked=self.recovery.count if self.digest is not None else self.checked)

    async def reload(self) -> None:
        """Asks for the recovery, and for what of it is old."""
        if self.shell.session is None:
            return
        if self.reading is None:
            self.read_soon()
        self.took((await client.recovery(self.shell.service, self.recovery.id)).recovery)
        if self.recovery.left_out:
            await self.paged.again(1)
        self.show_all()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Asks again where a hint names it."""
        if any(hint.topic is Topic.RECOVERY and hint.id == self.recovery.id for hint in hints):
            self.refresh_all()

    def took(self, recovery: Recovery) -> None:
        """An answer told how it stands; an older one changes nothing."""
        if recovery.version < self.recovery.version:
            return
        anew, self.recovery = recovery.edition != self.recovery.edition, recovery
        if anew:
            self.unfit = self.failure = ""
            self.read_soon()
        self.show_all()
        if recovery.confirmed_at is not None and self.is_current:
            self.after_confirming(recovery)

    def read_soon(self) -> None:
        """Reads every row from the first one, in the background."""
        self.work(self._read(), doing="Reading the recovery's rows", group="reading", exclusive=True)

    async def _read(self) -> None:
        reading = RecoveryReading(self.shell.service, self.recovery, on_progress=self._progress)
        self.reading, self.failure = reading, ""
        try:
            await reading.run()
        except PlanUnfit as unfit:
            self.unfit = unfit.sentence
        except ClientError as error:
            self.failure = error.sentence
            raise
        finally:
            if reading is self.reading and reading.recovery.version > self.recovery.version:
                self.recovery = reading.recovery
            self.show_all()

    def _progress(self) -> None:
        """Shows rows that came into sight, and how far the reading is now and then."""
        reading = self.reading
        if reading is None or not self.there():
            return
        now = time.monotonic()
        if reading.done or len(self.rows) == 0 or now - self._told_at >= PROGRESS_SECONDS:
            self._told_at = now
            if reading.recovery.edition != self.recovery.edition and reading.recovery.version > self.recovery.version:
                self.recovery = reading.recovery
            self.show_all()

    async def _left_page(self, cursor: str | None) -> Page[RecoveryLeftOut]:
        page = await client.left_out(self.shell.service, self.recovery.id, cursor=cursor)
        return page.left_out, page.next

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    # What a person does

    def next_list(self) -> None:
        """Goes to what is left out, and back to the rows."""
        self._choose("left" if self.list == "rows" and len(self.kept_out) else "rows")

    # What is shown

    @property
    def shown_table(self) -> Table:
        """The table of the list that has the keyboard."""
        return self.table if self.list == "rows" else self.left_table

    def selected_row(self) -> RecoveryRow | None:
        """The row under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() and self.list == "rows" else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        reading = self.reading
        if reading is not None and reading.recovery.edition == self.recovery.edition:
            self.rows.take(reading.rows)
        if self.list == "left" and not len(self.kept_out):
            self.list = "rows"
        self.show_heading()
        self.table.display, self.left_table.display = self.list == "rows", self.list == "left"
        self.table.show(self.rows, rows_columns(confirmed=False, jobs=self.recovery.act in JOBS), self.rows.needs())
        self.left_table.show(self.kept_out, left_columns(), self.kept_out.needs())
        self.table.set_class(not self.shell.link.connected and len(self.rows) > 0, "-stale")
        self._show_row()
        self.situation_changed()

    def show_heading(self) -> None:
        """Shows title, sums, where it stands, and the lists."""
        if not self.there():
            return
        found, seen, width = self.recovery, self.seen(), max(20, self.size.width - 2)
        self.title_line.show([preview_title(found, seen, width)])
        sums = schedules_line(found, self.undone() if self.checked else "", width)
        self.sums.show([sums, *money_lines(found, width)])
        anew = key_words(self, "recovery.make-anew")["recovery.make-anew"]
        self.standing.show(preview_lines(found, seen, self.unfit or self.failure, anew))
        key = key_words(self, "recovery.list")["recovery.list"]
        self.lists.show([left_out_line(found, self.list, key, width)])

    def _show_row(self) -> None:
        lines = self._row_lines()
        self.row.display = bool(lines) and self.size.height >= LOW
        self.row.show(lines)

    def _row_lines(self) -> list[Line]:
        zone = self.shell.frame.zone
        if self.list == "left":
            out = self.kept_out.find(self.left_table.cursor_key)
            return left_lines(out, zone) if out is not None else []
        row = self.selected_row()
        return row_lines(row, zone, confirmed=False) if row is not None else []

    def _choose(self, name: str) -> None:
        self.list = name
        self.show_all()
        self.shown_table.focus()

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self._show_row()
            self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if event.table is self.left_table and self.paged.next is not None and event.end + AHEAD >= len(self.kept_out):
            self.work(self._more(), doing="Reading more of what is left out", group="more", exclusive=True)
        elif event.table is self.table:
            self.call_after_refresh(self.situation_changed)

    @on(Table.Opened)
    def _opened(self) -> None:
        if self.list == "rows":
            self.run_command("recovery.open-row")
