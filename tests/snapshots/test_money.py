"""Pictures of a plan that runs, of the plans, of what was released, of a payout that nobody knows the outcome of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.client import money_watch
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_plan import FakePlan
from jobconsole.screens.plans import PlansScreen
from jobconsole.screens.released import ReleasedScreen
from jobcontract.plans import Stop
from jobcontract.session import Person
from jobcontract.states import PlanState, Turn
from tests.screens.idle import idle, until
from tests.screens.money_stage import confirmed, made, staged, watching
from tests.screens.stage import START, console, freeze, ready

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[None], Console, FakePlan], Awaitable[None]]
OLLE = Person(id="o.lind", name="Olle Lind")
ENDED = START + timedelta(seconds=6)


async def believable(fake: FakeService, ids: list[str]) -> FakePlan:
    """Two plans that ended, one of a colleague that is open, and one that runs."""
    before = await confirmed(fake, ids[9:11])
    fake.bulk.run_out(before, {ids[10]: Turn.FAILED})
    dropped = await made(fake, ids[10:11])
    fake.bulk.plans.end(dropped, PlanState.DROPPED, dropped.owner, "Its owner dropped it.")
    await made(fake, ids[10:12], "k.rao")
    plan = await confirmed(fake, ids[:9])
    for at, turn in enumerate((Turn.DONE, Turn.DONE, Turn.REFUSED, Turn.DONE, Turn.UNCERTAIN, Turn.RUNNING)):
        fake.bulk.step(plan, turn, item=plan.rows[at].row.id)
    fake.time = ENDED
    return plan


@pytest.fixture(autouse=True)
def short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """The top line follows at once."""
    monkeypatch.setattr(money_watch, "PAUSE_SECONDS", 0.02)


def known(app: Console, plan: FakePlan) -> bool:
    """Whether the top line has the plan as it stands."""
    watch = app.connection.watch if app.connection is not None else None
    return watch is not None and [each.version for each in watch.plans] == [plan.version]


def picture(compare: Compare, prepare: Prepare, size: tuple[int, int] = (80, 24)) -> bool:
    fake, ids = staged()

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Console)
        await ready(app)
        plan = await believable(fake, ids)
        await until(app, lambda: known(app, plan), "my plan in the top line")
        await prepare(pilot, app, plan)
        freeze(app, ENDED)
        screen = app.place_screen
        screen.tick_frame()
        if isinstance(screen, PlansScreen | ReleasedScreen):
            screen.show_all()
        await idle(app)
        await pilot.pause()

    return compare(console(fake), terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
def test_a_plan_that_runs(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(_: Pilot[None], app: Console, plan: FakePlan) -> None:
        screen = await watching(app, plan)
        screen.pace.forget()

    assert picture(snap_compare, prepare, size)


def test_a_paused_plan_while_money_is_stopped(snap_compare: Compare) -> None:
    async def prepare(_: Pilot[None], app: Console, plan: FakePlan) -> None:
        screen = await watching(app, plan)
        plan.state, plan.reason, plan.ended_by = PlanState.PAUSED, "the bank asks us to wait", OLLE
        plan.version += 1
        connection = app.connection
        assert connection is not None
        connection.watch.stop = screen.stop = Stop(at=START, by=OLLE, reason="drill")
        screen.took(plan.shown(ENDED))

    assert picture(snap_compare, prepare)


def test_the_plans(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, _: FakePlan) -> None:
        await pilot.press("3")
        await until(app, lambda: isinstance(app.screen, PlansScreen) and len(app.screen.listed) == 4, "the plans")

    assert picture(snap_compare, prepare)


def test_released_today(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console, _: FakePlan) -> None:
        await pilot.press("4")
        await until(app, lambda: isinstance(app.screen, ReleasedScreen) and app.screen.money, "what was released")

    assert picture(snap_compare, prepare)
