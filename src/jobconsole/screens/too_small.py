"""Owns the sentence that stands where a window is too small for a screen: nothing is cut, nothing can be confirmed."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

LEAST = Size(40, 10)
"""Smallest window in which every screen and dialog can be used, in cells."""


def too_small(size: Size) -> bool:
    """Whether a window of `size` is smaller than `LEAST`."""
    return size.width < LEAST.width or size.height < LEAST.height


class TooSmallScreen(ModalScreen[None]):
    """Covers everything until the window is large enough; only quitting is possible."""

    DEFAULT_CSS = """
    TooSmallScreen { background: $background; align: center middle; }
    TooSmallScreen Static { width: 100%; height: auto; text-align: center; }
    """

    def __init__(self, window: Size) -> None:
        super().__init__()
        self._window = window

    def compose(self) -> ComposeResult:
        """The sentence."""
        yield Static(_words(self._window))

    def fit(self, window: Size) -> None:
        """Says the new size, or goes away where it is large enough."""
        self._window = window
        if not too_small(window):
            if self.is_current:
                self.dismiss(None)
            return
        for sentence in self.query(Static):
            sentence.update(_words(window), layout=True)

    def on_screen_resume(self) -> None:
        """It may have become large enough while another screen was in front."""
        self.fit(self.app.size)


def _words(window: Size) -> str:
    needed = f"the console needs {LEAST.width}x{LEAST.height}"
    return f"This window is {window.width}x{window.height}; {needed}. Make it larger."
