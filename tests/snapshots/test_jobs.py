"""Pictures of background jobs: unresolved failures, one that failed and one that runs, retrying one, a recovery of several,
and what a text leads to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.app import Console
from jobconsole.client.fake_job_examples import Furnished
from jobconsole.screens import jobs
from jobconsole.screens.find import FindScreen
from jobconsole.screens.job import JobScreen
from jobconsole.screens.job_parts import Part
from jobconsole.screens.job_summary import SummaryScreen
from jobconsole.screens.jobs import JobsScreen
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.recovery_form import RecoveryForm
from jobconsole.widgets.form import Prose
from tests.screens.acting_stage import said
from tests.screens.idle import idle, until
from tests.screens.job_stage import furnished, listed, opened
from tests.screens.recovery_stage import dialog, press, type_into
from tests.screens.stage import also, console, freeze

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[None], Console, Furnished], Awaitable[None]]
BOTH = [(80, 24), *also((140, 40))]


@pytest.fixture(autouse=True)
def _counts_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts follow one another without a pause: a picture waits until no more are made."""
    monkeypatch.setattr(jobs, "COUNT_SECONDS", 0.04)


def picture(
    compare: Compare, prepare: Prepare, size: tuple[int, int] = (80, 24), person: str = "s.bell", key: str = "J"
) -> bool:
    fake, found = furnished()

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Console)
        await until(app, lambda: app.link.connected and app.place_screen.PLACE != "start", "a place")
        await pilot.press(key)
        await listed(app)
        await prepare(pilot, app, found)
        if app.screen is app.place_screen:  # the command that shows a dialog waits for its answer
            await idle(app)
        freeze(app)
        app.place_screen.tick_frame()
        if isinstance(screen := app.place_screen, JobsScreen | JobScreen | FindScreen):
            screen.show_all()
        await pilot.pause()

    return compare(console(fake, person=person), terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", BOTH, ids=["narrow", "wide"])
def test_unresolved_failures(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[None], app: Console, found: Furnished) -> None:
        await pilot.press("down", "down")

    assert picture(snap_compare, prepare, size)


@pytest.mark.parametrize("size", BOTH, ids=["narrow", "wide"])
def test_a_job_that_failed(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(_: Pilot[None], app: Console, found: Furnished) -> None:
        app.push_screen(JobScreen(found.lineage[0].id))
        await opened(app)

    assert picture(snap_compare, prepare, size)


def test_a_job_that_runs(snap_compare: Compare) -> None:
    async def prepare(_: Pilot[None], app: Console, found: Furnished) -> None:
        app.push_screen(JobScreen(found.running.id))
        await opened(app)

    assert picture(snap_compare, prepare)


def test_what_the_customer_is_told(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, found: Furnished) -> None:
        app.push_screen(JobScreen(found.failed[0].id))
        await opened(app)
        await pilot.press("s")
        await until(app, lambda: isinstance(app.screen, SummaryScreen), "what the customer may be told")

    assert picture(snap_compare, prepare)


def test_the_lineage_of_a_job(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, found: Furnished) -> None:
        app.push_screen(JobScreen(found.lineage[0].id))
        screen = await opened(app)
        while screen.part is not Part.LINEAGE:
            await pilot.press("tab")

    assert picture(snap_compare, prepare)


@pytest.mark.long
def test_resolving_a_failure(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, found: Furnished) -> None:
        app.push_screen(JobScreen(found.failed[1].id))
        await opened(app)
        await pilot.press("A")
        form = await dialog(app, OrderForm)
        form.query_one("#reference", Input).value = "OPS-4412"
        form.query_one(Prose).text = "the store is being made larger"

    assert picture(snap_compare, prepare)


@pytest.mark.long
def test_retrying_a_job(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, found: Furnished) -> None:
        app.push_screen(JobScreen(found.failed[0].id))
        await opened(app)
        await pilot.press("y")
        form = await dialog(app, OrderForm)
        form.query_one(Prose).text = "the store has room again"

    assert picture(snap_compare, prepare)


@pytest.mark.long
def test_a_recovery_of_jobs(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, _: Furnished) -> None:
        await pilot.press("P")
        form = await dialog(app, RecoveryForm)
        type_into(form, reason="the store has room again")
        press(form)
        await said(app, "✓ every row was checked")

    assert picture(snap_compare, prepare)


def test_finding(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, _: Furnished) -> None:
        await pilot.press("colon", *"find lark-42", "enter")
        await until(app, lambda: isinstance(app.screen, FindScreen) and app.screen.finding, "what was found")

    assert picture(snap_compare, prepare)
