"""The operator's screens over the real API, its live stream and the Worker's duties, in this process: a missed night is
seen, understood and run again to its end; work is held still; an alarm is looked after."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.commands.keymap import default_keymap
from jobconsole.screens.occurrences import OccurrencesScreen
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.recovery import RecoveryScreen
from jobconsole.screens.recovery_confirm import RecoveryConfirm
from jobconsole.screens.recovery_form import RecoveryForm
from jobconsole.screens.recovery_progress import RecoveryProgress
from jobconsole.settings import load
from jobconsole.tokens import Token
from jobservice.store.database import Database
from tests.api.conftest import QUICK, running
from tests.apps import app_over
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.money_stage import closed, give
from tests.screens.recovery_stage import dialog, press, type_into
from tests.screens.shell_stage import keyring
from tests.screens.stage import ready
from tests.usecases.desk import PAYOUTS
from tests.usecases.recovery_desk import NIGHTLY, recovery_desk
from tests.worker.recoveries_stage import RecoveryStage

HOUR = timedelta(hours=1)

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures", "audit-manual-replay")


@pytest.fixture
def stage(database: Database, worker_database: Database, people: Any) -> RecoveryStage:
    """The service with a Worker that lives, and the Worker's role, which does what a test says."""
    desk = recovery_desk(database, people)
    desk.planned()
    desk.hand.worker("a7")
    return RecoveryStage(desk=desk, database=worker_database)


@asynccontextmanager
async def signed_in(stage: RecoveryStage, person: str = "o.lind") -> AsyncIterator[tuple[Console, Pilot[None]]]:
    """The console at its first place, live, over a real connection."""
    app = app_over(stage.desk.service, signing_key=b"k" * 32, schema_version="1", bounds=QUICK)
    token = Token(stage.desk.money.people.token(person))
    async with running(app) as url:
        settings = load({"url": url, "zone": "Europe/London"}, file=Path("/nonexistent/none.toml"), environ={})
        console = Console(settings, default_keymap(), token=token, keyring=keyring())
        async with console.run_test(size=(80, 24)) as pilot:
            await ready(console)
            yield console, pilot


async def test_a_missed_night_is_seen_understood_and_run_again_to_its_end(stage: RecoveryStage) -> None:
    desk = stage.desk
    night = desk.hand.now.replace(minute=0, second=0, microsecond=0) - 3 * HOUR
    desk.dead(NIGHTLY, night)
    async with signed_in(stage) as (app, pilot):
        await pilot.press("0")
        await said(app, "1 dead letter")
        await pilot.press("5")
        await until(app, lambda: app.place_screen.PLACE == "schedules", "the place")
        await idle(app)
        app.place_screen.query_one("#schedules").move_to(NIGHTLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("i")
        await until(app, lambda: isinstance(app.screen, OccurrencesScreen), "its occurrences")
        await said(app, "dead")
        await idle(app)
        await pilot.press("w")
        await said(app, "It became a dead letter at")
        assert "Checked, and not the cause (16):" in flat(app)
        await pilot.press("9")
        await said(app, "No recovery was made here lately.")
        await pilot.press("y")
        form = await dialog(app, RecoveryForm)
        since = (night - HOUR).strftime("%Y-%m-%dT%H:%M:%SZ")
        type_into(form, since=since, schedules=NIGHTLY, reason="the mail server is back")
        await pilot.pause()
        press(form)
        await until(app, lambda: isinstance(app.screen, RecoveryScreen), "the preview")
        await said(app, "✓ every row was checked")
        assert "2 items not done" in flat(app)
        await pilot.press("C")
        press(await dialog(app, RecoveryConfirm))
        await until(app, lambda: isinstance(app.screen, RecoveryProgress), "the progress")
        assert await stage.run() == {"begun": 1}
        await said(app, "running 1")
        assert await stage.complete(NIGHTLY) == 1
        assert await stage.run() == {"settled": 1, "finished": 1}
        await said(app, "✓ Every row had its turn")
    assert desk.rows("select state, replays from jobs.occurrences") == [("completed", 1)]
    assert desk.rows("select person, reason from jobs.occurrence_replays") == [("o.lind", "the mail server is back")]


async def test_a_queue_is_held_still_and_an_alarm_is_looked_after(stage: RecoveryStage) -> None:
    desk = stage.desk
    alarm = desk.one(
        "insert into jobs.alarms (tenant, kind, subject, schedule, sentence) values ('acme', 'late', %s, %s, %s)"
        " returning id",
        NIGHTLY,
        NIGHTLY,
        "Late by 12 min.",
    )
    async with signed_in(stage) as (app, pilot):
        await pilot.press("S")
        give(await dialog(app, OrderForm), reason="drill")
        await closed(app)
        await said(app, "■ Stopped by Olle Lind since")
        await said(app, "UTC: drill.")
        await pilot.press("c")
        await said(app, "Stopped by Olle Lind")
        await pilot.press("7")
        await said(app, "Late by 12 min.")
        await pilot.press("A")
        give(await dialog(app, OrderForm), reason="asked the mail people")
        await closed(app)
        await said(app, "Olle Lind (o.lind) looks after it since")
        await pilot.press("=")
        await said(app, "Stops · 1 in force")
        await pilot.press("u")
        give(await dialog(app, OrderForm), reason="it is well again")
        await closed(app)
        await said(app, "Nothing is stopped.")
    assert desk.rows("select note, acknowledged_by from jobs.alarms where id = %s", alarm) == [
        ("asked the mail people", "o.lind")
    ]
    assert desk.rows(
        "select action, subject from jobs.audit where action in ('stop-work', 'lift-stop') order by id"
    ) == [
        ("stop-work", PAYOUTS),
        ("lift-stop", PAYOUTS),
    ]
