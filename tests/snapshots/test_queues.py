"""Pictures of the queue screens, equal every time: the clock stands still and nothing blinks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.present.link import Link, LinkState
from jobconsole.screens.queues import QueuesScreen
from jobconsole.widgets.form import Prose
from jobcontract.states import ItemView
from tests.screens.idle import until
from tests.screens.stage import (
    KIRAN,
    MIKA,
    PAYOUTS,
    START,
    act,
    console,
    dialog,
    freeze,
    hold,
    item_screen,
    queue_screen,
    ready,
    row_comes,
    scene,
)

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[None]], Awaitable[None]]


def believable() -> tuple[FakeService, list[str]]:
    """A queue with my claim, two of a colleague of which one lapses, and some history."""
    fake = FakeService(start=START)
    scene(fake, scored=True)
    ids = [row.id for row in fake.queues.listed(PAYOUTS, ItemView.WAITING)]
    act(fake, ids[2], "note", KIRAN, text="asked the supplier for the missing invoice")
    hold(fake, ids[2], MIKA, seconds=2467)
    hold(fake, ids[3], KIRAN, seconds=1800)
    hold(fake, ids[4], KIRAN, seconds=200)
    return fake, ids


async def settled(pilot: Pilot[None]) -> QueuesScreen:
    """On the third row, its detail read, time standing still."""
    app = pilot.app
    assert isinstance(app, Console)
    screen = await ready(app)
    await pilot.press("down", "down")
    key = screen.table.cursor_key
    await until(app, lambda: screen.detail is not None and screen.detail.item.id == key, "the detail")
    still(app)
    await pilot.pause()
    return screen


def still(app: Console) -> None:
    """Nothing blinks, nothing ages."""
    freeze(app)
    for entry in app.screen.query(Input):
        entry.cursor_blink = False
    for prose in app.screen.query(Prose):
        prose.cursor_blink = False
    for screen in app.screen_stack:
        if isinstance(screen, QueuesScreen):
            screen.tick()


def picture(
    compare: Compare,
    prepare: Prepare,
    *,
    size: tuple[int, int] = (80, 24),
    fake: FakeService | None = None,
    options: Mapping[str, object] | None = None,
) -> bool:
    return compare(console(fake or believable()[0], options=options), terminal_size=size, run_before=prepare)


async def at_rest(pilot: Pilot[None]) -> None:
    await settled(pilot)


@pytest.mark.parametrize(
    ("size", "theme"), [((80, 24), "dark"), ((140, 40), "dark"), ((80, 24), "light")], ids=["dark", "wide", "light"]
)
def test_the_queue(snap_compare: Compare, size: tuple[int, int], theme: str) -> None:
    assert picture(snap_compare, at_rest, size=size, options={"theme": theme})


def test_one_item(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("enter")
        assert isinstance(pilot.app, Console)
        screen = await item_screen(pilot.app)
        still(pilot.app)
        screen.show_item()
        await pilot.pause()

    assert picture(snap_compare, prepare)


def test_the_act_form(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("s")
        assert isinstance(pilot.app, Console)
        form = await dialog(pilot.app)
        form.query_one(Input).value = "tomorrow 14:30"
        form.query_one(Prose).text = "waits for the invoice"
        still(pilot.app)
        await pilot.pause()

    assert picture(snap_compare, prepare)


def test_a_refused_act(snap_compare: Compare) -> None:
    fake, ids = believable()

    async def prepare(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("x")
        app = pilot.app
        assert isinstance(app, Console)
        form = await dialog(app)
        form.query_one(Prose).text = "paid twice"
        fake.queues.items[ids[2]].money_version += 1
        form.act_button.press()
        await until(app, lambda: str(form.act_button.label) == "Look at it again", "the refusal")
        await until(app, lambda: not form.act_button.disabled, "the buttons")
        form.cancel_button.focus()
        still(app)
        await pilot.pause()

    assert picture(snap_compare, prepare, fake=fake)


def test_cut_off(snap_compare: Compare) -> None:
    fake, _ = believable()

    async def prepare(pilot: Pilot[None]) -> None:
        screen = await settled(pilot)
        app = pilot.app
        assert isinstance(app, Console)
        app.workers.cancel_group(app, "feed")
        app.show_link(Link(state=LinkState.STALE, since=START))
        await pilot.press("c")
        screen.tick()
        await pilot.pause()

    assert picture(snap_compare, prepare, fake=fake)


def test_an_empty_queue(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, Console)
        screen = await ready(pilot.app)
        still(pilot.app)
        screen.show_all()
        await pilot.pause()

    assert picture(snap_compare, prepare, fake=FakeService(start=START))


def test_a_colleagues_claim_that_can_be_broken(snap_compare: Compare) -> None:
    fake, ids = believable()

    async def prepare(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("down", "B")
        app = pilot.app
        assert isinstance(app, Console)
        form = await dialog(app)
        form.query_one(Prose).text = "on holiday until Monday"
        await row_comes(app, queue_screen(app), ids[3], "◆ k.rao")
        still(app)
        await pilot.pause()

    assert picture(snap_compare, prepare, fake=fake)
