"""Pictures of the preview of a plan and of the dialog that confirms it."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_plan import FakePlan
from jobcontract.states import ItemView, Warned
from tests.screens.idle import lines, until
from tests.screens.plan_stage import confirm_dialog, plan_screen, preview, the_plan
from tests.screens.stage import KIRAN, PAYOUTS, START, freeze, hold, ready, scene
from tests.snapshots.test_queues import Compare, picture


def believable() -> FakeService:
    """A queue of which a colleague holds one item."""
    fake = FakeService(start=START)
    scene(fake, scored=True)
    ids = [row.id for row in fake.queues.listed(PAYOUTS, ItemView.WAITING)]
    hold(fake, ids[4], KIRAN, seconds=1800)
    return fake


def odd(fake: FakeService, plan: FakePlan) -> None:
    """What is odd about two of its rows; nothing else is."""
    plan.warnings.clear()
    changed, twice = plan.rows[1].row.id, plan.rows[0].row.id
    fake.bulk.warn(plan, twice, Warned.PAID_BEFORE, "Paid the same 3 days ago to the same account.", must_answer=True)
    fake.bulk.warn(plan, changed, Warned.ACCOUNT_CHANGED, "Its account changed 1 h ago by n.ode.", must_answer=False)


async def planned(pilot: Pilot[None], fake: FakeService) -> Console:
    """The preview of everything that waits, the time standing still."""
    app = pilot.app
    assert isinstance(app, Console)
    await ready(app)
    await pilot.press("asterisk", "P")
    await preview(app)
    odd(fake, the_plan(fake))
    screen = plan_screen(app)
    screen.reload_soon()
    screen.read_soon()
    await until(app, lambda: screen.digest is not None, "the rows again")
    await until(app, lambda: len(screen.warned) == 2 and screen.list == "warnings", "the warnings")
    await until(app, lambda: f"{screen.plan.name} open" in lines(app)[0], "the top line to know of the plan")
    return app


async def still(pilot: Pilot[None], app: Console) -> None:
    freeze(app)
    await pilot.pause(0.1)
    for screen in app.screen_stack:
        if screen is plan_screen(app):
            plan_screen(app).show_all()
    plan_screen(app).notices.clear()
    plan_screen(app).tick()
    await pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
def test_the_preview(snap_compare: Compare, size: tuple[int, int]) -> None:
    fake = believable()

    async def prepare(pilot: Pilot[None]) -> None:
        app = await planned(pilot, fake)
        await still(pilot, app)

    assert picture(snap_compare, prepare, size=size, fake=fake)


@pytest.mark.parametrize("size", [(80, 24), (60, 15)], ids=["narrow", "small"])
def test_confirming(snap_compare: Compare, size: tuple[int, int]) -> None:
    fake = believable()

    async def prepare(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Console)
        await ready(app)
        await pilot.press("asterisk", "P")
        await preview(app)
        await pilot.press("C")
        dialog = await confirm_dialog(app)
        await until(app, lambda: "5 tries" in str(dialog.tries.content), "the tries")
        await pilot.press(*"481")
        for entry in dialog.query(Input):
            entry.cursor_blink = False
        await still(pilot, app)
        dialog.second()
        await pilot.pause()

    assert picture(snap_compare, prepare, size=size, fake=fake)
