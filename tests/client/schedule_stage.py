"""Owns the two services that the conformance suite of schedules compares, with the same schedules and rows in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from typing import Any, Protocol
from uuid import uuid4

import httpx
from pydantic import SecretStr

from jobconsole.client.fake import FakeService
from jobconsole.client.service import Service
from jobcontract.occurrences import Attempt, RefusedCompletion
from jobcontract.permissions import Permission
from jobcontract.states import AttemptEnding, OccurrenceState, OutcomeKind, WorkerStanding
from jobcontract.workers import Worker
from jobservice.rules.schedules import Guard, Schedule, Window
from jobservice.usecases.service import Service as JobService
from tests.apps import app_over
from tests.client.stage import AUDITOR, FIRST, OPERATOR, PUSHER, SECOND
from tests.usecases.desk import RECORDS, application
from tests.usecases.schedule_desk import MINUTE, SEND, ScheduleDesk, schedule, schedule_desk

MINUTELY, HOURLY, BY_HAND = "t.minutely", "t.hourly", "t.by-hand"
EVERY = {MINUTELY: 60, HOURLY: 3_600, BY_HAND: None}
FAKE = {FIRST: "m.ito", SECOND: "k.rao", AUDITOR: "a.nagy", OPERATOR: "o.lind", PUSHER: "i.feed"}
REAL = {FIRST: "m.ito", SECOND: "k.rao", AUDITOR: "s.audit", OPERATOR: "o.lind", PUSHER: "p.push"}


class ScheduleStage(Protocol):
    """A service with three schedules and no occurrence yet; its clock stands where `now` says."""

    @property
    def now(self) -> datetime:
        """The service's clock, to the second."""

    def sign_in(self, part: str) -> Service:
        """The connection of the person who plays `part`."""

    def plan(self, schedule: str, at: datetime, state: OccurrenceState = ..., *, attempts: int = ...) -> str:
        """An occurrence; its id."""

    def items(self, occurrence: str, *outcomes: OutcomeKind | None) -> None:
        """Items of its run."""

    def past(self, occurrence: str) -> None:
        """Two attempts that ended, and a completion that was refused."""

    def worker(self, host: str) -> str:
        """A Worker process that lives; its incarnation."""

    def close(self, schedule: str) -> None:
        """Its guard does not allow it now."""


@dataclass(slots=True, kw_only=True)
class FakeScheduleStage:
    """The fake service."""

    fake: FakeService = field(default_factory=FakeService)

    def __post_init__(self) -> None:
        for identifier, every in EVERY.items():
            self.fake.jobs.add(identifier, every=every)

    @property
    def now(self) -> datetime:
        """See `ScheduleStage`."""
        return self.fake.time

    def sign_in(self, part: str) -> Service:
        """See `ScheduleStage`."""
        return self.fake.service(FAKE[part])

    def plan(
        self, schedule: str, at: datetime, state: OccurrenceState = OccurrenceState.SCHEDULED, *, attempts: int = 0
    ) -> str:
        """See `ScheduleStage`."""
        more = {"attempts": attempts, "started_at": at} if attempts else {}
        return self.fake.jobs.plan(schedule, at, state, **more)

    def items(self, occurrence: str, *outcomes: OutcomeKind | None) -> None:
        """See `ScheduleStage`."""
        self.fake.jobs.put_items(occurrence, *outcomes)

    def past(self, occurrence: str) -> None:
        """See `ScheduleStage`."""
        now = self.now
        self.fake.jobs.attempts[occurrence] = [
            Attempt(
                attempt=fence,
                fence=fence,
                worker="w",
                host="a7",
                taken_at=now,
                started_at=now,
                expires_at=now,
                renewals=2,
                ended_at=now,
                ending=ending,
                error=None,
            )
            for fence, ending in ((1, AttemptEnding.LOST), (2, AttemptEnding.RETRY))
        ]
        refused = RefusedCompletion(at=now, worker="w", host="a7", fence=1, what="completion")
        self.fake.jobs.refused[occurrence] = [refused]

    def worker(self, host: str) -> str:
        """See `ScheduleStage`."""
        now = self.now
        worker = Worker(
            incarnation=str(uuid4()),
            host=host,
            version="1",
            started_at=now,
            beat_at=now,
            draining_at=None,
            stopped_at=None,
            standing=WorkerStanding.LIVE,
            slots=16,
            processing=0,
        )
        self.fake.jobs.workers.append(worker)
        return worker.incarnation

    def close(self, schedule: str) -> None:
        """See `ScheduleStage`."""
        self.fake.acts.closed[schedule] = f"{schedule} may be run on another day."


@dataclass(slots=True, kw_only=True)
class RealScheduleStage:
    """The real API, asked in process, on rows of the owner's hand."""

    transport: httpx.AsyncBaseTransport
    token: Callable[[str], str]
    rows: ScheduleDesk
    schedules: dict[str, Schedule]
    """Those of the service."""

    @property
    def now(self) -> datetime:
        """See `ScheduleStage`."""
        return self.rows.now.replace(microsecond=0)

    def sign_in(self, part: str) -> Service:
        """See `ScheduleStage`."""
        token = SecretStr(self.token(REAL[part]))
        return Service("http://127.0.0.1:1", token, "acme", transport=self.transport)

    def plan(
        self, schedule: str, at: datetime, state: OccurrenceState = OccurrenceState.SCHEDULED, *, attempts: int = 0
    ) -> str:
        """See `ScheduleStage`."""
        more: dict[str, Any] = {"attempts": attempts, "started_at": at} if attempts else {}
        return self.rows.occurrence(schedule, at, state, lock=f"{schedule} {at}", **more)

    def items(self, occurrence: str, *outcomes: OutcomeKind | None) -> None:
        """See `ScheduleStage`."""
        self.rows.items(occurrence, *outcomes)

    def past(self, occurrence: str) -> None:
        """See `ScheduleStage`."""
        worker = self.rows.worker("a7", started_at=self.now - timedelta(days=2), beat_at=self.now - timedelta(days=2))
        self.rows.attempt(occurrence, 1, worker, "lost")
        self.rows.attempt(occurrence, 2, worker, "retry")
        self.rows.refused(occurrence, 1, worker)

    def worker(self, host: str) -> str:
        """See `ScheduleStage`."""
        return str(self.rows.worker(host))

    def close(self, schedule: str) -> None:
        """See `ScheduleStage`."""
        day = (self.now + timedelta(days=3)).isoweekday()
        window = Window(days=frozenset({day}), start=time(0), end=time(1))
        guard = Guard(permission=Permission.SCHEDULE_RUN, windows=(window,), reason_required=True)
        self.schedules[schedule] = replace(self.schedules[schedule], guard=guard)


def real_schedule_stage(database: Any, people: Any) -> RealScheduleStage:
    """The real API over a database, with the same schedules."""
    rhythms = {name: None if every is None else replace(MINUTE, seconds=every) for name, every in EVERY.items()}
    schedules = {name: schedule(name, rhythm) for name, rhythm in rhythms.items()}
    records = replace(RECORDS, schedules=schedules, job_use_cases={SEND.id: SEND})
    service = JobService(database=database, records=records, application=application, deployment="test")
    rows = schedule_desk(database, people)
    for name in EVERY:
        rows.planned(name)
    app = app_over(service, signing_key=b"k" * 32, schema_version="1")
    return RealScheduleStage(transport=httpx.ASGITransport(app=app), token=people.token, rows=rows, schedules=schedules)
