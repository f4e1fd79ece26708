"""Owns the screen of one item: its payment, who holds it, its history of claims and acts, and what was sent along.

It shows what the service said last and asks again when a hint names the item. Claims and acts are those of
`screens/acting.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.getters import query_one

from jobconsole.client import queues as client
from jobconsole.present.columns import Piece, Tone
from jobconsole.present.items import LABEL, brief_lines, full_lines, heading
from jobconsole.screens.acting import Subject
from jobconsole.screens.uncertain import AskedScreen
from jobconsole.widgets.lines import Lines

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.events import Hint
    from jobcontract.items import Item, ItemDetail
    from jobcontract.queues import Queue


class ItemScreen(AskedScreen):
    """Everything of one item."""

    PLACE = "item"
    TITLE_WORDS = "Item"
    EXPLANATION = (
        "Everything of one item: what is paid to whom, who holds it and until when, every claim and act so far, and "
        "what the application sent along. Times are in your profile's zone and in UTC."
    )
    CSS_PATH: ClassVar[str] = "item.tcss"

    about = query_one("#heading", Lines)
    whole = query_one("#lines", Lines)

    def __init__(
        self,
        queue: Queue,
        item: Item,
        detail: ItemDetail | None,
        *,
        on_told: Callable[[Item, datetime], None] = lambda _item, _as_of: None,
    ) -> None:
        """`on_told` hears how the item stands whenever an answer says so."""
        super().__init__()
        self.queue = queue
        self.item = item
        self.detail = detail
        self._on_told = on_told

    def compose_body(self) -> ComposeResult:
        """Heading, then everything else, scrolling."""
        yield Lines(id="heading")
        with VerticalScroll(id="whole"):
            yield Lines(id="lines", indent=LABEL)

    def on_mount(self) -> None:
        """Shows what is known; what is not, the place asks for itself."""
        self.query_one("#whole").focus()
        self.show_item()

    async def reload(self) -> None:
        """Asks for the item."""
        detail = await client.item(self.shell.service, self.item.id)
        if self.detail is None or detail.as_of >= self.detail.as_of:
            self.detail, self.item = detail, detail.item
            self._on_told(detail.item, detail.as_of)
            await self.load_payout(detail.item)
            self.show_item()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Asks again where a hint names the item."""
        if any(hint.id == self.item.id for hint in hints):
            self.work(self.reload(), doing="Reading the item", group="detail", exclusive=True)

    def tick(self) -> None:
        """Counts down."""
        self.show_item()
        self.tick_form()

    def copyable(self) -> str | None:
        """The item's id."""
        return self.item.id

    def subject(self) -> Subject:
        """The item."""
        return Subject(queue=self.queue, item=self.item)

    def took(self, item: Item, as_of: datetime) -> None:
        """An answer told how the item stands; its history is asked for."""
        self.item = item
        self._on_told(item, as_of)
        self.show_item()
        self.work(self.reload(), doing="Reading the item", group="detail", exclusive=True)

    def there(self) -> bool:
        """Whether the lines are there."""
        return super().there() and bool(self.query("#lines")) and bool(self.query("#heading"))

    def show_item(self) -> None:
        """Shows everything that is known, by the service's time now."""
        if not self.there():
            return
        seen = self.seen_in(self.queue.claim)
        stale = [] if self.shell.link.connected else [(Piece("▲ as it stood when the connection was lost", Tone.WARN),)]
        self.about.show([heading(self.item), *stale])
        question = self.asked_lines(self.item)
        if self.detail is None:
            self.whole.show([*question, *brief_lines(self.item, None, seen)])
        else:
            told = self.detail.model_copy(update={"item": self.item})
            self.whole.show([*question, *full_lines(told, seen)])
        self.situation_changed()
