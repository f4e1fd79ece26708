"""Owns the watch over the embedded PostgreSQL: one that died is started again, with growing pauses, one line an event.

Never stops a server: that is its owner's, after every child has ended.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import structlog

from jobservice.bootstrap import children
from jobservice.cluster import Cluster
from jobservice.settings import StartRefused

LOOK_SECONDS = 1.0
"""Between two looks whether the server lives."""

_log = structlog.get_logger("jobservice.dev")


@dataclass(slots=True, kw_only=True)
class KeptServer:
    """The PostgreSQL of this process, running when the watch begins."""

    cluster: Cluster
    _pause: float = field(init=False, default_factory=lambda: children.FIRST_PAUSE)

    async def keep(self, stop: asyncio.Event) -> None:
        """Watch it until `stop`. Returns only when no start of it is under way: what runs then can be stopped."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while not stop.is_set():
            if await asyncio.to_thread(self.cluster.died):
                if clock() - began > children.LIVED_SECONDS:
                    self._pause = children.FIRST_PAUSE
                await self._bring_back(stop)
                began = clock()
            else:
                await children.sleep_unless(stop, LOOK_SECONDS)

    async def _bring_back(self, stop: asyncio.Event) -> None:
        wait = self._next_pause()
        _log.warning("database-ended", again_in_seconds=round(wait, 2), log=str(self.cluster.log))
        while not stop.is_set():
            await children.sleep_unless(stop, wait)
            if stop.is_set():
                return
            try:
                await asyncio.to_thread(self.cluster.restart, given_up=stop.is_set)
            except (StartRefused, OSError) as error:
                wait = self._next_pause()
                _log.error("database-not-started", reason=str(error), again_in_seconds=round(wait, 2))
                continue
            _log.info("database-started")
            return

    def _next_pause(self) -> float:
        wait, self._pause = children.with_jitter(self._pause), children.longer(self._pause)
        return wait
