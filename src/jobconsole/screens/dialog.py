"""Owns what every dialog has: a typed result, a way back, and for acting ones the pause in which keys do not count and a
focus that never starts on the acting button: on Cancel, or in a form on its first field (MONEY.md 26).

An acting dialog is a subclass that says what it does and composes what it asks:

    class RejectDialog(ActingDialog[RejectAnswer]):
        TITLE = "Reject"
        ACT = "Reject with this reason"        # never "OK"

        def compose_question(self) -> ComposeResult: yield Input(...)
        def answer(self) -> RejectAnswer | None: ...    # None: something is missing; say so with `self.fault(...)`

    answer = await self.app.push_screen_wait(RejectDialog())     # None when it was cancelled

Its keys: tab moves, enter on a button presses it, escape cancels. A key or click made less than 300 ms after it was
painted is dropped; a paste is text for the focused input and never a key.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from jobconsole.present.text import txt

R = TypeVar("R")

AROUND = 9
"""Lines that a dialog needs around its question: border, title, fault, buttons and their margins."""
LOW = 16
"""Below this many lines the margins are left out."""
SETTLE_SECONDS = 0.3
"""How long after an acting dialog was painted a key does not count."""


class Dialog(ModalScreen[R | None], Generic[R]):
    """A question with a typed answer; None when the person goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]

    def action_cancel(self) -> None:
        """Goes back without an answer."""
        self.dismiss(None)


class ActingDialog(Dialog[R]):
    """A dialog whose answer changes something."""

    AUTO_FOCUS = "#cancel"
    TITLE: ClassVar[str | None] = ""
    ACT: ClassVar[str] = ""
    """What the acting button does, in words."""
    CANCEL: ClassVar[str] = "Cancel"
    NARROW: ClassVar[int] = 0
    """Below this many cells the buttons stand one under the other, and the dialog has `-narrow`."""
    DEFAULT_CSS = """
    ActingDialog { align: center middle; background: $background 60%; }
    ActingDialog > #dialog { width: 68; max-width: 100%; height: auto; max-height: 100%; padding: 0 2;
        background: $surface; border: round $primary; }
    ActingDialog #title { text-style: bold; height: auto; max-height: 2; margin-bottom: 1; }
    ActingDialog #question { height: auto; scrollbar-size-vertical: 1; }
    ActingDialog #fault { color: $text-error; height: auto; max-height: 2; display: none; }
    ActingDialog #buttons { height: 1; margin-top: 1; align-horizontal: center; }
    ActingDialog #buttons Button { margin: 0 2; min-width: 10; height: 1; }
    ActingDialog #buttons Button:focus { text-style: bold reverse; }
    ActingDialog.-low #title { margin-bottom: 0; }
    ActingDialog.-low #buttons { margin-top: 0; }
    ActingDialog.-low #buttons Button { margin: 0 1; }
    ActingDialog.-narrow #buttons { height: 2; layout: vertical; align-horizontal: left; }
    ActingDialog.-narrow #buttons Button { margin: 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_question(-1)", show=False),
        Binding("pagedown", "scroll_question(1)", show=False),
    ]

    cancel_button = query_one("#cancel", Button)
    act_button = query_one("#act", Button)

    def __init__(self, *, title: str = "", act: str = "") -> None:
        """`title` and `act` replace those of the class; they may hold text of the service."""
        super().__init__()
        self._title = title or self.TITLE or ""
        self._act = act or self.ACT
        self._painted = math.inf

    def compose(self) -> ComposeResult:
        """Title, question, fault, buttons: Cancel first."""
        with Vertical(id="dialog"):
            yield Static(txt(self._title), id="title")
            with VerticalScroll(id="question", can_focus=False):
                yield from self.compose_question()
            yield Static(id="fault")
            with Horizontal(id="buttons"):
                yield Button(txt(self.cancel_words()), id="cancel", compact=True)
                yield Button(txt(self._act), id="act", compact=True)

    def cancel_words(self) -> str:
        """What the button that goes back says."""
        return self.CANCEL

    def compose_question(self) -> ComposeResult:
        """What is asked."""
        yield from ()

    def answer(self) -> R | None:
        """The answer as it stands; None where something is missing, after `fault` said what."""
        raise NotImplementedError

    def fault(self, sentence: str) -> None:
        """Says what is missing or wrong; empty takes it away."""
        shown = self.query_one("#fault", Static)
        shown.update(txt(sentence))
        shown.display = bool(sentence)

    def second(self) -> None:
        """A second passed while it is in front: countdowns."""

    def show_lines(self, lines: Iterable[str]) -> Static:
        """Lines of text, which may be the service's, as one widget."""
        return Static(Content("\n").join([txt(text) for text in lines]))

    def counts(self, moment: float) -> bool:
        """Whether a key made at `moment` (monotonic seconds) counts."""
        return moment >= self._painted + SETTLE_SECONDS

    def on_mount(self) -> None:
        """The pause in which no key counts begins with the first paint."""
        self.call_after_refresh(self._began)

    def on_resize(self, event: events.Resize) -> None:
        """What is asked scrolls (page up, page down) so that title, fault and both buttons are always in sight."""
        low, narrow = event.size.height < LOW, event.size.width < self.NARROW
        self.set_class(low, "-low")
        self.set_class(narrow, "-narrow")
        around = (AROUND - 2 if low else AROUND) + narrow
        self.query_one("#question").styles.max_height = max(1, event.size.height - around)
        if self._painted != math.inf:  # it was shown, at another size
            self.call_after_refresh(self._bring_focused)

    def _bring_focused(self) -> None:
        """What one types stays in sight where there is less room than before."""
        if self.focused is not None:
            self.focused.scroll_visible(animate=False)

    def action_scroll_question(self, pages: int) -> None:
        """Shows more of what is asked."""
        question = self.query_one("#question")
        question.scroll_relative(y=pages * max(1, question.size.height - 1), animate=False)

    def on_screen_resume(self) -> None:
        """Coming back from another screen is a new paint: the pause begins again."""
        if self._painted != math.inf:
            self._began()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Cancel goes back; the acting button gives the answer, if there is one."""
        event.stop()
        if event.button.id == "cancel":
            self.dismiss(None)
        elif event.button.id == "act":
            self.fault("")
            answer = self.answer()
            if answer is not None:
                self.dismiss(answer)

    def _began(self) -> None:
        # A message made now carries the clock that keys are stamped with.
        self._painted = Message().time


class Ask(ActingDialog[bool]):
    """A plain question: `title` says what, `lines` why, `act` names what is done. True when it is to be done."""

    def __init__(self, *, title: str, act: str, lines: Iterable[str] = ()) -> None:
        super().__init__(title=title, act=act)
        self._lines = tuple(lines)

    def compose_question(self) -> ComposeResult:
        """The reasons, one a line."""
        yield self.show_lines(self._lines)

    def answer(self) -> bool:
        """Yes."""
        return True
