"""Owns the screen of the occurrences of one schedule: the latest scheduled first, page by page, all or those in one state.
It looks again when a hint names the schedule; a row stays where it is by its occurrence's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jobconsole.client import occurrences as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Column, Line, Piece
from jobconsole.present.occurrences import (
    FILTERS,
    empty_words,
    occurrences_cells,
    occurrences_columns,
    occurrences_title,
    row_lines,
)
from jobconsole.screens.listed import PagedScreen
from jobconsole.screens.occurrence import OccurrenceScreen, open_named
from jobconsole.screens.occurrence_acts import discard, replay
from jobconsole.screens.occurrence_cancel import cancel, end_cancelling, selected_facts
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_making import making_handlers, mark_handlers
from jobconsole.screens.runbook import open_runbook
from jobconsole.screens.shell import Handler
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import Page, ToldRows
from jobconsole.screens.why import why_occurrence
from jobcontract.events import Topic
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.occurrences import Occurrence
    from jobcontract.schedules import Schedule


class OccurrencesScreen(PagedScreen["Occurrence"]):
    """Occurrences of one schedule."""

    PLACE = "occurrences"
    TITLE_WORDS = "Occurrences"
    READING = "Reading the occurrences"
    MORE = "Reading more occurrences"
    LIST = "occurrences"
    OPENS = "occurrence.open"
    INDENT = 0
    DEFAULT_CSS = """
    OccurrencesScreen #title { height: 2; }
    OccurrencesScreen #row { max-height: 5; }
    """
    EXPLANATION = (
        "Every time at which the schedule was to run, the latest first, each in exactly one of four states: ○ scheduled, also "
        "while it waits for its next attempt; ◆ processing; ✓ completed; ✗ dead letter, which no machine tries again. Next "
        "to it stands how many attempts it took of those it may have, and how its items ended. Times are UTC: they are the "
        "occurrence's name."
    )

    def __init__(self, schedule: str, known: Schedule | None = None) -> None:
        """`known`: the schedule as the list had it."""
        super().__init__(ToldRows(lambda each: each.id, lambda each, _: self.cells(each)))
        self.schedule = schedule
        self.money = known is not None and known.moves is Moves.MONEY
        self.cancelled: str | None = None
        """Which was asked last to be cancelled."""
        self.shown = 0
        """Which of `FILTERS` is in force."""

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "occurrence.open": self.open,
            "occurrence.states": self.next_states,
            "occurrence.cancel": self.cancel,
            "occurrence.replay": self.replay,
            "occurrence.discard": self.discard,
            "runbook.show": lambda: open_runbook(self, self.schedule),
            "why.show": lambda: why_occurrence(self, self.selected(), self.schedule),
            **making_handlers(self, schedules=lambda: (self.schedule,), occurrences=self.marked),
            **mark_handlers(lambda: self.table, self.situation_changed),
            "timeline.open": lambda: open_timeline(self),
            **super().handlers(),
        }

    def situation(self) -> Situation:
        """The occurrence under the cursor."""
        facts, marked = super().situation(), len(self.table.marks) if self.there() else 0
        occurrence = selected_facts(self.selected(), money=self.money)
        return replace(facts, schedule=self.schedule, occurrence=occurrence, marked=marked)

    def marked(self) -> tuple[str, ...]:
        """The marked occurrences, by id."""
        return tuple(each.id for each in self.rows.rows if each.id in self.table.marks)

    def copyable(self) -> str | None:
        """The name of the occurrence under the cursor."""
        selected = self.selected()
        return selected.name if selected is not None else self.schedule

    def go_to_name(self, word: str) -> bool:
        """Opens the occurrence that is named `schedule@instant`, of whichever schedule."""
        return open_named(self, word)

    # Looking

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about the schedule."""
        return hint.topic is Topic.SCHEDULES or (hint.topic is Topic.SCHEDULE and hint.id == self.schedule)

    def restless(self) -> bool:
        """Leases are renewed without a hint."""
        return any(each.lease is not None for each in self.rows.rows)

    async def page(self, cursor: str | None) -> Page[Occurrence]:
        """Those in the state that is shown."""
        states = FILTERS[self.shown][1]
        page = await client.occurrences(self.shell.service, self.schedule, states, cursor=cursor)
        return page.occurrences, page.next

    # Commands

    def open(self) -> None:
        """Shows everything of the occurrence under the cursor."""
        if (selected := self.selected()) is not None:
            self.app.push_screen(OccurrenceScreen(selected.id, selected, money=self.money))

    def next_states(self) -> None:
        """Shows those in the next state."""
        self.shown = (self.shown + 1) % len(FILTERS)
        self.begin()
        self.refresh_all()

    async def cancel(self) -> None:
        """Asks for a reason, then cancels the occurrence under the cursor."""
        selected = self.selected()
        if selected is not None and (told := await cancel(self, selected)) is not None:
            self.cancelled = told.id
            self._put(told)
        self.look_again()

    async def replay(self) -> None:
        """Asks for a reason, then has the occurrence under the cursor run again."""
        if (selected := self.selected()) is not None:
            self._put(await replay(self, selected))
            self.look_again()

    async def discard(self) -> None:
        """Asks for a reason, then puts the dead letter under the cursor away."""
        if (selected := self.selected()) is not None:
            self._put(await discard(self, selected))
            self.look_again()

    def _put(self, told: Occurrence | None) -> None:
        if told is not None:
            self.rows.put(told)
            self.show_all()

    # What is shown

    def columns(self) -> tuple[Column, ...]:
        """The columns of the list."""
        return occurrences_columns()

    def cells(self, occurrence: Occurrence) -> Mapping[str, Piece]:
        """The cells of one row."""
        return occurrences_cells(occurrence, self.at())

    def heading(self, width: int) -> Sequence[Line]:  # noqa: ARG002  the base's form
        """Of which schedule, in which state."""
        more, key = self.paged.next is not None, self._states_key()
        return occurrences_title(self.schedule, self.shown, len(self.rows), more=more, key=key)

    def words(self) -> Sequence[Line]:
        """That there is none in the state that is shown."""
        return self.said_lines(empty_words(self.schedule, self.shown, self._states_key()), rows=len(self.rows))

    def row_lines(self, row: Occurrence) -> Sequence[Line]:
        """What is to know of an occurrence."""
        return row_lines(row, self.at())

    def show_all(self) -> None:
        """Also takes back that one is being cancelled, once it has ended."""
        super().show_all()
        end_cancelling(self, self.rows.find(self.cancelled))

    def count_down(self) -> None:
        """Counts down what is in sight."""
        super().count_down()
        self.show_row()

    def _states_key(self) -> str:
        return key_words(self, "occurrence.states")["occurrence.states"]
