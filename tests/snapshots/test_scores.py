"""Pictures of why and what-if: the explanation narrow and wide, a supposition answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.app import Console
from jobconsole.screens.explain import ExplainScreen
from jobconsole.screens.what_if import WhatIfScreen
from tests.screens.idle import idle, screen_text, until
from tests.screens.scored_stage import scored_service
from tests.screens.stage import console, freeze, ready

Compare = Callable[..., bool]


async def explained(pilot: Pilot[None], key: str) -> Console:
    """The explanation of an item, time standing still."""
    app = pilot.app
    assert isinstance(app, Console)
    queue = await ready(app)
    freeze(app)
    queue.table.move_to(key)
    await pilot.press("w")
    await until(app, lambda: isinstance(app.screen, ExplainScreen) and app.screen.explanation, "the explanation")
    await idle(app)
    return app


def picture(compare: Compare, prepare: Callable[[Pilot[None], str], Awaitable[None]], size: tuple[int, int]) -> bool:
    fake, ids = scored_service()

    async def run(pilot: Pilot[None]) -> None:
        await prepare(pilot, ids[0])

    return compare(console(fake), terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
def test_why(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[None], key: str) -> None:
        await explained(pilot, key)
        await pilot.pause()

    assert picture(snap_compare, prepare, size)


def test_what_if(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], key: str) -> None:
        app = await explained(pilot, key)
        await pilot.press("W")
        await until(app, lambda: isinstance(app.screen, WhatIfScreen) and app.screen.query("RuleField"), "the form")
        await idle(app)
        for entry in app.screen.query(Input):
            entry.cursor_blink = False
        list(app.screen.query(Input))[2].value = "none"
        await pilot.press("enter")
        await until(app, lambda: "from 2nd to 1st" in screen_text(app), "the answer")
        await idle(app)
        await pilot.pause()

    assert picture(snap_compare, prepare, (80, 24))
