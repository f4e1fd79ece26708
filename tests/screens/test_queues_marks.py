"""Marks and the plan that is made of them: what is hidden is said and asked about, what is left out stays marked."""

from __future__ import annotations

import json

import pytest
from textual import events

from jobconsole.screens.dialog import Ask
from jobconsole.screens.plan import PlanScreen
from jobcontract.states import Exclusion
from tests.screens.acting_stage import flat, posts
from tests.screens.idle import idle, screen_text, settled, until
from tests.screens.plan_stage import CODE, back_in_queue, on_plan, preview, send, service, the_plan
from tests.screens.stage import KIRAN, hold, on_stage, queue_screen

PREVIEW = "show-a-preview-before-bulk-money-actions"


@pytest.mark.requirement("BULK-01", PREVIEW)
async def test_marks_outlive_a_filter_and_the_hidden_ones_are_said_and_asked_about() -> None:
    fake, ids = service()
    async with on_stage(fake, size=(110, 24)) as (app, screen, pilot):
        screen.table.mark(ids[:4] + ids[7:8])  # four in GBP, one in JPY
        await idle(app)
        screen.put_in_force("currency:JPY")
        await until(app, lambda: screen.filter_text == "currency:JPY" and len(screen.listing) == 1, "the filter")
        await until(app, lambda: "■ 5 marked, 4 not shown by this filter" in screen_text(app), "what is hidden")
        await pilot.press("P")
        await until(app, lambda: isinstance(app.screen, Ask), "the question")
        await settled(app)
        told = flat(app)
        assert "Plan 5 payouts, of which 4 are not shown by this filter?" in told
        assert "GBP 5,616.65 …0093 Booker Food Services" in told
        assert not fake.bulk.plans.all
        await pilot.press("escape")
        await back_in_queue(app)
        assert not fake.bulk.plans.all
        await pilot.press("P")
        await until(app, lambda: isinstance(app.screen, Ask), "the question")
        await settled(app)
        await pilot.press("tab", "enter")
        plan = (await preview(app)).plan
        assert plan.count == 5
        assert {row.row.id for row in the_plan(fake).rows} == {*ids[:4], ids[7]}


@pytest.mark.requirement("BULK-01")
async def test_all_that_match_is_the_filter_itself_and_ends_with_it() -> None:
    fake, _ = service()
    async with on_stage(fake, size=(110, 24)) as (app, screen, pilot):
        screen.put_in_force("currency:JPY")
        await until(app, lambda: screen.counted() is not None, "the count")
        await pilot.press("asterisk")
        await until(app, lambda: "■ all 1 that match" in screen_text(app), "what is marked")
        screen.put_in_force("")
        await until(app, lambda: len(screen.listing) == 12, "the whole queue")
        assert not screen.table.marking.everything
        assert "ended with its filter" in screen.notices.sentence
        screen.put_in_force("currency:JPY")
        await until(app, lambda: len(screen.listing) == 1, "the filter")
        await pilot.press("asterisk", "P")
        plan = (await preview(app)).plan
        assert (plan.filter, plan.count) == ("currency:JPY", 1)
        (order,) = (each for each in posts(fake) if each.url.path.endswith("/plans"))
        assert json.loads(order.content)["filter"] == "currency:JPY"


@pytest.mark.requirement("MONEY-2")
async def test_without_marks_the_row_under_the_cursor_is_a_plan_of_one_and_its_own_plan_is_come_back_to() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("down", "P")
        plan = (await preview(app)).plan
        assert [row.row.id for row in the_plan(fake).rows] == [ids[1]]
        await pilot.press("q")
        assert await back_in_queue(app) is screen
        await until(app, lambda: f"in plan {plan.name}" in screen_text(app), "who has the row")
        await pilot.press("P")
        assert (await preview(app)).plan.id == plan.id
        assert len(fake.bulk.plans.all) == 1


@pytest.mark.requirement("BULK-01")
async def test_after_confirming_only_the_handled_rows_leave_the_marks() -> None:
    fake, ids = service()
    hold(fake, ids[1], KIRAN, seconds=1800)
    async with on_plan(fake, ids[:3]) as (app, screen, pilot):
        assert [each.reason for each in screen.plan.excluded] == [Exclusion.HELD]
        await pilot.press("C")
        await send(app, pilot, CODE)
        await until(app, lambda: the_plan(fake).confirmed_at is not None, "the confirmation")
        queue = queue_screen(app)
        await until(app, lambda: queue.table.marks == {ids[1]}, "the mark of what was left out")


async def test_a_range_and_going_back_mark_and_unmark() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("space", "down", "down", "M")
        assert screen.table.marks == set(ids[:4])
        await pilot.press("q")
        assert not screen.table.marks
        await pilot.press("asterisk", "space")
        assert "all that match are marked" in flat(app)
        await pilot.press("U")
        assert not screen.table.marking.everything


@pytest.mark.requirement("BULK-01")
async def test_keys_typed_ahead_act_on_the_rows_that_the_arrows_went_to() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, _):
        for key in ("down", "down", "space", "down", "M"):
            app.post_message(events.Key(key, " " if key == "space" else None))
        await until(app, lambda: screen.table.cursor == 4, "the last row")
        await idle(app)
        assert screen.table.marks == set(ids[2:5])


@pytest.mark.requirement("MONEY-6")
async def test_a_plan_that_cannot_be_made_says_why_and_leaves_the_marks() -> None:
    fake, ids = service()
    for key in ids[:2]:
        hold(fake, key, KIRAN, seconds=1800)
    async with on_stage(fake) as (app, screen, pilot):
        screen.table.mark(ids[:2])
        await pilot.press("P")
        await until(app, lambda: "every item is excluded" in flat(app), "why not")
        await idle(app)
        assert not isinstance(app.screen, PlanScreen)
        assert screen.table.marks == set(ids[:2])


@pytest.mark.requirement("HTTP-03")
async def test_a_plan_whose_answer_got_lost_is_made_once() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        screen.table.mark(ids[:2])
        fake.lost = 1
        await pilot.press("P")
        await preview(app)
        assert len(fake.bulk.plans.all) == 1


@pytest.mark.parametrize(
    ("person", "queue", "reason"),
    [("o.lind", None, "That needs payout.release (finance)"), ("m.ito", "disputes", "this queue has no bulk command")],
)
async def test_planning_is_greyed_with_its_reason(person: str, queue: str | None, reason: str) -> None:
    fake, _ = service()
    async with on_stage(fake, person=person) as (app, screen, pilot):
        if queue is not None:
            screen.go_to_name(queue)
            await until(app, lambda: screen.queue is not None and screen.queue.id.endswith(queue), queue)
        await pilot.press("P")
        await until(app, lambda: reason in flat(app), "why not")
