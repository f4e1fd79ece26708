"""Owns claiming, renewing, releasing and breaking claims, and claim next: each one transaction, once per key.

Every one locks the item first and compares after (MONEY.md 30), writes under the holder and fence that it read, and
leaves history, audit row and hint (requirement release-claims-past-their-lease).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import BreakClaim, ClaimNextOrder, ClaimOrder, HeldClaim
from jobcontract.permissions import Permission
from jobcontract.states import ClaimEnding, ClaimMode
from jobservice.rules.claims import (
    Denied,
    Granted,
    capped_at,
    claims_disabled,
    decide_break,
    decide_claim,
    decide_release,
    decide_renewal,
    decide_room,
)
from jobservice.rules.queues import Queue
from jobservice.store import audit as trail
from jobservice.store import claims as store
from jobservice.store import hints, items
from jobservice.store import idempotency as keys
from jobservice.store.database import Transaction
from jobservice.store.items import LockedItem
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import CHANGED, record
from jobservice.usecases.filtering import read_filter
from jobservice.usecases.held_still import locked_to_work, work_stopped
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once, again, recorded, scope_of, still_running
from jobservice.usecases.items import locked, reach, shown
from jobservice.usecases.service import Service, refuse


async def claim(service: Service, actor: Actor, item: str, order: ClaimOrder, once: Once) -> Answered:  # noqa: ARG001  # the order says nothing further yet
    """Take a free item (`Claimed`). Refusal WORK_STOPPED, CLAIMS_DISABLED, ITEM_CLOSED, IN_PLAN, CLAIM_HELD, CLAIMS_MAX,
    NOT_FOUND."""

    async def work(transaction: Transaction) -> Answered:
        found, queue, now = _is_open(service, *await locked_to_work(transaction, actor, item))
        lease, total = queue.lease_seconds, service.records.settings.claims_total

        def until_from(now: datetime) -> datetime:
            return _until(
                decide_claim(queue.claim, found.holding, now=now, actor=actor.person, lease=lease, total=total)
            )

        until_from(now)
        now = await _room(transaction, service, actor)
        until = until_from(now)
        await take(transaction, actor, found, action="claim", person=actor.person, now=now, until=until)
        return await _claimed(transaction, service, actor, item)

    return await act_once(
        service, actor, Deed(action="claim", subject=item, permission=Permission.QUEUE_CLAIM), once, work
    )


async def renew_claim(service: Service, actor: Actor, item: str, order: HeldClaim, once: Once) -> Answered:
    """Keep a held item longer (`Claimed`). Refusal CLAIM_LOST, CLAIM_CAPPED, IN_PLAN, CLAIMS_DISABLED, NOT_FOUND."""

    async def work(transaction: Transaction) -> Answered:
        found, queue, now = await _open_item(transaction, service, actor, item)
        until = _until(
            decide_renewal(
                queue.claim,
                found.holding,
                now=now,
                actor=actor.person,
                carried_fence=order.fence,
                lease=queue.lease_seconds,
                total=service.records.settings.claims_total,
            )
        )
        renewed = written(await store.renew(transaction, found, until=until))
        detail = {"queue": found.queue, "fence": renewed.fence, "expires_at": until.isoformat()}
        await _leave(transaction, actor, "renew-claim", found, detail, renewed.row_version)
        return await _claimed(transaction, service, actor, item)

    return await act_once(
        service, actor, Deed(action="renew-claim", subject=item, permission=Permission.QUEUE_CLAIM), once, work
    )


async def release_claim(service: Service, actor: Actor, item: str, order: HeldClaim, once: Once) -> Answered:
    """Give a held item back (`Claimed`). Refusal CLAIM_LOST, IN_PLAN, CLAIMS_DISABLED, NOT_FOUND."""

    async def work(transaction: Transaction) -> Answered:
        found, queue, now = await _open_item(transaction, service, actor, item)
        held = decide_release(queue.claim, found.holding, now=now, actor=actor.person, carried_fence=order.fence)
        if isinstance(held, Denied):
            raise refuse(held)
        cleared = written(await store.clear(transaction, found))
        await store.end(transaction, found, at=now, ending=ClaimEnding.RELEASED, by=actor.person)
        detail = {"queue": found.queue, "fence": cleared.fence}
        await _leave(transaction, actor, "release-claim", found, detail, cleared.row_version)
        return await _claimed(transaction, service, actor, item)

    return await act_once(
        service, actor, Deed(action="release-claim", subject=item, permission=Permission.QUEUE_CLAIM), once, work
    )


async def break_claim(service: Service, actor: Actor, item: str, order: BreakClaim, once: Once) -> Answered:
    """Take the claim that a colleague holds, with a reason that both see (`Claimed`).

    Refusal PERMISSION_MISSING, WORK_STOPPED, CLAIM_NOT_HELD, CLAIM_HELD (another claim than the one seen), IN_PLAN,
    CLAIMS_MAX, NOT_FOUND.
    """

    async def work(transaction: Transaction) -> Answered:
        found, queue, now = _is_open(service, *await locked_to_work(transaction, actor, item))

        def until_from(now: datetime) -> datetime:
            return _until(
                decide_break(
                    queue.claim,
                    found.holding,
                    now=now,
                    actor=actor.person,
                    carried_fence=order.fence,
                    lease=queue.lease_seconds,
                    total=service.records.settings.claims_total,
                )
            )

        until_from(now)
        now = await _room(transaction, service, actor)
        until = until_from(now)
        await store.end(transaction, found, at=now, ending=ClaimEnding.BROKEN, by=actor.person, reason=order.reason)
        detail = {"held_by": found.holding.holder, "reason": order.reason}
        await take(
            transaction, actor, found, action="break-claim", person=actor.person, now=now, until=until, detail=detail
        )
        return await _claimed(transaction, service, actor, item)

    return await act_once(
        service, actor, Deed(action="break-claim", subject=item, permission=Permission.QUEUE_CLAIM_BREAK), once, work
    )


async def claim_next(service: Service, actor: Actor, queue: str, order: ClaimNextOrder, once: Once) -> Answered:
    """Take the first free item of a queue in the order of its listing, of those that match the filter (`Claimed`;
    `item` null where none is free, and the key is not spent).

    Refusal WORK_STOPPED, CLAIMS_DISABLED, CLAIMS_MAX, NOT_FOUND (queue), FILTER_INVALID.
    """

    # In as few trips to the database as can be: a whole team presses this key all day.
    deed = Deed(action="claim-next", subject=queue, permission=Permission.QUEUE_CLAIM)
    async with (
        recorded(service, actor, deed),
        service.database.transaction(actor.tenant, planned_once=True) as transaction,
    ):
        scope, wanted, settings = scope_of(actor, once), service.queue(queue), service.records.settings
        if not await keys.try_lock_counting(transaction, scope):
            raise still_running()
        prepared = await store.prepare_next(transaction, wanted.id, reach(actor), scope)
        if prepared.kept is not None:
            return again(prepared.kept, once)
        if prepared.stop is not None:
            raise work_stopped(prepared.stop)
        if wanted.claim is ClaimMode.DISABLED:
            raise refuse(claims_disabled())
        chosen = await read_filter(transaction, service, actor, wanted, order.filter)
        _has_room(service, prepared.live)
        next_claim = store.NextClaim(
            queue=wanted.id,
            condition=chosen.condition,
            currency=chosen.currency,
            lease=wanted.lease_seconds,
            total=settings.claims_total,
            keep=settings.idempotency_keep,
            digest=once.digest,
            reference=actor.reference or None,
        )
        taken = await store.take_next(transaction, reach(actor), scope, next_claim, now=prepared.now)
        while taken is None and prepared.freed == store.FREED_MOST:  # what matches may be behind other lapsed claims
            prepared = await store.prepare_next(transaction, wanted.id, reach(actor), scope)
            taken = await store.take_next(transaction, reach(actor), scope, next_claim, now=prepared.now)
        return await _none_free(transaction) if taken is None else Answered(status=200, body=taken)


async def take(
    transaction: Transaction,
    actor: Actor,
    found: LockedItem,
    *,
    action: str,
    person: str,
    now: datetime,
    until: datetime,
    detail: dict[str, Any] | None = None,
) -> None:
    """Write `person`'s claim on a locked item, after the one that lapsed there; history, audit row and hint."""
    await end_lapsed(transaction, found, now)
    granted = written(await store.grant(transaction, found, person=person, now=now, until=until))
    told = {"queue": found.queue, "holder": person, "fence": granted.fence, "expires_at": until.isoformat()}
    await _leave(transaction, actor, action, found, told | (detail or {}), granted.row_version)


async def end_lapsed(transaction: Transaction, found: LockedItem, now: datetime) -> None:
    """Write how a claim past its lease ended, where one stands on a locked item; the service's own doing."""
    holding = found.holding
    if holding.expires_at is None or holding.live(now):
        return
    ended = await store.end(transaction, found, at=holding.expires_at, ending=ClaimEnding.LAPSED, by=None)
    if ended:
        await trail.add(
            transaction,
            trail.NewEntry(
                person=None,
                action="claim-lapsed",
                subject=found.id,
                outcome=CHANGED,
                detail={"queue": found.queue, "holder": holding.holder, "fence": holding.fence},
                reference=None,
            ),
        )


def written(granted: store.Granted | None) -> store.Granted:
    """What a write under a claim answered. Refusal CLAIM_LOST where it wrote no row: the claim is no longer so."""
    if granted is None:
        raise Refusal(ErrorCode.CLAIM_LOST, "The claim is no longer as it was read. Nothing was done; load it again.")
    return granted


async def _open_item(
    transaction: Transaction, service: Service, actor: Actor, item: str
) -> tuple[LockedItem, Queue, datetime]:
    """A locked item that is not closed, its queue, and the clock as it stood after the lock. A stop keeps nobody from
    keeping, or giving back, what they hold."""
    return _is_open(service, *await locked(transaction, actor, item))


def _is_open(service: Service, found: LockedItem, now: datetime) -> tuple[LockedItem, Queue, datetime]:
    if found.closed:
        raise Refusal(ErrorCode.ITEM_CLOSED, f"The item is {found.version.state}; there is nothing left to claim.")
    return found, service.queue(found.queue), now


def _until(decided: Granted | Denied) -> datetime:
    """The expiry that was granted. Refusal with the rule's code where it was denied."""
    if isinstance(decided, Denied):
        raise refuse(decided)
    return decided.until


async def _room(transaction: Transaction, service: Service, actor: Actor) -> datetime:
    """The clock once the actor's claims are counted, by one transaction at a time: waiting costs nobody their lease.

    Refusal CLAIMS_MAX where the actor holds as many items as they may.
    """
    await store.lock_person(transaction, actor.person)
    _has_room(service, await store.count_live(transaction, actor.person))
    return await items.now(transaction)


def _has_room(service: Service, live: int) -> None:
    """Refusal CLAIMS_MAX where a person who holds `live` items holds as many as they may."""
    room = decide_room(live, service.records.settings.claims_max, whose="You hold")
    if isinstance(room, Denied):
        raise refuse(room)


async def _leave(
    transaction: Transaction, actor: Actor, action: str, found: LockedItem, detail: dict[str, Any], row_version: int
) -> None:
    await record(transaction, actor, action, found.id, detail)
    await hints.add(transaction, queue=found.queue, item=found.id, version=row_version)


async def _claimed(transaction: Transaction, service: Service, actor: Actor, item: str) -> Answered:
    row = await shown(transaction, actor, item)
    taken_at = row["taken_at"]
    cap = None if taken_at is None else capped_at(taken_at, service.records.settings.claims_total).isoformat()
    return Answered(status=200, body={"item": row["item"], "capped_at": cap, "as_of": row["now"].isoformat()})


async def _none_free(transaction: Transaction) -> Answered:
    as_of = (await items.now(transaction)).isoformat()
    return Answered(status=200, body={"item": None, "capped_at": None, "as_of": as_of}, kept=False)
