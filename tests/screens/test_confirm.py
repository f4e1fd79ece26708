"""The dialog that confirms a plan: Cancel has the focus, one press is one intent, a lost answer is looked up, and the code
is kept nowhere."""

from __future__ import annotations

import gc
import json
import logging

import httpx
import pytest
from pydantic import SecretStr
from textual import events
from textual.widgets import Button

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.screens import sending
from jobconsole.screens.confirm import ConfirmDialog
from jobconsole.screens.plan import PlanScreen
from jobcontract.states import PlanState
from tests.screens.acting_stage import flat, hasty, said
from tests.screens.idle import idle, lines, until
from tests.screens.plan_stage import CODE, confirm_dialog, confirms, on_plan, preview, send, service, the_plan
from tests.screens.stage import also

CONFIRM = "confirm-bulk-money-actions-out-of-band"
WRONG = "000000"


def confirmed(fake: FakeService) -> bool:
    return the_plan(fake).state is PlanState.APPLYING


async def test_it_names_what_is_released_and_cancel_has_the_focus() -> None:
    fake, ids = service()
    async with on_plan(fake, [*ids[:2], ids[7]]) as (app, _, pilot):
        await pilot.press("C")
        dialog = await confirm_dialog(app)
        told = flat(app)
        assert "Release 3 payouts to 3 payees" in told
        assert "GBP out 5,616.65 in 1 · back 1,545.22 in 1 · net 4,071.43" in told
        assert "largest: GBP 5,616.65 …0093 Booker Food Services" in told
        assert "Release GBP 5,616.65 + JPY 150,000" in told
        await said(app, "5 tries left")
        assert dialog.focused is dialog.cancel_button
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, PlanScreen), "the way back")
        assert not confirms(fake)


@pytest.mark.requirement(CONFIRM, "MONEY-13")
async def test_digits_go_to_the_code_enter_goes_on_and_only_the_named_button_releases() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        dialog = await confirm_dialog(app)
        await pilot.press(*"123 456")
        assert dialog.code.value == "123 456"
        await pilot.press("enter")
        await until(app, lambda: dialog.focused is dialog.act_button, "the button")
        assert not confirms(fake)
        await pilot.press("enter")
        await until(app, lambda: confirmed(fake), "the release")
        (order,) = confirms(fake)
        assert json.loads(order.content)["code"] == CODE


@pytest.mark.requirement("MONEY-26")
async def test_digits_that_come_in_one_piece_are_all_taken_in_their_order() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        dialog = await confirm_dialog(app)
        assert dialog.focused is dialog.cancel_button
        for digit in CODE:
            app.post_message(events.Key(digit, digit))
        await until(app, lambda: dialog.code.value == CODE, "every digit, in its order")


@pytest.mark.requirement("MONEY-26")
async def test_a_paste_is_text_of_the_code_and_never_keys() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        dialog = await confirm_dialog(app)
        for pasted, shown in (("123 456\n", "123456"), ("\t\r654321", "654321"), ("rm -rf n", "654321")):
            app.post_message(events.Paste(pasted))
            await pilot.pause()
            assert dialog.code.value == shown
        assert app.screen is dialog
        await said(app, "What was pasted is no code")
        await pilot.press("escape")
        await said(app, "Not confirmed: nothing was released. The plan stays open.")
        assert not confirms(fake)


@pytest.mark.requirement("OTP-03")
@pytest.mark.parametrize(
    ("typed", "sentence"), [("", "Type the six digits from your phone."), ("47164", "A code has six digits")]
)
async def test_what_is_no_code_is_said_and_not_sent(typed: str, sentence: str) -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        await send(app, pilot, typed)
        await said(app, sentence)
        assert not confirms(fake)


@pytest.mark.requirement(CONFIRM, "OTP-05")
async def test_a_wrong_code_says_how_many_tries_are_left_and_a_lock_until_when() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        await send(app, pilot, WRONG)
        await said(app, "That code is not right. 4 tries left.")
        dialog = await confirm_dialog(app)
        assert dialog.code.value == ""
        assert dialog.focused is dialog.code
        for left in ("3 tries left", "2 tries left", "1 try left"):
            await send(app, pilot, WRONG)
            await said(app, left)
        await send(app, pilot, WRONG)
        await said(app, "locked 14:")
        await send(app, pilot, CODE)
        await said(app, "Too many wrong codes")
        assert not confirmed(fake)


@pytest.mark.requirement(CONFIRM, "OTP-01")
async def test_a_used_code_says_to_wait_for_the_next_one() -> None:
    fake, ids = service()
    fake.bulk.codes.phone("m.ito").used.add(CODE)
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        await send(app, pilot, CODE)
        await said(app, "That code was already used. Wait for the next one.")
        assert not confirmed(fake)


async def test_without_a_phone_it_says_what_to_do() -> None:
    fake, ids = service()
    fake.bulk.codes.phone("m.ito").enrolled = False
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        await confirm_dialog(app)
        await said(app, "jobservice totp enrol m.ito")


@pytest.mark.requirement("BULK-04")
async def test_two_presses_are_one_intent() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        dialog = await confirm_dialog(app)
        await pilot.press(*CODE)
        dialog.query_one("#act", Button).press()
        dialog.query_one("#act", Button).press()
        await until(app, lambda: confirmed(fake), "the release")
        await idle(app)
        assert len(confirms(fake)) == 1


@pytest.mark.requirement("HTTP-03", "BULK-04")
async def test_a_confirmation_whose_answer_got_lost_is_looked_up_and_happens_once() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        app.service.times = hasty(app)
        await pilot.press("C")
        fake.lost = 1
        await send(app, pilot, CODE)
        await until(app, lambda: not isinstance(app.screen, ConfirmDialog), "the end of the dialog")
        assert confirmed(fake)
        assert len({request.headers["Idempotency-Key"] for request in confirms(fake)}) == 1
        assert fake.bulk.codes.phone("m.ito").used == {CODE}


@pytest.mark.requirement("HTTP-03")
async def test_while_nothing_is_known_it_says_unknown_checking_and_cannot_be_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sending, "CHECK_SECONDS", (0.05,) * 200)
    fake, ids = service()
    lost = {"on": False}

    async def handle(request: httpx.Request) -> httpx.Response:
        answer = await fake.handle(request)
        if lost["on"] and "/plans/" in request.url.path:
            raise httpx.ReadError("reset", request=request)
        return answer

    async with on_plan(fake, ids[:2], transport=httpx.MockTransport(handle)) as (app, _, pilot):
        app.service.times = hasty(app)
        await pilot.press("C")
        dialog = await confirm_dialog(app)
        await pilot.press(*CODE)
        lost["on"] = True
        dialog.query_one("#act", Button).press()
        await said(app, "? unknown, checking")
        await pilot.press("escape")
        assert app.screen is dialog
        await said(app, "It was sent; wait for the answer.")
        lost["on"] = False
        await until(app, lambda: not isinstance(app.screen, ConfirmDialog), "the answer")
        assert confirmed(fake)


@pytest.mark.requirement("MONEY-18", CONFIRM)
async def test_a_changed_set_is_listed_and_n_makes_a_new_plan() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        before = the_plan(fake)
        fake.queues.items[ids[1]].money_version += 1
        await pilot.press("C")
        await send(app, pilot, CODE)
        await said(app, "1 row changed since the plan was frozen")
        assert "1 → 2" in flat(app)
        await confirm_dialog(app)
        await pilot.press("n")
        await until(app, lambda: the_plan(fake) is not before, "the new plan")
        screen = await preview(app)
        await until(app, lambda: screen.plan.id == the_plan(fake).id, "its preview")
        assert before.state is PlanState.DROPPED
        assert screen.plan.count == 2


@pytest.mark.requirement("MONEY-26", CONFIRM)
async def test_the_code_is_kept_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    fake, ids = service()
    code = "678901"
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("C")
        field = (await confirm_dialog(app)).code
        await send(app, pilot, code)
        await until(app, lambda: confirmed(fake), "the release")
        await idle(app)
        assert field.value == ""
        fake.requests.clear()
        gc.collect()
        assert not [
            each for each in gc.get_objects() if isinstance(each, SecretStr) and each.get_secret_value() == code
        ]
        assert code not in caplog.text
        assert code not in "\n".join(lines(app))


@pytest.mark.requirement("TUI-04")
@pytest.mark.parametrize("size", [(120, 40), *also((40, 10))])
async def test_tab_reaches_the_code_and_both_buttons_in_sight_at_every_size(size: tuple[int, int]) -> None:
    fake, ids = service()
    async with on_plan(fake, ids, size=size) as (app, _, pilot):
        await pilot.press("C")
        dialog = await confirm_dialog(app)
        for width, height in (size, (60, 15), (40, 10) if size[0] > 40 else (120, 40)):
            await pilot.resize_terminal(width, height)
            await until(app, lambda w=width, h=height: app.size == (w, h) and app.screen is dialog, "the size")  # type: ignore[misc]  # mypy infers no lambda with a default
            reached = set()
            for _ in range(3):
                await pilot.press("tab")
                await pilot.pause()
                assert dialog.focused is not None
                assert in_sight(app, dialog), (width, height, dialog.focused.id)
                reached.add(dialog.focused.id)
            assert reached == {"cancel", "act", "code"}


def in_sight(app: Console, dialog: ConfirmDialog) -> bool:
    """Whether what has the focus is painted whole."""
    focused = dialog.focused
    assert focused is not None
    region = dialog.find_widget(focused)
    return region.visible_region == region.region and app.screen.region.contains_region(region.region)


@pytest.mark.requirement("TUI-04")
async def test_a_plan_that_was_never_shown_cannot_be_confirmed() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, screen, _):
        screen.items._painted.clear()
        screen.run_command("plan.confirm")
        await said(app, "not while the plan was never shown")
        assert isinstance(app.screen, PlanScreen)
