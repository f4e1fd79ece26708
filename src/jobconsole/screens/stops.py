"""Owns the screen that lists the stops in force: what is held still, by whom, since when and why; lifting one. It looks
again when a hint says that stops changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jobconsole.client import stops as client
from jobconsole.commands.situation import SelectedStop, Situation
from jobconsole.present.columns import Column, Line
from jobconsole.present.stops import EMPTY, stop_lines, stops_cells, stops_columns, stops_title
from jobconsole.screens.listed import ListedScreen
from jobconsole.screens.shell import Handler
from jobconsole.screens.stops_acting import lift_stop, stop_tenant
from jobconsole.screens.told_rows import ToldRows
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.stops import Stop, StopsChanged

MONEY_TOO = "The switch of money is another one: the line at the top says so while it is thrown."


class StopsScreen(ListedScreen["Stop"]):
    """Stops of the tenant."""

    PLACE = "stops"
    TITLE_WORDS = "Stops"
    READING = "Reading the stops"
    LIST = "stops"
    EMPTY = f"{EMPTY} {MONEY_TOO}"
    OPENS = "stop.lift"
    EXPLANATION = (
        "What is held still, the latest first: a queue, a command over many items, or all work of the tenant. Everybody sees "
        "it, whoever may lift it. A stop of all work stops money as well, which is started by itself and with a code. "
        f"{MONEY_TOO}"
    )

    def __init__(self) -> None:
        super().__init__(ToldRows(_key, lambda each, _: stops_cells(each, self.at())))

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "stop.work": self.stop,
            "stop.lift": self.lift,
            **super().handlers(),
        }

    def situation(self) -> Situation:
        """The stop under the cursor."""
        stop = self.selected()
        selected = SelectedStop(by_code=stop.lifted_by_code, mine=stop.by.id == self.seen().me) if stop else None
        return replace(super().situation(), stop=selected)

    def copyable(self) -> str | None:
        """What the stop under the cursor says."""
        stop = self.selected()
        return f"{stop.scope} {stop.name}: {stop.reason}" if stop is not None else None

    async def look(self) -> None:
        """Asks for the stops."""
        self.rows.show((await client.stops(self.shell.service)).stops)

    def concerned(self, hint: Hint) -> bool:
        """Whether stops changed."""
        return hint.topic is Topic.STOPS

    async def stop(self) -> None:
        """Asks for a reason, then stops all work of the tenant."""
        self._took(await stop_tenant(self))

    async def lift(self) -> None:
        """Asks for what it takes, then lets what is under the cursor go on."""
        if (stop := self.selected()) is not None:
            self._took(await lift_stop(self, stop))

    def heading(self, width: int) -> Sequence[Line]:  # noqa: ARG002  the base's form
        """What is held still, counted."""
        return [stops_title(self.rows.rows if self.told_at is not None or len(self.rows) else None)]

    def columns(self) -> tuple[Column, ...]:
        """The columns of stops."""
        return stops_columns()

    def row_lines(self, row: Stop) -> Sequence[Line]:
        """Everything of a stop."""
        return stop_lines(row, self.at())

    def _took(self, answer: StopsChanged | None) -> None:
        if answer is not None:
            self.rows.show(answer.stops)
            self.show_all()
        self.look_again()


def _key(stop: Stop) -> str:
    return f"{stop.scope}:{stop.name}"
