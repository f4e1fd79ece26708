"""Owns the dialog of one order about money that is no confirmation: what it does, the reason, what the bank calls it, the
code from the phone, a button named by what is done. Orders of operators say the same command without a screen, too.

Only the named button sends. The code is kept nowhere: its field is emptied when it is sent, and what is sent is a
SecretStr of that one order. An order has one key until the service judged it and said no (HTTP-03).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import SecretStr
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static, TextArea

from jobconsole.client.errors import ClientError, ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.client.service import BEFORE_LOOKUP
from jobconsole.present.equivalent import equivalent_lines
from jobconsole.present.times import read_instant
from jobconsole.screens.code_line import CodeEntry, CodeLine
from jobconsole.screens.plan_seen import seen_of
from jobconsole.screens.sending import SendingDialog, surely
from jobconsole.widgets.form import Form, InstantField, Prose, Value
from jobconsole.widgets.line_entry import LineEntry
from jobconsole.widgets.lines import Lines
from jobcontract.errors import ErrorCode
from jobcontract.ids import KEY_MAX, REASON_MAX
from jobcontract.states import InputType

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobconsole.present.columns import Line
    from jobconsole.present.plans import PlanSeen
    from jobconsole.screens.place import PlaceScreen

R = TypeVar("R")
CODE_WORDS = "The six digits from your phone:"
NARROW = 66
"""Below this many cells the code stands under what is asked, and the buttons one under the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a person gave."""

    reason: str = ""
    reference: str = ""
    code: SecretStr | None = None
    until: datetime | None = None

    @property
    def required(self) -> SecretStr:
        """The code of an order that takes one."""
        if self.code is None:
            raise LookupError("the order was made without a code")
        return self.code


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Generic[R]):
    """One order: its words, what it asks for, and how it is sent with what was given and its key."""

    title: str
    act: str
    """What the button does, in words."""
    about: Callable[[], Sequence[Line]]
    send: Callable[[Given, str], Awaitable[R]]
    reason: str = ""
    """What the reason is asked with; empty: none is asked for."""
    reference: str = ""
    """What a name from outside is asked with: the bank's of a payout, a ticket's."""
    reference_needed: bool = True
    code: bool = False
    back: str = ""
    """What the button that gives the order up says, where Cancel would be taken for the act itself."""
    until: str = ""
    """What a time to come is asked with, which may stay empty; empty: none is asked for."""
    command: Callable[[Given], str] | None = None
    """The headless command that does the same, with what is typed so far (never the code)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    """The reason as a form declares it."""

    title: str
    name: str = "reason"
    type: InputType = InputType.TEXT
    required: bool = True
    most: int | None = REASON_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class _Until:
    """The time to come as a form declares it."""

    title: str
    name: str = "until"
    type: InputType = InputType.INSTANT
    required: bool = False
    most: int | None = None


class OrderForm(SendingDialog[R], Generic[R]):
    """Asks for what the order needs, and sends it once."""

    NARROW = NARROW
    AUTO_FOCUS = "#reference, Form Prose, CodeEntry, #cancel"
    """What has to be said comes first. No key acts from there: only the named button does."""
    DEFAULT_CSS = """
    OrderForm #about { margin-bottom: 1; }
    OrderForm .asked { height: 1; width: auto; margin-right: 1; }
    OrderForm #reference { border: none; height: 1; padding: 0; margin-bottom: 1; background: $panel; }
    OrderForm #reference:focus { border: none; background: $panel-lighten-1; }
    OrderForm #answered { margin-top: 1; }
    OrderForm #command { margin-top: 1; max-height: 6; }
    OrderForm.-operator Field { margin-bottom: 0; }
    OrderForm.-operator Prose { height: 2; }
    OrderForm.-low #command { display: none; }
    OrderForm.-low #about { margin-bottom: 0; }
    OrderForm.-low #reference { margin-bottom: 0; }
    OrderForm.-low Field { margin-bottom: 0; }
    """

    about = query_one("#about", Lines)
    code_line = query_one(CodeLine)
    code = query_one(CodeEntry)

    def __init__(self, order: Order[R], service: Service, seen: Callable[[], PlanSeen]) -> None:
        """`seen` says who looks and when, by the service's clock."""
        super().__init__(title=order.title, act=order.act)
        self.set_class(order.command is not None, "-operator")
        self.order = order
        self._service = service
        self._seen = seen
        self._keys: dict[tuple[str, str, datetime | None], str] = {}

    def cancel_words(self) -> str:
        """What the button that goes back says."""
        return self.order.back or super().cancel_words()

    def compose_question(self) -> ComposeResult:
        """What is done, then what the order asks for, then what the service answered."""
        order = self.order
        yield Lines(id="about", indent=2)
        if order.reference:
            yield Static(Content(order.reference), classes="asked")
            yield LineEntry(id="reference", compact=True, max_length=KEY_MAX)
        declared: list[_Reason | _Until] = [_Reason(title=order.reason)] if order.reason else []
        declared += [_Until(title=order.until)] if order.until else []
        if declared:
            yield Form(declared, zone=self._seen().zone)
        if order.code:
            yield CodeLine(CODE_WORDS, self._service, self._seen)
        if order.command is not None:
            yield Lines(id="command", indent=2)
        yield Lines(id="answered", indent=2)

    def on_mount(self) -> None:
        """Says what is done."""
        self.second()

    def second(self) -> None:
        """Counts down what its lines count. Before its parts are composed there is nothing to say it in."""
        if not self.query("#about"):
            return
        self.about.show(self.order.about())
        for form in self.query(Form):
            form.at(self._seen().now)
        self._show_command()
        for line in self.query(CodeLine):
            line.second()

    def sending(self) -> Awaitable[R] | None:
        """The order under its key; the code's field is empty from then on."""
        reference = ""
        if self.order.reference:
            entry = self.query_one("#reference", LineEntry)
            reference = entry.value.strip()
            if not reference and self.order.reference_needed:
                self.fault(f"{self.order.reference.rstrip(':')} is needed.")
                entry.focus()
                return None
        values: Mapping[str, Value] = {}
        if self.order.reason or self.order.until:
            read = self.query_one(Form).read(self._seen().now)
            if read is None:
                return None
            values = read
        reason = str(values.get("reason", ""))
        until = datetime.fromisoformat(str(values["until"])) if "until" in values else None
        code = None
        if self.order.code:
            try:
                code = self.code_line.take()
            except ValueError as fault:
                self.fault(str(fault))
                self.code.focus()
                return None
        return self._send(Given(reason=reason, reference=reference, code=code, until=until))

    def refused(self, error: ClientError) -> None:
        """Says why; a code that was judged is spent, and the next one is another order."""
        super().refused(error)
        if isinstance(error, ServiceRefused) and error.kind is ErrorCode.VERSION_CHANGED:
            self.act_button.disabled = True  # what it was about is not what is there: go back and look
        if isinstance(error, ServiceRefused) and error.problem.status not in BEFORE_LOOKUP:
            self._keys.clear()
        if self.order.code:
            self.code_line.refused(error)
            self.code.focus()

    def copyable(self) -> str | None:
        """The headless command, with what is typed so far."""
        return self.order.command(self._typed()) if self.order.command is not None else None

    def _typed(self) -> Given:
        """What is typed so far, also where it is not fit to be sent; never the code."""
        reason = "".join(prose.text.strip() for prose in self.query(Prose))
        reference = "".join(entry.value.strip() for entry in self.query("#reference").results(Input))
        until = None
        for field in self.query(InstantField):
            text, seen = field.query_one(Input).value, self._seen()
            until = read_instant(text, seen.zone, seen.now).instant if text.strip() else None
        return Given(reason=reason, reference=reference, until=until)

    def _show_command(self) -> None:
        if self.order.command is not None and self.query("#command"):
            self.query_one("#command", Lines).show(equivalent_lines(self.order.command(self._typed())))

    async def _send(self, given: Given) -> R:
        key = self._keys.setdefault((given.reason, given.reference, given.until), new_key())
        return await surely(lambda: self.order.send(given, key), self.checking)

    @on(TextArea.Changed)
    @on(Input.Changed)
    def _changed(self) -> None:
        """The command follows what is typed."""
        self._show_command()

    @on(CodeLine.Told)
    def _told_of_code(self, event: CodeLine.Told) -> None:
        event.stop()
        self.fault(event.sentence)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Enter goes on to the next part; it never sends."""
        event.stop()
        self.focus_next()


async def asked(screen: PlaceScreen, order: Order[R]) -> R | None:
    """The answer to the order; None where it was given up. A lost answer is said in the dialog.

    Nothing is asked over another screen that a fast key opened meanwhile.
    """
    if screen.app.screen is not screen:
        return None
    service = screen.shell.service
    form = OrderForm(order, service, lambda: seen_of(screen))
    service.on_checking = lambda _key: form.checking()
    return await screen.app.push_screen_wait(form)
