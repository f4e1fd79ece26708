"""Owns the duty that delivers notices: what people are told outside the console (MONEY.md 14), at least once each.

A notice is taken for one attempt in a transaction of its own, so that nothing is locked while a mail server thinks; a
Worker that dies over it leaves it due again. Never writes a notice, never logs an address or what a notice says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from jobservice.delivery import Delivery, Letter, NotDelivered
from jobservice.settings import DELIVERY_URL
from jobservice.store import notices
from jobservice.store.database import Database, Transaction
from jobservice.store.notices import DueNotice
from jobservice.worker.fenced import Lease
from jobservice.worker.telling_outside import Complaint, answered, one_by_one

_log = structlog.get_logger("jobservice.worker")

ATTEMPTS_MOST = 80
"""After about three days of pauses a notice is given up."""


@dataclass(slots=True, kw_only=True)
class Delivering:
    """The duty. `delivery` None = nobody said how: notices wait, and that is said at the start and once an hour.

    The lease is longer than a delivery may take. Pauses are seconds.
    """

    delivery: Delivery | None
    every: float = 10.0
    lease: float = 120.0
    wakes: frozenset[str] = frozenset({"notices"})
    first_pause: float = 30.0
    longest_pause: float = 3_600.0
    complain_every: float = 3_600.0
    name: str = "notices"
    _complaint: Complaint = field(default_factory=Complaint, init=False)

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether a notice is due; where nobody said how to deliver, whether that is to be said."""
        if self.delivery is None:
            return self._complaint.due(self.complain_every)
        async with database.transaction(None) as transaction:
            return await notices.due(transaction)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Deliver what is due, one by one, until an attempt fails: the next run goes on with the others."""
        delivery = self.delivery
        if delivery is None:
            await self._complain(lease)
            return {}

        async def take(transaction: Transaction) -> DueNotice | None:
            return await notices.take_due(transaction, first_pause=self.first_pause, longest_pause=self.longest_pause)

        return await one_by_one(lease, take, lambda notice: self._attempt(delivery, lease, notice))

    async def _attempt(self, delivery: Delivery, lease: Lease, notice: DueNotice) -> str:
        """`sent`, `failed`, `given_up`, or `broken_off` where the Worker stops."""
        try:
            whole = await answered(delivery.deliver(_letter(notice)), lease)
        except NotDelivered as error:
            last = error.for_good or notice.attempts >= ATTEMPTS_MOST
            async with lease.transaction() as transaction:
                await notices.failed(transaction, notice, str(error), last=last)
            event = "notice-given-up" if last else "notice-not-delivered"
            _log.warning(
                event,
                notice=str(notice.id),
                person=notice.person,
                kind=notice.kind,
                attempts=notice.attempts,
                reason=str(error),
            )
            return "given_up" if last else "failed"
        if not whole:
            return "broken_off"
        async with lease.transaction() as transaction:
            await notices.sent(transaction, notice.id)
        return "sent"

    async def _complain(self, lease: Lease) -> None:
        if not self._complaint.due(self.complain_every):
            return
        async with lease.transaction() as transaction:
            waiting = await notices.waiting(transaction)
        self._complaint.made()
        _log.warning(
            "notices-wait",
            waiting=waiting,
            reason=f"{DELIVERY_URL} is not set, so nobody is told outside the console what is confirmed or locked.",
        )


def _letter(notice: DueNotice) -> Letter:
    return Letter(
        id=notice.id,
        address=notice.contact,
        subject=notice.subject,
        text=notice.text,
        at=notice.made_at,
        now=notice.now,
    )
