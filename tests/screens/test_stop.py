"""Stopping all money from any place, with a reason and no code; starting it again with the code of another person."""

from __future__ import annotations

from functools import partial

import pytest
from textual.widgets import Button

from jobconsole.app import Console
from jobconsole.client import money
from jobconsole.client.queues import new_key
from jobconsole.places import PLACES
from jobcontract.states import PlanState
from tests.screens.acting_stage import posts, said
from tests.screens.idle import idle, lines, until
from tests.screens.money_stage import closed, confirmed, give, on_plan, order, staged, step, told
from tests.screens.stage import on_stage

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-20")


def at(app: Console, place: str) -> bool:
    return place == app.place_screen.PLACE


async def test_two_keys_and_a_reason_stop_all_money_and_every_place_says_so() -> None:
    fake, _ = staged()
    async with on_stage(fake, person="o.lind") as (app, _, pilot):
        await pilot.press("!")
        form = await order(app)
        assert str(form.query_one("#act", Button).label) == "Stop all money of leeds"
        assert "No item of any plan begins any more" in told(form)
        assert not posts(fake)
        give(form, reason="drill")
        await closed(app)
        stop = fake.bulk.money.stop
        assert stop is not None
        assert (stop.by and stop.by.id, stop.reason) == ("o.lind", "drill")
        for place in PLACES:
            await pilot.press(place.key)
            await until(app, partial(at, app, place.id), place.title)
            app.tick()
            await until(app, lambda: "■ money stopped by o.lind 09:00: drill" in lines(app)[1], "the stop")
        await pilot.press("!")
        await said(app, "Stop all money …: it is stopped already")


async def test_a_running_plan_says_who_stopped_money_and_goes_on_after_another_person_started_it() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    async with on_plan(fake, plan) as (app, _, pilot):
        await money.stop_money(fake.service("k.rao"), "bank is down", new_key())
        await said(app, "■ money stopped by k.rao 09:00: bank is down · G starts it again")
        assert not fake.bulk.step(plan)
        await until(app, lambda: app.connection is not None and app.connection.watch.stopped, "the switch")
        await pilot.press("G")
        form = await order(app)
        give(form, reason="it is back", code="12345")
        await said(app, "A code has six digits; this one has 5.")
        give(form, reason="it is back", code=fake.bulk.codes.fresh("m.ito"))
        await closed(app)
        assert fake.bulk.money.stop is None
        step(fake, plan)
        assert plan.state is PlanState.APPLYING


async def test_who_stopped_it_is_told_that_another_person_starts_it() -> None:
    fake, _ = staged()
    await money.stop_money(fake.service("m.ito"), "drill", new_key())
    async with on_stage(fake) as (app, _, pilot):
        await until(app, lambda: app.connection is not None and app.connection.watch.stopped, "the switch")
        await pilot.press("G")
        await said(app, "Start money again …: you stopped it: another person starts it again")


async def test_money_is_not_stopped_by_who_may_not_nor_while_disconnected() -> None:
    fake, _ = staged()
    async with on_stage(fake, person="a.nagy") as (app, _, pilot):
        await pilot.press("!")
        await said(app, "Stop all money …: That needs payout.stop (finance or operator)")
    async with on_stage(fake) as (app, _, pilot):
        fake.away = True
        fake.close_streams()
        await until(app, lambda: not app.link.connected, "the lost link")
        await pilot.press("!")
        await said(app, "Stop all money …: not while disconnected")
        await idle(app)
    assert not posts(fake)
