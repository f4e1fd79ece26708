"""Owns the Queues place: the list of one queue, its detail, switching queues and views, and live updates of them.

What is fetched, and when, is decided in `queues_fetching.py`; how it is written in `present/`; claims and acts are
carried out in `acting.py`. One timer, the console's own, drives every countdown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import NoMatches
from textual.getters import query_one
from textual.timer import Timer

from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Piece, Tone
from jobconsole.present.item_rows import score_text
from jobconsole.present.items import LABEL
from jobconsole.present.queues import (
    ORDER,
    ORDER_BY_AMOUNT,
    ORDER_SHORT,
    VIEWS,
    WIDE,
    RowsKnown,
    columns_of,
    empty_sentence,
    means,
    moved_text,
    switcher_lines,
    title_line,
    view_line,
)
from jobconsole.present.scores import beside_lines, pane_lines, why_title
from jobconsole.screens.item import ItemScreen
from jobconsole.screens.queues_marks import MarkingScreen
from jobconsole.screens.queues_standing import standing_of
from jobconsole.screens.shell import Handler
from jobconsole.screens.stops_acting import stop_work
from jobconsole.widgets.lines import Lines, content_of
from jobconsole.widgets.rows import NoRows
from jobconsole.widgets.table import Table
from jobcontract.events import Topic
from jobcontract.operating import StopScope
from jobcontract.states import ItemView

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.queues import Queue

SWITCHER = 21
"""Cells of a line of the queue switcher."""
BESIDE = 32
"""Cells of a line of the detail at the right."""
BELOW = 6
"""Lines of the detail under the list."""


FOLLOW_SECONDS = 0.05
"""How long the cursor rests on a row before the detail and the keys follow it."""


class QueuesScreen(MarkingScreen):
    """The place where a queue is worked."""

    PLACE = "queues"
    TITLE_WORDS = "Queues"
    EXPLANATION = (
        "Work that waits for a person, highest score first, else oldest first. Under each row stands what set its score; "
        "! could not be scored. ○ free, ◆ held, ▲ a claim with less than five minutes left, "
        "‖ set aside, ✗ and ✓ closed. A claim is renewed only by a key. Amount, sign and account are never cut."
    )
    CSS_PATH: ClassVar[str] = "queues.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual does not declare it as the class's

    heading = query_one("#title", Lines)
    views = query_one("#view", Lines)
    switcher = query_one("#switcher", Lines)
    pane = query_one("#detail", VerticalScroll)
    brief = query_one("#brief", Lines)

    def __init__(self) -> None:
        super().__init__()
        self.folded: bool | None = None
        """As the person wants it; None: by the height of the terminal."""
        self._following: Timer | None = None
        self._pane_title: Content | None = None

    def compose_body(self) -> ComposeResult:
        """Switcher, heading, list and detail."""
        with Horizontal(id="columns"):
            yield Lines(id="switcher", clipped=True)
            with Vertical(id="work"):
                yield Lines(id="title", clipped=True)
                yield Lines(id="view", clipped=True)
                yield self.make_filter_line()
                with Container(id="split"):
                    yield Table(id="list")
                    with VerticalScroll(id="detail", can_focus=False):
                        yield Lines(id="brief", indent=LABEL, steady=True)

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
            "view.next": self.next_view,
            "detail.fold": self.fold,
            "queue.next": lambda: self.step(1),
            "queue.previous": lambda: self.step(-1),
            "row.next": lambda: self.table.action_move(1),
            "row.previous": lambda: self.table.action_move(-1),
            "claim.next": self.claim_next,
            "stop.work": self.stop_queue,
        }

    async def stop_queue(self) -> None:
        """Asks for a reason, then holds the queue still."""
        if (queue := self.queue) is not None and await stop_work(self, StopScope.QUEUE, queue.id, queue.title):
            self.refresh_all()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Also asks again whether the queue is stopped."""
        super().changed(hints)
        if any(hint.topic is Topic.STOPS for hint in hints):
            self.refresh_all()

    def situation(self) -> Situation:
        """The queue, the item under the cursor."""
        claim = self.queue.claim if self.queue is not None else None
        rule = self.queue.score if self.queue is not None else None
        facts = replace(super().situation(), claim=claim, rule=rule)
        return replace(facts, queue=self.queue.id if self.queue is not None else None)

    def situation_changed(self) -> None:
        """Shows also whether the rows are stale."""
        super().situation_changed()
        if self.there():
            self.table.set_class(not self.shell.link.connected and len(self.listing) > 0, "-stale")

    def tick(self) -> None:
        """Counts down what is in sight."""
        super().tick()
        if not self.there():
            return
        self.table.repaint(self.listing.counting(*self.table.window))
        self.show_heading()
        self.show_detail()
        self.situation_changed()
        self.tick_form()

    def copyable(self) -> str | None:
        """The id under the cursor."""
        return self.table.cursor_key

    # What a person does

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
        for queue in self.queues:
            if means(queue, word):
                self._go(queue, ItemView.WAITING)
                return True
        return super().go_to_name(word)

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
        """Claims the first free item of the list and goes to it."""
        if self.queue is None:
            return
        claimed = await self.run_claim_next(self.queue, self.filter_text)
        if claimed is None:
            return
        if self.view is not ItemView.WAITING:
            await self.show_queue(self.queue, ItemView.WAITING)
        if self.filter_text and self.listing.index(claimed.id) is None:
            # Claimed, it may match no longer: then no list leads to it.
            self.app.push_screen(ItemScreen(self.queue, claimed, None, on_told=self.took))
        else:
            self.go_to_item(claimed.id)

    # What is shown

    def show_all(self) -> None:
        """Shows heading, views, switcher, columns and detail for what is known now."""
        if not self.there():
            return
        self.show_heading()
        self.show_filter_line()
        self.show_rows()
        self.show_detail()
        self.situation_changed()

    def show_detail(self) -> None:
        """Shows the item under the cursor beside the list."""
        item = self.listing.item(self.table.cursor_key)
        self.pane.set_class(item is None or self._is_folded(), "-folded")
        if item is None:
            return
        detail = self.detail if self.detail is not None and self.detail.item.id == item.id else None
        if self.queue is None:
            return
        standing = standing_of(self.listing, self.queue, item, filtered=bool(self.filter_text))
        seen = self.seen()
        self.brief.clipped = not self.has_class("-wide")
        if self.has_class("-wide"):
            self._title_pane(Content(""))
            self.brief.show(beside_lines(item, detail, standing, seen, width=BESIDE))
        else:
            self._title_pane(content_of((Piece(" "), *why_title(item, standing, seen), Piece(" "))))
            # By the screen's size: the pane's own is not known yet when it unfolds.
            width = max(20, self.size.width - 3)
            self.brief.show(pane_lines(item, detail, standing, seen, width=width, room=BELOW))

    def _title_pane(self, title: Content) -> None:
        """Titles the pane only where the words change: setting a title paints the whole pane."""
        if title != self._pane_title:
            self._pane_title = title
            self.pane.border_title = title

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        before = self.listing.changes
        gone = self.listing.leave(self.table.cursor_key)
        self.went(gone)
        if self.listing.changes != before:
            self.show_rows()
        self.settle_soon()
        # The cursor's row is painted first, and the next key's too: the detail of every row that a held key passes would
        # hold them up.
        if self._following is not None:
            self._following.stop()
        self._following = self.set_timer(FOLLOW_SECONDS, self._follow_cursor)

    def _follow_cursor(self) -> None:
        if self.there():
            self.show_detail()
            self.situation_changed()

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("item.open")

    @on(Table.MarksChanged)
    def _marks_changed(self) -> None:
        self.remember_marks()
        self.show_heading()
        self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self) -> None:
        self.extend_soon()
        if self.listing.old_pages(*self.table.window):
            self.refetch_soon()
        self.show_heading()

    def _go(self, queue: Queue | None, view: ItemView) -> None:
        self.work(self.show_queue(queue, view), doing="Loading the queue", group="queues", exclusive=True)

    def place_rows(self, *, fresh: bool) -> None:
        """Shows the rows in the columns that fit."""
        if self.queue is None:
            self.table.show(NoRows(), (), {}, fresh=fresh)
        else:
            columns = columns_of(self.queue, self.view, one_line=self.has_class("-wide"))
            self.table.show(self.listing, columns, self.listing.needs(), fresh=fresh)
        self.table.say((Piece(self._sentence(), Tone.BAD if self.failure else Tone.QUIET),))

    def show_heading(self) -> None:
        """Shows counts and sums, and what is known of the rows."""
        if not self.there():
            return
        totals = self.totals.get(self.queue.id) if self.queue is not None else None
        width = max(20, self.heading.size.width)
        if self.queue is None:
            self.heading.show([(Piece("Queues", Tone.STRONG),)])
            self.views.show([])
        else:
            self.heading.show([title_line(self.queue, totals, width)])
            known = self._rows_known()
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

    def _rows_known(self) -> RowsKnown:
        scored = self.queue is not None and self.queue.score is not None
        pages, first = self.listing.pages, self.listing.first_loaded
        start = f"score {score_text(first.score)}" if first is not None and scored else ""
        return RowsKnown(
            loaded=len(self.listing),
            begun=pages.begun or not self.listing.started,
            ended=pages.ended or not self.listing.started,
            start=start,
            now=self.seen().now,
            marked=len(self.table.marks),
            hidden=len(self.hidden()),
            all_marked=self.all_words() if self.table.marking.everything else "",
            moved=moved_text(self.moved.new, len(self.moved.gone), self.moved.moved),
            order=ORDER_BY_AMOUNT if self.listing.by_amount else (ORDER[scored], ORDER_SHORT[scored]),
            filtered=bool(self.filter_text),
            matching=self.counted(),
        )

    def _sentence(self) -> str:
        if self.failure:
            return self.failure
        if self.shell.session is None:
            return "Nobody is signed in: nothing to show yet."
        if self.queue is None:
            return "There is no queue in this tenant." if self.asked else "Loading the queues …"
        if not self.listing.started:
            return f"Loading {self.queue.title} …"
        if self.filter_text:
            return self.nothing_matches(self.queue)
        return empty_sentence(self.queue, self.view, self.totals.get(self.queue.id))

    def there(self) -> bool:
        """Whether the parts of the screen are there: not before it is composed, nor once it is taken down."""
        if not super().there():
            return False
        try:
            return self.brief.is_attached and self.table.is_attached
        except NoMatches:
            return False

    def _is_folded(self) -> bool:
        return self.size.height < 20 if self.folded is None else self.folded
