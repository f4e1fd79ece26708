"""Owns hearing that there is work: one connection that listens on `jobs_work`, and rings the bells of duties.

Nobody depends on it: a poll stands behind each notification. It asks the server now and then, so that a connection on
which nothing can come any more is noticed, and made again. Never reads what the work is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import psycopg
import structlog

from jobservice.store.database import Database, reason
from jobservice.store.patience import PatientConnection
from jobservice.store.statements import statement
from jobservice.worker.duties import Ends, Pauses
from jobservice.worker.outage import Outage

_log = structlog.get_logger("jobservice.worker")

ASK_SECONDS = 3.0
"""How often the connection is tried."""
ANSWER_SECONDS = 2.0
"""How long its answer may take."""
FULL = 0.5
"""From which part on the server's queue of notifications is too full. Somebody listens in a transaction that stays open:
when it is full, no commit that notifies succeeds."""
FULL_NO_MORE = 0.4


@dataclass(slots=True, kw_only=True, eq=False)
class Listening:
    """The duty. `heard(payload)` is called for each notification, `heard(None)` when some may have been lost."""

    database: Database
    outage: Outage
    heard: Callable[[str | None], None]
    ask_seconds: float = ASK_SECONDS
    answer_seconds: float = ANSWER_SECONDS
    pauses: Pauses = field(default_factory=lambda: Pauses(first=0.2, longest=5.0))
    full: int = 0
    """How often the server's queue was found too full since the start."""
    name: str = "listening"
    wakes: frozenset[str] = frozenset()
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    listens: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while it listens."""
    _is_full: bool = False
    ends: ClassVar[Ends] = Ends.LAST
    waits_for_database: ClassVar[bool] = True

    async def step(self, *, woken: bool) -> float:  # noqa: ARG002  # nothing wakes it
        """Listen until the connection is lost; seconds until it is to be made again."""
        try:
            connection = await self.database.connect(patience=self.answer_seconds)
            try:
                await self._listen(connection)
            finally:
                self.listens.clear()
                await connection.close()
        except psycopg.Error as error:
            self.outage.begin(reason(error))  # it finds out whether only this connection was lost
            wait = self.pauses.next()
            _log.warning("work-not-heard", reason=reason(error), again_in_seconds=round(wait, 2))
        return wait

    async def _listen(self, connection: PatientConnection) -> None:
        """Never returns; psycopg.Error where the connection is lost."""
        await connection.execute(statement("workers/listen"))
        self.listens.set()
        # What came while nobody listened is found by looking.
        self.heard(None)
        while True:
            await self._ask(connection)
            connection.patience = None  # it waits for notifications itself
            async for notification in connection.notifies(timeout=self.ask_seconds):
                self.heard(notification.payload)
            connection.patience = self.answer_seconds

    async def _ask(self, connection: PatientConnection) -> None:
        found = await (await connection.execute(statement("workers/queue_usage"))).fetchone()
        self.pauses.reset()
        usage = 0.0 if found is None else float(found["usage"])
        if usage >= FULL and not self._is_full:
            self._is_full = True
            self.full += 1
            _log.error(
                "notifications-nearly-full",
                alarm=True,
                usage=round(usage, 2),
                times=self.full,
                todo="find the session that listens in a transaction left open, and end it",
            )
        elif usage < FULL_NO_MORE and self._is_full:
            self._is_full = False
            _log.info("notifications-have-room-again", usage=round(usage, 2))
