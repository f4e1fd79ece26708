"""Owns the help of a screen: what it shows, every command with its keys, and why one cannot be run now. A view of the
catalogue and the places; nothing in it is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from jobconsole.commands.catalogue import commands_of, unavailable
from jobconsole.commands.command import Command
from jobconsole.commands.keymap import Keymap, shown
from jobconsole.commands.situation import Situation
from jobconsole.present.text import line, txt
from jobconsole.screens.dialog import Dialog


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpText:
    """What a screen is explained by."""

    title: str
    explanation: str
    situation: Situation
    keymap: Keymap
    places: Sequence[tuple[str, str, str]]
    """Key, id and title of each place."""


class HelpScreen(Dialog[None]):
    """The help of one screen; up, down and page keys scroll it."""

    AUTO_FOCUS = "VerticalScroll"
    BINDINGS = [  # noqa: RUF012  Textual's own form of a class's bindings
        Binding("question_mark,q,backspace,f1", "cancel", show=False),
        Binding("up,k", "scroll('up')", show=False),
        Binding("down,j", "scroll('down')", show=False),
    ]
    DEFAULT_CSS = """
    HelpScreen { background: $background 60%; align: center middle; }
    HelpScreen > VerticalScroll { width: 100; max-width: 100%; height: auto; max-height: 100%; padding: 0 1 0 2;
        background: $surface; border: round $primary; border-subtitle-color: $text-muted; scrollbar-size-vertical: 1; }
    HelpScreen Static { height: auto; padding-right: 1; }
    """

    def __init__(self, text: HelpText) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """One scrolled text."""
        with VerticalScroll() as scroll:
            scroll.border_title = Content(line(self._text.title))
            scroll.border_subtitle = Content("↑↓ scroll · esc or ? back")
            yield Static(txt(self._text.explanation))
            yield Static(explained(self._text))


def explained(text: HelpText) -> Table:
    """The help as two columns, keys and sentences: the commands of this place, those of everywhere, the places."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=14)
    table.add_column()
    commands = sorted(commands_of(text.situation.place), key=lambda command: command.rank)
    for heading, group in (
        ("Here", [command for command in commands if command.places]),
        ("Everywhere", [command for command in commands if not command.places]),
    ):
        if group:
            _head(table, heading)
        for command in group:
            keys = " ".join(shown(key) for key in text.keymap.get(command.id, command.keys)) or "no key"
            table.add_row(Text(keys, style="bold"), _explained(command, text.situation))
    _head(table, "Places")
    for key, place, title in text.places:
        table.add_row(Text(key, style="bold"), Text(f"{line(title)}  (:{line(place)})"))
    return table


def _head(table: Table, heading: str) -> None:
    table.add_row()
    table.add_row(Text(heading, style="bold underline"))


def _explained(command: Command, situation: Situation) -> Text:
    reason = unavailable(command, situation)
    said = Text(command.title, style="bold" if reason is None else "strike")
    if command.changes:
        said.append(f"  ({command.danger})", style="not bold not strike")
    said.append(f"\n{command.help}", style="not bold not strike")
    if reason is not None:
        said.append(f"\n✗ not now: {line(reason)}", style="italic not strike")
    return said
