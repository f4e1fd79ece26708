"""Owns the one-line entry in which keys take effect in the order in which they were typed, and a paste is one line."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import Input

from jobconsole.present.filters import one_line


class LineEntry(Input):
    """One line of at most `max_length` characters.

    Textual runs the keys of an Input (backspace, enter) only after they passed its parents, and characters at once:
    what a slow link brings in one piece, such as `ab⌫c`, would come out as `ab`.
    """

    @dataclass
    class Cut(Message):
        """More came than there is room for."""

        pasted: bool

    async def on_key(self, event: events.Key) -> None:
        """Keys of the entry's own count before the next character does."""
        for binding in () if event.is_printable else self._bindings.key_to_bindings.get(event.key, ()):
            event.prevent_default()
            event.stop()
            await self.run_action(binding.action)
            return

    def on_paste(self, event: events.Paste) -> None:
        """One line of it, as much as there is room for."""
        event.prevent_default()
        event.stop()
        start, end = sorted(self.selection)
        text, cut = one_line(event.text, (self.max_length or len(event.text)) - len(self.value) + end - start)
        self.replace(text, start, end)
        if cut:
            self.post_message(self.Cut(pasted=True))

    def restricted(self) -> None:
        """A character more than there is room for."""
        super().restricted()
        self.post_message(self.Cut(pasted=False))
