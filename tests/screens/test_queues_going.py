"""Tests of going anywhere in a long list: its ends, a score, an item, back; and of what live changes do meanwhile."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from textual.widgets import Input

from jobconsole.client.fake import FakeService
from jobconsole.present.link import LinkState
from jobconsole.screens.go_to import GoToScreen
from jobconsole.screens.queues_going import read_score
from jobcontract.routes import QUEUE_ITEMS
from jobcontract.states import ItemView
from tests.screens.idle import idle, screen_text, until
from tests.screens.stage import KIRAN, PAYOUTS, START, act, hold, on_stage, scene

PAGE, PAGES_MOST = 40, 4
ITEMS = QUEUE_ITEMS.path.format(queue=PAYOUTS)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("queues_listing.PAGE", "queues_fetching.PAGE"):
        monkeypatch.setattr(f"jobconsole.screens.{name}", PAGE)
    for name in ("queues_listing.PAGES_MOST", "queues_fetching.PAGES_MOST"):
        monkeypatch.setattr(f"jobconsole.screens.{name}", PAGES_MOST)
    monkeypatch.setattr("jobconsole.screens.queues_fetching.AHEAD", 10)
    monkeypatch.setattr("jobconsole.screens.queues_fetching.PAUSE_SECONDS", 0.02)


def long(rows: int = 240) -> tuple[FakeService, list[str]]:
    """A long queue; the ids of its items in the order of the list. The first tenth has 52 points, the next 40 ..."""
    fake = FakeService(start=START)
    for number in range(rows):
        fake.queues.add(PAYOUTS, f"Payee {number:04d}", days_old=8 - number * 9 // rows, minor=100 + number)
    return fake, [row.id for row in fake.queues.listed(PAYOUTS, ItemView.WAITING)]


def starts(fake: FakeService) -> list[str]:
    return [r.url.params["start"] for r in fake.requests if r.url.path == ITEMS and "start" in r.url.params]


@pytest.mark.requirement("order-queue-items-by-score")
async def test_home_and_end_reach_the_ends_of_the_whole_list_with_one_request_each() -> None:
    fake, ids = long()
    async with on_stage(fake) as (app, screen, pilot):
        assert screen.table.cursor_key == ids[0]
        await pilot.press("end")
        await until(app, lambda: screen.table.cursor_key == ids[-1], "the last row")
        assert starts(fake) == ["last"]
        assert f"last {PAGE}" in screen_text(app)
        await pilot.press("up")
        assert screen.table.cursor_key == ids[-2]
        await pilot.press("home")
        await until(app, lambda: screen.table.cursor_key == ids[0], "the first row")
        await pilot.press("b")
        await until(app, lambda: screen.table.cursor_key == ids[-2], "where one was")


async def test_going_to_a_score_lands_on_its_first_row_with_the_rows_above_it() -> None:
    fake, ids = long()
    scores = [fake.queues.shown(fake.queues.items[key]).score for key in ids]
    values = [score.value for score in scores if score is not None and score.value is not None]
    wanted = sorted(set(values))[len(set(values)) // 2]
    first = values.index(wanted)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("g")
        await until(app, lambda: isinstance(app.screen, GoToScreen), "the question")
        await pilot.press("x", "enter")
        assert "A score is a whole number, like 80; x is none." in screen_text(app)
        app.screen.query_one(Input).value = str(wanted)
        await pilot.press("enter")
        await until(app, lambda: screen.table.cursor_key == ids[first], "the score")
        at = screen.listing.index(ids[first])
        assert at is not None
        assert at >= PAGE // 2
        assert screen.table.window[0] < at
        await pilot.press("up")
        assert screen.table.cursor_key == ids[first - 1]
        await pilot.press(":", *str(values[0]), "enter")
        await until(app, lambda: screen.table.cursor_key == ids[0], "the highest score")


async def test_going_to_an_item_takes_its_id_or_its_key_and_says_where_it_is_instead() -> None:
    fake, ids = long()
    wanted = fake.queues.items[ids[130]]
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("i")
        await until(app, lambda: isinstance(app.screen, GoToScreen), "the question")
        app.screen.query_one(Input).value = wanted.key or ""
        await pilot.press("enter")
        await until(app, lambda: screen.table.cursor_key == wanted.id, "the item")
        act(fake, ids[0], "reject", KIRAN, reason="double")
        screen.go_to_item(ids[0])
        await until(app, lambda: "is not in this list. It is closed" in screen_text(app), "why not")
        assert screen.table.cursor_key == wanted.id


async def test_scrolling_from_end_to_end_keeps_few_pages_and_meets_every_row_in_order() -> None:
    fake, ids = long(PAGE * (PAGES_MOST + 2))
    async with on_stage(fake) as (app, screen, _):
        met: list[str] = []
        while screen.table.cursor_key != ids[-1]:
            keys = [screen.listing.key(at) for at in range(len(screen.listing))]
            met += keys[keys.index(met[-1]) + 1 :] if met else keys
            screen.table.action_jump(-1)
            await idle(app)
            assert len(screen.listing) <= PAGE * PAGES_MOST
        assert met == ids[: len(met)]
        assert len(met) > PAGE * (PAGES_MOST + 1)
        assert not screen.listing.pages.begun
        for _ in range(PAGES_MOST + 3):
            screen.table.action_jump(0)
            await idle(app)
        assert screen.table.cursor_key == ids[0]


async def test_keys_held_down_make_no_pile_of_requests_and_the_newest_wish_wins() -> None:
    fake, ids = long()
    gate, asked = asyncio.Event(), []

    async def answer(request: httpx.Request) -> httpx.Response:
        if "start" in request.url.params:
            asked.append(request.url.params["start"])
            await gate.wait()
        return await fake.handle(request)

    async with on_stage(fake, transport=httpx.MockTransport(answer)) as (app, screen, pilot):
        await pilot.press(*["end"] * 5)
        await until(app, lambda: asked, "the request")
        await pilot.press("c")
        assert "Claim: nothing is selected" in screen_text(app)
        screen.go_to_item(ids[200])
        await pilot.press(*["end", "home"] * 3)
        assert asked == ["last"]
        gate.set()
        await idle(app)
        assert screen.table.cursor_key == ids[0]
        assert asked == ["last"]
        assert not [request for request in fake.requests if request.method == "POST"]


async def test_a_place_that_cannot_be_fetched_leaves_the_rows_and_says_so() -> None:
    fake, ids = long()
    async with on_stage(fake) as (app, screen, pilot):
        fake.status = 503
        await pilot.press("end")
        await until(app, lambda: "Going there" in screen_text(app), "the sentence")
        assert screen.table.cursor_key == ids[0]
        assert len(screen.listing) == PAGE
        fake.status = None
        await pilot.press("end")
        await until(app, lambda: screen.table.cursor_key == ids[-1], "the last row")


async def test_cursors_that_the_service_no_longer_takes_begin_anew_around_the_cursor() -> None:
    fake, ids = long()
    async with on_stage(fake) as (app, screen, _):
        screen.go_to_item(ids[130])
        await until(app, lambda: screen.table.cursor_key == ids[130], "the item")
        fake.listing._walks.clear()
        screen.refresh_all()
        await idle(app)
        await until(app, lambda: not screen.listing.old_pages(*screen.table.window), "fresh rows")
        assert screen.table.cursor_key == ids[130]
        assert not screen.failure


@pytest.mark.requirement("TUI-01")
async def test_what_moves_is_said_and_moves_nothing_under_the_cursor() -> None:
    fake = FakeService(start=START)
    scene(fake, scored=True)
    ids = [row.id for row in fake.queues.listed(PAYOUTS, ItemView.WAITING)]
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("down", "down")
        top, key = screen.table.scroll_offset.y, screen.table.cursor_key
        row = fake.queues.items[ids[2]]
        assert row.amount is not None
        row.amount = row.amount.model_copy(update={"minor": 1})
        fake.queues.changed(row)
        await until(app, lambda: "1 moved" in screen_text(app), "that it moved")
        assert (screen.table.cursor_key, screen.table.cursor, screen.table.scroll_offset.y) == (key, 2, top)
        await pilot.press("up")
        await until(app, lambda: (screen.listing.index(ids[2]) or 0) > 2, "its new place, once the cursor left it")
        assert screen.table.cursor_key == ids[1]


@pytest.mark.requirement("TUI-07")
async def test_a_list_that_empties_while_one_is_at_its_end_says_so() -> None:
    fake, ids = long(60)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("end")
        await until(app, lambda: screen.table.cursor_key == ids[-1], "the last row")
        for key in ids:
            act(fake, key, "reject", KIRAN, reason="all")
        await until(app, lambda: len(screen.listing) <= 1, "the rest is gone")
        await pilot.press("up", "r")
        await until(app, lambda: "Nothing is waiting" in screen_text(app) or len(screen.listing) == 1, "the sentence")
        assert app.link.state is LinkState.LIVE


async def test_changes_elsewhere_in_a_long_list_ask_for_little() -> None:
    fake, ids = long()
    async with on_stage(fake) as (app, _, _):
        before = len([r for r in fake.requests if r.url.path == ITEMS])
        for key in ids[100:]:
            fake.queues.changed(fake.queues.items[key])
        hold(fake, ids[1], KIRAN)
        await until(app, lambda: "◆ k.rao" in screen_text(app), "the row in sight")
        assert len([r for r in fake.requests if r.url.path == ITEMS]) - before <= 5


def test_scores_are_read_as_they_are_written() -> None:
    assert [read_score(text) for text in ("80", "−8", "-8", "1,250", "+3")] == ["80", "-8", "-8", "1250", "3"]
    for text in ("", "x", "8.5", "99999999999", "1 2"):
        with pytest.raises(ValueError, match="whole number"):
            read_score(text)
