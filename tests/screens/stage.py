"""Owns the stage for tests of the queue screens: a fake service with a believable queue, and the console on it.

Everything is as of `START`; `freeze` stops the console's idea of time, so that pictures are equal every time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_queues import FakeItem
from jobconsole.commands.keymap import default_keymap
from jobconsole.present.link import Link, LinkState
from jobconsole.screens.act_form import ActForm
from jobconsole.screens.item import ItemScreen
from jobconsole.screens.queues import QueuesScreen
from jobconsole.settings import load
from jobconsole.tokens import Token
from jobcontract.items import ActOrder, Payee
from jobcontract.session import Person
from tests.screens.idle import until
from tests.screens.shell_stage import keyring

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PAYOUTS, DISPUTES = "payments.payouts", "payments.disputes"
MIKA = Person(id="m.ito", name="Mika Ito")
KIRAN = Person(id="k.rao", name="Kiran Rao")

SCENE: tuple[tuple[str, int, str, str, int], ...] = (
    ("Booker Food Services", 561665, "GBP", "0093", 12),
    ("Premier Plant Hire", -154522, "GBP", "8120", 9),
    ("Aspire Care Ltd", 9012613, "GBP", "4471", 6),
    ("Leeds Federated Housing", 1250000, "GBP", "3302", 6),
    ("Morrison Utility Services", 76500, "GBP", "5518", 5),
    ("Wharfedale Print & Sign", 4200, "GBP", "1179", 5),
    ("Étoile Traiteurs", 311045, "GBP", "2204", 3),
    ("株式会社 東京システム開発センター", 150000, "JPY", "7731", 3),
    ("Gulf Catering Supplies", 1250500, "KWD", "6042", 2),
    ("Kirkstall Glass", 18250, "GBP", "9913", 2),
    ("Roundhay Tree Care", 94000, "GBP", "4127", 1),
    ("Harehills Nursery", 262500, "GBP", "8865", 1),
)
"""Payee, minor units, currency, last four, days old."""


def also(*values: Any) -> list[Any]:
    """More values of a parameter, which only `make faults` tries: a console takes most of a second to start."""
    return [pytest.param(value, marks=pytest.mark.long) for value in values]


def scene(fake: FakeService, *, scored: bool = False) -> list[str]:
    """Puts a believable payout queue into the service; the ids of its items, oldest first.

    Without scores that is the order in which they are listed.
    """
    if not scored:
        fake.queues.queues = tuple(queue.model_copy(update={"score": None}) for queue in fake.queues.queues)
    ids = []
    for number, (name, minor, currency, last4, days) in enumerate(SCENE, start=1):
        key = fake.queues.add(PAYOUTS, name, days_old=days, minor=minor, currency=currency)
        row = fake.queues.items[key]
        row.title = f"{'Credit note' if minor < 0 else 'Invoice'} 1211-{412 + number:05d}"
        row.payee = Payee(id=f"s-{4400 + number}", name=name, account_last4=last4)
        row.inputs = {"invoice": "on file" if number % 3 else "missing"}
        row.key = f"s-{4400 + number}/1211-{412 + number:05d}"
        ids.append(key)
    fake.queues.add(DISPUTES, "Duplicate of invoice 1211-00398", days_old=4, minor=64245)
    return ids


def hold(fake: FakeService, key: str, person: Person, *, seconds: float | None = None) -> FakeItem:
    """Lets a person claim an item; `seconds` is what is left of the claim."""
    row = fake.queues.items[key]
    fake.queues.claim(row, person)
    if seconds is not None:
        row.expires_at = fake.time + timedelta(seconds=seconds)
        row.claims[-1] = row.claims[-1].model_copy(update={"expires_at": row.expires_at})
    return row


def act(fake: FakeService, key: str, verb: str, person: Person, **inputs: str) -> None:
    """Lets a person act on an item, past claims."""
    row = fake.queues.items[key]
    case = next(case for case in row.queue.use_cases if case.id.endswith(f".{verb}"))
    order = ActOrder(money_version=row.money_version, inputs=inputs)
    fake.queues.run(row, person, case, order, lambda _person: person)


def console(
    fake: FakeService, *, person: str = "m.ito", options: Mapping[str, object] | None = None, transport: Any = None
) -> Console:
    """A console that signs in as `person` by itself and reads nothing of this machine."""
    file = Path("/nonexistent/none.toml")
    settings = load({"url": "http://127.0.0.1:1", "zone": "Europe/London", **(options or {})}, file=file, environ={})
    return Console(
        settings,
        default_keymap(),
        token=Token(f"jc_{person}"),
        keyring=keyring(),
        transport=transport or fake.transport(),
    )


@asynccontextmanager
async def on_stage(
    fake: FakeService, *, size: tuple[int, int] = (80, 24), **more: Any
) -> AsyncIterator[tuple[Console, QueuesScreen, Pilot[None]]]:
    """The console with its queue loaded and counted, the detail of the first row read, and live."""
    app = console(fake, **more)
    async with app.run_test(size=size) as pilot:
        yield app, await ready(app), pilot


async def ready(app: Console) -> QueuesScreen:
    """Waits until the queue is on the screen, counted, its first detail read, and the link live."""
    await until(app, lambda: isinstance(app.screen, QueuesScreen), "the queue screen")
    screen = queue_screen(app)
    await until(app, lambda: screen.listing.started and screen.asked, "the list")
    await until(app, lambda: len(screen.totals) == len(screen.queues), "the counts")
    await until(app, lambda: screen.table.cursor_key is None or screen.detail is not None, "the detail")
    await until(app, lambda: app.link.state is LinkState.LIVE, "the live link")
    return screen


def queue_screen(app: Console) -> QueuesScreen:
    """The queue screen, wherever it is in the stack."""
    return next(screen for screen in app.screen_stack if isinstance(screen, QueuesScreen))


async def item_screen(app: Console) -> ItemScreen:
    """The screen of one item, once it is in front and has its history."""
    await until(app, lambda: isinstance(app.screen, ItemScreen) and app.screen.detail is not None, "the item's screen")
    assert isinstance(app.screen, ItemScreen)
    return app.screen


async def dialog(app: Console) -> ActForm[Any]:
    """The act form, once it is in front and takes keys."""
    await until(app, lambda: isinstance(app.screen, ActForm) and app.screen.counts(Message().time), "the dialog")
    assert isinstance(app.screen, ActForm)
    return app.screen


async def row_comes(app: Console, screen: QueuesScreen, key: str, state: str) -> None:
    """Waits until the row of an item says `state`."""

    def there() -> bool:
        at = screen.listing.index(key)
        return at is not None and state in screen.listing.row(at, {}).cells["state"].text

    await until(app, there, f"the row that says {state}")


def freeze(app: Console, now: datetime = START) -> None:
    """Stops the console's time at `now`: pictures show the same second however long they take."""
    for timer in list(app._timers):
        timer.stop()
    clock = app.service.clock
    clock.monotonic = _stopped
    clock._learned = (now, 0.0, 0.0)
    app.show_link(Link(state=app.link.state, since=app.link.since))


def _stopped() -> float:
    return 0.0
