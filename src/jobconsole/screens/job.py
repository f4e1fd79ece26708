"""Owns the screen of one background job: where it stands and why, every step with its attempts, its history, what it is of,
its lineage, the notices about it, its inputs, which are masked until a person gives a reason. It looks again at hints.

On a low or narrow screen one part is in sight at a time; on a wide one all of them. What was revealed is forgotten when
the screen is left or covered, and after two minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.getters import query_one

from jobconsole.client import jobs as client
from jobconsole.client import plans as plans_client
from jobconsole.commands.situation import Situation
from jobconsole.places import resolve
from jobconsole.present.columns import Piece
from jobconsole.present.job_lines import LABEL, about_lines, job_title, standing_lines, unknown_title
from jobconsole.present.times import countdown
from jobconsole.screens import job_acts as acts
from jobconsole.screens.job_parts import COLUMNS, LEFT, RIGHT, JobParts, Part
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.shell import Handler
from jobconsole.screens.watching import WatchingScreen, repaint
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.events import Topic
from jobcontract.job_states import StepStatus
from jobcontract.jobs import HERE

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.jobs import Job, JobSummary

LOW, NARROW = 30, 110
"""Below this many lines, or cells, one part is in sight at a time."""
TIGHT = 18
"""Below this many lines the row under the cursor is not told in full."""
AHEAD = 10
"""Lines of history that are read beyond those in sight."""
REVEALED = timedelta(minutes=2)
"""How long revealed inputs stand in clear at most."""
OPEN_PLAN = "jobconsole.screens.plans_opening:open_plan"


class JobScreen(WatchingScreen):
    """Everything of one job."""

    PLACE = "job"
    TITLE_WORDS = "Job"
    READING = "Reading the job"
    EVERY = 5
    EXPLANATION = (
        "One background job. Its steps stand in their order: ○ queued, ◆ running, ◌ retrying (when, and why), ✓ succeeded, ✗ "
        "failed, ⊘ cancelled, each with its attempts. tab goes on to the history, what the job is of, its lineage (enter "
        "opens a relative), the notices to whoever asked for it, and its inputs. Those are masked; r reveals them for a "
        "reason, which is written down. A job of another engine is only read here."
    )
    CSS_PATH: ClassVar[str] = "job.tcss"
    AUTO_FOCUS = "#steps"

    heading = query_one("#heading", Lines)
    said = query_one("#said", Lines)
    standing = query_one("#standing", Lines)
    parts_line = query_one("#parts", Lines)
    row = query_one("#row", Lines)

    def __init__(self, identifier: str, source: str = HERE, known: JobSummary | None = None) -> None:
        """`known`: the job as a list had it."""
        super().__init__()
        self.identifier, self.source = identifier, source
        self.known = known
        self.parts = JobParts(self.at)
        self.part = Part.STEPS
        """Which part has the keyboard."""
        self.masked_again: datetime | None = None
        """When revealed inputs are masked again."""

    def compose_body(self) -> ComposeResult:
        """Heading, where it stands, the parts, the row under the cursor."""
        with Vertical():
            yield Lines(id="heading", clipped=True)
            yield Lines(id="said")
            yield Lines(id="standing", indent=LABEL)
            yield Lines(id="parts", clipped=True)
            with Horizontal(id="columns"):
                for side, parts in (("left", LEFT), ("right", RIGHT)):
                    with Vertical(id=side):
                        yield from _composed(parts)
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Shows what is known; what is not, the place asks for itself."""
        self.show_all()

    def on_resize(self, event: events.Resize) -> None:
        """Another size has room for other parts."""
        self.set_class(event.size.height >= LOW and event.size.width >= NARROW, "-wide")
        self.set_class(event.size.height < TIGHT, "-low")
        self.call_after_refresh(self.show_all)

    def on_screen_suspend(self) -> None:
        """Whatever covers the screen ends what was revealed."""
        self.mask()

    def on_unmount(self) -> None:
        """So does leaving it."""
        self.parts.mask()

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of one job."""
        return {
            **acts.handlers(self, lambda: self.summary, self.took),
            "job.section": lambda: self.next_part(1),
            "job.section-before": lambda: self.next_part(-1),
            "job.follow": self.follow,
            "job.plan": self.open_plan,
            "job.reveal": self.reveal,
            "row.next": lambda: self._move(1),
            "row.previous": lambda: self._move(-1),
            "row.first": lambda: self._jump(0),
            "row.last": self.go_to_last,
        }

    def situation(self) -> Situation:
        """The job, and whether the row under the cursor leads anywhere."""
        job = self.parts.job
        facts = acts.selected_facts(
            self.summary, job.acts if job is not None else None, plan=job is not None and job.plan is not None
        )
        if facts is not None and job is not None and not job.inputs:
            facts = replace(facts, refused={**facts.refused, "reveal": "it has no inputs"})
        opens = None if self._leads_to() is not None else "the row leads to no other job, and no retry was made"
        return replace(super().situation(), job=facts, opens=opens)

    @property
    def summary(self) -> JobSummary | None:
        """The job as it is known."""
        return self.parts.job.summary if self.parts.job is not None else self.known

    def copyable(self) -> str | None:
        """What the row under the cursor is about, else the job's id."""
        if self.part is Part.INPUTS and (given := self.parts.inputs.find(self._key())) is not None:
            return given.name if given.masked or given.value is None else str(given.value)
        if self.part is Part.STEPS and (step := self.parts.steps.find(self._key())) is not None and step.reference:
            return step.reference
        return self._relative() or self.identifier

    # Looking

    async def look(self) -> None:
        """Asks for the job; older history that is known stays."""
        job = await client.job(self.shell.service, self.identifier, self.source)
        if self.parts.job is None or job.now >= self.parts.job.now:
            self._take(job)

    def _take(self, job: Job) -> None:
        first = self.parts.job is None
        self.parts.take(job)
        if first:
            at = next((n for n, step in enumerate(job.steps) if step.status in _LOOKED_AT), 0)
            self.call_after_refresh(self._land, job.steps[at].step if job.steps else None)

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about the job, one of its lineage, or many of its kind."""
        summary = self.summary
        if hint.topic is Topic.JOBS:
            return summary is None or hint.id == summary.kind
        return hint.topic is Topic.JOB and (hint.id == self.identifier or self.parts.lineage.index(hint.id) is not None)

    def restless(self) -> bool:
        """Another engine sends no hints."""
        return self.source != HERE and self.summary is not None and not self.summary.status.final

    def took(self, job: JobSummary) -> None:
        """An act told how it stands; the rest of it is asked for."""
        if self.parts.job is not None and job.id == self.identifier:
            self.parts.take(self.parts.job.model_copy(update={"summary": job}))
        self.show_all()
        self.look_again()

    async def _older(self) -> None:
        if (cursor := self.parts.events_next) is not None:
            page = await client.job_events(self.shell.service, self.identifier, self.source, cursor=cursor)
            self.parts.take_older(page.events, page.next)
            self.show_all()

    # Commands

    def next_part(self, by: int) -> None:
        """The keyboard goes to another part that has something to show."""
        some = [part for part in Part if self.parts.there_are(part)] or [Part.STEPS]
        at = some.index(self.part) if self.part in some else 0
        self.part = some[(at + by) % len(some)]
        self.show_all()
        self._focus()

    def follow(self) -> None:
        """Opens the job of the lineage under the cursor, else the retry of this one."""
        if (relative := self._leads_to()) is not None:
            self.app.push_screen(JobScreen(relative, self.source))

    async def open_plan(self) -> None:
        """Shows its plan."""
        job = self.parts.job
        if job is not None and job.plan is not None:
            found = await plans_client.find(self.shell.service, job.plan)
            resolve(OPEN_PLAN)(self, found)

    async def reveal(self) -> None:
        """Asks for a reason, then shows the inputs in clear; shown already, they are masked again."""
        if self.parts.revealed:
            self.mask()
            return
        summary = self.summary
        if summary is None:
            return
        inputs = await acts.reveal(self, summary, len(self.parts.inputs))
        if inputs is None:
            return
        if not inputs:
            self.say("It has no inputs.")
            return
        self.parts.reveal(inputs)
        self.masked_again = self.at().now + REVEALED
        self.part = Part.INPUTS
        self.show_all()
        self._focus()
        self.look_again()

    def mask(self) -> None:
        """Forgets what was revealed."""
        self.masked_again = None
        if self.parts.revealed:
            self.parts.mask()
            self.show_all()

    async def go_to_last(self) -> None:
        """Reads what is left, and goes to the last row."""
        while self.part is Part.HISTORY and self.parts.events_next is not None:
            await self._older()
        self._jump(-1)

    # What is shown

    def table(self, part: Part) -> Table:
        """The list of a part."""
        return self.query_one(f"#{part}", Table)

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#heading")) and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        self.show_heading()
        known, wide = self.parts.job is not None, self.has_class("-wide")
        self.parts_line.show([self.parts.headings(self.part)] if known else [])
        for part in Part:
            shown = known and (self.parts.there_are(part) or part is Part.STEPS) and (wide or part is self.part)
            self.query_one(f"#head-{part}", Lines).display = wide and shown
            self.query_one(f"#head-{part}", Lines).show([self.parts.head(part, self.part)])
            self.query_one(f"#{part}").display = shown
            if part in COLUMNS:
                rows, table = self.parts.rows(part), self.table(part)
                if shown:
                    unread = part is Part.HISTORY and self.part is not part and table.cursor == 0
                    table.show(rows, COLUMNS[part](), rows.needs(), fresh=unread)
                table.styles.height = self._height(part) if wide else "1fr"
        self.query_one("#left").display = wide or self.part in LEFT
        self.query_one("#right").display = wide or self.part in RIGHT
        self.query_one("#about").styles.height = "auto" if wide else "1fr"
        self.query_one("#about-lines", Lines).show(about_lines(self.parts.job, self.at()) if self.parts.job else [])
        self._focus()
        self.show_row()
        self.situation_changed()

    def show_heading(self) -> None:
        """Shows what it is, and where it stands."""
        summary, job = self.summary, self.parts.job
        self.heading.show([job_title(summary) if summary is not None else unknown_title(self.identifier)])
        said = self.said_lines("", rows=int(job is not None))
        self.said.display = bool(said)
        self.said.show(said)
        words = key_words(self, "job.copy-reference", "job.follow")
        keys = {"reference": words["job.copy-reference"], "follow": words["job.follow"]}
        width = max(20, self.size.width - 2)
        self.standing.show(standing_lines(job, self.at(), width, keys) if job is not None else [])

    def show_row(self) -> None:
        """Shows everything of the row under the cursor."""
        keys = key_words(self, "job.follow", "job.reveal")
        told = {"follow": keys["job.follow"], "reveal": keys["job.reveal"]}
        lines = [*self.parts.row_lines(self.part, self._key(), told)]
        if self.masked_again is not None:
            left = countdown((self.masked_again - self.at().now).total_seconds())
            lines.append((Piece(f"In clear for {left} more; {told['reveal']} masks them at once."),))
        self.row.display = bool(lines) and self.size.height >= TIGHT
        self.row.show(lines)

    def count_down(self) -> None:
        """Counts down what is in sight, and masks what stood in clear long enough."""
        if self.masked_again is not None and self.at().now >= self.masked_again:
            self.mask()
        self.show_heading()
        for part in COLUMNS:
            if self.query_one(f"#{part}").display:
                repaint(self.table(part), self.parts.rows(part))
        self.show_row()

    # Steps

    def _height(self, part: Part) -> str | int:
        """Lines of a part on a wide screen: steps and history take what is left."""
        if part in (Part.STEPS, Part.HISTORY):
            return "1fr"
        return min(8, len(self.parts.rows(part)) + 1)

    def _key(self) -> str | None:
        return self.table(self.part).cursor_key if self.there() and self.part in COLUMNS else None

    def _relative(self) -> str | None:
        key = self._key() if self.part is Part.LINEAGE else None
        return key if key != self.identifier else None

    def _leads_to(self) -> str | None:
        return self._relative() or (self.summary.retried_by if self.summary is not None else None)

    def _land(self, step: str | None) -> None:
        if step is not None and self.there():
            self.table(Part.STEPS).move_to(step)

    def _focus(self) -> None:
        wanted = self.query_one(f"#{self.part}")
        if self.focused is not wanted and wanted.display:
            wanted.focus()

    def _move(self, by: int) -> None:
        if self.part is Part.ABOUT:
            self.query_one("#about").scroll_relative(y=by, animate=False)
        else:
            self.table(self.part).action_move(by)

    def _jump(self, to: int) -> None:
        if self.part is Part.ABOUT:
            about = self.query_one("#about")
            about.scroll_to(y=about.max_scroll_y if to < 0 else 0, animate=False)
        else:
            self.table(self.part).action_jump(to)

    @on(events.DescendantFocus)
    def _focused_another(self, event: events.DescendantFocus) -> None:
        """A click on another part gives it the keyboard."""
        part = next((part for part in Part if event.widget.id == part), None)
        if part is not None and part is not self.part:
            self.part = part
            self.show_all()

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()
            self.situation_changed()

    @on(Table.WindowMoved, "#history")
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if self.parts.events_next is not None and event.end + AHEAD >= len(self.parts.history):
            self.work(self._older(), doing="Reading older history", group="more", exclusive=True)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("job.follow")


_LOOKED_AT = frozenset({StepStatus.FAILED, StepStatus.RETRYING, StepStatus.RUNNING})
"""On which step the cursor begins: what failed, or what goes on."""


def _composed(parts: tuple[Part, ...]) -> ComposeResult:
    """Each part under its heading."""
    for part in parts:
        yield Lines(id=f"head-{part}", clipped=True)
        if part is Part.ABOUT:
            with VerticalScroll(id=part.value):
                yield Lines(id="about-lines", indent=LABEL)
        else:
            yield Table(id=part.value)
