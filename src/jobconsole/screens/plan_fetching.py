"""Owns what the screen of a plan asks the service for, and when: its head, every row through the digest, its warnings
and exclusions page by page. Hints say that it changed; rows of two editions never stand together.

Shows nothing itself: a subclass says how (`show_all`, `show_items`, `show_heading`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jobconsole.client import plans as client
from jobconsole.client.errors import ClientError, PlanUnfit
from jobconsole.client.plan_reading import PlanReading
from jobconsole.present.plans import PlanSeen, state_now
from jobconsole.screens.place import PlaceScreen
from jobconsole.screens.plan_listing import ExcludedRows, ItemRows, WarningRows
from jobcontract.events import Topic
from jobcontract.states import PlanState

if TYPE_CHECKING:
    from jobconsole.client.clock import ServerClock
    from jobcontract.events import Hint
    from jobcontract.plans import ExcludedItem, Plan, PlanWarning

PROGRESS_SECONDS = 0.1
"""Between two paints of how far the reading is; rows that come into sight are painted at once."""
BEFORE = datetime(1970, 1, 1, tzinfo=UTC)
"""The time before the service told one."""


class PlanFetchingScreen(PlaceScreen):
    """A place that holds one plan as it was fetched."""

    _me: str = ""
    _clock: ServerClock | None = None

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self.warned = WarningRows()
        self.items = ItemRows(self.warned)
        self.items.begin(plan.count)
        self.kept_out = ExcludedRows()
        self.reading: PlanReading | None = None
        self.unfit = ""
        """Why the rows of the plan cannot be trusted."""
        self.failure = ""
        """Why the rows could not be read; empty while they could."""
        self._warnings_next: str | None = None
        self._excluded_next: str | None = None
        self._told_at = float("-inf")
        self._told_rows = 0
        self._expiry_asked = False

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        raise NotImplementedError

    def show_items(self) -> None:
        """Shows the rows of the items."""
        raise NotImplementedError

    def show_heading(self) -> None:
        """Shows title, totals and how far the reading is."""
        raise NotImplementedError

    def in_sight(self) -> tuple[int, int]:
        """Indexes of the items in sight: first, and one past the last."""
        raise NotImplementedError

    @property
    def checked(self) -> int:
        """How many rows of this edition went through the digest."""
        reading = self.reading
        return reading.checked if reading is not None and reading.edition == self.plan.edition else 0

    @property
    def digest(self) -> str | None:
        """The digest of the edition that is on the screen, once every row went through."""
        reading = self.reading
        return reading.digest if reading is not None and reading.edition == self.plan.edition else None

    def seen(self) -> PlanSeen:
        """From where the plan is looked at, now."""
        session = self.shell.session
        if session is not None:
            self._me, self._clock = session.person.id, self.shell.service.clock
        now = self._clock.server_now() if self._clock is not None else None
        return PlanSeen(
            me=self._me,
            now=now or BEFORE,
            zone=self.shell.frame.zone,
            checked=self.checked,
            painted=self.items.painted,
        )

    def state(self) -> PlanState:
        """Where the plan stands by the service's time."""
        return state_now(self.plan, self.seen().now)

    async def reload(self) -> None:
        """Asks for the plan, and for what of it is old."""
        if self.reading is None:
            self.read_soon()
        self.took(await client.plan(self.shell.service, self.plan.id))
        await self._load_warnings()
        await self._load_exclusions()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Asks again where a hint names the plan."""
        if any(hint.topic is Topic.PLAN and hint.id == self.plan.id for hint in hints):
            self.reload_soon()

    def reload_soon(self) -> None:
        """Lets `reload` run in the background."""
        self.work(self.reload(), doing="Reading the plan", group="reload", exclusive=True)

    def took(self, plan: Plan) -> None:
        """An answer told how the plan stands; an older one changes nothing."""
        if plan.version < self.plan.version:
            return
        anew = plan.edition != self.plan.edition
        self.plan = plan
        if anew:
            self.items.begin(plan.count)
            self.unfit = ""
            self.read_soon()
        self.show_all()

    def read_soon(self) -> None:
        """Reads every row from the first one, in the background."""
        self.work(self._read(), doing="Reading the plan's rows", group="reading", exclusive=True)

    def expire(self) -> None:
        """The time of the plan is over: asks once what became of it."""
        if self.plan.state is PlanState.OPEN and self.state() is PlanState.EXPIRED and not self._expiry_asked:
            self._expiry_asked = True
            self.reload_soon()

    async def more_warnings(self) -> None:
        """The next page of warnings, if there is one."""
        if (cursor := self._warnings_next) is not None:
            self._warnings_next = None
            await self._load_warnings(self.warned.warnings, cursor)

    async def more_exclusions(self) -> None:
        """The next page of exclusions, if there is one."""
        if (cursor := self._excluded_next) is not None:
            self._excluded_next = None
            await self._load_exclusions(self.kept_out.excluded, cursor)

    async def _read(self) -> None:
        self._told_rows, self.failure = 0, ""
        reading = PlanReading(self.shell.service, self.plan)
        self.reading, reading.on_progress = reading, self._progress
        try:
            await reading.run()
        except PlanUnfit as unfit:
            self.unfit = unfit.sentence
            self.show_all()
            return
        except ClientError as error:
            self.failure = error.sentence
            self.show_all()
            raise
        if reading.plan.version > self.plan.version:
            self.plan = reading.plan
        self.show_all()

    def _progress(self) -> None:
        """Shows rows that came into sight at once, and how far the reading is now and then."""
        reading = self.reading
        if reading is None or not self.composed:
            return
        if reading.edition != self.plan.edition:
            # It was frozen anew while it was read; the reading has the newer head.
            if reading.plan.version < self.plan.version:
                return
            self.plan = reading.plan
            self.items.begin(self.plan.count)
        before, self._told_rows = self._told_rows, reading.checked
        self.items.take(reading.rows)
        first, end = self.in_sight()
        if before < max(end, 1) or reading.checked >= reading.count or first >= before:
            self.show_items()
        if reading.done or time.monotonic() - self._told_at >= PROGRESS_SECONDS:
            self._told_at = time.monotonic()
            self.show_heading()

    async def _load_warnings(self, before: Sequence[PlanWarning] = (), cursor: str | None = None) -> None:
        """Loads a page of warnings, and as many more as it takes to have all that wait for an answer."""
        loaded = list(before)
        while self.plan.warnings:
            page = await client.warnings(self.shell.service, self.plan.id, cursor=cursor)
            if page.edition != self.plan.edition:
                self.took(await client.plan(self.shell.service, self.plan.id))
                if page.edition != self.plan.edition:
                    return
            loaded += page.warnings
            cursor = self._warnings_next = page.next
            waiting = sum(1 for warning in loaded if warning.must_answer and warning.answer is None)
            if page.next is None or waiting >= self.plan.to_answer:
                break
        self.warned.show(loaded)
        if self.items.order == "warnings":
            self.items.arrange()
        self.show_all()

    async def _load_exclusions(self, before: Sequence[ExcludedItem] = (), cursor: str | None = None) -> None:
        loaded = list(before)
        if self.plan.excluded:
            page = await client.exclusions(self.shell.service, self.plan.id, cursor=cursor)
            loaded += page.items
            self._excluded_next = page.next
        self.kept_out.show(loaded)
        self.show_all()
