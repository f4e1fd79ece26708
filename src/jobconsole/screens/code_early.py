"""Owns what becomes of a code that is typed although nothing asks for it: where confirming was refused a moment ago, digits
lead to no place. Whoever types six of them without looking stays where they are, and is told why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from jobconsole.commands.catalogue import BY_ID, unavailable
from jobconsole.screens.place import PlaceScreen

if TYPE_CHECKING:
    from textual.timer import Timer

EARLY_SECONDS = 10.0
"""How long after confirming was refused, or after the last digit, a digit is taken for one of a code."""


class CodeEarlyScreen(PlaceScreen):
    """A place in which something is confirmed with a code."""

    CONFIRM: ClassVar[str] = ""
    """The command that confirms."""

    _early: Timer | None = None

    def run_command(self, command_id: str) -> None:
        """Runs the command, or says why not; after a refused confirmation the next digits are of a code."""
        self._expect(refused=command_id == self.CONFIRM and self._why_not() is not None)
        super().run_command(command_id)

    def keeps_key(self, key: str) -> bool:
        """Keeps a digit that is one of a code, and says that it was not taken."""
        if self._early is None or not key.isdigit():
            return False
        self._expect(refused=True)
        why = self._why_not()
        self.say(f"The digits went nowhere. No code is asked for: {why or 'it can be confirmed now'}", error=True)
        return True

    def _why_not(self) -> str | None:
        return unavailable(BY_ID[self.CONFIRM], self.situation())

    def _expect(self, *, refused: bool) -> None:
        if self._early is not None:
            self._early.stop()
        self._early = self.set_timer(EARLY_SECONDS, self._forget) if refused else None

    def _forget(self) -> None:
        self._early = None
