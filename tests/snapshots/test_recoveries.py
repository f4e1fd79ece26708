"""Pictures of the overview of a night that went wrong, of the alarms, and of a recovery before it is confirmed and while it
is applied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.client import recoveries
from jobconsole.client.fake import FakeService
from jobconsole.client.queues import new_key
from jobconsole.screens.overview import OverviewScreen
from jobconsole.screens.recovery_form import RecoveryForm
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Turn
from tests.screens.acting_stage import said
from tests.screens.idle import idle
from tests.screens.recovery_stage import dialog, made, night, press, troubled, type_into
from tests.screens.stage import also, console, freeze, ready

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[None], Console], Awaitable[None]]


def picture(compare: Compare, fake: FakeService, prepare: Prepare, size: tuple[int, int], person: str) -> bool:
    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Console)
        await ready(app)
        await prepare(pilot, app)
        await idle(app)
        freeze(app)
        app.place_screen.tick_frame()
        await pilot.pause()

    return compare(console(fake, person=person), terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", [(80, 24), *also((140, 40))], ids=["narrow", "wide"])
def test_the_overview(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[None], app: Console) -> None:
        await pilot.press("0")
        await said(app, "needs somebody")
        await said(app, "▲ 2 alarms")
        assert isinstance(app.place_screen, OverviewScreen)

    assert picture(snap_compare, troubled(), prepare, size, "o.lind")


@pytest.mark.long
def test_the_alarms(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None], app: Console) -> None:
        await pilot.press("7")
        await said(app, "Alarms · 2 open")
        await said(app, "▲ 2 alarms")

    assert picture(snap_compare, troubled(), prepare, (80, 24), "o.lind")


@pytest.mark.parametrize("size", [(80, 24), *also((140, 40))], ids=["narrow", "wide"])
def test_a_recovery_before_it_is_confirmed(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[None], app: Console) -> None:
        await pilot.press("9", "y")
        form = await dialog(app, RecoveryForm)
        type_into(form, since="today 00:00", reason="the mail server is back")
        press(form)
        await said(app, "✓ every row was checked")

    assert picture(snap_compare, night(money=True), prepare, size, "m.ito")


@pytest.mark.long
def test_a_recovery_while_it_is_applied(snap_compare: Compare) -> None:
    fake = night()

    async def prepare(pilot: Pilot[None], app: Console) -> None:
        service = fake.service("o.lind")
        order = RecoveryOrder(act=RecoveryAct.REQUEUE, reason="the mail server is back")
        found = await recoveries.make(service, order, new_key())
        await recoveries.confirm(service, found.id, await recoveries.digest_of(service, found), None, new_key())
        recovery = made(fake)
        for turn, sentence in ((Turn.DONE, "Completed."), (Turn.FAILED, "It became a dead letter again.")):
            fake.recoveries.step(recovery, turn, sentence)
        await pilot.press("9", "enter")
        await said(app, "✗ failed 1")

    assert picture(snap_compare, fake, prepare, (80, 24), "o.lind")
