"""Owns the help of a screen: what it shows, every command with its keys, and why one cannot be run now. A view of the
catalogue and the places; nothing in it is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from jobconsole.commands.catalogue import commands_of, unavailable
from jobconsole.commands.command import Command
from jobconsole.commands.keymap import Keymap, shown
from jobconsole.commands.situation import Situation
from jobconsole.present.text import block, line
from jobconsole.screens.dialog import Dialog


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpText:
    """What a screen is explained by."""

    title: str
    explanation: str
    situation: Situation
    keymap: Keymap
    places: Sequence[tuple[int, str, str]]
    """Number, id and title of each place."""


class HelpScreen(Dialog[None]):
    """The help of one screen; up, down and page keys scroll it."""

    BINDINGS = [  # noqa: RUF012  Textual's own form of a class's bindings
        Binding("question_mark,q,backspace,f1", "cancel", show=False),
        Binding("up,k", "scroll('up')", show=False),
        Binding("down,j", "scroll('down')", show=False),
    ]
    DEFAULT_CSS = """
    HelpScreen { background: $background 60%; align: center middle; }
    HelpScreen > VerticalScroll { width: 100; max-width: 100%; height: auto; max-height: 100%; padding: 0 2;
        background: $surface; border: round $primary; border-subtitle-color: $text-muted; }
    HelpScreen Static { height: auto; }
    """

    def __init__(self, text: HelpText) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """One scrolled text."""
        with VerticalScroll() as scroll:
            scroll.border_title = Content(line(self._text.title))
            scroll.border_subtitle = Content("↑↓ scroll · esc or ? back")
            yield Static(explained(self._text))

    def on_mount(self) -> None:
        """The text has the keyboard, so that it scrolls."""
        self.query_one(VerticalScroll).focus()


def explained(text: HelpText) -> Content:
    """The help as text: what is shown, the commands of this place, those of everywhere, the places."""
    commands = sorted(commands_of(text.situation.place), key=lambda command: command.rank)
    here = [command for command in commands if command.places]
    anywhere = [command for command in commands if not command.places]
    parts: list[Content] = [Content(block(text.explanation)), Content("")]
    for heading, group in (("Here", here), ("Everywhere", anywhere)):
        if group:
            parts.append(Content.styled(heading, "bold $text-primary"))
            for command in group:
                parts.extend(_explained(command, text))
            parts.append(Content(""))
    parts.append(Content.styled("Places", "bold $text-primary"))
    parts.extend(
        Content.assemble((f"  {number:<14}", "bold $text-accent"), f"{line(title)}  (:{line(place)})")
        for number, place, title in text.places
    )
    return Content("\n").join(parts)


def _explained(command: Command, text: HelpText) -> list[Content]:
    keys = " ".join(shown(key) for key in text.keymap.get(command.id, command.keys)) or "no key"
    reason = unavailable(command, text.situation)
    parts = [
        Content.assemble(
            (f"  {keys:<14}", "bold $text-accent" if reason is None else "$text-muted"),
            (command.title, "" if reason is None else "strike $text-muted"),
        ),
        Content.styled(f"{'':16}{command.help}", "$text-muted"),
    ]
    if reason is not None:
        parts.append(Content.styled(f"{'':16}✗ not now: {line(reason)}", "$text-warning"))
    return parts
