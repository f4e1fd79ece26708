"""Owns telling the consoles which schedules changed, a few times a second at most: tiny occurrences by the thousand would
write more hints than rows. Hints that cannot be written are dropped: a console refreshes slowly by itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import psycopg
import structlog

from jobcontract.errors import Refusal
from jobservice.store import hints
from jobservice.store.database import Database

_log = structlog.get_logger("jobservice.worker")

PAUSE = 0.25
"""Seconds between two writes of hints of one process."""


@dataclass(slots=True, kw_only=True, eq=False)
class ScheduleHints:
    """What changed and is not told yet. `note` after the change is committed; `close` tells the rest."""

    database: Database
    _changed: set[tuple[str, str]] = field(default_factory=set)
    _telling: asyncio.Task[None] | None = None

    def note(self, tenant: str, schedule: str) -> None:
        """Something of this schedule changed."""
        self._changed.add((tenant, schedule))
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell(), name="schedule hints")

    async def close(self) -> None:
        """Wait until everything is told."""
        if self._telling is not None:
            await self._telling

    async def _tell(self) -> None:
        while self._changed:
            changed, self._changed = self._changed, set()
            try:
                async with self.database.transaction(None) as transaction:
                    await hints.add_schedules(transaction, changed)
            except (Refusal, psycopg.Error) as error:
                _log.info("hints-dropped", count=len(changed), reason=str(error))
            await asyncio.sleep(PAUSE)
