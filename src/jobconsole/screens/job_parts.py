"""Owns the parts of the screen of one job as rows: steps, history, lineage, notices, inputs; which of them there are, how
each is headed, and what is said of the row under the cursor. Asks nobody; paints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from jobconsole.present.columns import Column, Line, Piece, Tone
from jobconsole.present.job_history import (
    Branch,
    branch_cells,
    branch_lines,
    branches,
    event_cells,
    event_lines,
    events_columns,
    input_cells,
    input_lines,
    inputs_columns,
    lineage_columns,
    notice_cells,
    notice_lines,
    notices_columns,
)
from jobconsole.present.job_ladder import step_cells, step_lines, steps_columns
from jobconsole.screens.told_rows import ToldRows

if TYPE_CHECKING:
    from jobconsole.present.schedules import At
    from jobcontract.jobs import Job, JobEvent, JobInput, JobNotice, JobStep


class Part(StrEnum):
    """A part of the screen, in the order in which tab goes through them; the value is its id."""

    STEPS = "steps"
    HISTORY = "history"
    ABOUT = "about"
    LINEAGE = "lineage"
    NOTICES = "notices"
    INPUTS = "inputs"


COLUMNS: dict[Part, Callable[[], tuple[Column, ...]]] = {
    Part.STEPS: steps_columns,
    Part.HISTORY: events_columns,
    Part.LINEAGE: lineage_columns,
    Part.NOTICES: notices_columns,
    Part.INPUTS: inputs_columns,
}
LEFT = (Part.STEPS, Part.ABOUT, Part.INPUTS)
RIGHT = (Part.HISTORY, Part.LINEAGE, Part.NOTICES)
"""Where the parts stand on a wide screen."""


class JobParts:
    """The rows of every part. `at` says when they are looked at."""

    def __init__(self, at: Callable[[], At]) -> None:
        self._at = at
        self.job: Job | None = None
        self.steps: ToldRows[JobStep] = ToldRows(lambda each: each.step, lambda each, _: step_cells(each, at()))
        self.history: ToldRows[JobEvent] = ToldRows(
            lambda each: str(each.sequence), lambda each, _: event_cells(each, at())
        )
        self.lineage: ToldRows[Branch] = ToldRows(
            lambda each: each.relative.id, lambda each, _: branch_cells(each, at())
        )
        self.notices: ToldRows[JobNotice] = ToldRows(lambda each: each.id, lambda each, _: notice_cells(each, at()))
        self.inputs: ToldRows[JobInput] = ToldRows(lambda each: each.name, lambda each, _: input_cells(each))
        self.events_next: str | None = None
        """What older history is asked for with; None: all of it is known."""
        self._revealed: dict[str, JobInput] = {}

    def rows(self, part: Part) -> ToldRows[Any]:
        """The rows of a part that has some."""
        found: dict[Part, ToldRows[Any]] = {
            Part.STEPS: self.steps,
            Part.HISTORY: self.history,
            Part.LINEAGE: self.lineage,
            Part.NOTICES: self.notices,
            Part.INPUTS: self.inputs,
        }
        return found[part]

    def take(self, job: Job) -> None:
        """The job as it is now: older history that is known stays, it never changes."""
        self.job = job
        self.steps.show(job.steps)
        self.lineage.show(branches(job.lineage, job.summary.id))
        self.notices.show(job.notices)
        known = self.history.rows
        first = job.events[-1].sequence if job.events else 0
        older = [event for event in known if event.sequence < first]
        meets = bool(older) and older[0].sequence == first - 1
        self.history.show([*job.events, *(older if meets else ())])
        if not meets:
            self.events_next = job.events_next
        self._show_inputs()

    def take_older(self, events: Sequence[JobEvent], following: str | None) -> None:
        """An older page of the history."""
        last = self.history.rows[-1].sequence if self.history.rows else 0
        self.history.show([*self.history.rows, *(event for event in events if event.sequence < last)])
        self.events_next = following

    @property
    def revealed(self) -> bool:
        """Whether inputs stand in clear."""
        return bool(self._revealed)

    def reveal(self, inputs: Sequence[JobInput]) -> None:
        """These stand in clear until `mask`."""
        self._revealed = {each.name: each for each in inputs}
        self._show_inputs()

    def mask(self) -> None:
        """Forgets every value."""
        self._revealed = {}
        self._show_inputs()

    def there_are(self, part: Part) -> bool:
        """Whether the part has anything to show."""
        if part is Part.ABOUT:
            return self.job is not None
        return len(self.rows(part)) > (1 if part is Part.LINEAGE else 0)

    def words(self, part: Part) -> str:
        """`history 12+`, `lineage 3`, `about`."""
        if part is Part.ABOUT:
            return part.value
        more = "+" if part is Part.HISTORY and self.events_next is not None else ""
        shown = " in clear" if part is Part.INPUTS and self.revealed else ""
        return f"{part.value} {len(self.rows(part)):,}{more}{shown}"

    def head(self, part: Part, chosen: Part) -> Line:
        """The heading of a part, in brackets where it has the keyboard."""
        here = part is chosen
        return (Piece(f"[{self.words(part)}]" if here else self.words(part), Tone.STRONG if here else Tone.QUIET),)

    def headings(self, chosen: Part) -> Line:
        """The headings of all parts that there are, and of the one that has the keyboard, in one line."""
        pieces: list[Piece] = []
        for part in Part:
            if self.there_are(part) or part is chosen:
                pieces += [*self.head(part, chosen), Piece("  ")]
        return tuple(pieces)

    def row_lines(self, part: Part, key: str | None, keys: dict[str, str]) -> Sequence[Line]:
        """What is said in full of the row with `key`. `keys`: `follow`, `reveal`."""
        at = self._at()
        if part is Part.STEPS and (step := self.steps.find(key)) is not None:
            return step_lines(step, self.history.rows, at)
        if part is Part.HISTORY and (event := self.history.find(key)) is not None:
            return event_lines(event, at)
        if part is Part.LINEAGE and (branch := self.lineage.find(key)) is not None:
            return branch_lines(branch, at, keys["follow"])
        if part is Part.NOTICES and (notice := self.notices.find(key)) is not None:
            return notice_lines(notice, at)
        if part is Part.INPUTS and (given := self.inputs.find(key)) is not None:
            return input_lines(given, keys["reveal"])
        return ()

    def _show_inputs(self) -> None:
        inputs = self.job.inputs if self.job is not None else ()
        self.inputs.show(self._revealed.get(each.name, each) for each in inputs)
