"""Why here: from the list and from an item, at once and as the service says; followed while others work."""

from __future__ import annotations

import httpx
import pytest

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.present.link import Link, LinkState
from jobconsole.present.text import line
from jobconsole.screens.explain import ExplainScreen
from jobconsole.screens.item import ItemScreen
from jobconsole.screens.queues import QueuesScreen
from jobconsole.screens.what_if import WhatIfScreen
from jobcontract.states import ItemState
from tests.hostile import HOSTILE, harmless
from tests.screens.acting_stage import flat
from tests.screens.idle import idle, lines, screen_text, until
from tests.screens.scored_stage import scored_service
from tests.screens.stage import KIRAN, START, hold, item_screen, on_stage


async def explained(app: Console) -> ExplainScreen:
    """The screen that explains, once the service did."""
    await until(app, lambda: isinstance(app.screen, ExplainScreen) and app.screen.explanation, "the explanation")
    assert isinstance(app.screen, ExplainScreen)
    return app.screen


@pytest.mark.requirement("order-queue-items-by-score", "show-the-score-beside-each-item")
async def test_why_the_first_is_first_and_what_would_let_the_second_overtake_it() -> None:
    fake, ids = scored_service()
    async with on_stage(fake) as (app, screen, pilot):
        screen.table.move_to(ids[2])
        await pilot.press("w")
        await explained(app)
        text = screen_text(app)
        assert "72, first: nothing stands before it" in text
        assert "GBP 90,126.13" in text
        assert "next     56" in text
        assert "With 16 points more the next overtakes this one" in flat(app)
        await pilot.press("end")
        await pilot.pause()
        assert "payout.release-score v3" in screen_text(app)
        assert "4 points a day of age" in screen_text(app)
        await pilot.press("q")
        await until(app, lambda: isinstance(app.screen, QueuesScreen), "the list")


async def test_it_opens_from_an_item_and_leads_to_what_if() -> None:
    fake, _ = scored_service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("enter")
        await item_screen(app)
        await pilot.press("w")
        await explained(app)
        await pilot.press("W")
        await until(app, lambda: isinstance(app.screen, WhatIfScreen), "what if")
        await pilot.press("escape")
        await pilot.press("q")
        await until(app, lambda: isinstance(app.screen, ItemScreen), "the item")


@pytest.mark.requirement("show-the-score-beside-each-item")
async def test_before_the_service_answers_it_shows_what_the_list_knew() -> None:
    fake, ids = scored_service()

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/explanation"):
            return httpx.Response(403)
        return await fake.handle(request)

    async with on_stage(fake, transport=httpx.MockTransport(answer)) as (app, screen, pilot):
        screen.table.move_to(ids[2])
        await pilot.press("w")
        await until(app, lambda: isinstance(app.screen, ExplainScreen), "the screen")
        await until(app, lambda: "+48" in screen_text(app), "the parts that the list knew")
        assert "reading the rule and the neighbours" in screen_text(app)


@pytest.mark.requirement("order-queue-items-by-score")
async def test_it_follows_what_becomes_of_the_items_that_it_shows() -> None:
    fake, ids = scored_service()
    async with on_stage(fake) as (app, queue, pilot):
        queue.table.move_to(ids[2])
        await pilot.press("w")
        screen = await explained(app)
        screen._rested = -1_000  # no waiting for the slow round
        below = fake.queues.items[ids[0]]
        below.inputs = {"invoice": "none"}
        fake.queues.changed(below)
        await until(app, lambda: "2nd: 1 item stands before it" in screen_text(app), "the new place")
        assert "With 5 points more it overtakes the one above" in flat(app)
        assert screen.item.id == ids[2]


async def test_what_others_change_is_asked_for_after_a_while_only() -> None:
    fake, ids = scored_service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("w")
        screen = await explained(app)
        await idle(app)
        before = len(asked(fake))
        hold(fake, ids[11], KIRAN)
        fake.queues.changed(fake.queues.items[ids[11]])
        await until(app, lambda: screen._old, "the hint")
        screen._rested = 0
        screen.tick()
        await idle(app)
        assert len(asked(fake)) == before
        screen._rested = 60
        screen.tick()
        await idle(app)
        assert len(asked(fake)) == before + 1


def asked(fake: FakeService) -> list[httpx.Request]:
    return [request for request in fake.requests if request.url.path.endswith("/explanation")]


async def test_cut_off_it_says_as_of_when_and_what_if_is_refused() -> None:
    fake, _ = scored_service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("w")
        screen = await explained(app)
        app.workers.cancel_group(app, "feed")
        app.show_link(Link(state=LinkState.STALE, since=START))
        screen.tick()
        await pilot.press("W")
        await pilot.pause()
        assert "as it stood when the connection was lost" in screen_text(app)
        assert "not while disconnected" in screen_text(app)
        assert isinstance(app.screen, ExplainScreen)


@pytest.mark.requirement("order-unscored-queues-by-age")
async def test_a_queue_without_a_rule_says_by_age_and_offers_no_what_if() -> None:
    fake, ids = scored_service()
    bare = fake.queues.queue("payments.payouts").model_copy(update={"id": "payments.plain", "score": None})
    fake.queues.queues = (bare,)
    for key in ids:
        fake.queues.items[key].queue = bare
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("w")
        await explained(app)
        assert "This queue has no rule: the oldest item is first." in screen_text(app)
        assert "It is 3 days older than the next." in screen_text(app)
        await pilot.press("W")
        await pilot.pause()
        assert "no rule" in flat(app)
        assert isinstance(app.screen, ExplainScreen)


async def test_a_closed_item_has_no_place_and_no_what_if() -> None:
    fake, ids = scored_service()
    async with on_stage(fake) as (app, screen, pilot):
        screen.table.move_to(ids[2])
        await pilot.press("w")
        await explained(app)
        row = fake.queues.items[ids[2]]
        row.state = ItemState.REJECTED
        fake.queues.changed(row)
        await until(app, lambda: "no place in the order" in screen_text(app), "the end")
        await pilot.press("W")
        await pilot.pause()
        assert "the item is rejected" in flat(app)


@pytest.mark.requirement("TUI-01")
async def test_whatever_the_rule_and_the_neighbours_are_called_is_shown_as_it_is() -> None:
    fake, _ = scored_service()
    async with on_stage(fake, size=(100, 40)) as (app, _, pilot):
        await pilot.press("w")
        screen = await explained(app)
        found = screen.explanation
        assert found is not None
        assert found.rule is not None
        assert found.item.score is not None
        for at in range(0, len(HOSTILE), 3):
            text, shown, words = (HOSTILE[at : at + 3] * 3)[:3]
            part = found.item.score.parts[0].model_copy(update={"shown": shown, "words": words, "input": text[:9]})
            score = found.item.score.model_copy(update={"parts": (part, *found.item.score.parts[1:]), "rule": text})
            one = found.item.model_copy(update={"title": shown, "score": score, "payee": None, "amount": None})
            assert found.placement is not None
            placement = found.placement.model_copy(update={"above": one, "below": one})
            rule = found.rule.model_copy(update={"id": text, "title": shown, "formula": words})
            changed = {"item": one, "placement": placement, "rule": rule}
            screen.item, screen.explanation = one, found.model_copy(update=changed)
            screen.show_item()
            await pilot.pause()
            painted = lines(app)
            assert all(harmless(row) for row in painted), (text, shown, words)
            for told in (text, shown, words):
                assert line(told)[:12].strip() in "\n".join(painted)
            assert app.is_running
