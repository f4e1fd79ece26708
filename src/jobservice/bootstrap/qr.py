"""Owns drawing a QR code in a terminal: two modules a cell, always black on white, whatever the theme.

Colours 16 and 231 of the 256 are fixed (the corners of the colour cube), so no palette turns them around.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import segno

BORDER = 2
"""Light modules around the code. The standard asks for four; two were read in every terminal tried, and fit 24 rows."""
HALF = "\u2580"
"""The upper half of a cell in the text's colour, the lower one in the ground's."""
_BLACK, _WHITE = 16, 231
_RESET = "\x1b[0m"


def qr_lines(text: str) -> tuple[str, ...]:
    """The code of `text` as terminal lines; each has as many cells as the code has columns."""
    made = segno.make(text, error="l", micro=False, boost_error=False)
    rows = [tuple(map(bool, row)) for row in made.matrix_iter(border=BORDER)]
    if len(rows) % 2:
        rows.append((False,) * len(rows[0]))
    return tuple("".join(_runs(upper, lower)) + _RESET for upper, lower in zip(rows[::2], rows[1::2], strict=True))


def columns(text: str) -> int:
    """How many cells wide the code of `text` is."""
    width = int(segno.make(text, error="l", micro=False, boost_error=False).symbol_size(border=BORDER)[0])
    return width


def _runs(upper: tuple[bool, ...], lower: tuple[bool, ...]) -> Iterator[str]:
    for (top, bottom), cells in groupby(zip(upper, lower, strict=True)):
        yield f"\x1b[38;5;{_colour(top)};48;5;{_colour(bottom)}m{HALF * len(list(cells))}"


def _colour(dark: bool) -> int:
    return _BLACK if dark else _WHITE
