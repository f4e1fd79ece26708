"""Pictures of an operator's half of one schedule: the list with one that is disabled, disabling, enabling, why, runbooks, the
simulator at both sizes, the lease timeline of a replayed occurrence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.present.link import Link
from jobconsole.screens.occurrence import OccurrenceScreen
from jobconsole.screens.runbook import RunbookScreen
from jobconsole.screens.schedules import SchedulesScreen
from jobconsole.screens.simulator import SimulatorScreen
from jobconsole.screens.simulator_form import SimulatorForm
from jobconsole.screens.watching import WatchingScreen
from jobconsole.screens.why import WhyScreen
from jobconsole.widgets.form import InstantField, Prose
from jobconsole.widgets.line_entry import LineEntry
from jobcontract.occurrences import Replay
from jobcontract.schedules import Disabled
from jobcontract.session import Person
from jobcontract.states import AttemptEnding, DeadCause, ScheduleStanding
from tests.present.scheduled import LATE, NOW, attempt
from tests.screens.act_stage import DEAD, DONE, HOUR, HOURLY, REASON, dead, order, staged
from tests.screens.idle import until
from tests.screens.stage import console, freeze, ready
from tests.snapshots.nightly import NIGHTLY, add_nightly

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[None], Console, SchedulesScreen], Awaitable[None]]
CLOSED = "settlement.close"
DOWN = "2026-10-23 21:00..2026-10-25 08:00"
"""As typed on the clock of London."""
LIND = Person(id="o.lind", name="Olle Lind")
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])


def scene() -> tuple[FakeService, str]:
    """The stage of acts with a disabled schedule, and a dead letter that was replayed and failed again; its id."""
    fake = staged()
    found = dead(fake)
    fake.jobs.refused[found] = [LATE]
    fake.jobs.plan(HOURLY, NOW - 2 * HOUR, DONE)
    off = Disabled(at=NOW - HOUR, until=NOW + 3 * HOUR, by=LIND, reason="bank down")
    closed = fake.jobs.add(CLOSED, every=86_400, title="Close the settlement")
    fake.jobs.schedules[CLOSED] = closed.model_copy(update={"standing": ScheduleStanding.DISABLED, "disabled": off})
    row = fake.jobs.occurrences[found]
    replayed = Replay(
        replay=1,
        at=NOW - timedelta(minutes=20),
        person=LIND,
        reason=REASON,
        recovery=None,
        state_before=DEAD,
        cause_before=DeadCause.FAILED,
        ended_before=row.ended_at or NOW,
        attempts_before=3,
        not_done=3,
    )
    fake.jobs.replays[found] = [replayed]
    began = NOW - timedelta(minutes=19)
    again = attempt(
        1, AttemptEnding.FAILED, fence=4, taken_at=began, started_at=began, ended_at=NOW - HOUR / 4, replay=1
    )
    fake.jobs.attempts[found].append(again)
    fake.jobs.change(found, replays=1, attempts=1, ended_at=NOW - HOUR / 4)
    return fake, found


def with_nightly() -> FakeService:
    """The scene with the example's nightly statements."""
    fake, _ = scene()
    add_nightly(fake, NOW)
    return fake


def picture(
    compare: Compare, prepare: Prepare, size: tuple[int, int] = (80, 24), fake: FakeService | None = None
) -> bool:
    app = console(fake or scene()[0], person="o.lind")

    async def run(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, Console)
        await ready(app)
        freeze(app, NOW)
        await pilot.press("5")
        await until(app, lambda: isinstance(app.screen, SchedulesScreen) and app.screen.told_at, "the schedules")
        screen = app.screen
        assert isinstance(screen, SchedulesScreen)
        await prepare(pilot, app, screen)
        app.show_link(Link(state=app.link.state, since=app.link.since))
        place = app.place_screen
        place.tick_frame()
        if isinstance(place, WatchingScreen):
            place.notices.clear()
            place.show_all()
        await pilot.pause()

    return compare(app, terminal_size=size, run_before=run)


async def on(app: Console, screen: SchedulesScreen, name: str) -> None:
    """Puts the cursor on that schedule, and waits for its detail."""
    screen.table.move_to(name)
    await until(app, lambda: screen.detail and screen.detail.schedule.id == name, "the detail")


@SIZES
def test_a_disabled_schedule_in_the_list(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(_: Pilot[None], app: Console, screen: SchedulesScreen) -> None:
        await on(app, screen, CLOSED)

    assert picture(snap_compare, prepare, size)


def test_disabling(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, screen: SchedulesScreen) -> None:
        await on(app, screen, HOURLY)
        await pilot.press("D")
        form = await order(app)
        form.query_one(Prose).text = "the bank is down"
        form.query_one(InstantField).query_one(Input).value = "+4h"
        await until(app, lambda: "--until" in (form.copyable() or ""), "the command")

    assert picture(snap_compare, prepare)


def test_enabling(snap_compare: Compare) -> None:
    fake, _ = scene()
    off = fake.jobs.schedules[CLOSED].disabled
    hourly = {
        "standing": ScheduleStanding.DISABLED,
        "disabled": off.model_copy(update={"at": NOW - 5 * HOUR}) if off else None,
    }
    fake.jobs.schedules[HOURLY] = fake.jobs.schedules[HOURLY].model_copy(update=hourly)

    async def prepare(pilot: Pilot[None], app: Console, screen: SchedulesScreen) -> None:
        await on(app, screen, HOURLY)
        await pilot.press("E")
        await order(app)

    assert picture(snap_compare, prepare, fake=fake)


def test_why_it_does_not_run(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, screen: SchedulesScreen) -> None:
        await on(app, screen, CLOSED)
        await pilot.press("w")
        await until(app, lambda: isinstance(app.screen, WhyScreen) and app.screen.told_at, "the answer")

    assert picture(snap_compare, prepare)


def test_runbooks(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, screen: SchedulesScreen) -> None:
        await on(app, screen, NIGHTLY)
        await pilot.press("R")
        await until(app, lambda: isinstance(app.screen, RunbookScreen) and app.screen.told_at, "the runbooks")
        await pilot.press("down")

    assert picture(snap_compare, prepare, fake=with_nightly())


@SIZES
def test_the_simulator(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[None], app: Console, screen: SchedulesScreen) -> None:
        await on(app, screen, NIGHTLY)
        await pilot.press("m")
        await until(app, lambda: isinstance(app.screen, SimulatorForm) and app.screen.query(LineEntry), "the form")
        for entry in app.screen.query(LineEntry):
            typed = {"since": "2026-10-22", "until": "2026-10-28", "down": DOWN, "misfire": "skip"}
            entry.value = typed.get(str(entry.name), entry.value)
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, SimulatorScreen) and app.screen.simulated, "the courses")

    assert picture(snap_compare, prepare, size, with_nightly())


@SIZES
def test_the_lease_timeline_of_a_replayed_occurrence(snap_compare: Compare, size: tuple[int, int]) -> None:
    fake, found = scene()

    async def prepare(pilot: Pilot[None], app: Console, _: SchedulesScreen) -> None:
        app.push_screen(OccurrenceScreen(found))
        await until(app, lambda: isinstance(app.screen, OccurrenceScreen) and app.screen.told_at, "the occurrence")
        await pilot.press("tab")

    assert picture(snap_compare, prepare, size, fake)
