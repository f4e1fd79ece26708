"""Owns what a screen may ask of the console around it. The App keeps this promise; screens know no more of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from jobconsole.commands.keymap import Keymap
from jobconsole.commands.situation import Situation
from jobconsole.present.frame import Frame
from jobconsole.present.link import Link

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobcontract.session import Session

Handler = Callable[[], Any]
"""Carries out a command: a function, or a coroutine function that the screen runs as a worker."""


class SignedOut(Exception):
    """Nobody is signed in, so nothing can be asked of the service."""


class Shell(Protocol):
    """The console as its screens see it."""

    @property
    def service(self) -> Service:
        """The client, for calls of `client/`; its `clock` is the service's time. Raises `SignedOut` while nobody is in."""

    @property
    def session(self) -> Session | None:
        """Who is signed in; None while nobody is."""

    @property
    def tenant(self) -> str:
        """The tenant that is shown; empty while signed out."""

    @property
    def revision(self) -> int:
        """Rises with every batch of live changes; a place that was not shown meanwhile reloads when it is."""

    @property
    def frame(self) -> Frame:
        """What the top line says at its left, and the profile's zone."""

    @property
    def link(self) -> Link:
        """How things stand with the service."""

    @property
    def keymap(self) -> Keymap:
        """Keys of every command."""

    def situation(self, place: str) -> Situation:
        """The facts that hold for every screen at `place`."""

    def shell_handlers(self) -> dict[str, Handler]:
        """How the commands of the shell are carried out."""

    def failed(self, error: BaseException, doing: str) -> None:
        """Says that `doing` (`Loading the queue`) failed, why, and what to do. Signs out where the token ended."""

    def hold(self, holder: str, count: int) -> None:
        """Tells how many claims the screen `holder` knows of as mine: quitting asks while there are any."""
