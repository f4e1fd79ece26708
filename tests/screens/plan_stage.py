"""Owns the stage for tests of plans: a queue of which a plan is made, its preview, and the dialog that confirms it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Button

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_plan import FakePlan
from jobconsole.screens.confirm import ConfirmDialog
from jobconsole.screens.plan import PlanScreen
from jobconsole.screens.queues import QueuesScreen
from tests.screens.idle import until
from tests.screens.stage import START, on_stage, scene

CODE = "123456"


def service(**answer_above: int) -> tuple[FakeService, list[str]]:
    """A believable queue; from these amounts on warnings must be answered."""
    fake = FakeService(start=START)
    ids = scene(fake)
    fake.bulk.plans.rules.answer_above = answer_above
    return fake, ids


@asynccontextmanager
async def on_plan(
    fake: FakeService, marked: Sequence[str] = (), *, size: tuple[int, int] = (80, 24), **more: Any
) -> AsyncIterator[tuple[Console, PlanScreen, Pilot[None]]]:
    """The preview of a plan of the marked items, else of all that wait, with every row read."""
    async with on_stage(fake, size=size, **more) as (app, screen, pilot):
        screen.table.mark(marked, everything=not marked)
        await pilot.press("P")
        yield app, await preview(app), pilot


async def preview(app: Console) -> PlanScreen:
    """The preview, once it is in front, read whole, and painted."""

    def there() -> bool:
        screen = app.screen
        return isinstance(screen, PlanScreen) and (screen.digest is not None or bool(screen.unfit or screen.failure))

    await until(app, there, "the preview")
    screen = plan_screen(app)
    loaded = len(screen.warned) > 0 or not screen.plan.warnings
    await until(app, lambda: loaded or len(screen.warned) > 0, "its warnings")
    await until(app, lambda: len(screen.kept_out) > 0 or not screen.plan.excluded, "its exclusions")
    return screen


def plan_screen(app: Console) -> PlanScreen:
    """The preview, wherever it is in the stack."""
    return next(screen for screen in app.screen_stack if isinstance(screen, PlanScreen))


async def confirm_dialog(app: Console) -> ConfirmDialog:
    """The dialog that asks for the code, once it takes keys and knows the phone."""

    def there() -> bool:
        return isinstance(app.screen, ConfirmDialog) and app.screen.counts(Message().time)

    await until(app, there, "the dialog that confirms")
    assert isinstance(app.screen, ConfirmDialog)
    return app.screen


async def send(app: Console, pilot: Pilot[None], code: str) -> ConfirmDialog:
    """Types a code and presses the button that sends it."""
    dialog = await confirm_dialog(app)
    await pilot.press(*code)
    await until(app, lambda: dialog.code.value == code, "the code in its field")
    dialog.query_one("#act", Button).press()
    return dialog


def the_plan(fake: FakeService) -> FakePlan:
    """The plan in the service that was made last."""
    return list(fake.bulk.plans.all.values())[-1]


def confirms(fake: FakeService) -> list[httpx.Request]:
    """Every confirmation that was sent."""
    return [request for request in fake.requests if request.url.path.endswith("/confirm")]


async def back_in_queue(app: Console) -> QueuesScreen:
    """The queue, once it is in front again."""
    await until(app, lambda: isinstance(app.screen, QueuesScreen), "the queue")
    assert isinstance(app.screen, QueuesScreen)
    return app.screen
