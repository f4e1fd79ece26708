"""Pictures of the schedules at both sizes, of one occurrence that runs after its first Worker was lost, and of the Workers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.screens.occurrence import OccurrenceScreen
from jobconsole.screens.schedules import SchedulesScreen
from jobconsole.screens.workers import WorkersScreen
from jobcontract.states import AttemptEnding, OutcomeKind, WorkerStanding
from tests.present.scheduled import NOW, RUNNING, attempt, item, occurrence, whole, worker
from tests.screens.idle import idle, until
from tests.screens.schedule_stage import Stage, believable
from tests.screens.stage import console, freeze, ready

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[None], Console], Awaitable[None]]
HOSTS: tuple[tuple[WorkerStanding, dict[str, Any]], ...] = (
    (WorkerStanding.LIVE, {}),
    (WorkerStanding.LIVE, {"processing": 16}),
    (WorkerStanding.DRAINING, {"processing": 1}),
    (WorkerStanding.SILENT, {"beat_at": NOW - timedelta(minutes=2), "processing": 2}),
    (WorkerStanding.STOPPED, {"processing": 0}),
)


def staged() -> Stage:
    """A believable night: what needs a look, a run at its second attempt, Workers of every standing."""
    stage = Stage()
    stage.board.schedules = believable()
    outcomes = [OutcomeKind.FAILED, *[None] * 4, *[OutcomeKind.DONE] * 40]
    stage.board.items = [
        item(
            number,
            outcome,
            sentence="The mail server refused the address." if number == 1 else None,
            label=f"Statement {number}",
        )
        for number, outcome in enumerate(outcomes, 1)
    ]
    lost = attempt(1, AttemptEnding.LOST, error="Worker was lost.")
    stage.board.whole = whole(occurrence(**RUNNING), attempts=(lost,))
    stage.board.workers = [worker(at, standing, **more) for at, (standing, more) in enumerate(HOSTS, 1)]
    return stage


def picture(compare: Compare, prepare: Prepare, size: tuple[int, int] = (80, 24)) -> bool:
    stage = staged()

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Console)
        await ready(app)
        await prepare(pilot, app)
        await idle(app)
        freeze(app, NOW)
        screen = app.place_screen
        screen.tick_frame()
        assert isinstance(screen, SchedulesScreen | OccurrenceScreen | WorkersScreen)
        screen.show_all()
        await idle(app)
        await pilot.pause()

    app = console(stage.fake, transport=stage.transport(), person="o.lind")
    return compare(app, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
def test_the_schedules(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[None], app: Console) -> None:
        await pilot.press("5")
        await until(app, lambda: isinstance(app.screen, SchedulesScreen) and app.screen.told_at, "the schedules")
        await pilot.press("end")
        screen = app.screen
        assert isinstance(screen, SchedulesScreen)
        await until(app, lambda: screen.detail and screen.detail.schedule.id == "statements.nightly", "the detail")

    assert picture(snap_compare, prepare, size)


def test_one_occurrence(snap_compare: Compare) -> None:
    async def prepare(_: Pilot[None], app: Console) -> None:
        app.push_screen(OccurrenceScreen("statements.nightly@2026-10-24T00:30:00Z"))
        await until(app, lambda: isinstance(app.screen, OccurrenceScreen) and app.screen.detail, "the occurrence")

    assert picture(snap_compare, prepare)


def test_the_workers(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console) -> None:
        await pilot.press("6")
        await until(app, lambda: isinstance(app.screen, WorkersScreen) and app.screen.told_at, "the Workers")

    assert picture(snap_compare, prepare)
