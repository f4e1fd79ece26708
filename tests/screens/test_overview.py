"""The overview, alarms and stops on the screen: what needs somebody first, each line one key from its place; who looks after
what; what is held still, seen by everyone, lifted by who may."""

from __future__ import annotations

import pytest

from jobconsole.app import Console
from jobconsole.client.fake_job_examples import furnish
from jobconsole.client.fake_jobs import FakeReach
from jobconsole.places import PLACES
from jobconsole.screens.alarms import AlarmsScreen
from jobconsole.screens.dead_letters import DeadLettersScreen
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.overview import OverviewScreen
from jobconsole.screens.queues import QueuesScreen
from jobconsole.screens.stops import StopsScreen
from jobcontract.operating import AlarmKind, StopScope
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.job_stage import on_jobs
from tests.screens.money_stage import closed, give
from tests.screens.recovery_stage import OLLE, at_place, dialog, night, troubled
from tests.screens.stage import KIRAN, also

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


def ticked(app: Console) -> str:
    """The screen a second later."""
    app.tick()
    return flat(app)


@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_what_needs_somebody_comes_first_in_one_request_and_each_line_leads_to_its_place(
    size: tuple[int, int],
) -> None:
    fake = troubled()
    async with at_place(fake, "0", size=size) as (app, pilot):
        screen = app.place_screen
        assert isinstance(screen, OverviewScreen)
        await said(app, "■ queue Supplier payouts · o.lind: drill")
        assert sum(request.url.path == "/v1/overview" for request in fake.requests) == 1
        lines = [screen.rows.key(at) for at in range(len(screen.rows)) if not screen.rows.key(at).startswith("#")]
        assert [key.partition(":")[0] for key in lines[:4]] == ["stops", "alarm", "alarm", "dead"]
        for line, kind in (("stops", StopsScreen), ("alarm", AlarmsScreen), ("dead", DeadLettersScreen)):
            screen.table.move_to(next(key for key in lines if key.startswith(line)))
            await pilot.press("enter")
            await until(app, lambda kind=kind: isinstance(app.screen, kind), kind.__name__)  # type: ignore[misc]
            await idle(app)
            await pilot.press("backspace")
            await until(app, lambda: app.screen is screen, "the way back")
        screen.table.move_to("queue:payments.disputes")
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, QueuesScreen) and app.screen.queue, "the queue")
        await said(app, "Supplier disputes")


async def test_the_cursor_goes_over_the_headings_and_the_last_day_is_drawn_with_its_words() -> None:
    fake = troubled()
    async with at_place(fake, "0", size=(100, 30)) as (app, pilot):
        screen = app.place_screen
        assert isinstance(screen, OverviewScreen)
        await said(app, "queues, the oldest item first")
        seen = set()
        for key in ("j",) * 12 + ("k",) * 14:
            await pilot.press(key)
            assert screen.selected() is not None
            seen.add(screen.table.cursor_key)
        assert len(seen) > 7
        assert "completed ▁" in flat(app)
        assert "6 in all · at most 1 in an hour" in flat(app)
        assert "dead" in flat(app)


async def test_it_looks_again_at_a_hint_and_says_when_nothing_needs_anybody() -> None:
    fake = night()
    fake.jobs.occurrences.clear()
    async with at_place(fake, "0", person="a.nagy") as (app, _):
        await said(app, "✗ no Worker No Worker is live: what is due waits.")
        fake.alarms.add(AlarmKind.WORKER_MISSING, "a7", "Worker a7 is gone.")
        await said(app, "a7 · Worker a7 is gone.")
        await until(app, lambda: "▲ 1 alarm " in ticked(app), "the count in the top line")
        for alarm in list(fake.alarms.all):
            fake.alarms.clear(alarm)
        await until(app, lambda: "▲ 1 alarm " not in ticked(app), "the end of the count")


async def test_a_role_that_may_read_none_of_it_is_not_told_zeros() -> None:
    fake = troubled()
    async with at_place(fake, "0", person="i.feed") as (app, pilot):
        await until(app, lambda: app.session is not None, "signing in")
        await pilot.press("0", "r")
        await said(app, "✓ Nothing needs you. Looked at: stops")
        shown = flat(app)
        assert "dead" not in shown.partition("Looked at")[0]
        assert "last 24 hours" not in shown


async def test_an_alarm_is_acknowledged_with_a_note_that_everybody_sees() -> None:
    fake = troubled()
    async with at_place(fake, "7") as (app, pilot):
        await said(app, "Alarms · 2 open · 2 nobody looks after yet")
        await said(app, "others were told of it by webhook")
        await pilot.press("j")
        await said(app, "is not tried again: the receiver answered 503")
        await pilot.press("A")
        form = await dialog(app, OrderForm)
        assert "jobconsole alarms acknowledge" in flat(app)
        give(form)
        await said(app, "is needed.")
        give(form, reason="asked the mail people")
        await said(app, "Olle Lind (o.lind) looks after it since")
        await said(app, "1 nobody looks after yet")
        await pilot.press("enter")
        await until(app, lambda: app.place_screen.PLACE == "schedules", "its schedule")
        await said(app, "▸ ")
        assert app.place_screen.situation().schedule == "statements.nightly"
    async with at_place(fake, "7", person="a.nagy") as (app, pilot):
        await pilot.press("A")
        await said(app, "Acknowledge the alarm …: That needs alarm.acknowledge (finance or operator)")


@pytest.mark.requirement("MONEY-20")
async def test_all_work_is_stopped_from_the_overview_and_lifted_while_money_stays_stopped() -> None:
    fake = night()
    async with at_place(fake, "0") as (app, pilot):
        await pilot.press("S")
        form = await dialog(app, OrderForm)
        assert "jobconsole stops stop tenant leeds --reason" in flat(app)
        give(form, reason="the store is odd")
        await closed(app)
        assert (StopScope.TENANT, "leeds") in fake.stops.stops
        assert fake.bulk.money.stopped
        await said(app, "■ money stopped by o.lind 09:00: the store is odd")
        await said(app, "■ all work All work · o.lind: the store is odd")
        await pilot.press("=")
        await said(app, "Stops · 1 in force")
        await pilot.press("u")
        give(await dialog(app, OrderForm), reason="it is well again")
        await closed(app)
        assert not fake.stops.stops
        assert fake.bulk.money.stopped


@pytest.mark.requirement("MONEY-20")
async def test_a_stopped_queue_says_so_in_its_title_and_a_command_takes_the_code_of_another_person() -> None:
    fake = night()
    fake.stops.put(StopScope.BULK_COMMAND, "payments.release-many", KIRAN, "wrong accounts")
    async with at_place(fake, "1", person="m.ito") as (app, pilot):
        await pilot.press("S")
        give(await dialog(app, OrderForm), reason="drill")
        await said(app, "Supplier payouts ■ Stopped by Mika Ito since 2026-03-02 09:00 UTC: drill.")
        await pilot.press("c")
        await said(app, "Queue payments.payouts is stopped since 2026-03-02 09:00:00 UTC, by Mika Ito: drill.")
        await pilot.press("=")
        await said(app, "Stops · 2 in force")
        screen = app.place_screen
        assert isinstance(screen, StopsScreen)
        screen.table.move_to("bulk-command:payments.release-many")
        await pilot.press("u")
        form = await dialog(app, OrderForm)
        give(form, reason="they are right", code="99999")
        await said(app, "A code has six digits; this one has 5.")
        give(form, reason="they are right", code=fake.bulk.codes.fresh("m.ito"))
        await closed(app)
        assert [scope for scope, _ in fake.stops.stops] == [StopScope.QUEUE]
    fake.stops.put(StopScope.BULK_COMMAND, "payments.release-many", OLLE, "drill")
    async with at_place(fake, "=", person="o.lind") as (app, pilot):
        await said(app, "Stops · 2 in force")
        await pilot.press("j", "u")
        await said(app, "Lift the stop …: you stopped it: another person lifts it")


async def test_a_stop_is_not_for_who_may_only_look() -> None:
    fake = night()
    async with at_place(fake, "0", person="a.nagy") as (app, pilot):
        await pilot.press("S")
        await said(app, "Stop work …: That needs work.stop (finance or operator)")
    assert not fake.stops.stops
    assert {place.key for place in PLACES} >= {"0", "7", "9"}


@pytest.mark.parametrize(
    ("customer", "words"), [("C-1042", "2 failures that nobody resolved"), ("C-none", "Nothing needs you")]
)
async def test_support_sees_that_jobs_of_its_customers_failed_and_of_no_others(customer: str, words: str) -> None:
    fake = night()
    furnish(fake.account)
    fake.account.reach["s.bell"] = FakeReach(customers=frozenset({customer}))
    async with on_jobs(fake, person="s.bell") as (app, _, pilot):
        await pilot.press("0")
        await said(app, words)
