"""Owns holding work still and letting it go on: a queue, a bulk command, a kind of job, all work of a tenant (DESIGN.md,
Stops; MONEY.md 20). Refusing what is held: `held_still.py`. Who only reads sees every stop, with its reason.

Holding takes a reason and no code. What holds money takes the code of another person to let go on; a stop of all work
throws the switch of money too, which stays thrown when the stop is lifted (`money.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import StopScope
from jobcontract.permissions import Permission
from jobcontract.permissions import roles_with as roles
from jobcontract.plan_digest import microseconds
from jobcontract.session import Person
from jobcontract.states import Moves
from jobcontract.stops import LiftOrder, Stop, StopOrder, Stops, StopsChanged
from jobservice.rules import stops as words
from jobservice.rules.job_kinds import PLAN_APPLY, readable
from jobservice.rules.notices import Words
from jobservice.rules.stops import InForce, heading
from jobservice.store import hints, notices
from jobservice.store import items as item_store
from jobservice.store import session as sessions
from jobservice.store import stops as store
from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.coded_acts import act_with_code
from jobservice.usecases.codes import Judged, refuse_code
from jobservice.usecases.held_still import work_stopped
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.money import stop_as
from jobservice.usecases.service import Service


async def list_stops(service: Service, actor: Actor) -> Stops:
    """Every stop in force, the latest first. Refusal PERMISSION_MISSING without colleague.read."""
    actor.require(Permission.COLLEAGUE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        return Stops(stops=await stops_of(transaction, service), now=transaction.began_at)


async def stops_of(transaction: Transaction, service: Service) -> tuple[Stop, ...]:
    """Every stop of the transaction's tenant, the latest first."""
    return tuple(_shown(service, each) for each in await store.listed(transaction))


async def stop(service: Service, actor: Actor, order: StopOrder, once: Once) -> Answered:
    """Hold something still (`StopsChanged`). Where it is held already, what stands stays.

    It waits for what runs now: nothing of it is written after the answer. Refusal PERMISSION_MISSING without work.stop,
    NOT_FOUND where the records have no such queue, command or kind of job, or for another tenant than the actor's.
    """

    async def work(transaction: Transaction) -> Answered:
        _refuse_unknown(service, actor, order)
        if order.scope is StopScope.TENANT:
            # The row of the switch first, as everybody does who throws it; then the locks of the stop.
            await stop_as(transaction, actor, order.reason)
        if await store.add(transaction, order.scope, order.name, by=actor.person, reason=order.reason):
            detail = {"scope": order.scope.value, "reason": order.reason}
            await record(transaction, actor, "stop-work", order.name, detail)
            await _tell(transaction, actor, order.scope, order.name, reason=order.reason)
        return await _answer(transaction, service)

    deed = Deed(action="stop-work", subject=order.name, permission=Permission.WORK_STOP)
    return await act_once(service, actor, deed, once, work)


async def lift(service: Service, actor: Actor, order: LiftOrder, once: Once) -> Answered:
    """Let something go on (`StopsChanged`). Where it is not held, nothing is done and no code is judged.

    Refusal PERMISSION_MISSING without work.stop; of a command or kind of job that moves money also without payout.release, or where the
    actor stopped it; WORK_STOPPED where a code is wanted and none came; those of a code.
    """
    coded = _takes_code(service, order.scope, order.name)

    async def may(transaction: Transaction) -> bool:
        found = await store.find(transaction, order.scope, order.name)
        _refuse_lift(found, actor, coded=coded)
        return coded and found is not None

    async def work(transaction: Transaction, judged: Judged | None) -> Answered:
        found = await store.find(transaction, order.scope, order.name)
        _refuse_lift(found, actor, coded=coded)
        if found is None:
            return await _answer(transaction, service)
        if coded:
            _refuse_code(found, judged)
        if not await store.lift(transaction, found):
            # Another person lifted it meanwhile: and whatever stop stands now is one that nobody here has read.
            return await _answer(transaction, service)
        detail = {
            "scope": order.scope.value,
            "reason": order.reason,
            "stopped_by": found.by,
            "stopped_at": found.at.isoformat(),
            "stopped_for": found.reason,
        }
        await record(transaction, actor, "lift-stop", order.name, detail)
        await _tell(transaction, actor, order.scope, order.name, reason=order.reason, lifted=found)
        return await _answer(transaction, service)

    deed = Deed(action="lift-stop", subject=order.name, permission=Permission.WORK_STOP)
    return await act_with_code(service, actor, deed, once, order.code, may=may, work=work)


async def queue_stops(transaction: Transaction) -> tuple[str | None, dict[str, str]]:
    """What is said beside the name of every queue where all work is stopped, and of each queue that is stopped itself."""
    found = await store.listed(transaction)
    everything = next((heading(each) for each in found if each.scope is StopScope.TENANT), None)
    return everything, {each.name: heading(each) for each in found if each.scope is StopScope.QUEUE}


def _refuse_unknown(service: Service, actor: Actor, order: StopOrder) -> None:
    """Refusal NOT_FOUND, naming what there is."""
    known: list[str] = {
        StopScope.QUEUE: sorted(service.records.queues),
        StopScope.BULK_COMMAND: sorted(service.records.bulk),
        StopScope.JOB_KIND: sorted(_stoppable(service)),
        StopScope.TENANT: [actor.tenant],
    }[order.scope]
    if order.name not in known:
        kind = order.scope.value.replace("-", " ")
        there = ", ".join(known[:20]) or "none"
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no {kind} {order.name[:80]!r} to stop; there is {there}.")


def _stoppable(service: Service) -> Iterable[str]:
    """Kinds whose steps the engine begins; the account of a plan has none of its own: its command is stopped."""
    return (kind for kind in service.records.job_kinds if kind != PLAN_APPLY)


def _takes_code(service: Service, scope: StopScope, name: str) -> bool:
    """Whether lifting lets money go on. What the records do not have any more may have moved some."""
    if scope is StopScope.JOB_KIND:
        kind = service.records.job_kinds.get(name)
        return kind is None or kind.moves is Moves.MONEY
    if scope is not StopScope.BULK_COMMAND:
        return False
    command = service.records.bulk.get(name)
    return command is None or service.records.use_cases[command.use_case].moves is Moves.MONEY


def _refuse_lift(found: InForce | None, actor: Actor, *, coded: bool) -> None:
    if found is None or not coded:
        return
    actor.require(Permission.PAYOUT_RELEASE)
    if found.by == actor.person:
        raise Refusal(
            ErrorCode.PERMISSION_MISSING,
            "You stopped it, and it moves money; letting it go on takes the code of another person in finance.",
            permission=Permission.PAYOUT_RELEASE,
        )


def _refuse_code(found: InForce, judged: Judged | None) -> None:
    if judged is None:
        refusal = work_stopped(found)
        raise Refusal(
            refusal.kind, f"{refusal.detail} It moves money: send the order again with a code.", **refusal.extra
        )
    if not judged.right:
        raise refuse_code(judged)


async def _tell(
    transaction: Transaction,
    actor: Actor,
    scope: StopScope,
    name: str,
    *,
    reason: str,
    lifted: InForce | None = None,
) -> None:
    """A hint to everyone, and a notice to everybody of the tenant who may stop work."""
    now = await item_store.now(transaction)
    rows = await sessions.colleagues(transaction)
    by = next((str(row["name"]) for row in rows if row["id"] == actor.person), actor.person)
    told: Words
    if lifted is None:
        told = words.stopped(scope, name, by=by, reason=reason, at=now)
    else:
        told = words.lifted(lifted, by=by, reason=reason, at=now)
    watching = roles(Permission.WORK_STOP)
    for row in rows:
        if row["role"] in watching:
            notice = notices.NewNotice(person=row["id"], kind=told.kind, subject=told.subject, text=told.text)
            await notices.add(transaction, notice)
    await hints.add_stops(transaction, version=microseconds(now))


async def _answer(transaction: Transaction, service: Service) -> Answered:
    found = await store.listed(transaction)
    changed = StopsChanged(stops=tuple(_shown(service, each) for each in found), now=await item_store.now(transaction))
    body: dict[str, Any] = changed.model_dump(mode="json")
    return Answered(status=200, body=body)


def _shown(service: Service, found: InForce) -> Stop:
    return Stop(
        scope=found.scope,
        name=found.name,
        title=_title(service, found),
        at=found.at,
        by=Person(id=found.by, name=found.by_name),
        reason=found.reason,
        lifted_by_code=_takes_code(service, found.scope, found.name),
        version=found.version,
    )


def _title(service: Service, found: InForce) -> str:
    """As the record calls it; its id where there is no record of it any more."""
    if found.scope is StopScope.QUEUE and found.name in service.records.queues:
        return service.records.queues[found.name].title
    if found.scope is StopScope.BULK_COMMAND and found.name in service.records.bulk:
        return service.records.bulk[found.name].title
    if found.scope is StopScope.JOB_KIND:
        kind = service.records.job_kinds.get(found.name)
        return readable(found.name) if kind is None else kind.label
    return "All work" if found.scope is StopScope.TENANT else found.name
