"""Owns the service's time as this process knows it: learned from answers, carried on by the monotonic clock.

Never reads this machine's wall clock: an operator's wrong clock must not shift a countdown.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

BEST_FOR = 60.0
"""Seconds for which the answer with the shortest round trip is believed before any newer one replaces it."""


class ServerClock:
    """The service's clock. Error at most half of the round trip it was learned from."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.monotonic = monotonic
        self._learned: tuple[datetime, float, float] | None = None

    def learn(self, told: datetime, *, sent: float, received: float) -> None:
        """Take `told` (UTC, from an answer) as the service's time between `sent` and `received` (monotonic seconds)."""
        trip = max(received - sent, 0.0)
        if self._learned is not None:
            _, at, best = self._learned
            if trip > best and received - at < BEST_FOR:
                return
        self._learned = (told + timedelta(seconds=trip / 2), received, trip)

    def server_now(self) -> datetime | None:
        """The service's time now, UTC; None before the first answer."""
        if self._learned is None:
            return None
        told, at, _ = self._learned
        return told + timedelta(seconds=self.monotonic() - at)

    def seconds_until(self, instant: datetime) -> float | None:
        """Seconds from now to `instant` by the service's clock, negative when past; None before the first answer."""
        now = self.server_now()
        return None if now is None else (instant - now).total_seconds()

    def deadline(self, instant: datetime) -> float | None:
        """The monotonic second at which `instant` comes: what a countdown keeps; None before the first answer."""
        left = self.seconds_until(instant)
        return None if left is None else self.monotonic() + left
