"""Owns the one-line widgets of every screen: top line, key line, notice line. They are told what to say and ask
nobody. (Textual's Footer costs 26 ms of processor time a key.)"""

from __future__ import annotations

import time
from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from jobconsole.commands.command import Command
from jobconsole.commands.keymap import Keymap
from jobconsole.present.frame import Frame, fit, key_line, top_line
from jobconsole.present.link import Link, LinkState
from jobconsole.present.text import txt


class TopLine(Widget):
    """Who looks at what, and how old it is."""

    DEFAULT_CSS = """
    TopLine { dock: top; height: 1; background: $panel; color: $foreground; }
    TopLine.-production { background: $error-muted; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._frame = Frame(profile="")
        self._link = Link(state=LinkState.STARTING)
        self._shown: Content | None = None

    def show(self, frame: Frame, link: Link) -> None:
        """Says this from now on."""
        self._frame, self._link = frame, link
        self.set_class(frame.production, "-production")
        self.tick()

    def tick(self) -> None:
        """Paints again only when the words changed, e.g. by age."""
        if self._words() != self._shown:
            self.refresh()

    def render(self) -> Content:
        """The line at the present width."""
        self._shown = self._words()
        return self._shown

    def _words(self) -> Content:
        return top_line(self._frame, self._link, time.monotonic(), self.size.width)


class StopLine(Widget):
    """Under the top line, while all money is stopped: who stopped it, when, why."""

    DEFAULT_CSS = """
    StopLine { height: 1; display: none; background: $error-muted; color: $text-error; text-style: bold; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._words = ""

    def show(self, frame: Frame) -> None:
        """Says this from now on; goes away while money moves."""
        if frame.stopped != self._words:
            self._words = frame.stopped
            self.display = bool(frame.stopped)
            self.refresh()

    def render(self) -> Content:
        """The line at the present width."""
        return Content(f" ■ {fit(self._words, self.size.width - 4)}")


class KeyLine(Widget):
    """The keys for what is selected."""

    DEFAULT_CSS = "KeyLine { dock: bottom; height: 1; background: $panel; color: $foreground; }"

    def __init__(self) -> None:
        super().__init__()
        self._hints: tuple[tuple[Command, bool], ...] = ()
        self._keymap: Keymap = {}

    def show(self, hints: Sequence[tuple[Command, bool]], keymap: Keymap) -> None:
        """Shows these commands, each with whether it can be run now."""
        told = tuple(hints)
        if (told, keymap) != (self._hints, self._keymap):
            self._hints, self._keymap = told, keymap
            self.refresh()

    def render(self) -> Content:
        """The line at the present width."""
        return key_line(self._hints, self._keymap, self.size.width)


class NoticeLine(Widget):
    """The last thing that the console had to say, above the key line, until the next key or some seconds later."""

    DEFAULT_CSS = """
    NoticeLine { layer: notice; dock: bottom; offset-y: -1; height: auto; max-height: 3; padding: 0 1; display: none;
        background: $surface-lighten-1; color: $foreground; }
    NoticeLine.-error { background: $error-muted; color: $text-error; }
    """
    SECONDS = 8.0
    """How long a notice stays at least, unless a key is pressed."""

    def __init__(self) -> None:
        super().__init__()
        self._text = Content("")
        self._until = 0.0

    def say(self, sentence: str, *, error: bool = False) -> None:
        """Shows `sentence`, which may hold text of the service, with a sign in front."""
        self._text = Content("✗ " if error else "· ") + txt(sentence)
        self._until = time.monotonic() + self.SECONDS
        self.set_class(error, "-error")
        self.display = True
        self.refresh(layout=True)

    def tick(self) -> None:
        """Goes away once its time is over."""
        if self.display and time.monotonic() >= self._until:
            self.clear()

    def clear(self) -> None:
        """Goes away."""
        self.display = False

    @property
    def sentence(self) -> str:
        """What is shown, for tests and for `text.copy`; empty when nothing is."""
        return self._text.plain[2:] if self.display else ""

    def render(self) -> Content:
        """The sentence."""
        return self._text
