"""Owns the one shape of everything that a Worker process does: a duty with a name, what wakes it, and one step.

The process (`process.py`) runs a tuple of duties, each in a loop of its own. Knows no duty.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

WHENEVER = 3_600.0
"""Seconds: nothing to do until it is woken."""


class Ends(Enum):
    """When a duty ends, as the Worker stops."""

    FIRST = "first"
    """It begins new work: that stops at once."""
    LAST = "last"
    """What runs needs it to the end: leases are renewed, the database is watched."""


class Duty(Protocol):
    """Something that the Worker does again and again."""

    @property
    def name(self) -> str:
        """Its name in log lines."""

    @property
    def ends(self) -> Ends:
        """When it ends, as the Worker stops."""

    @property
    def waits_for_database(self) -> bool:
        """Whether it stands still while the database is away."""

    @property
    def wakes(self) -> frozenset[str]:
        """Payloads of `jobs_work` that ring its bell."""

    @property
    def bell(self) -> asyncio.Event:
        """Rung by whoever has something for it; the next step follows at once."""

    async def step(self, *, woken: bool) -> float:
        """Do what is due now; seconds until the next step, unless the bell is rung. `woken`: it was, since the last one.

        Refusal DATABASE_AWAY where the database is; whatever else it raises is logged, and tried again after a pause.
        """


def ring(duties: Iterable[Duty], payload: str | None = None) -> None:
    """Wake the duties that `payload` of `jobs_work` wakes; None = all that notifications wake, as some may be lost."""
    for duty in duties:
        if duty.wakes and (payload is None or payload in duty.wakes):
            duty.bell.set()


@dataclass(slots=True, kw_only=True)
class Pauses:
    """Growing pauses with jitter, seconds: `next` after each failure, `reset` after a success."""

    first: float
    longest: float
    _next: float | None = None

    def next(self) -> float:
        """How long to pause now."""
        pause = self.first if self._next is None else self._next
        self._next = min(pause * 2, self.longest)
        return pause * random.uniform(0.5, 1.5)  # noqa: S311  # jitter, not a secret

    def reset(self) -> None:
        """Begin with the first pause again."""
        self._next = None


async def sleep(seconds: float, *events: asyncio.Event) -> None:
    """Wait so long, or until one of the events is set."""
    if seconds <= 0 or any(event.is_set() for event in events):
        return
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
