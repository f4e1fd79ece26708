"""Owns switching a schedule off and on, and saying before it is switched on what that makes up for.

What was claimed goes on to its end; nothing else of a schedule that is off is planned or claimed. The time it is off
counts as downtime: its misfire policy decides, by the planner's own rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

from jobcontract.acts import DisableOrder, EnableOrder, Enabling, MadeUp, ScheduleChanged
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobservice.rules import enabling as rules
from jobservice.rules import planned as ahead
from jobservice.rules import schedules as schedule_rules
from jobservice.rules.planning import Standing
from jobservice.rules.replays import disabled
from jobservice.rules.rhythms import tzdata_version
from jobservice.rules.standing import Off
from jobservice.store import hints
from jobservice.store import items as item_store
from jobservice.store import switches as store
from jobservice.store.database import Row, Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record, safe_subject
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.schedules import find_schedule, planned, shown
from jobservice.usecases.service import Service

UNTIL_MOST = timedelta(days=366)
"""How far ahead a schedule may be switched off and on again by itself."""


async def disable(service: Service, actor: Actor, identifier: str, order: DisableOrder, once: Once) -> Answered:
    """Switch a schedule off (`ScheduleChanged`). One that is off is kept off longer, with the new reason; never shorter.

    Refusal PERMISSION_MISSING without schedule.disable, NOT_FOUND, INVALID_REQUEST (`until`), SCHEDULE_DISABLED where it is
    off for as long already, SCHEDULE_UNFIT where no Worker has read its record yet.
    """

    async def work(transaction: Transaction) -> Answered:
        schedule = find_schedule(service, actor, identifier)
        row = await _locked(transaction, schedule)
        off = off_of(row)
        _refuse_until(order.until, row["now"])
        if off is not None and not _longer(order.until, off.until):
            raise Refusal(ErrorCode.SCHEDULE_DISABLED, disabled(schedule.id, off), until=_text(off.until))
        written = await store.disable(
            transaction,
            schedule.id,
            version=row["version"],
            person=actor.person,
            reason=order.reason,
            until=order.until,
            off=off is not None,
        )
        return await _switched(transaction, service, actor, schedule, row, "disable-schedule", order.reason, written)

    deed = Deed(action="disable-schedule", subject=safe_subject(identifier), permission=Permission.SCHEDULE_DISABLE)
    return await act_once(service, actor, deed, once, work)


async def enable(service: Service, actor: Actor, identifier: str, order: EnableOrder, once: Once) -> Answered:
    """Switch a schedule on (`ScheduleChanged`); the planner looks at it at once.

    Refusal PERMISSION_MISSING without schedule.disable, NOT_FOUND, SCHEDULE_NOT_DISABLED, SCHEDULE_UNFIT.
    """

    async def work(transaction: Transaction) -> Answered:
        schedule = find_schedule(service, actor, identifier)
        row = await _locked(transaction, schedule)
        if off_of(row) is None:
            raise Refusal(
                ErrorCode.SCHEDULE_NOT_DISABLED, f"{schedule.id} is not disabled: there is nothing to enable."
            )
        written = await store.enable(transaction, schedule.id, version=row["version"])
        return await _switched(transaction, service, actor, schedule, row, "enable-schedule", order.reason, written)

    deed = Deed(action="enable-schedule", subject=safe_subject(identifier), permission=Permission.SCHEDULE_DISABLE)
    return await act_once(service, actor, deed, once, work)


async def enabling(service: Service, actor: Actor, identifier: str) -> Enabling:
    """What enabling a schedule now would make up for and skip. Refusal PERMISSION_MISSING without schedule.read, NOT_FOUND."""
    actor.require(Permission.SCHEDULE_READ)
    schedule = find_schedule(service, actor, identifier)
    async with service.database.transaction(actor.tenant) as transaction:
        now = await item_store.now(transaction)
        row = await store.read(transaction, schedule.id)
        waiting = await store.waiting(transaction, schedule.id, now=now)
    off = None if row is None else off_of(row)
    if row is None:
        found = rules.Preview(words="No Worker has read its record yet: nothing was missed.")
    else:
        standing = Standing(definition=row["definition"], planned_until=row["planned_until"], floor_at=row["floor_at"])
        # A rhythm of seconds with a long patience has many thousands of instants: not in the loop that answers all others.
        found = await asyncio.to_thread(rules.preview, schedule, standing, waiting, now, tzdata_version())
    coming = ahead.look_ahead(schedule.rhythm, now, count=1).instants
    return Enabling(
        schedule=schedule.id,
        disabled=off is not None,
        since=None if off is None else off.at,
        words=found.words,
        runs=tuple(map(_made_up, found.runs)),
        skips=tuple(map(_made_up, found.skips)),
        next=next((planned(each) for each in coming if each.runs), None),
        now=now,
    )


def off_of(row: Row) -> Off | None:
    """Who switched a schedule off, as its row says; None where it is on at the row's `now`."""
    if row["disabled_at"] is None:
        return None
    off = Off(
        at=row["disabled_at"],
        until=row["disabled_until"],
        by=row["disabled_by_name"],
        reason=row["disabled_reason"],
    )
    return off if off.holds(row["now"]) else None


async def _locked(transaction: Transaction, schedule: schedule_rules.Schedule) -> Row:
    row = await store.lock(transaction, schedule.id)
    if row is None:
        raise Refusal(
            ErrorCode.SCHEDULE_UNFIT,
            f"No Worker has read the record of {schedule.id} yet, so nothing of it runs. Try again once one has.",
        )
    return row


def _refuse_until(until: datetime | None, now: datetime) -> None:
    if until is None:
        return
    if until <= now:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"until, {until.isoformat()}, is not later than now, {now:%Y-%m-%d %H:%M:%S} UTC: nothing would be disabled.",
        )
    if until > now + UNTIL_MOST:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"until, {until.isoformat()}, is more than a year away. Leave it out to disable until somebody enables.",
        )


def _longer(until: datetime | None, than: datetime | None) -> bool:
    """Whether a schedule that is off until `than` would be off for longer."""
    return than is not None and (until is None or until > than)


async def _switched(
    transaction: Transaction,
    service: Service,
    actor: Actor,
    schedule: schedule_rules.Schedule,
    before: Row,
    action: str,
    reason: str,
    written: bool,
) -> Answered:
    """The row of the trail, the hint and the answer."""
    after = await store.read(transaction, schedule.id)
    if not written or after is None:
        raise RuntimeError("a locked schedule is as it was read")
    detail = {"schedule": schedule.id, "reason": reason, "before": _standing(before), "after": _standing(after)}
    await record(transaction, actor, action, schedule.id, detail)
    await hints.add_schedules(transaction, ((actor.tenant, schedule.id),))
    changed = ScheduleChanged(schedule=(await shown(transaction, service, actor, [schedule]))[0], now=after["now"])
    return Answered(status=200, body=changed.model_dump(mode="json"))


def _standing(row: Row) -> Mapping[str, str | bool | None]:
    off = off_of(row)
    if off is None:
        return {"disabled": False}
    return {
        "disabled": True,
        "at": _text(off.at),
        "until": _text(off.until),
        "by": row["disabled_by"],
        "reason": off.reason,
    }


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _made_up(stretch: rules.Stretch) -> MadeUp:
    return MadeUp(
        first_at=stretch.first_at,
        last_at=stretch.last_at,
        count=stretch.count,
        policy=stretch.policy,
        words=stretch.words,
    )
