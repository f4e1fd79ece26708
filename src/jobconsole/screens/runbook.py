"""Owns the screen of a schedule's runbooks: the three procedures, one in full, what was done before. `enter` opens what
performs a procedure: its own dialog asks, nothing is done from here. What became of it stands there, and the transcript is
read again from the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.getters import query_one

from jobconsole.client import occurrences as occurrences_client
from jobconsole.client import runbooks as client
from jobconsole.client import schedules as schedules_client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.runbooks import LABEL, runbook_lines, runbooks_cells, runbooks_columns, transcript_lines
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.named import opened
from jobconsole.screens.occurrence_acts import replay
from jobconsole.screens.recovery_form import Asking
from jobconsole.screens.recovery_making import ask
from jobconsole.screens.schedule_acts import disable, enable, run_now, schedule_facts
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import ToldRows
from jobconsole.screens.watching import WatchingScreen
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table
from jobcontract import operating_routes
from jobcontract.events import Topic
from jobcontract.operating import Procedure, RecoveryAct
from jobcontract.runbooks import Runbook
from jobcontract.states import OccurrenceState

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.occurrences import Occurrence
    from jobcontract.runbooks import Runbooks
    from jobcontract.schedules import Schedule

OCCURRENCES = "jobconsole.screens.occurrences:OccurrencesScreen"
"""Imported when it is opened: it opens this screen, too."""
EMPTY = "The records name no procedure for it. `jobservice check` says what is missing."


class RunbookScreen(WatchingScreen):
    """How a schedule is inspected, replayed and disabled."""

    PLACE = "runbook"
    TITLE_WORDS = "Runbooks"
    READING = "Reading the runbooks"
    EXPLANATION = (
        "How this schedule is inspected, replayed and disabled, as its record states it: the steps, the request and the "
        "headless command, who may, what happens to an occurrence that a Worker has claimed. enter opens what performs the "
        "selected procedure; its own dialog asks before anything is done. Below stands what was done before, from the audit "
        "trail."
    )
    DEFAULT_CSS = """
    RunbookScreen #title { height: 1; padding: 0 1; }
    RunbookScreen #said { display: none; padding: 0 1; }
    RunbookScreen #procedures { height: 4; }
    RunbookScreen #whole { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; border-top: solid $foreground 25%; }
    RunbookScreen #whole:focus { border-top: solid $primary; background-tint: transparent; }
    RunbookScreen #transcript { margin-top: 1; }
    """
    AUTO_FOCUS = "#procedures"

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#procedures", Table)
    pane = query_one("#whole", VerticalScroll)
    steps = query_one("#steps", Lines)
    done = query_one("#transcript", Lines)

    def __init__(self, schedule: str, *, known: Schedule | None = None, occurrence: Occurrence | None = None) -> None:
        """`known`: the schedule as the place below had it; `occurrence`: the one that a replay is about."""
        super().__init__()
        self.schedule = schedule
        self.known = known
        self.occurrence = occurrence
        self.runbooks: Runbooks | None = None
        self.result = ""
        """What became of the procedure that was performed last."""
        self.rows: ToldRows[Runbook] = ToldRows(lambda each: each.id, lambda each, _: runbooks_cells(each))

    def compose_body(self) -> ComposeResult:
        """Title, procedures, one of them, what was done."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="procedures")
            with VerticalScroll(id="whole"):
                yield Lines(id="steps", indent=LABEL)
                yield Lines(id="transcript", indent=2)

    def on_mount(self) -> None:
        """Shows that it is reading; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Performing, and moving in the list."""
        return {
            "runbook.perform": self.perform,
            "schedule.disable": self.disable,
            "schedule.enable": self.enable,
            "schedule.run": self.run_schedule,
            **row_handlers(lambda: self.table),
        }

    def situation(self) -> Situation:
        """The schedule, and whether the procedure under the cursor may be performed."""
        selected = self.selected()
        return replace(
            super().situation(),
            schedule=self.schedule if self.rows.rows else None,
            schedule_now=schedule_facts(self.known),
            procedure_refused=selected.refused if selected is not None else None,
        )

    def copyable(self) -> str | None:
        """The headless command of the procedure under the cursor."""
        selected = self.selected()
        return selected.command if selected is not None else self.schedule

    def selected(self) -> Runbook | None:
        """The procedure under the cursor."""
        return self.rows.find(self.table.cursor_key) if self.there() else None

    # Looking

    async def look(self) -> None:
        """Asks for the runbooks, with what was done."""
        self.runbooks = await client.runbooks(self.shell.service, self.schedule)
        self.rows.show(self.runbooks.runbooks)

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about its schedule."""
        return hint.topic is Topic.SCHEDULES or (hint.topic is Topic.SCHEDULE and hint.id == self.schedule)

    # Performing

    async def perform(self) -> None:
        """Opens what performs the procedure under the cursor."""
        selected = self.selected()
        if selected is None:
            return
        if selected.procedure is Procedure.INSPECT:
            self._inspect()
        elif selected.procedure is Procedure.DISABLE:
            await self.disable()
        elif selected.route == operating_routes.RUN_SCHEDULE.name:
            await self.run_schedule()
        elif selected.route == operating_routes.MAKE_RECOVERY.name:
            made = await ask(self, Asking(act=RecoveryAct.REPLAY, schedules=(self.schedule,), occurrences=()))
            self._result(f"The recovery {made.name} was frozen." if made is not None else "")
        else:
            await self._replay()

    async def disable(self) -> None:
        """Asks for a reason and until when, then switches the schedule off."""
        self._ended(await disable(self, await self._read()), "The schedule was disabled.")

    async def enable(self) -> None:
        """Shows what is made up for, asks for a reason, then switches the schedule on."""
        self._ended(await enable(self, await self._read()), "The schedule was enabled.")

    async def run_schedule(self) -> None:
        """Shows the guard, asks for a reason, then starts the schedule."""
        made = await run_now(self, await self._read())
        self._result(f"{made.name} was made." if made is not None else "")

    def _inspect(self) -> None:
        if (screen := opened(OCCURRENCES, self.schedule, self.known)) is not None:
            self.app.push_screen(screen)

    async def _replay(self) -> None:
        """Of the occurrence that the runbook was opened for; else of the latest dead letter, where there is one."""
        occurrence = self.occurrence
        service = self.shell.service
        if occurrence is None:
            page = await occurrences_client.occurrences(service, self.schedule, (OccurrenceState.DEAD_LETTER,))
            occurrence = next((each for each in page.occurrences if each.discarded_at is None), None)
        if occurrence is None:
            self._inspect()
            self.app.call_later(self.say_there, "No dead letter waits. Choose the occurrence; its own key replays it.")
            return
        fresh = await occurrences_client.occurrence(service, occurrence.id)
        told = await replay(self, fresh.occurrence)
        self._result(f"{told.name} runs again: replay {told.replays:,}." if told is not None else "")

    def say_there(self, sentence: str) -> None:
        """Says something on the place that is in front."""
        front = self.app.screen
        if isinstance(front, WatchingScreen):
            front.say(sentence)

    def _ended(self, told: Schedule | None, words: str) -> None:
        if told is not None:
            self.known = told
        self._result(words if told is not None else "")

    def _result(self, words: str) -> None:
        self.result = words
        self.show_all()
        self.look_again()

    async def _read(self) -> Schedule:
        self.known = (await schedules_client.schedule(self.shell.service, self.schedule)).schedule
        return self.known

    # What is shown

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#transcript"))

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        self.title_line.show([(Piece("Runbooks of ", Tone.QUIET), Piece(self.schedule, Tone.STRONG))])
        said = self.said_lines(EMPTY, rows=len(self.rows))
        self.said.display = bool(said)
        self.said.show(said)
        self.table.display = self.pane.display = len(self.rows) > 0
        self.table.styles.height = len(self.rows) + 1
        self.table.show(self.rows, runbooks_columns(), self.rows.needs())
        self.show_selected()
        self.situation_changed()

    def show_selected(self) -> None:
        """Shows the procedure under the cursor, and what was done."""
        selected = self.selected()
        self.steps.show(runbook_lines(selected) if selected is not None else [])
        self.count_down()

    def count_down(self) -> None:
        """Ages of what was done."""
        if self.runbooks is None or not self.there():
            return
        told: list[Line] = [(Piece(f"✓ {self.result}", Tone.GOOD),)] if self.result else []
        head: Line = (Piece("What was done, the latest first", Tone.QUIET),)
        self.done.show([*told, head, *transcript_lines(self.runbooks.transcript, self.at())])

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        if self.there():
            self.pane.scroll_home(animate=False)
            self.show_selected()
            self.situation_changed()

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("runbook.perform")


def open_runbook(screen: WatchingScreen, schedule: Schedule | str | None, occurrence: Occurrence | None = None) -> None:
    """Shows the runbooks of the schedule; `occurrence`: the one that a replay is about."""
    if schedule is None:
        return
    named = schedule if isinstance(schedule, str) else schedule.id
    known = None if isinstance(schedule, str) else schedule
    screen.app.push_screen(RunbookScreen(named, known=known, occurrence=occurrence))
