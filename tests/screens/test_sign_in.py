"""Signing in: where the token comes from, the prompt, keeping it, wrong ones, and the cover."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from textual import events
from textual.geometry import Size

from jobconsole.client.fake import FakeService
from jobconsole.present.link import LinkState
from jobconsole.screens.cover import CoverScreen
from jobconsole.screens.dialog import Ask
from jobconsole.screens.sign_in import SignInScreen
from jobconsole.screens.start import StartScreen
from jobconsole.tokens import SERVICE_NAME
from tests.screens.idle import idle, screen_text, settled, until
from tests.screens.shell_stage import PlainScreen, keyring, make, running
from tests.screens.stage import also


class Store:
    """A keyring back-end in memory, said to be one of the allow-list."""

    name = "test store"

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, user: str) -> str | None:
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        self.kept[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        del self.kept[service, user]


Store.__module__ = "keyring.backends.SecretService"
USER = "default http://127.0.0.1:1"


async def prompted(app: Any) -> SignInScreen:
    await until(app, lambda: isinstance(app.screen, SignInScreen), "the prompt")
    await idle(app)
    screen = app.screen
    assert isinstance(screen, SignInScreen)
    return screen


@pytest.mark.requirement("TUI-05")
async def test_a_token_of_the_environment_signs_in_without_asking() -> None:
    async with running(app := make(FakeService(), keyring=keyring(lambda: pytest.fail("asked the keyring")))):
        assert app.session is not None
        assert app.session.person.id == "m.ito"


@pytest.mark.requirement("TUI-05")
async def test_a_token_of_the_keyring_signs_in_without_asking() -> None:
    store = Store()
    store.kept[SERVICE_NAME, USER] = "jc_k.rao"
    async with running(app := make(FakeService(), person=None, keyring=keyring(lambda: store))):
        assert app.session is not None
        assert app.session.person.id == "k.rao"


@pytest.mark.requirement("TUI-05")
async def test_without_a_keyring_it_says_so_and_keeps_the_token_for_this_run_only(tmp_path: Path) -> None:
    async with running(app := make(FakeService(), person=None), live=False) as pilot:
        await prompted(app)
        shown = screen_text(app)
        assert "There is no keyring here that may keep a token" in shown
        assert "JOBCONSOLE_TOKEN" in shown
        await pilot.press(*"jc_m.ito", "enter")
        await until(app, lambda: app.link.connected, "signed in")
        await until(app, lambda: "this run only" in app.place_screen.notices.sentence, "the sentence")
        assert "jc_m.ito" not in screen_text(app)


@pytest.mark.requirement("TUI-05")
async def test_a_keyring_that_hangs_leaves_the_console_responsive_and_is_given_up() -> None:
    release = threading.Event()

    def hang() -> Any:
        release.wait(30)
        raise AssertionError("released")

    app = make(FakeService(), person=None, keyring=keyring(hang, timeout=2.0))
    try:
        async with running(app, live=False) as pilot:
            await until(app, lambda: "Asking the keyring" in screen_text(app), "the question")
            await pilot.press("question_mark")
            await until(app, lambda: "The console is starting" in screen_text(app), "an answer to the key")
            await pilot.press("escape")
            await prompted(app)
            assert "did not answer within 2 s" in screen_text(app)
    finally:
        release.set()


@pytest.mark.requirement("TUI-05")
async def test_a_typed_token_goes_to_the_keyring_only_when_its_person_says_so() -> None:
    store = Store()
    async with running(app := make(FakeService(), person=None, keyring=keyring(lambda: store)), live=False) as pilot:
        await prompted(app)
        await pilot.press(*"jc_m.ito", "enter")
        await until(app, lambda: isinstance(app.screen, Ask), "the offer")
        assert "Keep it in test store" in screen_text(app)
        assert store.kept == {}
        await settled(app)
        await pilot.press("tab", "enter")
        await until(app, lambda: store.kept, "the token kept")
        assert store.kept == {(SERVICE_NAME, USER): "jc_m.ito"}


async def test_a_wrong_token_is_answered_with_what_to_do_and_never_shown() -> None:
    async with running(app := make(FakeService(), person=None), live=False) as pilot:
        await prompted(app)
        await pilot.press(*"jc_nobody", "enter")
        await until(app, lambda: "jobservice token create" in screen_text(app), "the sentence")
        assert "nobody" not in screen_text(app)
        await pilot.press("escape")
        await until(app, lambda: isinstance(app.screen, StartScreen), "the start screen")
        await until(app, lambda: "Nobody is signed in" in screen_text(app), "the sentence")
        await pilot.press("L")
        await prompted(app)


async def test_a_service_that_is_away_is_tried_again_with_the_same_token() -> None:
    fake = FakeService()
    fake.away = True
    async with running(app := make(fake), live=False):
        await until(app, lambda: "Trying again in" in screen_text(app), "the sentence")
        fake.away = False
        await until(app, lambda: app.link.connected, "signed in")


async def test_a_pasted_token_loses_its_blanks_and_cannot_be_copied_out() -> None:
    async with running(app := make(FakeService(), person=None), live=False) as pilot:
        screen = await prompted(app)
        app.post_message(events.Paste("  jc_m.ito \n second line"))
        await idle(app)
        assert screen.entry.value == "jc_m.ito"
        await pilot.press("ctrl+a", "shift+home", "ctrl+c", "ctrl+x")
        assert app.clipboard == ""
        assert screen.entry.value == "jc_m.ito"


@pytest.mark.requirement("MONEY-26")
async def test_after_minutes_without_a_key_the_screen_is_covered_and_the_token_is_dropped() -> None:
    moment = 0.0
    app = make(FakeService(), clock=lambda: moment, options={"zone": "UTC"})
    async with running(app) as pilot:
        connection = app.connection
        moment = 299.0
        app.tick()
        await idle(app)
        assert not isinstance(app.screen, CoverScreen)
        await pilot.press("r")
        moment = 500.0
        app.tick()
        await idle(app)
        assert not isinstance(app.screen, CoverScreen), "a key came 201 s ago"
        moment = 599.0
        app.tick()
        await until(app, lambda: isinstance(app.screen, CoverScreen), "the cover")
        await idle(app)
        assert app.connection is None
        assert app.link.state is LinkState.SIGNED_OUT
        assert connection is not None
        await until(app, lambda: connection.service.http.is_closed, "the connection closed")
        shown = screen_text(app)
        assert "nothing" not in shown
        assert "leeds" not in shown
        await pilot.press("escape", "2")
        assert isinstance(app.screen, CoverScreen)


@pytest.mark.requirement("MONEY-26")
@pytest.mark.parametrize("asked", [False, True], ids=["rows", "prompt"])
async def test_rows_that_an_ended_token_left_on_screen_are_covered_too(asked: bool) -> None:
    """With the prompt open they would be one escape away."""
    moment = 0.0
    fake = FakeService()
    async with running(app := make(fake, clock=lambda: moment)) as pilot:
        fake.publish_ended()
        await until(app, lambda: app.connection is None, "the end of the token")
        assert "nothing" in screen_text(app), "what was loaded stays on screen"
        place = app.place_screen
        if asked:
            await pilot.press("L")
            await prompted(app)
        moment = 300.0
        app.tick()
        await until(app, lambda: isinstance(app.screen, CoverScreen), "the cover")
        await idle(app)
        await pilot.press("escape")
        assert isinstance(app.screen, CoverScreen)
        assert "nothing" not in screen_text(app)
        await pilot.press(*"jc_m.ito", "enter")
        await until(app, lambda: app.link.connected and app.screen is place, "the rows, and no question left behind")


@pytest.mark.requirement("MONEY-26")
async def test_a_person_can_cover_what_an_ended_token_left() -> None:
    fake = FakeService()
    async with running(app := make(fake)) as pilot:
        fake.publish_ended()
        await until(app, lambda: app.connection is None, "the end of the token")
        await pilot.press("ctrl+l")
        await until(app, lambda: isinstance(app.screen, CoverScreen), "the cover")


@pytest.mark.requirement("MONEY-26")
async def test_a_failure_of_the_console_itself_does_not_lift_the_cover() -> None:
    fake, broken = FakeService(), False

    async def answer(request: httpx.Request) -> httpx.Response:
        if broken:
            raise LookupError("nobody foresaw this")
        return await fake.handle(request)

    async with running(app := make(fake, transport=httpx.MockTransport(answer))) as pilot:
        await pilot.press("ctrl+l")
        await until(app, lambda: isinstance(app.screen, CoverScreen), "the cover")
        await idle(app)
        broken = True
        await pilot.press(*"jc_m.ito", "enter")
        await until(app, lambda: "the console itself failed (LookupError)" in screen_text(app), "the sentence")
        assert isinstance(app.screen, CoverScreen)


@pytest.mark.requirement("MONEY-26")
async def test_nothing_is_covered_before_anything_is_shown() -> None:
    moment = 0.0
    async with running(app := make(FakeService(), person=None, clock=lambda: moment), live=False):
        screen = await prompted(app)
        moment = 10_000.0
        app.tick()
        await idle(app)
        assert app.screen is screen


@pytest.mark.requirement("MONEY-26")
async def test_the_token_uncovers_the_same_place_for_the_same_person_and_a_new_one_for_another() -> None:
    async with running(app := make(FakeService())) as pilot:
        await pilot.press("2")
        place = app.place_screen
        for person, same in (("m.ito", True), ("k.rao", False)):
            await pilot.press("ctrl+l")
            await until(app, lambda: isinstance(app.screen, CoverScreen), "the cover")
            await idle(app)
            await pilot.press(*"jc_wrong", "enter")
            await until(app, lambda: "jobservice token create" in screen_text(app), "the refusal")
            await pilot.press(*f"jc_{person}", "enter")
            await until(app, lambda: app.link.connected and isinstance(app.screen, PlainScreen), "uncovered")
            assert (app.place_screen is place) is same
            assert app.place_screen.PLACE == "other"


@pytest.mark.requirement("TUI-04")
@pytest.mark.parametrize("size", [(120, 40), *also((60, 15), (40, 10))])
async def test_the_input_and_its_key_are_in_sight_at_every_size(size: tuple[int, int]) -> None:
    async with running(app := make(FakeService(), person=None), size=size, live=False):
        screen = await prompted(app)
        assert screen.region.contains_region(screen.entry.region)
        assert screen.entry.has_focus
        shown = screen_text(app)
        assert "Sign in" in shown
        assert "enter signs in" in shown


async def test_a_size_that_is_told_before_the_prompt_has_anything_in_it_breaks_nothing() -> None:
    async with running(app := make(FakeService())):
        screen = SignInScreen(profile="p", url="u")
        screen.on_resize(events.Resize(Size(80, 24), Size(80, 24)))
        await app.push_screen(screen)
        height = screen.query_one("#about").styles.max_height
        assert height is not None
        assert height.value == 24 - 11
