"""Owns the first frame: it comes from nothing, and says what is being waited for."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.getters import query_one
from textual.widgets import Static

from jobconsole.present.text import txt
from jobconsole.screens.place import PlaceScreen


class StartScreen(PlaceScreen):
    """What is shown until a place can be."""

    PLACE = "start"
    TITLE_WORDS = "Start"
    EXPLANATION = "The console is starting. Places open once you are signed in."
    DEFAULT_CSS = """
    StartScreen #body { align: center middle; }
    StartScreen #waiting { width: auto; max-width: 90%; text-align: center; color: $text-muted; }
    """

    waiting = query_one("#waiting", Static)

    def compose_body(self) -> ComposeResult:
        """One sentence."""
        yield Static("Starting …", id="waiting")

    def wait_for(self, sentence: str) -> None:
        """Says what is being waited for."""
        self.waiting.update(txt(sentence))
