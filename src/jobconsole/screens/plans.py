"""Owns the place that lists the plans of the tenant: live ones first, then ended ones, each with its totals and how far
it is. It asks again when a hint names a plan; a row stays where it is by its plan's id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.getters import query_one

from jobconsole.client import plans as client
from jobconsole.client.errors import ClientError
from jobconsole.commands.situation import SelectedPlan, Situation
from jobconsole.present.columns import Piece, Tone, joined, plain, whole_pieces, width_of
from jobconsole.present.plan_list import plans_cells, plans_columns, plans_under
from jobconsole.present.plans import PlanSeen, counted, state_now
from jobconsole.screens.listed import row_handlers
from jobconsole.screens.plan_seen import SeenScreen, key_words
from jobconsole.screens.plans_opening import open_plan
from jobconsole.screens.shell import Handler
from jobconsole.widgets.lines import Lines
from jobconsole.widgets.rows import Row
from jobconsole.widgets.table import Table
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.plans import Plan

PAUSE_SECONDS = 1.0
"""Between two looks, however fast hints come."""


class PlanList:
    """The plans as they were told last, in their order."""

    flat = False

    def __init__(self) -> None:
        self.plans: tuple[Plan, ...] = ()
        self._at: dict[str, int] = {}
        self.seen: PlanSeen | None = None

    def __len__(self) -> int:
        return len(self.plans)

    def key(self, index: int) -> str:
        """The id of the plan at `index`."""
        return self.plans[index].id

    def index(self, key: str) -> int | None:
        """Where the plan is."""
        return self._at.get(key)

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Cells of what the plan moves."""
        return width_of(plain(joined(plans_under(self.plans[index]))))

    def row(self, index: int, widths: Mapping[str, int]) -> Row:  # noqa: ARG002  the protocol's
        """The text of a plan's row."""
        plan = self.plans[index]
        return Row(cells=plans_cells(plan, self._seen()), under=tuple(plans_under(plan)))

    def show(self, plans: Sequence[Plan]) -> None:
        """These are the plans."""
        self.plans = tuple(plans)
        self._at = {plan.id: at for at, plan in enumerate(self.plans)}

    def find(self, key: str | None) -> Plan | None:
        """The plan with that id."""
        at = self._at.get(key) if key is not None else None
        return self.plans[at] if at is not None else None

    def needs(self) -> dict[str, int]:
        """Widths that the columns need."""
        needs: dict[str, int] = {}
        for plan in self.plans:
            for column, piece in plans_cells(plan, self._seen()).items():
                needs[column] = max(needs.get(column, 0), width_of(piece.text))
        return needs

    def _seen(self) -> PlanSeen:
        if self.seen is None:
            raise LookupError("plans are listed before it is known who looks")
        return self.seen


class PlansScreen(SeenScreen):
    """Plans of the tenant."""

    PLACE = "plans"
    TITLE_WORDS = "Plans"
    EXPLANATION = (
        "Plans of this tenant: those of which something may still come first, then those that ended, newest first. Under "
        "each stands what it moves, each currency by itself, and what of it needs a look. Enter shows the preview of an "
        "open plan, of any other how far it is and what came of it."
    )
    AUTO_FOCUS = "#plans"
    DEFAULT_CSS = """
    PlansScreen #title { height: 1; padding: 0 1; }
    PlansScreen #said { display: none; padding: 1; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    table = query_one("#plans", Table)

    def __init__(self) -> None:
        super().__init__()
        self.listed = PlanList()
        self.asked = False
        """Whether the service told the plans."""
        self.failure = ""
        self._again = self._looking = False

    def compose_body(self) -> ComposeResult:
        """Title and list."""
        with Vertical():
            yield Lines(id="title", clipped=True)
            yield Lines(id="said")
            yield Table(id="plans")

    def on_mount(self) -> None:
        """Shows that it is loading; the place asks for the plans itself."""
        self.show_all()

    def on_resize(self) -> None:
        """Another width has other columns."""
        self.call_after_refresh(self.show_all)

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "plan.open": self.open,
            **row_handlers(lambda: self.table),
        }

    def situation(self) -> Situation:
        """The plan under the cursor."""
        facts, plan = super().situation(), self._selected()
        if plan is None:
            return facts
        seen = self.seen()
        selected = SelectedPlan(
            state=state_now(plan, seen.now), mine=plan.owner.id == seen.me, owner=plan.owner.id, count=plan.count
        )
        return replace(facts, queue=plan.queue, plan=selected)

    async def reload(self) -> None:
        """Asks for the plans."""
        if self.shell.session is None:
            return
        try:
            found = await client.plans(self.shell.service)
        except ClientError as error:
            self.failure = error.sentence
            self.show_all()
            raise
        self.asked, self.failure = True, ""
        self.listed.show(found.plans)
        self.show_all()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Asks again where a hint names a plan."""
        if any(hint.topic is Topic.PLAN for hint in hints):
            self._again = True
            if not self._looking:
                self._looking = True
                self.work(self._look(), doing="Reading the plans", group="plans")

    def tick(self) -> None:
        """Counts down."""
        if self.there():
            self.listed.seen = self.seen()
            first, end = self.table.window
            self.table.repaint(self.listed.key(at) for at in range(first, min(end, len(self.listed))))

    def copyable(self) -> str | None:
        """The id of the plan under the cursor."""
        return self.table.cursor_key

    def names(self) -> tuple[str, ...]:
        """The names of the plans: `:lark-42` opens one."""
        return tuple(plan.name for plan in self.listed.plans)

    def go_to_name(self, word: str) -> bool:
        """Opens the plan with that name."""
        plan = next((each for each in self.listed.plans if each.name == word.strip().casefold()), None)
        if plan is not None:
            open_plan(self, plan)
        return plan is not None

    def open(self) -> None:
        """Shows the plan under the cursor."""
        if (plan := self._selected()) is not None:
            open_plan(self, plan)

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#title")) and bool(self.query("#plans"))

    def show_all(self) -> None:
        """Shows title and list for what is known now."""
        if not self.there():
            return
        self.listed.seen = seen = self.seen()
        live = [plan for plan in self.listed.plans if state_now(plan, seen.now).live]
        mine = sum(plan.owner.id == seen.me for plan in live)
        told = [
            Piece("Plans", Tone.STRONG),
            Piece(f"{counted(len(live), 'live one')}" if self.asked else ""),
            Piece(f"{mine:,} yours" if mine else "", Tone.MINE),
            Piece(f"{len(self.listed) - len(live):,} ended" if self.asked else "", Tone.QUIET),
        ]
        self.title_line.show([whole_pieces(told, max(20, self.size.width - 2))])
        self.table.show(self.listed, plans_columns(), self.listed.needs())
        keys = key_words(self, "mark.toggle", "plan.make")
        empty = (
            f"No plan was made here lately. Mark payouts in a queue ({keys['mark.toggle']}) and plan their release "
            f"({keys['plan.make']})."
        )
        sentence = self.failure or (empty if self.asked else "Reading the plans …")
        self.table.display = len(self.listed) > 0
        self.said.display = not self.table.display
        self.said.show([(Piece(sentence, Tone.BAD if self.failure else Tone.QUIET),)])
        self.table.set_class(not self.shell.link.connected and len(self.listed) > 0, "-stale")
        self.situation_changed()

    async def _look(self) -> None:
        try:
            while self._again:
                self._again = False
                await self.reload()
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self._looking = False

    def _selected(self) -> Plan | None:
        return self.listed.find(self.table.cursor_key) if self.there() else None

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        self.situation_changed()

    @on(Table.Opened)
    def _opened(self) -> None:
        self.run_command("plan.open")
