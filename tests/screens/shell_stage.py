"""Owns a small console for tests of the shell: two places of its own over the fake service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.commands.keymap import read_keymap
from jobconsole.places import Place
from jobconsole.present.text import txt
from jobconsole.screens.place import PlaceScreen
from jobconsole.settings import load
from jobconsole.tokens import Keyring, KeyringAway, Token
from tests.screens.idle import idle, until

if TYPE_CHECKING:
    from jobcontract.events import Hint


class PlainScreen(PlaceScreen):
    """A place that shows one text and counts what it was told."""

    PLACE = "plain"
    TITLE_WORDS = "Plain"
    EXPLANATION = "Shows one text."

    shown = "nothing"
    reloads = 0
    hints: tuple[Hint, ...] = ()

    def compose_body(self) -> ComposeResult:
        yield Static(txt(self.shown), id="shown")

    async def reload(self) -> None:
        self.reloads += 1

    def changed(self, hints: Sequence[Hint]) -> None:
        self.hints = (*self.hints, *hints)

    def copyable(self) -> str | None:
        return self.shown


class OtherScreen(PlainScreen):
    """Another place."""

    PLACE = "other"
    TITLE_WORDS = "Other"


PLACES = (
    Place(id="plain", key="1", title="Plain", screen=f"{__name__}:PlainScreen"),
    Place(id="other", key="2", title="Other", screen=f"{__name__}:OtherScreen"),
)


class NoKeyring:
    """A back-end that is not on the allow-list."""


def keyring(find: Callable[[], Any] = NoKeyring, *, timeout: float = 1.0) -> Keyring:
    """A keyring that asks nothing of this machine."""
    return Keyring("default", "http://127.0.0.1:1", timeout=timeout, find=find)


def make(
    fake: FakeService,
    *,
    person: str | None = "m.ito",
    options: Mapping[str, object] | None = None,
    written: Mapping[str, str] | None = None,
    **more: Any,
) -> Console:
    """A console over `fake` that nothing of this machine reaches."""
    settings = load(
        {"url": "http://127.0.0.1:1", "zone": "UTC", **(options or {})}, file=Path("/nonexistent/none.toml"), environ={}
    )
    return Console(
        settings,
        read_keymap(written or {}),
        token=Token(f"jc_{person}") if person else None,
        **{"places": PLACES, "transport": fake.transport(), "keyring": keyring(), **more},
    )


@asynccontextmanager
async def running(app: Console, *, size: tuple[int, int] = (80, 24), live: bool = True) -> AsyncIterator[Pilot[None]]:
    """The console, running; `live` waits until it is signed in and the feed is live."""
    async with app.run_test(size=size) as pilot:
        if live:
            await until(app, lambda: app.link.connected, "the live link")
            await until(app, lambda: app.place_screen.PLACE != "start", "a place")
            await idle(app)
        yield pilot


__all__ = ["KeyringAway", "OtherScreen", "PlainScreen", "keyring", "make", "running"]
