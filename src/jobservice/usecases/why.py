"""Owns answering why a schedule or an occurrence does not run now. Looking is not audited; the rules judge (`rules/why.py`).

An instant that has no occurrence is answered for, too: skipped, merged, gone by retention, not planned, or none of its rhythm.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobcontract import why as wire
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.occurrence_names import occurrence_name, read_occurrence_name
from jobcontract.permissions import Permission
from jobcontract.states import DeadCause, OccurrenceState, SkipPolicy
from jobservice.rules.misfires import TICK
from jobservice.rules.rhythms import CannotCompute, Rhythm, next_instant, previous_instant
from jobservice.rules.schedules import Schedule
from jobservice.rules.standing import BEAT, BEATS_MISSED, Off
from jobservice.rules.why import why
from jobservice.rules.why_facts import Asked, Facts, Holder, One, Processes, Skipped
from jobservice.store import why as store
from jobservice.store.database import Row
from jobservice.store.why import About
from jobservice.usecases.actor import Actor
from jobservice.usecases.schedules import find_schedule
from jobservice.usecases.service import Service

_SILENT = (BEATS_MISSED * BEAT).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the statements gave, and the record where there is one."""

    schedule: str
    record: Schedule | None
    one: Row | None
    at: datetime | None
    around: Row
    now: datetime


async def schedule_why(service: Service, actor: Actor, identifier: str) -> wire.Why:
    """Why a schedule does not run: of the oldest occurrence that waits, else of what runs, else of the next.

    Refusal PERMISSION_MISSING, NOT_FOUND.
    """
    actor.require(Permission.SCHEDULE_READ)
    return await _answer(service, actor, About(schedule=identifier), identifier)


async def occurrence_why(service: Service, actor: Actor, named: str) -> wire.Why:
    """Why an occurrence does not run, by its id or its name; of a name also where no occurrence is there.

    Refusal PERMISSION_MISSING, NOT_FOUND.
    """
    actor.require(Permission.SCHEDULE_READ)
    name = read_occurrence_name(named)
    about = About(occurrence=named) if name is None else About(schedule=name[0], at=name[1])
    return await _answer(service, actor, about, named)


async def _answer(service: Service, actor: Actor, about: About, subject: str) -> wire.Why:
    async with service.database.transaction(actor.tenant, by_index=True) as transaction:
        now = transaction.began_at
        one = await store.meant(transaction, about, now=now)
        schedule = about.schedule if one is None else str(one["schedule"])
        if schedule is None:
            like = "statements.nightly@2026-10-26T01:30:00Z"
            raise Refusal(
                ErrorCode.NOT_FOUND,
                f"There is no occurrence {subject[:120]!r}. Name it by its id, or by schedule and instant, like {like}.",
            )
        record = service.records.schedules.get(schedule)
        lock = str(one["lock"]) if one is not None else schedule if record is None else record.lock
        sharing = {each.id for each in service.records.schedules.values() if each.lock == lock} | {schedule}
        around = await store.around(
            transaction,
            schedule=schedule,
            sharing=sorted(sharing),
            lock=lock,
            occurrence=None if one is None else one["id"],
            at=about.at if one is None else one["scheduled_at"],
            due=None if one is None else one["due_at"],
            now=now,
            silent_seconds=_SILENT,
        )
    if one is None and not around["planned"] and (record is None or not _for(record, actor.tenant)):
        find_schedule(service, actor, schedule)  # refuses, naming those there are
    found = _Found(schedule=schedule, record=record, one=one, at=about.at, around=around, now=now)
    facts = _facts(service, actor, found)
    answer = why(facts)
    return wire.Why(
        subject=subject,
        schedule=schedule,
        occurrence=_name(found),
        sentence=answer.sentence,
        causes=tuple(
            wire.Cause(
                kind=cause.kind,
                applies=cause.applies,
                sentence=cause.sentence,
                evidence=tuple(
                    wire.Evidence(label=each.label, value=each.value, at=each.at) for each in cause.evidence
                ),
                remedy=cause.remedy,
            )
            for cause in answer.causes
        ),
        now=now,
    )


def _name(found: _Found) -> str | None:
    if found.one is not None:
        return occurrence_name(found.schedule, found.one["scheduled_at"])
    return None if found.at is None else occurrence_name(found.schedule, found.at)


def _for(record: Schedule, tenant: str) -> bool:
    return record.tenants is None or tenant in record.tenants


def _facts(service: Service, actor: Actor, found: _Found) -> Facts:
    row, record = found.around, found.record
    lease = service.records.settings.occurrence_lease
    rhythm = None if record is None else record.rhythm
    of_rhythm, neighbours = _near(rhythm, found.at) if found.one is None else (True, (None, None))
    parked = None if row["parked_at"] is None else Asked(at=row["parked_at"], by="", reason=row["parked_reason"])
    stop = None
    if row["stop_at"] is not None:
        stop = Asked(at=row["stop_at"], by=row["stop_by"], reason=row["stop_reason"])
    return Facts(
        now=found.now,
        schedule=found.schedule,
        lock=str(found.one["lock"]) if found.one is not None else "" if record is None else record.lock,
        one=None if found.one is None else _one(found.one, lease),
        instant=found.at,
        known=record is not None,
        manual=record is not None and rhythm is None,
        elsewhere=_elsewhere(record, actor, service.deployment),
        attempts=None if record is None else record.attempts,
        planned=row["planned"],
        planned_until=row["planned_until"],
        floor_at=row["floor_at"],
        retired_at=row["retired_at"],
        parked=parked,
        off=_off(row),
        stop=stop,
        holder=_holder(row, lease),
        before=row["before"],
        before_name="" if row["before_at"] is None else occurrence_name(row["before_schedule"], row["before_at"]),
        skipped=_skipped(row),
        processes=Processes(
            live=row["live"],
            draining=row["draining"],
            silent=row["silent"],
            slots=row["slots"],
            taken=row["taken"],
            beat_at=row["beat_at"],
        ),
        of_rhythm=of_rhythm,
        neighbours=neighbours,
        next_at=_next(rhythm, found.now),
        recovery=row["recovery"] or "",
    )


def _one(row: Row, lease: float) -> One:
    cancel = None
    if row["cancel_asked_at"] is not None:
        cancel = Asked(at=row["cancel_asked_at"], by=row["cancelled_by_name"], reason=row["cancel_reason"])
    held = None
    if row["holder"] is not None:
        held = Holder(
            schedule=row["schedule"],
            scheduled_at=row["scheduled_at"],
            worker=row["holder"],
            host=row["host"],
            taken_at=row["taken_at"],
            expires_at=row["expires_at"],
            renewed_at=_renewed(row["taken_at"], row["expires_at"], lease),
        )
    return One(
        scheduled_at=row["scheduled_at"],
        state=OccurrenceState(row["state"]),
        due_at=row["due_at"],
        miss_at=row["miss_at"],
        attempts=row["attempts"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        cause=None if row["cause"] is None else DeadCause(row["cause"]),
        error=row["error"],
        lease=held,
        cancel=cancel,
        put_away=row["discarded_at"] is not None,
    )


def _renewed(taken_at: datetime, expires_at: datetime, lease: float) -> datetime:
    """A renewal lets a lease end its whole length later."""
    return max(taken_at, expires_at - timedelta(seconds=lease))


def _holder(row: Row, lease: float) -> Holder | None:
    if row["holder"] is None:
        return None
    return Holder(
        schedule=row["holder_schedule"],
        scheduled_at=row["holder_at"],
        worker=row["holder"],
        host=row["holder_host"],
        taken_at=row["holder_since"],
        expires_at=row["holder_until"],
        renewed_at=_renewed(row["holder_since"], row["holder_until"], lease),
    )


def _off(row: Row) -> Off | None:
    if row["disabled_at"] is None:
        return None
    return Off(
        at=row["disabled_at"], until=row["disabled_until"], by=row["disabled_by_name"], reason=row["disabled_reason"]
    )


def _skipped(row: Row) -> Skipped | None:
    if row["skip_policy"] is None:
        return None
    return Skipped(
        policy=SkipPolicy(row["skip_policy"]),
        cause=row["skip_cause"],
        first_at=row["skip_first"],
        last_at=row["skip_last"],
        count=row["skip_count"],
        merged_into=row["skip_merged"],
        decided_at=row["skip_decided"],
    )


def _elsewhere(record: Schedule | None, actor: Actor, deployment: str) -> str:
    """Where a schedule runs that does not run here for the actor's tenant, in words; other tenants are not named."""
    if record is None or record.runs_in(actor.tenant, deployment):
        return ""
    if not _for(record, actor.tenant):
        return "for other tenants"
    return f"in {', '.join(sorted(record.runs_where or ()))}"


def _near(rhythm: Rhythm | None, at: datetime | None) -> tuple[bool, tuple[datetime | None, datetime | None]]:
    """Whether a rhythm has an instant, and its neighbours; what cannot be computed has every one."""
    if rhythm is None or at is None:
        return True, (None, None)
    try:
        found = next_instant(rhythm, at - TICK)
        before, after = previous_instant(rhythm, at), next_instant(rhythm, at)
    except (CannotCompute, OverflowError):
        return True, (None, None)
    of_rhythm = found is not None and found.at == at
    return of_rhythm, (None if before is None else before.at, None if after is None else after.at)


def _next(rhythm: Rhythm | None, now: datetime) -> datetime | None:
    if rhythm is None:
        return None
    try:
        found = next_instant(rhythm, now)
    except CannotCompute:
        return None
    return None if found is None else found.at
