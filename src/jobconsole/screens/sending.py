"""Owns a dialog that sends one order and stays open, with what was typed, until it is done or given up. A second press
while the first is under way is the same press; a lost answer is said and looked for (HTTP-03, BULK-04).

    class DropDialog(SendingDialog[Plan]):
        ACT = "Drop the plan"

        def sending(self) -> Awaitable[Plan] | None: ...    # None: something is missing; say so with `self.fault(...)`
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from textual.getters import query_one
from textual.widgets import Button

from jobconsole.client.errors import ClientError, OutcomeUnknown, ServiceAway
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.refusals import refusal_sentence
from jobconsole.present.text import txt
from jobconsole.screens.dialog import ActingDialog
from jobconsole.widgets.lines import Lines

R = TypeVar("R")
CHECK_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Pauses between two looks after a lost answer, while the service cannot be reached."""


class SendingDialog(ActingDialog[R], Generic[R]):
    """Asks, sends, and closes with the answer. A subclass composes `Lines(id="answered")` within its question."""

    DEFAULT_CSS = "SendingDialog #answered { display: none; }"

    answered = query_one("#answered", Lines)

    def __init__(self, *, title: str = "", act: str = "") -> None:
        super().__init__(title=title, act=act)
        self.busy = False
        """Whether an order is under way."""

    def sending(self) -> Awaitable[R] | None:
        """The order as it stands in the dialog; None where something is missing, after `fault` said what."""
        raise NotImplementedError

    def refused(self, error: ClientError) -> None:
        """The order was not done."""
        self.fault(refusal_sentence(error.sentence, error.reference))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """The acting button sends, once."""
        if event.button.id != "act":
            return
        event.stop()
        # The dialog's own handler would take the answer and close.
        event.prevent_default()
        if self.busy:
            return
        self.fault("")
        todo = self.sending()
        if todo is not None:
            self._set_busy(True)
            self.say([(Piece("Sent; waiting for the answer …", Tone.QUIET),)])
            self.run_worker(self._guarded(todo), group="act", exit_on_error=False)

    def action_cancel(self) -> None:
        """Goes back, unless the answer is still to come: what was sent cannot be called back."""
        if self.busy:
            self.fault("It was sent; wait for the answer.")
        else:
            super().action_cancel()

    def checking(self) -> None:
        """Says that an answer got lost and is being looked for."""
        self.say([(Piece("? unknown, checking: the answer got lost on its way …", Tone.WARN),)])

    def say(self, lines: Sequence[Line]) -> None:
        """What the service answered, or what is waited for."""
        if self.is_attached:
            self.answered.display = bool(lines)
            self.answered.show(lines)
            if lines:
                self.answered.scroll_visible(animate=False)

    def name_button(self, label: str) -> None:
        """What the acting button does from now on."""
        self.act_button.label = txt(label)
        self.act_button.refresh(layout=True)

    async def _guarded(self, todo: Awaitable[R]) -> None:
        try:
            answer = await todo
        except ClientError as error:
            self.say([])
            self._set_busy(False)
            if self.is_attached:
                self.refused(error)
        else:
            self._set_busy(False)
            if self.is_attached:
                self.dismiss(answer)

    def _set_busy(self, busy: bool) -> None:
        self.busy = busy
        if self.is_attached:
            self.act_button.disabled = busy
            self.cancel_button.disabled = busy
            if not busy and self.focused is None:
                self.cancel_button.focus()


async def surely(call: Callable[[], Awaitable[R]], lost: Callable[[], None] = lambda: None) -> R:
    """The answer of `call`, which carries one key: sent again under it after a lost answer, so that it is done once.

    `lost` is told each time. OutcomeUnknown where no answer comes for long.
    """
    try:
        return await call()
    except OutcomeUnknown as error:
        unknown = error
    for pause in CHECK_SECONDS:
        lost()
        try:
            return await call()
        except (OutcomeUnknown, ServiceAway):  # away: nothing was done by this try; the first one may have been
            await asyncio.sleep(pause)
    raise unknown
