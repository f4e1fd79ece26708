"""Owns the box of a choice of yes and no: crossed where it is yes, empty where it is no, on a screen without colours too."""

from __future__ import annotations

from textual.widgets import Checkbox


class Tick(Checkbox):
    """A checkbox whose cross is there only while it is set: Textual's own tells the two by colour alone."""

    BUTTON_INNER = " "

    def watch_value(self) -> None:
        """Draws the cross, or takes it away."""
        self.BUTTON_INNER = "X" if self.value else " "
        super().watch_value()
