"""Owns the widget that shows presented lines: text with tones, made safe, wrapped to its width. Asks nobody."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jobconsole.present.columns import Line, Tone, clip_line, wrap_line
from jobconsole.present.text import txt

FIRST_WIDTH = 76
"""Cells assumed before the first layout."""
TONES: dict[Tone, str] = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.QUIET: "$secondary",
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
    """Presented lines, one under the other: wrapped to the width with a hanging indent, or clipped to it."""

    DEFAULT_CSS = "Lines { width: 1fr; height: auto; }"

    def __init__(
        self,
        *,
        id: str | None = None,
        indent: int = 0,
        clipped: bool = False,
        steady: bool = False,
        snug: bool = False,
    ) -> None:
        """`snug`: no line of the layout is left empty that only the assumed first width needed. `indent`: cells before the wrapped rest of a line. `clipped`: one line stays one line. `steady`: it never
        gets lower at one width, blank lines fill it: what is shown changes with every key, the layout does not."""
        super().__init__(id=id)
        self.indent = indent
        self.clipped = clipped
        self._lines: tuple[Line, ...] = ()
        self.steady = steady
        self.snug = snug
        self._width = 0
        self._height = -1
        self._count = 0
        """Lines that are shown, once they are fitted."""

    def show(self, lines: Iterable[Line]) -> None:
        """Shows these lines; paints only when they differ from what is shown."""
        self._lines = tuple(lines)
        self._fit()

    def on_resize(self) -> None:
        """Fits the lines to the new width."""
        if self.content_size.width != self._width:
            self._width, self._height = self.content_size.width, -1
        self._fit()
        if self.snug and self._count < self.content_size.height:
            self.call_after_refresh(self.refresh, layout=True)  # laid out for the lines of an assumed width

    def _fit(self) -> None:
        width = self.content_size.width or FIRST_WIDTH
        fitted: list[Line] = []
        for line in self._lines:
            fitted += [clip_line(line, width)] if self.clipped else wrap_line(line, width, self.indent)
        if self.steady:
            fitted += [()] * (max(self._height, self._room()) - len(fitted))
        self._count = len(fitted)
        told = Content("\n").join([content_of(line) for line in fitted])
        if told != self.content:
            # Other words in as many lines need no new layout, which would paint the whole screen at every key.
            self.update(told, layout=len(fitted) != self._height)
            self._height = len(fitted)

    def _room(self) -> int:
        return self.parent.content_size.height if isinstance(self.parent, Widget) else 0
