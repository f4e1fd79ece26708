"""Owns how a line of pieces becomes a strip of the screen, and how a selected part of a strip is shown and read."""

from __future__ import annotations

from collections.abc import Mapping

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from jobconsole.present.columns import Line, Tone
from jobconsole.present.text import line

Span = tuple[int, int]
"""Characters of a line from the first up to, not with, the second; -1: to its end."""


def strip_of(pieces: Line, width: int, base: Style, tones: Mapping[Tone, Style]) -> Strip:
    """The pieces, safe to show, in exactly `width` cells."""
    strip = Strip([Segment(line(piece.text), base + tones[piece.tone]) for piece in pieces])
    return strip.adjust_cell_length(width, base)


def highlighted(strip: Strip, span: Span, style: Style) -> Strip:
    """The strip with the characters of `span` in `style`."""
    segments: list[Segment] = []
    at = 0
    for segment in strip:
        length = len(segment.text)
        start, end = (min(max(edge - at, 0), length) for edge in (span[0], at + length if span[1] < 0 else span[1]))
        own = segment.style or Style.null()
        parts = ((segment.text[:start], own), (segment.text[start:end], own + style), (segment.text[end:], own))
        segments += [Segment(text, ink) for text, ink in parts if text]
        at += length
    return Strip(segments, strip.cell_length)


def cut_out(strip: Strip, span: Span | None) -> str:
    """The characters of `span`, without blanks at the end."""
    if span is None:
        return ""
    return strip.text[span[0] : None if span[1] < 0 else span[1]].rstrip()
