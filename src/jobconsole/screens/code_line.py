"""Owns the line of a dialog on which the code from the phone is given: what is asked, the entry, the tries that are left.

It asks whether the person can give a code at all, and keeps up with what refusals say of it. The code is kept nowhere:
taking it empties the entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static

from jobconsole.client import money as client
from jobconsole.client.errors import ClientError, ServiceRefused
from jobconsole.present.plan_confirm import read_code, standing_sentence, tries_piece
from jobconsole.widgets.line_entry import LineEntry
from jobconsole.widgets.lines import content_of
from jobcontract.errors import ErrorCode

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobconsole.present.plans import PlanSeen
    from jobcontract.plans import CodeStanding

CODES = frozenset({ErrorCode.CODE_WRONG, ErrorCode.CODE_USED, ErrorCode.CODE_LOCKED, ErrorCode.CODE_UNREADY})
"""Refusals of the code itself; they say what is left of the tries."""


class CodeEntry(LineEntry):
    """Six digits. Blanks are forgiven; a paste is text, of which nothing but digits and blanks is taken."""

    DEFAULT_CSS = """
    CodeEntry { border: none; height: 1; width: 10; padding: 0 1; background: $panel; }
    CodeEntry:focus { border: none; background: $panel-lighten-1; }
    """

    def __init__(self) -> None:
        super().__init__(id="code", compact=True, max_length=8, restrict=r"[0-9 ]*", select_on_focus=False)

    def on_paste(self, event: events.Paste) -> None:
        """A code as it was copied; anything else is left out, which is said."""
        event.prevent_default()
        event.stop()
        text = "".join(event.text.split())
        if len(text) <= (self.max_length or 0) and text.isascii() and text.isdigit():
            self.value = text
            self.cursor_position = len(text)
        else:
            self.post_message(self.Cut(pasted=True))


class CodeLine(Container):
    """Asks for the code; in a narrow dialog the entry stands under what is asked."""

    SCOPED_CSS = False  # -narrow is said by the dialog around it
    DEFAULT_CSS = """
    CodeLine { height: 1; layout: horizontal; }
    CodeLine > #asked { width: auto; margin-right: 1; }
    CodeLine > #tries { width: auto; margin-left: 1; }
    .-narrow CodeLine { height: 2; layout: grid; grid-size: 2 2; grid-columns: 10 1fr; grid-rows: 1; }
    .-narrow CodeLine > #asked { column-span: 2; }
    """

    entry = query_one(CodeEntry)
    tries = query_one("#tries", Static)

    @dataclass
    class Told(Message):
        """There is something to say about the code: why the person can give none, or what a paste was."""

        sentence: str

    def __init__(self, asked: str, service: Service, seen: Callable[[], PlanSeen]) -> None:
        """`asked`: what the code is asked with; `seen` says who looks and when, by the service's clock."""
        super().__init__()
        self._asked = asked
        self._service = service
        self._seen = seen
        self._standing: CodeStanding | None = None

    def compose(self) -> ComposeResult:
        """What is asked, the entry, the tries."""
        yield Static(Content(self._asked), id="asked")
        yield CodeEntry()
        yield Static(id="tries")

    def on_mount(self) -> None:
        """Asks whether the person can give a code."""
        self._ask()

    def second(self) -> None:
        """Says the tries that are left, or what is left of a lock. Before it is composed there is nothing to say it in."""
        if self.query("#tries"):
            self.tries.update(content_of((tries_piece(self._standing, self._seen().now),)))

    def take(self) -> SecretStr:
        """The code, which is in the entry no more; ValueError with the sentence where what is there is none."""
        code = SecretStr(read_code(self.entry.value))
        self.entry.value = ""
        return code

    def over(self) -> None:
        """No code is taken any more."""
        self.entry.value = ""
        self.entry.disabled = True

    def refused(self, error: ClientError) -> None:
        """Takes what a refusal says of the tries left and of a lock; asks where it says nothing of them."""
        if isinstance(error, ServiceRefused) and error.kind in CODES and self._standing is not None:
            self._standing = _after(self._standing, error)
            self.second()
        else:
            self._ask()

    def _ask(self) -> None:
        self.run_worker(self._ask_standing(), group="standing", exclusive=True, exit_on_error=False)

    async def _ask_standing(self) -> None:
        try:
            standing = await client.code_standing(self._service)
        except ClientError:
            return  # the order itself says what is wrong
        if not self.is_attached:
            return
        first, self._standing = self._standing is None, standing
        self.second()
        seen = self._seen()
        if first and (sentence := standing_sentence(standing, seen.me, seen.zone, seen.now)):
            self.post_message(self.Told(sentence))

    @on(LineEntry.Cut)
    def _not_a_code(self, event: LineEntry.Cut) -> None:
        """What was pasted is not shown: it may be anything."""
        event.stop()
        if event.pasted:
            self.post_message(self.Told("What was pasted is no code, and was left out: a code is six digits."))


def _after(standing: CodeStanding, error: ServiceRefused) -> CodeStanding:
    left, until = error.extra.get("tries_left"), error.extra.get("locked_until")
    changes: dict[str, object] = {"tries_left": left} if isinstance(left, int) else {}
    if until is None or isinstance(until, str):
        changes["locked_until"] = until
    changes["locked_for_good"] = bool(error.extra.get("locked_for_good", standing.locked_for_good))
    return type(standing).model_validate({**standing.model_dump(), **changes})
