"""Owns what tests of filters do on the queue screen: typing one, waiting until it is in force, what was asked."""

from __future__ import annotations

import httpx
from textual import events

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.screens.queues import QueuesScreen
from tests.screens.idle import idle, screen_text, until
from tests.screens.stage import PAYOUTS

GBP = "amount>1000 currency:GBP"


async def enter(app: Console, screen: QueuesScreen, text: str) -> None:
    """Types a filter and enters it."""
    screen.run_command("filter.edit")
    screen.filter_line.entry.value = text
    await screen.filter_line.entry.action_submit()
    await idle(app)


def burst(app: Console, typed: str) -> None:
    """Keys that came in one piece, as a slow link brings them."""
    names = {"[": "left_square_bracket", "/": "slash", ":": "colon", "\r": "enter"}
    for sign in typed:
        app.post_message(events.Key(names.get(sign, sign), sign))


async def in_force(app: Console, screen: QueuesScreen, text: str) -> None:
    """Waits until the filter is in force, its rows are there and counted."""
    await until(app, lambda: screen.filter_text == text and not screen.filter_line.typing, "the filter")
    await until(app, lambda: screen.listing.started, "the rows")
    await until(app, lambda: not text or "match" in screen_text(app), "the count")


def rows(screen: QueuesScreen) -> list[str]:
    return [screen.listing.key(at) for at in range(len(screen.listing))]


def asked(fake: FakeService, path: str) -> list[httpx.Request]:
    return [request for request in fake.requests if request.url.path.endswith(path)]


def matching(fake: FakeService, least: int) -> set[str]:
    """Ids of the payouts in GBP of more than `least` minor units."""
    found = fake.queues.items.values()
    return {
        row.id
        for row in found
        if row.queue.id == PAYOUTS and row.amount and row.amount.currency == "GBP" and row.amount.minor > least
    }
