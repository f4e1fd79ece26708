"""Owns the place that watches one plan: bar, account, who stopped it and why, its rows; when it ended, what came of it.

What is fetched, and when, is decided in `plan_progress_fetching.py`; steering is in `plan_progress_acts.py`; how it is
written in `present/`. Leaving it changes nothing: the plan goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.getters import query_one
from textual.timer import Timer

from jobconsole.commands.situation import SelectedPlan, Situation
from jobconsole.present.columns import Line, Piece, Tone, wrap_line
from jobconsole.present.plan_progress import (
    account_lines,
    bar_line,
    job_line,
    progress_lines,
    progress_title,
    rows_line,
    turn_columns,
    turn_lines,
    uncertain_count,
)
from jobconsole.present.queues import WIDE
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.plan_job import PlanJobScreen
from jobconsole.screens.plan_progress_fetching import AHEAD
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.shell import Handler
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.rows import NoRows
from jobconsole.widgets.table import Table
from jobcontract.states import PlanState

LOW = 18
"""Below this many lines only the sentences that matter most are told."""
HEADING = 2
AROUND = 3
"""Blank lines around the account, and the line that names the rows: left out where the room is scarce."""
ROWS_LEAST = 5
"""Lines that the rows have before the account is told at length, their heading among them."""
ROW = 3
"""Lines of the row under the cursor in full; it is left out where the rows would not have theirs."""
FOLLOW_SECONDS = 0.05
"""How long the cursor rests on a row before its lines and the keys follow it."""


class PlanProgress(PlanJobScreen):
    """One plan, from its confirmation to its end and after."""

    PLACE = "progress"
    TITLE_WORDS = "Plan being applied"
    EXPLANATION = (
        "How far a confirmed plan is. Every planned item is in exactly one outcome, and the outcomes add up to what was "
        "planned, in count and in every currency. ? uncertain: nobody knows whether the bank paid; no machine tries that "
        "again, a person ends it in the uncertain queue. The time left is an estimate by the pace of the last half "
        "minute. Going back changes nothing: the plan goes on."
    )
    CSS_PATH: ClassVar[str] = "plan_progress.tcss"
    AUTO_FOCUS = "#rows"

    heading = query_one("#heading", Lines)
    standing = query_one("#standing", Lines)
    account = query_one("#account", Lines)
    about_rows = query_one("#about-rows", Lines)
    table = query_one("#rows", Table)
    row = query_one("#row", Lines)

    room_for_row = False
    """Whether the row under the cursor is told in full."""
    _following: Timer | None = None

    def compose_body(self) -> ComposeResult:
        """Heading and bar, sentences, account, rows, the row under the cursor."""
        with Vertical(id="progress"):
            yield Lines(id="heading", clipped=True)
            yield Lines(id="standing", indent=2)
            yield Lines(id="account", clipped=True)
            yield Lines(id="about-rows", clipped=True)
            yield Table(id="rows")
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Shows what is known; what is not, the place asks for itself."""
        self.show_all()
        self.call_after_refresh(self.show_all)

    def on_resize(self) -> None:
        """Another size has other columns, and room for other parts."""
        self.call_after_refresh(self.show_all)

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of looking, then those that steer the plan."""
        return {
            **super().handlers(),
            **row_handlers(lambda: self.table, self.go_to_last),
        }

    def situation(self) -> Situation:
        """The plan, and whether a row of it is selected."""
        facts, plan, state = super().situation(), self.plan, self.state()
        if plan is None or state is None:
            return facts
        selected = SelectedPlan(
            state=state,
            mine=plan.owner.id == self.seen().me,
            owner=plan.owner.id,
            count=plan.count,
            row=self.there() and self.table.cursor_key is not None,
            job=self.job is not None,
        )
        stopped = facts.stopped if self.stop is None else True
        return replace(facts, queue=plan.queue, plan=selected, stopped=stopped, uncertain=uncertain_count(plan))

    def tick(self) -> None:
        """Counts down, and lets the pace fall."""
        self.show_heading()

    def copyable(self) -> str | None:
        """The id of the item under the cursor, else the plan's."""
        row = self.rows.find(self.table.cursor_key) if self.there() else None
        return row.item if row is not None else self.plan_id

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        if not super().there():
            return False
        try:
            return self.row.is_attached and self.table.is_attached
        except NoMatches:
            return False

    def in_sight(self) -> tuple[int, int]:
        """Indexes of the rows in sight."""
        return self.table.window if self.there() else (0, 0)

    def body_lines(self) -> int:
        """Lines between the frame's."""
        return self.size.height - 2 - int(bool(self.shell.frame.stopped))

    def selected_item(self) -> str | None:
        """Id of the item under the cursor."""
        row = self.rows.find(self.table.cursor_key)
        return row.item if row is not None else None

    async def go_to_last(self) -> None:
        """Loads what is left, and goes to the last row."""
        await self.all_pages()
        self.table.action_jump(-1)

    # What is shown

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        self.show_heading()
        self._show_rows()
        self._show_row()
        self.situation_changed()

    def show_heading(self) -> None:
        """Shows title, bar, sentences and account."""
        if not self.there():
            return
        plan, seen, width = self.plan, self.seen(), max(20, self.size.width - 2)
        if plan is None:
            sentence = self.failure or "Reading the plan …"
            self.heading.show([(Piece(sentence, Tone.BAD if self.failure else Tone.QUIET),)])
            return
        pace = self.pace.a_second(seen.now) if self.stop is None and self.shell.link.connected else None
        self.heading.show([progress_title(plan, seen, width), bar_line(plan, pace, width)])
        keys = key_words(self, "plan.abort", "plan.resume", "plan.review", "money.start", "plan.open-job")
        told = progress_lines(plan, self.stop, seen, keys, brief=self.size.height < LOW)
        if self.job is not None:
            told.append(job_line(self.job, keys["plan.open-job"]))
        self.standing.display = bool(told)
        self.standing.show(told)
        room = self.body_lines() - len(told_lines(told, width)) - HEADING - ROWS_LEAST
        shown = account_lines(plan, width) if plan.account else []
        brief = len(shown) + AROUND > room
        self.set_class(brief, "-low")
        if brief and plan.account:
            shown = account_lines(plan, width, brief=True)
        self.room_for_row = room - len(shown) - (0 if brief else AROUND) >= ROW
        self.account.display = bool(shown)
        self.account.show(shown)
        loaded, ended = len(self.rows), self.rows.ended
        self.about_rows.show([rows_line(loaded, plan, ended=ended, width=width)])
        self.table.set_class(not self.shell.link.connected and loaded > 0, "-stale")

    def _show_rows(self) -> None:
        """Shows the rows in the columns that fit; at the first row the cursor stays there, whatever comes first."""
        if self.plan is None:
            self.table.show(NoRows(), (), {})
            return
        columns = turn_columns(wide=self.size.width >= WIDE)
        self.table.show(self.rows, columns, self.rows.needs(), fresh=self.table.cursor == 0)
        self.table.say((Piece("" if self.rows else "Reading its rows …", Tone.QUIET),))

    def _show_row(self) -> None:
        row = self.rows.find(self.table.cursor_key)
        shown = row is not None and self.room_for_row
        self.row.display = shown
        self.row.show(turn_lines(row, self.seen()) if row is not None and shown else [])

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        # The cursor's row is painted first, and the next key's too: the row in full follows once it rests.
        if self._following is not None:
            self._following.stop()
        self._following = self.set_timer(FOLLOW_SECONDS, self._follow)

    def _follow(self) -> None:
        if self.there():
            self._show_row()
            self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        plan = self.plan
        if plan is not None and event.end + AHEAD >= len(self.rows) and len(self.rows) < plan.count:
            self.work(self.more(), doing="Reading more rows", group="more", exclusive=True)
        if plan is not None and plan.state is PlanState.APPLYING and self.rows.moving(event.first, event.end):
            self.look_again()

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("plan.open-item")


def told_lines(told: Iterable[Line], width: int) -> list[Line]:
    """The sentences as they are wrapped on the screen."""
    return [part for line in told for part in wrap_line(line, width, 2)]
