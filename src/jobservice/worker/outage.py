"""Owns what this process knows of the database's absence: whether it is away, since when, and how long it has been back.

One keeper asks; everybody else waits for it. One line in the log an interval, for the whole process. Never ends work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import psycopg
import structlog

from jobservice.store.database import Database, reason
from jobservice.store.statements import statement
from jobservice.worker.duties import WHENEVER, Ends, Pauses, sleep

_log = structlog.get_logger("jobservice.worker")

ASK_SECONDS = 3.0
"""How long a question to the database may take before it counts as away."""
SHORT = 1 / 6
"""An outage that this process saw for less than this part of a lease cannot have cost anybody a lease: leases are
renewed three times in their time, and a Worker sees an outage a few seconds late at most."""
RENEW_AFTER = 1.0
"""After an outage of so many seconds the pool's connections are made anew: some may be dead without knowing it."""
REMEMBERED = 3_600.0
"""Seconds for which an outage may matter: as long as the longest lease."""
BLINK_SECONDS = 15.0
"""Between two lines about connections that were lost, or not to be had, while the server answers."""


@dataclass(slots=True, kw_only=True, eq=False)
class Outage:
    """Whether the database is away. `begin` is called by whoever found it so; the keeper finds out when it is over."""

    database: Database
    pauses: Pauses = field(default_factory=lambda: Pauses(first=0.5, longest=15.0))
    ended: list[Callable[[], None]] = field(default_factory=list)
    """Called when the database is there again."""
    name: str = "outage-keeper"
    wakes: frozenset[str] = frozenset()
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    clock: Callable[[], float] = time.monotonic
    _began_at: float | None = None
    _ended: list[tuple[float, float]] = field(default_factory=list)
    """When outages ended on the monotonic clock, and how long each was, seconds: the latest, and before it those that were
    longer than all after them. A connection that is lost soon after an outage does not make that one forgotten."""
    _there: asyncio.Event = field(default_factory=asyncio.Event)
    _why: str = ""
    _missed: bool = False
    """Whether the keeper's own question had no answer in this outage."""
    _blinked_at: float | None = None
    ends: ClassVar[Ends] = Ends.LAST
    waits_for_database: ClassVar[bool] = False

    @property
    def away(self) -> bool:
        """Whether the database is away, as far as anybody here knows."""
        return self._began_at is not None

    def begin(self, why: str) -> None:
        """Somebody found the database away."""
        if self._began_at is None:
            self._began_at, self._why = self.clock(), why
            self._there.clear()
            self.bell.set()

    async def over(self, *events: asyncio.Event) -> None:
        """Wait while the database is away, or until an event is set."""
        while self.away and not any(event.is_set() for event in events):
            await sleep(WHENEVER, self._there, *events)

    def settled(self, lease: float) -> bool:
        """Whether a lease of `lease` seconds that ran out ran out because of its holder: not while the database is away,
        nor for one lease's length after it was, where that was long enough to keep holders from renewing."""
        if self.away:
            return False
        return all(length < lease * SHORT or self.clock() - ended_at >= lease for ended_at, length in self._ended)

    async def step(self, *, woken: bool) -> float:  # noqa: ARG002  # it looks whether there is an outage itself
        """Ask a database that is away whether it is there again."""
        if not self.away:
            return WHENEVER
        if (why := await self._ask()) is not None:
            self._missed = True
            wait = self.pauses.next()
            _log.warning("database-away", seconds=self._seconds(), reason=why, again_in_seconds=round(wait, 2))
            return wait
        await self._end()
        return WHENEVER

    async def _ask(self) -> str | None:
        """Ask on a connection of its own: those of the pool may be dead. Why there is no answer; None where there is."""
        try:
            async with asyncio.timeout(ASK_SECONDS):
                connection = await self.database.connect(patience=ASK_SECONDS)
                try:
                    await connection.execute(statement("workers/alive"))
                finally:
                    await connection.close()
        except TimeoutError:
            return f"{self._why}; no answer within {ASK_SECONDS:g} s"
        except psycopg.Error as error:
            return reason(error)
        return None

    async def _end(self) -> None:
        away = self._seconds()
        if away >= RENEW_AFTER:
            await self.database.renew()
        if self._missed or away >= RENEW_AFTER:
            _log.info("database-there-again", seconds=away, reason=self._why)
        elif self._blinked_at is None or self.clock() - self._blinked_at >= BLINK_SECONDS:
            self._blinked_at = self.clock()
            _log.warning("database-blinked", reason=self._why)
        self._missed = False
        now, self._began_at = self.clock(), None
        longer = (each for each in self._ended if each[1] > away and now - each[0] < REMEMBERED)
        self._ended = [*longer, (now, away)]
        self.pauses.reset()
        self._there.set()
        for tell in self.ended:
            tell()

    def _seconds(self) -> float:
        return 0.0 if self._began_at is None else round(self.clock() - self._began_at, 2)
