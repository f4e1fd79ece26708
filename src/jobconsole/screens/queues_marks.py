"""Owns the marks of the Queues place and the plan that is made from them: rows one by one, a range, or all that match.

A mark stays on its item through every refresh and every filter of its list; how many of them the present filter does not
show is said, and asked about before they become part of a plan (BULK-01). "All that match" is the filter itself: the
service freezes it, and it ends with the filter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jobconsole.client import plans as client
from jobconsole.client.errors import ClientError, OutcomeUnknown, ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.commands.situation import Situation
from jobconsole.present.amounts import account_text, amount_text
from jobconsole.present.items import name_of
from jobconsole.present.plans import counted, noun_of
from jobconsole.present.refusals import refusal_sentence
from jobconsole.screens.choose import Choice, ChooseScreen
from jobconsole.screens.dialog import Ask
from jobconsole.screens.plan import PlanScreen
from jobconsole.screens.queues_filter import FilteringScreen
from jobconsole.screens.sending import surely
from jobconsole.screens.shell import Handler
from jobcontract.states import ItemView

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.items import Item
    from jobcontract.plans import Plan
    from jobcontract.queues import BulkCommand, Queue

HIDDEN_SHOWN = 6
"""Most hidden rows that the question names; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marked:
    """A marked item as it was when it was marked, and the filter that showed it then."""

    item: Item
    filter: str


class MarkingScreen(FilteringScreen):
    """A place in whose list rows are marked."""

    def __init__(self) -> None:
        super().__init__()
        self._marked: dict[str, _Marked] = {}
        self._planning = False
        self._marks_of: tuple[str, ItemView] | None = None
        """The queue and view in which rows are marked."""

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of marks, and the plan that is made of them."""
        return {
            **super().handlers(),
            "mark.toggle": self.mark,
            "mark.range": self.mark_range,
            "mark.all": self.mark_all,
            "mark.clear": lambda: self.table.clear_marks(),
            "plan.make": self.make_plan,
        }

    def situation(self) -> Situation:
        """With the marks, and whether the queue has a bulk command."""
        facts = super().situation()
        there = self.there()
        return replace(
            facts,
            marked=len(self.table.marks) if there else 0,
            all_marked=self.table.marking.everything if there else False,
            bulk=self.queue is not None and bool(self.queue.bulk),
        )

    def took(self, item: Item, as_of: datetime) -> None:
        """What is closed now is no longer to be planned."""
        super().took(item, as_of)
        if item.state.closed:
            self.table.clear_marks([item.id])

    async def show_queue(self, queue: Queue | None, view: ItemView) -> None:
        """All that matched the filter of before is no longer marked."""
        if self.there() and self.table.marking.everything:
            self.say("What was marked as “all that match” ended with its filter.")
        await super().show_queue(queue, view)

    def show_rows(self, *, fresh: bool = False) -> None:
        """Shows the rows; marks stay on their items while the same view of the same queue is filtered otherwise."""
        here = (self.queue.id, self.view) if self.queue is not None else None
        kept = self.table.marks if fresh and here == self._marks_of else frozenset[str]()
        self.place_rows(fresh=fresh)
        self._marks_of = here
        if kept:
            self.table.mark(kept)

    def place_rows(self, *, fresh: bool) -> None:
        """Shows the rows; `fresh`: they are of another list."""
        raise NotImplementedError

    def go_back(self) -> bool:
        """Takes the marks away first."""
        if not self.table.marks and not self.table.marking.everything:
            return super().go_back()
        self.say("The marks are taken away.")
        self.table.clear_marks()
        return True

    def went(self, gone: frozenset[str]) -> None:
        """What left a filtered list may only not match any more: its mark stays, hidden."""
        if not self.filter_text:
            super().went(gone)
            return
        for key in gone & self._marked.keys():
            self._marked[key] = replace(self._marked[key], filter="")

    # Marks

    def mark(self) -> None:
        """Marks the row and goes on to the next."""
        self.table.toggle_mark()
        self.remember_marks()
        self.table.action_move(1)

    def mark_range(self) -> None:
        """Marks up to the cursor."""
        self.table.mark_range()
        self.remember_marks()

    def mark_all(self) -> None:
        """Marks all that wait and match, loaded or not."""
        if self.view is not ItemView.WAITING:
            self.say("All that match can be marked among what is waiting; v goes there.", error=True)
            return
        self._marked.clear()
        self.table.mark(everything=True)
        self.say(f"{self.all_words()} marked, those not loaded too; the service freezes them when you plan.")

    def all_words(self) -> str:
        """`All 212 that match`, by the service's count."""
        if self.filter_text:
            found = self.counted()
            return f"All {found.matching:,} that match" if found is not None else "All that match"
        totals = self.totals.get(self.queue.id) if self.queue is not None else None
        return f"All {totals.waiting:,} that wait" if totals is not None else "All that wait"

    def remember_marks(self) -> None:
        """Keeps what is known of the marked items, for when their rows are not loaded any more."""
        marks = self.table.marks
        self._marked = {key: known for key, known in self._marked.items() if key in marks}
        for key in marks:
            item = self.listing.item(key)
            if item is not None:
                self._marked[key] = _Marked(item=item, filter=self.filter_text)

    def hidden(self) -> list[str]:
        """Ids of the marked items that the filter in force does not show, as far as can be told."""
        if not self.filter_text:
            return []
        return sorted(
            key
            for key in self.table.marks
            if self.listing.index(key) is None
            and (key not in self._marked or self._marked[key].filter != self.filter_text)
        )

    # The plan

    async def make_plan(self) -> None:
        """Makes a plan of what is marked, else of the row under the cursor, and shows it."""
        queue = self.queue
        if queue is None or self._planning:
            return
        self._planning = True
        try:
            command = await self._command(queue)
            if command is None or not await self._sure_of_hidden(queue):
                return
            plan = await self._make(queue, command)
        finally:
            self._planning = False
        if plan is not None:
            self.app.push_screen(PlanScreen(plan, self._handled))

    async def _command(self, queue: Queue) -> BulkCommand | None:
        if len(queue.bulk) == 1:
            return queue.bulk[0]
        choices = [Choice(id=each.id, title=each.title) for each in queue.bulk]
        chosen = await self.app.push_screen_wait(ChooseScreen("Plan what?", choices))
        return next((each for each in queue.bulk if each.id == chosen), None)

    async def _sure_of_hidden(self, queue: Queue) -> bool:
        """Whether hidden rows are to be part of the plan; asked where there are any."""
        hidden, marks = self.hidden(), self.table.marks
        if not hidden:
            return True
        noun = noun_of(queue.id)
        lines = [f"The filter {self.filter_text} does not show:"]
        lines += [f"  {self._named(key)}" for key in hidden[:HIDDEN_SHOWN]]
        if len(hidden) > HIDDEN_SHOWN:
            lines.append(f"  and {len(hidden) - HIDDEN_SHOWN:,} more")
        are = "is" if len(hidden) == 1 else "are"
        title = f"Plan {counted(len(marks), noun)}, of which {len(hidden):,} {are} not shown by this filter?"
        ask = Ask(title=title, act=f"Plan all {len(marks):,}", lines=lines)
        return await self.app.push_screen_wait(ask) is True

    def _named(self, key: str) -> str:
        known = self._marked.get(key)
        if known is None:
            return key
        item = known.item
        amount = f"{amount_text(item.amount)}  {account_text(item.payee)}  " if item.amount is not None else ""
        return f"{amount}{name_of(item)}"

    async def _make(self, queue: Queue, command: BulkCommand) -> Plan | None:
        every, marks, cursor = self.table.marking.everything, sorted(self.table.marks), self.table.cursor_key
        if not every and not marks:
            item = self.listing.item(cursor)
            if item is None:
                return None
            if item.plan is not None:
                return await client.plan(self.shell.service, item.plan.id)
            marks = [item.id]
        items, filter_text = (None, self.filter_text) if every else (marks, None)
        service, key = self.shell.service, new_key()
        told = f"Making the plan of {self.all_words().lower() if every else counted(len(marks), 'item')} …"
        self.say(told)
        service.on_checking = lambda _key: self.say("Making the plan: unknown, checking …")
        try:
            plan = await surely(
                lambda: client.make(service, queue.id, command.id, key, items=items, filter=filter_text)
            )
        except (ServiceRefused, OutcomeUnknown) as refused:
            self.say(f"{command.title}: {refusal_sentence(refused.sentence, refused.reference)}", error=True)
            return None
        except ClientError:
            self.notices.clear()
            raise
        self.notices.clear()
        return plan

    def _handled(self, items: frozenset[str]) -> None:
        """The plan was confirmed: its rows are handled, and no longer marked. What it left out stays marked."""
        if self.table.marking.everything:
            self.table.clear_marks()
        else:
            self.table.clear_marks(items)
        self.refetch_soon()
