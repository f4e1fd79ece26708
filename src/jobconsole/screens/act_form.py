"""Owns the dialog in which one item is acted on: what is acted on (amount first), the declared inputs, a button named by
what it does, and what the service answered. It stays open, with everything typed, until the act is done or cancelled.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.app import ComposeResult
from textual.getters import query_one
from textual.widgets import Button

from jobconsole.client.errors import ClientError, OutcomeUnknown, ServiceRefused
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.items import Seen, claim_line, field, heading, name_of
from jobconsole.present.refusals import change_lines, refusal_sentence
from jobconsole.present.text import txt
from jobconsole.screens.dialog import ActingDialog
from jobconsole.widgets.form import Declared, Form, Value
from jobconsole.widgets.lines import Lines
from jobcontract.errors import ErrorCode

if TYPE_CHECKING:
    from jobcontract.items import Item

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending(Generic[R]):
    """How the dialog reaches the service: each returns what the service answered or raises a `ClientError`."""

    send: Callable[[Item, Mapping[str, Value]], Awaitable[R]]
    """Does it, for the item as it stands on the dialog."""
    look: Callable[[], Awaitable[Item]]
    """The item as it stands in the service now."""
    settle: Callable[[OutcomeUnknown], Awaitable[R | None]]
    """After a lost answer: finds out; the answer where it was done, None where it was not."""


class ActForm(ActingDialog[R], Generic[R]):
    """Asks for the inputs of one act and carries it out."""

    DEFAULT_CSS = """
    ActForm #about { margin-bottom: 1; }
    ActForm #answered { display: none; margin-bottom: 1; }
    """

    form = query_one(Form)
    about = query_one("#about", Lines)
    answered = query_one("#answered", Lines)

    AUTO_FOCUS = "Form Input, Form Prose, Form Select, Form Checkbox, #cancel"
    """What has to be said comes first. No key acts from there: enter goes on, only the named button acts."""

    def __init__(
        self,
        *,
        title: str,
        act: str,
        item: Item,
        declared: Sequence[Declared],
        sending: Sending[R],
        seen: Callable[[], Seen],
        people: Sequence[tuple[str, str]] = (),
    ) -> None:
        """`act` names the button; `people` are id and words of the colleagues that can be chosen."""
        super().__init__(title=title, act=act)
        self.item = item
        self._declared = tuple(declared)
        self._sending = sending
        self._seen = seen
        self._people = people
        self._busy = False
        self._stale = False

    def compose_question(self) -> ComposeResult:
        """The item, the inputs, what the service answered."""
        yield Lines(id="about")
        yield Form(self._declared, zone=self._seen().zone, people=self._people)
        yield Lines(id="answered")

    def on_mount(self) -> None:
        """Names the item."""
        self.tick()

    def tick(self) -> None:
        """Counts the claim down; what is typed relative to now means this second's now. Before its parts are composed
        there is nothing to say it in."""
        if not self.query("#about"):
            return
        self._show_item()
        self.form.at(self._seen().now)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """The acting button acts, or looks again where the item had changed."""
        if event.button.id != "act":
            return
        event.stop()
        # The dialog's own handler would take the answer and close.
        event.prevent_default()
        if self._busy:
            return
        self.fault("")
        if self._stale:
            self._start(self._look_again())
            return
        values = self.form.read(self._seen().now)
        if values is not None:
            self._start(self._send(values))

    def action_cancel(self) -> None:
        """Goes back, unless the answer is still to come: what was sent cannot be called back."""
        if self._busy:
            self.fault("It was sent; wait for the answer.")
        else:
            super().action_cancel()

    def _start(self, todo: Awaitable[None]) -> None:
        self._set_busy(True)
        self.run_worker(self._guarded(todo), group="act", exit_on_error=False)

    async def _guarded(self, todo: Awaitable[None]) -> None:
        try:
            await todo
        except ServiceRefused as refused:
            self._refused(refused)
        except ClientError as error:
            self.fault(refusal_sentence(error.sentence, error.reference))
        finally:
            self._set_busy(False)

    async def _send(self, values: Mapping[str, Value]) -> None:
        self._say([field("", Piece("Sent; waiting for the answer …", Tone.QUIET))])
        try:
            answer: R | None = await self._sending.send(self.item, values)
        except OutcomeUnknown as lost:
            self.checking()
            answer = await self._sending.settle(lost)
            if answer is None:
                self._say([(Piece("It was not done: nothing of it is in the item's history.", Tone.WARN),)])
                return
        except ClientError:
            self._say([])
            raise
        if self.is_attached:
            self.dismiss(answer)

    def checking(self) -> None:
        """Says that an answer got lost and is being looked for."""
        self._say([(Piece("? unknown, checking: the answer got lost on its way …", Tone.WARN),)])

    async def _look_again(self) -> None:
        self.item = await self._sending.look()
        self._stale = False
        self._say([])
        self._show_item()
        self._name_button(self._act)
        self.cancel_button.focus()

    def _refused(self, refused: ServiceRefused) -> None:
        self.fault(refusal_sentence(refused.sentence, refused.reference))
        if refused.kind is ErrorCode.VERSION_CHANGED:
            self._stale = True
            self._say(change_lines([(change.field, change.before, change.after) for change in refused.changes]))
            self._name_button("Look at it again")

    def _name_button(self, label: str) -> None:
        self.act_button.label = txt(label)
        self.act_button.refresh(layout=True)

    def _show_item(self) -> None:
        lines: list[Line] = [heading(self.item)]
        about = self.item.key or self.item.id
        title = f" · {self.item.title}" if self.item.title != name_of(self.item) else ""
        lines += [(Piece(about + title, Tone.QUIET),), claim_line(self.item, None, self._seen())]
        self.about.show(lines)

    def _say(self, lines: Sequence[Line]) -> None:
        if self.is_attached:
            self.answered.display = bool(lines)
            self.answered.show(lines)
            if lines:
                self.answered.scroll_visible(animate=False)

    def _set_busy(self, busy: bool) -> None:
        self._busy = busy
        if self.is_attached:
            self.act_button.disabled = busy
            self.cancel_button.disabled = busy
            if not busy and self.focused is None:
                self.cancel_button.focus()
