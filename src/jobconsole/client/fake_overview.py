"""Owns the overview of the fake service: counted from its schedules, queues, plans, alarms, stops and recoveries. Parts
that the role may not read are None, or empty."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from jobconsole.client.fake_alarms import FakeAlarms
from jobconsole.client.fake_asked import Asked
from jobconsole.client.fake_bulk import FakeBulk
from jobconsole.client.fake_jobs import FakeAccount
from jobconsole.client.fake_queues import FakeItem, FakeQueues
from jobconsole.client.fake_schedules import FakeJobs
from jobconsole.client.fake_stops import FakeStops
from jobcontract.items import Amount
from jobcontract.job_states import JobStatus
from jobcontract.money import exponent
from jobcontract.occurrences import Occurrence
from jobcontract.overview import HOURS, JobFigures, Overview, QueueLine, Trend, UrgentSchedule
from jobcontract.permissions import GRANTS, Permission
from jobcontract.schedules import Schedule
from jobcontract.states import OccurrenceState, ScheduleStanding, WorkerStanding

URGENT = (ScheduleStanding.PARKED, ScheduleStanding.LATE, ScheduleStanding.RETRYING)
URGENT_MOST, ALARMS_MOST = 10, 5
HOUR = timedelta(hours=1)


class Live(Protocol):
    """What counts the recoveries that something may still come of."""

    def live(self) -> int: ...


class FakeOverview:
    """The overview of one tenant."""

    def __init__(
        self,
        *,
        queues: FakeQueues,
        bulk: FakeBulk,
        jobs: FakeJobs,
        stops: FakeStops,
        alarms: FakeAlarms,
        recoveries: Live,
        account: FakeAccount,
    ) -> None:
        self._queues = queues
        self._bulk = bulk
        self._jobs = jobs
        self._stops = stops
        self._alarms = alarms
        self._recoveries = recoveries
        self._account = account
        self.missed: tuple[int, ...] = (0,) * HOURS
        """By hour; a test may change it."""

    def overview(self, asked: Asked) -> Overview:
        """Everything that the person may read."""
        may = GRANTS[asked.role]
        runs, plans = Permission.SCHEDULE_READ in may, Permission.PLAN_READ in may
        now = self._queues.now()
        schedules = self._jobs.all_shown() if runs else []
        standings = [each.standing for each in schedules]
        rows = list(self._jobs.occurrences.values())
        workers = [each.standing for each in self._jobs.workers]
        dead = sum(each.state is OccurrenceState.DEAD_LETTER and each.discarded_at is None for each in rows)
        stop = self._bulk.money.stop
        return Overview(
            late=standings.count(ScheduleStanding.LATE) if runs else None,
            dead=dead if runs else None,
            parked=standings.count(ScheduleStanding.PARKED) if runs else None,
            disabled=standings.count(ScheduleStanding.DISABLED) if runs else None,
            retrying=sum(each.state is OccurrenceState.SCHEDULED and each.attempts > 0 for each in rows)
            if runs
            else None,
            processing=sum(each.state is OccurrenceState.PROCESSING for each in rows) if runs else None,
            urgent=_urgent(schedules),
            workers=sum(each is WorkerStanding.LIVE for each in workers) if runs else None,
            workers_silent=workers.count(WorkerStanding.SILENT) if runs else None,
            workers_draining=workers.count(WorkerStanding.DRAINING) if runs else None,
            alarms_open=self._alarms.open() if runs else None,
            alarms=tuple(self._alarms.unacknowledged()[:ALARMS_MOST]) if runs else (),
            recoveries=self._recoveries.live() if runs else None,
            plans=sum(each.state.live for each in self._bulk.plans.all.values()) if plans else None,
            uncertain=sum(row.about is not None and not row.state.closed for row in self._queues.items.values())
            if plans
            else None,
            money_stopped=None if stop is None or not plans else stop.reason,
            stops=self._stops.listed() if Permission.COLLEAGUE_READ in may else (),
            queues=self._lines() if Permission.QUEUE_READ in may else (),
            jobs=self._figures(asked.person.id, now) if Permission.JOB_READ in may else None,
            trend=self._trend(rows, now) if runs else None,
            now=now,
        )

    def _figures(self, person: str, now: datetime) -> JobFigures:
        rows = [each for each in self._account.within(person) if each.here]
        statuses = [each.summary.status for each in rows]
        return JobFigures(
            unresolved=sum(each.unresolved for each in rows),
            pending=statuses.count(JobStatus.PENDING),
            running=statuses.count(JobStatus.RUNNING),
            as_of=now,
        )

    def _lines(self) -> tuple[QueueLine, ...]:
        lines = []
        for queue in self._queues.queues:
            rows = [each for each in self._queues.items.values() if each.queue.id == queue.id and not each.state.closed]
            free = [each for each in rows if self._queues.shown(each).holder is None]
            lines.append(
                QueueLine(
                    queue=queue.id,
                    title=queue.title,
                    open=len(rows),
                    oldest_at=min((each.created for each in rows), default=None),
                    unclaimed=len(free),
                    unclaimed_out=_out(free),
                )
            )
        return tuple(sorted(lines, key=lambda each: (each.oldest_at is None, each.oldest_at)))

    def _trend(self, rows: Sequence[Occurrence], now: datetime) -> Trend:
        first = now.replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * HOUR
        completed, dead = [0] * HOURS, [0] * HOURS
        for each in rows:
            at = -1 if each.ended_at is None else (each.ended_at - first) // HOUR
            if 0 <= at < HOURS:
                (completed if each.state is OccurrenceState.COMPLETED else dead)[at] += 1
        return Trend(completed=tuple(completed), dead=tuple(dead), missed=self.missed)


def _urgent(schedules: Sequence[Schedule]) -> tuple[UrgentSchedule, ...]:
    found = sorted(
        (each for each in schedules if each.standing in URGENT), key=lambda each: URGENT.index(each.standing)
    )
    return tuple(
        UrgentSchedule(id=each.id, standing=each.standing, words=each.standing_words) for each in found[:URGENT_MOST]
    )


def _out(rows: Sequence[FakeItem]) -> tuple[Amount, ...]:
    sums: dict[str, int] = {}
    for row in rows:
        if row.amount is not None and row.amount.minor > 0:
            sums[row.amount.currency] = sums.get(row.amount.currency, 0) + row.amount.minor
    return tuple(
        Amount(minor=minor, currency=currency, exponent=exponent(currency)) for currency, minor in sorted(sums.items())
    )
