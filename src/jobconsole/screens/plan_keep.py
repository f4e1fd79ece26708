"""Owns the dialog in which a warning is answered: what is odd about which payment, and the reason why it stays in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.getters import query_one

from jobconsole.present.plan_rows import warned_lines
from jobconsole.screens.sending import SendingDialog
from jobconsole.widgets.form import Form
from jobconsole.widgets.lines import Lines
from jobcontract.ids import REASON_MAX
from jobcontract.plans import Plan
from jobcontract.states import InputType

if TYPE_CHECKING:
    from jobconsole.present.plans import PlanSeen
    from jobcontract.plans import PlanWarning


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    """The one input of an answer."""

    name: str = "reason"
    type: InputType = InputType.TEXT
    title: str = "Why it stays in; everybody who sees the plan reads it"
    required: bool = True
    most: int | None = REASON_MAX


class KeepDialog(SendingDialog[Plan]):
    """Asks for the reason, and answers the warning with it."""

    TITLE = "Keep it in the plan"
    ACT = "Keep it in with this reason"
    AUTO_FOCUS = "Form Prose"
    """What has to be said comes first. No key acts from there: only the named button does."""
    DEFAULT_CSS = """
    KeepDialog #about { margin-bottom: 1; }
    KeepDialog.-low #about { margin-bottom: 0; }
    """

    form = query_one(Form)

    def __init__(
        self, warning: PlanWarning, send: Callable[[str], Awaitable[Plan]], seen: Callable[[], PlanSeen]
    ) -> None:
        """`send` answers the warning with a reason."""
        super().__init__()
        self._warning = warning
        self._send = send
        self._seen = seen

    def compose_question(self) -> ComposeResult:
        """The payment and what is odd about it, the reason, what the service answered."""
        yield Lines(id="about", indent=2)
        yield Form([_Reason()], zone=self._seen().zone)
        yield Lines(id="answered")

    def on_mount(self) -> None:
        """Names the payment."""
        self.query_one("#about", Lines).show(warned_lines(self._warning))

    def sending(self) -> Awaitable[Plan] | None:
        """The answer."""
        values = self.form.read(self._seen().now)
        return None if values is None else self._send(str(values["reason"]))
