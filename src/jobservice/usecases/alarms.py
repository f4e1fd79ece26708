"""Owns what a person reads of alarms, and the one act on them: saying that somebody looks after one. Looking is not
audited. Workers open and clear them; that no Worker lives, nobody could write: it is found when alarms are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from jobcontract.alarms import AcknowledgeOrder, Alarm, AlarmChanged
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import AlarmKind, AlarmTold
from jobcontract.permissions import Permission
from jobcontract.session import Person
from jobservice.rules.alarms import NO_WORKER, no_worker
from jobservice.rules.standing import BEAT, BEATS_MISSED
from jobservice.store import alarms as store
from jobservice.store import hints
from jobservice.store import items as item_store
from jobservice.store.alarms import Counts, OpenPlace
from jobservice.store.database import Row, Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record, safe_subject
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.service import Service

_NIL = "00000000-0000-0000-0000-000000000000"
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)
_LOOKED_AT = 100
"""Open alarms that are looked through for those that nobody looks after."""
_FIRST = OpenPlace(urgency=0, at=datetime(1970, 1, 1, tzinfo=UTC), id=_NIL)
OpenMark = tuple[int, datetime, str]
"""Behind which open alarm a page begins: urgency, opened at, id."""
ClearedMark = tuple[datetime, str]
"""Behind which alarm that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAlarms:
    """A page: open ones first; `last` is where the next begins, None where there is none."""

    alarms: tuple[Alarm, ...]
    open: int
    unacknowledged: int
    last: OpenMark | ClearedMark | None
    now: datetime


async def list_alarms(
    service: Service, actor: Actor, behind: OpenMark | ClearedMark | None, limit: int
) -> ListedAlarms:
    """One page of the tenant's alarms: open ones, the most urgent first; then those that are over, the latest first.

    Refusal PERMISSION_MISSING without schedule.read.
    """
    actor.require(Permission.SCHEDULE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        counted = await store.counts(transaction)
        derived = _no_worker(counted)
        first = [derived] if derived is not None and behind is None else []
        alarms, last = await _page(transaction, behind, limit - len(first))
    extra = int(derived is not None)
    return ListedAlarms(
        alarms=(*first, *alarms),
        open=counted.open + extra,
        unacknowledged=counted.unacknowledged + extra,
        last=last,
        now=counted.now,
    )


async def urgent(transaction: Transaction, *, most: int) -> tuple[int, tuple[Alarm, ...]]:
    """How many alarms are open, and the most urgent of those that nobody looks after, for the overview."""
    counted = await store.counts(transaction)
    derived = _no_worker(counted)
    rows = await store.listed_open(transaction, _FIRST, most=_LOOKED_AT)
    waiting = [_alarm(row) for row in rows if row["acknowledged_at"] is None]
    first = [] if derived is None else [derived]
    return counted.open + len(first), (*first, *waiting)[:most]


async def _page(
    transaction: Transaction, behind: OpenMark | ClearedMark | None, limit: int
) -> tuple[list[Alarm], OpenMark | ClearedMark | None]:
    """Rows behind a mark, and the next mark."""
    if limit == 0:
        return [], (_FIRST.urgency, _FIRST.at, _FIRST.id)
    rows: list[Row] = []
    cleared_behind: ClearedMark = (_LATEST, _LAST_ID)
    if behind is None or len(behind) == 3:
        place = _FIRST if behind is None else OpenPlace(urgency=behind[0], at=behind[1], id=behind[2])
        rows = await store.listed_open(transaction, place, most=limit)
        if len(rows) > limit:
            last = rows[limit - 1]
            return [_alarm(row) for row in rows[:limit]], (last["urgency"], last["opened_at"], last["id"])
    else:
        cleared_behind = behind
    over = await store.listed_cleared(transaction, cleared_behind, most=limit - len(rows))
    room = limit - len(rows)
    page = [_alarm(row) for row in (*rows, *over[:room])]
    if len(over) <= room:
        return page, None
    return page, (over[room - 1]["cleared_at"], over[room - 1]["id"]) if room else cleared_behind


async def acknowledge(service: Service, actor: Actor, identifier: str, order: AcknowledgeOrder, once: Once) -> Answered:
    """Say that somebody looks after an alarm, and what they do (`AlarmChanged`); said again, note and person are the new
    ones, and `again` says so.

    Refusal PERMISSION_MISSING without alarm.acknowledge, NOT_FOUND, ALARM_CLEARED.
    """

    async def work(transaction: Transaction) -> Answered:
        found = await store.one(transaction, identifier) if await store.lock(transaction, identifier) else None
        if found is None:
            raise _unknown(identifier)
        if found["cleared_at"] is not None:
            raise Refusal(
                ErrorCode.ALARM_CLEARED,
                f"That alarm is over since {found['cleared_at']:%Y-%m-%d %H:%M:%S} UTC: there is nothing left to look "
                "after.",
                cleared_at=found["cleared_at"].isoformat(),
            )
        again = found["acknowledged_at"] is not None
        if not await store.acknowledge(
            transaction, identifier, by=actor.person, note=order.note, version=found["version"]
        ):
            raise RuntimeError(f"alarm {identifier} is no longer as it was locked")
        detail = {"kind": found["kind"], "about": found["subject"], "note": order.note}
        if again:
            detail |= {"note_before": found["note"], "acknowledged_by_before": found["acknowledged_by"]}
        await record(transaction, actor, "acknowledge-alarm", identifier, detail)
        await hints.add_alarms(transaction, [actor.tenant])
        shown = await store.one(transaction, identifier)
        if shown is None:
            raise RuntimeError(f"alarm {identifier} is gone while it was locked")
        changed = AlarmChanged(alarm=_alarm(shown), again=again, now=await item_store.now(transaction))
        return Answered(status=200, body=changed.model_dump(mode="json"))

    deed = Deed(action="acknowledge-alarm", subject=safe_subject(identifier), permission=Permission.ALARM_ACKNOWLEDGE)
    return await act_once(service, actor, deed, once, work)


def _unknown(identifier: str) -> Refusal:
    if identifier == NO_WORKER:
        return Refusal(
            ErrorCode.NOT_FOUND,
            "That no Worker lives is found when alarms are read, and kept nowhere: it is over as soon as one is started.",
        )
    return Refusal(ErrorCode.NOT_FOUND, f"There is no alarm {identifier[:80]!r}. Load the alarms again.")


def _no_worker(counted: Counts) -> Alarm | None:
    """The alarm that no Worker could write; None while one is heard of."""
    silent = BEAT * BEATS_MISSED
    if counted.beat_at is not None and counted.now - counted.beat_at <= silent:
        return None
    since = counted.now if counted.last_at is None else counted.last_at
    return Alarm(
        id=NO_WORKER,
        kind=AlarmKind.WORKER_MISSING,
        subject="workers",
        schedule=None,
        sentence=no_worker(counted.last_at),
        count=1,
        opened_at=since,
        seen_at=counted.now,
        cleared_at=None,
        acknowledged_at=None,
        acknowledged_by=None,
        note=None,
        told=AlarmTold.NOBODY,
        told_at=None,
        told_words=None,
        version=1,
    )


def _alarm(row: Row) -> Alarm:
    by = row["acknowledged_by"]
    return Alarm(
        id=row["id"],
        kind=AlarmKind(row["kind"]),
        subject=row["subject"],
        schedule=row["schedule"],
        sentence=row["sentence"],
        count=row["count"],
        opened_at=row["opened_at"],
        seen_at=row["seen_at"],
        cleared_at=row["cleared_at"],
        acknowledged_at=row["acknowledged_at"],
        acknowledged_by=None if by is None else Person(id=by, name=row["acknowledged_by_name"] or by),
        note=row["note"],
        told=AlarmTold(row["told"]),
        told_at=row["told_at"],
        told_words=row["told_words"],
        version=row["version"],
    )
