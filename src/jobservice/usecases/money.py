"""Owns the switch that stops all money of a tenant, and what was released: who may throw it, what is told (MONEY.md 20).

Stopping takes no code and waits for nobody's; starting takes the code of another person than the one who stopped.
"""

from __future__ import annotations

from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.money import EXPONENTS
from jobcontract.permissions import Permission
from jobcontract.permissions import roles_with as roles
from jobcontract.plans import Money, Released, StartMoney, Stop, StopMoney
from jobcontract.session import Person
from jobservice.records import RecordSet
from jobservice.rules import notices as words
from jobservice.rules.limits import day_most
from jobservice.store import audit as trail
from jobservice.store import hints, notices, people
from jobservice.store import money as store
from jobservice.store import session as sessions
from jobservice.store.database import Database, Row, Transaction
from jobservice.store.items import Reach
from jobservice.store.money import Switch
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import CHANGED, record
from jobservice.usecases.coded_acts import act_with_code
from jobservice.usecases.codes import Judged, refuse_code
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.items import reach
from jobservice.usecases.service import Service

SERVER = "whoever runs the server"
"""Who stopped money where no person of the tenant did."""
EVERYTHING = Reach(customers=None, workspaces=None)


async def money(service: Service, actor: Actor) -> Money:
    """Whether money moves, and what was released. Refusal PERMISSION_MISSING without plan.read."""
    actor.require(Permission.PLAN_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        return await _money(transaction, service.records, reach(actor))


async def stop_money(service: Service, actor: Actor, order: StopMoney, once: Once) -> Answered:
    """Stop all money of the tenant (`Money`). Where it is stopped already, what stands stays.

    Refusal PERMISSION_MISSING without payout.stop.
    """

    async def work(transaction: Transaction) -> Answered:
        await stop_as(transaction, actor, order.reason)
        return await _answer(transaction, service, actor)

    deed = Deed(action="stop-money", subject=actor.tenant, permission=Permission.PAYOUT_STOP)
    return await act_once(service, actor, deed, once, work)


async def stop_as(transaction: Transaction, actor: Actor, reason: str) -> None:
    """Stop all money of the actor's tenant, unless it is stopped; the switch's row is locked to the transaction's end."""
    found = await store.lock(transaction)
    if not found.stopped:
        name = await _name(transaction, actor.person)
        await _stop(transaction, actor.tenant, by=actor.person, name=name, reason=reason)
        await record(transaction, actor, "stop-money", actor.tenant, {"reason": reason})


async def start_money(service: Service, actor: Actor, order: StartMoney, once: Once) -> Answered:
    """Let money move again (`Money`). Where it moves, nothing is done and no code is judged.

    Refusal PERMISSION_MISSING without payout.release, or where the actor stopped it; MONEY_STOPPED where the database
    has to be reconciled first; those of a code.
    """

    async def may(transaction: Transaction) -> bool:
        found = await store.switch(transaction)
        _refuse_start(found, actor)
        return found.stopped

    async def work(transaction: Transaction, judged: Judged | None) -> Answered:
        found = await store.lock(transaction)
        _refuse_start(found, actor)
        if not found.stopped:
            return await _answer(transaction, service, actor)
        if judged is None:
            raise Refusal(ErrorCode.MONEY_STOPPED, f"{stopped_sentence(found)} Send the order again with a code.")
        if not judged.right:
            raise refuse_code(judged)
        version = await store.start(transaction)
        name = await _name(transaction, actor.person)
        told = words.money_started(actor.tenant, by=name, reason=order.reason, at=found.now)
        await _tell(transaction, told)
        await hints.add_money(transaction, version=version)
        detail = {"reason": order.reason, "stopped_by": found.by, "stopped_for": found.reason}
        await record(transaction, actor, "start-money", actor.tenant, detail)
        return await _answer(transaction, service, actor)

    deed = Deed(action="start-money", subject=actor.tenant, permission=Permission.PAYOUT_RELEASE)
    return await act_with_code(service, actor, deed, once, order.code, may=may, work=work)


async def stop_on_server(database: Database, *, tenant: str, reason: str) -> bool:
    """Stop all money of a tenant on the owner's connection; False where it was stopped already. Refusal NOT_FOUND."""
    async with database.transaction(tenant) as transaction:
        await _known(transaction, tenant)
        found = await store.lock(transaction)
        if found.stopped:
            return False
        await _stop(transaction, tenant, by=None, name=SERVER, reason=reason)
        entry = trail.NewEntry(
            person=None,
            action="stop-money",
            subject=tenant,
            outcome=CHANGED,
            detail={"reason": reason},
            reference=None,
        )
        await trail.add(transaction, entry)
        return True


async def status_on_server(database: Database, *, tenant: str) -> Money:
    """Whether money of a tenant moves and what was released, on the owner's connection. Refusal NOT_FOUND."""
    async with database.transaction(tenant) as transaction:
        await _known(transaction, tenant)
        return await _money(transaction, None, EVERYTHING)


def refuse_stopped(found: Switch) -> None:
    """Refusal MONEY_STOPPED, with who, when and why."""
    if found.stopped:
        raise Refusal(
            ErrorCode.MONEY_STOPPED,
            stopped_sentence(found),
            stop={"at": found.at, "by": found.by_name or found.by, "reason": found.reason},
        )


def stopped_sentence(found: Switch) -> str:
    """Who stopped money, when and why."""
    at: datetime = found.at or found.now
    reason = (found.reason or "no reason was given").rstrip(".")
    return f"Money is stopped since {at:%Y-%m-%d %H:%M:%S} UTC, by {found.by_name or found.by or SERVER}: {reason}."


def _refuse_start(found: Switch, actor: Actor) -> None:
    if not found.stopped:
        return
    if found.restored:
        refuse_stopped(found)
    if found.by == actor.person:
        raise Refusal(
            ErrorCode.PERMISSION_MISSING,
            "You stopped money; starting it again takes the code of another person in finance.",
            permission=Permission.PAYOUT_RELEASE,
        )


async def _stop(transaction: Transaction, tenant: str, *, by: str | None, name: str, reason: str) -> None:
    version = await store.stop(transaction, by=by, reason=reason)
    at = (await store.switch(transaction)).now
    await _tell(transaction, words.money_stopped(tenant, by=name, reason=reason, at=at))
    await hints.add_money(transaction, version=version)


async def _tell(transaction: Transaction, told: words.Words) -> None:
    """A notice to everybody of the tenant who may stop money: finance and operators."""
    watching = roles(Permission.PAYOUT_STOP)
    for row in await sessions.colleagues(transaction):
        if row["role"] in watching:
            await notices.add(
                transaction,
                notices.NewNotice(person=row["id"], kind=told.kind, subject=told.subject, text=told.text),
            )


async def _name(transaction: Transaction, person: str) -> str:
    rows = await sessions.colleagues(transaction)
    return next((str(row["name"]) for row in rows if row["id"] == person), person)


async def _known(transaction: Transaction, tenant: str) -> None:
    if not await people.tenant_exists(transaction, tenant):
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no tenant {tenant[:80]!r}. See: jobservice person list.")


async def _answer(transaction: Transaction, service: Service, actor: Actor) -> Answered:
    found = await _money(transaction, service.records, reach(actor))
    return Answered(status=200, body=found.model_dump(mode="json"))


async def _money(transaction: Transaction, records: RecordSet | None, within: Reach) -> Money:
    found = await store.switch(transaction)
    stopped = None
    if found.stopped and found.at is not None:
        by = None if found.by is None else Person(id=found.by, name=found.by_name or found.by)
        stopped = Stop(at=found.at, by=by, reason=found.reason or "")
    return Money(
        stopped=stopped,
        released=tuple(_released(row, records) for row in await store.released(transaction, found.now)),
        uncertain=await store.uncertain(transaction, within),
        as_of=found.now,
    )


def _released(row: Row, records: RecordSet | None) -> Released:
    most = None if records is None else day_most(records.bulk.values(), row["currency"])
    return Released(
        person=Person(id=row["person"], name=row["name"]),
        currency=row["currency"],
        exponent=EXPONENTS.get(row["currency"], 0),
        today_count=row["today_count"],
        today_minor=row["today_minor"],
        day_count=row["day_count"],
        day_minor=row["day_minor"],
        day_most_minor=None if most is None else most.minor,
        day_most_count=None if most is None else most.count,
    )
