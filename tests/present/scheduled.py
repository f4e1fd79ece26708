"""Owns believable schedules, occurrences and Workers for tests of how they are written: as of `NOW`, the night on which
London's clocks go back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from jobconsole.present.schedules import At
from jobcontract.occurrences import (
    Attempt,
    ItemCounts,
    Lease,
    Occurrence,
    OccurrenceDetail,
    OccurrenceItem,
    RefusedCompletion,
)
from jobcontract.schedules import Misfire, Planned, Recent, Rhythm, Schedule, ScheduleDetail, Schedules, SkippedInstants
from jobcontract.states import (
    AttemptEnding,
    ClockChange,
    MisfirePolicy,
    OccurrenceOrigin,
    OccurrenceState,
    OutcomeKind,
    Repeated,
    ScheduleStanding,
    ScheduleType,
    Skipped,
    SkipPolicy,
    WorkerStanding,
)
from jobcontract.workers import Worker

NOW = datetime(2026, 10, 24, 22, 0, tzinfo=UTC)
LONDON = ZoneInfo("Europe/London")
AT = At(now=NOW, zone=LONDON)
RHYTHM = Rhythm(
    words="daily at 01:30, Europe/London",
    every=None,
    anchor=None,
    cron="30 1 * * *",
    zone="Europe/London",
    reason="Customers expect them in the morning.",
    skipped=Skipped.RUN_AT_GAP_END,
    repeated=Repeated.FIRST,
)
UTC_RHYTHM = RHYTHM.model_copy(
    update={"words": "every minute", "every": 60, "cron": None, "zone": "UTC", "reason": None}
    | {"skipped": None, "repeated": None}
)
MISFIRE = Misfire(
    policy=MisfirePolicy.ONCE,
    after=600,
    newest=None,
    words="Of the instants not started 10 min past its time the latest runs, and the earlier ones are merged into it.",
)
COUNTS = ItemCounts(done=117, refused=1, failed=2, unfinished=0, selected_all=True)


def wall(day: int) -> datetime:
    """Half past one on a day of that October, on a clock on a wall."""
    return datetime(2026, 10, day, 1, 30, tzinfo=UTC).replace(tzinfo=None)


def recent(states: str) -> tuple[Recent, ...]:
    """Outcomes by sign, as they are shown."""
    known = {
        "✓": (OccurrenceState.COMPLETED, 1),
        "△": (OccurrenceState.COMPLETED, 2),
        "✗": (OccurrenceState.DEAD_LETTER, 3),
        "◆": (OccurrenceState.PROCESSING, 1),
        "◌": (OccurrenceState.SCHEDULED, 1),
        "·": (OccurrenceState.SCHEDULED, 0),
    }
    return tuple(
        Recent(
            id=f"o{at}",
            scheduled_at=NOW - timedelta(days=len(states) - at),
            state=known[sign][0],
            attempts=known[sign][1],
        )
        for at, sign in enumerate(states)
    )


def schedule(identifier: str = "statements.nightly", **more: Any) -> Schedule:
    """A schedule that runs at night and is on time."""
    known: dict[str, Any] = {
        "id": identifier,
        "title": "Nightly statements",
        "tenant": "leeds",
        "type": ScheduleType.SCHEDULED,
        "rhythm": RHYTHM,
        "misfire": MISFIRE,
        "runs": "statements.issue",
        "runs_title": "Issue statements",
        "selection": "customers with a statement due",
        "batch_size": 100,
        "batch_path": False,
        "lock": "statements",
        "bound": 600.0,
        "attempts": 3,
        "backoff_first": 30.0,
        "backoff_most": 600.0,
        "cursor": None,
        "position": None,
        "retention": 30 * 86_400.0,
        "standing": ScheduleStanding.ON_TIME,
        "standing_words": "On time. Runs next in 2 h 30 min. Last completed 21 h 58 min ago.",
        "next_at": NOW + timedelta(hours=2, minutes=30),
        "disabled": None,
        "waiting": 0,
        "dead": 0,
        "last_scheduled_at": NOW - timedelta(hours=22),
        "last_started_at": NOW - timedelta(hours=22),
        "last_completed_at": NOW - timedelta(hours=21, minutes=58),
        "recent": recent("✓✓✗△✓"),
        "version": 1,
    }
    return Schedule(**{**known, **more})


def planned(hours: float, local: datetime | None, abbreviation: str | None, **more: Any) -> Planned:
    """An instant so many hours from now."""
    known: dict[str, Any] = {"offset": 0, "clock": None, "runs": True, "words": ""}
    return Planned(at=NOW + timedelta(hours=hours), local=local, abbreviation=abbreviation, **{**known, **more})


BACK = (
    planned(
        2.5,
        wall(25),
        "BST",
        clock=ClockChange.FIRST,
        words="01:30 comes twice that night: runs at the first, BST.",
    ),
    planned(
        3.5,
        wall(25),
        "GMT",
        clock=ClockChange.SECOND,
        runs=False,
        words="01:30 comes twice that night: it does not run at GMT.",
    ),
    planned(27.5, wall(26), "GMT"),
    planned(51.5, wall(27), "GMT"),
    planned(75.5, wall(28), "GMT"),
)
"""Next instants over the night on which the clocks go back."""

SKIPPED = SkippedInstants(
    first_at=NOW - timedelta(days=3, hours=2),
    last_at=NOW - timedelta(days=3, hours=1),
    count=4,
    policy=SkipPolicy.MISFIRE_ONCE,
    cause="Missed by more than 10 min; the latest of them ran in their place.",
    local=None,
    merged_into=NOW - timedelta(days=3),
    zone="Europe/London",
    decided_at=NOW - timedelta(days=3),
)


def detail(shown: Schedule | None = None, **more: Any) -> ScheduleDetail:
    """A schedule with its next instants and what was skipped."""
    known: dict[str, Any] = {"next": BACK, "next_words": "", "tzdata": "2026b", "skipped": (SKIPPED,), "now": NOW}
    return ScheduleDetail(schedule=shown or schedule(), **{**known, **more})


def page(*schedules: Schedule, **more: Any) -> Schedules:
    """A page with these schedules, counted."""
    counts = {
        name: sum(each.standing is standing for each in schedules)
        for name, standing in (
            ("late", ScheduleStanding.LATE),
            ("parked", ScheduleStanding.PARKED),
            ("disabled", ScheduleStanding.DISABLED),
        )
    }
    known = {"schedules": schedules, "next": None, "total": len(schedules), **counts, "now": NOW}
    return Schedules(**{**known, **more})


def occurrence(number: int = 1, **more: Any) -> Occurrence:
    """An occurrence that ended as a dead letter."""
    at = NOW - timedelta(hours=21, minutes=30)
    known: dict[str, Any] = {
        "id": f"0192a5e8-0000-7000-8000-{number:012d}",
        "name": "statements.nightly@2026-10-24T00:30:00Z",
        "schedule": "statements.nightly",
        "tenant": "leeds",
        "scheduled_at": at,
        "local": wall(24),
        "zone": "Europe/London",
        "clock": None,
        "clock_policy": "run-at-gap-end, first",
        "tzdata": "2026b",
        "origin": OccurrenceOrigin.PLANNED,
        "state": OccurrenceState.DEAD_LETTER,
        "due_at": at,
        "attempts": 3,
        "attempts_most": 3,
        "started_at": at + timedelta(seconds=1),
        "ended_at": at + timedelta(minutes=4),
        "lease": None,
        "items": COUNTS,
        "cause": "failed",
        "error": "2 of 120 items failed: the mail server refused the address.",
        "cancel_asked_at": None,
        "cancelled_by": None,
        "cancel_reason": None,
        "version": 7,
    }
    return Occurrence(**{**known, **more})


LEASE = Lease(
    worker="3f2c19aa-1111-7000-8000-000000000001",
    host="a7",
    fence=5,
    taken_at=NOW - timedelta(seconds=40),
    expires_at=NOW + timedelta(seconds=21),
    renewals=3,
)
RUNNING: dict[str, Any] = {
    "state": OccurrenceState.PROCESSING,
    "lease": LEASE,
    "cause": None,
    "error": None,
    "ended_at": None,
    "attempts": 2,
    "items": ItemCounts(done=40, refused=0, failed=1, unfinished=79, selected_all=False),
}


def attempt(number: int, ending: AttemptEnding, **more: Any) -> Attempt:
    """An attempt that ended."""
    at = NOW - timedelta(minutes=30 - number)
    known: dict[str, Any] = {
        "attempt": number,
        "fence": number + 1,
        "worker": f"77e0c1d{number}-1111-7000-8000-000000000001",
        "host": "b2",
        "taken_at": at,
        "started_at": at,
        "expires_at": at + timedelta(seconds=30),
        "renewals": 1,
        "ended_at": at + timedelta(seconds=45),
        "ending": ending,
        "error": None,
    }
    return Attempt(**{**known, **more})


LATE = RefusedCompletion(
    at=NOW - timedelta(minutes=20),
    worker="77e0c1d1-1111-7000-8000-000000000001",
    host="b2",
    fence=2,
    what="It wanted to write that 120 items are done.",
)


def item(number: int, outcome: OutcomeKind | None, **more: Any) -> OccurrenceItem:
    """One item of a run."""
    known: dict[str, Any] = {
        "number": number,
        "key": f"c-{4400 + number}",
        "label": f"Customer {number}",
        "outcome": outcome,
        "attempts": 1,
        "try_at": None,
        "sentence": None,
        "ended_at": NOW if outcome is not None else None,
    }
    return OccurrenceItem(**{**known, **more})


ITEMS = (
    item(7, OutcomeKind.FAILED, sentence="The mail server refused the address.", attempts=3),
    item(9, None),
    item(1, OutcomeKind.DONE, sentence="Sent."),
)


def whole(shown: Occurrence | None = None, **more: Any) -> OccurrenceDetail:
    """An occurrence with an attempt whose Worker was lost, its late write, and one that failed."""
    known: dict[str, Any] = {
        "attempts": (attempt(2, AttemptEnding.FAILED, error="2 of 120 items failed."), attempt(1, AttemptEnding.LOST)),
        "refused": (LATE,),
        "items": ITEMS,
        "items_next": None,
        "now": NOW,
    }
    return OccurrenceDetail(occurrence=shown or occurrence(), **{**known, **more})


def worker(number: int, standing: WorkerStanding, **more: Any) -> Worker:
    """A Worker that started an hour ago."""
    known: dict[str, Any] = {
        "incarnation": f"3f2c19a{number}-1111-7000-8000-000000000001",
        "host": f"a{number}",
        "version": "0.1.0",
        "started_at": NOW - timedelta(hours=1),
        "beat_at": NOW - timedelta(seconds=4),
        "draining_at": NOW - timedelta(seconds=9) if standing is WorkerStanding.DRAINING else None,
        "stopped_at": NOW - timedelta(minutes=5) if standing is WorkerStanding.STOPPED else None,
        "standing": standing,
        "slots": 16,
        "processing": 3,
    }
    return Worker(**{**known, **more})
