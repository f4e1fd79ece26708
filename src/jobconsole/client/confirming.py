"""Owns a person's intent to confirm one edition of something frozen, a plan or a recovery: its one key, so that a second press
or a lost answer never becomes a second confirmation. How each is sent and looked up: `plans`, `recovery_confirming`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from pydantic import SecretStr

from jobconsole.client.errors import ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.client.service import BEFORE_LOOKUP, Service

F = TypeVar("F")
Send = Callable[[Service, SecretStr | None, str], Awaitable[F]]
"""Sends the confirmation with a code, where there is one, under a key."""


class Intent(Generic[F]):
    """One intent, from the dialog's opening to its end.

    Its key stays until the service judged a try and refused it: then nothing was done, and the next code is another
    request. A second press while one is under way is that one. After OutcomeUnknown ask `looked_up`, or send again under
    the same key: the service answers with what was done, and confirms at most once (BULK-04, HTTP-03).
    """

    def __init__(self, send: Send[F], key: str | None) -> None:
        """`key`: that of an earlier try whose outcome is unknown."""
        self.key = key or new_key()
        self._send = send
        self._running: asyncio.Task[F] | None = None

    async def confirm(self, service: Service, code: SecretStr | None) -> F:
        """What was confirmed, as it is then; errors as those of `Service.post`."""
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._sent(service, code))
            self._running.add_done_callback(_retrieved)
        # A dialog that is closed meanwhile does not take the request back: it was sent.
        return await asyncio.shield(self._running)

    async def looked_up(self, service: Service) -> F | None:
        """It as it is where it was confirmed after all; None where it still is open and nothing was done."""
        raise NotImplementedError

    async def _sent(self, service: Service, code: SecretStr | None) -> F:
        try:
            return await self._send(service, code, self.key)
        except ServiceRefused as refused:
            if refused.problem.status not in BEFORE_LOOKUP:
                self.key = new_key()
            raise


def _retrieved(task: asyncio.Task[F]) -> None:
    """Nobody waits for the answer any more: its error is looked at here, so that the loop reports none."""
    if not task.cancelled():
        task.exception()
