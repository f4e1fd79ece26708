"""Owns the dialog of what-if: the inputs of a rule as they are, changed as a person likes, and what the service says of
score and place with them. Nothing is saved, and it says so all the time; it can be asked again and again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.getters import query_one
from textual.widgets import Static

from jobconsole.client import queues as queues_client
from jobconsole.client import scores as client
from jobconsole.client.errors import ClientError
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.items import LABEL, Seen, heading
from jobconsole.present.refusals import refusal_sentence
from jobconsole.present.text import txt
from jobconsole.present.what_if import UNSAVED, supposed_lines
from jobconsole.screens.dialog import LOW, Dialog
from jobconsole.screens.place import PlaceScreen
from jobconsole.screens.shell import SignedOut
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.rule_form import Given, RuleForm, Supposing
from jobcontract.items import NewAmount, WhatIf
from jobcontract.money import Money

if TYPE_CHECKING:
    from jobcontract.items import Explanation, Item

AROUND = 5
"""Lines around form and answer: border, item, that nothing is saved, a blank one."""
KEYS = "enter asks · tab next input · esc back"


class WhatIfScreen(Dialog[None]):
    """Other inputs of one item, and what they would come to."""

    AUTO_FOCUS = ""
    BINDINGS = [  # noqa: RUF012  Textual's own form of a class's bindings
        # At once, before the next key is looked at: a slow link brings several in one piece.
        Binding("tab,down", "app.focus_next", show=False, priority=True),
        Binding("shift+tab,up", "app.focus_previous", show=False, priority=True),
        Binding("pageup", "scroll_answer(-1)", show=False, priority=True),
        Binding("pagedown", "scroll_answer(1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    WhatIfScreen { align: center middle; background: $background 60%; }
    WhatIfScreen > #dialog { width: 88; max-width: 100%; height: auto; max-height: 100%; padding: 0 1;
        background: $surface; border: round $primary; border-subtitle-color: $text-muted; }
    WhatIfScreen #about { height: auto; }
    WhatIfScreen #unsaved { height: 1; color: $secondary; margin-bottom: 1; }
    WhatIfScreen.-low #unsaved { margin-bottom: 0; }
    WhatIfScreen #scrolled { height: auto; scrollbar-size-vertical: 1; }
    WhatIfScreen #fault { color: $text-error; height: auto; max-height: 3; display: none; }
    WhatIfScreen #answer { margin-top: 1; }
    """

    about = query_one("#about", Lines)
    answered = query_one("#answer", Lines)

    def __init__(self, screen: PlaceScreen, item: Item, seen: Callable[[], Seen]) -> None:
        """`screen` is the place below, whose connection is used; `seen` is from where the item is looked at."""
        super().__init__()
        self.item = item
        self.explanation: Explanation | None = None
        self._below = screen
        self._look = seen
        self._busy = False
        self._lines: Callable[[int], list[Line]] = lambda _width: []

    def compose(self) -> ComposeResult:
        """The item, that nothing is saved, the form once the rule is known, the answer."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = "What if"
            dialog.border_subtitle = KEYS
            yield Lines(id="about", clipped=True)
            yield Static(txt(UNSAVED), id="unsaved")
            with VerticalScroll(id="scrolled", can_focus=False):
                yield Vertical(id="form")
                yield Static(id="fault")
                yield Lines(id="answer", indent=LABEL)

    def on_mount(self) -> None:
        """Asks for the rule."""
        self.query_one("#form").styles.height = "auto"
        self.about.show([heading(self.item)])
        self._say([(Piece("reading the rule …", Tone.QUIET),)])
        self._start(self._read_rule())

    def on_resize(self, event: events.Resize) -> None:
        """Another width has other columns. Form and answer scroll, so that item and `nothing is saved` stay in sight."""
        low = event.size.height < LOW
        self.set_class(low, "-low")
        self.query_one("#scrolled").styles.max_height = max(1, event.size.height - AROUND + low)
        self.call_after_refresh(self._show_answer)

    def action_scroll_answer(self, pages: int) -> None:
        """Shows more of form and answer."""
        scrolled = self.query_one("#scrolled")
        scrolled.scroll_relative(y=pages * max(1, scrolled.size.height - 1), animate=False)

    def on_rule_form_asked(self, message: RuleForm.Asked) -> None:
        """Enter asks the service."""
        message.stop()
        if self._busy:
            return
        self.fault("")
        given = self.query_one(RuleForm).read(self._supposing())
        if given is None:
            self._say([])
        else:
            self._start(self._ask(given))

    def fault(self, sentence: str) -> None:
        """Says what went wrong; empty takes it away."""
        shown = self.query_one("#fault", Static)
        shown.update(txt(sentence))
        shown.display = bool(sentence)

    async def _read_rule(self) -> None:
        found = await client.explanation(self._below.shell.service, self.item.id)
        self.explanation, self.item = found, found.item
        if not self.is_attached:
            return
        self.about.show([heading(found.item)])
        if found.rule is None:
            self._say([(Piece("This queue has no rule: its oldest item is first, and no input moves it."),)])
            return
        form = RuleForm(found.rule.inputs, self._supposing())
        await self.query_one("#form").mount(form)
        self.focus_next()
        self._say([(Piece("Change what you like, then press enter.", Tone.QUIET),)])
        self.run_worker(self._offer(form), group="offer", exit_on_error=False)

    async def _offer(self, form: RuleForm) -> None:
        """Asks which values the queue's items have, to complete to; without them everything else is as before."""
        try:
            known = await queues_client.vocabulary(self._below.shell.service, self.item.queue)
        except (ClientError, SignedOut):
            return
        if form.is_attached:
            form.offer({field.name: field.values for field in known.fields})

    async def _ask(self, given: Mapping[str, Given]) -> None:
        if self.explanation is None:
            return
        if not given:
            self._say([(Piece("That is the item as it is: change something first.", Tone.QUIET),)])
            return
        service, explanation = self._below.shell.service, self.explanation
        try:
            supposed = await client.what_if(service, self.item.id, as_what_if(given))
        except ClientError as error:
            self._blame(given, refusal_sentence(error.sentence, error.reference))
            return
        self._lines = lambda width: supposed_lines(explanation, supposed, width)
        self._show_answer()
        self.call_after_refresh(self.answered.scroll_visible, animate=False)

    def _blame(self, given: Mapping[str, Given], sentence: str) -> None:
        """Says a refusal beside the input that it names, else under the form."""
        self._say([])
        for source in given:
            named = source.removeprefix("input.")
            if f"`{named}`" in sentence and self.query_one(RuleForm).blame(source, sentence):
                return
        self.fault(sentence)

    def _start(self, todo: Awaitable[None]) -> None:
        self._busy = True
        self.run_worker(self._guarded(todo), group="what-if", exit_on_error=False)

    async def _guarded(self, todo: Awaitable[None]) -> None:
        try:
            await todo
        except (ClientError, SignedOut) as error:
            if self.is_attached:
                self._say([])
                self.fault(str(error))
        finally:
            self._busy = False

    def _say(self, lines: list[Line]) -> None:
        self._lines = lambda _width: lines
        self._show_answer()

    def _show_answer(self) -> None:
        if self.is_attached and self.query("#answer"):
            self.answered.show(self._lines(max(20, self.answered.size.width)))

    def _supposing(self) -> Supposing:
        seen = self._look()
        return Supposing(item=self.item, zone=seen.zone, now=seen.now)


def as_what_if(given: Mapping[str, Given]) -> WhatIf:
    """What was supposed, by source of the input, as the service is asked about it."""
    amount, created = given.get("amount"), given.get("created")
    return WhatIf(
        amount=NewAmount(minor=amount.minor, currency=amount.currency) if isinstance(amount, Money) else None,
        created=created if isinstance(created, datetime) else None,
        inputs={
            source.removeprefix("input."): value
            for source, value in given.items()
            if source.startswith("input.") and isinstance(value, bool | int | str)
        },
    )


def suppose(screen: PlaceScreen, item: Item, seen: Callable[[], Seen]) -> None:
    """Opens what-if for the item, over `screen`."""
    screen.app.push_screen(WhatIfScreen(screen, item, seen))
