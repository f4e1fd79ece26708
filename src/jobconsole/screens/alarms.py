"""Owns the place that lists alarms: what needs somebody, since when, who looks after it, whether others were told. It looks
again when a hint says that alarms changed; a row stays where it is by its alarm's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jobconsole.client import alarms as client
from jobconsole.commands.situation import SelectedAlarm, Situation
from jobconsole.present.alarms import EMPTY, alarm_lines, alarms_cells, alarms_columns, alarms_title
from jobconsole.present.columns import Column, Line
from jobconsole.screens.alarms_acting import acknowledge
from jobconsole.screens.listed import PagedScreen
from jobconsole.screens.overview_going import open_subject
from jobconsole.screens.shell import Handler
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import Page, ToldRows
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.alarms import Alarm, Alarms
    from jobcontract.events import Hint

WIDE = 100
"""From this width on the list also says whether others were told."""


class AlarmsScreen(PagedScreen["Alarm"]):
    """Alarms of the tenant."""

    PLACE = "alarms"
    TITLE_WORDS = "Alarms"
    READING = "Reading the alarms"
    MORE = "Reading more alarms"
    LIST = "alarms"
    EMPTY = EMPTY
    OPENS = "alarm.open"
    EXPLANATION = (
        "What needs somebody: ■ a stop in force, ✗ no Worker, a schedule that is parked or has dead letters, ▲ late, or far "
        "more failures than as a rule (spike), △ missed, ◔ dead letters that are removed within a day. Open ones stand first, "
        "the most urgent first; ✓ what is over, the latest first. Acknowledging says who looks after it and how; an alarm "
        "ends by itself once what it tells of is over. told: whether others heard of it by webhook."
    )

    def __init__(self) -> None:
        super().__init__(ToldRows(lambda each: each.id, lambda each, _: alarms_cells(each, self.at())))
        self.head: Alarms | None = None

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "alarm.open": self.open,
            "alarm.acknowledge": self.acknowledge,
            "timeline.open": lambda: open_timeline(self),
            **super().handlers(),
        }

    def situation(self) -> Situation:
        """The alarm under the cursor."""
        alarm = self.selected()
        selected = SelectedAlarm(over=alarm.cleared_at is not None) if alarm is not None else None
        return replace(super().situation(), alarm=selected)

    def copyable(self) -> str | None:
        """What the alarm under the cursor says."""
        alarm = self.selected()
        return f"{alarm.kind} {alarm.subject}: {alarm.sentence}" if alarm is not None else None

    # Looking

    def concerned(self, hint: Hint) -> bool:
        """Whether alarms changed."""
        return hint.topic is Topic.ALARMS

    async def page(self, cursor: str | None) -> Page[Alarm]:
        """Alarms, and how many are open."""
        self.head = page = await client.alarms(self.shell.service, cursor)
        return page.alarms, page.next

    # Commands

    async def open(self) -> None:
        """Shows what the alarm under the cursor is about."""
        if (alarm := self.selected()) is not None:
            await open_subject(self, alarm)

    async def acknowledge(self) -> None:
        """Asks for a note, then says that it is looked after."""
        alarm = self.selected()
        if alarm is not None and (told := await acknowledge(self, alarm)) is not None:
            self.rows.put(told)
            self.show_all()
        self.look_again()

    # What is shown

    def heading(self, width: int) -> Sequence[Line]:
        """How many are open, of which kinds."""
        return [alarms_title(self.head, width)]

    def columns(self) -> tuple[Column, ...]:
        """Whether others were told stands in a wide list."""
        return alarms_columns(wide=self.size.width >= WIDE)

    def row_lines(self, row: Alarm) -> Sequence[Line]:
        """Everything of an alarm."""
        return alarm_lines(row, self.at())
