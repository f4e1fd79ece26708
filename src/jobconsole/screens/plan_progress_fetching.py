"""Owns what the screen of a running plan asks the service for, and when: its head at each hint, the rows that need a look,
the page in sight. Hints are coalesced; rows are told again, never filled anew.

Shows nothing itself: a subclass says how (`show_all`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.client import money as money_client
from jobconsole.client import plans as client
from jobconsole.client.errors import ClientError
from jobconsole.present.money import ended_count
from jobconsole.present.plan_progress import Pace
from jobconsole.present.plans import state_now
from jobconsole.screens.plan_progress_listing import LOOKED_AT, TurnRows
from jobconsole.screens.plan_seen import SeenScreen
from jobcontract.events import Topic
from jobcontract.states import PlanState, Turn

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.plans import Plan, Stop

PAGE = 500
"""Rows of a page."""
AHEAD = 100
"""Further rows are asked for when the end of what is loaded is this near."""
PAUSE_SECONDS = 0.5
"""Between two rounds, however fast hints come."""
LOOKED_AT_MOST = 1_000
"""Most rows of one outcome that are loaded ahead of the others."""


class PlanWatchingScreen(SeenScreen):
    """A place that follows one plan."""

    def __init__(self, plan_id: str, plan: Plan | None = None) -> None:
        """`plan` as it is known already."""
        super().__init__()
        self.plan_id = plan_id
        self.plan = plan
        self.stop: Stop | None = None
        """Who stopped all money of the tenant."""
        self.rows = TurnRows()
        self.pace = Pace()
        self.failure = ""
        """Why the plan could not be loaded; empty while it could."""
        self._cursors: dict[int, str | None] = {0: None}
        """By page, which begins with its number times PAGE: what it is asked for with."""
        self._loaded: set[int] = set()
        self._told_of = -1
        """The version of the plan that its rows were last compared with."""
        self._busy = asyncio.Lock()
        self._again = self._rounding = False

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        raise NotImplementedError

    def in_sight(self) -> tuple[int, int]:
        """Indexes of the rows in sight: first, and one past the last."""
        raise NotImplementedError

    def state(self) -> PlanState | None:
        """Where the plan stands by the service's time; None while it is not known."""
        return state_now(self.plan, self.seen().now) if self.plan is not None else None

    async def reload(self) -> None:
        """Asks for the switch, the plan and its rows."""
        if self.shell.session is None:
            return
        try:
            await self._load_stop()
            await self._round(everything=True)
        except ClientError as error:
            self.failure = error.sentence
            self.show_all()
            raise

    def changed(self, hints: Sequence[Hint]) -> None:
        """Asks again where a hint names the plan or the switch."""
        if any(hint.topic is Topic.MONEY for hint in hints):
            self.work(self._load_stop(), doing="Reading whether money moves", group="stop", exclusive=True)
        if any(hint.topic is Topic.PLAN and hint.id == self.plan_id for hint in hints):
            self.refresh_soon()

    def refresh_soon(self) -> None:
        """Lets a round begin, or another one follow the one that runs."""
        self._again = True
        if not self._rounding:
            self._rounding = True
            self.work(self._rounds(), doing="Reading the plan", group="rounds")

    def took(self, plan: Plan) -> None:
        """An answer told how the plan stands; an older one changes nothing."""
        before = self.plan
        if before is not None and plan.version < before.version:
            return
        if before is not None and plan.edition != before.edition:
            self.rows.clear()
            self._cursors, self._loaded = {0: None}, set()
        self.plan, self.failure = plan, ""
        self.rows.end(ended=not plan.state.live)
        if plan.state is PlanState.APPLYING:
            self.pace.tell(plan.as_of, ended_count(plan))
        else:
            self.pace.forget()
        self.show_all()

    async def more(self) -> None:
        """The next page, where there is one."""
        following = max(self._loaded, default=-1) + 1
        if following in self._cursors and following not in self._loaded:
            await self._page(following)
            self.show_all()

    async def all_pages(self) -> None:
        """Every page that is left, one after the other."""
        while (following := max(self._loaded, default=-1) + 1) in self._cursors and following not in self._loaded:
            await self._page(following)
        self.show_all()

    async def _load_stop(self) -> None:
        self.stop = (await money_client.money(self.shell.service)).stopped
        self.show_all()

    async def _rounds(self) -> None:
        try:
            while self._again and self.shell.session is not None:
                self._again = False
                await self._round()
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self._rounding = False

    async def _round(self, *, everything: bool = False) -> None:
        """The plan as it stands now, then of its rows what it says has changed."""
        async with self._busy:
            before = self.plan
            self.took(await client.plan(self.shell.service, self.plan_id))
            plan = self.plan
            if plan is None or (plan.version == self._told_of and not everything and self._loaded):
                return
            self._told_of = plan.version
            turned = before is None or before.state is not plan.state
            doubted = await self._looked_at(plan, everything=everything or turned)
            moving = self.rows.unended() if turned or everything else self.rows.moving(*self.in_sight())
            for page in sorted({0} - self._loaded | self._pages(moving | doubted)):
                await self._page(page)
            for number in doubted:
                if (number - 1) // PAGE not in self._loaded:
                    self.rows.drop(number)
            self.show_all()

    async def _looked_at(self, plan: Plan, *, everything: bool) -> set[int]:
        """Loads the rows that need a look; the numbers of those that were among them and are not any more."""
        counts = {each.turn: each.count for each in plan.account}
        before, found = set[int](), set[int]()
        for turn in LOOKED_AT:
            known = self.rows.numbers(turn)
            count = min(counts.get(turn, 0), LOOKED_AT_MOST)
            if count == min(len(known), LOOKED_AT_MOST) and not (everything and known):
                continue
            before |= known
            found |= await self._of_turn(turn)
        return before - found

    async def _of_turn(self, turn: Turn) -> set[int]:
        cursor, found = None, set[int]()
        while len(found) < LOOKED_AT_MOST:
            page = await client.items(self.shell.service, self.plan_id, turn=turn, cursor=cursor, limit=PAGE)
            self.rows.take(page.items)
            found |= {row.number for row in page.items}
            cursor = page.next
            if cursor is None:
                break
        return found

    async def _page(self, number: int) -> None:
        page = await client.items(self.shell.service, self.plan_id, cursor=self._cursors[number], limit=PAGE)
        if self.plan is not None and page.edition != self.plan.edition:
            self.refresh_soon()
            return
        self.rows.take(page.items)
        self._loaded.add(number)
        if page.next is not None:
            self._cursors[number + 1] = page.next

    def _pages(self, numbers: set[int]) -> set[int]:
        """The loaded pages that hold these rows."""
        return {(number - 1) // PAGE for number in numbers} & self._loaded
