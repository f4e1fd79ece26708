"""Owns the dialog in which a recovery is made: what it takes in, of which stretch of time, the reason, the same command
without a screen. It freezes; nothing is done before the recovery is confirmed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from pydantic import ValidationError
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Checkbox, Input, Static, TextArea

from jobconsole.client import recoveries as client
from jobconsole.client.errors import ClientError, ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.client.service import BEFORE_LOOKUP
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.equivalent import equivalent_lines
from jobconsole.present.plans import counted
from jobconsole.present.recoveries import DOES, NOUNS, VERBS, reason_words
from jobconsole.present.recovery_command import recovery_command
from jobconsole.present.times import Typed, both, brief_span, read_instant, read_moment
from jobconsole.screens.sending import SendingDialog, surely
from jobconsole.widgets.form import Form, Prose
from jobconsole.widgets.line_entry import LineEntry
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.tick import Tick
from jobcontract.errors import ErrorCode
from jobcontract.ids import REASON_MAX
from jobcontract.operating import LeftOut, RecoveryAct
from jobcontract.recoveries import NAMED_MOST, Recovery, RecoveryOrder
from jobcontract.states import DeadCause, InputType

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobconsole.present.plans import PlanSeen

LINE_MOST = 2_000
"""Most characters of a typed list of schedules."""
TIME_MOST = 40
SKIPPED = {False: "also what a misfire policy skipped: no", True: "also what a misfire policy skipped: yes"}
"""The choice in words: a tick alone would differ by its colour only."""
TIGHT = 30
"""Below this many lines no blank ones stand between the parts."""
NARROW = 66
"""Below this many cells both times stand one under the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a recovery is asked for with: the act, and what of it is known already."""

    act: RecoveryAct
    schedules: tuple[str, ...] = ()
    """Typed into the form; empty: of every schedule."""
    occurrences: tuple[str, ...] = ()
    """Marked ones, which leave nothing else to be asked for but the reason."""
    since: str = ""
    """Typed into the form."""
    jobs: tuple[str, ...] = ()
    """Jobs by id: marked ones, or one."""
    job_filter: str | None = None
    """All jobs that this finds."""
    about: tuple[Line, ...] = ()
    """What stands before what the act does."""

    @property
    def named(self) -> bool:
        """Whether the set is known already: nothing is asked for but the reason."""
        return bool(self.occurrences or self.jobs) or self.job_filter is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    """The reason as a form declares it."""

    name: str = "reason"
    title: str = "Why; everybody who sees the recovery reads it"
    type: InputType = InputType.TEXT
    required: bool = True
    most: int | None = REASON_MAX


class _Fault(Exception):
    """What is wrong with what was typed, and where."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.field = field


class RecoveryForm(SendingDialog[Recovery]):
    """Asks for a set, and freezes it."""

    AUTO_FOCUS = "#schedules, #since, Prose, #cancel"
    """What has to be said comes first. No key acts from there: only the named button does."""
    DEFAULT_CSS = """
    RecoveryForm > #dialog { width: 78; }
    RecoveryForm .asked { height: 1; width: 1fr; }
    RecoveryForm LineEntry { border: none; height: 1; padding: 0; background: $panel; }
    RecoveryForm LineEntry:focus { border: none; background: $panel-lighten-1; }
    RecoveryForm #times { height: 2; }
    RecoveryForm #times Vertical { height: 2; width: 1fr; margin-right: 1; }
    RecoveryForm #stretch { height: auto; margin-bottom: 1; }
    RecoveryForm Checkbox { border: none; padding: 0; background: $surface; }
    RecoveryForm Checkbox:focus { border: none; }
    RecoveryForm #about { margin-bottom: 1; }
    RecoveryForm Field { margin-bottom: 0; }
    RecoveryForm #command { max-height: 5; margin-top: 1; }
    RecoveryForm.-low #command { display: none; }
    RecoveryForm.-tight #about, RecoveryForm.-tight #stretch { margin-bottom: 0; }
    RecoveryForm.-tight #command { margin-top: 0; }
    RecoveryForm.-tight Prose { height: 2; }
    RecoveryForm.-narrow #times { height: 4; layout: vertical; }
    """
    MAKE: ClassVar[str] = "Show it before anything is done"

    def __init__(
        self, asking: Asking, service: Service, seen: Callable[[], PlanSeen], where: Mapping[str, str] | None = None
    ) -> None:
        """`seen` says who looks and when, by the service's clock; `where`: options that say in which profile and tenant."""
        super().__init__(title=_title(asking), act=self.MAKE)
        self.asking = asking
        self._service = service
        self._seen = seen
        self._where = where or {}
        self._keys: dict[str, str] = {}

    def compose_question(self) -> ComposeResult:
        """What is taken in, the stretch of time, the reason, the command, what the service answered."""
        asking = self.asking
        yield Lines(id="about", indent=2)
        if not asking.named:
            yield from self._compose_set()
        yield Form([_Reason()], zone=self._seen().zone)
        yield Lines(id="command", indent=2)
        yield Lines(id="answered", indent=2)

    def _compose_set(self) -> ComposeResult:
        act = self.asking.act
        disable = act is RecoveryAct.DISABLE
        words = "Schedules" if disable else "Schedules (empty: every one)"
        yield Static(Content(f"{words}, with commas between"), classes="asked")
        yield LineEntry(value=", ".join(self.asking.schedules), id="schedules", compact=True, max_length=LINE_MOST)
        if disable:
            yield Static(Content("Enabled again by themselves at (empty: a person does)"), classes="asked")
            yield LineEntry(id="until", compact=True, max_length=TIME_MOST, placeholder="+2h · tomorrow 9:00")
        else:
            least, most = ("", "now") if act is RecoveryAct.REPLAY else (" (empty: any)", "any")
            with Horizontal(id="times"):
                with Vertical():
                    yield Static(Content(f"Scheduled from{least}"), classes="asked")
                    yield LineEntry(
                        value=self.asking.since,
                        id="since",
                        compact=True,
                        max_length=TIME_MOST,
                        placeholder="yesterday 00:00",
                    )
                with Vertical():
                    yield Static(Content(f"until before (empty: {most})"), classes="asked")
                    yield LineEntry(id="until", compact=True, max_length=TIME_MOST, placeholder="today 00:00 · -2h")
        yield Lines(id="stretch", indent=2)
        if act is RecoveryAct.REPLAY:
            yield Tick(SKIPPED[False], id="skipped", compact=True)
        elif not disable:
            yield Static(Content("Only of these causes (empty: any)"), classes="asked")
            yield LineEntry(id="causes", compact=True, max_length=TIME_MOST * 2, placeholder=", ".join(DeadCause)[:40])

    def on_mount(self) -> None:
        """Says what is taken in."""
        self.second()

    def on_resize(self, event: events.Resize) -> None:
        """A narrow window has both times under each other."""
        self.set_class(event.size.width < NARROW, "-narrow")
        self.set_class(event.size.height < TIGHT, "-tight")
        super().on_resize(event)

    def second(self) -> None:
        """What is typed relative to now means this second's now. Before its parts are composed nothing is typed."""
        if not self.query("#about"):
            return
        asking = self.asking
        lines: list[Line] = [(Piece(DOES[asking.act]), Piece(" Nothing is done before you confirm.", Tone.QUIET))]
        if asking.occurrences:
            lines.insert(0, (Piece(f"{counted(len(asking.occurrences), 'marked occurrence')}.", Tone.STRONG),))
        self.query_one("#about", Lines).show([*asking.about, *lines])
        self._show_typed()

    def sending(self) -> Awaitable[Recovery] | None:
        """The order under its key."""
        values = self.query_one(Form).read(self._seen().now)
        try:
            order = self._order(str(values["reason"]) if values is not None else "")
        except _Fault as fault:
            self.fault(str(fault))
            self.query_one(f"#{fault.field}").focus()
            return None
        if values is None:
            return None
        return self._make(order)

    async def _make(self, order: RecoveryOrder) -> Recovery:
        key = self._keys.setdefault(order.model_dump_json(), new_key())
        return await surely(lambda: client.make(self._service, order, key), self.checking)

    def refused(self, error: ClientError) -> None:
        """Says why; of a set of which nothing can go in also by which reasons."""
        super().refused(error)
        if isinstance(error, ServiceRefused):
            if error.problem.status not in BEFORE_LOOKUP:
                self._keys.clear()
            if error.kind is ErrorCode.PLAN_EMPTY:
                self.say(left_out_lines(error))

    def copyable(self) -> str | None:
        """The headless command, with what is typed so far."""
        return self._command()

    # What was typed

    def _text(self, identifier: str) -> str:
        return "".join(entry.value.strip() for entry in self.query(f"#{identifier}").results(Input))

    def _moment(self, identifier: str) -> datetime | None:
        """The typed instant; None where nothing was typed. Raises `_Fault`."""
        text, seen = self._text(identifier), self._seen()
        if not text:
            return None
        typed: Typed = read_moment(text, seen.zone, seen.now)
        if self.asking.act is RecoveryAct.DISABLE:
            typed = read_instant(text, seen.zone, seen.now)
        if typed.instant is None:
            raise _Fault(typed.sentence, identifier)
        return typed.instant

    def _schedules(self) -> tuple[str, ...]:
        return tuple(name for name in (part.strip() for part in self._text("schedules").split(",")) if name)

    def _causes(self) -> tuple[DeadCause, ...] | None:
        words = [part.strip().casefold() for part in self._text("causes").split(",") if part.strip()]
        unknown = [word for word in words if word not in set(DeadCause)]
        if unknown:
            raise _Fault(f"{unknown[0][:30]} is no cause of a dead letter; there are {', '.join(DeadCause)}.", "causes")
        return tuple(DeadCause(word) for word in words) or None

    def _order(self, reason: str) -> RecoveryOrder:
        """The order as it was typed; raises `_Fault`."""
        asking, act = self.asking, self.asking.act
        reason = reason or "–"
        if asking.occurrences:
            if len(asking.occurrences) > NAMED_MOST:
                raise _Fault(f"At most {NAMED_MOST:,} are named one by one; take a stretch of time instead.", "act")
            return RecoveryOrder(act=act, reason=reason, occurrences=asking.occurrences)
        if asking.jobs:
            return RecoveryOrder(act=act, reason=reason, jobs=asking.jobs)
        if asking.job_filter is not None:
            return RecoveryOrder(act=act, reason=reason, job_filter=asking.job_filter)
        schedules = self._schedules() or None
        if act is RecoveryAct.DISABLE:
            if schedules is None:
                raise _Fault("Name the schedules that are to be disabled.", "schedules")
            return self._checked(
                {"act": act, "reason": reason, "schedules": schedules, "disable_until": self._moment("until")}
            )
        since, until = self._moment("since"), self._moment("until")
        if act is RecoveryAct.REPLAY:
            if since is None:
                raise _Fault("Say from when: yesterday 00:00, -12h, 2026-12-01.", "since")
            until = until or self._seen().now
        if since is not None and until is not None and since >= until:
            raise _Fault("The stretch ends before it begins: nothing is scheduled in it.", "until")
        order = {"act": act, "reason": reason, "schedules": schedules, "since": since, "until": until}
        skipped = any(box.value for box in self.query("#skipped").results(Checkbox))
        return self._checked({**order, "skipped": skipped, "causes": self._causes()})

    def _checked(self, members: Mapping[str, object]) -> RecoveryOrder:
        try:
            return RecoveryOrder.model_validate(members)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            raise _Fault(f"{first['msg'].removeprefix('Value error, ')}.", "schedules") from None

    # What is shown

    def _command(self) -> str:
        reason = "".join(prose.text.strip() for prose in self.query(Prose))
        try:
            order = self._order(reason)
        except _Fault:
            return recovery_command(self.asking.act, None, reason, self._where, self._schedules())
        return recovery_command(self.asking.act, order, reason, self._where)

    def _show_typed(self) -> None:
        if not self.query("#command"):
            return
        self.query_one("#command", Lines).show(equivalent_lines(self._command()))
        for stretch in self.query("#stretch").results(Lines):
            told = self._stretch()
            stretch.display = bool(told)
            stretch.show(told)

    def _stretch(self) -> Sequence[Line]:
        """What the typed times come to, in the profile's zone and in UTC."""
        zone = self._seen().zone
        try:
            since, until = self._moment("since"), self._moment("until")
        except _Fault as fault:
            return [(Piece(str(fault), Tone.BAD),)]
        if self.asking.act is RecoveryAct.DISABLE:
            return [(Piece(f"= {both(until, zone)}", Tone.QUIET),)] if until is not None else []
        if since is None:
            return []
        end = until or self._seen().now
        long = f" · {brief_span((end - since).total_seconds())}" if end > since else " · nothing lies in it"
        return [(Piece(f"= {both(since, zone)} to {both(end, zone) if until else 'now'}{long}", Tone.QUIET),)]

    @on(TextArea.Changed)
    @on(Input.Changed)
    @on(Checkbox.Changed)
    def _changed(self) -> None:
        """Stretch and command follow what is typed."""
        for box in self.query("#skipped").results(Checkbox):
            box.label = SKIPPED[box.value]
        self._show_typed()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Enter goes on to the next part; it never sends."""
        event.stop()
        self.focus_next()


def left_out_lines(error: ServiceRefused) -> list[Line]:
    """Why each thing of the set is left out, counted by reason where the service says so."""
    told = error.extra.get("left_out")
    counts: dict[str, int] = {}
    for each in told if isinstance(told, list) else ():
        if isinstance(each, dict) and isinstance(each.get("reason"), str):
            count = each.get("count", 1)
            counts[str(each["reason"])] = counts.get(str(each["reason"]), 0) + (count if isinstance(count, int) else 1)
    return [(Piece(f"{count:,} {_reason(reason)}", Tone.WARN),) for reason, count in counts.items()]


def _reason(text: str) -> str:
    return reason_words(LeftOut(text)) if text in set(LeftOut) else text


def _title(asking: Asking) -> str:
    act = asking.act
    if asking.occurrences:
        return f"{VERBS[act]} {counted(len(asking.occurrences), 'marked ' + NOUNS[act])}?"
    if asking.jobs:
        many = len(asking.jobs) > 1
        return f"{VERBS[act]} {counted(len(asking.jobs), 'marked job') if many else 'this job'}?"
    if asking.job_filter is not None:
        return f"{VERBS[act]} all that are listed?"
    if act is RecoveryAct.REPLAY:
        return "Replay a stretch of time?"
    return f"{VERBS[act]} {NOUNS[act]}s?"
