"""Owns waiting for the console in tests: on what can be observed, with a deadline, never for a length of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from textual.message import Message
from textual.pilot import Pilot
from textual.worker import WorkerCancelled, WorkerFailed

from jobconsole.app import Console
from jobconsole.screens.dialog import ActingDialog

DEADLINE = 10.0
"""Seconds after which what did not come fails the test."""
ENDLESS = frozenset({"feed", "entrance"})
"""Groups of workers that wait for the service or a person."""


async def idle(app: Console) -> None:
    """Waits until no command or reload runs and every message was handled."""
    pilot = Pilot(app)
    while True:
        await pilot.pause()
        running = [worker for worker in app.workers if worker.group not in ENDLESS and not worker.is_finished]
        if not running:
            return
        for worker in running:
            with suppress(WorkerCancelled, WorkerFailed):
                await worker.wait()


async def until(app: Console, condition: Callable[[], Any], what: str) -> None:
    """Waits until `condition` holds; `what` is said where it does not within the deadline."""
    pilot = Pilot(app)
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"did not come: {what}\n{screen_text(app)}"
        await pilot.pause(0.01)


async def settled(app: Console) -> None:
    """Waits until the acting dialog in front takes keys."""
    dialog = app.screen
    assert isinstance(dialog, ActingDialog)
    await until(app, lambda: dialog.counts(Message().time), "the dialog to take keys")


def lines(app: Console) -> list[str]:
    """Every line of the screen as it is painted, after the app's line filters."""
    width, height = app.size
    app.screen._compositor.reflow(app.screen, app.size)
    strips = app.screen._compositor.render_strips()
    assert len(strips) == height, (width, height)
    return ["".join(segment.text for segment in strip) for strip in strips]


def screen_text(app: Console) -> str:
    """Everything on the screen as one text."""
    return "\n".join(lines(app))
