"""Owns the one conversion of text that came from outside into text that a terminal may be given. Everything from the
service goes through `line`, `block`, `txt` or `cell`; `CONTROL_FILTER` catches on the App what forgot to.

Markup is never read, and no escape, control, direction or zero-width character reaches the terminal: each is shown as
a visible sign instead. Models keep the raw value; ids, hashes and exports are made from that.
"""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter

_INVISIBLE = (
    "\x7f-\x9f"  # DEL and C1: terminals read some of these as escape sequences
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners and fillers without a width
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"  # zero-width, bidi, separators, annotations
    "\ud800-\udfff"  # lone surrogates: UTF-8 cannot carry them to the terminal
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # invisible musical signs, tags, variation supplement
)
_LINE = re.compile(f"[\x00-\x1f{_INVISIBLE}]")
_BLOCK = re.compile(f"[\x00-\x09\x0b-\x1f{_INVISIBLE}]")
_REPLACEMENT = "\ufffd"


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else _REPLACEMENT


def line(value: object) -> str:
    """`value` as one line: newlines and tabs become visible signs too. Length in characters stays the same."""
    text = str(value)
    return text if text.isascii() and text.isprintable() else _LINE.sub(_sign, text)


def block(value: object) -> str:
    """`value` as several lines: only newlines keep their meaning, tabs become blanks."""
    return _BLOCK.sub(_sign, str(value).replace("\r\n", "\n").expandtabs(4))


def txt(value: object, style: str = "") -> Content:
    """`value` as one line for Static, Label, OptionList, `notify` and every other sink of Textual's own."""
    return Content.styled(line(value), style) if style else Content(line(value))


def cell(value: object, style: str = "", *, right: bool = False) -> Text:
    """`value` as one line for sinks that know Rich only (DataTable, Tree); `right` aligns numbers."""
    return Text(line(value), style=style, no_wrap=True, end="", justify="right" if right else "left")


def _blanks(match: re.Match[str]) -> str:
    return " " * cell_len(match[0])


class _ControlFilter(LineFilter):
    """Drops what must not reach a terminal from every painted line, whichever widget painted it; widths stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  the interface's
        if all(segment.text.isprintable() and segment.text.isascii() for segment in segments):
            return segments
        if not any(_LINE.search(segment.text) for segment in segments if not segment.control):
            return segments
        return [
            segment if segment.control else Segment(_LINE.sub(_blanks, segment.text), segment.style, None)
            for segment in segments
        ]


CONTROL_FILTER = _ControlFilter()
"""The App's second line of defence, from `get_line_filters`."""
