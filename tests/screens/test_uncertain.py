"""Ending an uncertain payout: what is asked is shown, it is claimed first, and two people and a code say that it was not
paid (MONEY.md 5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_plan import FakePlan
from jobcontract.states import ItemState, Turn
from tests.screens.acting_stage import flat, posts, said
from tests.screens.idle import idle, until
from tests.screens.money_stage import closed, confirmed, give, order, staged, told
from tests.screens.stage import item_screen, on_stage

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-5")


async def lost() -> tuple[FakeService, FakePlan]:
    """A plan of Mika's that ended with one uncertain payout."""
    fake, ids = staged()
    plan = await confirmed(fake, ids[:3])
    fake.bulk.run_out(plan, {ids[0]: Turn.UNCERTAIN})
    return fake, plan


@asynccontextmanager
async def on_question(fake: FakeService, person: str) -> AsyncIterator[tuple[Console, Pilot[None]]]:
    """The review item on the screen, with the payout that it asks about."""
    async with on_stage(fake, person=person) as (app, screen, pilot):
        app.actions.run_word("uncertain")
        await until(app, lambda: screen.queue is not None and screen.queue.id == "payments.uncertain", "the queue")
        await until(app, lambda: screen.table.cursor_key is not None, "its item")
        await pilot.press("enter")
        await item_screen(app)
        await said(app, "? Was this paid?")
        yield app, pilot


async def test_a_claimed_question_is_answered_with_the_banks_reference() -> None:
    fake, plan = await lost()
    payout = plan.rows[0]
    async with on_question(fake, "m.ito") as (app, pilot):
        shown = flat(app)
        for words in (f"jc-{payout.row.id}", "GBP 5,616.65 …0093 Booker Food Services", f"{plan.name}, yours", "sent"):
            assert words in shown
        await pilot.press("+")
        await said(app, "It was paid …: claim it first (c)")
        await pilot.press("c")
        await said(app, "Then + it was paid, - it was not paid.")
        before = len(posts(fake))
        await pilot.press("+")
        form = await order(app)
        assert f"outward key jc-{payout.row.id}" in told(form)
        give(form, reason="on the statement of today")
        await until(app, lambda: form.query_one("#fault").display, "what is missing")
        assert len(posts(fake)) == before
        form.query_one("#reference", Input).value = "BK-77120"
        give(form)
        await closed(app)
        assert (payout.turn, payout.reference) == (Turn.DONE, "BK-77120")
        await said(app, "It was answered.")


async def test_the_owner_of_the_plan_cannot_say_that_it_was_not_paid_and_a_colleague_does_with_a_code() -> None:
    fake, plan = await lost()
    async with on_question(fake, "m.ito") as (app, pilot):
        await pilot.press("c")
        await said(app, "You hold")
        await pilot.press("-")
        await said(app, "It was not paid …: the plan was yours: another person in finance says that it was not paid")
        await pilot.press("u")
        await said(app, "Your claim is released")
    async with on_question(fake, "k.rao") as (app, pilot):
        await pilot.press("c")
        await said(app, "You hold")
        await pilot.press("-")
        form = await order(app)
        assert "planned anew, under the same outward key" in told(form)
        give(form, reason="not on the statement", code="000000")
        await said(app, "That code is not right.")
        assert not fake.queues.items[plan.rows[0].row.id].state.closed
        assert not plan.rows[0].reference
        give(form, code=fake.bulk.codes.fresh("k.rao"))
        await closed(app)
        await idle(app)
    assert plan.rows[0].turn is Turn.FAILED
    assert plan.rows[0].row.state is ItemState.OPEN
