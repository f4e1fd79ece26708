"""The places of plans and of what was released: live plans first, totals whole, enter leads on, sentences where there is
nothing to see; whatever the service sends is shown and never obeyed (TUI-01)."""

from __future__ import annotations

import pytest

from jobconsole.app import Console
from jobconsole.present.text import line
from jobconsole.screens.plan import PlanScreen
from jobconsole.screens.plan_progress import PlanProgress
from jobconsole.screens.plans import PlansScreen
from jobconsole.screens.released import ReleasedScreen
from jobcontract.items import Payee
from jobcontract.plans import Stop
from jobcontract.session import Person
from jobcontract.states import PlanState, Turn
from tests.hostile import HOSTILE, harmless
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, lines, until
from tests.screens.money_stage import confirmed, made, staged, watching
from tests.screens.stage import MIKA, START, also, on_stage

PREVIEW = pytest.mark.requirement("show-a-preview-before-bulk-money-actions", "MONEY-6")
LIMITS = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-10")


async def on_place(app: Console, number: str, kind: type[PlansScreen | ReleasedScreen]) -> None:
    await until(app, lambda: isinstance(app.screen, kind), number)
    await idle(app)


@PREVIEW
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_live_plans_come_first_with_whole_totals_and_enter_leads_on(size: tuple[int, int]) -> None:
    fake, ids = staged()
    ended = await confirmed(fake, ids[:2])
    fake.bulk.run_out(ended, {ids[1]: Turn.FAILED})
    still_open = await made(fake, ids[2:5])
    async with on_stage(fake, size=size) as (app, _, pilot):
        await pilot.press("3")
        await on_place(app, "3", PlansScreen)
        screen = app.screen
        assert isinstance(screen, PlansScreen)
        assert [plan.name for plan in screen.listed.plans] == [still_open.name, ended.name]
        shown = flat(app)
        for words in ("○ open", "✓ done", "GBP 103,391.13", "GBP 5,616.65, back 1,545.22", "✗ failed 1", "valid 1"):
            assert words in shown
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, PlanScreen), "the preview")
        await pilot.press("escape")
        await until(app, lambda: app.screen is screen, "the plans")
        await pilot.press("down", "enter")
        await until(app, lambda: isinstance(app.screen, PlanProgress), "the result")


@PREVIEW
async def test_the_list_follows_the_plans_and_the_cursor_stays_on_its_plan() -> None:
    fake, ids = staged()
    plan = await made(fake, ids[:2])
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("3")
        await on_place(app, "3", PlansScreen)
        screen = app.screen
        assert isinstance(screen, PlansScreen)
        newer = await made(fake, ids[2:3], "k.rao")
        await until(app, lambda: len(screen.listed) == 2, "the newer plan")
        assert screen.listed.plans[0].id == newer.id
        assert screen.table.cursor_key == plan.id
        fake.bulk.plans.end(plan, PlanState.DROPPED, MIKA, "Its owner dropped it.")
        await said(app, "– dropped")


@PREVIEW
async def test_places_without_anything_say_so() -> None:
    fake, _ = staged()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("3")
        await said(app, "No plan was made here lately. Mark payouts in a queue (space) and plan their release (P).")
        await pilot.press("4")
        await said(app, "Nobody released anything in the last 24 hours.")
        await said(app, "✓ money moves · ! stops all of it")


@LIMITS
@pytest.mark.parametrize("size", [(80, 24), *also((60, 15))])
async def test_what_each_person_released_is_told_by_currency_against_the_limits(size: tuple[int, int]) -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    fake.bulk.run_out(plan, {ids[7]: Turn.UNCERTAIN})
    async with on_stage(fake, size=size) as (app, _, pilot):
        await pilot.press("4")
        await on_place(app, "4", ReleasedScreen)
        shown = flat(app)
        assert "m.ito (you) GBP 115,907.73" in shown
        assert "GBP 115,907.73 of 10,000,000,000.00" in shown
        assert "? 1 payout is uncertain" in shown
        assert "from 00:00Z" in shown


@pytest.mark.requirement("TUI-01")
async def test_progress_plans_and_released_show_hostile_texts_as_they_are() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    async with on_stage(fake, size=(140, 40)) as (app, _, pilot):
        screen = await watching(app, plan)
        for raw in (text for text in HOSTILE if text and "\ud800" not in text):
            text = raw[:60]
            person = Person(id=f"p {text}", name=text)
            plan.state, plan.name, plan.reason, plan.ended_by = PlanState.PAUSED, f"n {text}", f"r {text}", person
            row = plan.rows[0]
            row.turn, row.sentence, row.title = Turn.UNCERTAIN, f"s {text}", f"t {text}"
            row.payee = Payee(id=text, name=text, account_last4="0001")
            fake.bulk.money.stop = Stop(at=START, by=person, reason=text)
            plan.version += 1
            await screen.reload()
            await idle(app)
            painted = lines(app)
            assert all(map(harmless, painted)), (raw, [each for each in painted if not harmless(each)])
            shown = "".join("".join(painted).split())
            for sent in (f"r {text}", f"s {text}"):
                assert "".join(line(sent)[:10].split()) in shown
        for number in "34":
            await pilot.press(number)
            await until(app, lambda: app.place_screen.PLACE in ("plans", "released"), "the place")
            await idle(app)
            assert all(map(harmless, lines(app)))
