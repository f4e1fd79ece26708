"""Runbooks: steps, interface, who may; `enter` opens the very dialog of the act, and what was done is read again."""

from __future__ import annotations

import pytest

from jobconsole.screens.occurrences import OccurrencesScreen
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.runbook import RunbookScreen
from jobcontract.states import OccurrenceState
from tests.screens.act_stage import HOURLY, REASON, acting, asked_of, dead, order, send, staged
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.stage import also

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


@pytest.mark.parametrize("size", [(80, 24), *also((140, 40))])
async def test_each_procedure_is_told_and_performed_and_the_transcript_follows(size: tuple[int, int]) -> None:
    fake = staged()
    found = dead(fake)
    async with acting(fake, size=size) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("R")
        await until(app, lambda: isinstance(app.screen, RunbookScreen) and len(app.screen.rows) == 3, "the runbooks")
        await idle(app)
        told = flat(app)
        for words in ("○ inspect", "↻ replay", "‖ disable", "steps 1. Look at statements.hourly. 2. Read the error"):
            assert words in told
        assert "Nothing was done by these procedures yet." in told
        await pilot.press("down")
        await said(app, "request POST /v1/occurrences/{occurrence}/replay")
        assert "jobconsole occurrences replay OCCURRENCE --reason REASON" in flat(app)
        assert "claimed What a Worker has claimed goes on to its end." in flat(app)
        await pilot.press("enter")
        form = await order(app)
        assert "3 items run again; 2 done stay done." in asked_of(form)
        await send(app, form)
        await said(app, "o.lind replay-occurrence")
        await said(app, "✓ statements.hourly@2026-10-24T19:00:00Z runs again: replay 1.")
        assert fake.jobs.occurrences[found].state is OccurrenceState.SCHEDULED
        await pilot.press("down", "enter")
        form = await order(app)
        assert str(form.act_button.label) == "Disable the schedule"
        await send(app, form)
        await said(app, "o.lind disable-schedule statements.hourly")
        await pilot.press("home", "enter")
        await until(app, lambda: isinstance(app.screen, OccurrencesScreen), "the occurrences")


async def test_who_may_not_perform_it_reads_why_and_nothing_opens() -> None:
    fake = staged()
    dead(fake)
    async with acting(fake, person="a.nagy") as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("R")
        await until(app, lambda: isinstance(app.screen, RunbookScreen) and len(app.screen.rows) == 3, "the runbooks")
        await pilot.press("down", "enter")
        await said(app, "That needs occurrence.replay (operator). Ask an administrator of leeds")
        assert not isinstance(app.screen, OrderForm)
        assert "not you: operator" in flat(app)


async def test_without_a_dead_letter_the_occurrences_are_shown_to_choose_from() -> None:
    fake = staged()
    async with acting(fake) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("R")
        await until(app, lambda: isinstance(app.screen, RunbookScreen) and len(app.screen.rows) == 3, "the runbooks")
        await pilot.press("down", "enter")
        await until(app, lambda: isinstance(app.screen, OccurrencesScreen), "the occurrences")
        await said(app, "No dead letter waits. Choose the occurrence; its own key replays it.")
        assert REASON not in flat(app)
