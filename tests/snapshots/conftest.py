"""Owns when a picture is taken: once the screen is at rest and no cursor blinks, on a machine of any speed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from tests import stylesheets
from tests.screens.idle import at_rest

stylesheets.share()


@pytest.fixture(autouse=True)
def unblinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cursor is there all the time: a picture after half a second would show the other half of a blink. (Blinking that is
    turned off later leaves a text area as it was painted last.)"""
    monkeypatch.setattr(Input, "_toggle_cursor", lambda _: None)
    monkeypatch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda _: None)


@pytest.fixture
def snap_compare(snap_compare: Callable[..., bool]) -> Callable[..., bool]:
    """The plugin's comparison, whose own pauses believe a process at rest that only got no turn on the processor."""

    def compare(
        app: App[Any],
        *,
        terminal_size: tuple[int, int] = (80, 24),
        run_before: Callable[[Pilot[Any]], Awaitable[None]],
    ) -> bool:
        async def run(pilot: Pilot[Any]) -> None:
            await run_before(pilot)
            await at_rest(pilot.app)

        return snap_compare(app, terminal_size=terminal_size, run_before=run)

    return compare
