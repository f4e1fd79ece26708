"""Owns the filter of the Queues place: which is in force in each queue, typing another, saved ones, and its count.

A filter comes into force when the service took it, never before; until then list, count and claim next go by the old
one, which is the one on the screen. Each queue has its own, and nothing is carried over to another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from textual import on
from textual.getters import query_one

from jobconsole.client import queues as client
from jobconsole.client.errors import ClientError, ServiceRefused
from jobconsole.commands.keymap import shown
from jobconsole.commands.situation import Situation
from jobconsole.kept_filters import KeptFilter, KeptFilters, KeptFiltersError
from jobconsole.paths import filters_file
from jobconsole.present.completions import offers_of
from jobconsole.present.filters import NO_LONGER, Fault, Offer, fault_in, fault_of, match_words
from jobconsole.screens.kept_filters import FilterNameScreen, KeptChoice, KeptFiltersScreen
from jobconsole.screens.queues_going import GoingScreen
from jobconsole.screens.queues_listing import PAGE
from jobconsole.screens.queues_pages import FIRST
from jobconsole.screens.shell import Handler
from jobconsole.widgets.filter_line import NOTHING, FilterLine
from jobcontract.errors import ErrorCode
from jobcontract.states import ItemView

if TYPE_CHECKING:
    from datetime import datetime

    from jobconsole.screens.queues_listing import Listing
    from jobcontract.events import Hint
    from jobcontract.items import Item, ItemPage
    from jobcontract.queues import Queue, QueueTotals, Vocabulary

FRESH = timedelta(minutes=1)
"""How long a vocabulary is used before it is asked for again."""
COUNT_SECONDS = 0.4
"""Between two counts of what matches, however fast hints come."""
ASKING = "Asking the service for what matches …"

R = TypeVar("R")
Wanted = tuple[str, ItemView, str]
"""Queue, view and filter that are counted."""


class FilteringScreen(GoingScreen):
    """A place whose list can be filtered."""

    filter_line = query_one(FilterLine)

    def __init__(self) -> None:
        super().__init__()
        self.filters: dict[str, str] = {}
        """Filter in force by queue."""
        self.filters_before: dict[str, str] = {}
        """The one that was in force before it."""
        self.matching: QueueTotals | None = None
        """How many items match, once they were counted."""
        self._counted: Wanted | None = None
        self._count_old = True
        self._counting = False
        self._worn: Wanted | None = None
        """A filter in force that the service no longer takes: the queue has other currencies or inputs now."""
        self._wish = 0
        """Rises with every filter that is asked for, and when the line is left."""
        self._learning: set[str] = set()
        self._vocabularies: dict[str, Vocabulary] = {}
        self._taken: tuple[Wanted, ItemPage] | None = None
        """The page by which the service took a filter: it need not be asked for again."""

    def make_filter_line(self) -> FilterLine:
        """The line, for the subclass to place."""
        return FilterLine(judge=self._judge, offers=self._offers, id="filter")

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the filter."""
        return {
            **super().handlers(),
            "filter.edit": self.edit_filter,
            "filter.clear": lambda: self.put_in_force(""),
            "filter.again": lambda: self.put_in_force(self.filters_before.get(self._here, "")),
            "filter.choose": self.choose_filter,
            "filter.save": self.save_filter,
        }

    def situation(self) -> Situation:
        """With what is known of filters here."""
        facts = super().situation()
        return replace(facts, filtered=bool(self.filter_text), filter_before=self._here in self.filters_before)

    def changed(self, hints: Sequence[Hint]) -> None:
        """What changed may match now, or no longer."""
        super().changed(hints)
        if any(hint.queue == self._here for hint in hints):
            self._count_soon()

    def took(self, item: Item, as_of: datetime) -> None:
        """What was claimed or acted on may no longer match."""
        super().took(item, as_of)
        self._count_soon()

    def tick(self) -> None:
        """The count ages."""
        super().tick()
        self.show_filter_line()

    async def reload(self) -> None:
        """Counts again too."""
        await super().reload()
        self._count_soon()

    async def show_queue(self, queue: Queue | None, view: ItemView) -> None:
        """Shows the queue by its own filter. A line that is open stays so: what is typed must not turn into keys."""
        before, here = self.filter_text, self._here
        self.filter_text = self.filters.get(queue.id, "") if queue is not None else ""
        if self.there() and self.filter_line.typing and queue is not None and queue.id != here:
            self.filter_line.begin_with(before, self.filter_text)
            self._learn_soon(queue)
        await super().show_queue(queue, view)

    # What a person does

    def edit_filter(self, text: str | None = None) -> None:
        """Opens the line with `text`, else with the filter in force."""
        self.filter_line.open(self.filter_text if text is None else text)
        if self.queue is not None:
            self._learn_soon(self.queue)

    def put_in_force(self, text: str) -> None:
        """Filters by `text` once the service takes it; empty shows the whole queue. The last one asked for counts."""
        self._wish += 1
        self.work(self._put_in_force(text.strip(), self._wish), doing="Filter", group="filter")

    async def choose_filter(self) -> None:
        """Lists the saved filters; the chosen one comes into force, or is deleted and the rest listed again."""
        while (queue := self.queue) is not None:
            kept = await self._kept(KeptFilters.read)
            if not kept:
                if kept is not None:
                    save = self._key("filter.save")
                    self.say(f"No filter is saved yet; {save} saves the one in force under a name.")
                return
            dialog = KeptFiltersScreen([self._kept_choice(one, queue) for one in _here_first(kept, queue)])
            answer = await self.app.push_screen_wait(dialog)
            if answer is None:
                return
            chosen = dialog.kept(answer)
            if not dialog.deleting:
                self.put_in_force(chosen.text)
                return
            gone = partial(KeptFilters.delete, queue=chosen.queue, name=chosen.name)
            if await self._kept(gone) is not None:
                self.say(f"Deleted {chosen.name}: {chosen.text}")

    async def save_filter(self) -> None:
        """Asks for a name and keeps the filter in force under it."""
        queue, text = self.queue, self.filter_text
        if queue is None:
            return

        async def save(name: str) -> str:
            kept = KeptFilter(queue=queue.id, name=name, text=text)
            replaced = await asyncio.to_thread(self._filters().save, kept)
            instead = f" It was: {replaced.text}" if replaced is not None and replaced.text != text else ""
            return f"Saved as {name}; {self._key('filter.choose')} lists what is saved.{instead}"

        told = await self.app.push_screen_wait(FilterNameScreen(text, save))
        if told is not None:
            self.say(told)

    @on(FilterLine.Given)
    def _line_given(self, event: FilterLine.Given) -> None:
        self.put_in_force(event.text)

    @on(FilterLine.Closed)
    def _line_closed(self) -> None:
        self._wish += 1  # what the service is still being asked is no longer wanted
        self.show_filter_line()

    # What is shown

    def show_filter_line(self) -> None:
        """Shows the filter in force with its count."""
        if not self.there():
            return
        worn = self._worn is not None and self._worn == self._wanted()
        words = NO_LONGER if worn else match_words(self.counted(), self.seen().now)
        self.filter_line.show(self.filter_text, words if self.filter_text else "")

    def counted(self) -> QueueTotals | None:
        """What the filter in force leaves, once it was counted."""
        return self.matching if self._counted is not None and self._counted == self._wanted() else None

    def nothing_matches(self, queue: Queue) -> str:
        """What is said where the filter leaves no row."""
        key = self._key("filter.clear")
        return f"Nothing matches in {queue.title}; {key} clears the filter, {self._key('filter.edit')} changes it."

    async def _kept(self, change: Callable[[KeptFilters], R]) -> R | None:
        """What comes of reading or changing the saved filters; None where it failed, after that was said."""
        try:
            return await asyncio.to_thread(change, self._filters())
        except KeptFiltersError as error:
            self.say(str(error), error=True)
            return None

    def _filters(self) -> KeptFilters:
        return KeptFilters(filters_file(self.shell.frame.profile))

    def _kept_choice(self, kept: KeptFilter, queue: Queue) -> KeptChoice:
        fault = fault_of(kept.text, self._vocabularies.get(queue.id))
        titles = {known.id: known.title for known in self.queues}
        elsewhere = "" if kept.queue == queue.id else titles.get(kept.queue, kept.queue)
        return KeptChoice(kept=kept, elsewhere=elsewhere, fault=fault.sentence if fault is not None else None)

    # Steps

    @property
    def _here(self) -> str:
        return self.queue.id if self.queue is not None else ""

    def _key(self, command_id: str) -> str:
        keys = self.shell.keymap.get(command_id, ())
        return shown(keys[0]) if keys else f":{command_id}"

    def _wanted(self) -> Wanted | None:
        if self.queue is None or not self.filter_text:
            return None
        return self.queue.id, self.view, self.filter_text

    async def _put_in_force(self, text: str, wish: int) -> None:
        queue, view = self.queue, self.view
        if queue is None:
            return
        if text == self.filter_text:
            self.filter_line.close()
            return
        fault = fault_of(text)
        if fault is not None:
            self._refuse(text, fault)
            return
        if text:
            page = await self._ask_page(queue, view, text, wish)
            if page is None or wish != self._wish or (self._here, self.view) != (queue.id, view):
                return
            self._taken = ((queue.id, view, text), page)
        self.filters_before[queue.id], self.filters[queue.id] = self.filter_text, text
        if self.filter_line.typed.strip() == text:  # else another one is being typed by now
            self.filter_line.close()
        self.show_filter(text)

    async def _ask_page(self, queue: Queue, view: ItemView, text: str, wish: int) -> ItemPage | None:
        """The first page by the filter; None where the service does not take it, after that was said."""
        self.filter_line.asking()
        if not self.filter_line.typing:
            self.say(ASKING)
        try:
            return await client.items(self.shell.service, queue.id, view=view, filter=text, limit=PAGE)
        except ServiceRefused as refused:
            if refused.kind is not ErrorCode.FILTER_INVALID:
                raise
            if wish == self._wish:
                self._refuse(text, fault_in(refused.sentence, refused.extra, text))
            return None
        finally:
            if wish == self._wish:
                self.filter_line.answered()
            if self.notices.sentence == ASKING:
                self.notices.clear()

    def _refuse(self, text: str, fault: Fault) -> None:
        """The old filter stays in force; the line says why, with what was typed or chosen."""
        if not self.filter_line.typing:
            self.edit_filter(text)
        typed = self.filter_line.typed
        if typed.strip() == text:
            self.filter_line.refuse(replace(fault, at=fault.at + len(typed) - len(typed.lstrip())))
        else:
            self.say(f"{text}: {fault.sentence}", error=True)

    async def _page(self, queue: Queue, listing: Listing, cursor: str | None, start: str | None = None) -> ItemPage:
        first = cursor is None and start in (None, FIRST)
        taken, self._taken = self._taken, None
        wanted = self._wanted()
        if first and taken is not None and taken[0] == wanted:
            page = taken[1]
        else:
            try:
                page = await super()._page(queue, listing, cursor, start)
            except ServiceRefused as refused:
                if refused.kind is ErrorCode.FILTER_INVALID:
                    self._worn = wanted
                    self.show_filter_line()
                raise
        if self._worn == wanted:
            self._worn = None
        if first:
            self._count_soon()
        return page

    def _count_soon(self) -> None:
        self._count_old = True
        if not self._counting and self._wanted() is not None:
            self._counting = True
            self.work(self._count(), doing="Counting what matches", group="matching")

    async def _count(self) -> None:
        try:
            while self._count_old and (wanted := self._wanted()) is not None:
                self._count_old = False
                queue, view, text = wanted
                found = await client.totals(self.shell.service, queue, view=view, filter=text)
                if wanted == self._wanted():
                    self.matching, self._counted = found, wanted
                    self.show_filter_line()
                    self.show_heading()
                await asyncio.sleep(COUNT_SECONDS)
        finally:
            self._counting = False

    def _learn_soon(self, queue: Queue) -> None:
        """Asks what a filter of the queue may name, unless that is known and fresh. Without it typing works too."""
        known, line = self._vocabularies.get(queue.id), self.filter_line
        line.nothing = NOTHING if known is not None else "What could stand here is being asked for; type on."
        if queue.id in self._learning or (known is not None and self.seen().now - known.as_of < FRESH):
            return
        self._learning.add(queue.id)
        self.work(self._learn(queue), doing="Reading what a filter may name", group="vocabulary")

    async def _learn(self, queue: Queue) -> None:
        try:
            self._vocabularies[queue.id] = await client.vocabulary(self.shell.service, queue.id)
        except ClientError as error:
            self.filter_line.nothing = f"What could stand here is not known ({error.sentence}) Type on."
            return
        finally:
            self._learning.discard(queue.id)
        self.filter_line.nothing = NOTHING
        self.filter_line.judge_again()

    def _judge(self, text: str) -> Fault | None:
        return fault_of(text, self._vocabularies.get(self._here))

    def _offers(self, text: str, at: int) -> Sequence[Offer]:
        vocabulary = self._vocabularies.get(self._here)
        return offers_of(text, at, vocabulary) if vocabulary is not None else ()


def _here_first(kept: Sequence[KeptFilter], queue: Queue) -> list[KeptFilter]:
    return sorted(kept, key=lambda one: one.queue != queue.id)
