"""Owns what tests of plans that run, of what was released and of the stop put on the stage: confirmed plans, a Worker
moved by hand, dialogs of orders."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr
from textual.pilot import Pilot
from textual.widgets import Button

from jobconsole.app import Console
from jobconsole.client import plans
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_plan import FakePlan
from jobconsole.client.plan_reading import PlanReading
from jobconsole.client.queues import new_key
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.plan_progress import PlanProgress
from jobconsole.widgets.form import Prose
from jobcontract.states import Turn
from tests.screens.idle import idle, settled, until
from tests.screens.stage import PAYOUTS, START, on_stage, scene

COMMAND = "payments.release-many"


def staged() -> tuple[FakeService, list[str]]:
    """A service with a believable queue, and the ids of its items."""
    fake = FakeService(start=START)
    return fake, scene(fake)


async def made(fake: FakeService, items: Sequence[str], person: str = "m.ito") -> FakePlan:
    """An open plan of these items."""
    plan = await plans.make(fake.service(person), PAYOUTS, COMMAND, new_key(), items=items)
    return fake.bulk.plans.all[plan.id]


async def confirmed(fake: FakeService, items: Sequence[str], person: str = "m.ito") -> FakePlan:
    """A plan of these items, confirmed by its owner."""
    plan, service = await made(fake, items, person), fake.service(person)
    digest = await PlanReading(service, await plans.plan(service, plan.id)).run()
    await plans.confirm(service, plan.id, digest, SecretStr(fake.bulk.codes.fresh(person)), new_key())
    return plan


async def watching(app: Console, plan: FakePlan) -> PlanProgress:
    """The screen that watches the plan, its rows read."""
    app.push_screen(PlanProgress(plan.id))
    return await progress(app, plan)


async def progress(app: Console, plan: FakePlan) -> PlanProgress:
    """That screen, once it is in front and has its rows."""
    await until(app, lambda: isinstance(app.screen, PlanProgress) and len(app.screen.rows) > 0, "the plan's rows")
    screen = app.screen
    assert isinstance(screen, PlanProgress)
    assert screen.plan_id == plan.id
    await idle(app)
    return screen


@asynccontextmanager
async def on_plan(
    fake: FakeService, plan: FakePlan, **more: Any
) -> AsyncIterator[tuple[Console, PlanProgress, Pilot[None]]]:
    """The console with the plan on its screen."""
    async with on_stage(fake, **more) as (app, _, pilot):
        yield app, await watching(app, plan), pilot


def step(fake: FakeService, plan: FakePlan, turn: Turn = Turn.DONE, at: int = 0) -> None:
    """Gives the row with that index its turn, one second later."""
    fake.advance(1)
    assert fake.bulk.step(plan, turn, item=plan.rows[at].row.id)


async def order(app: Console) -> OrderForm[Any]:
    """The dialog of an order, once it is in front and takes keys."""
    await until(app, lambda: isinstance(app.screen, OrderForm), "the dialog of an order")
    await settled(app)
    assert isinstance(app.screen, OrderForm)
    return app.screen


def give(form: OrderForm[Any], *, reason: str = "", code: str = "") -> None:
    """Types what the dialog asks for, and presses its button."""
    if reason:
        form.query_one(Prose).text = reason
    if code:
        form.code.value = code
    form.query_one("#act", Button).press()


async def closed(app: Console) -> None:
    """Waits for the end of the dialog."""
    await until(app, lambda: not isinstance(app.screen, OrderForm), "the end of the dialog")


def told(form: OrderForm[Any]) -> str:
    """What the dialog says that the order does, without its line breaks."""
    return " ".join(str(form.about.content).split())
