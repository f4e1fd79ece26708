"""Owns the dialog in which a recovery is confirmed: what it does, the code from the phone where it moves money, a button
named by the act, and what the service answered.

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

from jobconsole.client import money as money_client
from jobconsole.client.errors import ClientError, ServiceAway, ServiceRefused
from jobconsole.present.plan_confirm import read_code, standing_sentence, tries_piece
from jobconsole.present.recoveries import act_words, change_lines, confirm_lines
from jobconsole.screens.confirm import ANEW, ASKED, NARROW, CodeEntry
from jobconsole.screens.sending import SendingDialog, surely
from jobconsole.widgets.line_entry import LineEntry
from jobconsole.widgets.lines import Lines, content_of
from jobcontract.errors import ErrorCode

if TYPE_CHECKING:
    from jobconsole.client.recovery_confirming import ConfirmingRecovery
    from jobconsole.client.service import Service
    from jobconsole.present.plans import PlanSeen
    from jobcontract.plans import CodeStanding
    from jobcontract.recoveries import Recovery

BUTTON = 42
"""Cells that the acting button has beside the other one."""
WIDTH = 62
"""Cells of a line in the dialog."""
_CODES = frozenset({ErrorCode.CODE_WRONG, ErrorCode.CODE_USED, ErrorCode.CODE_LOCKED, ErrorCode.CODE_UNREADY})
_OVER = frozenset({ErrorCode.PLAN_CHANGED, ErrorCode.PLAN_DIGEST, ErrorCode.PLAN_STATE})
"""Refusals after which this edition is not confirmed any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedRecovery:
    """How the dialog ended: the recovery as it was confirmed, or None where a new one of the same set is wanted."""

    recovery: Recovery | None


class RecoveryConfirm(SendingDialog[ConfirmedRecovery]):
    """Says what is done, asks for the code where there is one, and confirms once."""

    DEFAULT_CSS = """
    RecoveryConfirm #about { margin-bottom: 1; }
    RecoveryConfirm #given { height: 1; layout: horizontal; }
    RecoveryConfirm #asked { width: auto; margin-right: 1; }
    RecoveryConfirm #tries { width: auto; margin-left: 1; }
    RecoveryConfirm.-low #about { margin-bottom: 0; }
    RecoveryConfirm.-narrow #given { height: 2; layout: grid; grid-size: 2 2; grid-columns: 10 1fr; grid-rows: 1; }
    RecoveryConfirm.-narrow #asked { column-span: 2; }
    RecoveryConfirm.-narrow #buttons { height: 2; layout: vertical; align-horizontal: left; }
    RecoveryConfirm.-narrow #buttons Button { margin: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(ANEW, "anew", show=False),
        *(Binding(digit, f"digit('{digit}')", show=False, priority=True) for digit in "0123456789"),
    ]

    about = query_one("#about", Lines)
    code = query_one(CodeEntry)
    tries = query_one("#tries", Static)

    def __init__(
        self, confirming: ConfirmingRecovery, undone: str, service: Service, seen: Callable[[], PlanSeen]
    ) -> None:
        """`confirming` is the intent, with its one key; `undone`: how many items run again, in words."""
        super().__init__(title=f"{act_words(confirming.recovery)}?", act=act_words(confirming.recovery, BUTTON))
        self.recovery = confirming.recovery
        self._confirming = confirming
        self._undone = undone
        self._service = service
        self._seen = seen
        self._standing: CodeStanding | None = None
        self._over = False
        self.unsure = False
        """Whether an order was sent of which it is not known what became of it."""

    @property
    def coded(self) -> bool:
        """Whether it takes a code."""
        return self.recovery.confirm_by is not None

    def compose_question(self) -> ComposeResult:
        """What is confirmed, the code, what the service answered."""
        yield Lines(id="about", indent=2)
        if self.coded:
            with Container(id="given"):
                yield Static(Content(ASKED), id="asked")
                yield CodeEntry()
                yield Static(id="tries")
        yield Lines(id="answered", indent=2)

    def on_mount(self) -> None:
        """Says what is confirmed, and asks whether the person can give a code."""
        self.second()
        if self.coded:
            self.run_worker(self._ask_standing(), group="standing", exit_on_error=False)

    def on_resize(self, event: events.Resize) -> None:
        """A narrow window has the buttons under each other."""
        narrow = event.size.width < NARROW
        self.set_class(narrow, "-narrow")
        super().on_resize(event)
        if narrow:
            question = self.query_one("#question")
            room = question.styles.max_height
            question.styles.max_height = max(1, (int(room.value) if room is not None else 2) - 1)

    def second(self) -> None:
        """Says what is left of it, and of a lock."""
        if not self.query("#about") or (self.coded and not self.query("#tries")):
            return
        seen = self._seen()
        self.about.show(confirm_lines(self.recovery, self._undone, seen, WIDTH))
        if self.coded:
            self.tries.update(content_of((tries_piece(self._standing, seen.now),)))
        if self.recovery.expires_at <= seen.now and not self._over and not self.busy:
            self._end("The recovery expired: nothing was done.")

    def sending(self) -> Awaitable[ConfirmedRecovery] | None:
        """The confirmation under the dialog's one key; the field is empty from then on."""
        if self._over:
            self.action_anew()
            return None
        if not self.coded:
            return self._confirm(None)
        try:
            code = SecretStr(read_code(self.code.value))
        except ValueError as fault:
            self.fault(str(fault))
            self.code.focus()
            return None
        self.code.value = ""
        return self._confirm(code)

    async def _confirm(self, code: SecretStr | None) -> ConfirmedRecovery:
        """Sends it; after a lost answer looks it up, then repeats under the same key: it is confirmed once."""
        lost = False

        async def once() -> Recovery:
            if lost:
                found = await self._confirming.looked_up(self._service)
                if found is not None:
                    return found
            return await self._confirming.confirm(self._service, code)

        def checking() -> None:
            nonlocal lost
            lost = True
            self.checking()

        recovery = await surely(once, checking)
        if recovery.confirmed_at is None:
            raise ServiceAway(f"It was not confirmed: the recovery is {recovery.state}.")
        return ConfirmedRecovery(recovery=recovery)

    def refused(self, error: ClientError) -> None:
        """Says why; the code's own faults leave the field ready for the next one."""
        super().refused(error)
        if not isinstance(error, ServiceRefused):
            self.unsure = True
            return
        if error.kind in _CODES and self.coded:
            self.run_worker(self._ask_standing(), group="standing", exclusive=True, exit_on_error=False)
            self.code.focus()
        elif error.kind in _OVER:
            if error.plan_changes:
                self.say(change_lines(error.plan_changes, ANEW))
            self._end(error.sentence)

    def action_anew(self) -> None:
        """Closes; the screen makes a new one of the same set."""
        if self._over and not self.busy:
            self.dismiss(ConfirmedRecovery(recovery=None))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Digits are taken by the dialog until the code's field has the keyboard."""
        if action == "digit":
            return self.coded and not (self._over or self.busy or isinstance(self.focused, Input))
        return super().check_action(action, parameters)

    def action_digit(self, digit: str) -> None:
        """A digit is of the code, wherever the focus is: at once, so that one that came with it stays behind it."""
        self.set_focus(self.code)
        self.code.insert_text_at_cursor(digit)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is text: of the code, wherever the focus is."""
        if self.coded and not self._over and not self.busy:
            event.stop()
            self.code.focus()
            self.code.on_paste(event)

    async def _ask_standing(self) -> None:
        try:
            standing = await money_client.code_standing(self._service)
        except ClientError:
            return  # the confirmation itself says what is wrong
        if not self.is_attached or not self.query("#tries"):
            return
        first, self._standing = self._standing is None, standing
        self.second()
        seen = self._seen()
        if first and (sentence := standing_sentence(standing, seen.me, seen.zone, seen.now)):
            self.fault(sentence)

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

    def _end(self, sentence: str) -> None:
        """This edition is not confirmed any more: what is left is a new one."""
        self._over = True
        self.fault(sentence)
        self.name_button("New recovery of the same set")
        if self.coded:
            self.code.value = ""
            self.code.disabled = True
        self.cancel_button.focus()
