"""Pictures of the audit trail at both sizes, of one entry with before and after, and of the timeline of a bad night."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.screens.audit import AuditScreen
from jobconsole.screens.audit_entry import AuditEntryScreen
from jobconsole.screens.lines_form import LinesForm
from jobconsole.screens.timeline import TimelineScreen
from tests.screens.idle import idle, until
from tests.screens.stage import START, console, freeze, ready
from tests.screens.test_audit import trailed
from tests.screens.test_timeline import night

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[None], Console], Awaitable[None]]


def picture(
    compare: Compare, fake: FakeService, prepare: Prepare, *, person: str, size: tuple[int, int] = (80, 24)
) -> bool:
    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Console)
        await ready(app)
        freeze(app, START)
        await prepare(pilot, app)
        await idle(app)
        screen = app.place_screen
        screen.tick_frame()
        assert isinstance(screen, AuditScreen | AuditEntryScreen | TimelineScreen)
        screen.show_all()
        await idle(app)
        await pilot.pause()

    return compare(console(fake, person=person), terminal_size=size, run_before=run)


async def _trail(pilot: Pilot[None], app: Console) -> None:
    await pilot.press("8")
    await until(app, lambda: isinstance(app.screen, AuditScreen) and app.screen.told_at, "the trail")


async def _entry(pilot: Pilot[None], app: Console) -> None:
    await _trail(pilot, app)
    await idle(app)
    await pilot.press("enter")
    await until(app, lambda: isinstance(app.screen, AuditEntryScreen) and app.screen.detail, "the entry")


async def _timeline(pilot: Pilot[None], app: Console) -> None:
    await pilot.press("5")
    await idle(app)
    await pilot.press("T")
    await until(app, lambda: isinstance(app.screen, LinesForm), "the form")
    await pilot.press("enter")
    await until(app, lambda: isinstance(app.screen, TimelineScreen) and app.screen.told_at, "the timeline")


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
def test_the_trail(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, trailed(), _trail, person="a.nagy", size=size)


def test_one_entry(snap_compare: Compare) -> None:
    assert picture(snap_compare, trailed(), _entry, person="a.nagy")


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
def test_the_timeline(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, night(), _timeline, person="o.lind", size=size)
