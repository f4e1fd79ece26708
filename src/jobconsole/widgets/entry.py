"""Owns the one-line inputs of the shell: the command line at the bottom, and the masked token input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from jobcontract.ids import KEY_MAX

WORD_MOST = KEY_MAX + 20
"""Most characters that can be typed: what is looked for, and a word before it."""


class _Beginnings(Suggester):
    """Suggests the first known word that begins as what was typed."""

    def __init__(self, known: Sequence[str]) -> None:
        super().__init__(use_cache=False)
        self._known = known

    async def get_suggestion(self, value: str) -> str | None:
        return next((word for word in self._known if value and word.startswith(value)), None)


class CommandLine(Input):
    """`:` and a name: hidden until it is opened, gone with enter or escape. Tab or right completes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("tab", "cursor_right_to_end", show=False),
    ]
    DEFAULT_CSS = """
    CommandLine { dock: bottom; layer: notice; height: 1; border: none; padding: 0 1; display: none;
        background: $panel; color: $foreground; }
    CommandLine:focus { border: none; background-tint: transparent; }
    """

    @dataclass
    class Given(Message):
        """A name was typed and entered; `word` is without the colon."""

        word: str

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=False, max_length=WORD_MOST)
        self.can_focus = False  # else a place with nothing else to focus gives it the keyboard

    def open(self, known: Sequence[str]) -> None:
        """Takes the keyboard; completes to one of `known`."""
        self.suggester = _Beginnings([f":{word}" for word in known])
        self.value = ":"
        self.cursor_position = 1
        self.display = self.can_focus = True
        # At once, not by `focus()`, which waits its turn: the next keys are already on their way.
        self.screen.set_focus(self)

    def leave(self) -> None:
        """Goes away and gives the keyboard back to the screen."""
        self.display = self.can_focus = False
        self.screen.set_focus(None)
        self.screen.focus_next()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: tells the word."""
        event.stop()
        word = event.value.lstrip(":").strip()
        self.leave()
        if word:
            self.post_message(self.Given(word))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Rubbing out the colon leaves."""
        event.stop()
        if self.display and not event.value:
            self.leave()

    def action_leave(self) -> None:
        """Escape."""
        self.leave()

    def action_cursor_right_to_end(self) -> None:
        """Tab: takes the suggestion."""
        self.cursor_position = len(self.value)
        self.action_cursor_right()


class TokenInput(Input):
    """Takes a token: masked, never copied or cut from, and only the first line of a paste."""

    def __init__(self) -> None:
        super().__init__(password=True, placeholder="jc_…", max_length=500, id="token")

    def action_copy(self) -> None:
        """A masked text is not copied."""

    def action_cut(self) -> None:
        """A masked text is not cut."""

    def on_paste(self, event: events.Paste) -> None:
        """A token has no blanks: those around it came from the copy."""
        event.prevent_default()
        event.stop()
        first = event.text.strip().splitlines()
        if first:
            self.insert_text_at_cursor(first[0].strip())

    def take(self) -> str:
        """What was typed, and empties the input."""
        text, self.value = self.value, ""
        return text
