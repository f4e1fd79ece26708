"""Owns the dialog in which a plan is confirmed: what is released to whom, the code from the phone, a button named by the
amounts, and what the service answered.

The focus begins on Cancel. A digit goes to the code's field wherever the focus is; only the named button sends. The code
is kept nowhere: the field is emptied when it is sent, and what is sent is a SecretStr of that one order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import SecretStr
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, Static

from jobconsole.client.errors import ClientError, ServiceAway, ServiceRefused
from jobconsole.present.plan_confirm import (
    confirm_label,
    confirm_lines,
    confirm_title,
    plan_change_lines,
    read_code,
    standing_sentence,
    tries_piece,
)
from jobconsole.screens.sending import SendingDialog, surely
from jobconsole.widgets.line_entry import LineEntry
from jobconsole.widgets.lines import Lines, content_of
from jobcontract.errors import ErrorCode

if TYPE_CHECKING:
    from jobconsole.client.plans import Confirming
    from jobconsole.client.service import Service
    from jobconsole.present.plans import PlanSeen
    from jobcontract.plans import CodeStanding, Plan

ASKED = "Type the six digits from your phone:"
NARROW = 66
"""Below this many cells the buttons stand one under the other, and so do the code and what is asked."""
ANEW = "n"
"""The key that makes a new plan where this one changed."""
_CODES = frozenset({ErrorCode.CODE_WRONG, ErrorCode.CODE_USED, ErrorCode.CODE_LOCKED, ErrorCode.CODE_UNREADY})
_OVER = frozenset({ErrorCode.PLAN_CHANGED, ErrorCode.PLAN_DIGEST, ErrorCode.PLAN_STATE})
"""Refusals after which no code confirms this edition of the plan any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """How the dialog ended: the plan as it was confirmed, or None where a new plan of the same set is wanted."""

    plan: Plan | None


class CodeEntry(LineEntry):
    """Six digits. Blanks are forgiven; a paste is text, of which nothing but digits and blanks is taken."""

    DEFAULT_CSS = """
    CodeEntry { border: none; height: 1; width: 10; padding: 0 1; background: $panel; }
    CodeEntry:focus { border: none; background: $panel-lighten-1; }
    """

    def __init__(self) -> None:
        super().__init__(id="code", compact=True, max_length=8, restrict=r"[0-9 ]*", select_on_focus=False)

    def on_paste(self, event: events.Paste) -> None:
        """A code as it was copied; anything else is left out, which the dialog says."""
        event.prevent_default()
        event.stop()
        text = "".join(event.text.split())
        if len(text) <= (self.max_length or 0) and text.isascii() and text.isdigit():
            self.value = text
            self.cursor_position = len(text)
        else:
            self.post_message(self.Cut(pasted=True))


class ConfirmDialog(SendingDialog[Confirmed]):
    """Asks for the code and confirms the plan, once."""

    DEFAULT_CSS = """
    ConfirmDialog #about { margin-bottom: 1; }
    ConfirmDialog #given { height: 1; layout: horizontal; }
    ConfirmDialog #asked { width: auto; margin-right: 1; }
    ConfirmDialog #tries { width: auto; margin-left: 1; }
    ConfirmDialog #answered { margin-top: 1; }
    ConfirmDialog.-low #about { margin-bottom: 0; }
    ConfirmDialog.-narrow #given { height: 2; layout: grid; grid-size: 2 2; grid-columns: 10 1fr; grid-rows: 1; }
    ConfirmDialog.-narrow #asked { column-span: 2; }
    ConfirmDialog.-narrow #buttons { height: 2; layout: vertical; align-horizontal: left; }
    ConfirmDialog.-narrow #buttons Button { margin: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(ANEW, "anew", show=False),
        *(Binding(digit, f"digit('{digit}')", show=False, priority=True) for digit in "0123456789"),
    ]

    about = query_one("#about", Lines)
    code = query_one(CodeEntry)
    tries = query_one("#tries", Static)

    def __init__(
        self, confirming: Confirming, service: Service, seen: Callable[[], PlanSeen], standing: CodeStanding | None
    ) -> None:
        """`confirming` is the intent, with its one key; `standing` whether the person can give a code, once known."""
        super().__init__(title=confirm_title(confirming.plan), act=confirm_label(confirming.plan, NARROW))
        self.plan = confirming.plan
        self._confirming = confirming
        self._service = service
        self._seen = seen
        self._standing = standing
        self._over = False
        self.unsure = False
        """Whether an order was sent of which it is not known what became of it."""

    def compose_question(self) -> ComposeResult:
        """What is confirmed, the code, what the service answered."""
        yield Lines(id="about", indent=2)
        if self.plan.confirm_by is not None:
            with Container(id="given"):
                yield Static(Content(ASKED), id="asked")
                yield CodeEntry()
                yield Static(id="tries")
        yield Lines(id="answered", indent=2)

    def on_mount(self) -> None:
        """Says what is confirmed."""
        self.tick()
        if self._standing is not None:
            self.stands(self._standing)

    def on_resize(self, event: events.Resize) -> None:
        """A narrow window has the buttons under each other; the amounts on them are never cut."""
        narrow = event.size.width < NARROW
        self.set_class(narrow, "-narrow")
        super().on_resize(event)
        if narrow:
            question = self.query_one("#question")
            room = question.styles.max_height
            lines = int(room.value) if room is not None else 1
            question.styles.max_height = max(1, lines - 1)
        if not self._over:
            self.name_button(confirm_label(self.plan, min(event.size.width, 68) - (8 if narrow else 26)))

    def second(self) -> None:
        """A second passed: what is left of the plan, and of a lock."""
        self.tick()

    def tick(self) -> None:
        """Says what is left of the plan, and of a lock. Before its parts are composed there is nothing to say it in."""
        if not self.query("#about") or (self.plan.confirm_by is not None and not self.query("#tries")):
            return
        seen = self._seen()
        self.about.show(confirm_lines(self.plan, seen.now))
        if self.plan.confirm_by is not None:
            self.tries.update(content_of((tries_piece(self._standing, seen.now),)))
        if self.plan.expires_at <= seen.now and not self._over and not self.busy:
            self._end("The plan expired: nothing was released.")

    def stands(self, standing: CodeStanding) -> None:
        """It is known now whether the person can give a code."""
        self._standing = standing
        seen = self._seen()
        self.tick()
        sentence = standing_sentence(standing, seen.me, seen.zone, seen.now)
        if sentence and self.query("#fault"):  # else it is said once the dialog is composed
            self.fault(sentence)

    def sending(self) -> Awaitable[Confirmed] | None:
        """The confirmation under the dialog's one key; the field is empty from then on."""
        if self._over:
            self.action_anew()
            return None
        if self.plan.confirm_by is None:
            return self._confirm(None)
        try:
            code = SecretStr(read_code(self.code.value))
        except ValueError as fault:
            self.fault(str(fault))
            self.code.focus()
            return None
        self.code.value = ""
        return self._confirm(code)

    async def _confirm(self, code: SecretStr | None) -> Confirmed:
        """Sends it; after a lost answer looks the plan up, then repeats under the same key: it is confirmed once."""
        lost = False

        async def once() -> Plan:
            if lost:
                found = await self._confirming.looked_up(self._service)
                if found is not None:
                    return found
            return await self._confirming.confirm(self._service, code)

        def checking() -> None:
            nonlocal lost
            lost = True
            self.checking()

        plan = await surely(once, checking)
        if plan.confirmed_at is None:
            raise ServiceAway(f"It was not confirmed: the plan is {plan.state}.")
        return Confirmed(plan=plan)

    def refused(self, error: ClientError) -> None:
        """Says why; the code's own faults leave the field ready for the next one."""
        super().refused(error)
        if not isinstance(error, ServiceRefused):
            self.unsure = True
            return
        if error.kind in _CODES:
            self._count(error)
            self.code.focus()
        elif error.kind in _OVER:
            if error.plan_changes:
                self.say(plan_change_lines(error.plan_changes, ANEW))
            self._end(error.sentence)

    def action_anew(self) -> None:
        """Closes; the screen makes a new plan of the same set."""
        if self._over and not self.busy:
            self.dismiss(Confirmed(plan=None))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Digits are taken by the dialog until the code's field has the keyboard."""
        if action == "digit":
            return not (self.plan.confirm_by is None or self._over or self.busy or isinstance(self.focused, Input))
        return super().check_action(action, parameters)

    def action_digit(self, digit: str) -> None:
        """A digit is of the code, wherever the focus is: at once, so that one that came with it stays behind it."""
        self.set_focus(self.code)
        self.code.insert_text_at_cursor(digit)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is text: of the code, wherever the focus is."""
        if self.plan.confirm_by is not None and not self._over and not self.busy:
            event.stop()
            self.code.focus()
            self.code.on_paste(event)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Enter after the code goes on to the button; it never sends."""
        event.stop()
        self.act_button.focus()

    @on(LineEntry.Cut)
    def _not_a_code(self, event: LineEntry.Cut) -> None:
        """What was pasted is not shown: it may be anything."""
        event.stop()
        if event.pasted:
            self.fault("What was pasted is no code, and was left out: a code is six digits.")

    def _count(self, error: ServiceRefused) -> None:
        """Takes what a refusal said of the tries left and of a lock."""
        if self._standing is None:
            return
        left, until = error.extra.get("tries_left"), error.extra.get("locked_until")
        changes: dict[str, object] = {"tries_left": left} if isinstance(left, int) else {}
        if until is None or isinstance(until, str):
            changes["locked_until"] = until
        changes["locked_for_good"] = bool(error.extra.get("locked_for_good", self._standing.locked_for_good))
        self._standing = type(self._standing).model_validate({**self._standing.model_dump(), **changes})
        self.tick()

    def _end(self, sentence: str) -> None:
        """No code confirms this edition any more: what is left is a new plan."""
        self._over = True
        self.fault(sentence)
        self.name_button("New plan of the same set")
        if self.plan.confirm_by is not None:
            self.code.value = ""
            self.code.disabled = True
        self.cancel_button.focus()
