"""Owns where the console paints: the terminal while it is there, nothing once it hung up. Never ends the console itself.

Textual writes in a thread of its own, behind a queue of thirty pieces. An error ends that thread; the thirty-first piece
then waits forever, and with it the message loop: neither the hang-up's signal nor any other could end the console.
"""

from __future__ import annotations

from typing import TextIO


class Outlet:
    """A file that takes everything: what can no longer be written, because the terminal is gone, is dropped."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self.gone = False

    def write(self, text: str) -> int:
        """Writes as long as the terminal takes it; how many characters were taken, those dropped included."""
        if not self.gone:
            try:
                self._terminal.write(text)
            except OSError:
                self.gone = True
        return len(text)

    def flush(self) -> None:
        """Sends what was written as long as the terminal takes it."""
        if not self.gone:
            try:
                self._terminal.flush()
            except OSError:
                self.gone = True

    def fileno(self) -> int:
        """The terminal's own number."""
        return self._terminal.fileno()

    def isatty(self) -> bool:
        """Whether it paints on a terminal."""
        return self._terminal.isatty()
