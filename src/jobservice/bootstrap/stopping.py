"""Owns how a Worker process is told to stop: a first signal in good order, a second one at once.

Its handlers run in the middle of whatever runs, so that they hear a signal also while the event loop does not turn.
"""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass, field

from jobservice.bootstrap import process


@dataclass(slots=True, kw_only=True)
class Stopping:
    """`begun`: stop in good order; `at_once`: without grace. `asked`: a signal came, whether or not the loop knows."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: asyncio.Event = field(default_factory=asyncio.Event)
    asked: bool = False


def stop_signals(*, until_stdin_closes: bool) -> Stopping:
    """Hear SIGTERM and SIGINT, and, where asked for, the end of standard input; to be called in the loop."""
    stopping = Stopping()
    loop = asyncio.get_running_loop()

    def heard(*_: object) -> None:
        loop.call_soon_threadsafe((stopping.at_once if stopping.asked else stopping.begun).set)
        stopping.asked = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, heard)
    if until_stdin_closes:
        process.when_stdin_closes(stopping.begun)
    return stopping
