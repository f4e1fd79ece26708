"""Owns the screen that says why one item stands where it stands: its score part by part, the items above and below,
what would let one overtake the other, the rule in its own words.

It shows at once what the list knew, then what the service says, and asks again when something of it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.getters import query_one

from jobconsole.client import scores as client
from jobconsole.commands.situation import SelectedItem, Situation
from jobconsole.present.columns import Piece, Tone
from jobconsole.present.explain import explain_lines, known_lines
from jobconsole.present.items import LABEL, Seen, heading
from jobconsole.screens.place import PlaceScreen
from jobconsole.screens.shell import Handler
from jobconsole.screens.what_if import suppose
from jobconsole.widgets.lines import Lines

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.items import Explanation, Item
    from jobcontract.queues import Queue

REST_TICKS = 5
"""Seconds between two answers while only other items of the queue change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What is to be explained: an item of a queue, and from where it is looked at."""

    queue: Queue
    item: Item
    seen: Callable[[], Seen]


class ExplainScreen(PlaceScreen):
    """Why one item stands where it stands."""

    PLACE = "explain"
    TITLE_WORDS = "Why here"
    EXPLANATION = (
        "Why one item stands where it stands. The parts of a score add up to it; the highest score is first, between "
        "equal ones the older item, then the lower id. Amounts of two currencies are never compared: each counts by the "
        "thresholds of its own."
    )
    CSS_PATH: ClassVar[str] = "explain.tcss"

    about = query_one("#heading", Lines)
    whole = query_one("#lines", Lines)

    def __init__(self, explained: Explained) -> None:
        super().__init__()
        self.queue = explained.queue
        self.item = explained.item
        self.explanation: Explanation | None = None
        self._look = explained.seen
        self._old = False
        self._rested = 0

    def compose_body(self) -> ComposeResult:
        """Heading, then everything else, scrolling."""
        yield Lines(id="heading")
        with VerticalScroll(id="whole"):
            yield Lines(id="lines", indent=LABEL)

    def on_mount(self) -> None:
        """Shows what is known; what is not, the place asks for itself."""
        self.query_one("#whole").focus()
        self.call_after_refresh(self.show_item)

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_item)

    def handlers(self) -> Mapping[str, Handler]:
        """What-if starts from here."""
        return {"item.what-if": lambda: suppose(self, self.item, self._look)}

    def situation(self) -> Situation:
        """The item that is explained."""
        selected = SelectedItem(state=self.item.state, claim=self.queue.claim)
        known = self.explanation.rule if self.explanation is not None else None
        rule = known.id if known is not None else self.queue.score
        return replace(super().situation(), queue=self.queue.id, rule=rule, item=selected)

    async def reload(self) -> None:
        """Asks why."""
        self._old, self._rested = False, 0
        found = await client.explanation(self.shell.service, self.item.id)
        if self.explanation is None or found.as_of >= self.explanation.as_of:
            self.explanation, self.item = found, found.item
            self.show_item()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Asks again: at once where a hint names one of the items shown, else after a while."""
        if any(hint.id in self._shown() for hint in hints):
            self.ask_again()
        elif any(hint.queue == self.queue.id for hint in hints):
            self._old = True

    def ask_again(self) -> None:
        """Lets `reload` run in the background."""
        self.work(self.reload(), doing="Explaining", group="reload", exclusive=True)

    def tick(self) -> None:
        """Counts ages; asks again for what others changed."""
        self._rested += 1
        if self._old and self._rested >= REST_TICKS and self.shell.session is not None:
            self.ask_again()
        self.show_item()

    def copyable(self) -> str | None:
        """The item's id."""
        return self.item.id

    def show_item(self) -> None:
        """Shows everything that is known, by the service's time now."""
        if not self.is_attached or not self.query("#lines") or not self.query("#heading"):
            return
        seen, width = self._look(), max(20, self.whole.size.width)
        stale = [] if self.shell.link.connected else [(Piece("▲ as it stood when the connection was lost", Tone.WARN),)]
        self.about.show([heading(self.item), *stale])
        if self.explanation is None:
            self.whole.show(known_lines(self.item, width, scored=self.queue.score is not None))
        else:
            self.whole.show(explain_lines(self.explanation, seen, width))
        self.situation_changed()

    def _shown(self) -> set[str]:
        """Ids of the items that are on the screen."""
        placement = self.explanation.placement if self.explanation is not None else None
        around = (placement.above, placement.below) if placement is not None else ()
        return {self.item.id, *(item.id for item in around if item is not None)}


def explain(screen: PlaceScreen, explained: Explained) -> None:
    """Shows why the item stands where it stands, over `screen`."""
    screen.app.push_screen(ExplainScreen(explained))
