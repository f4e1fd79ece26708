"""Watching a plan: its outcomes add up, rows that need a look come first, it is paused, resumed, aborted through dialogs,
can be left and come back to, and ends as the page of its result."""

from __future__ import annotations

import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from jobconsole.screens.item import ItemScreen
from jobconsole.screens.job import JobScreen
from jobconsole.screens.plan_progress import PlanProgress
from jobconsole.screens.queues import QueuesScreen
from jobcontract.states import PlanState, Turn
from tests.screens.acting_stage import flat, posts, said
from tests.screens.idle import idle, lines, until
from tests.screens.money_stage import closed, confirmed, give, on_plan, order, progress, staged, step, told
from tests.screens.stage import also, on_stage

BULK = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-4")
STEERING = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-20")


@BULK
async def test_every_item_is_in_one_outcome_and_what_needs_a_look_comes_first() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    async with on_plan(fake, plan) as (app, screen, _):
        step(fake, plan, at=0)
        step(fake, plan, Turn.REFUSED, at=5)
        step(fake, plan, Turn.UNCERTAIN, at=7)
        step(fake, plan, at=1)
        await said(app, "4 of 12")
        await until(app, lambda: screen.rows.key(0) == "8", "the uncertain row")
        assert [screen.rows.key(at) for at in range(4)] == ["8", "6", "1", "2"]
        shown = flat(app)
        for words in ("✓ done 2", "✗ refused 1", "? uncertain 1", "· not started 8", "= planned 12"):
            assert words in shown
        assert "GBP 5,616.65, back 1,545.22" in shown
        assert "JPY 150,000 is uncertain: a person asks the bank. u → review" in shown
        assert "do not add up" not in shown
        assert screen.table.cursor_key == "8"


@BULK
async def test_the_row_under_the_cursor_stays_under_it_while_others_change() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    async with on_plan(fake, plan) as (app, screen, pilot):
        await pilot.press("down", "down", "down")
        assert screen.table.cursor_key == "4"
        sent = len(fake.requests)
        step(fake, plan, Turn.FAILED, at=9)
        step(fake, plan, at=3)
        await until(app, lambda: screen.rows.numbers(Turn.FAILED) == {10}, "the failed row")
        await until(app, lambda: screen.rows.numbers(Turn.DONE) == {4}, "the row that is done")
        assert screen.table.cursor_key == "4"
        rows = [request for request in fake.requests[sent:] if request.url.path.endswith("/items")]
        assert len(rows) <= 4


@BULK
async def test_the_time_left_is_an_estimate_and_is_not_told_while_it_is_not_known() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    async with on_plan(fake, plan) as (app, _, _):
        assert "left" not in lines(app)[2]
        for at in range(4):
            step(fake, plan, at=at)
            await said(app, f"{at + 1} of 12")
        await until(app, lambda: "left (estimate)" in lines(app)[2], "the estimate")


@STEERING
async def test_pausing_takes_a_reason_and_resuming_a_fresh_code() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    async with on_plan(fake, plan) as (app, _, pilot):
        before = len(posts(fake))
        await pilot.press("p")
        form = await order(app)
        give(form)
        await said(app, "is needed")
        assert len(posts(fake)) == before
        give(form, reason="bank calls back")
        await closed(app)
        assert (plan.state, plan.reason) == (PlanState.PAUSED, "bank calls back")
        await said(app, "‖ paused by you: bank calls back.")
        await pilot.press("r")
        form = await order(app)
        give(form, code="000000")
        await said(app, "That code is not right. 4 tries left.")
        assert form.code.value == ""
        give(form, code=fake.bulk.codes.fresh("m.ito"))
        await closed(app)
        assert plan.state is PlanState.APPLYING
        assert len({request.headers["Idempotency-Key"] for request in posts(fake)[before:]}) == 3


@STEERING
async def test_aborting_says_what_it_does_and_that_what_is_under_way_goes_on() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    step(fake, plan, at=0)
    step(fake, plan, Turn.RUNNING, at=1)
    async with on_plan(fake, plan, person="o.lind") as (app, screen, pilot):
        await pilot.press("A")
        shown = told(await order(app))
        assert "10 items without a turn are given back. What was released stays released." in shown
        assert "1 item under way goes on to the end." in shown
        await pilot.press("escape")
        await closed(app)
        assert len(posts(fake)) == 2, "made and confirmed, nothing else"
        await pilot.press("A")
        form = await order(app)
        give(form, reason="wrong file")
        await closed(app)
        assert plan.state is PlanState.ABORTED
        await said(app, "✗ Aborted by you")
        await said(app, "10 had no turn and are free again")
        assert [screen.rows.key(at) for at in range(2)] == ["2", "3"]


@STEERING
async def test_who_may_only_look_is_told_who_may_steer() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    async with on_plan(fake, plan, person="a.nagy") as (app, _, pilot):
        await pilot.press("p")
        await said(app, "Pause the plan …: That needs payout.stop (finance or operator)")
        await pilot.press("r")
        await said(app, "Resume the plan …: That needs payout.release (finance)")


@BULK
async def test_an_armed_plan_counts_down_until_it_starts() -> None:
    fake, ids = staged()
    fake.bulk.plans.rules.armed = timedelta(minutes=5)
    plan = await confirmed(fake, ids)
    fake.advance(29)
    async with on_plan(fake, plan) as (app, _, _):
        await said(app, "◔ starts in 4:")
        assert "abort until then (A)" in flat(app)


@BULK
async def test_a_running_plan_is_left_and_come_back_to_from_any_place() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids[:3])
    other = await confirmed(fake, ids[3:5])
    async with on_stage(fake) as (app, _, pilot):
        step(fake, plan, at=0)
        await until(app, lambda: len(app.connection.watch.plans) == 2 if app.connection else False, "my plans")
        await pilot.press("2")
        app.tick()
        await until(app, lambda: f"▶ {other.name} 0/2 +1" in lines(app)[0], "the plan in the top line")
        await pilot.press(".")
        await progress(app, other)
        await pilot.press(".")
        await progress(app, plan)
        await pilot.press("escape")
        await until(app, lambda: not isinstance(app.screen, PlanProgress), "the place before")
        assert app.place_screen.PLACE == "you"
        assert plan.state is PlanState.APPLYING


@BULK
async def test_the_result_is_exported_and_leads_to_items_and_to_what_is_uncertain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    fake.bulk.run_out(plan, {ids[2]: Turn.UNCERTAIN})
    async with on_plan(fake, plan) as (app, _, pilot):
        await said(app, "Every item had its turn")
        assert "11 done, 1 uncertain." in flat(app)
        await pilot.press("x")
        await said(app, "Written:")
        written = os.listdir(tmp_path)
        assert written == [f"plan-{plan.name}.csv"]
        assert stat.S_IMODE(os.stat(tmp_path / written[0]).st_mode) == 0o600
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, ItemScreen), "the item")
        await pilot.press("escape")
        await progress(app, plan)
        await pilot.press("u")
        await until(app, lambda: isinstance(app.screen, QueuesScreen) and len(app.screen.listing) == 1, "the queue")
        assert "Uncertain payouts" in flat(app)
        await pilot.press("escape")
        await progress(app, plan)


@BULK
async def test_a_plan_that_cannot_be_read_says_why_and_keeps_trying_nothing() -> None:
    fake, ids = staged()
    await confirmed(fake, ids)
    async with on_stage(fake) as (app, _, _):
        app.push_screen(PlanProgress("00000000-0000-4000-8000-000000000000"))
        await until(app, lambda: isinstance(app.screen, PlanProgress), "the screen")
        await said(app, "There is no plan 00000000-0000-4000-8000-000000000000 that you may see.")
        await idle(app)


@BULK
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_the_account_is_whole_at_every_size(size: tuple[int, int]) -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids)
    for at, turn in enumerate((Turn.DONE, Turn.REFUSED, Turn.FAILED, Turn.UNCERTAIN, Turn.RUNNING)):
        step(fake, plan, turn, at=at)
    async with on_plan(fake, plan, size=size) as (app, screen, _):
        await said(app, "= planned 12")
        shown = flat(app)
        for amount in ("GBP 12,500.00", "JPY 150,000", "KWD 1,250.500", "back 1,545.22"):
            assert amount in shown
        assert screen.table.window[1] >= 1


@BULK
async def test_the_job_that_the_end_of_the_plan_submitted_is_named_followed_and_opened() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids[:2])
    jobs = fake.account
    async with on_plan(fake, plan) as (app, screen, pilot):
        await pilot.press("o")
        await said(app, "Open the job of the plan: the plan has submitted no job")
        jobs.add("service.plan-apply", subject=plan.name, identity=plan.id, plan=plan.name)
        file = jobs.add("payments.bank-file", subject=plan.name, identity=plan.id, plan=plan.name)
        step(fake, plan, at=0)
        step(fake, plan, at=1)
        await said(app, "→ Bank file: ○ pending · o opens it")
        jobs.fail(file, "Send the file: the bank refused it.", "ab12cd34")
        await said(app, "→ Bank file: ✗ failed · o opens it")
        await pilot.press("o")
        await until(app, lambda: isinstance(app.screen, JobScreen), "the job")
        assert isinstance(app.screen, JobScreen)
        assert app.screen.identifier == file.id
        await pilot.press("backspace")
        await until(app, lambda: app.screen is screen, "the plan")


@BULK
async def test_a_plan_of_which_nothing_was_released_asks_for_no_job() -> None:
    fake, ids = staged()
    plan = await confirmed(fake, ids[:1])
    async with on_plan(fake, plan) as (app, screen, _):
        step(fake, plan, Turn.REFUSED, at=0)
        await said(app, "✓ Every item had its turn")
        await idle(app)
        assert screen.job is None
        assert not any(request.url.path.endswith("/jobs") for request in fake.requests)
