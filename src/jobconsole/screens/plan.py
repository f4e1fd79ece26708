"""Owns the preview of a plan: title with the time left, totals always in sight, warnings first, every item, what is kept
out, and the row under the cursor in full.

What is fetched, and when, is decided in `plan_fetching.py`; what is done about it in `plan_acts.py`; how it is written
in `present/`. Only rows in sight are built, and a row counts as shown once it was painted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.getters import query_one
from textual.timer import Timer
from textual.widgets import Input

from jobconsole.commands.keymap import shown
from jobconsole.commands.situation import SelectedPlan, Situation
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.plan_rows import (
    excluded_columns,
    excluded_lines,
    item_columns,
    item_lines,
    warned_lines,
    warning_columns,
)
from jobconsole.present.plans import ORDER_WORDS, ORDERS, ListsShown, lists_line, plan_title, state_lines, total_lines
from jobconsole.present.queues import WIDE
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.named import opened
from jobconsole.screens.plan_acts import PlanActingScreen
from jobconsole.screens.shell import Handler
from jobconsole.widgets.line_entry import LineEntry
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.table import Table

if TYPE_CHECKING:
    from jobcontract.items import Amount, Payee
    from jobcontract.plans import Plan, PlanWarning

LISTS = ("warnings", "items", "excluded")
PROGRESS = "jobconsole.screens.plan_progress:PlanProgress"
"""The screen that watches a confirmed plan."""
LOW = 18
"""Below this many lines one list is shown at a time."""
WARNINGS_MOST = 8
"""Most warnings in sight above the items."""
BRIEF = 60
"""Below this many cells the row under the cursor is told without its number."""
SEARCH_MOST = 100
FOLLOW_SECONDS = 0.05
"""How long the cursor rests on a row before its detail and the keys follow it."""
AHEAD = 40
"""Further warnings and exclusions are asked for when the end of what is loaded is this near."""


class PlanScreen(PlanActingScreen):
    """Everything that a plan would do, before it is confirmed."""

    PLACE = "plan"
    TITLE_WORDS = "Plan"
    EXPLANATION = (
        "Exactly what one confirmation would release. The items are frozen: what others change meanwhile is named when "
        "you confirm. ▲ a warning that waits for your answer, ✓ one that has it, △ something to know. Totals are out, "
        "back and net, each currency by itself. Going back leaves the plan open until its time is over."
    )
    CSS_PATH: ClassVar[str] = "plan.tcss"
    AUTO_FOCUS = "#items"

    title_line = query_one("#title", Lines)
    totals = query_one("#totals", Lines)
    standing = query_one("#state", Lines)
    lists = query_one("#lists", Lines)
    row = query_one("#row", Lines)
    search = query_one("#search", LineEntry)
    item_table = query_one("#items", Table)
    warning_table = query_one("#warnings", Table)
    excluded_table = query_one("#excluded", Table)

    def __init__(self, plan: Plan, on_confirmed: Callable[[frozenset[str]], None] = lambda _items: None) -> None:
        super().__init__(plan, on_confirmed)
        self.list = "items"
        """Which list has the keyboard."""
        self._chosen = False
        self._coming = False
        """Whether the focus is on its way to the list that was chosen."""
        self._following: Timer | None = None

    def compose_body(self) -> ComposeResult:
        """Heading, warnings, the lists' names, the rows, the row under the cursor."""
        with Vertical(id="plan"):
            yield Lines(id="title", clipped=True)
            yield Lines(id="totals", clipped=True)
            yield Lines(id="state", indent=2)
            yield Lines(id="lists", clipped=True)
            yield Table(id="warnings")
            yield LineEntry(id="search", compact=True, max_length=SEARCH_MOST, placeholder="payee, title, key, amount")
            yield Table(id="items")
            yield Table(id="excluded")
            yield Lines(id="row", indent=2)

    def on_mount(self) -> None:
        """Shows what is known; what is not, the place asks for itself."""
        self.item_table.focus()
        self.show_all()
        self.call_after_refresh(self.show_all)

    def on_resize(self) -> None:
        """Another size has other columns, and room for other parts."""
        self.call_after_refresh(self.show_all)

    # What the shell asks

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of looking, then those that change the plan."""
        return {
            **super().handlers(),
            "plan.list": self.next_list,
            "plan.show-row": self.show_row,
            "plan.sort": self.sort,
            "plan.search": self.open_search,
            **row_handlers(lambda: self.table),
        }

    def situation(self) -> Situation:
        """The plan, and what of it is selected."""
        plan, warning = self.plan, self.selected_warning() if self.there() else None
        selected = SelectedPlan(
            state=self.state(),
            mine=plan.owner.id == self.seen().me,
            owner=plan.owner.id,
            count=plan.count,
            checked=plan.count if self.digest is not None else min(self.checked, max(0, plan.count - 1)),
            unfit=self.unfit or self.failure,
            to_answer=plan.to_answer,
            shown=self.items.painted > 0,
            row=self.there() and self.selected_item() is not None,
            warning=None if warning is None else warning.answer is None,
        )
        return replace(super().situation(), queue=plan.queue, plan=selected)

    def tick(self) -> None:
        """Counts the plan's time down, and how many rows were painted."""
        if not self.there():
            return
        self.expire()
        self.show_heading()
        self.situation_changed()

    def copyable(self) -> str | None:
        """The id of the item under the cursor."""
        item = self.selected_item()
        return item[0] if item is not None else self.plan.id

    def go_back(self) -> bool:
        """Closes the search; the plan itself stays open behind."""
        if not self.search.display:
            return False
        self.search.display = False
        self.search.value = ""
        self._arrange(search="")
        self.item_table.focus()
        return True

    # What is selected

    @property
    def table(self) -> Table:
        """The table of the list that has the keyboard."""
        tables = {"warnings": self.warning_table, "items": self.item_table, "excluded": self.excluded_table}
        return tables[self.list]

    def in_sight(self) -> tuple[int, int]:
        """Indexes of the items in sight."""
        return self.item_table.window if self.there() else (0, 0)

    def selected_warning(self) -> PlanWarning | None:
        """The warning under the cursor; of an item the one that waits, else its first."""
        if self.list == "warnings":
            return self.warned.find(self.warning_table.cursor_key)
        row = self.items.read(self.item_table.cursor_key) if self.list == "items" else None
        told = self.warned.of(row.item) if row is not None else ()
        waiting = sorted((each for each in told if each.answer is None), key=lambda each: not each.must_answer)
        return next(iter([*waiting, *told]), None)

    def selected_item(self) -> tuple[str, Amount, Payee] | None:
        """Id, amount and payee of the item under the cursor."""
        if self.list == "warnings":
            warning = self.warned.find(self.warning_table.cursor_key)
            return (warning.item, warning.amount, warning.payee) if warning is not None else None
        row = self.items.read(self.item_table.cursor_key) if self.list == "items" else None
        return (row.item, row.amount, row.payee) if row is not None else None

    # What a person does

    def next_list(self) -> None:
        """Goes on to the next list that holds something."""
        at = LISTS.index(self.list)
        order = [*LISTS[at + 1 :], *LISTS[: at + 1]]
        self._choose(next(name for name in order if name == "items" or self._held(name)))

    def show_row(self) -> None:
        """Goes from a warning to its row among the items."""
        warning = self.warned.find(self.warning_table.cursor_key) if self.list == "warnings" else None
        if warning is not None:
            self._choose("items")
            self.item_table.land(str(warning.number))

    def sort(self) -> None:
        """Goes on to the next order."""
        order = ORDERS[(ORDERS.index(self.items.order) + 1) % len(ORDERS)]
        self._arrange(order=order)
        self.say(f"Sorted {ORDER_WORDS[order]}.")

    def open_search(self) -> None:
        """Opens the line in which a search is typed."""
        self._choose("items")
        self.search.display = True
        self.search.focus()

    @on(Input.Submitted, "#search")
    def _searched(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        self._arrange(search=text)
        if not text:
            self.search.display = False
        self.item_table.focus()

    def after_confirming(self, plan: Plan) -> None:
        """Goes on to the screen that watches it."""
        self.show_all()
        progress = opened(PROGRESS, plan.id)
        if progress is not None:
            self.app.switch_screen(progress)

    # What is shown

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        if not self._chosen and self.plan.to_answer and len(self.warned):
            # What waits for an answer comes first; after that the list is the person's choice.
            self._choose("warnings")
        elif self.list != "items" and not self._held(self.list):
            self._choose("items")
        self.show_heading()
        self._show_lists()
        self.show_items()
        self._show_row()
        self.situation_changed()

    def show_heading(self) -> None:
        """Shows title, totals, what became of the plan, how far the reading is."""
        if not self.there():
            return
        seen, width = self.seen(), max(20, self.size.width - 2)
        self.title_line.show([plan_title(self.plan, seen, width)])
        self.totals.show(total_lines(self.plan, width, self._totals_room()))
        keys = self.shell.keymap.get("plan.make-anew", ())
        told = state_lines(self.plan, seen, self.unfit or self.failure, shown(keys[0]) if keys else ":plan.make-anew")
        self.standing.display = bool(told)
        self.standing.show(told)
        chosen = ListsShown(chosen=self.list, order=self.items.order, search=self.items.search, found=len(self.items))
        self.lists.show([lists_line(self.plan, seen, chosen, width)])

    def show_items(self) -> None:
        """Shows the rows of the items in the columns that fit."""
        if not self.there():
            return
        columns = item_columns(wide=self.size.width >= WIDE)
        self.item_table.show(self.items, columns, self.items.needs())
        nothing = f"Nothing holds “{self.items.search}”; back clears the search." if self.items.search else ""
        self.item_table.say((Piece(nothing, Tone.QUIET),))

    def _show_lists(self) -> None:
        """Shows warnings and exclusions where there is room for them, or where they have the keyboard."""
        low = self.size.height < LOW
        self.set_class(low, "-low")
        with_warnings = bool(len(self.warned)) and (self.list == "warnings" or not low)
        alone = low and self.list == "warnings"
        self.warning_table.display = with_warnings
        self.warning_table.styles.height = "1fr" if alone else 1 + min(len(self.warned), self._warnings_room())
        self.item_table.display = self.list != "excluded" and not alone
        self.excluded_table.display = self.list == "excluded"
        # Hidden ones too: a table reads its rows again whenever it is laid out, and they may be other ones by then.
        self.warning_table.show(self.warned, warning_columns(wide=self.size.width >= WIDE), self.warned.needs())
        self.excluded_table.show(self.kept_out, excluded_columns(), self.kept_out.needs())

    def _show_row(self) -> None:
        """Shows the row under the cursor in full, in the lines that there is room for."""
        room = self._row_room()
        lines = self._row_lines() if room else []
        self.row.display = room > 0
        self.row.styles.height = room + (0 if self.has_class("-low") else 1)
        self.row.show(lines)

    def _row_lines(self) -> Sequence[Line]:
        if self.list == "warnings":
            warning = self.warned.find(self.warning_table.cursor_key)
            row = self.items.read(str(warning.number)) if warning is not None else None
            if warning is None or row is None or self.has_class("-low"):
                return warned_lines(warning, brief=self.size.width < BRIEF) if warning is not None else []
            return item_lines(row, [warning])
        if self.list == "excluded":
            excluded = self.kept_out.find(self.excluded_table.cursor_key)
            return excluded_lines(excluded) if excluded is not None else []
        row = self.items.read(self.item_table.cursor_key)
        return item_lines(row, self.warned.of(row.item)) if row is not None else []

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        # The cursor's row is painted first, and the next key's too: the row in full follows once it rests.
        if self._following is not None:
            self._following.stop()
        self._following = self.set_timer(FOLLOW_SECONDS, self._follow)

    def _follow(self) -> None:
        if self.there():
            self._show_row()
            self.situation_changed()

    @on(Table.WindowMoved)
    def _window_moved(self, event: Table.WindowMoved) -> None:
        if event.table is self.warning_table and event.end + AHEAD >= len(self.warned):
            self.work(self.more_warnings(), doing="Loading more warnings", group="warnings")
        elif event.table is self.excluded_table and event.end + AHEAD >= len(self.kept_out):
            self.work(self.more_exclusions(), doing="Loading more exclusions", group="exclusions")
        elif event.table is self.item_table:
            self.call_after_refresh(self.show_heading)

    @on(Table.Opened)
    def _opened(self) -> None:
        self.show_row()

    def on_descendant_focus(self) -> None:
        """A click into another list chooses it."""
        focused = self.focused
        if not isinstance(focused, Table) or focused.id not in LISTS:
            return
        if focused.id == self.list:
            self._coming = False
        elif not self._coming:  # else the focus of before is still being told
            self._choose(focused.id)

    def _choose(self, name: str) -> None:
        self._chosen = self._coming = True
        if name != self.list:
            self.list = name
            self.show_all()
        self.table.focus()

    def _arrange(self, *, order: str | None = None, search: str | None = None) -> None:
        self.items.arrange(order, search)
        columns = item_columns(wide=self.size.width >= WIDE)
        self.item_table.show(self.items, columns, self.items.needs(), fresh=True)
        self.show_all()

    def _held(self, name: str) -> int:
        return len(self.warned) if name == "warnings" else len(self.kept_out)

    def _totals_room(self) -> int:
        return max(2, min(6, (self.size.height - 8) // 2))

    def _warnings_room(self) -> int:
        return max(1, min(WARNINGS_MOST, (self.size.height - 14) // 3))

    def _row_room(self) -> int:
        height = self.size.height
        if height >= LOW:
            return 4 if height >= 30 else 3
        return 2 if height >= 13 or self.list != "items" else 0

    def there(self) -> bool:
        """Whether the parts of the screen are there: not before it is composed, nor once it is taken down."""
        try:
            return self.is_mounted and self.is_attached and self.row.is_attached
        except NoMatches:
            return False
