"""Owns what the console knows of money wherever one is in it: the switch that stops it, and the person's live plans.

It asks when a hint names one of them, after the link was cut, and now and then; never more often than once a pause.
What it knew stays while the service is away: the top line says how old things are.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jobconsole.client import money as money_client
from jobconsole.client import plans as plans_client
from jobconsole.client.errors import ClientError
from jobcontract.events import Topic
from jobcontract.permissions import Permission
from jobcontract.states import PlanState

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobcontract.events import Hint
    from jobcontract.plans import Plan, Stop
    from jobcontract.session import TenantRole

PAUSE_SECONDS = 1.0
"""Between two rounds of asking, however fast hints come."""
SLOW_SECONDS = 60.0
"""After so long it is asked again without a hint."""
_FIRST = (PlanState.APPLYING, PlanState.PAUSED, PlanState.ARMED, PlanState.OPEN)
"""Of several live plans those that do something come first."""


class MoneyWatch:
    """The switch and the person's live plans in one tenant; knows nothing where the person may not read plans."""

    def __init__(self, service: Service, role: TenantRole) -> None:
        self._service = service
        self._task: asyncio.Task[None] | None = None
        self._wanted: set[Topic] = set()
        self._asked_at = time.monotonic()
        self.begin(role)

    def begin(self, role: TenantRole) -> None:
        """Knows nothing yet of this tenant."""
        self.end()
        self._may = Permission.PLAN_READ in role.permissions
        self.stopped: bool | None = None
        """Whether all money is stopped; None while it is not known."""
        self.stop: Stop | None = None
        self.plans: tuple[Plan, ...] = ()
        """Those of the person that something may still come of, the busiest first."""

    def hear(self, hints: Iterable[Hint]) -> None:
        """Asks where hints name plans or the switch."""
        self._ask({hint.topic for hint in hints} & {Topic.PLAN, Topic.MONEY})

    def look(self) -> None:
        """Asks for everything."""
        self._ask({Topic.PLAN, Topic.MONEY})

    def slowly(self) -> None:
        """Asks for everything where that was not done for long. Called every second."""
        if time.monotonic() - self._asked_at >= SLOW_SECONDS:
            self.look()

    def end(self) -> None:
        """Asks nothing more."""
        self._wanted.clear()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _ask(self, topics: set[Topic]) -> None:
        if not topics or not self._may:
            return
        self._wanted |= topics
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while self._wanted:
            wanted = set(self._wanted)
            self._wanted.clear()
            self._asked_at = time.monotonic()
            try:
                if Topic.MONEY in wanted:
                    self.stop = (await money_client.money(self._service)).stopped
                    self.stopped = self.stop is not None
                if Topic.PLAN in wanted:
                    found = (await plans_client.plans(self._service, mine=True, live=True)).plans
                    self.plans = tuple(sorted(found, key=lambda plan: _FIRST.index(plan.state)))
            except ClientError:
                # The feed says that the service is away; what is known stays until it answers again.
                return
            await asyncio.sleep(PAUSE_SECONDS)
