"""Owns waiting for the console in tests: on what can be observed, with a deadline, never for a length of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from textual.app import App
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget
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


async def at_rest(app: App[Any]) -> None:
    """Waits until the screen is the same twice, and nothing that would change it is asked for: however slow the machine is,
    a picture taken then is the one that stays."""
    pilot = Pilot(app)
    end = time.monotonic() + DEADLINE
    before: object = None
    while True:
        await pilot.pause()
        painted = _unrest(app) or [list(strip) for strip in app.screen._compositor.render_strips()]
        if painted == before and not isinstance(painted, str):
            return
        assert time.monotonic() < end, f"never at rest: {painted if isinstance(painted, str) else 'it is painted anew'}"
        before = painted


def _unrest(app: App[Any]) -> str:
    """What is still asked of the screen in front; empty where nothing is."""
    screen = app.screen
    if screen._layout_required or screen._scroll_required or screen._dirty_widgets or screen._callbacks:
        return "it is to be laid out or painted"
    for node in (app, *screen.walk_children(with_self=True)):
        if node.message_queue_size or node._next_callbacks:
            return f"{node} has messages"
        if isinstance(node, Widget) and (node._layout_required or node._repaint_required or node.has_class("-active")):
            return f"{node} is to be laid out or painted, or a button that was pressed"
    return ""


async def settled(app: Console) -> None:
    """Waits until the acting dialog in front takes keys."""
    dialog = app.screen
    assert isinstance(dialog, ActingDialog)
    await until(app, lambda: dialog.counts(Message().time), "the dialog to take keys")


def lines(app: App[Any]) -> list[str]:
    """Every line of the screen as it was laid out last, after the app's line filters; blank before the first layout.

    It lays nothing out itself: the layout after it would find nothing changed, and no widget would hear of its new size.
    """
    width, height = app.size
    compositor = app.screen._compositor
    if compositor.size != app.size:
        return [""] * height
    strips = compositor.render_strips()
    assert len(strips) == height, (width, height)
    return ["".join(segment.text for segment in strip) for strip in strips]


def screen_text(app: Console) -> str:
    """Everything on the screen as one text."""
    return "\n".join(lines(app))
