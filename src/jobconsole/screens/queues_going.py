"""Owns going to another place of the list than the next page: its ends, a score, an item, and back to where one was.

What is wished for last wins: one request is on its way at a time, and an answer that nobody waits for any more is
dropped. Until the rows are there the old ones stay, and nothing is selected: no key acts on a row that is being left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobconsole.client.errors import ServiceRefused
from jobconsole.screens.acting import Subject
from jobconsole.screens.go_to import GoToScreen
from jobconsole.screens.queues_fetching import FetchingScreen
from jobconsole.screens.queues_pages import FIRST, LAST
from jobconsole.screens.shell import Handler
from jobcontract.money import MINUS
from jobcontract.starts import SCORE_MOST
from jobcontract.states import ItemView

if TYPE_CHECKING:
    from jobconsole.screens.queues_listing import Listing
    from jobcontract.queues import Queue

BACK_MOST = 50
"""Places that are remembered for going back."""
_WHOLE = re.compile(rf"[{MINUS}+-]?[0-9][0-9,]{{0,12}}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """Where a person wants to go: the start that a page is asked for, and whether it leads back."""

    start: str
    back: bool = False


def read_score(text: str) -> str:
    """The score that was typed, as a start says it. ValueError with what to type."""
    digits = text.replace(",", "").replace(MINUS, "-").replace(" ", "")
    if not _WHOLE.fullmatch(text) or abs(int(digits)) > SCORE_MOST:
        raise ValueError(f"A score is a whole number, like 80; {text[:40]} is none.")
    return str(int(digits))


class GoingScreen(FetchingScreen):
    """A place in whose list a person can go anywhere."""

    def __init__(self) -> None:
        super().__init__()
        self._wished: Going | None = None
        self._on_its_way = False
        self._before: list[tuple[tuple[str, ...], str]] = []
        """Queue, view and filter, with the row on which the cursor was."""

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of going."""
        return {
            **super().handlers(),
            "row.first": lambda: self._go_to_end(FIRST),
            "row.last": lambda: self._go_to_end(LAST),
            "row.score": self.ask_score,
            "row.item": self.ask_item,
            "row.back": self.go_to_before,
        }

    def subject(self) -> Subject | None:
        """Nothing, while the list goes elsewhere."""
        return None if self._wished is not None else super().subject()

    async def show_queue(self, queue: Queue | None, view: ItemView) -> None:
        """Another list: what was wished for in the old one is no longer wanted."""
        self._wished = None
        await super().show_queue(queue, view)

    def go_to_name(self, word: str) -> bool:
        """`:80` goes to a score, where the queue has scores."""
        if _WHOLE.fullmatch(word) and self.queue is not None and self.queue.score is not None:
            self.go(Going(start=f"score:{read_score(word)}"))
            return True
        return super().go_to_name(word)

    async def ask_score(self) -> None:
        """Asks for a score and goes to the first row that has no more."""
        given = await self.app.push_screen_wait(GoToScreen("Go to score", "e.g. 80", read_score))
        if given is not None:
            self.go(Going(start=f"score:{given}"))

    async def ask_item(self) -> None:
        """Asks for an item's id or key and goes to it."""
        given = await self.app.push_screen_wait(GoToScreen("Go to item", "its id or its key", lambda text: text))
        if given is not None:
            self.go_to_item(given)

    def go_to_item(self, item: str) -> None:
        """Goes to an item of the list by its id or key: at once where it is loaded."""
        if self.listing.index(item) is not None:
            self._remember()
            self.table.land(item)
        else:
            self.go(Going(start=f"item:{item}"))

    def go_to_before(self) -> None:
        """Goes back to the row on which the cursor was before it was sent elsewhere."""
        while self._before:
            scope, key = self._before.pop()
            if scope != self._scope() or key == self.table.cursor_key:
                continue
            if self.listing.index(key) is not None:
                self.table.land(key)
            else:
                self.go(Going(start=f"item:{key}", back=True))
            return
        self.say("There is nowhere to go back to in this list.")

    def go(self, going: Going) -> None:
        """Goes there; while something else is on its way, after that, unless a newer wish comes."""
        self._wished = going
        if not self._on_its_way:
            self._on_its_way = True
            self.work(self._go_on(), doing="Going there", group="going")

    def _go_to_end(self, end: str) -> None:
        here = self.listing.pages.begun if end == FIRST else self.listing.pages.ended
        if here or not self.listing.started:
            self._wished = None
            self._remember()
            self.table.action_jump(0 if end == FIRST else -1)
        else:
            self.go(Going(start=end))

    async def _go_on(self) -> None:
        try:
            while (going := self._wished) is not None:
                listing = await self._rows_from(going)
                if going == self._wished:
                    self._wished = None
                    if listing is not None:
                        self._arrive(going, listing)
        finally:
            self._wished, self._on_its_way = None, False
            self.situation_changed()

    async def _rows_from(self, going: Going) -> Listing | None:
        try:
            return await self.load(going.start)
        except ServiceRefused as refused:
            if going == self._wished:
                self.say(refused.sentence, error=True)
            return None

    def _arrive(self, going: Going, listing: Listing) -> None:
        if not going.back:
            self._remember()
        if not len(listing):
            self.say("Nothing is there.")
            return
        last = listing.key(len(listing) - 1)
        self.adopt(listing, last if going.start == LAST else listing.opened or last)

    def _remember(self) -> None:
        key = self.table.cursor_key
        if key is not None:
            self._before = [*self._before[1 - BACK_MOST :], (self._scope(), key)]
