"""Owns the overview: what needs somebody now, over all nouns, in one answer and one transaction. Looking is not audited.

Each part takes the permission of its place; a person without it gets None there, and never a count.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from jobcontract.items import Amount
from jobcontract.job_states import JobStatus
from jobcontract.money import EXPONENTS
from jobcontract.overview import HOURS, JobFigures, Overview, QueueLine, Trend, UrgentSchedule
from jobcontract.permissions import GRANTS, Permission
from jobservice.rules import standing as standings
from jobservice.rules.queues import Queue
from jobservice.rules.standing import BEAT, BEATS_MISSED
from jobservice.store import job_listing as jobs_store
from jobservice.store import money as money_store
from jobservice.store import overview as store
from jobservice.store import tallies
from jobservice.store.database import Row, Transaction
from jobservice.store.job_listing import Wanted
from jobservice.store.overview import QueueFigures
from jobservice.usecases import job_counting
from jobservice.usecases.actor import Actor
from jobservice.usecases.alarms import urgent as urgent_alarms
from jobservice.usecases.items import reach
from jobservice.usecases.schedules import known_schedules, shown
from jobservice.usecases.service import Service
from jobservice.usecases.stops import stops_of
from jobservice.usecases.workers import KEEP_SECONDS

URGENT = 10
ALARMS = 5
QUEUE_ROWS = 10_000
"""Rows of a queue that are looked at for its line."""
_SILENT = (BEATS_MISSED * BEAT).total_seconds()
_HOUR = timedelta(hours=1)


async def overview(service: Service, actor: Actor) -> Overview:
    """Everything that the actor may read of what needs somebody now."""
    async with service.database.transaction(actor.tenant, by_index=True) as transaction:
        now = transaction.began_at
        may = GRANTS[actor.role]
        parts: dict[str, Any] = {}
        if Permission.SCHEDULE_READ in may:
            parts |= await _schedules(transaction, service, actor, now)
            parts["alarms_open"], parts["alarms"] = await urgent_alarms(transaction, most=ALARMS)
            parts["trend"] = _trend(await tallies.trend(transaction, since=_first_hour(now)), now)
        if Permission.PLAN_READ in may:
            parts |= await _money(transaction, actor)
        if Permission.COLLEAGUE_READ in may:
            parts["stops"] = await stops_of(transaction, service)
        if Permission.QUEUE_READ in may:
            parts["queues"] = await _queues(transaction, service, actor, now)
        if Permission.JOB_READ in may:
            parts["jobs"] = await _jobs(transaction, actor, now)
        if not {Permission.SCHEDULE_READ, Permission.PLAN_READ}.isdisjoint(may):
            parts |= await _work(transaction, may, now)
    return Overview.model_validate({**_NOTHING, **parts, "now": now})


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(name for name, field in Overview.model_fields.items() if field.is_required()),
    "urgent": (),
    "alarms": (),
    "stops": (),
    "queues": (),
}
"""What a person sees who may read nothing of it."""


async def _schedules(transaction: Transaction, service: Service, actor: Actor, now: datetime) -> dict[str, Any]:
    known = {each.id: each for each in known_schedules(service, actor)}
    late = standings.late_since(now)
    counted = await store.schedules(transaction, list(known), now=now, late=late, urgent=URGENT)
    urgent = [known[each] for each in counted["urgent"]]  # by their urgency, as they stay
    return {
        "late": counted["late"],
        "parked": counted["parked"],
        "disabled": counted["disabled"],
        "urgent": tuple(
            UrgentSchedule(id=each.id, standing=each.standing, words=each.standing_words)
            for each in await shown(transaction, service, actor, urgent)
        ),
    }


async def _work(transaction: Transaction, may: Collection[Permission], now: datetime) -> dict[str, Any]:
    row = await store.work(transaction, now=now, silent_seconds=_SILENT, keep_seconds=KEEP_SECONDS)
    parts: dict[str, Any] = {}
    if Permission.SCHEDULE_READ in may:
        parts = {name: row[name] for name in ("dead", "retrying", "processing", "recoveries")}
        parts |= {"workers": row["live"], "workers_silent": row["silent"], "workers_draining": row["draining"]}
    if Permission.PLAN_READ in may:
        parts["plans"] = row["plans"]
    return parts


async def _jobs(transaction: Transaction, actor: Actor, now: datetime) -> JobFigures:
    """Background jobs: by the tallies, which know nothing of customers and workspaces; for whoever sees some of these
    alone, counted by an index up to a bound."""
    wanted = Wanted(reach=reach(actor))
    if actor.customers is not None or actor.workspaces is not None:
        of_status, unresolved = await job_counting.of_each(transaction, wanted)
        pending, running = of_status[JobStatus.PENDING], of_status[JobStatus.RUNNING]
        return JobFigures(
            unresolved=unresolved.count,
            pending=pending.count,
            running=running.count,
            as_of=now,
            whole=not (unresolved.at_least or pending.at_least or running.at_least),
        )
    found = await jobs_store.tallies(transaction, wanted)
    return JobFigures(
        unresolved=sum(each.many for each in found if each.unresolved),
        pending=sum(each.many for each in found if each.status == JobStatus.PENDING),
        running=sum(each.many for each in found if each.status == JobStatus.RUNNING),
        as_of=min((each.folded_at for each in found if each.folded_at is not None), default=now),
    )


async def _money(transaction: Transaction, actor: Actor) -> dict[str, Any]:
    switch = await money_store.switch(transaction)
    return {
        "uncertain": await money_store.uncertain(transaction, reach(actor)),
        "money_stopped": (switch.reason or "") if switch.stopped else None,
    }


async def _queues(transaction: Transaction, service: Service, actor: Actor, now: datetime) -> tuple[QueueLine, ...]:
    """The queues by their oldest item; those in which nothing waits last."""
    known = service.records.queues
    found = await store.queues(transaction, list(known), reach(actor), now=now, most=QUEUE_ROWS)
    lines = [_line(known[each.queue], each) for each in found]
    return tuple(sorted(lines, key=lambda line: (line.oldest_at is None, line.oldest_at or now, line.title)))


def _line(queue: Queue, found: QueueFigures) -> QueueLine:
    return QueueLine(
        queue=queue.id,
        title=queue.title,
        open=min(found.open, QUEUE_ROWS),
        oldest_at=found.oldest_at,
        unclaimed=min(found.unclaimed, QUEUE_ROWS),
        unclaimed_out=tuple(
            Amount(minor=each["minor"], currency=each["currency"], exponent=EXPONENTS.get(each["currency"], 0))
            for each in found.unclaimed_out
        ),
        whole=found.looked <= QUEUE_ROWS,
    )


def _first_hour(now: datetime) -> datetime:
    """The hour that a sparkline begins with."""
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * _HOUR


def _trend(rows: Sequence[Row], now: datetime) -> Trend:
    """One point an hour, the present one last; an hour without a row had nothing."""
    by_hour = {row["hour"]: row for row in rows}
    first = _first_hour(now)
    hours = [by_hour.get(first + number * _HOUR) for number in range(HOURS)]
    return Trend(
        completed=tuple(0 if row is None else row["completed"] for row in hours),
        dead=tuple(0 if row is None else row["dead"] for row in hours),
        missed=tuple(0 if row is None else row["missed"] for row in hours),
    )
