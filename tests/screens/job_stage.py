"""Owns what tests of background jobs put on the stage: the fake service's believable set of them, the place, its dialogs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_job_examples import Furnished, furnish
from jobconsole.screens.job import JobScreen
from jobconsole.screens.jobs import JobsScreen
from tests.screens.idle import idle, until
from tests.screens.stage import START, console, scene


def furnished() -> tuple[FakeService, Furnished]:
    """A service with jobs of every fate, and those that are asked for by name."""
    fake = FakeService(start=START)
    scene(fake)
    return fake, furnish(fake.account)


@asynccontextmanager
async def on_jobs(
    fake: FakeService, *, size: tuple[int, int] = (80, 24), person: str = "o.lind"
) -> AsyncIterator[tuple[Console, JobsScreen, Pilot[None]]]:
    """The console at the place of jobs, read and counted."""
    app = console(fake, person=person)
    async with app.run_test(size=size) as pilot:
        await until(app, lambda: app.link.connected and app.place_screen.PLACE != "start", "a place")
        await pilot.press("J")
        screen = await listed(app)
        yield app, screen, pilot


async def listed(app: Console) -> JobsScreen:
    """The list of jobs, once it is in front, read and counted."""
    await until(app, lambda: isinstance(app.screen, JobsScreen) and app.screen.told_at, "the jobs")
    screen = app.screen
    assert isinstance(screen, JobsScreen)
    await until(app, lambda: screen.counted == screen.wanted, "the counts")
    return screen


async def opened(app: Console, identifier: str | None = None) -> JobScreen:
    """One job, once it is in front and read."""

    def there() -> bool:
        screen = app.screen
        if not isinstance(screen, JobScreen) or screen.parts.job is None:
            return False
        return identifier is None or screen.identifier == identifier

    await until(app, there, "the job")
    assert isinstance(app.screen, JobScreen)
    await idle(app)
    return app.screen
