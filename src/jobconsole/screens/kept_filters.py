"""Owns the dialogs of saved filters: choosing or deleting one, and naming one to save. Names and filters are data;
what saving does is handed in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Input, Static

from jobconsole.kept_filters import NAME_MAX, KeptFilter, KeptFiltersError, name_fault
from jobconsole.present.text import txt
from jobconsole.screens.choose import Choice, ChooseScreen
from jobconsole.screens.dialog import Dialog
from jobconsole.widgets.line_entry import LineEntry

Save = Callable[[str], Awaitable[str]]
"""Saves under a name; what is to be told of it. Raises `KeptFiltersError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptChoice:
    """A saved filter to choose, the title of its queue where that is another, and why it cannot be used now."""

    kept: KeptFilter
    elsewhere: str = ""
    fault: str | None = None

    @property
    def id(self) -> str:
        """Which of the choices it is."""
        return f"{self.kept.queue} {self.kept.name}"


class KeptFiltersScreen(ChooseScreen):
    """The saved filters, each with its text; enter chooses, ctrl+d chooses to delete."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+d", "delete", show=False, priority=True)]

    def __init__(self, choices: Sequence[KeptChoice]) -> None:
        super().__init__("Saved filters · enter puts one in force · ctrl+d deletes", [_choice(one) for one in choices])
        self._kept = {one.id: one.kept for one in choices}
        self.deleting = False
        """Whether the answer is to be deleted."""

    def on_mount(self) -> None:
        """What enter and ctrl+d are about is to be seen."""
        self.options.highlighted = 0

    def kept(self, answer: str) -> KeptFilter:
        """The filter that the answer names."""
        return self._kept[answer]

    def action_delete(self) -> None:
        """ctrl+d: the highlighted one is to be deleted."""
        option = self.options.highlighted_option
        if option is not None and option.id is not None:
            self.deleting = True
            self.dismiss(option.id)


class FilterNameScreen(Dialog[str]):
    """Asks for the name of a filter and saves it: what went wrong is said, and the name stays. The answer is what is
    to be told."""

    AUTO_FOCUS = "Input"
    DEFAULT_CSS = """
    FilterNameScreen { align: center middle; background: $background 60%; }
    FilterNameScreen > #name { width: 76; max-width: 100%; height: auto; padding: 0 1; background: $surface;
        border: round $primary; }
    FilterNameScreen #title { text-style: bold; height: 1; }
    FilterNameScreen #filter { height: auto; max-height: 8; color: $secondary; }
    FilterNameScreen Input { border: none; height: 1; padding: 0; background: $panel; }
    FilterNameScreen Input:focus { border: none; }
    FilterNameScreen #said { height: auto; color: $text-error; }
    """

    entry = query_one(Input)
    said = query_one("#said", Static)

    def __init__(self, text: str, save: Save) -> None:
        super().__init__()
        self._text = text
        self._save = save

    def compose(self) -> ComposeResult:
        """Title, the filter, the name, what is wrong with it."""
        with Vertical(id="name"):
            yield Static(txt("Save the filter under a name · enter saves · esc goes back"), id="title")
            yield Static(txt(self._text), id="filter")
            yield LineEntry(placeholder="name", compact=True, max_length=NAME_MAX)
            yield Static(id="said")

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was said of another name no longer holds."""
        event.stop()
        self.said.update(txt(""))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: saves under the name."""
        event.stop()
        self.run_worker(self._try(event.value.strip()), exclusive=True)

    async def _try(self, name: str) -> None:
        fault = name_fault(name)
        if not fault:
            try:
                self.dismiss(await self._save(name))
                return
            except KeptFiltersError as error:
                fault = str(error)
        self.said.update(txt(fault))


def _choice(one: KeptChoice) -> Choice:
    aside = f"{one.kept.text}  ({one.elsewhere})" if one.elsewhere else one.kept.text
    return Choice(id=one.id, title=one.kept.name, aside=aside, reason=one.fault)
