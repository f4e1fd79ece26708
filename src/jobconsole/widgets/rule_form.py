"""Owns the form in which other inputs of a rule are supposed: one line each, filled with what the item has, its fault
beside it. Gives what was changed; what was left as it was, or emptied, is not given. Sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from jobconsole.present.columns import clip, width_of
from jobconsole.present.items import LABEL
from jobconsole.present.scores import INPUT_MOST, input_words
from jobconsole.present.text import line, txt
from jobconsole.present.what_if import (
    AGE_EXAMPLE,
    AMOUNT_EXAMPLE,
    Unreadable,
    own_value,
    read_age,
    read_input,
    read_money,
)
from jobconsole.widgets.line_entry import LineEntry
from jobcontract.money import Money
from jobcontract.states import RuleInputType

if TYPE_CHECKING:
    from jobcontract.items import Item
    from jobcontract.scores import RuleInput

Given = Money | datetime | bool | int | str
"""What was supposed for one input: an amount, the item's own date (UTC), or a declared input."""
BESIDE = 68
"""Cells of a form from which examples have room beside their entries."""
OFFERED = 3
"""Most values of an input that are named beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supposing:
    """From where an item is supposed to be other than it is: the item, the zone of typed dates, the service's time."""

    item: Item
    zone: tzinfo
    now: datetime


class RuleField(Container):
    """One input of the rule: its name, what it is supposed to be, and what is wrong with that."""

    DEFAULT_CSS = """
    RuleField { layout: horizontal; height: auto; min-height: 1; }
    RuleField > .entered { width: auto; height: 1; }
    RuleField .name { height: 1; color: $secondary; }
    RuleField Input { width: 28; border: none; height: 1; padding: 0 1; background: $panel; }
    RuleField Input:focus { border: none; background: $panel-lighten-1; }
    RuleField > .said { width: 1fr; height: auto; padding: 0 0 0 2; color: $secondary; }
    RuleField > .said.-fault { color: $text-error; }
    """

    def __init__(self, declared: RuleInput, supposing: Supposing, names: int) -> None:
        """`names`: cells of the names of all inputs."""
        super().__init__()
        self._names = names
        self.declared = declared
        self._own = own_value(declared, supposing.item, supposing.now)
        self._currency = supposing.item.amount.currency if supposing.item.amount is not None else None
        self._offered: tuple[str, ...] = ("yes", "no") if declared.type is RuleInputType.BOOLEAN else ()

    def compose(self) -> ComposeResult:
        """Name, entry, example or fault."""
        with Horizontal(classes="entered"):
            name = Static(txt(clip(input_words(self.declared.name), self._names - 1)), classes="name")
            name.styles.width = self._names
            yield name
            # Values of the service are text here: an input shows them as they are typed, made safe.
            yield LineEntry(value=line(self._own), compact=True, select_on_focus=True)
        yield Static("", classes="said")

    def on_mount(self) -> None:
        """Says what can be typed."""
        self.offer(self._offered)

    def offer(self, values: Sequence[str]) -> None:
        """Completes to these values of the queue's items, the most frequent first, and names some of them."""
        self._offered = tuple(values)
        self.query_one(Input).suggester = SuggestFromList([line(text) for text in values], case_sensitive=False)
        if not self.query(".-fault"):
            self.say("")

    def say(self, fault: str) -> None:
        """Says what is wrong; nothing: what can be typed."""
        said = self.query_one(".said", Static)
        said.set_class(bool(fault), "-fault")
        said.update(txt(f"✗ {fault}" if fault else self._example()))

    def read(self, supposing: Supposing) -> Given | None:
        """What was supposed; None where it was left as the item has it. Raises `Unreadable`."""
        typed = self.query_one(Input).value.strip()
        if not typed or typed == line(self._own).strip():
            return None
        if self.declared.source == "amount":
            return read_money(typed, self._currency)
        if self.declared.source == "created":
            return read_age(typed, supposing.zone, supposing.now)
        return read_input(self.declared, typed)

    def _example(self) -> str:
        if self.declared.source == "amount":
            return AMOUNT_EXAMPLE
        if self.declared.source == "created":
            return AGE_EXAMPLE
        unit = f"in {self.declared.unit}" if self.declared.unit else ""
        if self._offered:
            return f"like {', '.join(self._offered[:OFFERED])}"
        return unit or ("a whole number" if self.declared.type is RuleInputType.INTEGER else "a word")


class RuleForm(Vertical):
    """The inputs of a rule, in its order. Enter in any of them asks."""

    DEFAULT_CSS = """
    RuleForm { height: auto; }
    RuleForm.-narrow RuleField { layout: vertical; }
    RuleForm.-narrow .entered { width: 1fr; }
    RuleForm.-narrow Input { width: 1fr; }
    RuleForm.-narrow .said { display: none; }
    RuleForm.-narrow .said.-fault { display: block; }
    """

    class Asked(Message):
        """Enter was pressed: the supposition as it stands is to be asked about."""

    def __init__(self, inputs: Sequence[RuleInput], supposing: Supposing) -> None:
        super().__init__()
        self._inputs = tuple(inputs)
        self._supposing = supposing

    def compose(self) -> ComposeResult:
        """One field an input."""
        names = max(LABEL, min(INPUT_MOST, max(width_of(input_words(each.name)) + 2 for each in self._inputs)))
        for declared in self._inputs:
            yield RuleField(declared, self._supposing, names)

    def offer(self, values: Mapping[str, Sequence[str]]) -> None:
        """Completes to these values, by the source of the input (`input.NAME`)."""
        for field in self.query(RuleField):
            if values.get(field.declared.source):
                field.offer(values[field.declared.source])

    def read(self, supposing: Supposing) -> Mapping[str, Given] | None:
        """What was changed, by the source of the input (`amount`, `created`, `input.NAME`); None where a field has a
        fault, which then stands beside it and has the keyboard."""
        given: dict[str, Given] = {}
        first: RuleField | None = None
        for field in self.query(RuleField):
            try:
                value = field.read(supposing)
            except Unreadable as fault:
                field.say(str(fault))
                first = first or field
                continue
            field.say("")
            if value is not None:
                given[field.declared.source] = value
        if first is None:
            return given
        first.query_one(Input).focus()
        return None

    def blame(self, source: str, sentence: str) -> bool:
        """Says `sentence` beside the input with that source; False where there is none."""
        for field in self.query(RuleField):
            if field.declared.source == source:
                field.say(sentence)
                field.query_one(Input).focus()
                return True
        return False

    def on_resize(self, event: events.Resize) -> None:
        """Where there is no room beside an entry, only a fault is said, under it."""
        self.set_class(event.size.width < BESIDE, "-narrow")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter asks."""
        event.stop()
        self.post_message(self.Asked())

    def on_input_changed(self, event: Input.Changed) -> None:
        """What is typed anew has no fault yet."""
        event.stop()
        for field in event.input.ancestors:
            if isinstance(field, RuleField) and field.query(".said"):
                field.say("")
