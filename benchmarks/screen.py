"""Owns reading the console's screen: where its cursor is, and opening it signed in, without a person's configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from benchmarks.terminal import Terminal, terminal
from jobconsole.widgets.table import CURSOR_SIGN

NUMBER = re.compile(r"(?<!\d)\d{7}(?!\d)")
"""The number of an item, as its payee's name begins with it (`seeding.py`); nothing else on screen has seven digits."""
_AT_CURSOR = re.compile(rf"{CURSOR_SIGN}[^{CURSOR_SIGN}\n]*?(?<!\d)(\d{{7}})(?!\d)")


def cursor_of(text: str) -> str | None:
    """The number of the item that the cursor is on, as a frame paints it; None where it paints no cursor."""
    found = _AT_CURSOR.findall(text)
    return found[-1] if found else None


def beside_cursor(text: str, number: str) -> bool:
    """Whether a frame paints the number anywhere else than in the cursor's row: in the detail."""
    return number in NUMBER.findall(_AT_CURSOR.sub("", text))


@contextmanager
def opened(module: str, url: str, token: str, more: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    """The console in a terminal of 120 columns and 40 lines, as it starts."""
    environment = {
        "JOBCONSOLE_URL": url,
        "JOBCONSOLE_TOKEN": token,
        "HOME": "/nonexistent",
        "TZ": "UTC",
        **(more or {}),
    }
    with terminal(module, environment=environment) as screen:
        yield screen
