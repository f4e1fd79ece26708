"""Owns the console as one program: its state, its one timer, its modes, and who is told what. What commands do is in
`actions`, how one signs in is in `entrance`; nothing here knows of queues. Imports no client before the first frame.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import events
from textual.app import App
from textual.filter import LineFilter
from textual.geometry import Size
from textual.screen import Screen

from jobconsole import crash, paste
from jobconsole.actions import Actions
from jobconsole.commands.keymap import Keymap
from jobconsole.commands.situation import Situation
from jobconsole.entrance import Entrance
from jobconsole.facts import frame_of, situation_at
from jobconsole.messages import HintsArrived, LinkChanged, TokenEnded
from jobconsole.places import PLACES, Place
from jobconsole.present.frame import Frame
from jobconsole.present.link import Link, LinkState
from jobconsole.present.text import CONTROL_FILTER
from jobconsole.present.themes import themes
from jobconsole.screens.dialog import ActingDialog
from jobconsole.screens.place import PlaceScreen, bindings_everywhere
from jobconsole.screens.shell import Handler, SignedOut
from jobconsole.screens.start import StartScreen
from jobconsole.screens.too_small import TooSmallScreen, too_small
from jobconsole.settings import Settings
from jobconsole.tokens import Keyring, Token
from jobconsole.widgets.entry import CommandLine

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobconsole.connection import Connection
    from jobcontract.session import Session


class Console(App[None], inherit_bindings=False):
    """The console. `transport` and `clock` are for tests: another way to the service, another monotonic clock."""

    TITLE = "jobconsole"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        settings: Settings,
        keymap: Keymap,
        *,
        token: Token | None = None,
        keyring: Keyring | None = None,
        places: tuple[Place, ...] = PLACES,
        transport: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(driver_class=paste.driver())
        self.settings = settings
        self.keymap = keymap
        self.places = places
        self.clock = clock
        self.link = Link(state=LinkState.STARTING)
        self.revision = 0
        self.connection: Connection | None = None
        self.held: dict[str, int] = {}
        self.entrance = Entrance(self, token, keyring or Keyring(settings.profile, settings.url), transport)
        self.actions = Actions(self)
        self._last_key = self._last_refresh = clock()
        for theme in themes(settings.themes):
            self.register_theme(theme)
        self.theme = settings.theme
        self._bindings = bindings_everywhere(keymap, ("console.quit", "text.copy", "screen.cover"))

    def get_default_screen(self) -> Screen[Any]:
        """The first frame."""
        return StartScreen()

    def get_line_filters(self) -> list[LineFilter]:
        """Whatever paints: no control byte leaves."""
        return [*super().get_line_filters(), CONTROL_FILTER]

    def on_mount(self) -> None:
        """Starts the one timer; everything that takes time waits for the first frame."""
        self.set_interval(1.0, lambda: self.tick() if self.screen_stack else None)  # none is left while it closes
        self.call_after_refresh(self.entrance.start)
        crash.on_stop(lambda code: self.exit(return_code=code))

    @property
    def service(self) -> Service:
        """The client of who is signed in."""
        if self.connection is None:
            raise SignedOut("sign in first")
        return self.connection.service

    @property
    def session(self) -> Session | None:
        return None if self.connection is None else self.connection.session

    @property
    def tenant(self) -> str:
        """The tenant that is shown."""
        return "" if self.connection is None else self.connection.role.tenant

    @property
    def frame(self) -> Frame:
        return frame_of(self.settings, self.connection)

    @property
    def place_screen(self) -> PlaceScreen:
        """The place that is shown, below any dialog."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, PlaceScreen))

    def situation(self, place: str) -> Situation:
        return situation_at(place, self.settings, self.connection, self.link)

    def shell_handlers(self) -> dict[str, Handler]:
        return self.actions.handlers()

    def hold(self, holder: str, count: int) -> None:
        """How many claims a screen knows of as mine."""
        self.held[holder] = count

    def failed(self, error: BaseException, doing: str) -> None:
        """Says what failed; a token that ended signs out."""
        self.entrance.failed(error, doing)

    def show_link(self, link: Link) -> None:
        self.link = link
        self.place_screen.situation_changed()

    def tick(self) -> None:
        """The one timer: ages, countdowns, the cover, the slow refresh."""
        screen, now = self.place_screen, self.clock()
        if self.connection is not None and self.link.connected:
            self.link = self.connection.heard(self.link)
        screen.tick_frame()
        if now - self._last_key >= self.settings.cover_minutes * 60:
            self.entrance.cover(f"{self.settings.cover_minutes} minutes passed without a key.")
        if self.link.state is LinkState.LIVE and now - self._last_refresh >= self.settings.refresh_seconds:
            self._last_refresh = now
            screen.refresh_all()

    async def on_event(self, event: events.Event) -> None:
        """Remembers when a key came; drops those that an acting dialog must not take yet (MONEY.md 26)."""
        if isinstance(event, events.Key | events.Paste):
            self._last_key = self.clock()
        if isinstance(event, events.Key) and isinstance(self.screen, PlaceScreen) and self.screen.composed:
            self.screen.notices.clear()  # before the key is looked at: what it says itself stays
        acting = isinstance(event, events.Key | events.MouseDown | events.MouseUp)
        if acting and isinstance(self.screen, ActingDialog) and not self.screen.counts(event.time):
            return
        await super().on_event(event)

    def on_resize(self, event: events.Resize) -> None:
        self.fit(event.size)

    def fit(self, window: Size) -> None:
        """A window too small gets a sentence, never a cut screen."""
        if too_small(window) and not isinstance(self.screen, TooSmallScreen):
            self.push_screen(TooSmallScreen(window))
        elif isinstance(self.screen, TooSmallScreen):
            self.screen.fit(window)

    def on_link_changed(self, message: LinkChanged) -> None:
        if self.connection is not None:
            self.show_link(message.link)

    def on_hints_arrived(self, message: HintsArrived) -> None:
        self.revision += 1
        for screen in self.screen_stack:
            if isinstance(screen, PlaceScreen):
                screen.take_changes(message.hints)

    def on_reload_asked(self) -> None:
        self.revision += 1
        self.place_screen.refresh_all()

    def on_token_ended(self, message: TokenEnded) -> None:
        self.entrance.sign_out(message.sentence)

    def on_command_line_given(self, message: CommandLine.Given) -> None:
        self.actions.run_word(message.word)

    def action_run_command(self, command_id: str) -> None:
        """A command whose key counts in dialogs too."""
        self.place_screen.run_command(command_id)

    def action_go_to(self, key: str) -> None:
        """The key of a place."""
        if not self.place_screen.keeps_key(key):
            self.actions.go_to_key(key)

    def _fatal_error(self) -> None:
        # Textual's own prints every local variable; these are private there and pinned by a test.
        self._exit_renderables.append(Text(crash.report(sys.exc_info()[1])))
        self._return_code = crash.FAILED
        self._close_messages_no_wait()
