"""Owns the screen that answers *why is it not running?* for one schedule or one occurrence: a sentence, the evidence, what
to do and with which key, what else was checked. It asks again when a hint names the schedule, and every few seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.getters import query_one

from jobconsole.client import occurrences as occurrences_client
from jobconsole.client import schedules as schedules_client
from jobconsole.client import why as client
from jobconsole.commands.catalogue import BY_ID, unavailable
from jobconsole.commands.situation import SelectedSchedule, Situation
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.why import COMMANDS, LABEL, why_lines
from jobconsole.screens.occurrence_acts import replay
from jobconsole.screens.occurrence_cancel import selected_facts
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.runbook import open_runbook
from jobconsole.screens.schedule_acts import enable, run_now, schedule_facts
from jobconsole.screens.shell import Handler
from jobconsole.screens.simulator import open_simulator
from jobconsole.screens.watching import WatchingScreen
from jobconsole.widgets.lines import Lines
from jobcontract.events import Topic
from jobcontract.operating import WhyKind

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.occurrences import Occurrence
    from jobcontract.schedules import Schedule
    from jobcontract.why import Why

DOES: Mapping[str, str] = {
    "stop.list": "shows the stops",
    "occurrence.replay": "replays it",
    "schedule.enable": "enables it",
    "schedule.run": "runs it",
    "schedule.simulate": "simulates it",
    "runbook.show": "shows its runbooks",
}
"""What each command does about it, after its key."""


class WhyScreen(WatchingScreen):
    """Why a schedule or an occurrence does not run now."""

    PLACE = "why"
    TITLE_WORDS = "Why is it not running?"
    READING = "Asking why"
    EXPLANATION = (
        "Every cause that can keep a schedule or an occurrence from running is checked by the service, at this moment. What "
        "applies stands first, the most decisive one at the top, with the facts it rests on and what can be done; what does "
        "not apply is listed as checked. It looks again by itself."
    )
    DEFAULT_CSS = """
    WhyScreen #title { height: 1; padding: 0 1; }
    WhyScreen #said { display: none; padding: 0 1; }
    WhyScreen #whole { height: 1fr; padding: 1 1 0 1; scrollbar-size-vertical: 1; }
    """
    AUTO_FOCUS = "#whole"

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    answer = query_one("#answer", Lines)

    def __init__(self, schedule: str, *, known: Schedule | None = None, occurrence: Occurrence | None = None) -> None:
        """`known`: the schedule as the place below had it; with an `occurrence` that one is asked about."""
        super().__init__()
        self.schedule = schedule
        self.known = known
        self.occurrence = occurrence
        self.why: Why | None = None

    def compose_body(self) -> ComposeResult:
        """What is asked about, what failed, the answer."""
        yield Lines(id="title", clipped=True)
        yield Lines(id="said")
        with VerticalScroll(id="whole"):
            yield Lines(id="answer", indent=LABEL)

    def on_mount(self) -> None:
        """Shows that it is asking; the place asks by itself."""
        self.show_all()

    def handlers(self) -> Mapping[str, Handler]:
        """What can be done about it from here."""
        return {
            "occurrence.replay": self.replay,
            "schedule.enable": self.enable,
            "schedule.run": self.run_schedule,
            "schedule.simulate": self.simulate,
            "runbook.show": lambda: open_runbook(self, self.schedule),
        }

    def situation(self) -> Situation:
        """What is asked about, as far as it is known."""
        facts = schedule_facts(self.known) or self._facts()
        return replace(
            super().situation(),
            schedule=self.schedule,
            schedule_now=facts,
            occurrence=selected_facts(self.occurrence, money=facts is not None and facts.money),
        )

    def copyable(self) -> str | None:
        """The sentence."""
        return self.why.sentence if self.why is not None else None

    async def look(self) -> None:
        """Asks why."""
        service = self.shell.service
        found = (
            await client.occurrence_why(service, self.occurrence.id)
            if self.occurrence is not None
            else await client.schedule_why(service, self.schedule)
        )
        if self.why is None or found.now >= self.why.now:
            self.why = found

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about its schedule, or about what holds everything still."""
        return hint.topic in (Topic.SCHEDULES, Topic.STOPS) or (
            hint.topic is Topic.SCHEDULE and hint.id == self.schedule
        )

    def restless(self) -> bool:
        """Leases, Workers and times change without a hint."""
        return True

    async def replay(self) -> None:
        """Asks for a reason, then has the occurrence run again."""
        if self.occurrence is not None:
            detail = await occurrences_client.occurrence(self.shell.service, self.occurrence.id)
            self.occurrence = await replay(self, detail.occurrence) or detail.occurrence
            self.look_again()

    async def enable(self) -> None:
        """Shows what is made up for, asks for a reason, then switches the schedule on."""
        schedule = await self._read()
        self.known = await enable(self, schedule) or schedule
        self.look_again()

    async def run_schedule(self) -> None:
        """Shows the guard, asks for a reason, then starts the schedule."""
        await run_now(self, await self._read())
        self.look_again()

    async def simulate(self) -> None:
        """Opens the simulator for the schedule."""
        open_simulator(self, await self._read())

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#answer"))

    def show_all(self) -> None:
        """Shows the question and the answer for what is known now."""
        if not self.there():
            return
        subject = self.occurrence.name if self.occurrence is not None else self.schedule
        self.title_line.show([(Piece("Why is it not running?  ", Tone.QUIET), Piece(subject, Tone.STRONG))])
        said = self.said_lines("", rows=int(self.why is not None))
        self.said.display = bool(said)
        self.said.show(said)
        self.count_down()
        self.situation_changed()

    def count_down(self) -> None:
        """Ages of the evidence."""
        self.answer.show(self._lines())

    def _lines(self) -> list[Line]:
        if self.why is None:
            return []
        situation, words = self.situation(), key_words(self, *DOES)
        able = [each for each in set(COMMANDS.values()) if unavailable(BY_ID[each], situation) is None]
        return why_lines(self.why, self.at(), {each: f"{words[each]} {DOES[each]}" for each in able})

    def _facts(self) -> SelectedSchedule | None:
        """What the causes say of a schedule that the place below did not know."""
        if self.why is None:
            return None
        applying = {each.kind for each in self.why.causes if each.applies}
        return SelectedSchedule(manual=WhyKind.MANUAL in applying, disabled=WhyKind.DISABLED in applying)

    async def _read(self) -> Schedule:
        self.known = (await schedules_client.schedule(self.shell.service, self.schedule)).schedule
        return self.known


def why_schedule(screen: WatchingScreen, schedule: Schedule | None) -> None:
    """Asks why the schedule does not run."""
    if schedule is not None:
        screen.app.push_screen(WhyScreen(schedule.id, known=schedule))


def why_occurrence(screen: WatchingScreen, occurrence: Occurrence | None, schedule: str | None) -> None:
    """Asks why the occurrence does not run; without one why the schedule does not."""
    named = occurrence.schedule if occurrence is not None else schedule
    if named is not None:
        screen.app.push_screen(WhyScreen(named, occurrence=occurrence))
