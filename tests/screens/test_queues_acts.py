"""Tests of acts from the screen: what is sent, what is refused, what is said when an answer gets lost."""

from __future__ import annotations

import json

import httpx
import pytest
from textual.widgets import Input, Select

from jobconsole.client.fake import FakeService
from jobconsole.screens.act_form import ActForm
from jobconsole.screens.choose import ChooseScreen
from jobconsole.screens.queues import QueuesScreen
from jobconsole.widgets.form import InstantField, Prose
from jobcontract.session import Person
from jobcontract.states import ClaimEnding, ClaimMode, ItemState
from tests.screens.acting_stage import closed, flat, hasty, posts, press, said, service, type_reason
from tests.screens.idle import screen_text, until
from tests.screens.stage import (
    DISPUTES,
    KIRAN,
    MIKA,
    PAYOUTS,
    START,
    act,
    dialog,
    hold,
    item_screen,
    on_stage,
    row_comes,
    scene,
)


async def test_a_second_that_passes_while_a_form_is_being_composed_changes_nothing() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("s")
        form = await dialog(app)
        await form.query_one("#about").remove()
        form.tick()
        assert app.screen is form


@pytest.mark.parametrize("on_item", [False, True])
async def test_the_claim_counts_down_in_the_form_too(on_item: bool) -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, _, pilot):
        if on_item:
            await pilot.press("enter")
            await item_screen(app)
        await pilot.press("s")
        form = await dialog(app)
        form.query_one(Input).value = "+4h"
        assert "59:" in flat(app)
        clock = app.service.clock
        before, real = clock.server_now(), clock.monotonic
        clock.monotonic = lambda: real() + 1_500
        app.tick()
        await said(app, "◆ you · 34:")
        assert before is not None
        now = form.query_one(InstantField).now
        assert now is not None
        assert (now - before).total_seconds() >= 1_500
        assert form.query_one(Input).value == "+4h"
        clock.monotonic = lambda: real() + 3_700
        app.tick()
        await said(app, "your claim lapsed")


@pytest.mark.requirement("state-the-claim-mode")
async def test_an_act_needs_the_claim_and_says_so() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("x")
        assert "Reject: claim it first (c)" in flat(app)
        assert not isinstance(app.screen, ActForm)


async def test_rejecting_names_the_item_amount_first_and_carries_version_and_fence() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("x")
        form = await dialog(app)
        text = flat(app)
        assert "GBP 5,616.65 …0093 Booker Food Services" in text
        assert str(form.act_button.label) == "Reject payout"
        assert isinstance(app.focused, Prose), "the keyboard is where the reason goes, never on the acting button"
        await pilot.press("enter")
        assert not posts(fake)
        assert "0 of 500" in text
        type_reason(form, "double invoice")
        await said(app, "14 of 500")
        press(form, "act")
        await closed(app)
        await row_comes(app, screen, ids[0], "✗ rejected")
        order = json.loads(posts(fake)[-1].content)
        assert order == {"money_version": 1, "fence": 1, "inputs": {"reason": "double invoice"}}
        assert fake.queues.items[ids[0]].state is ItemState.REJECTED


async def test_cancel_and_escape_send_nothing() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, _, pilot):
        for keys in (("tab", "enter"), ("escape",)):
            await pilot.press("x")
            await dialog(app)
            await pilot.press(*keys)
            await closed(app)
        assert not posts(fake)


async def test_setting_aside_shows_what_the_time_resolved_to_before_it_is_sent() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("s")
        form = await dialog(app)
        form.query_one(Input).value = "soon"
        await said(app, "Soon is not a time")
        type_reason(form, "waits for the credit note")
        form.cancel_button.focus()
        await until(app, lambda: app.focused is form.cancel_button, "the keyboard elsewhere")
        press(form, "act")
        await until(app, lambda: isinstance(app.focused, Input), "the keyboard where the fault is")
        assert not posts(fake)
        form.query_one(Input).value = "tomorrow 9:00"
        await said(app, "= Tue 2026-03-03 09:00:00 GMT, in ")
        press(form, "act")
        await closed(app)
        await row_comes(app, screen, ids[0], "‖ until 3 Mar 09:00")
        assert json.loads(posts(fake)[-1].content)["inputs"]["until"] == "2026-03-03T09:00:00Z"


async def test_handing_over_picks_from_the_colleagues_who_can_take_it() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("h")
        form = await dialog(app)
        chooser = form.query_one(Select)
        assert [value for _, value in chooser._options if isinstance(value, str)] == ["k.rao"]
        type_reason(form, "knows the supplier")
        press(form, "act")
        await said(app, "Colleague is needed.")
        chooser.value = "k.rao"
        press(form, "act")
        await closed(app)
        await row_comes(app, screen, ids[0], "◆ k.rao")


async def test_the_act_menu_lists_what_can_be_done_and_why_money_cannot() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("a")
        await until(app, lambda: isinstance(app.screen, ChooseScreen), "the menu")
        await pilot.pause()
        text = flat(app)
        assert "Release moves money: that needs a plan" in text
        for title in ("Set aside", "Reject", "Write a note", "Hand to a colleague"):
            assert title in text
        await pilot.press("enter")
        assert isinstance(app.screen, ChooseScreen)
        await pilot.press(*"note", "enter")
        form = await dialog(app)
        assert str(form.act_button.label) == "Write a note"
        type_reason(form, "asked the supplier")
        press(form, "act")
        await closed(app)
        assert fake.queues.items[ids[0]].acts[-1].inputs == {"text": "asked the supplier"}


@pytest.mark.requirement("state-the-claim-mode")
async def test_a_dispute_can_be_resolved_without_a_claim_unless_a_colleague_holds_it() -> None:
    fake, _ = service()
    key = next(row.id for row in fake.queues.items.values() if row.queue.id == DISPUTES)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("[")
        await until(app, lambda: screen.table.cursor_key == key, "the dispute")
        hold(fake, key, KIRAN)
        await row_comes(app, screen, key, "◆ k.rao")
        await pilot.press("o")
        assert "Resolve: k.rao holds it" in flat(app)
        fake.queues.end_claim(fake.queues.items[key], ClaimEnding.RELEASED, KIRAN)
        fake.queues.changed(fake.queues.items[key])
        await row_comes(app, screen, key, "○ free")
        await pilot.press("o")
        form = await dialog(app)
        type_reason(form, "paid twice, returned")
        press(form, "act")
        await closed(app)
        await row_comes(app, screen, key, "✓ resolved")


async def test_an_item_that_changed_shows_before_and_after_and_keeps_what_was_typed() -> None:
    fake, ids = service()
    row = hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("x")
        form = await dialog(app)
        type_reason(form, "double invoice")
        row.money_version += 1
        assert row.amount is not None
        row.amount = row.amount.model_copy(update={"minor": 999900})
        press(form, "act")
        await said(app, "▲ Changed since you looked:")
        assert "1 → 2" in flat(app)
        assert str(form.act_button.label) == "Look at it again"
        press(form, "act")
        await said(app, "GBP 9,999.00 …0093 Booker Food Services")
        assert form.query_one(Prose).text == "double invoice"
        assert str(form.act_button.label) == "Reject payout"
        await until(app, lambda: not form.act_button.disabled, "the button")
        press(form, "act")
        await closed(app)
        await row_comes(app, screen, ids[0], "✗ rejected")


async def test_a_lost_claim_says_who_holds_it_now_and_keeps_what_was_typed() -> None:
    fake, ids = service()
    row = hold(fake, ids[0], MIKA)
    async with on_stage(fake, size=(80, 30)) as (app, screen, pilot):
        await pilot.press("x")
        form = await dialog(app)
        type_reason(form, "double invoice")
        fake.queues.take(row, KIRAN, row.fence, "urgent")
        press(form, "act")
        await said(app, "k.rao")
        await until(app, lambda: not form.act_button.disabled, "the answer")
        assert isinstance(app.screen, ActForm)
        assert form.query_one(Prose).text == "double invoice"
        await pilot.press("escape")
        await closed(app)
        await row_comes(app, screen, ids[0], "◆ k.rao")


@pytest.mark.requirement("HTTP-03")
async def test_an_act_whose_answer_got_lost_is_unknown_then_found_in_the_history() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, _, pilot):
        app.service.times = hasty(app)
        await pilot.press("m")
        form = await dialog(app)
        type_reason(form, "asked the supplier")
        fake.lost = 4
        press(form, "act")
        await closed(app)
        assert len(fake.queues.items[ids[0]].acts) == 1
        assert len({request.headers["Idempotency-Key"] for request in posts(fake)}) == 1
        await said(app, "Write a note: Write a note: done.")


@pytest.mark.requirement("HTTP-03")
async def test_an_act_that_never_arrived_is_found_not_done_and_sent_again_under_its_key() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    keys: list[str] = []
    losing = True

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            keys.append(request.headers["Idempotency-Key"])
            if losing:
                raise httpx.ReadError("connection reset", request=request)
        return await fake.handle(request)

    async with on_stage(fake, transport=httpx.MockTransport(answer)) as (app, _, pilot):
        app.service.times = hasty(app)
        await pilot.press("m")
        form = await dialog(app)
        type_reason(form, "asked the supplier")
        press(form, "act")
        await said(app, "It was not done")
        assert form.query_one(Prose).text == "asked the supplier"
        losing = False
        await until(app, lambda: not form.act_button.disabled, "the button")
        press(form, "act")
        await closed(app)
        assert len(fake.queues.items[ids[0]].acts) == 1
        assert len(set(keys)) == 1


async def test_a_service_that_went_away_meanwhile_leaves_the_dialog_as_it_was() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, _, pilot):
        app.service.times = hasty(app)
        await pilot.press("x")
        form = await dialog(app)
        type_reason(form, "double invoice")
        fake.away = True
        press(form, "act")
        await until(app, lambda: form.query_one("#fault").display, "the fault")
        assert form.query_one(Prose).text == "double invoice"
        assert isinstance(app.screen, ActForm)


async def test_the_items_own_screen_acts_too() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("enter")
        await item_screen(app)
        await pilot.press("c")
        await said(app, "◆ you")
        await pilot.press("x")
        form = await dialog(app)
        type_reason(form, "double invoice")
        press(form, "act")
        await closed(app)
        await said(app, "✗ rejected")
        await said(app, "reason “double invoice”")
        await pilot.press("q")
        await until(app, lambda: isinstance(app.screen, QueuesScreen), "the list")
        assert "✗ rejected" in screen_text(app)
        assert fake.queues.items[ids[0]].state is ItemState.REJECTED


async def test_an_act_of_a_colleague_is_in_the_history() -> None:
    fake, ids = service()
    act(fake, ids[0], "note", Person(id="k.rao", name="Kiran Rao"), text="called them")
    async with on_stage(fake, size=(80, 30)) as (app, _, pilot):
        await said(app, "k.rao note · ✓ done")
        await pilot.press("enter")
        await item_screen(app)
        await said(app, "text “called them”")


@pytest.mark.requirement("state-the-claim-mode")
async def test_a_queue_without_claims_takes_acts_at_once_and_the_first_of_two_wins() -> None:
    fake = FakeService(start=START)
    fake.queues.queues = tuple(
        queue.model_copy(update={"claim": ClaimMode.DISABLED}) if queue.id == PAYOUTS else queue
        for queue in fake.queues.queues
    )
    ids = scene(fake)
    async with on_stage(fake) as (app, screen, pilot):
        screen.go_to_name(PAYOUTS)
        await until(app, lambda: screen.table.cursor_key == ids[0], "the queue")
        await pilot.press("c")
        await said(app, "this queue has no claims: the first act wins")
        assert not posts(fake)
        await pilot.press("x")
        form = await dialog(app)
        type_reason(form, "double invoice")
        row = fake.queues.items[ids[0]]
        row.money_version += 1
        press(form, "act")
        await said(app, "▲ Changed since you looked:")
        assert "1 → 2" in flat(app)
        assert row.state is ItemState.OPEN
        press(form, "act")
        await until(app, lambda: str(form.act_button.label) == "Reject payout", "the item as it is now")
        await until(app, lambda: not form.act_button.disabled, "the button")
        press(form, "act")
        await closed(app)
        await row_comes(app, screen, ids[0], "✗ rejected")
        order = json.loads(posts(fake)[-1].content)
        assert order == {"money_version": 2, "inputs": {"reason": "double invoice"}}, "an act without a claim"
