"""Owns telling the consoles which jobs changed, twice a second at most: jobs by the hundred would write more hints than rows.
Hints that cannot be written are dropped: a console refreshes slowly by itself.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import psycopg
import structlog

from jobcontract.errors import Refusal
from jobservice.engine.writing import Writing
from jobservice.store import hints

_log = structlog.get_logger("jobservice.engine")

PAUSE = 0.5
"""Seconds between two writes of hints of one process."""


@dataclass(slots=True, kw_only=True, eq=False)
class JobHints:
    """What changed and is not told yet. `note` after the change is committed; `close` tells the rest."""

    writing: Writing
    _changed: set[tuple[str, str, str]] = field(default_factory=set)
    _telling: asyncio.Task[None] | None = None
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, tenant: str, kind: str, job: str) -> None:
        """This job changed."""
        self._changed.add((tenant, kind, job))
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell(), name="job hints")

    async def close(self) -> None:
        """Tell the rest now."""
        self._over.set()
        if self._telling is not None:
            await self._telling

    async def _tell(self) -> None:
        while self._changed:
            changed, self._changed = self._changed, set()
            try:
                async with self.writing.alone(None) as transaction:
                    await hints.add_jobs(transaction, changed)
            except (Refusal, psycopg.Error) as error:
                _log.info("hints-dropped", count=len(changed), reason=str(error))
            try:
                async with asyncio.timeout(PAUSE):
                    await self._over.wait()
            except TimeoutError:
                continue
