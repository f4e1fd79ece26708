"""Owns the duty that tells of alarms by webhook: opened, acknowledged, cleared, in this order, at least once each.

A message is taken for one attempt in a transaction of its own, so that nothing is locked while the other server thinks; a
Worker that dies over it leaves it due again, under the same id. Never opens or clears an alarm, never logs an address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

import structlog

from jobservice.delivery import NotDelivered
from jobservice.store import alarms as store
from jobservice.store import hints
from jobservice.store.alarms import Message
from jobservice.store.database import Database, Transaction
from jobservice.worker.fenced import Lease
from jobservice.worker.telling_outside import Complaint, answered, one_by_one

_log = structlog.get_logger("jobservice.worker")

TRIES_MOST = 80
"""After about three days of pauses a message is given up."""


class Hook(Protocol):
    """A way to tell another machine."""

    async def tell(self, event: str, /, *, kind: str, at: datetime, now: datetime, data: Mapping[str, object]) -> None:
        """Hand one event over; NotDelivered where it was not taken, or nobody knows. Ends within its own time-out."""


@dataclass(slots=True, kw_only=True)
class Telling:
    """The duty. `hook` None: nobody said where to, so alarms are written as told to nobody; what waits from before is said
    once an hour. The lease is longer than an attempt may take. Pauses are seconds."""

    hook: Hook | None
    every: float = 10.0
    lease: float = 60.0
    wakes: frozenset[str] = frozenset({"alarms"})
    first_pause: float = 10.0
    longest_pause: float = 3_600.0
    complain_every: float = 3_600.0
    name: str = "alarms-told"
    _complaint: Complaint = field(default_factory=Complaint, init=False)

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether something waits to be told."""
        async with database.transaction(None) as transaction:
            return await store.waiting(transaction) > 0

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Tell what is due, one by one, until an attempt fails: the next run goes on with the others."""
        hook = self.hook
        if hook is None:
            await self._complain(lease)
            return {}

        async def take(transaction: Transaction) -> Message | None:
            return await store.take_message(transaction, first_pause=self.first_pause, longest_pause=self.longest_pause)

        return await one_by_one(lease, take, lambda message: self._attempt(hook, lease, message))

    async def _attempt(self, hook: Hook, lease: Lease, message: Message) -> str:
        """`sent`, `failed`, `given_up`, or `broken_off` where the Worker stops."""
        try:
            whole = await answered(_tell(hook, message), lease)
        except NotDelivered as error:
            last = error.for_good or message.tries >= TRIES_MOST
            await self._keep(lease, message, "given-up" if last else None, str(error))
            event = "alarm-telling-given-up" if last else "alarm-not-told"
            _log.warning(
                event,
                alarm=last,
                id=message.id,
                tenant=message.tenant,
                telling=message.telling,
                tries=message.tries,
                reason=str(error),
            )
            return "given_up" if last else "failed"
        if not whole:
            return "broken_off"
        await self._keep(lease, message, "sent", None)
        return "sent"

    async def _keep(self, lease: Lease, message: Message, outcome: str | None, words: str | None) -> None:
        """Write what became of it, and tell those who look at alarms. `outcome` None: it is tried again."""
        async with lease.transaction() as transaction:
            if outcome is None:
                tenant = await store.not_told(transaction, message, words or "")
            else:
                tenant = await store.told(transaction, message, outcome, words)
            if tenant is not None:
                await hints.add_alarms(transaction, [tenant])

    async def _complain(self, lease: Lease) -> None:
        if not self._complaint.due(self.complain_every):
            return
        async with lease.transaction() as transaction:
            waiting = await store.waiting(transaction)
        self._complaint.made()
        if waiting:
            _log.warning(
                "alarms-wait", waiting=waiting, reason="No webhook is set any more, and these were to be told."
            )


async def _tell(hook: Hook, message: Message) -> None:
    happened = {"acknowledged": message.acknowledged_at, "cleared": message.cleared_at}.get(message.telling)
    data = {
        "id": message.id,
        "tenant": message.tenant,
        "kind": message.kind,
        "subject": message.subject,
        "schedule": message.schedule,
        "sentence": message.sentence,
        "count": message.count,
        "opened_at": message.opened_at.isoformat(),
        "look": f"jobconsole alarms ({message.tenant})",
    }
    await hook.tell(
        f"{message.id}.{message.telling}",
        kind=f"alarm.{message.telling}",
        at=happened or message.opened_at,
        now=message.now,
        data=data,
    )
