"""Owns starting a manual schedule by hand, under its guard: permission, window and place (requirement
run-manual-jobs-under-their-guard). The window is in UTC and by the database's clock."""

from __future__ import annotations

from datetime import datetime, timedelta

from jobcontract.acts import RunOrder
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.occurrence_names import occurrence_name
from jobcontract.permissions import Permission
from jobcontract.states import OccurrenceState
from jobservice.rules.guards import decide_run
from jobservice.rules.replays import disabled
from jobservice.rules.rhythms import tzdata_version
from jobservice.rules.schedules import Schedule
from jobservice.store import hints
from jobservice.store import items as item_store
from jobservice.store import switches as store
from jobservice.store.database import Transaction
from jobservice.usecases import schedule_words as words
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record, safe_subject
from jobservice.usecases.held_still import refuse_held
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.occurrences import occurrence_changed
from jobservice.usecases.schedules import find_schedule
from jobservice.usecases.service import Service, refuse
from jobservice.usecases.switches import off_of

_TICK = timedelta(microseconds=1)
INSTANTS_TRIED = 20
"""Neighbouring instants that are tried where others start it in the same microsecond."""


async def run(service: Service, actor: Actor, identifier: str, order: RunOrder, once: Once) -> Answered:
    """Run a manual schedule now (201, `OccurrenceChanged`).

    Refusal PERMISSION_MISSING without schedule.run and without the permission of its guard, NOT_FOUND, SCHEDULE_UNFIT where
    it runs by itself, RUNS_ELSEWHERE, NEEDS_PLAN, SCHEDULE_DISABLED, WORK_STOPPED, GUARD_REFUSED.
    """

    async def work(transaction: Transaction) -> Answered:
        schedule = _found(service, actor, identifier)
        if schedule.guard is not None:
            actor.require(schedule.guard.permission)
        _refuse_unfit(schedule)
        now = await _allowed(transaction, schedule)
        at, occurrence = await _started(transaction, schedule, now)
        name = occurrence_name(schedule.id, at)
        detail = {
            "schedule": schedule.id,
            "occurrence": name,
            "reason": order.reason,
            "before": {},
            "after": {"id": occurrence, "state": OccurrenceState.SCHEDULED.value, "scheduled_at": at.isoformat()},
        }
        await record(transaction, actor, "run-schedule", schedule.id, detail)
        await hints.add_schedules(transaction, ((actor.tenant, schedule.id),))
        changed = await occurrence_changed(transaction, service, occurrence)
        return Answered(status=201, body=changed.model_dump(mode="json"))

    deed = Deed(action="run-schedule", subject=safe_subject(identifier), permission=Permission.SCHEDULE_RUN)
    return await act_once(service, actor, deed, once, work)


def _found(service: Service, actor: Actor, identifier: str) -> Schedule:
    """The schedule of that id for the tenant. Refusal NOT_FOUND, RUNS_ELSEWHERE naming where it runs."""
    known = service.records.schedules.get(identifier)
    for_tenant = known is not None and (known.tenants is None or actor.tenant in known.tenants)
    if known is None or not for_tenant or known.runs_where is None or service.deployment in known.runs_where:
        return find_schedule(service, actor, identifier)
    raise Refusal(
        ErrorCode.RUNS_ELSEWHERE,
        f"{identifier} runs in {', '.join(sorted(known.runs_where))}, and this is {service.deployment}.",
        deployments=sorted(known.runs_where),
    )


def _refuse_unfit(schedule: Schedule) -> None:
    """Refusal SCHEDULE_UNFIT, NEEDS_PLAN."""
    if schedule.rhythm is not None:
        raise Refusal(
            ErrorCode.SCHEDULE_UNFIT,
            f"{schedule.id} runs by itself: only a manual schedule is started by hand. Replay an occurrence of it instead.",
        )
    if schedule.moves_money:
        raise Refusal(
            ErrorCode.NEEDS_PLAN, f"{schedule.id} moves money: it is never started by hand. Confirm a plan instead."
        )


async def _allowed(transaction: Transaction, schedule: Schedule) -> datetime:
    """The database's clock. Refusal SCHEDULE_DISABLED, WORK_STOPPED, GUARD_REFUSED."""
    row = await store.read(transaction, schedule.id)
    off = None if row is None else off_of(row)
    if off is not None:
        raise Refusal(ErrorCode.SCHEDULE_DISABLED, disabled(schedule.id, off))
    await refuse_held(transaction)
    now = await item_store.now(transaction)
    guard = words.guard(schedule)
    denied = decide_run(schedule.id, schedule.guard, "at any time" if guard is None else guard.windows, now)
    if denied is not None:
        raise refuse(denied)
    return now


async def _started(transaction: Transaction, schedule: Schedule, now: datetime) -> tuple[datetime, str]:
    """Its instant and its id: now, or the first instant after it at which nobody else starts it."""
    for tick in range(INSTANTS_TRIED):
        at = now + tick * _TICK
        occurrence = await store.start(transaction, schedule.id, at=at, lock=schedule.lock, tzdata=tzdata_version())
        if occurrence is not None:
            return at, occurrence
        await _allowed(transaction, schedule)  # it was switched off, or all work stopped, in this very moment
    raise RuntimeError("every instant of this moment is taken")
