"""Owns asking for a token: masked, with a sentence about what is wrong with the last one and where it is kept."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.getters import query_one
from textual.widgets import Input, Static

from jobconsole.present.text import txt
from jobconsole.screens.dialog import LOW, Dialog
from jobconsole.tokens import Token
from jobconsole.widgets.entry import TokenInput


class SignInScreen(Dialog[Token]):
    """Asks for the token of `profile` at `url`. `sentence`: why it is asked; `keeping`: where it can be kept."""

    DEFAULT_CSS = """
    SignInScreen { align: center middle; background: $background; }
    SignInScreen #sign-in { width: 68; max-width: 100%; height: auto; max-height: 100%; padding: 0 2;
        background: $surface; border: round $primary; }
    SignInScreen Static { height: auto; }
    SignInScreen #title { text-style: bold; }
    SignInScreen #reason { color: $text-warning; margin-top: 1; }
    SignInScreen #about { height: auto; scrollbar-size-vertical: 1; }
    SignInScreen TokenInput { margin: 1 0; height: 1; border: none; padding: 0 1; background: $panel; }
    SignInScreen TokenInput:focus { border: none; background: $primary-muted; }
    SignInScreen.-low TokenInput { margin: 0; }
    SignInScreen.-low #keeping { display: none; }
    SignInScreen #keeping { color: $text-muted; }
    """

    AUTO_FOCUS = "#token"
    HEADING: ClassVar[str] = "Sign in"

    entry = query_one(TokenInput)

    def __init__(self, *, profile: str, url: str, sentence: str = "", keeping: str = "", leave: str = "") -> None:
        super().__init__()
        self._about = f"{profile} · {url}"
        self._sentence = sentence
        self._keeping = keeping
        self._leave = leave

    def compose(self) -> ComposeResult:
        """Title, reason, input, what becomes of it."""
        reason, keeping = Static(txt(self._sentence), id="reason"), Static(txt(self._keeping), id="keeping")
        reason.display, keeping.display = bool(self._sentence), bool(self._keeping)
        with Vertical(id="sign-in"):
            yield Static(self.HEADING, id="title")
            with VerticalScroll(id="about", can_focus=False):
                yield Static(txt(self._about))
                yield reason
            yield TokenInput()
            yield Static("enter signs in" + (f" · esc {self._leave}" if self._leave else "") + " · ctrl+q leaves")
            yield keeping

    def on_mount(self) -> None:
        """A size may be told before there is anything to fit."""
        self._fit(self.app.size.height)

    def on_resize(self, event: events.Resize) -> None:
        """The reason scrolls, so that title, input and its key are in sight at every size."""
        self._fit(event.size.height)

    def _fit(self, height: int) -> None:
        low = height < LOW
        self.set_class(low, "-low")
        for about in self.query("#about"):
            about.styles.max_height = max(1, height - (5 if low else 11))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: the token leaves the screen at once."""
        event.stop()
        token = Token(self.entry.take())
        if token:
            self.dismiss(token)
            return
        reason = self.query_one("#reason", Static)
        reason.update("Type or paste your token; `jobservice token create` on the server shows one.")
        reason.display = True
