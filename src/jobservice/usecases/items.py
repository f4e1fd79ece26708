"""Owns reading, pushing and changing work items (MONEY.md 7, 8). Listing them: `listings.py`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import ChangedItem, ItemDetail, NewAmount, NewItem, NewPayee, Pushed
from jobcontract.permissions import Permission
from jobcontract.session import Person
from jobservice.rules.claims import Denied, capped_at, decide_content
from jobservice.rules.items import Payment, searched_words
from jobservice.store import acts as act_store
from jobservice.store import claims as claim_store
from jobservice.store import hints
from jobservice.store import items as store
from jobservice.store import plan_rows as plan_store
from jobservice.store.database import Row, Transaction
from jobservice.store.items import LockedItem, Reach
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record, record_refusal
from jobservice.usecases.content import Draft, checked_content, push
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.service import Service, refuse
from jobservice.usecases.versions import version_changed


def reach(actor: Actor) -> Reach:
    """What of their tenant the actor may see."""
    return Reach(customers=actor.customers, workspaces=actor.workspaces)


async def read_item(service: Service, actor: Actor, item: str) -> ItemDetail:
    """One item with its history. Refusal PERMISSION_MISSING, NOT_FOUND (foreign ids answer as unknown)."""
    actor.require(Permission.QUEUE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        row = await shown(transaction, actor, item)
        claims = await claim_store.history(transaction, item)
        acts = await act_store.history(transaction, item)
        turns = await plan_store.turns(transaction, item)
    return ItemDetail.model_validate(
        {
            "item": row["item"],
            "payload": row["payload"],
            "pushed_by": Person(id=row["pushed_by"], name=row["pushed_by_name"]),
            "pushed_at": row["pushed_at"],
            "changed_at": row["changed_at"],
            "capped_at": capped(service, row["taken_at"]),
            "claims": claims,
            "acts": acts,
            "turns": [_turn(each) for each in turns],
            "as_of": row["now"],
        }
    )


def _turn(row: Row) -> dict[str, Any]:
    """What one plan did about an item, as `jobcontract.items.TurnRecord`."""
    return {
        **row,
        "plan": {"id": row["plan"], "name": row["name"], "held": row["held"]},
        "owner": {"id": row["owner"], "name": row["owner_name"]},
    }


def capped(service: Service, taken_at: datetime | None) -> datetime | None:
    """When a claim taken then ends even if renewed."""
    return None if taken_at is None else capped_at(taken_at, service.records.settings.claims_total)


async def shown(transaction: Transaction, actor: Actor, item: str) -> Row:
    """An item as it goes over the wire. Refusal NOT_FOUND."""
    row = await store.shown(transaction, item, reach(actor))
    if row is None:
        raise not_found(item)
    return row


async def locked(transaction: Transaction, actor: Actor, item: str) -> tuple[LockedItem, datetime]:
    """Lock an item, then read the clock: what waited is judged by when it got its turn. Refusal NOT_FOUND."""
    found = await store.lock(transaction, item, reach(actor))
    if found is None:
        raise not_found(item)
    return found, await store.now(transaction)


def not_found(item: str) -> Refusal:
    """The one answer for unknown, foreign and unreachable items."""
    return Refusal(ErrorCode.NOT_FOUND, f"There is no item {item[:80]!r} that you may see.")


async def push_item(service: Service, actor: Actor, queue: str, new: NewItem, once: Once) -> Answered:
    """Push an item (201, `Pushed`). Refusal PERMISSION_MISSING, NOT_FOUND (queue), INVALID_REQUEST, KEY_TAKEN."""
    deed = Deed(action="push-item", subject=new.key, permission=Permission.ITEM_PUSH)

    async def work(transaction: Transaction) -> Answered:
        draft = Draft(
            key=new.key,
            title=new.title,
            created=new.created,
            payment=_payment(new.amount, new.payee),
            inputs=new.inputs,
            payload=new.payload,
            customer=new.customer,
            workspace=new.workspace,
        )
        item = await push(transaction, service.records, service.scorer, actor, service.queue(queue), draft)
        return Answered(status=201, body=await _pushed(transaction, actor, item))

    return await act_once(service, actor, deed, once, work)


async def _pushed(transaction: Transaction, actor: Actor, item: str) -> dict[str, Any]:
    return {"item": (await shown(transaction, actor, item))["item"]}


def _payment(amount: NewAmount | None, payee: NewPayee | None) -> Payment | None:
    """The money side as one value. Refusal INVALID_REQUEST where only one half is given."""
    if amount is None and payee is None:
        return None
    if amount is None or payee is None:
        raise Refusal(ErrorCode.INVALID_REQUEST, "`amount` and `payee` come together: give both, or neither.")
    return Payment(
        minor=amount.minor,
        currency=amount.currency,
        payee_id=payee.id,
        payee_name=payee.name,
        account=payee.account,
    )


async def change_item(service: Service, actor: Actor, queue: str, key: str, changed: ChangedItem) -> Pushed:
    """Put new content in place of an item's, under the version that the pusher saw.

    The same content again changes nothing and answers as the first time. Refusal PERMISSION_MISSING, NOT_FOUND,
    ITEM_CLOSED, IN_PLAN, VERSION_CHANGED (with `changes`), INVALID_REQUEST.
    """
    try:
        actor.require(Permission.ITEM_PUSH)
        found = service.queue(queue)
        async with service.database.transaction(actor.tenant) as transaction:
            item = await store.lock_by_key(transaction, found.id, key, reach(actor))
            if item is None:
                raise Refusal(ErrorCode.NOT_FOUND, f"There is no item with key {key[:80]!r} in {found.id}.")
            await _change(transaction, service, actor, item, changed)
            return Pushed.model_validate(await _pushed(transaction, actor, item.id))
    except Refusal as refusal:
        await record_refusal(service, actor, "change-item", key, refusal)
        raise


async def _change(
    transaction: Transaction, service: Service, actor: Actor, item: LockedItem, changed: ChangedItem
) -> None:
    if item.closed:
        raise Refusal(ErrorCode.ITEM_CLOSED, f"The item is {item.version.state}; what is closed is not changed.")
    held = decide_content(item.holding, now=await store.now(transaction))
    if isinstance(held, Denied):
        raise refuse(held)
    draft = Draft(
        key=item.key or "",
        title=changed.title,
        created=None,
        payment=_payment(changed.amount, changed.payee),
        inputs=changed.inputs,
        payload=changed.payload,
        customer=item.customer,
        workspace=item.workspace,
    )
    queue = service.queue(item.queue)
    content = await checked_content(transaction, service.records, queue, draft)
    raised = content != item.version.content
    if not raised and changed.payload == item.payload:
        return
    if changed.money_version != item.version.number:
        raise await version_changed(transaction, item, changed.money_version)
    row_version = await store.change(
        transaction,
        item,
        content,
        changed.payload,
        words=searched_words(content, draft.key),
        standing=service.scorer.stand(queue, content, item.created, await store.now(transaction)),
        raised=raised,
        changer=actor.person,
    )
    if row_version is None:
        raise await version_changed(transaction, item, changed.money_version)
    if raised:
        await store.keep_version(transaction, item.id, changer=actor.person)
    number = item.version.number + int(raised)
    detail = {"queue": item.queue, "key": item.key, "money_version": number}
    await record(transaction, actor, "change-item", item.id, detail)
    await hints.add(transaction, queue=item.queue, item=item.id, version=row_version)
