"""Owns the duty that tells requesters how their jobs ended (requirement INV-11): at least once each, under an id that stays
the same over all attempts, so that whoever gets it twice can tell.

A notice is claimed under a lease with a fence and delivered outside any transaction; a Worker that dies over it leaves a
claim that runs out. Never writes a notice, never logs an address or what a notice says.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

import structlog

from jobcontract.job_states import NoticeState
from jobservice.delivery import Delivery, Letter, NotDelivered
from jobservice.rules.job_notices import STALE_SECONDS, why_not
from jobservice.settings import DELIVERY_URL
from jobservice.store import job_notices as store
from jobservice.store import reconciling_jobs
from jobservice.store.database import Database
from jobservice.store.job_notices import ClaimedNotice, RequesterFacts
from jobservice.worker.fenced import Lease
from jobservice.worker.telling_outside import Complaint, answered

_log = structlog.get_logger("jobservice.worker")

ATTEMPTS_MOST = 40
"""After about a day of pauses a notice is given up."""
DIED = "The Worker died over it: whether it arrived is not known."
STOPPED = "The Worker stopped before there was an answer: whether it arrived is not known."
NO_WAY = f"Nobody said how people are told outside the console ({DELIVERY_URL})."


@dataclass(slots=True, kw_only=True)
class JobNotices:
    """The duty. `delivery` None = nobody said how: what waits for an hour is suppressed, which is said once an hour.

    `claim` is seconds, longer than a delivery may take; so are pauses.
    """

    delivery: Delivery | None
    every: float = 10.0
    lease: float = 120.0
    claim: float = 120.0
    at_once: int = 8
    first_pause: float = 30.0
    longest_pause: float = 3_600.0
    complain_every: float = 3_600.0
    name: str = "job-notices"
    wakes: ClassVar[frozenset[str]] = frozenset({"job-notices"})
    _complaint: Complaint = field(default_factory=Complaint, init=False)

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether a notice is due."""
        async with database.transaction(None) as transaction:
            return await store.due(transaction)

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Tell what is due, a few at once, until nothing is or an attempt fails: the next run goes on with the others."""
        counts: Counter[str] = Counter()
        if self.delivery is None:
            return await self._suppress(lease)
        while not lease.stopping():
            async with lease.transaction() as transaction:
                lapsed = await store.lapse(transaction, result=DIED, most=self.at_once)
                notices = await store.claim(transaction, holder=lease.holder, lease=self.claim, most=self.at_once)
            if lapsed:
                counts["lapsed"] += lapsed
            if not notices:
                break
            ended = await asyncio.gather(*(self._tell(self.delivery, lease, notice) for notice in notices))
            counts.update(ended)
            if "failed" in ended:
                break
        return counts

    async def _suppress(self, lease: Lease) -> Mapping[str, int]:
        async with lease.transaction() as transaction:
            stale = await store.suppress_stale(transaction, seconds=STALE_SECONDS, reason=NO_WAY, most=1_000)
        if self._complaint.due(self.complain_every):
            self._complaint.made()
            _log.warning("job-notices-wait", reason=NO_WAY, suppressed=stale)
        return {"suppressed": stale} if stale else {}

    async def _tell(self, delivery: Delivery, lease: Lease, notice: ClaimedNotice) -> str:
        """One attempt: `delivered`, `suppressed`, `failed`, `given_up`, `broken_off`, or `lost` to another Worker."""
        async with lease.database.transaction(notice.tenant) as transaction:
            facts = await store.facts(transaction, notice)
        reason = _why_not(notice, facts)
        if facts is None or reason is not None:
            return await self._end(lease, notice, NoticeState.SUPPRESSED, reason or "", "suppressed")
        try:
            whole = await answered(delivery.deliver(_letter(notice, facts.contact)), lease)
        except NotDelivered as error:
            return await self._not_delivered(lease, notice, error)
        if not whole:
            return await self._end(lease, notice, NoticeState.DUE, STOPPED, "broken_off")
        return await self._end(lease, notice, NoticeState.DELIVERED, "Delivered.", "delivered")

    async def _not_delivered(self, lease: Lease, notice: ClaimedNotice, error: NotDelivered) -> str:
        last = error.for_good or notice.attempts >= ATTEMPTS_MOST
        _log.warning(
            "job-notice-given-up" if last else "job-notice-not-delivered",
            notice=str(notice.id),
            job=notice.job,
            person=notice.person,
            attempts=notice.attempts,
            reason=str(error),
        )
        if last:
            return await self._end(lease, notice, NoticeState.GIVEN_UP, str(error), "given_up")
        pause = min(self.first_pause * 2 ** min(notice.attempts - 1, 30), self.longest_pause)
        return await self._end(lease, notice, NoticeState.DUE, str(error), "failed", pause=pause)

    async def _end(
        self, lease: Lease, notice: ClaimedNotice, state: NoticeState, result: str, what: str, *, pause: float = 0.0
    ) -> str:
        """Write how the attempt ended, under the claim's own holder and fence: whoever has the duty by now."""
        ended = state in (NoticeState.SUPPRESSED, NoticeState.GIVEN_UP)
        async with lease.database.transaction(notice.tenant) as transaction:
            kept = await store.settle(
                transaction,
                notice,
                holder=lease.holder,
                state=state,
                result=result,
                reason=result if ended else None,
                pause=pause,
            )
            if kept:
                await reconciling_jobs.hint(transaction, family=notice.family, job=notice.job)
        if not kept:
            _log.warning("job-notice-lost", notice=str(notice.id), job=notice.job, fence=notice.fence)
        return what if kept else "lost"


def _why_not(notice: ClaimedNotice, facts: RequesterFacts | None) -> str | None:
    """Why its requester is not told; None where they are."""
    return why_not(
        active=facts is None or facts.active,
        member=facts is not None,
        contact="" if facts is None else facts.contact,
        outcome=notice.outcome,
        requester=notice.person,
        cancelled_by=None if facts is None else facts.cancelled_by,
    )


def _letter(notice: ClaimedNotice, address: str) -> Letter:
    return Letter(
        id=notice.id,
        address=address,
        subject=notice.subject,
        text=notice.text,
        at=notice.made_at,
        now=notice.now,
    )
