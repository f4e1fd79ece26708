"""Owns how many listings and streams one person may have open at once in this process, and that confirmations of one
plan come one after the other. A gate never queues anyone; a turnstile does."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from jobcontract.errors import ErrorCode, Refusal


class Gate:
    """Counts what each person has open in this process and refuses beyond `most` (MONEY.md 33, 34)."""

    def __init__(self, most: int, kind: ErrorCode, what: str) -> None:
        self._most = most
        self._kind = kind
        self._what = what
        self._open: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """How many are open, of all persons."""
        return self._open.total()

    def enter(self, person: str) -> None:
        """Count one more for `person`; Refusal of the gate's kind where that would be one too many."""
        if self._open[person] >= self._most:
            raise Refusal(
                self._kind,
                f"You have {self._most} {self._what} open already. Wait until one has ended.",
                most=self._most,
            )
        self._open[person] += 1

    def leave(self, person: str) -> None:
        """Count one less; to be called once for each `enter` that was not refused."""
        self._open[person] -= 1
        if not self._open[person]:
            del self._open[person]

    @contextmanager
    def held(self, person: str) -> Iterator[None]:
        """Hold one place of `person` for the length of the block."""
        self.enter(person)
        try:
            yield
        finally:
            self.leave(person)


class Turnstile:
    """Lets requests about the same thing through one after the other, in the order in which they came.

    A courtesy of one process and no wall: of two confirmations at once the later one is told that the plan is
    confirmed, rather than that its code was used. What must hold between processes is held by the database.
    """

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: Counter[str] = Counter()

    @asynccontextmanager
    async def passing(self, thing: str) -> AsyncIterator[None]:
        """Wait for those who came before about `thing`, and keep out those who come after."""
        lock = self._locks.setdefault(thing, asyncio.Lock())
        self._wanted[thing] += 1
        try:
            async with lock:
                yield
        finally:
            self._wanted[thing] -= 1
            if not self._wanted[thing]:
                del self._wanted[thing], self._locks[thing]
