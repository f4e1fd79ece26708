"""The timeline of an incident: every noun in it once, in order, in pages that neither repeat nor miss, in its stretch alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from jobcontract.errors import ErrorCode
from jobcontract.operating import TimelineKind
from jobservice.store.database import Database
from jobservice.usecases.timeline import AskedTimeline, read_timeline
from tests.usecases.desk import refused_with
from tests.usecases.job_hand import JobHand
from tests.usecases.schedule_desk import NIGHTLY, ScheduleDesk, schedule_desk

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
START = datetime(2026, 11, 1, 2, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
READER = "o.lind"
SOON: dict[str, Any] = {"requested_at": START, "activity_at": START, "started_at": START}


def at(minutes: float) -> datetime:
    return START + MINUTE * minutes


@pytest.fixture
def rows(database: Database, people: Any) -> ScheduleDesk:
    return schedule_desk(database, people)


def entry(rows: ScheduleDesk, minutes: float, action: str, subject: str, **more: Any) -> None:
    """An entry of the trail."""
    given = {"outcome": "done", "person": "o.lind", "tenant": "acme"} | more
    columns = given | {"at": at(minutes), "action": action, "subject": subject}
    rows._add("audit", columns | {"detail": Jsonb(columns.get("detail", {}))})


def night(rows: ScheduleDesk) -> None:
    """A night on which something of every noun happened, a minute apart."""
    worker = rows.worker(started_at=at(0), beat_at=at(1), draining_at=at(18), stopped_at=at(19))
    rows.worker("b2", started_at=START - timedelta(days=40), beat_at=at(20))
    lost = rows.occurrence(NIGHTLY, at(1), "completed", attempts=3, started_at=at(1), ended_at=at(5))
    rows.attempt(lost, 1, worker, "lost", ended_at=at(3))
    rows.attempt(lost, 2, worker, "retry", ended_at=at(4), error="The bank is away.")
    rows.attempt(lost, 3, worker, "completed", ended_at=at(5))
    rows.refused(lost, 1, worker)
    rows.connection.execute("update jobs.refused_completions set at = %s", (at(6),))
    dead = rows.occurrence(NIGHTLY, at(2), "dead-letter", started_at=at(7), ended_at=at(8), error="No file.", fence=4)
    rows.attempt(dead, 4, worker, "failed", ended_at=at(8), error="No file.")
    rows.occurrence(NIGHTLY, at(9), "completed", started_at=at(9), ended_at=at(9.5))  # nothing of it is told
    rows._add(
        "skipped_instants",
        {"tenant": "acme", "schedule": NIGHTLY, "first_at": at(-600), "last_at": at(-300), "count": 2}
        | {
            "policy": "misfire-skip",
            "cause": "No Worker was there.",
            "zone": "UTC",
            "tzdata": "x",
            "decided_at": at(10),
        },
    )
    rows.planned("t.parked", parked_at=at(11), parked_reason="No such zone.")
    off: dict[str, Any] = {"disabled_at": at(-5), "disabled_by": "o.lind", "disabled_reason": "Bank down"}
    rows.planned("t.back", disabled_until=at(12), **off)
    rows._add(
        "alarms",
        {"tenant": "acme", "kind": "late", "subject": "t.late", "sentence": "Late by 4 min.", "opened_at": at(13)}
        | {"cleared_at": at(14)},
    )
    entry(rows, 15, "stop-work", "t.payouts", detail={"scope": "queue", "reason": "Wrong file"})
    entry(rows, 15.5, "replay-occurrence", "id", detail={"occurrence": "t.nightly@2026", "reason": "Late file"})
    entry(rows, 16, "confirm-plan", "id", outcome="refused", detail={"code": "plan-digest", "sentence": "It differs."})
    entry(rows, 16.5, "make-recovery", "id", person="m.ito", detail={"name": "fern-7", "reason": "The night"})
    entry(rows, 17, "claim", "item", detail={"queue": "t.payouts"})  # one item of thousands
    entry(rows, 17, "replay-occurrence", "id", detail={"recovery": "r", "reason": "The night"})  # told by its recovery


TOLD = [
    (0, "worker", "Started, version 1."),
    (3, "lease", "Attempt 1 was lost: Worker"),
    (4, "occurrence", "Attempt 2 failed and is tried again: The bank is away."),
    (5, "occurrence", "Completed at attempt 3."),
    (6, "lease", "A late completion of Worker"),
    (7, "occurrence", "Began 5 min late."),
    (8, "occurrence", "Dead letter after 1 attempt, because its attempts are used up: No file."),
    (10, "skip", "Left out 2 instants from 2026-10-31T16:00:00Z to 2026-10-31T21:00:00Z: No Worker was there."),
    (11, "schedule", "Parked: No such zone."),
    (12, "schedule", "Enabled again by itself, as it was said when it was disabled: Bank down"),
    (13, "alarm", "Alarm late: Late by 4 min."),
    (14, "alarm", "Alarm late is over."),
    (15, "stop", "Olle Lind stopped it: Wrong file"),
    (15.5, "act", "Olle Lind replayed it: Late file"),
    (16, "act", "Olle Lind tried to confirm plan, and was refused: It differs."),
    (16.5, "recovery", "Mina Ito made it: The night"),
    (18, "worker", "Takes nothing new and ends what it has."),
    (19, "worker", "Stopped in good order."),
    (20, "worker", "Gave its last sign of life; it never said that it stops."),
]


async def told(rows: ScheduleDesk, *, limit: int = 50, person: str = READER, **asked: Any) -> list[Any]:
    """The whole timeline of the night, page by page."""
    given = {"since": at(0), "until": at(60)} | asked
    found: list[Any] = []
    after = None
    while True:
        page = await read_timeline(rows.service, rows.desk.actor(person), AskedTimeline(limit=limit, **given), after)
        assert len(page.entries) <= limit
        found += page.entries
        if (after := page.last) is None:
            return found


async def test_every_noun_tells_what_happened_to_it_in_order(rows: ScheduleDesk) -> None:
    night(rows)
    found = await told(rows)
    assert [((each.at - START) / MINUTE, each.kind.value) for each in found] == [(when, kind) for when, kind, _ in TOLD]
    for each, (_, _, sentence) in zip(found, TOLD, strict=True):
        assert each.sentence.startswith(sentence)
    assert [each.person.name for each in found if each.person] == ["Olle Lind"] * 3 + ["Mina Ito"]
    assert {each.subject for each in found if each.kind is TimelineKind.OCCURRENCE} == {
        f"{NIGHTLY}@2026-11-01T02:01:00Z",
        f"{NIGHTLY}@2026-11-01T02:02:00Z",
    }


@pytest.mark.parametrize("limit", [1, 3])
async def test_pages_put_together_are_the_whole_also_where_much_happens_in_one_instant(
    rows: ScheduleDesk, limit: int
) -> None:
    night(rows)
    for number in range(4):
        entry(rows, 8, "run-schedule", f"s-{number}")
        rows.planned(f"t.p{number}", parked_at=at(8), parked_reason=str(number))
        rows._add(
            "alarms",
            {"tenant": "acme", "kind": "late", "subject": f"a-{number}", "sentence": "x", "opened_at": at(8)},
        )
    whole = await told(rows, limit=200)
    assert len(whole) == len(TOLD) + 12
    assert await told(rows, limit=limit) == whole


@pytest.mark.parametrize("kind", TimelineKind)
async def test_a_kind_alone_is_what_the_whole_has_of_it(rows: ScheduleDesk, kind: TimelineKind) -> None:
    night(rows)
    entry(rows, 30, "drain-worker", "w")
    entry(rows, 31, "pause-plan", "p", detail={"name": "lark-42"})
    JobHand(rows.connection).job(settled_at=at(32), **SOON)
    whole = [each for each in await told(rows) if each.kind is kind]
    assert whole
    assert await told(rows, kinds=frozenset({kind})) == whole


async def test_it_is_of_its_stretch_its_tenant_and_of_who_may(rows: ScheduleDesk) -> None:
    night(rows)
    assert [each.kind for each in await told(rows, since=at(4), until=at(6))] == [TimelineKind.OCCURRENCE] * 2
    others = await told(rows, person="g.fin")
    assert {each.kind for each in others} == {TimelineKind.WORKER}  # Workers work for every tenant
    for person in ("s.bell", "p.push", "a.admin"):
        await refused_with(ErrorCode.PERMISSION_MISSING, told(rows, person=person))
    await refused_with(ErrorCode.INVALID_REQUEST, told(rows, until=at(0)))
    await refused_with(ErrorCode.INVALID_REQUEST, told(rows, until=at(0) + timedelta(days=31, seconds=1)))


async def test_a_long_reason_is_cut(rows: ScheduleDesk) -> None:
    entry(rows, 1, "run-schedule", "s", detail={"reason": "x" * 900})
    (found,) = await told(rows)
    assert len(found.sentence) == 500


async def test_jobs_that_failed_or_were_cancelled_are_told_within_reach(rows: ScheduleDesk) -> None:
    hand = JobHand(rows.connection)
    failed = hand.job(kind="t.bank-file", customer="C-1", failure_reference="F-7K3M", settled_at=at(3), **SOON)
    cancelled = hand.job(
        "cancelled", customer="C-2", settled_at=at(2), cancel_asked_at=at(1), cancel_reason="Wrong month.", **SOON
    )
    hand.job("succeeded", settled_at=at(4), **SOON)
    hand.job(settled_at=at(4), tenant="globex", **SOON)
    found = await told(rows, limit=1, kinds=frozenset({TimelineKind.JOB}))
    assert [(each.kind, each.subject, each.sentence) for each in found] == [
        (TimelineKind.JOB, cancelled, "Plain of Job 2 was cancelled by Olle Lind: Wrong month."),
        (TimelineKind.JOB, failed, "Bank file of Job 1 failed (F-7K3M): The account is closed."),
    ]
    for job in (failed, cancelled, "not an id"):
        entry(rows, 5, "retry-job", job, detail={"reason": "Again."})
    entry(rows, 6, "stop-work", "acme", detail={"reason": "Wrong file"})
    asked = AskedTimeline(since=at(0), until=at(60), limit=9)
    narrowed = replace(rows.desk.actor(READER), customers=("C-1",))
    seen = (await read_timeline(rows.service, narrowed, asked, None)).entries
    assert [(each.kind.value, each.subject) for each in seen] == [("job", failed), ("act", failed), ("stop", "acme")]
    assert sum(each.kind is TimelineKind.ACT for each in await told(rows)) == 3
