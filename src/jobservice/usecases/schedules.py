"""Owns what a person reads of schedules: which there are in their tenant, how each is doing, when it runs next. Looking
is not audited. Planning is the Worker's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobcontract.schedules import (
    NEXT_MOST,
    RECENT,
    Disabled,
    NextInstants,
    Planned,
    Recent,
    Schedule,
    ScheduleDetail,
    SkippedInstants,
)
from jobcontract.session import Person
from jobservice.rules import planned as ahead
from jobservice.rules import schedules as rules
from jobservice.rules import standing as standings
from jobservice.rules.rhythms import CannotCompute, next_instant, tzdata_version
from jobservice.rules.standing import Off, Progress, Retrying, Running
from jobservice.store import schedules as store
from jobservice.store.database import Row, Transaction
from jobservice.usecases import schedule_words as words
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service

NEXT = 5
"""Instants of a look ahead that a schedule shows."""
SKIPPED = 20
"""Runs of skipped instants that a schedule shows."""
_RECENT = TypeAdapter(tuple[Recent, ...])
"""Read from the text that the database made."""
_SCHEDULES = TypeAdapter(tuple[Schedule, ...])
_WITHOUT_RECENT = {"recent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSchedules:
    """A page of schedules by id; `last` is where the next begins, None where there is none. Counts are over all pages.

    `json` is the array of them as it goes over the wire: the last occurrences of each come as text from the database, for a
    page has thousands.
    """

    json: bytes
    last: str | None
    total: int
    late: int
    parked: int
    disabled: int
    now: datetime

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """The same as values, for whoever looks at them here."""
        return _SCHEDULES.validate_json(self.json)


async def list_schedules(service: Service, actor: Actor, after: str | None, limit: int) -> ListedSchedules:
    """The schedules of the tenant behind that id. Refusal PERMISSION_MISSING without schedule.read."""
    actor.require(Permission.SCHEDULE_READ)
    known = known_schedules(service, actor)
    behind = [each for each in known if after is None or each.id > after]
    page = behind[:limit]
    async with service.database.transaction(actor.tenant, by_index=True) as transaction:
        now = transaction.began_at
        late = standings.late_since(now)
        counted = await store.counts(transaction, [each.id for each in known], now=now, late=late)
        rows = await _rows(transaction, page)
        listed = [_text(_schedule(service, actor, each, rows[each.id], now, ()), rows[each.id]) for each in page]
    return ListedSchedules(
        json=f"[{','.join(listed)}]".encode(),
        last=page[-1].id if len(behind) > len(page) else None,
        total=len(known),
        late=counted["late"],
        parked=counted["parked"],
        disabled=counted["disabled"],
        now=now,
    )


async def read_schedule(service: Service, actor: Actor, identifier: str) -> ScheduleDetail:
    """One schedule with its next instants and what was skipped. Refusal PERMISSION_MISSING, NOT_FOUND."""
    actor.require(Permission.SCHEDULE_READ)
    schedule = find_schedule(service, actor, identifier)
    async with service.database.transaction(actor.tenant, by_index=True) as transaction:
        now = transaction.began_at
        row = (await _rows(transaction, [schedule]))[schedule.id]
        skipped = await store.skipped(transaction, schedule.id, most=SKIPPED)
    coming = ahead.look_ahead(schedule.rhythm, now, count=NEXT)
    called_off = frozenset(row["called_off"] or ())
    return ScheduleDetail(
        schedule=_whole(service, actor, schedule, row, now),
        next=tuple(_called_off(each) if each.at in called_off else each for each in map(planned, coming.instants)),
        next_words=coming.words,
        tzdata=tzdata_version(),
        skipped=tuple(SkippedInstants.model_validate(row) for row in skipped),
        now=now,
    )


async def next_instants(
    service: Service, actor: Actor, identifier: str, after: datetime | None, count: int
) -> NextInstants:
    """What the rhythm of a schedule does after an instant (None: now), whether planned already or not.

    Refusal PERMISSION_MISSING, NOT_FOUND, INVALID_REQUEST for an instant too far away to look ahead from.
    """
    actor.require(Permission.SCHEDULE_READ)
    schedule = find_schedule(service, actor, identifier)
    async with service.database.transaction(actor.tenant) as transaction:
        now = transaction.began_at
    start = after or now
    if not ahead.EARLIEST <= start <= ahead.LATEST:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"`after` is {start:%Y-%m-%d}: a look ahead begins from {ahead.EARLIEST:%Y} to {ahead.LATEST:%Y}.",
        )
    coming = ahead.look_ahead(schedule.rhythm, start, count=max(1, min(count, NEXT_MOST)))
    return NextInstants(
        schedule=schedule.id,
        rhythm=words.rhythm(schedule),
        zone=words.zone_of(schedule),
        tzdata=tzdata_version(),
        after=start,
        instants=tuple(map(planned, coming.instants)),
        words=coming.words,
        now=now,
    )


def find_schedule(service: Service, actor: Actor, identifier: str) -> rules.Schedule:
    """The schedule of that id that runs here for the actor's tenant; Refusal NOT_FOUND, naming those there are."""
    known = known_schedules(service, actor)
    found = next((each for each in known if each.id == identifier), None)
    if found is None:
        names = ", ".join(each.id for each in known[:10]) or "none"
        more = f" and {len(known) - 10:,} more" if len(known) > 10 else ""
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no schedule {identifier[:80]!r}. Schedules: {names}{more}.")
    return found


def known_schedules(service: Service, actor: Actor) -> list[rules.Schedule]:
    """The schedules that this deployment runs for the actor's tenant, by id."""
    here = (each for each in service.records.schedules.values() if each.runs_in(actor.tenant, service.deployment))
    return sorted(here, key=lambda each: each.id)


async def shown(
    transaction: Transaction, service: Service, actor: Actor, schedules: Sequence[rules.Schedule]
) -> tuple[Schedule, ...]:
    """How these schedules stand in the transaction of the actor's tenant."""
    rows = await _rows(transaction, schedules)
    return tuple(_whole(service, actor, each, rows[each.id], transaction.began_at) for each in schedules)


def _whole(service: Service, actor: Actor, schedule: rules.Schedule, row: Row, now: datetime) -> Schedule:
    """A schedule with its last occurrences."""
    return _schedule(service, actor, schedule, row, now, _RECENT.validate_json(row["recent"]))


def _text(schedule: Schedule, row: Row) -> str:
    """A schedule as it goes over the wire, its last occurrences as the database wrote them."""
    return f'{schedule.model_dump_json(exclude=_WITHOUT_RECENT)[:-1]},"recent":{row["recent"]}}}'


async def _rows(transaction: Transaction, schedules: Sequence[rules.Schedule]) -> dict[str, Row]:
    ids, cursors = [each.id for each in schedules], [each.cursor for each in schedules]
    rows = await store.page(transaction, ids, cursors, now=transaction.began_at, recent=RECENT)
    return {row["schedule"]: row for row in rows}


def _schedule(
    service: Service, actor: Actor, schedule: rules.Schedule, row: Row, now: datetime, recent: Sequence[Recent]
) -> Schedule:
    coming = _next(schedule, row, now)
    standing = standings.schedule_standing(_progress(schedule, row, coming), now)
    return Schedule(
        id=schedule.id,
        title=schedule.title,
        tenant=actor.tenant,
        type=schedule.type,
        rhythm=words.rhythm(schedule),
        misfire=words.misfire(schedule),
        guard=words.guard(schedule),
        runs=schedule.runs,
        runs_title=words.runs_title(service.records, schedule),
        moves=schedule.moves,
        selection=words.selection(service.records, schedule),
        batch_size=schedule.batch_size,
        batch_path=schedule.batch_path,
        lock=schedule.lock,
        bound=schedule.bound_seconds,
        attempts=schedule.attempts,
        backoff_first=schedule.backoff.first_seconds,
        backoff_most=schedule.backoff.most_seconds,
        cursor=schedule.cursor,
        position=row["position"],
        retention=schedule.retention_seconds,
        standing=standing.standing,
        standing_words=standing.words,
        next_at=coming,
        disabled=_disabled(row, now),
        waiting=row["waiting"],
        dead=row["dead"],
        last_scheduled_at=_last_scheduled(row),
        last_started_at=row["last_started_at"],
        last_completed_at=row["last_completed_at"],
        recent=tuple(recent),
        version=row["version"],
    )


def _last_scheduled(row: Row) -> datetime | None:
    """The planner writes it when it looks, which may be later than the occurrence itself began."""
    known = [row["last_scheduled_at"], row["recent_at"]]
    return max((each for each in known if each is not None), default=None)


def _next(schedule: rules.Schedule, row: Row, now: datetime) -> datetime | None:
    """The next instant of the rhythm that nobody called off; of a disabled schedule, the next one after it is switched on
    again."""
    if schedule.rhythm is None or row["parked_at"] is not None:
        return None
    start = now
    off = _off(row)
    if off is not None and off.holds(now):
        if off.until is None:
            return None
        start = off.until
    called_off = frozenset(row["called_off"] or ())
    try:
        while (found := next_instant(schedule.rhythm, start)) is not None and found.at in called_off:
            start = found.at
    except CannotCompute:
        return None
    return None if found is None else found.at


def _progress(schedule: rules.Schedule, row: Row, coming: datetime | None) -> Progress:
    running = row["running_at"] is not None
    retrying = row["retry_at"] is not None
    return Progress(
        planned=row["planned"],
        manual=schedule.rhythm is None,
        parked=row["parked_reason"],
        off=_off(row),
        waiting_since=row["waiting_since"],
        waiting=row["waiting"],
        running=Running(scheduled_at=row["running_at"], since=row["running_since"], attempt=row["running_attempt"])
        if running
        else None,
        retrying=Retrying(scheduled_at=row["retry_of"], due_at=row["retry_at"], attempts=row["retry_attempts"])
        if retrying
        else None,
        attempts=schedule.attempts,
        next_at=coming,
        last_completed_at=row["last_completed_at"],
    )


def _off(row: Row) -> Off | None:
    if row["disabled_at"] is None:
        return None
    return Off(
        at=row["disabled_at"],
        until=row["disabled_until"],
        by=row["disabled_by_name"] or row["disabled_by"],
        reason=row["disabled_reason"],
    )


def _disabled(row: Row, now: datetime) -> Disabled | None:
    off = _off(row)
    if off is None or not off.holds(now):
        return None
    return Disabled(at=off.at, until=off.until, by=Person(id=row["disabled_by"], name=off.by), reason=off.reason)


def _called_off(planned: Planned) -> Planned:
    return planned.model_copy(update={"runs": False, "words": "A person cancelled it: it does not run."})


def planned(instant: ahead.PlannedInstant) -> Planned:
    """An instant of a look ahead as people see it."""
    return Planned(
        at=instant.at,
        local=instant.local,
        offset=instant.offset,
        abbreviation=instant.abbreviation,
        clock=instant.clock,
        runs=instant.runs,
        words=instant.words,
    )
