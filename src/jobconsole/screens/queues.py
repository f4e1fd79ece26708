"""Owns the Queues place: the list of one queue, its detail, switching queues and views, and live updates of them.

What is fetched is held in a `Listing`; how it is written is decided in `present/`. Claims and acts are carried out in
`screens/acting.py`. One timer, the console's own, drives every countdown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.getters import query_one
from textual.timer import Timer

from jobconsole.client import queues as client
from jobconsole.client.errors import ClientError
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Piece, Tone
from jobconsole.present.items import LABEL, Seen, brief_lines, heading
from jobconsole.present.queues import (
    VIEWS,
    WIDE,
    RowsKnown,
    columns_of,
    empty_sentence,
    switcher_lines,
    title_line,
    view_line,
)
from jobconsole.screens.acting import ActingScreen, Subject
from jobconsole.screens.item import ItemScreen
from jobconsole.screens.queues_listing import Listing, Moved
from jobconsole.screens.shell import Handler
from jobconsole.widgets.lines import Lines, content_of
from jobconsole.widgets.table import NoRows, Table
from jobcontract.states import ClaimMode, ItemView

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.events import Hint
    from jobcontract.items import Item, ItemDetail
    from jobcontract.queues import Queue, QueueTotals

SWITCHER = 21
"""Cells of a line of the queue switcher."""
PAGE = 100
"""Rows asked for at once."""
AHEAD = 40
"""The next page is asked for when the end of what is loaded is this near."""
SETTLE_SECONDS = 0.15
"""How long the cursor rests on a row before its detail is asked for."""


class QueuesScreen(ActingScreen):
    """The place where a queue is worked."""

    PLACE = "queues"
    TITLE_WORDS = "Queues"
    EXPLANATION = (
        "Work that waits for a person, oldest first. ○ free, ◆ held, ▲ a claim with less than five minutes left, "
        "‖ set aside, ✗ and ✓ closed. A claim is renewed only by a key. Amount, sign and account are never cut."
    )
    CSS_PATH: ClassVar[str] = "queues.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual does not declare it as the class's

    table = query_one("#list", Table)
    heading = query_one("#title", Lines)
    views = query_one("#view", Lines)
    switcher = query_one("#switcher", Lines)
    pane = query_one("#detail", VerticalScroll)
    brief = query_one("#brief", Lines)

    def __init__(self) -> None:
        super().__init__()
        self.queues: tuple[Queue, ...] = ()
        self.queue: Queue | None = None
        self.view = ItemView.WAITING
        self.listing = Listing(self.view, self.seen)
        self.detail: ItemDetail | None = None
        self.totals: dict[str, QueueTotals] = {}
        self.folded: bool | None = None
        """As the person wants it; None: by the height of the terminal."""
        self._failure = ""
        self._moved = Moved()
        self._settling: Timer | None = None
        self._paging = False
        self._refreshing = asyncio.Lock()
        self._dirty_totals = False
        self._asked = False

    def compose_body(self) -> ComposeResult:
        """Switcher, heading, list and detail."""
        with Horizontal(id="columns"):
            yield Lines(id="switcher", clipped=True)
            with Vertical(id="work"):
                yield Lines(id="title", clipped=True)
                yield Lines(id="view", clipped=True)
                with Container(id="split"):
                    yield Table(id="list")
                    with VerticalScroll(id="detail", can_focus=False):
                        yield Lines(id="brief", indent=LABEL)

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks for the queues itself."""
        self.table.focus()
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list, then those of claims and acts."""
        return {
            **super().handlers(),
            "item.open": self.open_item,
            "mark.toggle": self.mark,
            "mark.range": lambda: self.table.mark_range(),
            "mark.clear": lambda: self.table.clear_marks(),
            "view.next": self.next_view,
            "detail.fold": self.fold,
            "queue.next": lambda: self.step(1),
            "queue.previous": lambda: self.step(-1),
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "claim.next": self.claim_next,
        }

    def situation(self) -> Situation:
        """The queue, the item under the cursor, the marks."""
        claim = self.queue.claim if self.queue is not None else None
        facts = replace(super().situation(), claim=claim, marked=len(self.table.marks))
        return replace(facts, queue=self.queue.id if self.queue is not None else None)

    def situation_changed(self) -> None:
        """Shows also whether the rows are stale."""
        super().situation_changed()
        if self.is_mounted:
            self.table.set_class(not self.shell.link.connected and len(self.listing) > 0, "-stale")

    async def reload(self) -> None:
        """Asks for the queues, then for what is on screen."""
        if self.shell.session is None:
            return
        try:
            found = (await client.queues(self.shell.service)).queues
        except ClientError as error:
            self._fail(error.sentence)
            raise
        self._failure = ""
        self.queues, self._asked = found, True
        known = next((queue for queue in found if self.queue is not None and queue.id == self.queue.id), None)
        if known is None:
            first = max(found, key=lambda queue: (queue.money, queue.claim is ClaimMode.REQUIRED), default=None)
            await self.show_queue(first, self.view)
        else:
            self.queue = known
            self.listing.touch_all()
            self._dirty_totals = True
            await self.refetch()
        await self._count_others()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Marks what changed as old, and fetches again what of it is in sight."""
        here = [hint.id for hint in hints if self.queue is not None and hint.queue == self.queue.id]
        if not here:
            return
        self.listing.touch(here)
        self._dirty_totals = True
        if self.detail is not None and self.detail.item.id in here:
            self._settle_soon()
        self.work(self.refetch(), doing="Refreshing the queue", group="refetch")

    def tick(self) -> None:
        """Counts down what is in sight."""
        self.table.repaint(self.listing.counting(*self.table.window))
        self.show_detail()
        self.situation_changed()

    def copyable(self) -> str | None:
        """The id under the cursor."""
        return self.table.cursor_key

    # What a person does

    def mark(self) -> None:
        """Marks the row and goes on to the next."""
        self.table.toggle_mark()
        self.table.action_move(1)

    def fold(self) -> None:
        """Hides the detail, or shows it."""
        self.folded = not self._is_folded()
        self.show_detail()

    def next_view(self) -> None:
        """Goes on to the next view of the queue."""
        view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]
        self._go(self.queue, view)

    def step(self, by: int) -> None:
        """Shows the queue before or after."""
        if self.queue is None or not self.queues:
            return
        ids = [queue.id for queue in self.queues]
        at = (ids.index(self.queue.id) + by) % len(ids) if self.queue.id in ids else 0
        self._go(self.queues[at], ItemView.WAITING)

    def go_to_name(self, word: str) -> bool:
        """Shows the queue that a person means by `word`: its id, the last part of it, or its title."""
        wanted = word.strip().casefold()
        for queue in self.queues:
            if wanted in (queue.id, queue.id.rpartition(".")[2], queue.title.casefold()):
                self._go(queue, ItemView.WAITING)
                return True
        return False

    def names(self) -> tuple[str, ...]:
        """What `go_to_name` understands, for completion."""
        return tuple(queue.id.rpartition(".")[2] for queue in self.queues)

    def open_item(self) -> None:
        """Shows everything of the item under the cursor."""
        item = self.listing.item(self.table.cursor_key)
        if item is not None and self.queue is not None:
            detail = self.detail if self.detail is not None and self.detail.item.id == item.id else None
            self.app.push_screen(ItemScreen(self.queue, item, detail, on_told=self.took))

    async def claim_next(self) -> None:
        """Claims the oldest free item and goes to it."""
        if self.queue is None:
            return
        claimed = await self.run_claim_next(self.queue)
        if claimed is None:
            return
        if self.view is not ItemView.WAITING:
            await self.show_queue(self.queue, ItemView.WAITING)
        while not self.table.move_to(claimed.id) and self.listing.next is not None:
            await self._more()
        self.table.move_to(claimed.id)

    # What is fetched

    async def show_queue(self, queue: Queue | None, view: ItemView) -> None:
        """Shows a queue from its first page, then counts it."""
        self.queue, self.view, self.detail = queue, view, None
        self._moved = Moved()
        self.listing = Listing(view, self.seen)
        self._show_rows(fresh=True)
        self.show_all()
        if queue is None:
            return
        await self._more()
        await self._count(queue)

    async def refetch(self) -> None:
        """Fetches again the old pages that are in sight, then the counts; calls that meet are done once."""
        if self._refreshing.locked() or self.queue is None:
            return
        async with self._refreshing:
            queue, listing = self.queue, self.listing
            if not listing.started:
                await self._more()
            while pages := listing.old_pages(*self.table.window):
                for number, cursor in pages:
                    page = await client.items(
                        self.shell.service, queue.id, view=listing.view, cursor=cursor, limit=PAGE
                    )
                    if listing is not self.listing:
                        return
                    self._took_page(listing.replace(number, page, self.table.cursor_key))
            if self._dirty_totals:
                self._dirty_totals = False
                await self._count(queue)

    def took(self, item: Item, as_of: datetime) -> None:
        """An answer told how an item stands now."""
        self.listing.update(item, as_of, self.table.cursor_key)
        self._dirty_totals = True
        if self.detail is not None and self.detail.item.id == item.id and self.detail.as_of <= as_of:
            self.detail = None
        self._show_rows()
        self._settle_soon()
        self.work(self.refetch(), doing="Refreshing the queue", group="refetch")

    def subject(self) -> Subject | None:
        """The item under the cursor."""
        item = self.listing.item(self.table.cursor_key)
        return Subject(queue=self.queue, item=item) if item is not None and self.queue is not None else None

    def seen(self) -> Seen:
        """From where the rows are looked at, now."""
        return self.seen_in(self.queue.claim if self.queue is not None else ClaimMode.DISABLED)

    # What is shown

    def show_all(self) -> None:
        """Shows heading, views, switcher, columns and detail for what is known now."""
        if not self.is_mounted:
            return
        self._show_heading()
        self._show_rows()
        self.show_detail()
        self.situation_changed()

    def show_detail(self) -> None:
        """Shows the item under the cursor beside the list."""
        item = self.listing.item(self.table.cursor_key)
        self.pane.set_class(item is None or self._is_folded(), "-folded")
        if item is None:
            return
        detail = self.detail if self.detail is not None and self.detail.item.id == item.id else None
        lines = brief_lines(item, detail, self.seen())
        self.brief.clipped = not self.has_class("-wide")
        if self.has_class("-wide"):
            self.pane.border_title = ""
            self.brief.show((heading(item), (), *lines))
        else:
            self.pane.border_title = content_of((Piece(" "), *heading(item), Piece(" ")))
            self.brief.show(lines)

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        gone = self.listing.leave(self.table.cursor_key)
        if gone:
            self.table.clear_marks(gone)
            self._show_rows()
        self.show_detail()
        self.situation_changed()
        self._settle_soon()

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("item.open")

    @on(Table.MarksChanged)
    def _marks_changed(self) -> None:
        self._show_heading()
        self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self) -> None:
        _, end = self.table.window
        if self.listing.next is not None and end + AHEAD >= len(self.listing):
            self.work(self._more(), doing="Loading more rows", group="pages")
        elif self.listing.old_pages(*self.table.window):
            self.work(self.refetch(), doing="Refreshing the queue", group="refetch")

    def _go(self, queue: Queue | None, view: ItemView) -> None:
        self.work(self.show_queue(queue, view), doing="Loading the queue", group="queues", exclusive=True)

    async def _more(self) -> None:
        """Fetches the next page."""
        if self._paging or self.queue is None or (self.listing.started and self.listing.next is None):
            return
        self._paging = True
        queue, listing = self.queue, self.listing
        try:
            page = await client.items(self.shell.service, queue.id, view=listing.view, cursor=listing.next, limit=PAGE)
        except ClientError as error:
            self._fail(error.sentence)
            raise
        finally:
            self._paging = False
        if listing is self.listing:
            fresh = not listing.started
            listing.append(page, self.table.cursor_key)
            self._failure = ""
            self._show_rows(fresh=fresh)
            self.show_all()

    async def _count(self, queue: Queue) -> None:
        self.totals[queue.id] = await client.totals(self.shell.service, queue.id)
        self.shell.hold(self.PLACE, sum(totals.mine for totals in self.totals.values()))
        self.show_all()

    async def _count_others(self) -> None:
        for queue in self.queues:
            if queue.id not in self.totals:
                await self._count(queue)

    def _took_page(self, moved: Moved) -> None:
        self._moved = moved
        self.table.clear_marks(moved.gone)
        self._show_rows()
        self.show_all()

    def _settle_soon(self) -> None:
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

    def _show_rows(self, *, fresh: bool = False) -> None:
        wide = self.has_class("-wide")
        if self.queue is None:
            self.table.show(NoRows(), (), {}, fresh=fresh)
        else:
            columns = columns_of(self.queue, self.view, one_line=wide)
            needs = self.listing.needs()
            self.table.show(self.listing, columns, needs, high=1 if wide else 2, fresh=fresh)
        self.table.say((Piece(self._sentence(), Tone.BAD if self._failure else Tone.QUIET),))

    def _show_heading(self) -> None:
        totals = self.totals.get(self.queue.id) if self.queue is not None else None
        width = max(20, self.heading.size.width)
        if self.queue is None:
            self.heading.show([(Piece("Queues", Tone.STRONG),)])
            self.views.show([])
        else:
            self.heading.show([title_line(self.queue, totals, width)])
            known = RowsKnown(
                loaded=len(self.listing),
                more=self.listing.next is not None,
                marked=len(self.table.marks),
                moved=self._moved_text(),
            )
            self.views.show([view_line(self.view, totals, known, width)])
        counts = {key: found.waiting for key, found in self.totals.items()}
        shown = self.queue.id if self.queue is not None else None
        self.switcher.show(
            [
                (Piece("  Queues", Tone.STRONG), Piece("  [ and ]", Tone.QUIET)),
                (),
                *switcher_lines(self.queues, shown, counts, SWITCHER),
            ]
        )

    def _moved_text(self) -> str:
        parts = [f"{self._moved.new} new"] if self._moved.new else []
        return " · ".join([*parts, *([f"{len(self._moved.gone)} gone"] if self._moved.gone else [])])

    def _sentence(self) -> str:
        if self._failure:
            return self._failure
        if self.shell.session is None:
            return "Nobody is signed in: nothing to show yet."
        if self.queue is None:
            return "There is no queue in this tenant." if self._asked else "Loading the queues …"
        if not self.listing.started:
            return f"Loading {self.queue.title} …"
        return empty_sentence(self.queue, self.view, self.totals.get(self.queue.id))

    def _fail(self, sentence: str) -> None:
        self._failure = sentence
        self.show_all()

    def _is_folded(self) -> bool:
        return self.size.height < 20 if self.folded is None else self.folded
