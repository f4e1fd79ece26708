"""Owns the screen of the dead letters of one schedule or of every schedule, and what the overview and alarms lead to. It is
the list of occurrences with another beginning: `v` shows the other states as there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from jobconsole.client import occurrences as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Column, Piece, Tone
from jobconsole.present.occurrences import FILTERS
from jobconsole.screens.occurrences import OccurrencesScreen
from jobconsole.screens.recovery_making import making_handlers
from jobconsole.screens.runbook import open_runbook
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page
from jobconsole.screens.why import why_occurrence
from jobcontract.events import Topic
from jobcontract.states import OccurrenceState

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.occurrences import Occurrence

EVERY = "every schedule"
DEAD = next(at for at, (_, states) in enumerate(FILTERS) if states == (OccurrenceState.DEAD_LETTER,))
TOPICS = frozenset({Topic.SCHEDULE, Topic.SCHEDULES})


class DeadLettersScreen(OccurrencesScreen):
    """Dead letters, of one schedule or of all."""

    def __init__(self, schedule: str | None = None) -> None:
        super().__init__(schedule or EVERY)
        self.every = schedule is None
        self.shown = DEAD

    def handlers(self) -> Mapping[str, Handler]:
        """As the list of one schedule has them; what is about a schedule takes that of the row under the cursor."""
        if not self.every:
            return super().handlers()
        return {
            **super().handlers(),
            **making_handlers(self, occurrences=self.marked),
            "runbook.show": lambda: open_runbook(self, self.schedule_here()),
            "why.show": lambda: why_occurrence(self, self.selected(), self.schedule_here()),
        }

    def situation(self) -> Situation:
        """The occurrence under the cursor, and its schedule."""
        facts = super().situation()
        return replace(facts, schedule=self.schedule_here()) if self.every else facts

    def schedule_here(self) -> str | None:
        """The schedule of the row under the cursor."""
        selected = self.selected()
        return selected.schedule if selected is not None else None

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about a schedule that is listed."""
        return hint.topic in TOPICS if self.every else super().concerned(hint)

    def columns(self) -> tuple[Column, ...]:
        """With the schedule, where they are of several."""
        if not self.every:
            return super().columns()
        state, scheduled, _, *rest = super().columns()
        return state, Column(id="schedule", label="schedule", least=8, uncut=True, most=28, yields=5), scheduled, *rest

    def cells(self, occurrence: Occurrence) -> Mapping[str, Piece]:
        """With the schedule, where they are of several."""
        return {**super().cells(occurrence), "schedule": Piece(occurrence.schedule, Tone.STRONG)}

    async def page(self, cursor: str | None) -> Page[Occurrence]:
        """Those of the schedule, or of every one."""
        schedule = None if self.every else self.schedule
        page = await client.occurrences(self.shell.service, schedule, FILTERS[self.shown][1], cursor=cursor)
        return page.occurrences, page.next
