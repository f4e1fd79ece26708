"""The filter of the Queues place: the one on the screen is the one in force, whatever is typed or refused."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from jobconsole.screens import queues_fetching, queues_filter
from jobconsole.screens.queues_filter import FRESH
from jobcontract.queues import QueueTotals
from jobcontract.states import ItemState
from tests.screens.acting_stage import service
from tests.screens.filter_stage import GBP, asked, burst, enter, in_force, matching, rows
from tests.screens.idle import idle, screen_text, until
from tests.screens.stage import DISPUTES, KIRAN, PAYOUTS, hold, item_screen, on_stage


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues_filter, "COUNT_SECONDS", 0.0)
    monkeypatch.setattr(queues_fetching, "PAUSE_SECONDS", 0.0)


async def test_a_filter_shows_what_matches_with_its_count_and_clearing_shows_all() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("/", *"holder:free", "enter")
        await in_force(app, screen, "holder:free")
        await enter(app, screen, GBP)
        await in_force(app, screen, GBP)
        assert len([sent for sent in asked(fake, "/items") if sent.url.params.get("filter") == GBP]) == 1
        assert set(rows(screen)) == matching(fake, 100_000)
        shown = screen_text(app)
        assert f"/ {GBP}" in shown
        assert f"{len(rows(screen))} match" in shown
        assert f"{len(ids)} waiting" in shown
        await pilot.press("\\")
        await in_force(app, screen, "")
        assert set(rows(screen)) == set(ids)
        assert not screen.filter_line.display
        await pilot.press("|")
        await in_force(app, screen, GBP)
        await pilot.press("|")
        await in_force(app, screen, "")
        await enter(app, screen, GBP)
        await enter(app, screen, "  ")
        await in_force(app, screen, "")


async def test_typing_asks_the_service_for_nothing_and_escape_leaves_the_filter_as_it_was() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await enter(app, screen, "holder:free")
        await in_force(app, screen, "holder:free")
        before = len(asked(fake, "/items"))
        await pilot.press("/")
        assert screen.filter_line.typed == "holder:free"
        await pilot.press("x", "y", "z", "escape")
        await idle(app)
        assert len(asked(fake, "/items")) == before
        assert screen.filter_text == "holder:free"
        assert "/ holder:free " in screen_text(app)


@pytest.mark.requirement("MONEY-03")
async def test_claim_next_goes_by_the_filter_on_the_screen() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await enter(app, screen, "currency:KWD")
        await in_force(app, screen, "currency:KWD")
        screen.run_command("filter.edit")
        screen.filter_line.entry.value = "currency:GBP"
        screen.run_command("claim.next")
        await until(app, lambda: "Claimed" in screen_text(app) or "You hold" in screen_text(app), "the claim")
        held = [row for row in fake.queues.items.values() if row.holder is not None]
        assert [row.amount.currency for row in held if row.amount] == ["KWD"]
        sent = asked(fake, "/claim-next")[-1]
        assert json.loads(sent.content)["filter"] == "currency:KWD"
        await pilot.press("escape", "n")
        await until(app, lambda: "Nothing that matches the filter is free" in screen_text(app), "the sentence")
        assert ids


async def test_what_claim_next_took_out_of_the_filter_is_shown_where_no_row_leads_to_it() -> None:
    fake, _ = service()
    for number in range(150):
        fake.queues.add(PAYOUTS, f"Payee {number}", minor=100)
    async with on_stage(fake) as (app, screen, pilot):
        await enter(app, screen, "holder:free")
        await in_force(app, screen, "holder:free")
        first = rows(screen)[0]
        await pilot.press(">")
        await until(app, lambda: screen.listing.index(first) is None, "the last rows alone")
        await pilot.press("n")
        assert (await item_screen(app)).item.id == first
        assert "◆ you" in screen_text(app)


@pytest.mark.requirement("MONEY-03")
async def test_a_filter_that_the_service_refuses_is_pointed_at_and_the_old_one_stays_in_force() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await enter(app, screen, "currency:GBP")
        await in_force(app, screen, "currency:GBP")
        shown = rows(screen)
        await enter(app, screen, " holder:n.obody")
        assert screen.filter_text == "currency:GBP"
        assert rows(screen) == shown
        assert screen.filter_line.typed == " holder:n.obody"
        text = screen_text(app)
        assert "No colleague has the id" in text
        carets = next(line for line in text.splitlines() if "^^^" in line)
        assert carets.index("^") == 1 + 2 + len(" holder:")
        await pilot.press("escape", "n")
        await until(app, lambda: asked(fake, "/claim-next"), "the claim")
        assert json.loads(asked(fake, "/claim-next")[-1].content)["filter"] == "currency:GBP"


async def test_what_cannot_be_read_is_never_sent() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, _):
        before = len(asked(fake, "/items"))
        await enter(app, screen, "word age:3d")
        assert len(asked(fake, "/items")) == before
        assert screen.filter_line.typing
        assert screen.filter_line.typed == "word age:3d"
        assert "age>3d" in screen_text(app)


async def test_a_service_that_is_away_leaves_the_old_filter_and_what_was_typed() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, _):
        fake.away = True
        await enter(app, screen, "holder:free")
        assert screen.filter_text == ""
        assert screen.filter_line.typed == "holder:free"
        assert "asking the service" not in screen_text(app)


async def test_leaving_the_line_while_the_service_is_asked_changes_nothing() -> None:
    fake, ids = service()
    held = []

    async def late(request: httpx.Request) -> httpx.Response:
        if "filter" in request.url.params and request.url.path.endswith("/items"):
            held.append(request)
            await gate.wait()
        return await fake.handle(request)

    gate = asyncio.Event()
    async with on_stage(fake, transport=httpx.MockTransport(late)) as (app, screen, pilot):
        screen.run_command("filter.edit")
        screen.filter_line.entry.value = "currency:GBP"
        await screen.filter_line.entry.action_submit()
        await until(app, lambda: "asking the service" in screen_text(app), "the wait")
        assert len(held) == 1
        await pilot.press("escape")
        gate.set()
        await idle(app)
        assert screen.filter_text == ""
        assert set(rows(screen)) == set(ids)


async def test_each_queue_has_its_own_filter_and_takes_none_of_another() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await enter(app, screen, GBP)
        await in_force(app, screen, GBP)
        await pilot.press("[")
        await until(app, lambda: screen.queue is not None and screen.queue.id == DISPUTES, "the other queue")
        await in_force(app, screen, "")
        await pilot.press("]")
        await in_force(app, screen, GBP)
        assert set(rows(screen)) == matching(fake, 100_000)
        await pilot.press("v")
        await until(app, lambda: screen.view == "set-aside", "the view")
        assert screen.filter_text == GBP


async def test_what_is_typed_while_the_queue_is_switched_never_turns_into_keys() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await enter(app, screen, "holder:free")
        await in_force(app, screen, "holder:free")
        burst(app, "[/currency:GBP")
        await until(app, lambda: screen.queue is not None and screen.queue.id == DISPUTES, "the other queue")
        await until(app, lambda: screen.filter_line.typed == "currency:GBP", "what was typed")
        await pilot.press("enter")
        await in_force(app, screen, "currency:GBP")
        assert screen.filters == {PAYOUTS: "holder:free", DISPUTES: "currency:GBP"}
        assert [sent for sent in fake.requests if sent.method == "POST"] == []


async def test_what_is_typed_on_while_the_service_is_asked_stays_in_the_line() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        burst(app, "/holder:free\rn")
        await until(app, lambda: screen.filter_text == "holder:free", "the filter")
        await idle(app)
        assert screen.filter_line.typing
        assert screen.filter_line.typed == "holder:freen"
        assert [sent for sent in fake.requests if sent.method == "POST"] == []
        await pilot.press("escape")
        assert "/ holder:free " in screen_text(app)


async def test_a_list_that_a_colleague_empties_says_so_and_how_to_clear_it() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await enter(app, screen, "currency:KWD holder:free")
        await in_force(app, screen, "currency:KWD holder:free")
        (key,) = rows(screen)
        hold(fake, key, KIRAN)
        await until(app, lambda: "0 match" in screen_text(app), "the count")
        await until(app, lambda: "Nothing matches in Supplier payouts" in screen_text(app) or len(screen.listing), "it")
        await enter(app, screen, "currency:KWD holder:free holder:me")
        await pilot.press("escape")
        await enter(app, screen, "nosuchword")
        await until(app, lambda: "Nothing matches in Supplier payouts; \\ clears the filter" in screen_text(app), "why")


async def test_marks_stay_on_their_items_whatever_is_filtered_and_end_with_their_view() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("space", "space")
        assert len(screen.table.marks) == 2
        await enter(app, screen, "currency:KWD")
        await in_force(app, screen, "currency:KWD")
        assert len(screen.table.marks) == 2
        await pilot.press("v")
        await until(app, lambda: not screen.table.marks, "no mark in another view")


async def test_a_count_beyond_the_exact_is_about_and_ages() -> None:
    fake, _ = service()

    async def counted(request: httpx.Request) -> httpx.Response:
        answer = await fake.handle(request)
        if request.url.path.endswith("/totals") and request.url.params.get("filter"):
            told = QueueTotals.model_validate_json(answer.content)
            told = told.model_copy(update={"matching": 12_000, "exact": False})
            return httpx.Response(200, content=told.model_dump_json(), headers={"Content-Type": "application/json"})
        return answer

    async with on_stage(fake, transport=httpx.MockTransport(counted)) as (app, screen, _):
        await enter(app, screen, "holder:free")
        await until(app, lambda: "about 12,000 match · counted" in screen_text(app), "the count")
        assert screen.totals[PAYOUTS].waiting < 20


async def test_completion_knows_the_words_of_the_queue_and_asks_for_them_once() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        for _ in range(2):
            screen.run_command("filter.edit")
            await idle(app)
            screen.filter_line.entry.value = "input.in"
            screen.filter_line.entry.cursor_position = 8
            await pilot.press("tab")
            assert screen.filter_line.typed.startswith("input.invoice:")
            await pilot.press("escape")
        assert len(asked(fake, "/vocabulary")) == 1
        known = screen._vocabularies[PAYOUTS]
        screen._vocabularies[PAYOUTS] = known.model_copy(update={"as_of": known.as_of - FRESH})
        screen.run_command("filter.edit")
        await idle(app)
        assert len(asked(fake, "/vocabulary")) == 2


async def test_without_the_words_of_the_queue_typing_works_and_tab_says_why_it_does_not() -> None:
    fake, _ = service()

    async def without(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/vocabulary"):
            return httpx.Response(404)
        return await fake.handle(request)

    async with on_stage(fake, transport=httpx.MockTransport(without)) as (app, screen, pilot):
        await pilot.press("/", "h", "tab")
        await idle(app)
        assert "What could stand here is" in screen_text(app)
        await enter(app, screen, "holder:free")
        await in_force(app, screen, "holder:free")


@pytest.mark.requirement("MONEY-03")
async def test_a_filter_that_is_no_longer_taken_says_so_and_claims_nothing() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        for row in fake.queues.items.values():
            if row.amount is not None and row.amount.currency != "GBP":
                row.state = ItemState.REJECTED
        await enter(app, screen, "amount>1000")
        await in_force(app, screen, "amount>1000")
        fake.queues.add(PAYOUTS, "A euro", minor=1, currency="EUR")
        await until(app, lambda: "no longer taken" in screen_text(app), "the word")
        assert screen.filter_text == "amount>1000"
        await pilot.press("n")
        await until(app, lambda: "Claim next: " in screen_text(app), "the refusal")
        assert all(row.holder is None for row in fake.queues.items.values())
