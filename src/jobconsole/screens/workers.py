"""Owns the place that lists the Worker processes: how each is doing, since when, when it was last heard, how much it holds
here. No hint tells of a beat: it looks by itself every few seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jobconsole.client import workers as client
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Column, Line, Piece, Tone
from jobconsole.present.workers import (
    EMPTY,
    drained_words,
    none_live_words,
    silent_words,
    workers_cells,
    workers_columns,
    workers_title,
)
from jobconsole.screens.listed import ListedScreen
from jobconsole.screens.shell import Handler
from jobconsole.screens.timeline import open_timeline
from jobconsole.screens.told_rows import ToldRows
from jobconsole.screens.worker_acts import drain, undrain, worker_facts
from jobcontract.workers import Worker


class WorkersScreen(ListedScreen["Worker"]):
    """Worker processes."""

    PLACE = "workers"
    TITLE_WORDS = "Workers"
    READING = "Reading the Workers"
    LIST = "workers"
    EMPTY = EMPTY
    EXPLANATION = (
        "The Worker processes that run schedules and apply plans, and those that stopped within the last day. ● live, ‖ "
        "draining: takes nothing new and ends what it has, ✗ silent: was not heard of although it should have been, – "
        "stopped. Who had one drained and why stands above the list. Each start of a process is a Worker of its own; its host is a name for people. What it processes is "
        "counted in this tenant alone. What a lost Worker held is taken over once its leases run out."
    )

    def __init__(self) -> None:
        super().__init__(ToldRows(lambda each: each.incarnation, lambda each, _: workers_cells(each, self.at())))

    def handlers(self) -> Mapping[str, Handler]:
        """Draining, and moving in the list."""
        return {
            "worker.drain": self.drain,
            "worker.undrain": self.undrain,
            "timeline.open": lambda: open_timeline(self),
            **super().handlers(),
        }

    def situation(self) -> Situation:
        """The Worker under the cursor."""
        return replace(super().situation(), worker=worker_facts(self.selected()))

    async def drain(self) -> None:
        """Asks for a reason, then has the Worker under the cursor take nothing new."""
        if (selected := self.selected()) is not None:
            self._put(await drain(self, selected))

    async def undrain(self) -> None:
        """Asks for a reason, then lets the Worker under the cursor take work again."""
        if (selected := self.selected()) is not None:
            self._put(await undrain(self, selected))

    def _put(self, told: Worker | None) -> None:
        if told is not None:
            self.rows.put(told)
            self.show_all()
        self.look_again()

    def copyable(self) -> str | None:
        """The incarnation of the Worker under the cursor."""
        return self.table.cursor_key

    async def look(self) -> None:
        """Asks for the Workers."""
        self.rows.show((await client.workers(self.shell.service)).workers)

    def restless(self) -> bool:
        """Beats come without a hint."""
        return True

    def heading(self, width: int) -> Sequence[Line]:  # noqa: ARG002  the base's form
        """How many there are, how they stand."""
        return [workers_title(self.rows.rows if self.told_at is not None or len(self.rows) else None)]

    def columns(self) -> tuple[Column, ...]:
        """The columns of Workers."""
        return workers_columns()

    def words(self) -> Sequence[Line]:
        """Those that are silent or drained, and that none lives."""
        rows = self.rows.rows
        warnings = [none_live_words(rows), *(silent_words(each, self.at()) for each in rows)]
        told: list[Line] = [(Piece(f"✗ {words}", Tone.BAD),) for words in warnings if words]
        drained = [drained_words(each, self.at()) for each in rows]
        told += [(Piece(words, Tone.WARN),) for words in drained if words]
        return [*super().words(), *told[:4]]
