"""Owns a person's intent to confirm one edition of one recovery: its one key, so that a second press or a lost answer
never becomes a second confirmation. The calls themselves are in `recoveries`."""

from __future__ import annotations

import asyncio

from pydantic import SecretStr

from jobconsole.client.errors import ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.client.recoveries import confirm, recovery
from jobconsole.client.service import BEFORE_LOOKUP, Service
from jobcontract.operating import RecoveryState
from jobcontract.recoveries import Recovery


class ConfirmingRecovery:
    """One intent, from the dialog's opening to its end.

    Its key stays until the service judged a try and refused it: then nothing was done, and the next code is another
    request. A second press while one is under way is that one. After OutcomeUnknown ask `looked_up`, or send again under
    the same key: it is confirmed at most once (HTTP-03).
    """

    def __init__(self, recovery: Recovery, digest: str, *, key: str | None = None) -> None:
        """`key`: that of an earlier try whose outcome is unknown."""
        self.recovery = recovery
        self.digest = digest
        self.key = key or new_key()
        self._running: asyncio.Task[Recovery] | None = None

    async def confirm(self, service: Service, code: SecretStr | None) -> Recovery:
        """The recovery as confirmed; errors as those of `Service.post`."""
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._send(service, code))
            self._running.add_done_callback(_retrieved)
        # A dialog that is closed meanwhile does not take the request back: it was sent.
        return await asyncio.shield(self._running)

    async def looked_up(self, service: Service) -> Recovery | None:
        """The recovery where it was confirmed after all; None where it still is open and nothing was done."""
        found = (await recovery(service, self.recovery.id)).recovery
        return None if found.state is RecoveryState.OPEN else found

    async def _send(self, service: Service, code: SecretStr | None) -> Recovery:
        try:
            return await confirm(service, self.recovery.id, self.digest, code, self.key)
        except ServiceRefused as refused:
            if refused.problem.status not in BEFORE_LOOKUP:
                self.key = new_key()
            raise


def _retrieved(task: asyncio.Task[Recovery]) -> None:
    """Nobody waits for the answer any more: its error is looked at here, so that the loop reports none."""
    if not task.cancelled():
        task.exception()
