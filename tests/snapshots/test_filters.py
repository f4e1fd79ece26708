"""Pictures of the filter line: a filter in force with its count, and one that is typed with a fault pointed at."""

from __future__ import annotations

from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.widgets.filter_line import FilterEntry
from tests.screens.idle import screen_text, until
from tests.snapshots.test_queues import Compare, picture, settled, still


async def filtered(pilot: Pilot[None]) -> Console:
    """The filter in force, counted, time standing still."""
    app = pilot.app
    assert isinstance(app, Console)
    screen = await settled(pilot)
    screen.put_in_force("currency:GBP amount>1000 holder:me,free")
    await until(app, lambda: "4 match" in screen_text(app), "the count")
    await until(app, lambda: screen.detail is not None, "the detail")
    still(app)
    await pilot.pause()
    return app


def test_a_filter_in_force(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        await filtered(pilot)

    assert picture(snap_compare, prepare)


def test_a_fault_is_pointed_at(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        app = await filtered(pilot)
        await pilot.press("/")
        screen = app.place_screen
        screen.query_one(FilterEntry).value = "amount>1000 holder:me,free 株式会社 age:3d"
        still(app)
        await until(app, lambda: "^" in screen_text(app), "the caret")
        await pilot.pause()

    assert picture(snap_compare, prepare, size=(140, 40))
