"""Owns what the Queues place asks the service for, and when: queues, pages of one view around what is in sight, totals
after the page, the detail of the row under the cursor. Hints mark as old; only what is in sight is fetched again.

Shows nothing itself: a subclass says how (`show_all`, `show_rows`, `show_detail`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.getters import query_one
from textual.timer import Timer

from jobconsole.client import queues as client
from jobconsole.client.errors import ClientError, ServiceRefused
from jobconsole.present.items import Seen
from jobconsole.screens.acting import Subject
from jobconsole.screens.queues_listing import PAGE, PAGES_MOST, Listing, Moved
from jobconsole.screens.queues_pages import FIRST, LAST
from jobconsole.screens.uncertain import AskedScreen
from jobconsole.widgets.table import Table
from jobcontract.errors import ErrorCode
from jobcontract.events import Topic
from jobcontract.states import ClaimMode, ItemView

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.events import Hint
    from jobcontract.items import Item, ItemDetail, ItemPage
    from jobcontract.queues import Queue, QueueTotals

AHEAD = 40
"""Further rows are asked for when an end of what is loaded is this near."""
SETTLE_SECONDS = 0.15
"""How long the cursor rests on a row before its detail is asked for."""
PAUSE_SECONDS = 0.8
"""Between two rounds of fetching again, however fast hints come."""
STRANGE_SECONDS = 1.0
"""Between two looks at what is in sight because something changed that is not loaded: it may be new here."""
NEWS_SECONDS = 10.0
"""How long it is said what moved."""


class FetchingScreen(AskedScreen):
    """A place that holds one view of one queue as it was fetched."""

    table = query_one("#list", Table)

    def __init__(self) -> None:
        super().__init__()
        self.queues: tuple[Queue, ...] = ()
        self.queue: Queue | None = None
        self.wanted: str | None = None
        """Id of the queue that is to be shown first; None: the first one with money that is no queue of uncertain acts."""
        self.view = ItemView.WAITING
        self.filter_text = ""
        """The filter that is on screen: list, counts and claim next all go by it."""
        self.listing = Listing(self.view, self.seen)
        self.detail: ItemDetail | None = None
        self.totals: dict[str, QueueTotals] = {}
        self.asked = False
        """Whether the service told the queues."""
        self.failure = ""
        """Why the list could not be loaded; empty while it could."""
        self.moved = Moved()
        """What came, went and moved lately."""
        self._moved_at = float("-inf")
        self._looked_at = float("-inf")
        self._looking: Timer | None = None
        self._uncounted: set[str] = set()
        self._fetching = asyncio.Lock()
        self._extending: set[bool] = set()
        self._settling: Timer | None = None

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        raise NotImplementedError

    def show_heading(self) -> None:
        """Shows counts, and what is known of the rows."""
        raise NotImplementedError

    def show_rows(self, *, fresh: bool = False) -> None:
        """Shows the rows; `fresh`: they are of another list."""
        raise NotImplementedError

    def show_detail(self) -> None:
        """Shows the item under the cursor."""
        raise NotImplementedError

    def _rank(self, queue: Queue) -> tuple[bool, ...]:
        paying = queue.money and not queue.uncertain_of
        return queue.id == self.wanted, paying, queue.claim is ClaimMode.REQUIRED

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
            first = max(found, key=self._rank, default=None)
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
        self.listing = self._new_listing()
        self.show_rows(fresh=True)
        self.show_all()
        if queue is not None:
            self._uncounted.add(queue.id)
            await self.refetch()

    def show_filter(self, text: str) -> None:
        """Shows what of the queue matches the filter, from its first row."""
        self.filter_text = text
        queue, view = self.queue, self.view
        self.work(self.show_queue(queue, view), doing="Filtering", group="queues", exclusive=True)

    def changed(self, hints: Sequence[Hint]) -> None:
        """Marks what changed as old, and fetches again what of it is in sight."""
        if not self.there():
            return
        hints = [hint for hint in hints if hint.topic in (Topic.ITEM, Topic.ITEMS)]
        mine = [hint for hint in hints if self.queue is not None and hint.queue == self.queue.id]
        here = [hint.id for hint in mine if hint.topic is Topic.ITEM]
        self.listing.touch(here)
        if len(here) < len(mine):  # many at once
            self.listing.touch_all()
        self._uncounted |= {hint.queue for hint in hints} & {queue.id for queue in self.queues}
        if self.table.cursor_key in here or len(here) < len(mine):
            self.settle_soon()
        if self.listing.strange:
            self._look_soon()
        self.refetch_soon()

    def took(self, item: Item, as_of: datetime) -> None:
        """An answer told how an item stands now."""
        self.listing.update(item, as_of, self.table.cursor_key)
        self._uncounted.add(item.queue)
        if self.detail is not None and self.detail.item.id == item.id and self.detail.as_of <= as_of:
            self.detail = None
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
        if self.queue is None:
            return self.seen_in(ClaimMode.DISABLED)
        return replace(self.seen_in(self.queue.claim), scored=self.queue.score is not None)

    def tick(self) -> None:
        """What moved is said for a while only."""
        if self.moved and time.monotonic() - self._moved_at >= NEWS_SECONDS:
            self.moved = Moved()

    async def load(self, start: str) -> Listing | None:
        """The rows from `start` on, with those above them, in a listing of its own; None where another queue, view or
        filter was chosen meanwhile."""
        queue, listing = self.queue, self._new_listing()
        scope = self._scope()
        if queue is None:
            return None
        page = await self._page(queue, listing, None, start)
        listing.open(start, page, None)
        above = listing.beyond(up=True)
        if start not in (FIRST, LAST) and above is not None and scope == self._scope():
            listing.extend(await self._page(queue, listing, above), None, up=True)
        return listing if scope == self._scope() else None

    def adopt(self, listing: Listing, key: str | None) -> None:
        """Shows these rows of the same list instead, the cursor on `key`; None: on its row, else on the first."""
        fresh = not self.listing.started
        self.listing, self.failure = listing, ""
        self.show_rows(fresh=fresh)
        if key is not None:
            self.table.land(key)
        self.show_all()

    def extend_soon(self) -> None:
        """Lets further rows be fetched where an end of what is loaded is near."""
        for up in (True, False):
            if up not in self._extending and self._near(up):
                self._extending.add(up)
                self.work(self._extend(up), doing="Loading more rows", group=f"pages-{up}")

    async def refetch(self) -> None:
        """Fetches again the old pages that are in sight, then what is to be counted; one round at a time."""
        if self._fetching.locked():
            return
        async with self._fetching:
            while self.queue is not None and self.shell.session is not None:
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

    def _new_listing(self) -> Listing:
        by_amount = "sort:amount" in self.filter_text.split()
        same = self.listing.scope == self._scope()
        listing = Listing(self.view, self.seen, by_amount=by_amount, needs=self.listing.needs() if same else None)
        listing.scope = self._scope()
        return listing

    def _scope(self) -> tuple[str, ...]:
        return (self.queue.id if self.queue is not None else "", self.view, self.filter_text)

    def _look_soon(self) -> None:
        """Looks at what is in sight, for something changed that is not loaded: now, or when the pace allows."""
        left = self._looked_at + STRANGE_SECONDS - time.monotonic()
        if left <= 0:
            self._look_now()
        elif self._looking is None:
            self._looking = self.set_timer(left, self._look_now)

    def _look_now(self) -> None:
        self._looking, self._looked_at = None, time.monotonic()
        if self.there() and self.listing.strange:
            self.listing.touch_sight(*self.table.window)
            self.refetch_soon()

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
            self._tell(self.listing.update(detail.item, detail.as_of, key))
            self.table.repaint([key])
            self.show_detail()
            self.situation_changed()

    def _near(self, up: bool) -> bool:
        first, end = self.table.window
        near = first <= AHEAD if up else end + AHEAD >= len(self.listing)
        return near and self.listing.beyond(up=up) is not None

    async def _extend(self, up: bool) -> None:
        """Fetches further rows until the end of what is loaded is far enough."""
        try:
            while self.queue is not None and self._near(up):
                listing, cursor = self.listing, self.listing.beyond(up=up)
                try:
                    page = await self._page(self.queue, listing, cursor)
                except ServiceRefused as refused:
                    await self._begin_again(refused)
                    return
                if listing is self.listing and listing.beyond(up=up) == cursor:
                    self._add(page, up)
        finally:
            self._extending.discard(up)

    def _add(self, page: ItemPage, up: bool) -> None:
        listing = self.listing
        if len(listing.pages) >= PAGES_MOST:
            self.table.bring_cursor()
        (first, end), keep, before = self.table.window, self.table.cursor_key, len(listing)
        self._tell(listing.extend(page, keep, up=up))
        shift = len(listing) - before if up else 0
        listing.trim(first + shift, end + shift, keep)
        self.show_rows()
        self.show_heading()

    async def _refetch_page(self) -> bool:
        """Fetches the first old page in sight; whether there was one. An answer may make others needless."""
        queue, listing = self.queue, self.listing
        if queue is None:
            return False
        if not listing.started:
            await self._load_first()
            return self.listing.started
        pages = listing.old_pages(*self.table.window)
        if not pages:
            return False
        old, asked = pages[0], (pages[0].cursor, pages[0].start)
        try:
            page = await self._page(queue, listing, old.cursor, old.start)
        except ServiceRefused as refused:
            await self._begin_again(refused)
            return True
        if listing is self.listing and asked == (old.cursor, old.start):
            self.failure = ""
            before, item = listing.changes, self.listing.item(self.table.cursor_key)
            self._tell(listing.replace(old, page, self.table.cursor_key))
            self._show_changes(before, item)
        return True

    def _show_changes(self, before: int, item: Item | None) -> None:
        """Shows what an answer changed, and nothing else; `item` was under the cursor before it."""
        if self.listing.changes != before or not len(self.listing):
            self.show_rows()
        else:
            first, end = self.table.window
            self.table.repaint([self.listing.key(at) for at in range(first, min(end, len(self.listing)))])
        self.show_heading()
        if self.listing.item(self.table.cursor_key) != item:
            self.show_detail()
            self.situation_changed()

    def _tell(self, moved: Moved) -> None:
        if moved:
            self.moved, self._moved_at = self.moved + moved, time.monotonic()
            self.went(moved.gone)

    def went(self, gone: frozenset[str]) -> None:
        """Rows left the list: what is not there any more is not marked either."""
        self.table.clear_marks(gone)

    async def _load_first(self) -> None:
        try:
            listing = await self.load(FIRST)
        except ClientError as error:
            self._fail(error.sentence)
            raise
        if listing is not None:
            self.adopt(listing, None)

    async def _begin_again(self, refused: ServiceRefused) -> None:
        """Fetches the rows around the cursor anew, where the service no longer takes the cursors of their pages."""
        if refused.kind is not ErrorCode.CURSOR_INVALID:
            raise refused
        key = self.table.cursor_key
        try:
            listing = await self.load(f"item:{key}" if key is not None else FIRST)
        except ServiceRefused:  # it is not in the list any more
            listing = await self.load(FIRST)
        if listing is not None:
            self.adopt(listing, key)

    async def _count_one(self) -> bool:
        """Counts one queue that may have changed, the shown one first; whether there was one. Then rests a little."""
        if not self._uncounted or self.queue is None:
            return False
        key = self.queue.id if self.queue.id in self._uncounted else min(self._uncounted)
        self._uncounted.discard(key)
        self.totals[key] = await client.totals(self.shell.service, key)
        self.shell.hold(self.PLACE, sum(totals.mine for totals in self.totals.values()))
        self.show_heading()
        if not self._uncounted:
            await asyncio.sleep(PAUSE_SECONDS)
        return True

    async def _page(self, queue: Queue, listing: Listing, cursor: str | None, start: str | None = None) -> ItemPage:
        """A page by its cursor, or from a start. The first page of a list has neither, or says `first`."""
        wanted = None if cursor is not None or start == FIRST else start
        return await client.items(
            self.shell.service,
            queue.id,
            view=listing.view,
            filter=self.filter_text,
            start=wanted,
            cursor=cursor,
            limit=PAGE,
        )

    def _fail(self, sentence: str) -> None:
        self.failure = sentence
        self.show_all()
