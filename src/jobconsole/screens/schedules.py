"""Owns the place that lists the schedules of the tenant: how each is doing, its rhythm, when it runs next, its last
outcomes; with the detail of the one under the cursor beside or below. It looks again when a hint names a schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer

from jobconsole.client import schedules as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Piece, Tone
from jobconsole.present.queues import WIDE
from jobconsole.present.schedule_list import schedules_cells, schedules_columns, schedules_title, strip_of
from jobconsole.present.schedules import LABEL, STRIP_MOST, URGENT, most_urgent, overdue, schedule_lines
from jobconsole.screens.occurrence import open_named
from jobconsole.screens.occurrences import OccurrencesScreen
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_making import making_handlers, mark_handlers
from jobconsole.screens.runbook import open_runbook
from jobconsole.screens.schedule_acts import disable, enable, run_now, schedule_facts
from jobconsole.screens.shell import Handler
from jobconsole.screens.simulator import open_simulator
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import Page, Paged, ToldRows
from jobconsole.screens.watching import WatchingScreen, repaint
from jobconsole.screens.why import why_schedule
from jobconsole.widgets.lines import Lines, content_of
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.schedules import Schedule, ScheduleDetail, Schedules

AHEAD = 30
"""Rows that are read beyond those in sight."""
AROUND = 3
"""Lines of the frame and the title."""
DETAIL_LEAST = 13
"""Lines of the detail below the list, its title among them."""
FOLLOW_SECONDS = 0.1
"""How long the cursor rests on a row before its detail is asked for."""
EMPTY = "No job of the records runs by a schedule here. Once one does, it appears here by itself."


class SchedulesScreen(WatchingScreen):
    """Schedules of the tenant."""

    PLACE = "schedules"
    TITLE_WORDS = "Schedules"
    READING = "Reading the schedules"
    EXPLANATION = (
        "Every job that runs by itself in this tenant. ✗ parked: its times cannot be computed, the reason is shown. ▲ late: "
        "one is due and has not started. ◌ retrying. ‖ disabled: by whom, until when and why. ¤ moves money. The last outcomes stand with the newest at the right: ✓ "
        "completed, △ completed after retries, ✗ dead letter, ◆ running, ◌ waits for its next attempt, · not started. The "
        "detail tells the next five times in UTC and on its zone's clock, what a change of the clock does to them (▲), what "
        "becomes of missed ones, and what was skipped. tab goes into the detail, arrows scroll it."
    )
    CSS_PATH: ClassVar[str] = "schedules.tcss"
    AUTO_FOCUS = "#schedules"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual does not declare it as the class's

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#schedules", Table)
    pane = query_one("#detail", VerticalScroll)
    brief = query_one("#brief", Lines)

    def __init__(self) -> None:
        super().__init__()
        self.rows: ToldRows[Schedule] = ToldRows(lambda each: each.id, self._cells)
        self.paged: Paged[Schedule] = Paged(self.rows, self._page)
        self.head: Schedules | None = None
        """The page told last: its counts are over all pages."""
        self.detail: ScheduleDetail | None = None
        self.wanted: str | None = None
        """The schedule on which the cursor is to stand once it is read."""
        self.tall = False
        """Whether the detail has most of the height."""
        self._following: Timer | None = None
        self._pane_title: Content | None = None

    def compose_body(self) -> ComposeResult:
        """Title, list, detail."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            with Container(id="split"):
                yield Table(id="schedules")
                with VerticalScroll(id="detail"):
                    yield Lines(id="brief", indent=LABEL)

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "schedule.open": self.open,
            "schedule.urgent": self.go_to_urgent,
            "schedule.detail": self.toggle_detail,
            "schedule.run": self.run_selected,
            "schedule.disable": self.disable,
            "schedule.enable": self.enable,
            "schedule.simulate": lambda: open_simulator(self, self.selected()),
            "runbook.show": lambda: open_runbook(self, self.selected()),
            "why.show": lambda: why_schedule(self, self.selected()),
            **making_handlers(self, schedules=self.named),
            **mark_handlers(lambda: self.table, self.situation_changed),
            "timeline.open": lambda: open_timeline(self),
            "row.next": lambda: self.pane.scroll_down() if self.pane.has_focus else self.table.action_move(1),
            "row.previous": lambda: self.pane.scroll_up() if self.pane.has_focus else self.table.action_move(-1),
            "row.first": lambda: self.pane.scroll_home() if self.pane.has_focus else self.table.action_jump(0),
            "row.last": self.go_to_last,
        }

    def situation(self) -> Situation:
        """The schedule under the cursor."""
        urgent = any(each.standing in URGENT for each in self.rows.rows)
        selected = self.selected()
        return replace(
            super().situation(),
            schedule=selected.id if selected else None,
            schedule_now=schedule_facts(selected),
            urgent=urgent,
            marked=len(self.table.marks) if self.there() else 0,
        )

    def named(self) -> tuple[str, ...]:
        """The marked schedules, else the one under the cursor."""
        marked = tuple(each.id for each in self.rows.rows if each.id in self.table.marks)
        return marked or ((selected.id,) if (selected := self.selected()) is not None else ())

    def copyable(self) -> str | None:
        """The id of the schedule under the cursor."""
        return self.table.cursor_key

    def names(self) -> tuple[str, ...]:
        """The schedules: `:statements.nightly` goes to one."""
        return tuple(each.id for each in self.rows.rows)

    def go_to_name(self, word: str) -> bool:
        """Goes to the schedule with that id, or opens the occurrence that is named `schedule@instant`."""
        return open_named(self, word) or self.table.move_to(word)

    def go_back(self) -> bool:
        """Takes the height back from the detail."""
        if not self.tall:
            return False
        self.toggle_detail()
        return True

    # Looking

    async def look(self) -> None:
        """Asks for the schedules as far as they are in sight, then for the one under the cursor."""
        end = self.table.window[1] if self.there() else 0
        await self.paged.again(max(end, self.table.cursor + 1 if self.there() else 0) + AHEAD)
        self.show_all()
        if self.wanted is not None and self.table.move_to(self.wanted):
            self.wanted = None
        await self._look_at_selected()

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about schedules that are read."""
        return hint.topic is Topic.SCHEDULES or hint.topic is Topic.SCHEDULE

    def restless(self) -> bool:
        """Whether one runs, needs a look, or should have run: a Worker that is gone sends no hint."""
        return overdue(self.rows.rows, self.at().now)

    async def _page(self, cursor: str | None) -> Page[Schedule]:
        self.head = page = await client.schedules(self.shell.service, cursor)
        return page.schedules, page.next

    async def _look_at_selected(self) -> None:
        key = self.table.cursor_key if self.there() else None
        if key is None or self.shell.session is None:
            return
        detail = await client.schedule(self.shell.service, key)
        if self.detail is None or self.detail.schedule.id != key or detail.now >= self.detail.now:
            self.detail = detail
            self.rows.put(detail.schedule)
        self.show_detail()

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    # Commands

    def open(self) -> None:
        """Shows the occurrences of the schedule under the cursor."""
        if (schedule := self.selected()) is not None:
            self.app.push_screen(OccurrencesScreen(schedule.id, schedule))

    async def run_selected(self) -> None:
        """Shows the guard, asks for a reason, then starts the manual schedule under the cursor."""
        if (schedule := self.selected()) is not None:
            await run_now(self, schedule)
            self.look_again()

    async def disable(self) -> None:
        """Asks for a reason and until when, then switches the schedule under the cursor off."""
        if (schedule := self.selected()) is not None:
            self._put(await disable(self, schedule))

    async def enable(self) -> None:
        """Shows what is made up for, asks for a reason, then switches the schedule under the cursor on."""
        if (schedule := self.selected()) is not None:
            self._put(await enable(self, schedule))

    def _put(self, told: Schedule | None) -> None:
        if told is not None:
            self.rows.put(told)
            self.show_all()
        self.look_again()

    def go_to_urgent(self) -> None:
        """Puts the cursor on the schedule that needs a look first."""
        if (urgent := most_urgent(self.rows.rows)) is not None:
            self.table.move_to(urgent.id)

    def toggle_detail(self) -> None:
        """Gives the detail most of the height, or takes it back."""
        self.tall = not self.tall
        self.set_class(self.tall, "-tall")
        self.show_all()
        (self.pane if self.tall else self.table).focus()

    async def go_to_last(self) -> None:
        """Reads what is left, and goes to the last row; within the detail to its end."""
        if self.pane.has_focus:
            self.pane.scroll_end(animate=False)
            return
        while self.paged.next is not None:
            await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    # What is shown

    def selected(self) -> Schedule | None:
        """The schedule under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#brief"))

    def show_all(self) -> None:
        """Shows title, list and detail for what is known now."""
        if not self.there():
            return
        rows, width = self.rows, max(20, self.size.width - 2)
        key = key_words(self, "schedule.urgent")["schedule.urgent"]
        self.title_line.show([schedules_title(self.head, rows.rows, most_urgent(rows.rows), key, width)])
        said = self.said_lines(EMPTY, rows=len(rows))
        self.said.display = bool(said)
        self.said.show(said)
        self.query_one("#split").display = len(rows) > 0
        if not self.has_class("-wide"):  # what the list does not need is the detail's
            whole = self.size.height - AROUND - len(said)
            least = min(DETAIL_LEAST, whole // 2)
            self.pane.styles.height = "1fr" if self.tall else max(least, whole - len(rows) - 1)
        else:
            self.pane.styles.height = None
        self.table.show(rows, schedules_columns(strip_of(self.size.width)), rows.needs())
        self.show_detail()
        self.situation_changed()

    def show_detail(self) -> None:
        """Shows everything of the schedule under the cursor."""
        schedule = self.selected()
        if schedule is None:
            self.brief.show([])
            return
        known = self.detail is not None and self.detail.schedule.id == schedule.id
        titled = (Piece(schedule.id, Tone.STRONG), Piece(f" {schedule.title}", Tone.QUIET))
        title = content_of((Piece(" "), *titled, Piece(" ")))
        if title != self._pane_title:  # setting a title paints the whole pane
            self._pane_title = title
            self.pane.border_title = title
        lines = schedule_lines(schedule, self.detail if known else None, self.at())
        self.brief.show([titled, *lines] if self.has_class("-wide") else lines)

    def count_down(self) -> None:
        """Counts down what is in sight."""
        repaint(self.table, self.rows)
        self.show_detail()

    def _cells(self, schedule: Schedule, widths: Mapping[str, int]) -> Mapping[str, Piece]:
        return schedules_cells(schedule, self.at(), widths.get("last", STRIP_MOST), widths.get("state"))

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self._following is not None:
            self._following.stop()
        self.show_detail()
        self.situation_changed()
        self._following = self.set_timer(FOLLOW_SECONDS, self._follow)

    def _follow(self) -> None:
        if self.there():
            self.pane.scroll_home(animate=False)
            self.work(self._look_at_selected(), doing="Reading the schedule", group="detail", exclusive=True)

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + AHEAD >= len(self.rows):
            self.work(self._more(), doing="Reading more schedules", group="more", exclusive=True)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("schedule.open")
