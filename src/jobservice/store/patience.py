"""Owns how long a connection may say nothing. A server that went away without a word leaves a socket on which nothing
ever comes: neither a time limit of the server's nor the driver's own waiting ends that.

A connection that is out of patience is hung up, never just left: whoever waits on it gets the driver's OperationalError.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import RV, PQGen
from psycopg.rows import DictRow

ONE_MORE_TURN = 0.25
"""Seconds that an answer has after its time is over: this process may have stood still itself, and the answer be here."""
_INTERVAL = 5.0
"""Seconds: how often a wait looks by itself. The driver's 0.1 is for signals, which the event loop hears; an end of the line
wakes whoever waits, too."""


class Patience:
    """Hangs `connection` up where the block takes longer than `seconds`; the driver's OperationalError then says so."""

    __slots__ = ("_connection", "_seconds", "_timer", "gave_up")

    def __init__(self, connection: AsyncConnection[Any], seconds: float) -> None:
        self._connection = connection
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self.gave_up = False

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._seconds, self._late, loop)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self.gave_up and isinstance(error, psycopg.OperationalError):
            raise psycopg.OperationalError(f"no answer within {self._seconds:g} s") from error

    def _late(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(ONE_MORE_TURN, self._give_up)

    def _give_up(self) -> None:
        self.gave_up = True
        hang_up(self._connection)


def hang_up(connection: AsyncConnection[Any]) -> None:
    """End both directions of its socket: whoever waits on it sees the end at once. Nothing where it is closed."""
    if connection.closed:
        return
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


class PatientConnection(AsyncConnection[DictRow]):
    """A connection each of whose waits lasts `patience` seconds at most; None = as long as it takes."""

    patience: float | None = None

    async def wait(self, gen: PQGen[RV], interval: float = _INTERVAL, timeout: float | None = None) -> RV:  # noqa: ASYNC109  # the driver's signature
        """As the driver's, with the limit; psycopg.OperationalError where it is over."""
        if self.patience is None:
            return await super().wait(gen, interval, timeout)
        with Patience(self, self.patience):
            return await super().wait(gen, interval, timeout)
