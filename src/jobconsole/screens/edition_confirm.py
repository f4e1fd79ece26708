"""Owns the dialog in which one edition of something frozen is confirmed, a plan or a recovery: what it does, the code from
the phone where it takes one, a button named by the act, and what the service answered.

The focus begins on Cancel. A digit goes to the code's entry wherever the focus is; only the named button sends. The code
is kept nowhere: the entry is emptied when it is sent, and what is sent is a SecretStr of that one order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.getters import query_one
from textual.widgets import Input, Static

from jobconsole.client.errors import ClientError, ServiceAway, ServiceRefused
from jobconsole.screens.code_line import CODES, CodeEntry, CodeLine
from jobconsole.screens.sending import SendingDialog, surely
from jobconsole.widgets.lines import Lines
from jobcontract.errors import ErrorCode

if TYPE_CHECKING:
    from pydantic import SecretStr

    from jobconsole.client.service import Service
    from jobconsole.present.columns import Line
    from jobconsole.present.plans import PlanSeen
    from jobcontract.plans import PlanChange

ASKED = "Type the six digits from your phone:"
NARROW = 66
"""Below this many cells the buttons stand one under the other, and so do the code and what is asked."""
ANEW = "n"
"""The key that makes a new one of the same set where this one changed."""
BUTTON = 42
"""Cells that the acting button has beside the other one, in a dialog of `WIDE` cells."""
WIDE = 68
"""Cells of the dialog, where the window has them."""
_OVER = frozenset({ErrorCode.PLAN_CHANGED, ErrorCode.PLAN_DIGEST, ErrorCode.PLAN_STATE})
"""Refusals after which this edition is not confirmed any more."""


class Frozen(Protocol):
    """What can be confirmed."""

    @property
    def confirmed_at(self) -> datetime | None:
        """When it was; None: it was not."""

    @property
    def state(self) -> StrEnum:
        """Where it stands."""


E = TypeVar("E", bound=Frozen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition(Generic[E]):
    """What is confirmed: its words, and how the one intent to confirm it is sent and looked for."""

    title: str
    label: Callable[[int], str]
    """What the button does, in so many cells."""
    about: Callable[[PlanSeen], Sequence[Line]]
    changes: Callable[[Sequence[PlanChange], str], Sequence[Line]]
    """What changed since it was frozen, with the key that makes a new one."""
    noun: str
    undone: str
    """What it means that it was not confirmed: `nothing was released`."""
    coded: bool
    """Whether it takes a code."""
    expires_at: datetime
    confirm: Callable[[SecretStr | None], Awaitable[E]]
    looked_up: Callable[[], Awaitable[E | None]]
    """It as it is where it was confirmed after all; None where nothing was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Generic[E]):
    """How the dialog ended: what was confirmed, as it is then, or None where a new one of the same set is wanted."""

    confirmed: E | None


class EditionConfirm(SendingDialog[Ended[E]], Generic[E]):
    """Says what is done, asks for the code where there is one, and confirms once."""

    NARROW = NARROW
    DEFAULT_CSS = """
    EditionConfirm #about { margin-bottom: 1; }
    EditionConfirm.-low #about { margin-bottom: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(ANEW, "anew", show=False),
        *(Binding(digit, f"digit('{digit}')", show=False, priority=True) for digit in "0123456789"),
    ]

    about = query_one("#about", Lines)
    code_line = query_one(CodeLine)
    code = query_one(CodeEntry)
    tries = query_one("#tries", Static)

    def __init__(self, edition: Edition[E], service: Service, seen: Callable[[], PlanSeen]) -> None:
        """`seen` says who looks and when, by the service's clock."""
        super().__init__(title=edition.title, act=edition.label(BUTTON))
        self._edition = edition
        self._service = service
        self._seen = seen
        self._over = False
        self.unsure = False
        """Whether an order was sent of which it is not known what became of it."""

    def compose_question(self) -> ComposeResult:
        """What is confirmed, the code, what the service answered."""
        yield Lines(id="about", indent=2)
        if self._edition.coded:
            yield CodeLine(ASKED, self._service, self._seen)
        yield Lines(id="answered", indent=2)

    def on_mount(self) -> None:
        """Says what is confirmed."""
        self.second()

    def on_resize(self, event: events.Resize) -> None:
        """What the button says is never cut."""
        super().on_resize(event)
        if not self._over:
            around = 8 if event.size.width < NARROW else WIDE - BUTTON
            self.name_button(self._edition.label(min(event.size.width, WIDE) - around))

    def second(self) -> None:
        """Says what is left of it, and of a lock. Before its parts are composed there is nothing to say it in."""
        if not self.query("#about"):
            return
        now = self._seen().now
        self.about.show(self._edition.about(self._seen()))
        for line in self.query(CodeLine):
            line.second()
        if self._edition.expires_at <= now and not self._over and not self.busy:
            self._end(f"The {self._edition.noun} expired: {self._edition.undone}.")

    def sending(self) -> Awaitable[Ended[E]] | None:
        """The confirmation under the dialog's one key; the entry is empty from then on."""
        if self._over:
            self.action_anew()
            return None
        if not self._edition.coded:
            return self._confirm(None)
        try:
            return self._confirm(self.code_line.take())
        except ValueError as fault:
            self.fault(str(fault))
            self.code.focus()
            return None

    async def _confirm(self, code: SecretStr | None) -> Ended[E]:
        """Sends it; after a lost answer looks it up, then repeats under the same key: it is confirmed once."""
        lost = False

        async def once() -> E:
            if lost:
                found = await self._edition.looked_up()
                if found is not None:
                    return found
            return await self._edition.confirm(code)

        def checking() -> None:
            nonlocal lost
            lost = True
            self.checking()

        found = await surely(once, checking)
        if found.confirmed_at is None:
            raise ServiceAway(f"It was not confirmed: the {self._edition.noun} is {found.state}.")
        return Ended(confirmed=found)

    def refused(self, error: ClientError) -> None:
        """Says why; the code's own faults leave the entry ready for the next one."""
        super().refused(error)
        if not isinstance(error, ServiceRefused):
            self.unsure = True
            return
        if error.kind in CODES and self._edition.coded:
            self.code_line.refused(error)
            self.code.focus()
        elif error.kind in _OVER:
            if error.plan_changes:
                self.say(self._edition.changes(error.plan_changes, ANEW))
            self._end(error.sentence)

    def action_anew(self) -> None:
        """Closes; the screen makes a new one of the same set."""
        if self._over and not self.busy:
            self.dismiss(Ended(confirmed=None))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Digits are taken by the dialog until the code's entry has the keyboard."""
        if action == "digit":
            return self._takes_code and not isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def action_digit(self, digit: str) -> None:
        """A digit is of the code, wherever the focus is: at once, so that one that came with it stays behind it."""
        self.set_focus(self.code)
        self.code.insert_text_at_cursor(digit)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is text: of the code, wherever the focus is."""
        if self._takes_code:
            event.stop()
            self.code.focus()
            self.code.on_paste(event)

    @property
    def _takes_code(self) -> bool:
        return self._edition.coded and not self._over and not self.busy

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Enter after the code goes on to the button; it never sends."""
        event.stop()
        self.act_button.focus()

    @on(CodeLine.Told)
    def _told_of_code(self, event: CodeLine.Told) -> None:
        event.stop()
        self.fault(event.sentence)

    def _end(self, sentence: str) -> None:
        """This edition is not confirmed any more: what is left is a new one."""
        self._over = True
        self.fault(sentence)
        self.name_button(f"New {self._edition.noun} of the same set")
        for line in self.query(CodeLine):
            line.over()
        self.cancel_button.focus()
