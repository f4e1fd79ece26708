"""The shell around every place: frame, places, command line, palette, help, copying, quitting, the live link."""

from __future__ import annotations

import pytest
from textual.widgets import Static

from jobconsole import places
from jobconsole.client.fake import FakeService
from jobconsole.commands.catalogue import COMMANDS, commands_of
from jobconsole.present.link import LinkState
from jobconsole.screens.choose import ChooseScreen
from jobconsole.screens.dialog import Ask
from jobconsole.screens.help import HelpScreen
from jobconsole.screens.too_small import TooSmallScreen
from tests.hostile import HOSTILE, harmless
from tests.screens.idle import idle, lines, screen_text, settled, until
from tests.screens.shell_stage import OtherScreen, PlainScreen, make, running


async def test_the_top_line_says_who_looks_at_what_and_how_old_it_is() -> None:
    async with running(app := make(FakeService(), options={"production": True, "read_only": True})):
        top = lines(app)[0]
        assert "PRODUCTION" in top
        assert "READ-ONLY" in top
        assert "leeds · m.ito (finance)" in top
        assert "● live · " in top


async def test_keys_and_names_lead_to_places_and_a_key_besides_escape_leads_back() -> None:
    async with running(app := make(FakeService())) as pilot:
        await pilot.press("2")
        assert isinstance(app.screen, OtherScreen)
        await pilot.press("backspace")
        assert isinstance(app.screen, PlainScreen)
        await pilot.press(*":oth", "tab", "enter")
        assert isinstance(app.screen, OtherScreen)
        await pilot.press("7")
        assert app.place_screen.notices.sentence == "No place has the key 7. Places: 1 plain, 2 other."


async def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    async with running(app := make(FakeService())) as pilot:
        await pilot.press(*":ohter", "enter")
        assert app.place_screen.notices.sentence == "There is no place, queue or command ohter. Did you mean :other?"


async def test_letters_typed_into_the_command_line_run_no_command() -> None:
    async with running(app := make(FakeService())) as pilot:
        await pilot.press(*":rq")
        screen = app.screen
        assert isinstance(screen, PlainScreen)
        await until(app, lambda: screen.reloads == 2, "the first page, and again once the stream is open")
        await pilot.press("escape", "r")
        await idle(app)
        assert screen.reloads == 3


async def test_every_command_of_the_shell_is_carried_out_somewhere() -> None:
    async with running(app := make(FakeService())):
        assert set(app.shell_handlers()) == {command.id for command in COMMANDS if not command.places}


async def test_the_palette_shows_every_command_and_greys_with_the_reason() -> None:
    async with running(app := make(FakeService()), size=(100, 40)) as pilot:
        await pilot.press("ctrl+p")
        assert isinstance(app.screen, ChooseScreen)
        shown = screen_text(app)
        for command in commands_of("plain"):
            assert command.title in shown or command.id == "palette.open"
        assert "you are in one tenant only" in shown
        await pilot.press(*"other", "enter")
        assert isinstance(app.screen, OtherScreen)


async def test_help_explains_the_screen_every_key_and_why_not() -> None:
    async with running(app := make(FakeService()), size=(110, 70)) as pilot:
        await pilot.press("question_mark")
        assert isinstance(app.screen, HelpScreen)
        shown = screen_text(app)
        assert "Shows one text." in shown
        assert "✗ not now: you are in one tenant only" in shown
        for command in commands_of("plain"):
            assert command.title in shown
        await pilot.press("q")
        assert isinstance(app.screen, PlainScreen)


async def test_a_key_of_the_keymap_replaces_the_default_everywhere() -> None:
    async with running(app := make(FakeService(), written={"help.show": "ctrl+h, H"}), size=(110, 70)) as pilot:
        await pilot.press("question_mark")
        assert isinstance(app.screen, PlainScreen)
        assert "^h help" in lines(app)[-1]
        await pilot.press("H")
        assert isinstance(app.screen, HelpScreen)


async def test_control_c_copies_says_so_truthfully_and_never_quits() -> None:
    async with running(app := make(FakeService())) as pilot:
        await pilot.press("ctrl+c")
        await idle(app)
        assert app.clipboard == "nothing"
        assert "whether it keeps them is its own setting" in app.place_screen.notices.sentence
        assert app.is_running


async def test_quitting_asks_while_claims_are_held() -> None:
    async with running(app := make(FakeService())) as pilot:
        app.hold("plain", 2)
        await pilot.press("ctrl+q")
        assert isinstance(app.screen, Ask)
        assert "Leave while you hold 2 claims?" in screen_text(app)
        await settled(app)
        await pilot.press("escape")
        assert app.is_running
        app.hold("plain", 0)
        await pilot.press("ctrl+q")
        await until(app, lambda: not app.is_running or app._exit, "the end")


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_is_data_in_every_sink_of_the_shell(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainScreen, "shown", text)
    monkeypatch.setattr(PlainScreen, "EXPLANATION", text)
    fake = FakeService()
    async with running(app := make(fake)) as pilot:
        app.connection.role = app.connection.role.model_copy(update={"tenant": text, "name": text})  # type: ignore[union-attr]  # signed in
        app.place_screen.say(text, error=True)
        app.place_screen.situation_changed()
        seen = [lines(app)]
        app.push_screen(Ask(title=text, act=text, lines=(text, text)))
        await idle(app)
        seen.append(lines(app))
        await pilot.press("escape", "question_mark")
        seen.append(lines(app))
        await pilot.press("escape")
        assert app.is_running
    for screen in seen:
        assert all(harmless(painted) for painted in screen)
    if text.isascii() and text.isprintable() and 0 < len(text) < 30:
        assert text in "\n".join(seen[0])
        assert text in "\n".join(seen[1])


async def test_what_forgot_to_convert_is_still_filtered() -> None:
    async with running(app := make(FakeService())):
        app.screen.query_one("#shown", Static).update("a\x1b]52;c;eA==\x1b\\b\u202ec")
        await idle(app)
        assert all(harmless(painted) for painted in lines(app))


@pytest.mark.requirement("TUI-07")
async def test_a_lost_link_is_said_acts_are_refused_and_it_comes_back_by_itself() -> None:
    fake = FakeService()
    async with running(app := make(fake)):
        fake.away = True
        fake.close_streams()
        await until(app, lambda: app.link.state is LinkState.STALE, "stale")
        assert "stale since" in lines(app)[0]
        assert "trying again" in lines(app)[0]
        assert not app.situation("plain").connected
        before = app.place_screen.reloads  # type: ignore[attr-defined]  # the stage's own screen
        fake.away = False
        await until(app, lambda: app.link.state is LinkState.LIVE, "live again")
        await until(app, lambda: app.place_screen.reloads > before, "a reload")  # type: ignore[attr-defined]  # as above


@pytest.mark.requirement("TUI-07")
async def test_an_ended_token_is_said_and_nothing_is_asked_any_more() -> None:
    fake = FakeService()
    async with running(app := make(fake)):
        fake.publish_ended()
        await until(app, lambda: app.link.state is LinkState.SIGNED_OUT, "signed out")
        assert app.connection is None
        assert "L signs in again" in app.place_screen.notices.sentence
        assert "L sign in" in lines(app)[-1]
        assert not [worker for worker in app.workers if worker.group == "feed" and worker.is_running]


async def test_sentences_name_the_keys_that_the_person_chose() -> None:
    fake = FakeService()
    written = {"session.sign-in": "f9", "console.quit": "f10", "live.pause": "none"}
    async with running(app := make(fake, written=written)):
        app.place_screen.run_command("live.pause")
        assert ":live.pause goes on" in app.place_screen.notices.sentence
        app.actions.back()
        assert "f10 leaves the console" in app.place_screen.notices.sentence
        fake.publish_ended()
        await until(app, lambda: app.link.state is LinkState.SIGNED_OUT, "signed out")
        assert "f9 signs in again" in app.place_screen.notices.sentence


@pytest.mark.requirement("TUI-07")
async def test_a_failure_in_a_command_is_a_sentence_and_the_console_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: PlainScreen) -> None:
        token = "jc_local_variable_of_a_worker"
        raise ValueError(token)

    async with running(app := make(FakeService())) as pilot:
        monkeypatch.setattr(PlainScreen, "reload", broken)
        await pilot.press("r")
        await idle(app)
        assert "the console itself failed (ValueError)" in app.place_screen.notices.sentence
        assert "jc_" not in app.place_screen.notices.sentence
        assert app.is_running


async def test_hints_reach_the_place_that_is_shown_and_others_reload_when_they_are() -> None:
    fake = FakeService()
    key = fake.queues.add("payments.payouts", "Acme Ltd", minor=1)
    async with running(app := make(fake)) as pilot:
        first = app.place_screen
        assert isinstance(first, PlainScreen)
        await pilot.press("2")
        await idle(app)
        fake._hint(fake.queues.items[key])
        other = app.place_screen
        assert isinstance(other, OtherScreen)
        await until(app, lambda: other.hints, "the hint")
        assert first.hints == ()
        reloads = first.reloads
        await pilot.press("1")
        await idle(app)
        assert first.reloads == reloads + 1


async def test_paused_updates_wait_and_the_top_line_says_so() -> None:
    fake = FakeService()
    key = fake.queues.add("payments.payouts", "Acme Ltd", minor=1)
    async with running(app := make(fake)) as pilot:
        screen = app.place_screen
        assert isinstance(screen, PlainScreen)
        await pilot.press("p")
        assert "‖ paused" in lines(app)[0]
        fake._hint(fake.queues.items[key])
        await until(app, lambda: app.connection and app.connection._coalescer._pending, "the hint held back")
        assert screen.hints == ()
        await pilot.press("p")
        await until(app, lambda: screen.hints, "the hint let go")


@pytest.mark.requirement("TUI-04")
async def test_a_window_too_small_gets_a_sentence_and_comes_back() -> None:
    async with running(app := make(FakeService())) as pilot:
        for size in ((30, 8), (1, 1), (39, 24)):
            await pilot.resize_terminal(*size)
            await until(app, lambda: isinstance(app.screen, TooSmallScreen), "the sentence")
        assert "This window is 39x24" in screen_text(app)
        await pilot.press("2")
        await pilot.resize_terminal(40, 10)
        await until(app, lambda: isinstance(app.screen, PlainScreen), "the place")


async def test_switching_the_tenant_shows_every_place_anew() -> None:
    async with running(app := make(FakeService()), size=(100, 30)) as pilot:
        connection = app.connection
        assert connection is not None
        other = connection.role.model_copy(update={"tenant": "york", "name": "York [b]City"})
        connection.session = connection.session.model_copy(update={"tenants": (connection.role, other)})
        await pilot.press("2")
        before = app.place_screen
        await pilot.press("T")
        assert isinstance(app.screen, ChooseScreen)
        assert "it is the one shown" in screen_text(app)
        await pilot.press(*"york")
        assert "York [b]City" in screen_text(app)
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, OtherScreen), "the place")
        assert app.tenant == connection.service.tenant == "york"
        assert app.place_screen is not before
        assert "york · m.ito" in lines(app)[0]


async def test_the_timer_may_come_before_a_place_is_composed() -> None:
    async with running(app := make(FakeService(), places=places.PLACES)) as pilot:
        app.actions.go_to_key("2")
        app.tick()
        await pilot.pause()
        assert app.is_running
        assert "m.ito" in screen_text(app)


async def test_another_theme_is_shown_at_once_and_how_to_keep_it_is_said() -> None:
    async with running(app := make(FakeService())) as pilot:
        await pilot.press("ctrl+t")
        assert isinstance(app.screen, ChooseScreen)
        assert "it is the one shown" in screen_text(app)
        await pilot.press(*"light", "enter")
        assert app.theme == "light"
        assert app.place_screen.notices.sentence == (
            'Shown in light. To keep it: theme = "light" in /nonexistent/none.toml'
        )
