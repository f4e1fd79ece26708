"""Owns acting once per key: the second call with a key gets the first answer (MONEY.md 32, case HTTP-03).

The frame of every acting use case: one transaction, permission, key, work, answer kept beside the work; a refusal
rolls everything back and is then written to the audit trail in a transaction of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobservice.store import idempotency as keys
from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record_refusal
from jobservice.usecases.service import Service

STATEMENT_SECONDS = 10.0
"""For one statement of an acting request, where it asks for no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """The identity of one acting request: method and path as sent, its `Idempotency-Key`, a keyed digest of its body."""

    method: str
    path: str
    key: str
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer to an acting request: HTTP status, JSON body, and whether it is the repeated first answer."""

    status: int
    body: Mapping[str, Any]
    replayed: bool = False
    kept: bool = True
    """Whether something changed, so that the key is spent on this answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What an acting request is called in the audit trail, and the permission that it needs."""

    action: str
    subject: str
    permission: Permission


async def act_once(
    service: Service,
    actor: Actor,
    deed: Deed,
    once: Once,
    work: Callable[[Transaction], Awaitable[Answered]],
    *,
    statement_seconds: float = STATEMENT_SECONDS,
    planned_once: bool = False,
) -> Answered:
    """Run `work` in one transaction of the actor's tenant, at most once per key. `planned_once`: as of a transaction.

    Refusal PERMISSION_MISSING, IDEMPOTENCY_RUNNING (the first request is still at work), IDEMPOTENCY_KEY_REUSED
    (another body), or what `work` refuses; each is recorded, and nothing else of it stays.
    """
    async with (
        recorded(service, actor, deed),
        service.database.transaction(
            actor.tenant, statement_seconds=statement_seconds, planned_once=planned_once
        ) as transaction,
    ):
        return await first_or_again(service, actor, once, transaction, work)


@asynccontextmanager
async def recorded(service: Service, actor: Actor, deed: Deed) -> AsyncIterator[None]:
    """The frame of a deed: its permission first; what is refused inside is recorded and raised again.

    Refusal PERMISSION_MISSING. The transaction belongs inside, so that it has ended when the refusal is written.
    """
    try:
        actor.require(deed.permission)
        yield
    except Refusal as refusal:
        await record_refusal(service, actor, deed.action, deed.subject, refusal)
        raise


def scope_of(actor: Actor, once: Once) -> keys.Scope:
    """What the key of a request belongs to."""
    return keys.Scope(person=actor.person, method=once.method, path=once.path, key=once.key)


def still_running() -> Refusal:
    """The refusal of a request whose first one has not ended."""
    return Refusal(
        ErrorCode.IDEMPOTENCY_RUNNING,
        "The first request with this key is still running. Ask again with the same key in a moment.",
    )


def again(kept: keys.Kept, once: Once) -> Answered:
    """The first answer. Refusal IDEMPOTENCY_KEY_REUSED where it was given to another body."""
    if kept.digest != once.digest:
        raise Refusal(
            ErrorCode.IDEMPOTENCY_KEY_REUSED,
            "This Idempotency-Key was used for a request with another body. Make a new key for a new request.",
        )
    return Answered(status=kept.status, body=kept.answer, replayed=True)


async def first_answer(transaction: Transaction, actor: Actor, once: Once) -> Answered | None:
    """The answer that was given under the key; None where the key is new, and then it is the transaction's until it
    ends. Refusal IDEMPOTENCY_RUNNING, IDEMPOTENCY_KEY_REUSED."""
    scope = scope_of(actor, once)
    if not await keys.try_lock(transaction, scope):
        raise still_running()
    kept = await keys.find(transaction, scope)
    return None if kept is None else again(kept, once)


async def first_or_again(
    service: Service,
    actor: Actor,
    once: Once,
    transaction: Transaction,
    work: Callable[[Transaction], Awaitable[Answered]],
    *,
    wait: bool = False,
) -> Answered:
    """Run `work` unless an answer is kept under the key; keep its answer beside what it wrote.

    `wait`: for a first request that is at work, rather than refuse. Refusal as `act_once`.
    """
    scope = scope_of(actor, once)
    if wait:
        await keys.lock(transaction, scope)
    first = await first_answer(transaction, actor, once)
    if first is not None:
        return first
    answered = await work(transaction)
    if answered.kept:
        await keys.keep(
            transaction,
            scope,
            keys.Kept(digest=once.digest, status=answered.status, answer=answered.body),
            seconds=service.records.settings.idempotency_keep,
        )
    return answered
