"""Owns running an ended occurrence again, and putting a dead letter away: singly by a person, or as a row of a recovery.

A replay is a new attempt of the same occurrence, with a budget of its own (requirement audit-manual-replay): what is done
keeps its outcome and is not run again, and nothing forces what may not be. It moves no money: a recovery does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from jobcontract.acts import DiscardOrder, ReplayOrder
from jobcontract.errors import Refusal
from jobcontract.occurrence_names import occurrence_name, read_occurrence_name
from jobcontract.permissions import Permission
from jobcontract.states import DeadCause, OccurrenceState
from jobservice.records import RecordSet
from jobservice.rules.claims import Denied
from jobservice.rules.replays import Course, decide_discard, decide_replay, removed
from jobservice.rules.schedules import Itself
from jobservice.rules.standing import Off
from jobservice.store import audit as trail
from jobservice.store import hints
from jobservice.store import replaying as store
from jobservice.store.database import Row, Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import CHANGED, safe_subject
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.occurrences import find_occurrence, occurrence_changed, unknown_occurrence
from jobservice.usecases.service import Service, refuse

STATEMENT_SECONDS = 25.0
"""For one statement over all items of a run."""
LOOKS = 3
"""How often it is looked at again what a locked occurrence's schedule and retention say, where a write found it changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Who wants what of which occurrence (its id). `version`: as it was seen; None = however it stands."""

    occurrence: str
    person: str
    reason: str
    version: int | None = None
    recovery: str | None = None
    """Id of the recovery that it is a row of."""
    allow_money: bool = False
    """Whether what moves money may run: a recovery that was confirmed, and whose signature was verified just now."""
    reference: str | None = None
    """Of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What was done to an occurrence. `not_done`: items that run again."""

    name: str
    version: int
    replay: int = 0
    not_done: int = 0


async def replay(service: Service, actor: Actor, named: str, order: ReplayOrder, once: Once) -> Answered:
    """Run an ended occurrence again (`OccurrenceChanged`).

    Refusal PERMISSION_MISSING without occurrence.replay, NOT_FOUND, OCCURRENCE_NOT_ENDED, OCCURRENCE_REMOVED,
    SCHEDULE_UNFIT, NEEDS_PLAN, SCHEDULE_DISABLED, VERSION_CHANGED.
    """
    deed = Deed(action="replay-occurrence", subject=safe_subject(named), permission=Permission.OCCURRENCE_REPLAY)

    async def work(transaction: Transaction, identifier: str) -> Done | Denied:
        wanted = Order(
            occurrence=identifier,
            person=actor.person,
            reason=order.reason,
            version=order.version,
            reference=actor.reference,
        )
        return await replay_in(transaction, service.records, service.deployment, wanted)

    return await _act(service, actor, deed, once, named, work)


async def discard(service: Service, actor: Actor, named: str, order: DiscardOrder, once: Once) -> Answered:
    """Put a dead letter away (`OccurrenceChanged`).

    Refusal PERMISSION_MISSING without occurrence.discard, NOT_FOUND, NOT_DEAD_LETTER, OCCURRENCE_REMOVED, VERSION_CHANGED.
    """
    deed = Deed(action="discard-occurrence", subject=safe_subject(named), permission=Permission.OCCURRENCE_DISCARD)

    async def work(transaction: Transaction, identifier: str) -> Done | Denied:
        wanted = Order(
            occurrence=identifier,
            person=actor.person,
            reason=order.reason,
            version=order.version,
            reference=actor.reference,
        )
        return await discard_in(transaction, wanted)

    return await _act(service, actor, deed, once, named, work)


async def _act(
    service: Service,
    actor: Actor,
    deed: Deed,
    once: Once,
    named: str,
    act: Callable[[Transaction, str], Awaitable[Done | Denied]],
) -> Answered:
    async def work(transaction: Transaction) -> Answered:
        identifier = await _identifier(transaction, named)
        done = await act(transaction, identifier)
        if isinstance(done, Denied):
            raise refuse(done)
        changed = await occurrence_changed(transaction, service, identifier)
        return Answered(status=200, body=changed.model_dump(mode="json"))

    return await act_once(service, actor, deed, once, work, statement_seconds=STATEMENT_SECONDS)


async def replay_in(transaction: Transaction, records: RecordSet, deployment: str, order: Order) -> Done | Denied:
    """Run an ended occurrence of the transaction's tenant again, with history, audit row and hint; or why not, and then
    nothing was written. Refusal NOT_FOUND."""
    for _ in range(LOOKS):
        course = _course(await _locked(transaction, order.occurrence), records, deployment, transaction.tenant or "")
        denied = decide_replay(course, seen=order.version, money=order.allow_money)
        if denied is not None:
            return denied
        again = await store.replay(
            transaction,
            order.occurrence,
            version=course.version,
            person=order.person,
            reason=order.reason,
            recovery=order.recovery,
            itself=_itself(records, course.schedule),
        )
        if again is not None:
            break  # else its schedule was disabled, or retention came past it, in this very moment: the next look says so
    else:
        raise RuntimeError("what is refused is seen by the look before it")
    after = {"state": OccurrenceState.SCHEDULED.value, "due_at": again.due_at.isoformat(), "replays": again.replay}
    await _record(
        transaction, "replay-occurrence", order, course, {**after, "version": again.version}, not_done=again.not_done
    )
    return Done(name=course.name, version=again.version, replay=again.replay, not_done=again.not_done)


async def discard_in(transaction: Transaction, order: Order) -> Done | Denied:
    """Put a dead letter of the transaction's tenant away, with audit row and hint; or why not, and then nothing was
    written. Refusal NOT_FOUND."""
    for _ in range(LOOKS):
        course = _course(await _locked(transaction, order.occurrence))
        denied = decide_discard(course, seen=order.version)
        if denied is not None:
            return denied
        version = await store.discard(
            transaction, order.occurrence, version=course.version, person=order.person, reason=order.reason
        )
        if version is not None:
            break  # else retention came past it in this very moment
    else:
        raise RuntimeError("what is refused is seen by the look before it")
    after = {"state": course.state.value, "discarded": True, "version": version}
    await _record(transaction, "discard-occurrence", order, course, after)
    return Done(name=course.name, version=version)


async def _identifier(transaction: Transaction, named: str) -> str:
    """The id of what a person named. Refusal NOT_FOUND, OCCURRENCE_REMOVED where retention has come past its instant."""
    try:
        return str((await find_occurrence(transaction, named))["id"])
    except Refusal:
        name = read_occurrence_name(named)
        if name is None or await store.removed(transaction, *name) is None:
            raise
        raise refuse(removed(occurrence_name(*name))) from None


async def _locked(transaction: Transaction, identifier: str) -> Row:
    row = await store.lock(transaction, identifier)
    if row is None:
        raise unknown_occurrence(identifier)
    return row


def _course(row: Row, records: RecordSet | None = None, deployment: str = "", tenant: str = "") -> Course:
    schedule = None if records is None else records.schedules.get(row["schedule"])
    off = None
    if row["disabled"]:
        off = Off(
            at=row["disabled_at"], until=row["disabled_until"], by=row["disabled_by"], reason=row["disabled_reason"]
        )
    return Course(
        name=occurrence_name(row["schedule"], row["scheduled_at"]),
        schedule=row["schedule"],
        state=OccurrenceState(row["state"]),
        cause=None if row["cause"] is None else DeadCause(row["cause"]),
        ended_at=row["ended_at"],
        version=row["version"],
        removed=row["removed"],
        discarded_at=row["discarded_at"],
        discarded_by=row["discarded_by_name"],
        runnable=schedule is not None and schedule.runs_in(tenant, deployment),
        moves_money=schedule is not None and schedule.moves_money,
        off=off,
    )


def _itself(records: RecordSet, schedule: str) -> bool:
    found = records.schedules.get(schedule)
    return found is not None and isinstance(found.selection, Itself)


async def _record(
    transaction: Transaction,
    action: str,
    order: Order,
    course: Course,
    after: Mapping[str, object],
    **more: object,
) -> None:
    """The row of the trail and the hint."""
    before = {
        "state": course.state.value,
        "cause": None if course.cause is None else course.cause.value,
        "ended_at": None if course.ended_at is None else course.ended_at.isoformat(),
        "version": course.version,
    }
    detail = {"occurrence": course.name, "schedule": course.schedule, "reason": order.reason, **more}
    if order.recovery is not None:
        detail["recovery"] = order.recovery
    entry = trail.NewEntry(
        person=order.person,
        action=action,
        subject=order.occurrence,
        outcome=CHANGED,
        detail={**detail, "before": before, "after": dict(after)},
        reference=order.reference or None,
    )
    await trail.add(transaction, entry)
    await hints.add_schedules(transaction, ((transaction.tenant or "", course.schedule),))
