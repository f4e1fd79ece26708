"""Recoveries on the screen: made from a form, shown before anything is done, confirmed by their act, watched to their end;
refused by permission, on a lost link and for wrong input; money takes a code and only finance."""

from __future__ import annotations

import pytest
from textual.widgets import Button

from jobconsole.client import recoveries
from jobconsole.client.fake import FakeService
from jobconsole.client.queues import new_key
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.recovery import RecoveryScreen
from jobconsole.screens.recovery_confirm import RecoveryConfirm
from jobconsole.screens.recovery_form import RecoveryForm
from jobconsole.screens.recovery_progress import RecoveryProgress
from jobcontract.operating import RecoveryAct, RecoveryState
from jobcontract.recoveries import Recovery, RecoveryOrder
from jobcontract.states import OccurrenceState, ScheduleStanding, Turn
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.money_stage import give
from tests.screens.recovery_stage import at_place, dialog, made, night, press, type_into
from tests.screens.stage import START

pytestmark = pytest.mark.requirement("audit-manual-replay", "provide-operational-recovery-procedures")


async def frozen(fake: FakeService, person: str = "o.lind", act: RecoveryAct = RecoveryAct.REQUEUE) -> Recovery:
    """An open recovery of every dead letter."""
    order = RecoveryOrder(act=act, reason="the mail server is back")
    return await recoveries.make(fake.service(person), order, new_key())


async def test_a_stretch_is_typed_shown_confirmed_by_its_act_and_watched_to_its_end() -> None:
    fake = night()
    async with at_place(fake, "9") as (app, pilot):
        await said(app, "No recovery was made here lately.")
        await pilot.press("y")
        form = await dialog(app, RecoveryForm)
        assert "Nothing is done before you confirm." in flat(app)
        type_into(form, schedules="statements.nightly")
        await pilot.pause()
        assert "recoveries replay --schedule statements.nightly --from …" in (form.copyable() or "")
        type_into(form, since="today 00:00", schedules="statements.nightly", reason="the mail server is back")
        await pilot.pause()
        wanted = "jobconsole recoveries replay --schedule statements.nightly --from 2026-03-02T00:00:00Z --to"
        assert wanted in (form.copyable() or "")
        press(form)
        await until(app, lambda: isinstance(app.screen, RecoveryScreen), "the preview")
        await said(app, "✓ every row was checked")
        shown = flat(app)
        assert "Replay 7 occurrences of statements.nightly · tern-42" in shown
        assert "21 items not done" in shown
        assert "3 of 23 not done" in shown
        assert made(fake).state is RecoveryState.OPEN
        await pilot.press("C")
        confirm = await dialog(app, RecoveryConfirm)
        assert confirm.focused is confirm.cancel_button
        assert str(confirm.query_one("#act", Button).label) == "Replay 7 occurrences of statements.nightly"
        press(confirm)
        await until(app, lambda: isinstance(app.screen, RecoveryProgress), "the progress")
        recovery = made(fake)
        fake.recoveries.step(recovery)
        fake.recoveries.step(recovery, Turn.FAILED, "It became a dead letter again.")
        await said(app, "✓ done 1 · ✗ failed 1 · not started 5 · = 7 rows")
        await said(app, "▸ 2 ✗ failed")
        while fake.recoveries.step(recovery):
            pass
        await said(app, "✓ Every row had its turn")
        await pilot.press("backspace")
        await said(app, "✓ done tern-42")


@pytest.mark.requirement("MONEY-1")
async def test_money_is_left_out_for_an_operator_and_takes_a_code_of_finance() -> None:
    fake = night(money=True)
    async with at_place(fake, "9") as (app, pilot):
        await pilot.press("Q")
        form = await dialog(app, RecoveryForm)
        type_into(form, reason="the bank is back")
        press(form)
        await until(app, lambda: isinstance(app.screen, RecoveryScreen), "the preview")
        await said(app, "1 moves money")
        await pilot.press("tab")
        await said(app, "a person with payout.release (finance) replays it")
        assert all(row.schedule == "statements.nightly" for row in made(fake).rows)
    async with at_place(fake, "9", person="m.ito") as (app, pilot):
        await pilot.press("Q")
        form = await dialog(app, RecoveryForm)
        type_into(form, reason="the bank is back")
        press(form)
        await until(app, lambda: isinstance(app.screen, RecoveryScreen), "the preview")
        await said(app, "GBP 18,942.45 in 38")
        await said(app, "✓ every row was checked")
        await pilot.press("C")
        confirm = await dialog(app, RecoveryConfirm)
        press(confirm)
        await said(app, "Type the six digits from your phone.")
        await pilot.press("9", "9", "9", "9", "9", "9")
        press(confirm)
        await said(app, "That code is not right. 4 tries left.")
        assert made(fake).state is RecoveryState.OPEN
        confirm.code.value = fake.bulk.codes.fresh("m.ito")
        press(confirm)
        await until(app, lambda: made(fake).state is RecoveryState.APPLYING, "its confirmation")


@pytest.mark.requirement("TUI-04")
async def test_in_the_smallest_window_a_refused_code_leaves_both_buttons_in_sight() -> None:
    fake = night(money=True)
    await frozen(fake, "m.ito")
    async with at_place(fake, "9", person="m.ito") as (app, pilot):
        await pilot.press("enter")
        await said(app, "✓ every row was checked")
        await pilot.press("C")
        confirm = await dialog(app, RecoveryConfirm)
        await pilot.resize_terminal(40, 10)
        confirm.code.value = "999999"
        press(confirm)
        await until(app, lambda: confirm.query_one("#fault").size.height == 2, "what became of it, in two lines")
        assert confirm.query_one("#title").size.height == 2
        for button in (confirm.cancel_button, confirm.act_button):
            region = confirm.find_widget(button)
            assert region.visible_region == region.region, button.id


async def test_what_changed_meanwhile_is_listed_and_n_makes_a_new_one_of_the_same_set() -> None:
    fake = night()
    order = await frozen(fake)
    async with at_place(fake, "9") as (app, pilot):
        await pilot.press("enter")
        await said(app, "✓ every row was checked")
        fake.jobs.end(made(fake).rows[0].key, OccurrenceState.COMPLETED)
        await pilot.press("C")
        press(await dialog(app, RecoveryConfirm))
        await said(app, "▲ 1 row changed since it was frozen:")
        assert "dead-letter → completed" in flat(app)
        await pilot.press("n")
        await until(app, lambda: len(fake.recoveries.all) == 2, "the new one")
        await said(app, "with 7 rows as they are now")
        first = fake.recoveries.all[order.id]
        assert (first.state, made(fake).order.reason) == (RecoveryState.DROPPED, "the mail server is back")


async def test_a_row_is_taken_out_and_the_rest_is_dropped_with_a_reason() -> None:
    fake = night()
    await frozen(fake)
    async with at_place(fake, "9") as (app, pilot):
        await pilot.press("enter")
        await said(app, "✓ every row was checked")
        await pilot.press("t")
        await said(app, "The recovery is frozen anew, with 7 rows.")
        await said(app, "1 taken out")
        await said(app, "✓ every row was checked")
        await pilot.press("X")
        form = await dialog(app, OrderForm)
        assert "jobconsole recoveries drop tern-42 --reason" in flat(app)
        give(form, reason="not tonight")
        await said(app, "Dropped: nothing of it was done.")
        assert made(fake).state is RecoveryState.DROPPED


async def test_it_is_paused_resumed_and_aborted_with_reasons_that_are_seen() -> None:
    fake = night()
    found = await frozen(fake)
    service = fake.service("o.lind")
    await recoveries.confirm(service, found.id, await recoveries.digest_of(service, found), None, new_key())
    async with at_place(fake, "9") as (app, pilot):
        await pilot.press("enter")
        await said(app, "▶ applying")
        for key, reason, words, state in (
            ("p", "odd errors", "‖ paused by you: odd errors", RecoveryState.PAUSED),
            ("r", "they are known", "Resumed: it goes on.", RecoveryState.APPLYING),
            ("A", "enough", "enough. What had begun goes on to its end.", RecoveryState.ABORTED),
        ):
            await pilot.press(key)
            give(await dialog(app, OrderForm), reason=reason)
            await said(app, words)
            assert made(fake).state is state


async def test_marked_schedules_are_disabled_as_one_recovery() -> None:
    fake = night()
    fake.jobs.add("invoices.import", every=3600)
    async with at_place(fake, "5") as (app, pilot):
        await pilot.press("space", "space", "O")
        form = await dialog(app, RecoveryForm)
        assert form.asking.schedules == ("invoices.import", "payouts.bank-opens")
        type_into(form, until="yesterday", reason="the bank is closed")
        press(form)
        await said(app, "That is in the past")
        type_into(form, until="+2h")
        press(form)
        await said(app, "Disable 2 schedules · tern-42")
        await said(app, "✓ every row was checked")
        assert made(fake).order.disable_until is not None


async def test_marked_occurrences_are_requeued() -> None:
    fake = night()
    async with at_place(fake, "5") as (app, pilot):
        await pilot.press("end", "enter", "v", "v", "v")
        await said(app, "[dead letters]")
        await idle(app)
        await pilot.press("space", "space", "Q")
        form = await dialog(app, RecoveryForm)
        assert "2 marked occurrences." in flat(app)
        type_into(form, reason="again")
        press(form)
        await until(app, lambda: bool(fake.recoveries.all), "the recovery")
        assert len(made(fake).rows) == 2


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"since": "-1h", "until": "-2h", "reason": "x"}, "The stretch ends before it begins"),
        pytest.param({"reason": "x"}, "Say from when: yesterday 00:00, -12h, 2026-12-01.", marks=pytest.mark.long),
        pytest.param({"since": "soonish", "reason": "x"}, "Soonish is not a time; try", marks=pytest.mark.long),
        pytest.param({"since": "-1h"}, "is needed.", marks=pytest.mark.long),
        pytest.param({"since": "-1m", "reason": "x"}, "Nothing can go into the recovery", marks=pytest.mark.long),
    ],
)
async def test_what_is_wrong_with_a_stretch_is_said_and_nothing_is_made(texts: dict[str, str], sentence: str) -> None:
    fake = night()
    async with at_place(fake, "9") as (app, pilot):
        await pilot.press("y")
        form = await dialog(app, RecoveryForm)
        type_into(form, **texts)
        press(form)
        await said(app, sentence)
        assert not fake.recoveries.all


async def test_who_may_not_and_a_lost_link_make_no_recovery_and_confirm_none() -> None:
    fake = night()
    await frozen(fake)
    async with at_place(fake, "9", person="a.nagy") as (app, pilot):
        await pilot.press("y")
        await said(app, "Replay a stretch of time …: That needs recovery.make (finance or operator or support)")
        await pilot.press("enter", "C")
        await said(app, "Confirm the recovery …: That needs recovery.make")
    async with at_place(fake, "9", person="m.ito") as (app, pilot):
        await pilot.press("enter", "C")
        await said(app, "Confirm the recovery …: it is o.lind's: only its owner does that")
    async with at_place(fake, "9") as (app, pilot):
        await pilot.press("enter")
        await said(app, "✓ every row was checked")
        fake.away = True
        fake.close_streams()
        await until(app, lambda: not app.link.connected, "the lost link")
        await pilot.press("C")
        await said(app, "Confirm the recovery …: not while disconnected")
    assert made(fake).state is RecoveryState.OPEN


async def test_it_cannot_be_confirmed_while_rows_are_unread_nor_once_its_time_is_over() -> None:
    fake = night()
    await frozen(fake)
    async with at_place(fake, "9") as (app, pilot):
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, RecoveryScreen), "the preview")
        screen = app.screen
        assert isinstance(screen, RecoveryScreen)
        await said(app, "✓ every row was checked")
        assert screen.reading is not None
        screen.reading.digest = None
        screen.show_all()
        await pilot.press("C")
        await said(app, "Confirm the recovery …: checked 7 of 8")
        await pilot.press(*"203146")
        await said(app, "The digits went nowhere. No code is asked for: checked 7 of 8")
        assert screen.is_current
        fake.advance(3_600)
        app.service.clock._learned = (fake.time, app.service.clock.monotonic(), 0.0)
        screen.tick()
        await said(app, "– expired")
        assert "Nothing of it was done. n makes a new one of the same set." in flat(app)


async def test_a_disabled_schedule_is_left_out_with_what_to_do() -> None:
    fake = night()
    row = fake.jobs.schedules["statements.nightly"]
    fake.jobs.schedules[row.id] = row.model_copy(update={"standing": ScheduleStanding.DISABLED})
    order = RecoveryOrder(act=RecoveryAct.REPLAY, reason="x", since=START.replace(hour=0), until=START)
    await recoveries.make(fake.service("o.lind"), order, new_key())
    async with at_place(fake, "9") as (app, pilot):
        await pilot.press("enter")
        await said(app, "7 disabled")
