"""Owns what the console knows of alarms wherever one is in it: how many nobody looks after. It asks when a hint says that
alarms changed, after the link was cut, and now and then; never more often than once a pause.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jobconsole.client import alarms as client
from jobconsole.client.errors import ClientError
from jobcontract.events import Topic
from jobcontract.permissions import Permission

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobcontract.events import Hint
    from jobcontract.session import TenantRole

PAUSE_SECONDS = 2.0
"""Between two rounds of asking, however fast hints come."""
SLOW_SECONDS = 60.0
"""After so long it is asked again without a hint."""


class AlarmWatch:
    """The count of one tenant; knows nothing where the person may not read alarms."""

    def __init__(self, service: Service, role: TenantRole) -> None:
        self._service = service
        self._task: asyncio.Task[None] | None = None
        self._wanted = False
        self._asked_at = time.monotonic()
        self.begin(role)

    def begin(self, role: TenantRole) -> None:
        """Knows nothing yet of this tenant."""
        self.end()
        self._may = Permission.SCHEDULE_READ in role.permissions
        self.unacknowledged = 0
        """How many open alarms nobody looks after."""

    def hear(self, hints: Iterable[Hint]) -> None:
        """Asks where hints say that alarms changed."""
        if any(hint.topic is Topic.ALARMS for hint in hints):
            self.look()

    def slowly(self) -> None:
        """Asks where that was not done for long. Called every second."""
        if time.monotonic() - self._asked_at >= SLOW_SECONDS:
            self.look()

    def look(self) -> None:
        """Asks, or asks once more after what is being asked."""
        if not self._may:
            return
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    def end(self) -> None:
        """Asks nothing more."""
        self._wanted = False
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while self._wanted:
            self._wanted, self._asked_at = False, time.monotonic()
            try:
                self.unacknowledged = (await client.alarms(self._service, limit=1)).unacknowledged
            except ClientError:
                # The feed says that the service is away; what is known stays until it answers again.
                return
            await asyncio.sleep(PAUSE_SECONDS)
