"""Owns what the Queues place asks the service for, and when: queues, pages of one view, totals after the page, the
detail of the row under the cursor. Hints mark as old; only what is in sight is fetched again, one request at a time.

Shows nothing itself: a subclass says how (`show_all`, `show_rows`, `show_detail`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.getters import query_one
from textual.timer import Timer

from jobconsole.client import queues as client
from jobconsole.client.errors import ClientError, ServiceRefused
from jobconsole.present.items import Seen
from jobconsole.screens.acting import ActingScreen, Subject
from jobconsole.screens.queues_listing import Listing, Moved
from jobconsole.widgets.table import Table
from jobcontract.errors import ErrorCode
from jobcontract.states import ClaimMode, ItemView

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.events import Hint
    from jobcontract.items import Item, ItemDetail, ItemPage
    from jobcontract.queues import Queue, QueueTotals

PAGE = 100
"""Rows asked for at once."""
SETTLE_SECONDS = 0.15
"""How long the cursor rests on a row before its detail is asked for."""
PAUSE_SECONDS = 0.4
"""Between two rounds of fetching again, however fast hints come."""


class FetchingScreen(ActingScreen):
    """A place that holds one view of one queue as it was fetched."""

    table = query_one("#list", Table)

    def __init__(self) -> None:
        super().__init__()
        self.queues: tuple[Queue, ...] = ()
        self.queue: Queue | None = None
        self.view = ItemView.WAITING
        self.listing = Listing(self.view, self.seen)
        self.detail: ItemDetail | None = None
        self.totals: dict[str, QueueTotals] = {}
        self.asked = False
        """Whether the service told the queues."""
        self.failure = ""
        """Why the list could not be loaded; empty while it could."""
        self.moved = Moved()
        """What the last page that was fetched again brought."""
        self._uncounted: set[str] = set()
        self._fetching = asyncio.Lock()
        self._paging = asyncio.Lock()
        self._settling: Timer | None = None

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        raise NotImplementedError

    def show_rows(self, *, fresh: bool = False) -> None:
        """Shows the rows; `fresh`: they are of another list."""
        raise NotImplementedError

    def show_detail(self) -> None:
        """Shows the item under the cursor."""
        raise NotImplementedError

    async def reload(self) -> None:
        """Asks for the queues, then for what is on screen."""
        if self.shell.session is None:
            return
        try:
            found = (await client.queues(self.shell.service)).queues
        except ClientError as error:
            self._fail(error.sentence)
            raise
        self.failure, self.queues, self.asked = "", found, True
        self._uncounted = {queue.id for queue in found}
        known = next((queue for queue in found if self.queue is not None and queue.id == self.queue.id), None)
        if known is None:
            first = max(found, key=lambda queue: (queue.money, queue.claim is ClaimMode.REQUIRED), default=None)
            await self.show_queue(first, ItemView.WAITING)
        else:
            self.queue = known
            self.listing.touch_all()
            self.show_all()
            await self.refetch()

    async def show_queue(self, queue: Queue | None, view: ItemView) -> None:
        """Shows a queue from its first page, then counts it."""
        self.queue, self.view, self.detail = queue, view, None
        self.moved, self.failure = Moved(), ""
        self.listing = Listing(view, self.seen)
        self.show_rows(fresh=True)
        self.show_all()
        if queue is not None:
            await self.more()
            self._uncounted.add(queue.id)
            await self.refetch()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Marks what changed as old, and fetches again what of it is in sight."""
        if not self.there():
            return
        here = [hint.id for hint in hints if self.queue is not None and hint.queue == self.queue.id]
        self.listing.touch(here)
        self._uncounted |= {hint.queue for hint in hints} & {queue.id for queue in self.queues}
        if self.table.cursor_key in here:
            self.settle_soon()
        self.refetch_soon()

    def took(self, item: Item, as_of: datetime) -> None:
        """An answer told how an item stands now."""
        self.listing.update(item, as_of, self.table.cursor_key)
        self._uncounted.add(item.queue)
        if self.detail is not None and self.detail.item.id == item.id and self.detail.as_of <= as_of:
            self.detail = None
        self.show_rows()
        self.show_all()
        self.settle_soon()
        self.refetch_soon()

    def subject(self) -> Subject | None:
        """The item under the cursor."""
        if not self.there():
            return None
        item = self.listing.item(self.table.cursor_key)
        return Subject(queue=self.queue, item=item) if item is not None and self.queue is not None else None

    def seen(self) -> Seen:
        """From where the rows are looked at, now."""
        return self.seen_in(self.queue.claim if self.queue is not None else ClaimMode.DISABLED)

    async def more(self) -> None:
        """Fetches the next page, or the first; a call that had to wait for another one has what it wanted."""
        listing, known = self.listing, len(self.listing)
        async with self._paging:
            queue = self.queue
            done = listing.started and (listing.next is None or len(listing) != known)
            if listing is not self.listing or queue is None or done:
                return
            try:
                page = await self._page(queue, listing, listing.next)
            except ClientError as error:
                self._fail(error.sentence)
                raise
            if listing is self.listing:
                fresh = not listing.started
                listing.append(page, self.table.cursor_key)
                self.failure = ""
                self.show_rows(fresh=fresh)
                self.show_all()

    async def refetch(self) -> None:
        """Fetches again the old pages that are in sight, then what is to be counted; one round at a time."""
        if self._fetching.locked():
            return
        async with self._fetching:
            while self.queue is not None and self.shell.session is not None:
                if not self.listing.started:
                    await self.more()
                if not await self._refetch_page() and not await self._count_one():
                    return

    def refetch_soon(self) -> None:
        """Lets `refetch` run in the background."""
        if not self._fetching.locked():
            self.work(self.refetch(), doing="Refreshing the queue", group="refetch")

    def settle_soon(self) -> None:
        """Asks for the detail once the cursor rests."""
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLE_SECONDS, self._ask_detail)

    def _ask_detail(self) -> None:
        if self.table.cursor_key is not None and self.shell.session is not None:
            self.work(self._read_detail(), doing="Reading the item", group="detail", exclusive=True)

    async def _read_detail(self) -> None:
        key = self.table.cursor_key
        if key is None:
            return
        detail = await client.item(self.shell.service, key)
        if key == self.table.cursor_key:
            self.detail = detail
            self.listing.update(detail.item, detail.as_of, key)
            self.table.repaint([key])
            self.show_detail()
            self.situation_changed()

    async def _refetch_page(self) -> bool:
        """Fetches the first old page in sight; whether there was one. An answer may make others needless."""
        queue, listing = self.queue, self.listing
        pages = listing.old_pages(*self.table.window)
        if queue is None or not pages:
            return False
        number, cursor = pages[0]
        try:
            page = await self._page(queue, listing, cursor)
        except ServiceRefused as refused:
            if refused.kind is not ErrorCode.CURSOR_INVALID or cursor is None:
                raise
            listing.restart()
            return True
        if listing is self.listing:
            self.moved = listing.replace(number, page, self.table.cursor_key)
            self.table.clear_marks(self.moved.gone)
            self.failure = ""
            self.show_rows()
            self.show_all()
        return True

    async def _count_one(self) -> bool:
        """Counts one queue that may have changed, the shown one first; whether there was one. Then rests a little."""
        if not self._uncounted or self.queue is None:
            return False
        key = self.queue.id if self.queue.id in self._uncounted else min(self._uncounted)
        self._uncounted.discard(key)
        self.totals[key] = await client.totals(self.shell.service, key)
        self.shell.hold(self.PLACE, sum(totals.mine for totals in self.totals.values()))
        self.show_all()
        if not self._uncounted:
            await asyncio.sleep(PAUSE_SECONDS)
        return True

    async def _page(self, queue: Queue, listing: Listing, cursor: str | None) -> ItemPage:
        return await client.items(self.shell.service, queue.id, view=listing.view, cursor=cursor, limit=PAGE)

    def _fail(self, sentence: str) -> None:
        self.failure = sentence
        self.show_all()
