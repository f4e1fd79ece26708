"""Owns a person's intent to confirm one edition of one recovery. The calls themselves are in `recoveries`."""

from __future__ import annotations

from jobconsole.client.confirming import Intent
from jobconsole.client.recoveries import confirm, recovery
from jobconsole.client.service import Service
from jobcontract.operating import RecoveryState
from jobcontract.recoveries import Recovery


class ConfirmingRecovery(Intent[Recovery]):
    """One intent to confirm the edition that was read."""

    def __init__(self, found: Recovery, digest: str, *, key: str | None = None) -> None:
        """`key`: that of an earlier try whose outcome is unknown."""
        super().__init__(lambda service, code, once: confirm(service, found.id, digest, code, once), key)
        self.recovery = found

    async def looked_up(self, service: Service) -> Recovery | None:
        """The recovery where it was confirmed after all; None where it still is open and nothing was done."""
        found = (await recovery(service, self.recovery.id)).recovery
        return None if found.state is RecoveryState.OPEN else found
