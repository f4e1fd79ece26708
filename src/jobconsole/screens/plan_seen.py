"""Owns from where a place about money is looked at: by whom, when by the service's clock, in which zone. Rows stay on the
screen after a token ended, and so does what is known of these.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jobconsole.commands.keymap import named
from jobconsole.present.plans import PlanSeen
from jobconsole.present.schedules import At
from jobconsole.screens.place import PlaceScreen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jobconsole.client.clock import ServerClock

BEFORE = datetime(1970, 1, 1, tzinfo=UTC)
"""The time before the service told one."""


class SeenScreen(PlaceScreen):
    """A place whose rows are looked at by a person, at a time."""

    _me: str = ""
    _clock: ServerClock | None = None

    def seen(self) -> PlanSeen:
        """From where the place is looked at, now."""
        session = self.shell.session
        if session is not None:
            self._me, self._clock = session.person.id, self.shell.service.clock
        now = self._clock.server_now() if self._clock is not None else None
        return PlanSeen(me=self._me, now=now or BEFORE, zone=self.shell.frame.zone)

    def at(self) -> At:
        """When and in which zone the place is looked at, now."""
        seen = self.seen()
        return At(now=seen.now, zone=seen.zone)

    def there(self) -> bool:
        """Whether the parts of the screen are there: not before it is composed, nor once it is taken down."""
        return self.is_mounted and self.is_attached and self.composed


def seen_of(screen: PlaceScreen) -> PlanSeen:
    """From where any place is looked at, now."""
    if isinstance(screen, SeenScreen):
        return screen.seen()
    session = screen.shell.session
    now = screen.shell.service.clock.server_now() if session is not None else None
    return PlanSeen(me=session.person.id if session else "", now=now or BEFORE, zone=screen.shell.frame.zone)


def key_words(screen: PlaceScreen, *commands: str) -> Mapping[str, str]:
    """Command id to its first key as it is named; `:plan.pause` where a keymap took all of them."""
    return {each: named(screen.shell.keymap, each) for each in commands}
