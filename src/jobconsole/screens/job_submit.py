"""Owns the dialog in which a background job is submitted: its identity, of whom it is, the inputs that its kind declares,
and the same command without a screen. Only the named button sends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Checkbox, Input, Static, TextArea

from jobconsole.client import jobs as client
from jobconsole.client.errors import ClientError, ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.client.service import BEFORE_LOOKUP
from jobconsole.present.equivalent import equivalent_lines
from jobconsole.present.job_acts import submit_lines
from jobconsole.present.job_command import submit_command
from jobconsole.screens.sending import SendingDialog, surely
from jobconsole.widgets.form import Field, Form, Prose
from jobconsole.widgets.line_entry import LineEntry
from jobconsole.widgets.lines import Lines
from jobcontract.ids import KEY_MAX
from jobcontract.jobs import DeclaredField, JobKind, SubmitJob, Submitted
from jobcontract.states import InputType

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobconsole.present.plans import PlanSeen

LABELS: Mapping[str, tuple[str, str]] = {
    "identity": ("identity", "the same one is the same job, however often it is sent"),
    "customer": ("customer", "may stay empty"),
    "workspace": ("workspace", "may stay empty"),
    "subject": ("subject", "what people read of it; empty: made by itself"),
}
"""Id of an entry to its label and what stands in it while it is empty."""
TEXT_MOST = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """A declared input of a kind as a form takes it."""

    name: str
    title: str
    type: InputType
    required: bool
    most: int | None = TEXT_MOST


class SubmitForm(SendingDialog[Submitted]):
    """Asks for what a kind declares, and submits one job."""

    AUTO_FOCUS = "#identity"
    DEFAULT_CSS = """
    SubmitForm > #dialog { width: 78; }
    SubmitForm #about { margin-bottom: 1; }
    SubmitForm .line { height: 1; }
    SubmitForm .line > .label { width: 11; color: $secondary; }
    SubmitForm LineEntry { border: none; height: 1; padding: 0; width: 1fr; background: $panel; }
    SubmitForm LineEntry:focus { border: none; background: $panel-lighten-1; }
    SubmitForm Form { margin-top: 1; }
    SubmitForm Field { margin-bottom: 0; }
    SubmitForm Prose { height: 1; }
    SubmitForm Prose:focus { height: 3; }
    SubmitForm #command { max-height: 5; margin-top: 1; }
    SubmitForm.-low #command { display: none; }
    """

    def __init__(
        self, kind: JobKind, service: Service, seen: Callable[[], PlanSeen], where: Mapping[str, str] | None = None
    ) -> None:
        """`seen` says who looks and when; `where`: options that say in which profile and tenant."""
        super().__init__(title=f"Submit {kind.label}?", act=f"Submit {kind.label}")
        self.kind = kind
        self._service = service
        self._seen = seen
        self._where = where or {}
        self._keys: dict[str, str] = {}

    def compose_question(self) -> ComposeResult:
        """What is submitted, who it is of, its inputs, the command, what the service answered."""
        yield Lines(id="about", indent=2)
        for name, (label, hint) in LABELS.items():
            with Horizontal(classes="line"):
                yield Static(Content(label), classes="label")
                yield LineEntry(id=name, compact=True, max_length=KEY_MAX, placeholder=hint)
        yield Form(list(map(_declared, self.kind.inputs)), zone=self._seen().zone)
        yield Lines(id="command", indent=2)
        yield Lines(id="answered", indent=2)

    def on_mount(self) -> None:
        """Says what is submitted, and offers an identity."""
        seen = self._seen()
        self.query_one("#about", Lines).show(submit_lines(self.kind))
        entry = self.query_one("#identity", LineEntry)
        entry.value = f"{seen.me}-{seen.now:%Y%m%dT%H%M%SZ}"
        self._show_command()

    def sending(self) -> Awaitable[Submitted] | None:
        """The order under its key."""
        values = self.query_one(Form).read(self._seen().now)
        if values is None:
            self.call_after_refresh(self._reveal_fault)
            return None
        if not self._text("identity"):
            self.fault("An identity is needed: a token of yours for this one intention.")
            self.query_one("#identity").focus()
            return None
        try:
            order = SubmitJob(
                kind=self.kind.id,
                submission_identity=self._text("identity"),
                inputs=dict(values),
                subject=self._text("subject") or None,
                customer=self._text("customer") or None,
                workspace=self._text("workspace") or None,
            )
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            self.fault(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.")
            return None
        return self._submit(order)

    async def _submit(self, order: SubmitJob) -> Submitted:
        key = self._keys.setdefault(order.model_dump_json(), new_key())
        return await surely(lambda: client.submit_job(self._service, order, key), self.checking)

    def refused(self, error: ClientError) -> None:
        """Says why; the next order is another one."""
        super().refused(error)
        if isinstance(error, ServiceRefused) and error.problem.status not in BEFORE_LOOKUP:
            self._keys.clear()

    def copyable(self) -> str | None:
        """The headless command, with what is typed so far."""
        values = {field.declared.name: text for field in self.query(Field) if (text := _typed(field))}
        return submit_command(self.kind.id, {name: self._text(name) for name in LABELS}, values, self._where)

    def _reveal_fault(self) -> None:
        """What is wrong stands under its field: all of that is brought into sight."""
        for field in self.query(Field):
            if self.focused is not None and field in self.focused.ancestors:
                field.scroll_visible(animate=False)

    def _text(self, identifier: str) -> str:
        return self.query_one(f"#{identifier}", LineEntry).value.strip()

    def _show_command(self) -> None:
        if self.query("#command"):
            self.query_one("#command", Lines).show(equivalent_lines(self.copyable() or ""))

    @on(TextArea.Changed)
    @on(Checkbox.Changed)
    @on(Input.Changed)
    def _changed(self) -> None:
        self._show_command()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Enter goes on to the next part; it never sends."""
        event.stop()
        self.focus_next()


def _declared(field: DeclaredField) -> _Declared:
    known = {each.value for each in InputType}
    kind = InputType(field.type) if field.type in known else InputType.TEXT
    return _Declared(name=field.name, title=field.label, type=kind, required=field.required)


def _typed(field: Field) -> str:
    """What stands in a field, as the command takes it."""
    for box in field.query(Checkbox):
        return "true" if box.value else "false"
    for prose in field.query(Prose):
        return prose.text.strip()
    return "".join(entry.value.strip() for entry in field.query(Input))
