"""Owns the dialog that asks where to go in a list: a score, or an item's id or key. It looks nothing up."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Input, Static

from jobconsole.present.text import txt
from jobconsole.screens.dialog import Dialog
from jobconsole.widgets.line_entry import LineEntry

MOST = 200
"""Most characters that can be typed: a business key has fewer."""


class GoToScreen(Dialog[str]):
    """One line to type; the answer is what `read` makes of it. What cannot be read is said, and stays."""

    AUTO_FOCUS = "Input"
    DEFAULT_CSS = """
    GoToScreen { align: center middle; background: $background 60%; }
    GoToScreen > #go { width: 60; max-width: 100%; height: auto; padding: 0 1; background: $surface;
        border: round $primary; }
    GoToScreen #asked { text-style: bold; height: auto; }
    GoToScreen Input { border: none; height: 1; padding: 0; background: $panel; }
    GoToScreen Input:focus { border: none; }
    GoToScreen #said { height: auto; color: $text-error; }
    """

    entry = query_one(LineEntry)
    said = query_one("#said", Static)

    def __init__(self, asked: str, example: str, read: Callable[[str], str]) -> None:
        """`read` gives the answer, or raises ValueError with the sentence that says what is wrong."""
        super().__init__()
        self._asked = asked
        self._example = example
        self._read = read

    def compose(self) -> ComposeResult:
        """What is asked, the line, what is wrong with it."""
        with Vertical(id="go"):
            yield Static(txt(self._asked), id="asked")
            yield LineEntry(placeholder=self._example, compact=True, max_length=MOST)
            yield Static(id="said")

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was said of another text no longer holds."""
        event.stop()
        self.said.update(txt(""))

    @on(LineEntry.Cut)
    def _cut(self) -> None:
        self.call_after_refresh(self.said.update, txt(f"At most {MOST} characters: the rest was left out."))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: gives the answer; nothing typed goes nowhere."""
        event.stop()
        text = event.value.strip()
        if not text:
            self.dismiss(None)
            return
        try:
            self.dismiss(self._read(text))
        except ValueError as error:
            self.said.update(txt(error))
