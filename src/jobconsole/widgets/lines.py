"""Owns the widget that shows presented lines: text with tones, made safe, wrapped to its width. Asks nobody."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from jobconsole.present.columns import Line, Tone, clip_line, wrap_line
from jobconsole.present.text import txt

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
    """Presented lines, one under the other: wrapped to the width with a hanging indent, or clipped to it. A layout asks it
    for its height at a width, and it answers for the lines as they are broken there: none is laid out for a guess."""

    DEFAULT_CSS = "Lines { width: 1fr; height: auto; }"

    def __init__(self, *, id: str | None = None, indent: int = 0, clipped: bool = False, steady: bool = False) -> None:
        """`indent`: cells before the wrapped rest of a line. `clipped`: one line stays one line. `steady`: it never gets
        lower at one width, blank lines fill it: what is shown changes with every key, the layout does not."""
        super().__init__(id=id)
        self.indent = indent
        self.clipped = clipped
        self.steady = steady
        self._lines: tuple[Line, ...] = ()
        self._width = 0
        self._laid: dict[int, int] = {}
        """Lines that a layout was told, by width."""
        self._most = 0
        """Most lines that were shown at this width."""
        self._told: tuple[tuple[Line, ...], int, bool, Content, int] = (self._lines, 0, clipped, Content(""), 0)
        """What was made last: of these lines, at this width, clipped or not; its text, and how many lines that has."""

    def show(self, lines: Iterable[Line]) -> None:
        """Shows these lines; paints only when they differ from what is shown, lays out only when they need other room."""
        self._lines = tuple(lines)
        self._paint()

    def on_resize(self) -> None:
        """Fits the lines to the new width."""
        width = self.content_size.width
        if width != self._width:
            self._width, self._most = width, 0
            self._laid = {width: self._laid[width]} if width in self._laid else {}
        self._paint()

    def render(self) -> Content:
        """The lines at the width that the widget has now: it may be painted before it hears of another one."""
        return self._fitted(self.content_size.width)[0]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  the layout's
        """How many lines they are at that width; where they are steady, at least as many as their container has."""
        self._laid[width] = self._height(width, container.height)
        return self._laid[width]

    def _paint(self) -> None:
        width = self.content_size.width
        text, _ = self._fitted(width)
        if text == self.content:
            return
        height = self._height(width, self.parent.content_size.height if isinstance(self.parent, Widget) else 0)
        # Other words in as many lines need no new layout, which would paint the whole screen at every key.
        layout = height != self._laid.get(width)
        if layout:
            # Textual takes a request that comes before the one before it was heard for the same one, and keeps the height
            # that a layout between the two was told.
            self._box_model_cache.clear()
        self.update(text, layout=layout)
        self._laid[width] = height

    def _height(self, width: int, room: int) -> int:
        _, count = self._fitted(width)
        if not self.steady:
            return count
        if width == self._width:
            count = self._most = max(self._most, count)
        return max(count, room)

    def _fitted(self, width: int) -> tuple[Content, int]:
        lines, at, clipped, text, count = self._told
        if lines is self._lines and at == width and clipped == self.clipped:
            return text, count
        if not width:  # not laid out yet
            fitted = list(self._lines)
        elif self.clipped:
            fitted = [clip_line(line, width) for line in self._lines]
        else:
            fitted = [part for line in self._lines for part in wrap_line(line, width, self.indent)]
        text = Content("\n").join([content_of(line) for line in fitted])
        self._told = (self._lines, width, self.clipped, text, len(fitted))
        return text, len(fitted)
