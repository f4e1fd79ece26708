"""Owns the place that says whether money moves and what each person released: today in UTC, and in the last 24 hours
against the limits. It asks again when a hint names a plan or the switch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import money as client
from jobconsole.client.errors import ClientError
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Line, Piece, Tone, joined, plain, width_of
from jobconsole.present.money import (
    day_pieces,
    day_words,
    released_cells,
    released_columns,
    released_needs,
    switch_line,
    uncertain_line,
)
from jobconsole.screens.plan_seen import SeenScreen, key_words
from jobconsole.screens.queues_opening import open_uncertain
from jobconsole.screens.shell import Handler
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.rows import Row
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.plans import Money, Released

PAUSE_SECONDS = 1.0
"""Between two looks, however fast hints come."""
EMPTY = "Nobody released anything in the last 24 hours."


class ReleasedRows:
    """What each person released in each currency, as it was told last."""

    flat = False

    def __init__(self) -> None:
        self.rows: tuple[Released, ...] = ()
        self.me = ""

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> str:
        """Person and currency."""
        return f"{self.rows[index].currency} {self.rows[index].person.id}"

    def index(self, key: str) -> int | None:
        """Where they are."""
        return next((at for at in range(len(self.rows)) if self.key(at) == key), None)

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Cells of the last 24 hours."""
        return width_of(plain(joined(day_pieces(self.rows[index]))))

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """The text of a row."""
        released = self.rows[index]
        return Row(cells=released_cells(released, mine=released.person.id == self.me), under=day_pieces(released))


class ReleasedScreen(SeenScreen):
    """Released today."""

    PLACE = "released"
    TITLE_WORDS = "Released today"
    EXPLANATION = (
        "Whether money moves in this tenant, and what each person released: today, which is the day in UTC, and in the "
        "last 24 hours. The limits count the last 24 hours, with what was confirmed and did not have its turn yet. Each "
        "currency stands by itself."
    )
    AUTO_FOCUS = "#released"
    DEFAULT_CSS = """
    ReleasedScreen #switch, ReleasedScreen #said { padding: 0 1; }
    ReleasedScreen #switch { margin-bottom: 1; }
    ReleasedScreen #said { display: none; }
    """

    switch = query_one("#switch", Lines)
    said = query_one("#said", Lines)
    table = query_one("#released", Table)

    def __init__(self) -> None:
        super().__init__()
        self.money: Money | None = None
        self.released = ReleasedRows()
        self.failure = ""
        """Why it could not be loaded; empty while it could."""
        self._again = self._looking = False

    def compose_body(self) -> ComposeResult:
        """The switch, then who released what."""
        with Vertical():
            yield Lines(id="switch", indent=2)
            yield Lines(id="said")
            yield Table(id="released")

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks by itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """The way to what is uncertain."""
        return {"plan.review": self.review}

    def situation(self) -> Situation:
        """With what the place knows of the switch."""
        facts, money = super().situation(), self.money
        if money is None:
            return facts
        return replace(facts, stopped=money.stopped is not None, uncertain=money.uncertain)

    async def reload(self) -> None:
        """Asks for the switch and the sums."""
        if self.shell.session is None:
            return
        try:
            self.money = await client.money(self.shell.service)
        except ClientError as error:
            self.failure = error.sentence
            self.show_all()
            raise
        self.failure = ""
        self.released.rows = self.money.released
        self.show_all()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Asks again where a hint names a plan or the switch."""
        if any(hint.topic in (Topic.PLAN, Topic.MONEY) for hint in hints):
            self._again = True
            if not self._looking:
                self._looking = True
                self.work(self._look(), doing="Reading what was released", group="released")

    def copyable(self) -> str | None:
        """Person and currency under the cursor."""
        return self.table.cursor_key

    async def review(self) -> None:
        """Goes to the queue of what is uncertain."""
        await open_uncertain(self)

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#switch")) and bool(self.query("#released"))

    def show_all(self) -> None:
        """Shows switch and sums for what is known now."""
        if not self.there():
            return
        money, seen = self.money, self.seen()
        self.released.me = seen.me
        sentence = self.failure or ("Reading what was released …" if money is None else EMPTY)
        self.switch.display = money is not None
        if money is not None:
            self.switch.show(self._heading(money))
        self.table.display = len(self.released) > 0
        self.said.display = not self.table.display
        self.said.show([(Piece(sentence, Tone.BAD if self.failure else Tone.QUIET),)])
        self.table.show(self.released, released_columns(), released_needs(self.released.rows))
        self.table.set_class(not self.shell.link.connected and len(self.released) > 0, "-stale")
        self.situation_changed()

    def _heading(self, money: Money) -> Sequence[Line]:
        keys = key_words(self, "money.stop", "money.start", "plan.review")
        zone = self.shell.frame.zone
        return [
            switch_line(money, zone, keys),
            uncertain_line(money.uncertain, keys["plan.review"]),
            (Piece(day_words(money.as_of, zone), Tone.QUIET),),
        ]

    async def _look(self) -> None:
        try:
            while self._again:
                self._again = False
                await self.reload()
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self._looking = False
