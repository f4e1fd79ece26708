"""Owns the duty that tells of alarms by webhook: opened, acknowledged, cleared, in this order, at least once each.

A message is taken for one attempt in a transaction of its own, so that nothing is locked while the other server thinks; a
Worker that dies over it leaves it due again, under the same id. Never opens or clears an alarm, never logs an address.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

import structlog

from jobservice.delivery import NotDelivered
from jobservice.store import alarms as store
from jobservice.store import hints
from jobservice.store.alarms import Message
from jobservice.store.database import Database
from jobservice.worker.fenced import Lease

_log = structlog.get_logger("jobservice.worker")

LOOK_SECONDS = 0.2
"""How often a delivery looks whether the Worker wants to stop."""
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
    _complained: float | None = field(default=None, init=False)

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether something waits to be told."""
        async with database.transaction(None) as transaction:
            return await store.waiting(transaction) > 0

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Tell what is due, one by one, until an attempt fails: the next run goes on with the others."""
        if self.hook is None:
            await self._complain(lease)
            return {}
        counts: Counter[str] = Counter()
        while not lease.stopping():
            async with lease.transaction() as transaction:
                message = await store.take_message(
                    transaction, first_pause=self.first_pause, longest_pause=self.longest_pause
                )
            if message is None:
                break
            what = await self._attempt(self.hook, lease, message)
            counts[what] += 1
            if what == "failed":
                break
        return counts

    async def _attempt(self, hook: Hook, lease: Lease, message: Message) -> str:
        """`sent`, `failed`, `given_up`, or `broken_off` where the Worker stops."""
        try:
            whole = await _unless_stopping(hook, lease, message)
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
        now = time.monotonic()
        if self._complained is not None and now - self._complained < self.complain_every:
            return
        async with lease.transaction() as transaction:
            waiting = await store.waiting(transaction)
        self._complained = now
        if waiting:
            _log.warning(
                "alarms-wait", waiting=waiting, reason="No webhook is set any more, and these were to be told."
            )


async def _unless_stopping(hook: Hook, lease: Lease, message: Message) -> bool:
    """Tell; False where the Worker stops before the server answered: the message is due again later. NotDelivered."""
    task = asyncio.create_task(_tell(hook, message))
    try:
        while not task.done() and not lease.stopping():
            await asyncio.wait({task}, timeout=LOOK_SECONDS)
        if not task.done():
            return False
        task.result()
        return True
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, NotDelivered):
            await task


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
