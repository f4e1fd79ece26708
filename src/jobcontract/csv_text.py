"""Owns the one way in which rows leave as CSV (MONEY.md 28): RFC 4180, texts that no spreadsheet runs, amounts as numbers.

The file is UTF-8 with the mark in front that spreadsheets know it by (without it they take another alphabet for it);
lines end with CR LF. A text that a spreadsheet would run as a formula gets an apostrophe in front, which it takes for
"this is text". Amounts are ASCII digits with the decimals of their currency, a point, an ASCII minus, no grouping.
Never writes a whole account: who calls hands in what may be shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

MEDIA_TYPE = "text/csv; charset=utf-8"
MARK = b"\xef\xbb\xbf"
"""In front of the first line."""
_RUNS = frozenset("=+-@")
"""With one of these first, also in their full width, a text is a formula to some spreadsheet; so is what follows a tab
or a line end."""
_QUOTED = re.compile(r"[\",;\t\r\n']|^\s|\s$")
_LEADING = " \u00a0\u3000\ufeff\u200b"
"""What spreadsheets pass over before a formula."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Minor units of a currency, and how many decimals these are."""

    minor: int
    exponent: int


Cell = str | int | Amount | datetime | None
"""A text, a whole number, an amount, an instant (written in UTC), or nothing."""


def lines(rows: Iterable[Sequence[Cell]]) -> bytes:
    """Rows as lines of CSV. The first ones of a file begin with `MARK`, which the caller writes once."""
    return "".join(f"{','.join(map(_cell, row))}\r\n" for row in rows).encode("utf-8")


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return _text(cell)
    if isinstance(cell, Amount):
        return _amount(cell)
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return str(int(cell))


def _amount(amount: Amount) -> str:
    whole, part = divmod(abs(amount.minor), 10**amount.exponent)
    sign = "-" if amount.minor < 0 else ""
    return f"{sign}{whole}" + (f".{part:0{amount.exponent}d}" if amount.exponent else "")


def _text(text: str) -> str:
    safe = f"'{text}" if _is_run(text) else text
    return '"' + safe.replace('"', '""') + '"' if _QUOTED.search(safe) else safe


def _is_run(text: str) -> bool:
    if text[:1] in ("\t", "\r", "\n"):
        return True
    first = text.lstrip(_LEADING)[:1]
    return first != "" and unicodedata.normalize("NFKC", first)[:1] in _RUNS
