"""Owns the place that lists background jobs, the latest requested first: failures that nobody resolved, those under way, or
all, under a filter. It looks again at hints, once a second at most; a row stays where it is by its source and id.

Counts come after the rows and say how exact they are; a source that was not reached is named, never passed over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import jobs as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Column, Line, Piece, Tone
from jobconsole.present.jobs import (
    UNRESOLVED,
    VIEWS,
    WIDE,
    empty_words,
    jobs_columns,
    jobs_title,
    row_lines,
    source_lines,
    views_line,
)
from jobconsole.screens import job_acts as acts
from jobconsole.screens.job import JobScreen
from jobconsole.screens.jobs_filter import JobsFilteringScreen
from jobconsole.screens.jobs_listing import JobRows, key_of
from jobconsole.screens.jobs_making import plan_handlers
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_making import mark_handlers
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page, Paged
from jobconsole.screens.watching import PAUSE_SECONDS, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic
from jobcontract.jobs import HERE
from jobcontract.permissions import Permission, missing

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.jobs import JobSummary

LOW = 18
"""Below this many lines the row under the cursor is not told in full."""
AHEAD = 20
"""Rows that are read beyond those in sight."""
COUNT_SECONDS = 3.0
"""Between two counts, however fast hints come."""
TOPICS = frozenset({Topic.JOB, Topic.JOBS})


class JobsScreen(JobsFilteringScreen):
    """Background jobs of the tenant, within the person's reach."""

    PLACE = "jobs"
    TITLE_WORDS = "Jobs"
    READING = "Reading the jobs"
    EXPLANATION = (
        "Background jobs, the latest asked for first. The first view holds failures that nobody resolved and no retry mended; "
        "v shows those under way, then all. Each is in exactly one of five statuses: ○ pending, ◆ running, ✓ succeeded, ✗ "
        "failed, ⊘ cancelled; ◌ cancelling: a person asked for it. ↻ stands at a failure that was retried. ¤ moves money. Jobs of other engines stand among them, "
        "with their source: they are only read here. P retries what is marked or listed, after showing it."
    )
    AUTO_FOCUS = "#jobs"
    DEFAULT_CSS = """
    JobsScreen #title { height: 2; padding: 0 1; }
    JobsScreen #said { display: none; padding: 0 1; }
    JobsScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 5; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#jobs", Table)
    row = query_one("#row", Lines)

    def __init__(self, filter_text: str = "", shown: int = UNRESOLVED) -> None:
        """`filter_text`, `shown`: what is listed first."""
        super().__init__(filter_text, shown)
        self.looked_to: datetime | None = None
        self.rows = JobRows(self.at, lambda: self.wide)
        self.paged: Paged[JobSummary] = Paged(self.rows, self._page)
        self._count_old = self._counting = False
        self._awaited: str | None = None
        """The row that the cursor goes to once it is read."""

    def compose_body(self) -> ComposeResult:
        """Title and views, filter, what is said in words, list, the row under the cursor."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield self.make_filter_line()
            yield Lines(id="said")
            yield Table(id="jobs")
            yield Lines(id="row", indent=2)

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
            **super().handlers(),
            "job.open": self.open,
            "job.view": self.next_view,
            **acts.handlers(self, self.selected, self.took),
            "job.submit": partial(acts.submit, self, self.learn_kinds, self.submitted),
            **plan_handlers(self, self.marked),
            **mark_handlers(lambda: self.table, self.situation_changed),
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "row.first": lambda: self.table.action_jump(0),
            "row.last": self.go_to_last,
        }

    def situation(self) -> Situation:
        """The job under the cursor."""
        marked = len(self.table.marks) if self.there() else 0
        return replace(super().situation(), job=acts.selected_facts(self.selected()), marked=marked)

    def marked(self) -> tuple[JobSummary, ...]:
        """The marked jobs."""
        return tuple(each for each in self.rows.rows if key_of(each) in self.table.marks)

    def copyable(self) -> str | None:
        """The id of the job under the cursor."""
        selected = self.selected()
        return selected.id if selected is not None else None

    # Looking

    async def look(self) -> None:
        """Asks for the jobs as far as they are in sight, then counts."""
        if not self._may():
            return
        end = max(self.table.window[1], self.table.cursor + 1) if self.there() else 0
        await self.paged.again(end + AHEAD)
        self.count_soon()

    def concerned(self, hint: Hint) -> bool:
        """Whether a job changed."""
        return hint.topic in TOPICS

    def restless(self) -> bool:
        """Jobs of other engines change without a hint."""
        return any(not each.engine.startswith("jobservice") for each in self.sources)

    def least_pause(self) -> float:
        """The deeper in the list, the more pages are read."""
        return PAUSE_SECONDS * max(1, self.paged.pages)

    @property
    def wide(self) -> bool:
        """Whether the list has room for what happened beside what it is."""
        return self.size.width >= WIDE

    def listed(self) -> Sequence[JobSummary]:
        """The rows that were read."""
        return self.rows.rows

    async def _page(self, cursor: str | None) -> Page[JobSummary]:
        page = await self.page(self.asked_for(), cursor)
        self.sources, self.looked_to = page.sources, page.looked_to
        return page.jobs, page.next

    async def _more(self) -> None:
        await self.paged.more()
        self.show_all()

    def count_soon(self) -> None:
        """Lets a count begin, or another one follow the one that runs."""
        self._count_old = True
        if not self._counting:
            self._counting = True
            self.work(self._count(), doing="Counting the jobs", group="counts")

    async def _count(self) -> None:
        try:
            while self._count_old:
                self._count_old = False
                wanted, view = self.wanted, VIEWS[self.shown].view
                found = await client.job_counts(self.shell.service, self.asked_for(), view=view)
                if wanted == self.wanted:
                    self.counts, self.counted = found, wanted
                    self.show_heading()
                await asyncio.sleep(COUNT_SECONDS)
        finally:
            self._counting = False

    # Commands

    def open(self) -> None:
        """Shows everything of the job under the cursor."""
        if (selected := self.selected()) is not None:
            self.app.push_screen(JobScreen(selected.id, selected.source, selected))

    def next_view(self) -> None:
        """Lists the next view."""
        self.shown = (self.shown + 1) % len(VIEWS)
        self._awaited = None
        self.show_anew()

    def show_anew(self) -> None:
        """Another list is asked for: what is shown is not of it."""
        self.paged.begin((), None)
        self.told_at, self.looked_to = None, None
        self.table.show(self.rows, self._columns(), {}, fresh=True)
        self.show_all()
        self.refresh_all()

    def took(self, job: JobSummary) -> None:
        """An act told how a job stands: its row says so at once; the list is read again."""
        self.rows.put(job)
        self.show_all()
        self.look_again()

    def submitted(self, job: JobSummary) -> None:
        """One was submitted: the cursor goes to it as soon as it is listed."""
        self._awaited = key_of(job)
        self.took(job)

    async def go_to_last(self) -> None:
        """Reads on, and goes to the last row that was read."""
        await self.paged.more()
        self.show_all()
        self.table.action_jump(-1)

    # What is shown

    def selected(self) -> JobSummary | None:
        """The job under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows title and list for what is known now."""
        if not self.there():
            return
        rows = self.rows
        self.show_heading()
        self.table.display = len(rows) > 0
        self.table.show(rows, self._columns(), rows.needs())
        if self._awaited is not None and self.table.move_to(self._awaited):
            self._awaited = None
        if self.table.display and self.focused is None:
            self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_heading(self) -> None:
        """Shows what is listed and how many there are, the filter, what is to be said in words."""
        if not self.there():
            return
        width, now = max(20, self.size.width - 2), self.at().now
        marked, more = len(self.table.marks), self.paged.next is not None
        key = key_words(self, "job.view")["job.view"]
        elsewhere = sum(each.source != HERE for each in self.rows.rows)
        read = views_line(self.shown, marked, len(self.rows), more=more, key=key, width=width, elsewhere=elsewhere)
        self.title_line.show(
            [
                jobs_title(self.counts, self.shown, now, width, several=self.several),
                read,
            ]
        )
        self.show_filter_line()
        said = self._said()
        self.said.display = bool(said)
        self.said.show(said)

    def show_row(self) -> None:
        """Shows what is to know of the job under the cursor."""
        selected = self.selected()
        self.row.display = selected is not None and self.size.height >= LOW
        self.row.show(row_lines(selected, self.at(), brief=not self.wide) if selected is not None else [])

    def count_down(self) -> None:
        """Ages of what is in sight."""
        repaint(self.table, self.rows)
        self.show_heading()
        self.show_row()

    def _columns(self) -> tuple[Column, ...]:
        several = len({each.source for each in self.rows.rows}) > 1
        return jobs_columns(wide=self.wide, sources=several)

    def _may(self) -> bool:
        return Permission.JOB_READ in super().situation().permissions

    def _said(self) -> list[Line]:
        if self.shell.session is not None and not self._may():
            return [(Piece(missing(Permission.JOB_READ, self.shell.tenant), Tone.WARN),)]
        keys = key_words(self, "job.view", "job.filter-clear", "job.submit")
        told = empty_words(
            self.shown,
            self.filter_text,
            self.counts,
            {"view": keys["job.view"], "clear": keys["job.filter-clear"], "submit": keys["job.submit"]},
        )
        sources = (
            source_lines(self.sources, self.looked_to, self.at().now, max(20, self.size.width - 2))
            if not self.failure
            else []
        )
        return [*self.said_lines(told, rows=len(self.rows)), *sources]

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()
            self.situation_changed()

    @on(Table.MarksChanged)
    def _marks_changed(self) -> None:
        self.show_heading()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.paged.next is not None and event.end + AHEAD >= len(self.rows):
            self.work(self._more(), doing="Reading more jobs", group="more", exclusive=True)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("job.open")
