"""Owns a form made from declared inputs: one field each, with its title, its counter or what it resolved to, and its
fault in its own place. Reads what was typed into values; never sends anything, never drops what was typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Protocol

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Select, Static, TextArea

from jobconsole.present.text import txt
from jobconsole.present.times import SHORT_EXAMPLES, read_instant
from jobconsole.widgets.tick import Tick
from jobcontract.ids import NOTE_MAX, storable, visible
from jobcontract.states import InputType

Value = bool | int | str
INTEGER_MOST = 2**63 - 1


class Declared(Protocol):
    """An input as a use case declares it."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> InputType: ...
    @property
    def title(self) -> str: ...
    @property
    def required(self) -> bool: ...
    @property
    def most(self) -> int | None: ...


class Fault(Exception):
    """What is wrong with a field, as a sentence for its person."""


class Prose(TextArea):
    """Text of several lines; tab leaves it, a paste is text."""

    DEFAULT_CSS = """
    Prose { height: 3; border: none; padding: 0; background: $panel; scrollbar-size-vertical: 1; }
    Prose:focus { border: none; background: $panel-lighten-1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, tab_behavior="focus", soft_wrap=True, show_line_numbers=False, compact=True)
        self.highlight_cursor_line = False


class Field(Vertical):
    """One declared input: label, entry, and the line under it."""

    MISSING = "is needed."
    """What is said after its title when it was left empty and must not be."""

    DEFAULT_CSS = """
    Field { height: auto; margin-bottom: 1; }
    Field > .label { height: 1; }
    Field > .label > .name { width: 1fr; }
    Field > .label > .count { width: auto; color: $secondary; }
    Field > .under { height: auto; color: $secondary; display: none; }
    Field > .under.-fault { color: $text-error; }
    Field Input { border: none; height: 1; padding: 0 1; background: $panel; }
    Field Input:focus { border: none; background: $panel-lighten-1; }
    Field Checkbox { border: none; padding: 0; background: $surface; }
    Field Checkbox:focus { border: none; }
    """

    def __init__(self, declared: Declared) -> None:
        super().__init__()
        self.declared = declared

    def compose(self) -> ComposeResult:
        """Label with a counter, entry, line under it."""
        with Horizontal(classes="label"):
            needed = "" if self.declared.required else " (may stay empty)"
            yield Static(txt(self.declared.title + needed), classes="name")
            yield Static("", classes="count")
        yield self.entry()
        yield Static("", classes="under")

    def entry(self) -> Widget:
        """What the person types into."""
        return Input(compact=True)

    def read(self, now: datetime | None) -> Value | None:
        """The value; None where it may stay empty and is. Raises `Fault`. `now` is the service's time."""
        raise NotImplementedError

    def under(self, sentence: str, *, fault: bool = False) -> None:
        """Says `sentence` under the entry; empty takes it away."""
        shown = self.query_one(".under", Static)
        shown.set_class(fault, "-fault")
        shown.update(txt(sentence))
        shown.display = bool(sentence)

    def count(self, sentence: str) -> None:
        """Says `sentence` at the right of the label."""
        self.query_one(".count", Static).update(txt(sentence))

    def missing(self) -> Value | None:
        """What an empty field means."""
        if self.declared.required:
            raise Fault(f"{self.declared.title.partition(';')[0]} {self.MISSING}")
        return None


class TextField(Field):
    """Text, counted against its most characters."""

    @property
    def most(self) -> int:
        """Most characters."""
        return self.declared.most or NOTE_MAX

    def entry(self) -> Widget:
        """Several lines."""
        return Prose()

    def on_mount(self) -> None:
        """Shows how much room there is."""
        self._counted()

    @on(TextArea.Changed)
    def _counted(self) -> None:
        length = len(self.query_one(Prose).text.strip())
        self.count(f"{length:,} of {self.most:,}")
        self.under(self._too_long(length), fault=True)

    def read(self, now: datetime | None) -> Value | None:  # noqa: ARG002  the same for every field
        """The text without blanks around it."""
        text = self.query_one(Prose).text.strip()
        if not text:
            return self.missing()
        if len(text) > self.most:
            raise Fault(self._too_long(len(text)))
        if not storable(text):
            raise Fault("It holds a character that cannot be kept (NUL or half of a pair): take it out.")
        if not visible(text):
            raise Fault("Nobody would see anything of it: write what it is.")
        return text

    def _too_long(self, length: int) -> str:
        over = length - self.most
        return f"{over:,} characters too many: at most {self.most:,}." if over > 0 else ""


class InstantField(Field):
    """A time, typed as people say it; shows what it resolved to, in the profile's zone and in UTC."""

    MISSING = "needs a time, like tomorrow 9:00."

    def __init__(self, declared: Declared, zone: tzinfo) -> None:
        super().__init__(declared)
        self._zone = zone
        self.now: datetime | None = None
        """The service's time, for what was typed relative to it."""

    def entry(self) -> Widget:
        """One line."""
        return Input(placeholder="a time", compact=True)

    def on_mount(self) -> None:
        """Says what can be typed."""
        self.under(f"like {SHORT_EXAMPLES} ({self._zone})")

    @on(Input.Changed)
    def _resolved(self, event: Input.Changed) -> None:
        if not event.value.strip() or self.now is None:
            self.under(f"like {SHORT_EXAMPLES} ({self._zone})")
            return
        typed = read_instant(event.value, self._zone, self.now)
        self.under(typed.sentence if typed.instant is None else f"= {typed.sentence}", fault=typed.instant is None)

    def read(self, now: datetime | None) -> Value | None:
        """The instant in UTC, RFC 3339."""
        text = self.query_one(Input).value
        if not text.strip():
            return self.missing()
        if now is None:
            raise Fault("The service's time is not known yet: wait for the connection.")
        typed = read_instant(text, self._zone, now)
        if typed.instant is None:
            raise Fault(typed.sentence)
        return typed.instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


class IntegerField(Field):
    """A whole number."""

    def entry(self) -> Widget:
        """One line of digits."""
        return Input(type="integer", compact=True)

    def read(self, now: datetime | None) -> Value | None:  # noqa: ARG002  the same for every field
        """The number."""
        text = self.query_one(Input).value.strip()
        if not text:
            return self.missing()
        try:
            number = int(text)
        except ValueError:
            raise Fault(f"{text[:20]} is not a whole number.") from None
        if abs(number) > INTEGER_MOST:
            raise Fault("That number is too large to be kept.")
        return number


class BooleanField(Field):
    """Yes or no."""

    def entry(self) -> Widget:
        """A box to tick."""
        return Tick("yes", compact=True)

    def read(self, now: datetime | None) -> Value | None:  # noqa: ARG002  the same for every field
        """Whether it is ticked."""
        return self.query_one(Checkbox).value


class PersonField(Field):
    """A colleague, chosen from those of the tenant."""

    def __init__(self, declared: Declared, people: Sequence[tuple[str, str]]) -> None:
        super().__init__(declared)
        self._people = people

    def entry(self) -> Widget:
        """The list of colleagues, as id and words."""
        options = [(txt(words), key) for key, words in self._people]
        return Select(options, prompt="choose a colleague", compact=True)

    def on_mount(self) -> None:
        """Says where there is nobody to choose."""
        if not self._people:
            self.under("There is no colleague who could take it.", fault=True)

    def read(self, now: datetime | None) -> Value | None:  # noqa: ARG002  the same for every field
        """The colleague's id."""
        chosen: object = self.query_one(Select).value
        return chosen if isinstance(chosen, str) else self.missing()


class Form(Vertical):
    """Fields for declared inputs, in their order."""

    DEFAULT_CSS = "Form { height: auto; }"

    def __init__(self, declared: Iterable[Declared], *, zone: tzinfo, people: Sequence[tuple[str, str]] = ()) -> None:
        """`people` are id and words of those who can be chosen."""
        super().__init__()
        self._declared = tuple(declared)
        self._zone = zone
        self._people = people

    def compose(self) -> ComposeResult:
        """The fields."""
        for declared in self._declared:
            yield self._field(declared)

    def at(self, now: datetime | None) -> None:
        """Tells the service's time."""
        for field in self.query(InstantField):
            field.now = now

    def read(self, now: datetime | None) -> Mapping[str, Value] | None:
        """Every value by name; None where a field has a fault, which then stands under it and has the keyboard."""
        values: dict[str, Value] = {}
        first: Field | None = None
        for field in self.query(Field):
            try:
                value = field.read(now)
            except Fault as fault:
                field.under(str(fault), fault=True)
                first = first or field
                continue
            if value is not None:
                values[field.declared.name] = value
        if first is None:
            return values
        for entry in first.query("Input, Prose, Select, Checkbox"):
            entry.focus()
            break
        return None

    def on_key(self, event: events.Key) -> None:
        """Enter in a one-line entry goes on to the next."""
        if event.key == "enter" and isinstance(self.screen.focused, Input):
            event.stop()
            self.screen.focus_next()

    def _field(self, declared: Declared) -> Field:
        if declared.type is InputType.INSTANT:
            return InstantField(declared, self._zone)
        if declared.type is InputType.PERSON:
            return PersonField(declared, self._people)
        plain: dict[InputType, type[Field]] = {
            InputType.TEXT: TextField,
            InputType.INTEGER: IntegerField,
            InputType.BOOLEAN: BooleanField,
        }
        return plain[declared.type](declared)
