"""Owns putting a pushed item into its queue, for the API and for an application's own transaction alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobservice.records import RecordSet
from jobservice.rules.inputs import check_inputs
from jobservice.rules.items import (
    Content,
    Payment,
    created_faults,
    payload_size,
    payment_faults,
    searched_words,
    text_faults,
)
from jobservice.rules.queues import Queue
from jobservice.store import claims as claim_store
from jobservice.store import items as store
from jobservice.store.database import Transaction
from jobservice.store.items import Reach
from jobservice.usecases.actor import Actor
from jobservice.usecases.scoring import Scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a pusher says of an item, before it is checked against its queue."""

    key: str
    title: str
    created: datetime | None
    payment: Payment | None
    inputs: Mapping[str, object]
    payload: Mapping[str, Any]
    customer: str | None
    workspace: str | None


async def push(
    transaction: Transaction, records: RecordSet, scorer: Scorer, actor: Actor, queue: Queue, draft: Draft
) -> str:
    """Add the item with version, score, hint and audit row; its id.

    Refusal INVALID_REQUEST, BODY_TOO_LARGE, KEY_TAKEN.
    """
    content = await checked_content(transaction, records, queue, draft)
    _within_reach(actor, draft)
    now = await store.now(transaction)
    new = new_row(scorer, queue, draft, content, now)
    added = await store.add(
        transaction, queue.id, [new], pusher=actor.person, reference=actor.reference or None, each=True
    )
    if not added:
        raise await _key_taken(transaction, actor, draft.key)
    return added[0]


def new_row(scorer: Scorer, queue: Queue, draft: Draft, content: Content, now: datetime) -> store.NewRow:
    """The row of a checked draft, scored at `now`, the database's clock."""
    created = now if draft.created is None else draft.created.astimezone(UTC)
    return store.NewRow(
        key=draft.key,
        created=created,
        content=content,
        payload=draft.payload,
        customer=draft.customer,
        workspace=draft.workspace,
        words=searched_words(content, draft.key),
        standing=scorer.stand(queue, content, created, now),
    )


async def checked_content(transaction: Transaction, records: RecordSet, queue: Queue, draft: Draft) -> Content:
    """The content that the draft means in this queue. Refusal INVALID_REQUEST with everything that is wrong."""
    inputs = check_inputs(queue.inputs, draft.inputs)
    size = payload_size(draft.payload)
    faults = [*_faults(queue, draft), *inputs.faults]
    if size is None:
        faults.append("`payload` is JSON of at most 32 levels, without NUL, lone surrogates, NaN or infinities.")
    if faults:
        raise Refusal(ErrorCode.INVALID_REQUEST, " ".join(faults))
    most = records.settings.payload_most
    if size is not None and size > most:
        raise Refusal(
            ErrorCode.BODY_TOO_LARGE, f"`payload` has {size:,} bytes as JSON; an item may have {most:,} (payload.most)."
        )
    await refuse_strangers(transaction, inputs.persons)
    return Content(title=draft.title, payment=draft.payment, inputs=inputs.kept)


def _faults(queue: Queue, draft: Draft) -> Iterator[str]:
    payment = draft.payment
    yield from text_faults(
        key=draft.key,
        title=draft.title,
        customer=draft.customer,
        workspace=draft.workspace,
        payee_id=None if payment is None else payment.payee_id,
        payee_name=None if payment is None else payment.payee_name,
    )
    yield from created_faults(draft.created)
    yield from payment_faults(queue, payment)


async def refuse_strangers(transaction: Transaction, persons: tuple[str, ...]) -> None:
    """Refusal COLLEAGUE_UNFIT where one of the ids given for an input is no active person of the tenant."""
    for person in persons:
        if await claim_store.colleague(transaction, person) is None:
            raise stranger(person, transaction.tenant)


def stranger(person: str, tenant: str | None) -> Refusal:
    """The refusal of a person who is not there."""
    return Refusal(ErrorCode.COLLEAGUE_UNFIT, f"{person[:80]!r} is not an active person of {tenant}.")


def _within_reach(actor: Actor, draft: Draft) -> None:
    for name, value, allowed in (
        ("customer", draft.customer, actor.customers),
        ("workspace", draft.workspace, actor.workspaces),
    ):
        if allowed is not None and value not in allowed:
            raise Refusal(
                ErrorCode.INVALID_REQUEST, f"`{name}` has to be one of yours: {', '.join(allowed) or 'none'}."
            )


async def _key_taken(transaction: Transaction, actor: Actor, key: str) -> Refusal:
    """KEY_TAKEN, naming the item that has the key where the actor may see it."""
    reach = Reach(customers=actor.customers, workspaces=actor.workspaces)
    found = await store.find_key(transaction, key, reach)
    if found is None:
        return Refusal(ErrorCode.KEY_TAKEN, f"The business key {key!r} was used before in {actor.tenant}.")
    return Refusal(
        ErrorCode.KEY_TAKEN,
        f"The business key {key!r} was used before in {actor.tenant}: item {found['id']} of {found['queue']}.",
        item=str(found["id"]),
    )
