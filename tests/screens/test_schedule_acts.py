"""Running, disabling and enabling a schedule from its place: allowed, refused, with wrong input, on a lost connection; the
headless command that the dialog shows is the one that does the same."""

from __future__ import annotations

from datetime import timedelta

import pytest
from textual.widgets import Button, Input

from jobconsole.client.fake import FakeService
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.simulator import SimulatorScreen
from jobconsole.screens.simulator_form import SimulatorForm
from jobconsole.widgets.form import InstantField, Prose
from jobconsole.widgets.lines import Lines
from jobcontract.states import OccurrenceOrigin
from tests.present.scheduled import NOW
from tests.screens.act_stage import BY_HAND, HOUR, HOURLY, MONEY, REASON, acting, asked_of, faults, order, send, staged
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.stage import also

GUARDED = pytest.mark.requirement("run-manual-jobs-under-their-guard")
RUNBOOKS = pytest.mark.requirement("provide-operational-recovery-procedures")


def acts(fake: FakeService) -> list[str]:
    """Routes that were acted on, in their order."""
    return [request.url.path.rpartition("/")[2] for request in fake.requests if request.method == "POST"]


@RUNBOOKS
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 16))])
async def test_disabling_takes_a_reason_and_a_time_and_everybody_sees_both(size: tuple[int, int]) -> None:
    fake = staged()
    async with acting(fake, size=size) as (app, screen, pilot):
        assert screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("D")
        form = await order(app)
        assert form.focused is form.query_one(Prose), "what has to be said comes first, never the act"
        assert str(form.act_button.label) == "Disable the schedule"
        form.act_button.press()
        await until(app, lambda: faults(form), "what is missing")
        assert faults(form) == "Why is needed."
        ends = form.query_one(InstantField).query_one(Input)
        ends.value = "yesterday 9:00"
        form.query_one(Prose).text = "bank down: it's closed"
        form.act_button.press()
        await until(app, lambda: "in the past" in faults(form), "that it is in the past")
        assert acts(fake) == []
        ends.value = "+4h"
        await until(app, lambda: "--until" in (form.copyable() or ""), "the command")
        command = form.copyable()
        assert command is not None
        assert command.startswith(
            f"""jobconsole schedules disable {HOURLY} --reason 'bank down: it'"'"'s closed' --until 2026"""
        )
        if size[1] > 16:
            assert "jobconsole schedules disable statements.hourly --reason" in flat(app), "in sight without scrolling"
        await pilot.press("ctrl+c")
        assert app.clipboard.partition(" --until ")[0] == command.partition(" --until ")[0], "it moves on with +4h"
        form.act_button.press()
        await until(app, lambda: not isinstance(app.screen, OrderForm), "the end of the dialog")
        await idle(app)
        off = fake.jobs.schedules[HOURLY].disabled
        assert off is not None
        assert off.until is not None
        assert (off.by.id, off.reason) == ("o.lind", "bank down: it's closed")
        assert timedelta(0) <= off.until - (NOW + 4 * HOUR) < timedelta(minutes=1)
        await said(app, "‖ disabled by o.lind until")
        told = str(screen.query_one("#brief", Lines).content)  # beside the list its lines are broken by the list's
        assert "bank down: it's closed" in " ".join(told.split())
        assert "1 disabled" in flat(app)
        await pilot.press("D")
        form = await order(app)
        assert "It stays disabled for longer" in asked_of(form)
        assert str(form.act_button.label) == "Disable it for longer"
        assert acts(fake) == ["disable"]


@RUNBOOKS
async def test_enabling_says_what_is_made_up_for_before_it_asks_and_only_then_switches_on() -> None:
    fake = staged()
    async with acting(fake) as (app, screen, pilot):
        assert screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("D")
        await send(app, await order(app))
        fake.advance(3.5 * 3_600)
        app.service.clock._learned = (fake.time, app.service.clock.monotonic(), 0.0)
        await pilot.press("E")
        form = await order(app)
        told = asked_of(form)
        assert "Makes up for 1 and skips 2." in told
        assert "makes up 2026-10-25 01:00Z" in told
        assert "skips 2 from 2026-10-24 23:00Z to 2026-10-25 00:00Z · The latest missed one runs." in told
        assert f'by o.lind 3 h 30 min ago: "{REASON}"' in told
        assert acts(fake) == ["disable"], "looking changes nothing"
        await pilot.press("escape")
        await until(app, lambda: app.screen is screen, "the place")
        assert fake.jobs.schedules[HOURLY].disabled is not None
        await pilot.press("E")
        await send(app, await order(app))
        await said(app, "statements.hourly is enabled. Makes up for 1 and skips 2.")
        assert fake.jobs.schedules[HOURLY].disabled is None


@GUARDED
async def test_a_manual_schedule_shows_its_guard_and_a_refusal_stays_in_the_dialog_with_what_was_typed() -> None:
    fake = staged()
    fake.acts.closed[BY_HAND] = (
        "accounts.close may be run Mon to Fri 08:00 to 18:00 UTC: next on Mon 2026-10-26 08:00 UTC."
    )
    async with acting(fake) as (app, screen, pilot):
        table = screen.query_one("#schedules")
        table.move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("N")
        await said(app, "it runs by itself: only a manual one is run by hand")
        table.move_to(BY_HAND)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("N")
        form = await order(app)
        told = asked_of(form)
        for words in ("who whoever has schedule.run", "when Mon to Fri 08:00 to 18:00 UTC", "where night, day"):
            assert words in told
        await send(app, form)
        assert "next on Mon 2026-10-26 08:00 UTC." in faults(form)
        assert form.query_one(Prose).text == REASON
        assert not fake.jobs.occurrences
        fake.acts.closed.clear()
        form.act_button.press()
        await said(app, "accounts.close@2026-10-24T22:00:00Z was made; it starts once a Worker is free.")
        made = list(fake.jobs.occurrences.values())
        assert [each.origin for each in made] == [OccurrenceOrigin.MANUAL]


@RUNBOOKS
@pytest.mark.parametrize(
    ("key", "schedule", "person", "why"),
    [
        ("D", HOURLY, "a.nagy", "That needs schedule.disable (operator). Ask an administrator of leeds"),
        ("E", HOURLY, "o.lind", "it is not disabled"),
        ("N", BY_HAND, "m.ito", "That needs schedule.run (operator). Ask an administrator of leeds"),
    ],
)
async def test_what_may_not_be_done_says_why_and_opens_nothing(key: str, schedule: str, person: str, why: str) -> None:
    fake = staged()
    async with acting(fake, person=person) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(schedule)  # type: ignore[attr-defined]  # the place's table
        await pilot.press(key)
        await said(app, why)
        assert app.screen is screen
        assert acts(fake) == []


@RUNBOOKS
async def test_on_a_lost_connection_nothing_acts_and_a_lost_answer_is_looked_for_once() -> None:
    fake = staged()
    async with acting(fake) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("D")
        form = await order(app)
        fake.lost = 1
        await send(app, form)
        await until(app, lambda: not isinstance(app.screen, OrderForm), "the end of the dialog")
        entries = [each for each in fake.audit if each.action == "disable-schedule"]
        assert [each.outcome for each in entries] == ["done"], "sent again under its key: it happened once"
        fake.away = True
        fake.close_streams()
        await until(app, lambda: not app.link.connected, "the end of the link")
        await pilot.press("E")
        await said(app, "not while disconnected")
        assert app.screen is screen


async def test_what_moves_money_is_marked_in_list_and_detail() -> None:
    fake = staged()
    async with acting(fake, size=(120, 30)) as (app, screen, pilot):
        assert screen.query_one("#schedules").move_to(MONEY)  # type: ignore[attr-defined]  # the place's table
        await pilot.pause()
        await idle(app)
        assert "releases.bank-opens ¤" in flat(app)
        assert "¤ moves money: only a recovery" in flat(app)


async def test_the_bottom_line_leads_with_why_inspect_disable_and_simulate() -> None:
    async with acting(staged()) as (app, screen, _):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await until(app, lambda: "w why · i inspect · D disable… · m simulate" in flat(app), "the keys")


async def test_the_safe_button_goes_back_without_anything_done() -> None:
    fake = staged()
    async with acting(fake) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("D")
        form = await order(app)
        form.query_one(Prose).text = REASON
        form.query_one("#cancel", Button).press()
        await until(app, lambda: app.screen is screen, "the place")
        assert acts(fake) == []


async def test_fast_keys_never_put_one_dialog_over_another() -> None:
    fake = staged()
    async with acting(fake) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await idle(app)

        def fast() -> None:
            screen.action_run_command("schedule.disable")  # its dialog is on its way
            screen.action_run_command("schedule.simulate")
            screen.action_run_command("schedule.simulate")  # another screen is in front by now

        screen.call_later(fast)
        await until(app, lambda: isinstance(app.screen, SimulatorForm), "the form")
        mine = [each for each in app.workers if each.node is screen and each.group == "commands"]
        await until(app, lambda: all(each.is_finished for each in mine), "the end of the other command")
        assert not [each for each in app.screen_stack if isinstance(each, OrderForm)]
        assert len([each for each in app.screen_stack if isinstance(each, SimulatorScreen)]) == 1
        await pilot.press("escape")
        await until(app, lambda: isinstance(app.screen, SimulatorScreen), "the simulator")
        await pilot.press("backspace")
        await until(app, lambda: app.screen is screen, "the place")
        await pilot.press("D")
        await order(app)
