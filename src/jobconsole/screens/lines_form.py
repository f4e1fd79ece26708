"""Owns the dialog of a few lines to fill in: what is listed, or of which time. It says what is wrong beside its line, asks
nobody and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from jobconsole.present.line_fields import LineField, Unfit
from jobconsole.present.text import txt
from jobconsole.screens.dialog import Dialog
from jobconsole.widgets.line_entry import LineEntry
from jobcontract.ids import KEY_MAX

T = TypeVar("T")
KEYS = "enter takes it · tab next · → completes · esc back"


class LinesForm(Dialog[T], Generic[T]):
    """Asks for what stands in a few lines; its answer is what `read` makes of them."""

    AUTO_FOCUS = "LineEntry"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,down", "app.focus_next", show=False, priority=True),
        Binding("shift+tab,up", "app.focus_previous", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    LinesForm { align: center middle; background: $background 60%; }
    LinesForm > #dialog { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 1;
        background: $surface; border: round $primary; border-subtitle-color: $text-muted; }
    LinesForm .line { height: 1; }
    LinesForm .line > .label { width: 11; color: $secondary; }
    LinesForm .line > LineEntry { width: 1fr; border: none; height: 1; padding: 0 1; background: $panel; }
    LinesForm .line > LineEntry:focus { border: none; background: $panel-lighten-1; }
    LinesForm #fault { color: $text-error; height: auto; max-height: 3; display: none; }
    """

    def __init__(
        self,
        title: str,
        fields: Sequence[LineField],
        typed: Mapping[str, str],
        read: Callable[[Mapping[str, str]], T],
    ) -> None:
        """`typed`: what stands in the fields at first. `read` raises Unfit."""
        super().__init__()
        self._title = title
        self._fields = fields
        self._typed = typed
        self._read = read

    def compose(self) -> ComposeResult:
        """A line for each field, what is wrong."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = KEYS
            for field in self._fields:
                with Horizontal(classes="line"):
                    yield Static(txt(field.label), classes="label")
                    yield LineEntry(
                        value=self._typed.get(field.name, ""),
                        placeholder=" · ".join(field.choices) if field.choices and not field.hint else field.hint,
                        name=field.name,
                        compact=True,
                        max_length=KEY_MAX,
                        suggester=SuggestFromList(field.choices) if field.choices else None,
                    )
            yield Static(id="fault")

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        typed = {str(entry.name): entry.value for entry in self.query(LineEntry)}
        try:
            found = self._read(typed)
        except Unfit as unfit:
            self._blame(unfit)
            return
        self.dismiss(found)

    def _blame(self, unfit: Unfit) -> None:
        label = next((each.label for each in self._fields if each.name == unfit.field), unfit.field)
        shown = self.query_one("#fault", Static)
        shown.update(txt(f"{label}: {unfit}"))
        shown.display = True
        for entry in self.query(LineEntry):
            if entry.name == unfit.field:
                entry.focus()
