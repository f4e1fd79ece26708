"""Owns the widget that shows presented lines: text with tones, made safe, wrapped to its width. Asks nobody."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.widgets import Static

from jobconsole.present.columns import Line, Tone
from jobconsole.present.text import txt

TONES: dict[Tone, str] = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.QUIET: "$text-muted",
    Tone.MINE: "bold $text-primary",
    Tone.FREE: "$text-success",
    Tone.WARN: "bold $text-warning",
    Tone.BAD: "$text-error",
    Tone.GOOD: "$text-success",
    Tone.CREDIT: "bold $text-accent",
}
"""The style of each tone; the table has the same as component classes."""


def content_of(line: Line) -> Content:
    """One line with its tones."""
    return Content("").join([txt(piece.text, TONES[piece.tone]) for piece in line])


class Lines(Static):
    """Presented lines, one under the other."""

    DEFAULT_CSS = "Lines { width: 1fr; height: auto; }"

    def show(self, lines: Iterable[Line]) -> None:
        """Shows these lines; paints only when they differ from what is shown."""
        told = Content("\n").join([content_of(line) for line in lines])
        if told != self.content:
            self.update(told)
