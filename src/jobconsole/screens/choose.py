"""Owns choosing one of a few things from a list with a filter: the palette and the tenants are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from jobconsole.present.text import line, txt
from jobconsole.screens.dialog import Dialog


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One line of the list. All of it may be text of the service."""

    id: str
    title: str
    aside: str = ""
    """Shown after the title: a key, a role."""
    reason: str | None = None
    """Why it cannot be chosen now; it is shown grey, with the reason."""


ASIDE_AT = 32
"""Column of what stands beside a title, in cells."""


class ChooseScreen(Dialog[str]):
    """Type to narrow, up and down to move, enter to choose; the answer is the id of the choice."""

    AUTO_FOCUS = "Input"
    DEFAULT_CSS = """
    ChooseScreen { align: center middle; background: $background 60%; }
    ChooseScreen > #choose { width: 76; max-width: 100%; height: auto; max-height: 90%; padding: 0 1;
        background: $surface; border: round $primary; }
    ChooseScreen #title { text-style: bold; height: 1; }
    ChooseScreen Input { border: none; height: 1; padding: 0; background: $panel; }
    ChooseScreen Input:focus { border: none; }
    ChooseScreen OptionList { height: auto; max-height: 1fr; border: none; padding: 0; background: $surface;
        scrollbar-size-vertical: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    ChooseScreen OptionList:focus { border: none; }
    ChooseScreen #said { height: auto; color: $text-warning; display: none; }
    """

    narrow = query_one(Input)
    options = query_one(OptionList)

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title = title
        self._choices = tuple(choices)

    def compose(self) -> ComposeResult:
        """Title, filter, list, reason."""
        with Vertical(id="choose"):
            yield Static(txt(self._title), id="title")
            yield Input(placeholder="type to narrow", compact=True)
            yield OptionList(*_options(self._choices), compact=True, markup=False)
            yield Static(id="said")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrows to the choices that hold every word typed."""
        event.stop()
        self._fill(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter chooses what is highlighted, the first where nothing was moved to."""
        event.stop()
        if self.options.highlighted is None:
            self.options.action_first()
        self.options.action_select()

    def on_key(self, event: events.Key) -> None:
        """Up and down move in the list while the filter has the keyboard."""
        moves = {
            "down": self.options.action_cursor_down,
            "up": self.options.action_cursor_up,
            "home": self.options.action_first,
            "end": self.options.action_last,
        }
        if self.narrow.has_focus and event.key in moves:
            event.stop()
            moves[event.key]()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Chosen: the answer, or why not."""
        event.stop()
        choice = next(choice for choice in self._choices if choice.id == event.option.id)
        if choice.reason is None:
            self.dismiss(choice.id)
            return
        self._tell(choice)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Whole under the list, as the line of the choice has one line alone: why this one cannot be chosen."""
        event.stop()
        self._tell(next(choice for choice in self._choices if choice.id == event.option.id))

    def _tell(self, choice: Choice) -> None:
        said = self.query_one("#said", Static)
        said.update(txt(f"{choice.title}: {choice.reason}"))
        said.display = choice.reason is not None

    def _fill(self, typed: str) -> None:
        words = typed.casefold().split()
        shown = [choice for choice in self._choices if all(word in _text(choice) for word in words)]
        self.options.clear_options()
        self.options.add_options(_options(shown))
        if shown:
            self.options.highlighted = 0


def _options(choices: Sequence[Choice]) -> list[Option]:
    return [Option(_words(choice), id=choice.id) for choice in choices]


def _text(choice: Choice) -> str:
    return f"{choice.title} {choice.id} {choice.aside}".casefold()


def _words(choice: Choice) -> Content:
    title = line(choice.title)
    title += " " * max(0, ASIDE_AT - cell_len(title))
    aside = f"  {line(choice.aside)}" if choice.aside else ""
    if choice.reason is None:
        return Content.assemble((title, ""), (aside, "bold $text-accent"))
    return Content.assemble(
        (line(choice.title), "strike $text-muted"),
        (title[len(line(choice.title)) :], ""),
        (aside, "$text-muted"),
        (f"  {line(choice.reason)}", "$text-muted"),
    )
