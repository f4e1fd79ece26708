"""Owns how pieces of text share one line of a terminal: cells with a tone, columns, their widths, clipping.

Pure. Measures in terminal cells, never in characters. Whatever is `whole` (amounts, accounts) is never cut: other
columns give way, in the order of their `yields`, and are left out rather than squeezed to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.cells import cell_len, set_cell_size

from jobconsole.present.text import line

ELLIPSIS = "…"
GAP = 2
_INSTANT_CELLS = 30
"""Cells of the longest instant, `Mon 2026-03-02 04:05:00 GMT,`, which is not broken where a line has room for it."""
_WORDS = re.compile(r" +|[^ ]+")
_DATED_WORDS = re.compile(
    r"(?:\b[A-Z][a-z]{2} )?\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}(?::\d{2})?(?: [A-Z]{2,5}\b)?[^ ]*| +|[^ ]+"
)


class Tone(StrEnum):
    """What a piece of text is, for its colour; never the only sign of it."""

    PLAIN = "plain"
    STRONG = "strong"
    QUIET = "quiet"
    MINE = "mine"
    FREE = "free"
    WARN = "warn"
    BAD = "bad"
    GOOD = "good"
    CREDIT = "credit"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text with its tone. The text may come from the service: it is made safe where it is laid out."""

    text: str
    tone: Tone = Tone.PLAIN


Line = tuple[Piece, ...]
"""One line of pieces, written one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table. Widths in cells."""

    id: str
    label: str
    least: int
    """Narrowest that still makes sense."""
    most: int | None = None
    """Widest; None: takes whatever is left."""
    right: bool = False
    whole: bool = False
    """Never cut and never left out: as wide as its widest text."""
    uncut: bool = False
    """Never cut, but left out where it finds no room: as wide as its widest text, at most `most`."""
    yields: int = 0
    """Left out before columns of a higher number when the line is too short."""
    hangs: bool = False
    """The lines under a row begin after it."""


def width_of(text: str) -> int:
    """Cells that `text` takes once it is safe to show."""
    safe = line(text)
    return len(safe) if safe.isascii() else cell_len(safe)


def clip(text: str, width: int) -> str:
    """`text`, safe to show, in at most `width` cells; what was cut ends in an ellipsis."""
    safe = line(text)
    if (len(safe) if safe.isascii() else cell_len(safe)) <= width:
        return safe
    if width < 1:
        return ""
    return set_cell_size(safe, width - 1).rstrip() + ELLIPSIS


def fit(text: str, width: int, *, right: bool = False) -> str:
    """`text` in exactly `width` cells: clipped or padded."""
    shown = clip(text, width)
    pad = " " * (width - (len(shown) if shown.isascii() else cell_len(shown)))
    return pad + shown if right else shown + pad


def widest(texts: Iterable[str], least: int = 0) -> int:
    """Cells of the widest of `texts`, at least `least`."""
    return max((width_of(text) for text in texts), default=0) if least == 0 else max(least, widest(texts))


def lay_out(columns: Sequence[Column], needs: Mapping[str, int], width: int) -> tuple[Mapping[str, int], int]:
    """Widths by column id for a line of `width` cells, and the gap between columns; a column not named is left out.

    `needs` says how wide the widest text of a column is, where that is known. A whole column gets all that it needs
    whatever `width` is.
    """
    roomy, shown = _fitting(columns, needs, width, GAP)
    if len(shown) < len(columns) or not roomy:
        _, more = _fitting(columns, needs, width, 1)
        if len(more) > len(shown) or not roomy:
            return _spread(more, needs, max(0, _room(more, needs, width, 1))), 1
    return _spread(shown, needs, max(0, _room(shown, needs, width, GAP))), GAP


def _fitting(columns: Sequence[Column], needs: Mapping[str, int], width: int, gap: int) -> tuple[bool, list[Column]]:
    """The columns that find room, and whether each of them gets what it wishes for."""
    shown = list(columns)
    while (room := _room(shown, needs, width, gap)) < 0:
        loose = [column for column in shown if not column.whole]
        if not loose:
            break
        shown.remove(min(loose, key=lambda column: column.yields))
    return room >= sum(_wish(column, needs) - column.least for column in _limited(shown)), shown


def _limited(shown: Sequence[Column]) -> list[Column]:
    limited = [column for column in shown if not column.whole and not column.uncut and column.most is not None]
    return sorted(limited, key=lambda column: -column.yields)


def _wish(column: Column, needs: Mapping[str, int]) -> int:
    most = column.most or column.least
    return min(most, max(column.least, needs.get(column.id, most)))


def _floor(column: Column, needs: Mapping[str, int]) -> int:
    need = max(column.least, needs.get(column.id, 0))
    if column.whole:
        return need
    return min(need, column.most or need) if column.uncut else column.least


def _room(shown: Sequence[Column], needs: Mapping[str, int], width: int, gap: int) -> int:
    return width - sum(_floor(column, needs) for column in shown) - gap * max(0, len(shown) - 1)


def _spread(shown: Sequence[Column], needs: Mapping[str, int], room: int) -> Mapping[str, int]:
    widths = {column.id: _floor(column, needs) for column in shown}
    for column in _limited(shown):
        more = min(room, _wish(column, needs) - widths[column.id])
        widths[column.id] += more
        room -= more
    for column in shown:
        if not column.whole and not column.uncut and column.most is None:
            widths[column.id] += room
            room = 0
    return widths


def row_line(columns: Sequence[Column], cells: Mapping[str, Piece], widths: Mapping[str, int], gap: int) -> Line:
    """The cells of one row in the columns that have a width."""
    pieces: list[Piece] = []
    for column in columns:
        if column.id not in widths:
            continue
        if pieces:
            pieces.append(Piece(" " * gap))
        cell = cells.get(column.id, Piece(""))
        pieces.append(Piece(fit(cell.text, widths[column.id], right=column.right), cell.tone))
    return tuple(pieces)


def heading_line(columns: Sequence[Column], widths: Mapping[str, int], gap: int) -> Line:
    """The labels of the columns that have a width."""
    return row_line(columns, {column.id: Piece(column.label, Tone.QUIET) for column in columns}, widths, gap)


def joined(pieces: Iterable[Piece], separator: str = " · ") -> Line:
    """The pieces that have text, with a quiet separator between them."""
    result: list[Piece] = []
    for piece in pieces:
        if not piece.text:
            continue
        if result:
            result.append(Piece(separator, Tone.QUIET))
        result.append(piece)
    return tuple(result)


def clip_line(pieces: Line, width: int) -> Line:
    """The line in at most `width` cells; the piece that does not fit is clipped, the rest left out."""
    result: list[Piece] = []
    for piece in pieces:
        if width <= 0:
            break
        text = clip(piece.text, width)
        result.append(Piece(text, piece.tone))
        width -= width_of(text)
        if text != line(piece.text):
            break
    return tuple(result)


def wrap_line(pieces: Line, width: int, indent: int = 0) -> list[Line]:
    """The line broken between words into lines of `width` cells; those after the first begin after `indent` blanks.

    A word longer than a line is clipped nowhere: it is broken where the line ends. An instant is one word where it fits.
    """
    room = max(8, width)
    words = _DATED_WORDS if room - indent >= _INSTANT_CELLS else _WORDS
    lines: list[list[Piece]] = [[]]
    used = 0
    for piece in pieces:
        for word in words.findall(line(piece.text)):
            cells = width_of(word)
            if used + cells > room and used > indent:
                lines.append([Piece(" " * indent)] if indent else [])
                used = indent
                if word.isspace():
                    continue
            for part in _broken(word, room - used, room - indent):
                if part is not word and used > indent:
                    lines.append([Piece(" " * indent)] if indent else [])
                    used = indent
                lines[-1].append(Piece(part, piece.tone))
                used += width_of(part)
    return [tuple(found) for found in lines]


def wrap_pieces(pieces: Iterable[Piece], width: int, separator: str = " · ") -> list[Line]:
    """The pieces joined into lines of at most `width` cells; a piece is broken only where it is longer than a line."""
    lines: list[Line] = []
    used, gap = 0, width_of(separator)
    for piece in pieces:
        cells = width_of(piece.text)
        if lines and used + gap + cells <= width:
            lines[-1] = (*lines[-1], Piece(separator, Tone.QUIET), piece)
            used += gap + cells
        elif cells <= width:
            lines.append((piece,))
            used = cells
        elif cells:
            lines += wrap_line((piece,), width)
            used = width_of(plain(lines[-1]))
    return lines


def _broken(word: str, first: int, width: int) -> list[str]:
    """The word in parts of at most `width` cells, the first of at most `first`."""
    if width_of(word) <= first:
        return [word]
    parts, part, room, used = [], "", max(1, first), 0
    for character in word:
        cells = cell_len(character)
        if used + cells > room and part:
            parts.append(part)
            part, room, used = "", max(1, width), 0
        part += character
        used += cells
    return [*parts, part]


def whole_pieces(pieces: Iterable[Piece], width: int) -> Line:
    """As many of the pieces as fit whole in `width` cells, joined; from the first one that does not, none."""
    kept = [piece for piece in pieces if piece.text]
    while kept and width_of(plain(joined(kept))) > width:
        kept.pop()
    return joined(kept)


def plain(pieces: Line) -> str:
    """The line's text alone, safe to show."""
    return "".join(line(piece.text) for piece in pieces)
