"""Owns the schedules that tests of the reading side look at, and rows as planner and Workers leave them: made by the
owner's hand, so that each test says what stands in the database."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.states import (
    MisfirePolicy,
    Moves,
    OccurrenceState,
    OutcomeKind,
    Repeated,
    ScheduleType,
    Skipped,
)
from jobservice.rules.rhythms import Cron, Every, Rhythm
from jobservice.rules.schedules import (
    RESCORE,
    Backoff,
    Itself,
    JobUseCase,
    Misfire,
    Registered,
    Schedule,
    ScoresDue,
    Selection,
)
from jobservice.usecases.service import Service
from tests.usecases.desk import RECORDS, SCORED, Desk, application

NIGHTLY, MINUTELY, SETTLE, BY_HAND, ABROAD, BROKEN = (
    "t.nightly",
    "t.minutely",
    "t.settle",
    "t.by-hand",
    "t.abroad",
    "t.broken",
)
LONDON = Cron(expression="30 1 * * *", zone="Europe/London", skipped=Skipped.RUN_AT_GAP_END, repeated=Repeated.FIRST)
MINUTE = Every(seconds=60, anchor=datetime(2026, 1, 1, tzinfo=UTC))
BACKOFF = Backoff(first_seconds=10, most_seconds=600)


def schedule(
    identifier: str,
    rhythm: Rhythm | None,
    *,
    runs: str = "t.send",
    selection: Selection = Itself(),  # noqa: B008  # a frozen value
    misfire: Misfire | None = Misfire(policy=MisfirePolicy.SKIP),  # noqa: B008  # a frozen value
    cursor: str | None = None,
    tenants: frozenset[str] | None = None,
    where: frozenset[str] | None = None,
) -> Schedule:
    """A job record of these tests."""
    manual = rhythm is None
    return Schedule(
        id=identifier,
        title=identifier.rpartition(".")[2].title(),
        type=ScheduleType.MANUAL if manual else ScheduleType.SAGA_DRIVING if cursor else ScheduleType.SCHEDULED,
        rhythm=rhythm,
        reason="Statements are of a London day." if isinstance(rhythm, Cron) else None,
        misfire=None if manual else misfire,
        selection=selection,
        batch_size=100,
        runs=runs,
        batch_path=runs == RESCORE,
        cursor=cursor,
        lock=identifier,
        bound_seconds=300,
        attempts=3,
        backoff=BACKOFF,
        tenants=tenants,
        retention="t.keep",
        retention_seconds=30 * 86_400,
        guard=None,
        runs_where=where,
    )


SCHEDULES = (
    schedule(
        NIGHTLY,
        LONDON,
        selection=Registered(id="t.lines"),
        misfire=Misfire(policy=MisfirePolicy.ONCE, after_seconds=3_600),
    ),
    schedule(
        MINUTELY,
        MINUTE,
        runs=RESCORE,
        selection=ScoresDue(queue=SCORED),
        misfire=Misfire(policy=MisfirePolicy.EACH_INTERVAL, newest=3),
    ),
    schedule(SETTLE, replace(LONDON, expression="0 17 * * 5"), cursor="t.settled"),
    schedule(BY_HAND, None),
    schedule(ABROAD, MINUTE, tenants=frozenset({"globex"})),
    schedule("t.elsewhere", MINUTE, where=frozenset({"production"})),
    schedule(BROKEN, replace(LONDON, zone="Mars/Olympus")),
)
SEND = JobUseCase(id="t.send", title="Send it", moves=Moves.NOTHING)
SCHEDULE_RECORDS = replace(RECORDS, schedules={each.id: each for each in SCHEDULES}, job_use_cases={SEND.id: SEND})
HERE = (BROKEN, BY_HAND, MINUTELY, NIGHTLY, SETTLE)
"""What acme's people see, by id."""


@dataclass(slots=True)
class ScheduleDesk:
    """A service with schedules, and a hand that writes rows. `now` is the database's clock."""

    desk: Desk
    connection: Any

    @property
    def service(self) -> Service:
        """The service as the API's role."""
        return self.desk.service

    @property
    def now(self) -> datetime:
        """The database's clock."""
        now: datetime = self.one("select jobs.now()")
        return now

    def one(self, query: str, *values: Any) -> Any:
        """The only value of a query."""
        row = self.connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    def operator(self, person: str) -> Any:
        """A further operator of acme."""
        self.desk.people.add(person, "acme", "operator")
        return replace(self.desk.actor("o.lind"), person=person)

    def planned(self, schedule: str, tenant: str = "acme", **columns: Any) -> None:
        """The row of a schedule that the planner keeps."""
        self._add(
            "schedules",
            {"tenant": tenant, "schedule": schedule, "definition": "d", "planned_until": self.now, **columns},
        )

    def occurrence(
        self, schedule: str, at: datetime, state: str = "scheduled", tenant: str = "acme", **columns: Any
    ) -> str:
        """An occurrence; its id. What its state needs and is not given is filled in."""
        given: dict[str, Any] = {"scheduled_at": at, "due_at": at, "lock": schedule, "tzdata": "2026f", "state": state}
        if state == OccurrenceState.PROCESSING:
            given |= {"holder": uuid.uuid4(), "taken_at": self.now, "started_at": self.now, "attempts": 1, "fence": 1}
            given |= {"expires_at": self.now + timedelta(seconds=30)}
        elif OccurrenceState(state).ended:
            given |= {"ended_at": at + timedelta(seconds=9), "started_at": at, "attempts": 1, "fence": 1}
        if state == OccurrenceState.DEAD_LETTER:
            given |= {"cause": "failed"}
        return str(self._add("occurrences", {"tenant": tenant, "schedule": schedule, **given, **columns}))

    def worker(self, host: str = "a7", **columns: Any) -> uuid.UUID:
        """A Worker process; its incarnation."""
        incarnation = uuid.uuid4()
        self._add("workers", {"incarnation": incarnation, "version": "1", "host": host, "slots": 16, **columns})
        return incarnation

    def attempt(self, occurrence: str, fence: int, worker: uuid.UUID, ending: str, **columns: Any) -> None:
        """An attempt that ended."""
        now = self.now
        given = {
            "attempt": fence,
            "taken_at": now,
            "started_at": now,
            "expires_at": now,
            "renewals": 2,
            "ended_at": now,
        }
        row = {"occurrence": occurrence, "fence": fence, "tenant": "acme", "worker": worker, "ending": ending}
        self._add("occurrence_attempts", {**row, **given, **columns})

    def refused(self, occurrence: str, fence: int, worker: uuid.UUID) -> None:
        """A completion that was refused."""
        self._add(
            "refused_completions",
            {"tenant": "acme", "occurrence": occurrence, "worker": worker, "fence": fence, "what": "completion"},
        )

    def items(self, occurrence: str, *outcomes: OutcomeKind | None) -> None:
        """Items of a run, numbered from 1."""
        for number, outcome in enumerate(outcomes, 1):
            row = {"occurrence": occurrence, "key": f"k-{number}", "tenant": "acme", "number": number}
            ended = None if outcome is None else self.now
            given = {"label": f"Item {number}", "given": Jsonb({}), "outcome": outcome, "ended_at": ended}
            self._add("occurrence_items", {**row, **given})

    def _add(self, table: str, columns: dict[str, Any]) -> Any:
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join(["%s"] * len(columns))
        row = self.connection.execute(
            f"insert into jobs.{table} ({names}) values ({marks}) returning *",
            list(columns.values()),
        ).fetchone()
        return None if row is None else row[0]


def schedule_desk(database: Any, people: Any) -> ScheduleDesk:
    """A desk over a database."""
    service = Service(database=database, records=SCHEDULE_RECORDS, application=application, deployment="test")
    return ScheduleDesk(Desk(service, people), people.connection)
