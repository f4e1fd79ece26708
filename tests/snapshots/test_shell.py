"""Pictures of the shell: sign-in, cover, help, palette, the place of the person, and the wide item and form."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.app import Console
from jobconsole.screens.choose import ChooseScreen
from jobconsole.screens.cover import CoverScreen
from jobconsole.screens.help import HelpScreen
from jobconsole.screens.session import SessionScreen
from jobconsole.screens.sign_in import SignInScreen
from jobconsole.widgets.form import Prose
from tests.screens.idle import until
from tests.screens.shell_stage import make
from tests.screens.stage import dialog, item_screen
from tests.snapshots.test_queues import Compare, believable, picture, settled, still


def no_blinking(app: Console) -> None:
    for entry in app.screen.query(Input):
        entry.cursor_blink = False


@pytest.mark.parametrize(
    ("keys", "screen"),
    [
        (("question_mark",), HelpScreen),
        (("ctrl+p",), ChooseScreen),
        (("2",), SessionScreen),
        (("ctrl+l",), CoverScreen),
    ],
    ids=["help", "palette", "you", "cover"],
)
def test_the_shell(snap_compare: Compare, keys: tuple[str, ...], screen: type) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press(*keys)
        app = pilot.app
        assert isinstance(app, Console)
        await until(app, lambda: isinstance(app.screen, screen), "the screen")
        no_blinking(app)
        await pilot.pause()

    assert picture(snap_compare, prepare)


def test_signing_in(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Console)
        await until(app, lambda: isinstance(app.screen, SignInScreen), "the prompt")
        no_blinking(app)
        await pilot.pause()

    assert snap_compare(make(believable()[0], person=None), terminal_size=(80, 24), run_before=prepare)


def test_one_item_wide(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("enter")
        assert isinstance(pilot.app, Console)
        screen = await item_screen(pilot.app)
        still(pilot.app)
        screen.show_item()
        await pilot.pause()

    assert picture(snap_compare, prepare, size=(140, 40))


def test_the_act_form_wide(snap_compare: Compare) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press("s")
        assert isinstance(pilot.app, Console)
        form = await dialog(pilot.app)
        form.query_one(Input).value = "tomorrow 14:30"
        form.query_one(Prose).text = "waits for the invoice"
        still(pilot.app)
        await pilot.pause()

    assert picture(snap_compare, prepare, size=(140, 40))
