"""Owns the terminal's second screen, on which secrets are shown: nothing of it stays in what can be scrolled back to.

Never writes a secret anywhere else.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from jobservice.settings import StartRefused

_ENTER = "\x1b[?1049h\x1b[H\x1b[2J"
_LEAVE = "\x1b[2J\x1b[3J\x1b[H\x1b[?1049l"
"""Wiped first: some terminals keep the second screen as it was left. (3J empties what they keep of it above.)"""
CLEAR = "\x1b[H\x1b[2J"


def require_terminal(what: str) -> None:
    """StartRefused unless a person sits at both ends: a secret is never written to a pipe or a file."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise StartRefused(f"{what} needs a terminal: nothing secret is written to a pipe or a file.")


@contextmanager
def second_screen() -> Iterator[None]:
    """The second screen for the length of the block; wiped however the block ends, a hang-up included."""
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    _write(_ENTER)
    try:
        yield
    finally:
        _write(_LEAVE)
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        pass  # the terminal has gone, and what it showed with it
