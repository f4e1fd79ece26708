"""Acting dialogs: Cancel has the focus, early keys do not count, a paste is text."""

from __future__ import annotations

import pytest
from textual import events
from textual.app import ComposeResult
from textual.widgets import Input

from jobconsole.client.fake import FakeService
from jobconsole.screens.dialog import ActingDialog, Ask
from tests.screens.idle import idle, screen_text, settled, until
from tests.screens.shell_stage import make, running
from tests.screens.stage import also

PAUSE = 0.3
"""Seconds that MONEY.md 26 states, and not whatever the code says."""


class Reason(ActingDialog[str]):
    """Asks for a reason."""

    TITLE = "Reject"
    ACT = "Reject with this reason"

    def compose_question(self) -> ComposeResult:
        yield Input(id="reason")

    def answer(self) -> str | None:
        text = self.query_one(Input).value.strip()
        if not text:
            self.fault("Give a reason.")
        return text or None


async def test_the_safe_button_has_the_focus_and_enter_on_it_changes_nothing() -> None:
    given: list[bool | None] = []
    async with running(app := make(FakeService())) as pilot:
        app.push_screen(Ask(title="Do it?", act="Do it now"), given.append)
        await idle(app)
        assert app.focused is not None
        assert app.focused.id == "cancel"
        await settled(app)
        await pilot.press("enter")
        assert given == [None]


@pytest.mark.requirement("MONEY-26")
async def test_keys_made_before_the_dialog_stood_a_while_do_not_count() -> None:
    given: list[bool | None] = []
    async with running(app := make(FakeService())) as pilot:
        dialog = Ask(title="Do it?", act="Do it now")
        app.push_screen(dialog, given.append)
        await idle(app)
        painted = dialog._painted
        for key in ("tab", "enter"):
            early = events.Key(key, None)
            early.time = painted + PAUSE - 0.001
            app.post_message(early)
            await idle(app)
        assert app.screen is dialog
        assert app.focused is dialog.cancel_button
        assert given == []
        for key in ("tab", "enter"):
            late = events.Key(key, None)
            late.time = painted + PAUSE
            app.post_message(late)
            await idle(app)
        assert given == [True]
        assert pilot.app is app


@pytest.mark.requirement("MONEY-26")
async def test_a_paste_is_text_and_never_keys() -> None:
    given: list[str | None] = []
    async with running(app := make(FakeService())) as pilot:
        dialog = Reason()
        app.push_screen(dialog, given.append)
        await idle(app)
        await settled(app)
        app.post_message(events.Paste("\t\r\n"))
        await idle(app)
        assert app.screen is dialog, "a paste pressed a button"
        await pilot.press("shift+tab", "shift+tab")
        dialog.query_one(Input).focus()
        await idle(app)
        app.post_message(events.Paste("duplicate\nenter"))
        await idle(app)
        assert dialog.query_one(Input).value == "duplicate"
        assert given == []


async def test_what_is_missing_is_said_and_the_dialog_stays() -> None:
    given: list[str | None] = []
    async with running(app := make(FakeService())) as pilot:
        app.push_screen(dialog := Reason(), given.append)
        await idle(app)
        await settled(app)
        dialog.set_focus(dialog.act_button)
        await pilot.press("enter")
        assert "Give a reason." in screen_text(app)
        assert given == []


@pytest.mark.requirement("TUI-04")
@pytest.mark.parametrize("size", [(120, 40), *also((60, 15), (40, 10))])
async def test_both_buttons_can_be_reached_and_seen_at_every_size(size: tuple[int, int]) -> None:
    async with running(app := make(FakeService()), size=size) as pilot:
        lines = tuple(f"reason {number}" for number in range(30))
        app.push_screen(dialog := Ask(title="Do all of it?", act="Do all of it now", lines=lines))
        await idle(app)
        await settled(app)
        for _ in range(2):
            assert app.focused in (dialog.cancel_button, dialog.act_button)
            assert app.focused is not None
            assert app.screen.region.contains_region(app.focused.region), (size, app.focused)
            await pilot.press("tab")
        assert "Do all of it now" in screen_text(app)


class LongReason(Reason):
    """Says much before it asks."""

    def compose_question(self) -> ComposeResult:
        yield self.show_lines(f"line {number}" for number in range(9))
        yield from super().compose_question()


async def test_what_is_typed_stays_in_sight_when_the_window_shrinks() -> None:
    async with running(app := make(FakeService()), size=(80, 24)) as pilot:
        dialog = LongReason()
        app.push_screen(dialog)
        await idle(app)
        entry = dialog.query_one(Input)
        entry.focus()
        entry.value = "half of it"
        await settled(app)
        assert "half of it" in screen_text(app)
        for size in ((60, 15), (80, 24), (50, 12), (60, 15)) * 3:
            await pilot.resize_terminal(*size)
            await until(app, lambda: "half of it" in screen_text(app), "the entry that has the keyboard")
        assert app.focused is entry
