"""Owns the dialog that asks what to simulate: from, to, downtimes, and rhythm and policy as the record has them, to be
changed. It asks the service at enter, says what is wrong beside its line, and saves nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from jobconsole.client.errors import ClientError
from jobconsole.present.refusals import refusal_sentence
from jobconsole.present.simulation import UNSAVED, SimField, Unfit, fields_of, prefilled, read_form
from jobconsole.present.text import txt
from jobconsole.screens.dialog import Dialog
from jobconsole.widgets.line_entry import LineEntry
from jobcontract.ids import KEY_MAX

if TYPE_CHECKING:
    from jobconsole.present.schedules import At
    from jobcontract.schedules import Schedule
    from jobcontract.simulation import Simulation, SimulationOrder

KEYS = "enter simulates · tab next · → completes · esc back"
AROUND = 6
"""Lines around the fields: border, what it is about, what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What was asked and what came of it, with the text as it was typed."""

    typed: Mapping[str, str]
    order: SimulationOrder
    answer: Simulation


class SimulatorForm(Dialog[Simulated]):
    """Asks for a stretch of time, downtimes, and another rhythm or policy."""

    AUTO_FOCUS = "LineEntry"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,down", "app.focus_next", show=False, priority=True),
        Binding("shift+tab,up", "app.focus_previous", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    SimulatorForm { align: center middle; background: $background 60%; }
    SimulatorForm > #dialog { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 1;
        background: $surface; border: round $primary; border-subtitle-color: $text-muted; }
    SimulatorForm #unsaved { height: 1; color: $secondary; }
    SimulatorForm #fields { height: auto; scrollbar-size-vertical: 1; }
    SimulatorForm .line { height: 1; }
    SimulatorForm .line > .label { width: 15; color: $secondary; }
    SimulatorForm .line > LineEntry { width: 1fr; border: none; height: 1; padding: 0 1; background: $panel; }
    SimulatorForm .line > LineEntry:focus { border: none; background: $panel-lighten-1; }
    SimulatorForm .part { height: 1; color: $secondary; text-style: italic; }
    SimulatorForm #fault { color: $text-error; height: auto; max-height: 3; display: none; }
    """

    def __init__(
        self,
        schedule: Schedule,
        at: Callable[[], At],
        ask: Callable[[SimulationOrder], Awaitable[Simulation]],
        typed: Mapping[str, str] | None = None,
    ) -> None:
        """`typed`: what stood in the form before."""
        super().__init__()
        self.schedule = schedule
        self._at = at
        self._ask = ask
        self._first = prefilled(schedule, at())
        self._typed = {**self._first, **(typed or {})}
        self._busy = False

    def compose(self) -> ComposeResult:
        """That nothing is saved, a line for each field, what is wrong."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = f"Simulate {self.schedule.id}"
            dialog.border_subtitle = KEYS
            yield Static(txt(UNSAVED), id="unsaved")
            with VerticalScroll(id="fields", can_focus=False):
                for field in fields_of(self.schedule):
                    if field.name in ("cron", "every"):
                        yield Static("compared with the record, where it is changed:", classes="part")
                    yield from self._line(field)
            yield Static(id="fault")

    def on_resize(self, event: events.Resize) -> None:
        """The fields scroll where there are more than lines."""
        self.query_one("#fields").styles.max_height = max(1, event.size.height - AROUND)

    def typed(self) -> dict[str, str]:
        """What stands in the fields."""
        return {str(entry.name): entry.value for entry in self.query(LineEntry)}

    def fault(self, sentence: str) -> None:
        """Says what is wrong; empty takes it away."""
        shown = self.query_one("#fault", Static)
        shown.update(txt(sentence))
        shown.display = bool(sentence)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self._busy:
            return
        self.fault("")
        typed = self.typed()
        try:
            order = read_form(typed, self._first, self._at())
        except Unfit as unfit:
            self._blame(unfit.field, str(unfit))
            return
        self._busy = True
        self.run_worker(self._run(typed, order), group="simulate", exit_on_error=False)

    async def _run(self, typed: Mapping[str, str], order: SimulationOrder) -> None:
        try:
            answer = await self._ask(order)
        except ClientError as error:
            if self.is_attached:
                self.fault(refusal_sentence(error.sentence, error.reference))
            return
        finally:
            self._busy = False
        if self.is_attached:
            self.dismiss(Simulated(typed=typed, order=order, answer=answer))

    def _blame(self, name: str, sentence: str) -> None:
        label = next((each.label for each in fields_of(self.schedule) if each.name == name), name)
        self.fault(f"{label}: {sentence}")
        for entry in self.query(LineEntry):
            if entry.name == name:
                entry.focus()

    def _line(self, field: SimField) -> ComposeResult:
        hint = " · ".join(field.choices) if field.choices else field.hint
        with Horizontal(classes="line"):
            yield Static(txt(field.label), classes="label")
            yield LineEntry(
                value=self._typed[field.name],
                placeholder=hint,
                name=field.name,
                compact=True,
                max_length=4 * KEY_MAX,
                suggester=SuggestFromList(field.choices) if field.choices else None,
            )
