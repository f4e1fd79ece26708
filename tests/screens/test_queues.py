"""Tests of the Queues place, in the words of its person: looking, moving, switching, live changes, being cut off."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest

from jobconsole.client import fake_records
from jobconsole.client.fake import FakeService
from jobconsole.present.link import LinkState
from jobconsole.screens.item import ItemScreen
from jobconsole.screens.queues import QueuesScreen
from jobcontract.routes import EVENTS, QUEUE_ITEMS
from tests.screens.acting_stage import said
from tests.screens.idle import screen_text, until
from tests.screens.stage import (
    DISPUTES,
    KIRAN,
    MIKA,
    PAYOUTS,
    START,
    act,
    also,
    console,
    hold,
    item_screen,
    on_stage,
    queue_screen,
    row_comes,
    scene,
)


def service(rows: int | None = None) -> tuple[FakeService, list[str]]:
    fake = FakeService(start=START)
    if rows is None:
        return fake, scene(fake)
    return fake, [
        fake.queues.add(PAYOUTS, f"Payee {number:04d}", days_old=900 - number, minor=100 * number + 100)
        for number in range(rows)
    ]


def pages(fake: FakeService) -> int:
    return sum(request.url.path == QUEUE_ITEMS.path.format(queue=PAYOUTS) for request in fake.requests)


def mine(screen: QueuesScreen) -> bool:
    item = screen.situation().item
    return item is not None and item.mine


@pytest.mark.requirement("MONEY-01", "order-unscored-queues-by-age")
async def test_the_queue_is_shown_oldest_first_with_amount_before_name() -> None:
    fake, ids = service()
    hold(fake, ids[2], MIKA, seconds=2467)
    hold(fake, ids[3], KIRAN)
    async with on_stage(fake) as (app, screen, _):
        text = screen_text(app)
        assert "Supplier payouts   12 waiting · GBP out 115,907.73 back 1,545.22" in text
        assert "oldest first" in text
        assert [screen.listing.key(at) for at in range(12)] == ids
        row = next(line for line in text.splitlines() if "Premier Plant Hire" in line)
        assert row.split() == ["−GBP", "1,545.22", "…8120", "Premier", "Plant", "Hire", "○", "free"]
        assert "◆ me 41:0" in text
        assert "◆ k.rao" in text
        assert "12 days old · invoice on file" in text


async def test_the_console_opens_on_the_payouts_and_not_on_the_uncertain_ones_wherever_they_are_listed() -> None:
    fake, _ = service()
    fake.queues.queues = (fake_records.UNCERTAIN, *fake.queues.queues)
    async with on_stage(fake) as (app, _, _):
        assert "Supplier payouts   12 waiting" in screen_text(app)


@pytest.mark.requirement("MONEY-01")
async def test_yen_and_dinars_have_their_own_decimals() -> None:
    fake, _ = service()
    async with on_stage(fake, size=(160, 40)) as (app, _, _):
        text = screen_text(app)
        assert "JPY 150,000 " in text
        assert "KWD 1,250.500" in text
        assert "JPY out 150,000 · KWD out 1,250.500" in text


async def test_the_switcher_the_list_and_the_detail_stand_side_by_side_when_wide() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA, seconds=2467)
    async with on_stage(fake, size=(140, 40)) as (app, _, _):
        parts = [line.split("│") for line in screen_text(app).splitlines() if line.count("│") == 2]
        switcher, rows, detail = ("\n".join(part[at] for part in parts) for at in range(3))
        assert "▸ Supplier payouts 12" in switcher
        row = next(line for line in rows.splitlines() if "Booker Food" in line)
        assert row.startswith("▸   GBP 5,616.65  …0093") or row.startswith("▸   GBP 5,616.65 …0093")
        assert "12 d · invoice on file" in row
        assert "◆ me 41:0" in row
        assert "Booker Food" in detail
        assert "holder   ◆ you" in detail


async def test_d_folds_the_detail_and_the_row_keeps_its_inputs() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        assert "holder   ○ free" in screen_text(app)
        await pilot.press("d")
        assert "holder   ○ free" not in screen_text(app)
        assert "12 days old · invoice on file" in screen_text(app)
        await pilot.press("d")
        assert "holder   ○ free" in screen_text(app)
        assert screen.pane.display


async def test_further_pages_come_when_the_end_nears_and_only_then() -> None:
    fake, ids = service(250)
    async with on_stage(fake) as (app, screen, pilot):
        assert len(screen.listing) == 100
        before = pages(fake)
        await pilot.press("down", "down")
        assert pages(fake) == before
        screen.table.move_to(ids[80])
        await until(app, lambda: len(screen.listing) == 200, "the second page")
        screen.table.move_to(ids[180])
        await until(app, lambda: len(screen.listing) == 250, "the third page")
        await pilot.press("end")
        assert screen.table.cursor_key == ids[-1]
        assert [screen.listing.key(at) for at in range(250)] == ids


async def test_queues_are_switched_by_key_and_by_name() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("[")
        await until(app, lambda: screen.queue and screen.queue.id == DISPUTES and len(screen.listing) == 1, "disputes")
        await pilot.press("]")
        await until(app, lambda: screen.queue and screen.queue.id == PAYOUTS and len(screen.listing) == 12, "payouts")
        await pilot.press(":", *"disputes", "enter")
        await until(app, lambda: screen.queue and screen.queue.id == DISPUTES and len(screen.listing) == 1, "disputes")
        assert "Duplicate of invoice" in screen_text(app)


async def test_a_queue_is_reached_by_its_name_from_another_place_and_from_an_item() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("2")
        await until(app, lambda: app.screen is not screen, "another place")
        await pilot.press(":", *DISPUTES, "enter")
        await until(app, lambda: app.screen is screen, "the place of the queues")
        await until(app, lambda: screen.queue and screen.queue.id == DISPUTES and len(screen.listing) == 1, "disputes")
        await pilot.press("]")
        await until(app, lambda: screen.queue and screen.queue.id == PAYOUTS and len(screen.listing) == 12, "payouts")
        screen.table.move_to(ids[0])
        await pilot.press("enter")
        await item_screen(app)
        await pilot.press(":", *"disputes", "enter")
        await until(app, lambda: app.screen is screen, "the queues, without the item in front of them")
        await until(app, lambda: screen.queue and screen.queue.id == DISPUTES and len(screen.listing) == 1, "disputes")
        await pilot.press("2", ":", *"nothing-of-this", "enter")
        await said(app, "There is no place, queue or command nothing-of-this.")


async def test_a_queue_that_is_named_before_the_place_has_read_its_queues_is_shown_first() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        screen.queues, screen.queue = (), None
        await pilot.press("2", ":", *DISPUTES, "enter")
        await until(app, lambda: app.screen is screen and screen.wanted == DISPUTES, "the place of the queues")
        screen.refresh_all()
        await until(app, lambda: screen.queue and screen.queue.id == DISPUTES and len(screen.listing) == 1, "disputes")


async def test_one_item_has_a_screen_of_its_own_and_a_key_besides_escape_leads_back() -> None:
    fake, ids = service()
    hold(fake, ids[0], KIRAN)
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("enter")
        screen = await item_screen(app)
        text = screen_text(app)
        assert "GBP 5,616.65  …0093  Booker Food Services" in text
        assert "k.rao · 09:00 GMT – holds it, until 10:00 GMT" in text
        assert "nothing was done yet" in text
        await pilot.press("q")
        await until(app, lambda: isinstance(app.screen, QueuesScreen), "the list")
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, ItemScreen), "the item")
        await pilot.press("backspace")
        await until(app, lambda: isinstance(app.screen, QueuesScreen), "the list")
        assert screen is not app.screen


async def test_a_colleagues_claim_appears_by_itself_on_both_screens() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        hold(fake, ids[4], KIRAN)
        await row_comes(app, screen, ids[4], "◆ k.rao")
        await pilot.press("enter")
        await item_screen(app)
        hold(fake, ids[0], KIRAN)
        await until(app, lambda: "◆ k.rao (Kiran Rao)" in screen_text(app), "the colleague on the item's screen")


async def test_cursor_and_marks_stay_on_their_items_when_the_list_moves() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("down", "down", "space", "space", "up")
        cursor, marks = screen.table.cursor_key, screen.table.marks
        assert marks == {ids[2], ids[3]}
        fake.queues.add(PAYOUTS, "Much older", days_old=90, minor=100)
        act(fake, ids[0], "reject", KIRAN, reason="double")
        await until(app, lambda: len(screen.listing) == 12 and screen.listing.index(ids[0]) is None, "the change")
        assert (screen.table.cursor_key, screen.table.marks) == (cursor, marks)
        act(fake, ids[2], "reject", KIRAN, reason="double")
        await until(app, lambda: screen.table.marks == {ids[3]}, "the mark of a row that left is gone")
        await pilot.press("U")
        assert not screen.table.marks


async def test_the_row_under_the_cursor_is_never_taken_away_under_the_hand() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("down")
        act(fake, ids[1], "reject", KIRAN, reason="double")
        await row_comes(app, screen, ids[1], "✗ rejected")
        assert screen.table.cursor_key == ids[1]
        await pilot.press("x")
        assert "the item is" in screen_text(app) or "not while" in screen_text(app)
        await pilot.press("down")
        assert screen.table.cursor_key == ids[2]
        assert screen.listing.index(ids[1]) is None


async def test_many_hints_are_few_requests() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, _):
        before = pages(fake)
        for _ in range(40):
            for key in ids:
                fake.queues.changed(fake.queues.items[key])
        hold(fake, ids[5], KIRAN)
        await row_comes(app, screen, ids[5], "◆ k.rao")
        assert pages(fake) - before <= 6


@pytest.mark.requirement("release-claims-past-their-lease")
async def test_a_claim_counts_down_and_lapses_on_the_screen_by_itself() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA, seconds=320)
    async with on_stage(fake) as (app, screen, _):
        clock = app.service.clock
        assert "◆ me 5:" in screen_text(app)
        clock._learned = (fake.time.replace(minute=0, second=50), clock.monotonic(), 0.0)
        screen.tick()
        await until(app, lambda: "▲ me 4:" in screen_text(app), "lapsing, in symbol and word")
        assert "lapsing" in screen_text(app)
        assert mine(screen)
        clock._learned = (fake.time.replace(minute=6), clock.monotonic(), 0.0)
        screen.tick()
        await until(app, lambda: "○ free, lapsed" in screen_text(app), "the lapse")
        assert not mine(screen)
        assert not [request for request in fake.requests if "renew" in request.url.path]


@pytest.mark.requirement("TUI-07")
async def test_cut_off_the_rows_stay_stale_and_acts_are_refused_with_the_reason() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        fake.away = True
        fake.close_streams()
        await until(app, lambda: app.link.state is LinkState.STALE, "the broken link")
        await until(app, lambda: screen.table.has_class("-stale"), "stale rows")
        text = screen_text(app)
        assert "stale since" in text
        assert "Booker Food Services" in text
        sent = len(fake.requests)
        await pilot.press("c")
        assert "Claim: not while disconnected" in screen_text(app)
        assert not [request for request in fake.requests[sent:] if request.method == "POST"]
        fake.away = False
        hold(fake, ids[1], KIRAN)
        await until(app, lambda: app.link.state is LinkState.LIVE, "the link regained")
        await row_comes(app, screen, ids[1], "◆ k.rao")
        assert not screen.table.has_class("-stale")


@pytest.mark.requirement("TUI-07")
async def test_a_list_that_cannot_be_loaded_says_why_and_comes_with_a_refresh() -> None:
    fake, _ = service()
    broken = True

    async def answer(request: httpx.Request) -> httpx.Response:
        if broken and request.url.path.endswith("/items"):
            return httpx.Response(500, text="not json [/]")
        return await fake.handle(request)

    app = console(fake, transport=httpx.MockTransport(answer))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(app, lambda: isinstance(app.screen, QueuesScreen) and app.screen.failure, "the failure")
        screen = queue_screen(app)
        assert screen.failure.split()[0] in screen_text(app)
        broken = False
        await pilot.press("r")
        await until(app, lambda: len(screen.listing) == 12, "the list")
        assert not screen.failure


@pytest.mark.requirement("TUI-07")
async def test_a_token_that_ended_leaves_the_rows_and_says_so() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        fake.signed_out.add("m.ito")
        await pilot.press("r")
        await until(app, lambda: app.session is None, "the end of the session")
        text = screen_text(app)
        assert "Booker Food Services" in text
        await pilot.press("c")
        assert "sign in first" in screen_text(app)
        screen.tick()


async def test_paused_the_rows_stand_still() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("p")
        await until(app, lambda: app.link.state is LinkState.PAUSED, "the pause")
        hold(fake, ids[1], KIRAN)
        await pilot.pause(0.3)
        assert "k.rao" not in screen_text(app)
        await pilot.press("p")
        await row_comes(app, screen, ids[1], "◆ k.rao")


@pytest.mark.parametrize("size", [(80, 24), *also((40, 10), (60, 15), (140, 40), (200, 60))])
async def test_every_size_shows_amount_account_and_the_keys(size: tuple[int, int]) -> None:
    fake, _ = service()
    async with on_stage(fake, size=size) as (app, _, pilot):
        assert re.search("−GBP 1,545.22 {1,2}…8120", screen_text(app))
        for other in ((80, 24), (40, 10), (140, 40), size):
            await pilot.resize_terminal(*other)
            await pilot.pause()
            assert "−GBP 1,545.22" in screen_text(app)
            assert all(len(line) <= other[0] for line in screen_text(app).splitlines())


async def test_a_person_who_may_only_look_is_told_who_may_act() -> None:
    fake, _ = service()
    async with on_stage(fake, person="o.lind") as (app, _, pilot):
        await pilot.press("c")
        told = "That needs queue.claim (finance). Ask an administrator of leeds to have it granted on the server."
        assert told in " ".join(screen_text(app).split())


async def test_a_read_only_profile_only_looks() -> None:
    fake, _ = service()
    async with on_stage(fake, options={"read_only": True}) as (app, _, pilot):
        await pilot.press("c")
        assert "this profile only looks" in screen_text(app)
        assert not [request for request in fake.requests if request.method == "POST"]


async def test_the_id_is_copied_and_it_is_said_what_is_known() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("y")
        assert app.clipboard == ids[0]
        assert "Sent to your terminal's clipboard" in screen_text(app)


@pytest.mark.requirement("HTTP-01")
async def test_what_changed_between_the_first_page_and_the_opening_of_the_stream_comes_by_itself() -> None:
    fake = FakeService(start=START)
    scene(fake)
    added: list[str] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == EVENTS.path and not added:
            await read.wait()
            added.append(fake.queues.add(PAYOUTS, "Late Arrivals Ltd", days_old=30, minor=100))
        response = await fake.handle(request)
        if request.url.path.endswith("/items"):
            read.set()
        return response

    read = asyncio.Event()
    async with on_stage(fake, transport=httpx.MockTransport(answer)) as (app, screen, _):
        await until(app, lambda: added and screen.listing.index(added[0]) is not None, "the row that no hint told of")
