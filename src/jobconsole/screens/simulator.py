"""Owns the clock simulator: what a schedule does in a stretch of time, with downtimes, by its record and by an edit, side
by side or one after the other. Nothing is saved, and it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.getters import query_one

from jobconsole.client import simulation as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Piece, Tone
from jobconsole.present.queues import WIDE
from jobconsole.present.simulation import (
    command_text,
    course_cells,
    course_columns,
    course_lines,
    instant_key,
    instant_lines,
    simulation_lines,
)
from jobconsole.screens.acts import where_of
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.shell import Handler
from jobconsole.screens.simulator_form import Simulated, SimulatorForm
from jobconsole.screens.told_rows import ToldRows
from jobconsole.screens.watching import WatchingScreen
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract.simulation import SimulatedInstant, SimulationOrder

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.schedules import Schedule
    from jobcontract.simulation import Course, Simulation

NAMES = {"current": "by the record", "edited": "by the edit"}
UNASKED = "Nothing is simulated yet: enter opens the form."


class SimulatorScreen(WatchingScreen):
    """What a schedule does in a stretch of time."""

    PLACE = "simulator"
    TITLE_WORDS = "Simulator"
    READING = "Simulating"
    EXPLANATION = (
        "What a schedule does in a stretch of time, as the service's own planner computes it: ✓ fires, ↻ made up after a "
        "downtime, – skipped and ≡ merged by the misfire policy, ▲ left out by a change of the clock. The course by the record "
        "stands beside the one by the edit; ≠ marks what differs. tab goes from one to the other. Nothing is ever saved: a "
        "record is changed in its file."
    )
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual does not declare it as the class's
    DEFAULT_CSS = """
    SimulatorScreen #title { height: 1; padding: 0 1; }
    SimulatorScreen #said { display: none; padding: 0 1; }
    SimulatorScreen #about { padding: 0 1; max-height: 5; }
    SimulatorScreen #courses { height: 1fr; margin-top: 1; }
    SimulatorScreen .course { width: 1fr; height: 1fr; }
    SimulatorScreen .course > Lines { padding: 0 1; max-height: 4; }
    SimulatorScreen.-wide #edited { border-left: solid $foreground 25%; }
    SimulatorScreen #row { border-top: solid $foreground 25%; padding: 0 1; max-height: 3; }
    """
    AUTO_FOCUS = "#rows-current"

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    about = query_one("#about", Lines)
    row = query_one("#row", Lines)

    def __init__(self, schedule: Schedule) -> None:
        super().__init__()
        self.schedule = schedule
        self.simulated: Simulated | None = None
        self.course = "current"
        """Which course has the keyboard: `current` or `edited`."""
        self.rows = {name: ToldRows(instant_key, lambda each, _: self._cells(each)) for name in NAMES}

    def compose_body(self) -> ComposeResult:
        """Title, what was simulated, the two courses, the instant under the cursor."""
        yield Lines(id="title", clipped=True)
        yield Lines(id="said")
        yield Lines(id="about")
        with Horizontal(id="courses"):
            for name in NAMES:
                with Vertical(id=name, classes="course"):
                    yield Lines(id=f"head-{name}")
                    yield Table(id=f"rows-{name}")
        yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Opens the form over an empty simulator."""
        self.show_all()
        self.run_command("simulator.edit")

    def on_resize(self) -> None:
        """Another width has room for one course, or both."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """The form, and moving in the courses."""
        return {
            "simulator.edit": self.edit,
            "simulator.course": self.next_course,
            **row_handlers(lambda: self.table),
        }

    def situation(self) -> Situation:
        """The schedule."""
        return replace(super().situation(), schedule=self.schedule.id)

    def copyable(self) -> str | None:
        """The headless command that simulates the same."""
        if self.simulated is None:
            return self.schedule.id
        return command_text(self.schedule.id, self.simulated.order, where_of(self))

    @property
    def table(self) -> Table:
        """The course that has the keyboard."""
        return self.query_one(f"#rows-{self.course}", Table)

    @property
    def answer(self) -> Simulation | None:
        """What the service computed last."""
        return self.simulated.answer if self.simulated is not None else None

    # Asking

    async def edit(self) -> None:
        """Opens the form, and shows what comes of it; not over another dialog."""
        if self.app.screen is not self:
            return
        typed = self.simulated.typed if self.simulated is not None else None
        told = await self.app.push_screen_wait(SimulatorForm(self.schedule, self.at, self._ask, typed))
        if told is not None:
            self._take(told)

    async def look(self) -> None:
        """Asks the same again: the records may have another rhythm by now."""
        if self.simulated is not None:
            self._take(replace(self.simulated, answer=await self._ask(self.simulated.order)))

    def concerned(self, hint: Hint) -> bool:  # noqa: ARG002  the protocol's
        """Nothing that happens changes what was computed."""
        return False

    def next_course(self) -> None:
        """The keyboard goes to the other course."""
        if self.answer is not None and self.answer.edited is not None:
            self.course = "edited" if self.course == "current" else "current"
            self.show_all()

    async def _ask(self, order: SimulationOrder) -> Simulation:
        return await client.simulate(
            self.shell.service, self.schedule.id, order.since, order.until, order.down, order.edit
        )

    def _take(self, told: Simulated) -> None:
        self.simulated = told
        answer = told.answer
        if answer.edited is None:
            self.course = "current"
        self.rows["current"].show(answer.current.instants)
        self.rows["edited"].show(answer.edited.instants if answer.edited is not None else ())
        self.show_all()

    # What is shown

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#row"))

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        simulated, both = self.simulated, self.has_class("-wide")
        self.title_line.show([(Piece("Simulator of ", Tone.QUIET), Piece(self.schedule.id, Tone.STRONG))])
        self.said.display = simulated is None
        self.said.show([(Piece(UNASKED, Tone.QUIET),)])
        self.query_one("#courses").display = self.about.display = simulated is not None
        if simulated is not None:
            self.about.show(simulation_lines(simulated.answer, simulated.order))
            for name, course in (("current", simulated.answer.current), ("edited", simulated.answer.edited)):
                self._show_course(name, course, shown=course is not None and (both or name == self.course))
            if self.focused is not self.table:
                self.table.focus()
        self.show_row()
        self.situation_changed()

    def show_row(self) -> None:
        """Shows the instant under the cursor in full."""
        instant = self.rows[self.course].find(self.table.cursor_key) if self.answer is not None else None
        self.row.display = instant is not None
        if instant is not None and self.answer is not None:
            self.row.show(instant_lines(instant, self.answer, self.at()))

    def count_down(self) -> None:
        """What was computed does not age."""

    def _show_course(self, name: str, course: Course | None, *, shown: bool) -> None:
        self.query_one(f"#{name}").display = shown
        if course is None:
            return
        alone = self.answer is None or self.answer.edited is None
        self.query_one(f"#head-{name}", Lines).show(
            course_lines(course, NAMES[name], chosen=name == self.course and not alone)
        )
        rows = self.rows[name]
        self.query_one(f"#rows-{name}", Table).show(rows, course_columns(), rows.needs())

    def _cells(self, instant: SimulatedInstant) -> Mapping[str, Piece]:
        return course_cells(instant, self.answer) if self.answer is not None else {}

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.show_row()


def open_simulator(screen: WatchingScreen, schedule: Schedule | None) -> None:
    """Opens the simulator for the schedule; one that nothing but a person starts has nothing to simulate."""
    if schedule is None:
        return
    if schedule.rhythm is None:
        screen.say("A person starts it: it has no rhythm to simulate.", error=True)
        return
    screen.app.push_screen(SimulatorScreen(schedule))
