"""Owns how a place of schedules follows the service: it looks when it is first shown, at a hint that concerns it, and
slowly by itself where time alone changes things. Looks never overlap, however fast hints come.

A look that fails leaves what is shown, marks it, and says why and from when it is. Where the service gave no answer, it looks
again by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from jobconsole.client.errors import ClientError, ServiceAway
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.times import utc
from jobconsole.screens.place import PlaceScreen
from jobconsole.screens.plan_seen import SeenScreen
from jobconsole.widgets.rows import Rows
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.events import Hint

PAUSE_SECONDS = 1.0
"""Between two looks, however fast hints come."""
TOPICS = frozenset({Topic.SCHEDULE, Topic.SCHEDULES})


class WatchingScreen(SeenScreen):
    """A place that shows what the service says of schedules, occurrences or Workers."""

    READING: ClassVar[str] = "Reading"
    """What it does while it looks, for sentences."""
    EVERY: ClassVar[int] = 10
    """Seconds between two looks that no hint asks for, while `restless`."""

    def __init__(self) -> None:
        super().__init__()
        self.told_at: datetime | None = None
        """When the service last told what is shown, by its clock; None before it did."""
        self.failure = ""
        """Why it could not be read; empty while it could."""
        self.away = False
        """Whether it could not be read because no answer came: then it is tried again by itself."""
        self._again = self._looking = self._missed = self._quiet = False
        self._ticks = 0

    async def look(self) -> None:
        """Asks the service for everything shown."""
        raise NotImplementedError

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        raise NotImplementedError

    def concerned(self, hint: Hint) -> bool:
        """Whether a hint is about what is shown."""
        return hint.topic in TOPICS

    def restless(self) -> bool:
        """Whether what is shown changes without a hint."""
        return False

    def least_pause(self) -> float:
        """Seconds until the next look may begin."""
        return PAUSE_SECONDS

    async def reload(self) -> None:
        """Looks, and says where that fails."""
        if self.shell.session is None:
            return
        try:
            await self.look()
        except ClientError as error:
            told = self._quiet and self.away
            self.failure, self.away, self._quiet = error.sentence, isinstance(error, ServiceAway), False
            self.show_all()
            if told and self.away:
                return  # it stands on the screen already
            raise
        self.failure, self.away, self._quiet = "", False, False
        self.told_at = self.seen().now
        self.show_all()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Looks again where a hint concerns it; behind another place once it is in front again."""
        if any(self.concerned(hint) for hint in hints):
            self._missed = not self._in_front()
            if not self._missed:
                self.look_again()

    def on_screen_resume(self) -> None:
        """Looks at what changed while another place was in front, and where time alone may have changed it."""
        old = self.told_at is not None and (self.at().now - self.told_at).total_seconds() >= self.EVERY
        if self._missed or (old and self.shell.session is not None):
            self._missed = False
            self.look_again()

    def look_again(self) -> None:
        """Lets a look begin, or another one follow the one that runs."""
        self._again = True
        if not self._looking:
            self._looking = True
            self.work(self._looks(), doing=self.READING, group="looks")

    def tick(self) -> None:
        """Counts down, and looks by itself now and then."""
        if not self.there():
            return
        self._ticks += 1
        if self._ticks % self.EVERY == 0 and (self.restless() or self.away) and self.shell.link.connected:
            self._quiet = self.away
            self.look_again()
        self.count_down()

    def count_down(self) -> None:
        """Paints again what time alone changes."""

    def situation_changed(self) -> None:
        """Also marks what is shown as of an earlier time."""
        super().situation_changed()
        if self.there():
            stale = self.told_at is not None and (not self.shell.link.connected or bool(self.failure))
            for table in self.query(Table):
                table.set_class(stale, "-stale")

    def said_lines(self, empty: str, *, rows: int) -> list[Line]:
        """What is to be said in words: why it failed, that it is being read, or that there is nothing."""
        if self.failure:
            since = f" What is shown is as of {utc(self.told_at)}." if self.told_at is not None and rows else ""
            again = f" It is tried again every {self.EVERY} s." if self.away and self.shell.link.connected else ""
            return [(Piece(f"✗ {self.failure}{since}{again}", Tone.BAD),)]
        if self.told_at is None and not rows:
            return [(Piece(f"{self.READING} …", Tone.QUIET),)]
        return [] if rows else [(Piece(empty, Tone.QUIET),)]

    def _in_front(self) -> bool:
        """Whether no other place covers it; a dialog may."""
        shown = (screen for screen in reversed(self.app.screen_stack) if isinstance(screen, PlaceScreen))
        return next(shown, None) is self

    async def _looks(self) -> None:
        try:
            while self._again and self.shell.session is not None:
                self._again = False
                await self.reload()
                await asyncio.sleep(self.least_pause())
        finally:
            self._looking = False


def repaint(table: Table, rows: Rows) -> None:
    """Paints those of `rows`, which the table shows, again that are in sight."""
    first, end = table.window
    table.repaint(rows.key(at) for at in range(first, min(end, len(rows))))
