"""Owns the values of a schedule, an occurrence and its items as the fake service makes them. Values alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta

from jobcontract.occurrence_names import occurrence_name
from jobcontract.occurrences import ItemCounts, Lease, Occurrence, OccurrenceItem
from jobcontract.schedules import Misfire, Rhythm, Schedule
from jobcontract.states import (
    DeadCause,
    MisfirePolicy,
    OccurrenceOrigin,
    OccurrenceState,
    OutcomeKind,
    ScheduleStanding,
    ScheduleType,
)

ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)
ATTEMPTS = 3


def scheduled(identifier: str, tenant: str, *, every: int | None, title: str | None) -> Schedule:
    """A schedule that runs every so many seconds, or by hand."""
    rhythm = None
    if every is not None:
        rhythm = Rhythm(
            words=f"every {every} s from {ANCHOR:%Y-%m-%d} on, UTC",
            every=every,
            anchor=ANCHOR,
            cron=None,
            zone="UTC",
            reason=None,
            skipped=None,
            repeated=None,
        )
    misfire = Misfire(policy=MisfirePolicy.SKIP, after=60, newest=None, words="A missed instant is skipped.")
    return Schedule(
        id=identifier,
        title=title or identifier.rpartition(".")[2].title(),
        tenant=tenant,
        type=ScheduleType.MANUAL if every is None else ScheduleType.SCHEDULED,
        rhythm=rhythm,
        misfire=None if every is None else misfire,
        runs="t.send",
        runs_title="Send it",
        selection="once, for the occurrence itself",
        batch_size=100,
        batch_path=False,
        lock=identifier,
        bound=300,
        attempts=ATTEMPTS,
        backoff_first=10,
        backoff_most=600,
        cursor=None,
        position=None,
        retention=30 * 86_400,
        standing=ScheduleStanding.MANUAL if every is None else ScheduleStanding.ON_TIME,
        standing_words="As it should be.",
        next_at=None,
        disabled=None,
        waiting=0,
        dead=0,
        last_scheduled_at=None,
        last_started_at=None,
        last_completed_at=None,
        recent=(),
        version=1,
    )


def occurrence(
    identifier: str, schedule: str, tenant: str, at: datetime, state: OccurrenceState, now: datetime
) -> Occurrence:
    """An occurrence in that state, with what the state needs."""
    started = state is not OccurrenceState.SCHEDULED
    return Occurrence(
        id=identifier,
        name=occurrence_name(schedule, at),
        schedule=schedule,
        tenant=tenant,
        scheduled_at=at,
        local=None,
        zone="UTC",
        clock=None,
        clock_policy=None,
        tzdata="2026f",
        origin=OccurrenceOrigin.PLANNED,
        state=state,
        due_at=at,
        attempts=1 if started else 0,
        attempts_most=ATTEMPTS,
        started_at=now if started else None,
        ended_at=now if state.ended else None,
        lease=Lease(
            worker="00000000-0000-4000-8000-000000000001",
            host="",
            fence=1,
            taken_at=now,
            expires_at=now + timedelta(seconds=30),
            renewals=0,
        )
        if state is OccurrenceState.PROCESSING
        else None,
        items=ItemCounts(done=0, refused=0, failed=0, unfinished=0, selected_all=state is OccurrenceState.COMPLETED),
        cause=DeadCause.FAILED if state is OccurrenceState.DEAD_LETTER else None,
        error=None,
        cancel_asked_at=None,
        cancelled_by=None,
        cancel_reason=None,
        version=1,
    )


def of_run(outcomes: Iterable[OutcomeKind | None], now: datetime) -> list[OccurrenceItem]:
    """Items with these outcomes, numbered from 1."""
    return [
        OccurrenceItem(
            number=number,
            key=f"k-{number}",
            label=f"Item {number}",
            outcome=outcome,
            attempts=0,
            try_at=None,
            sentence=None,
            ended_at=None if outcome is None else now,
        )
        for number, outcome in enumerate(outcomes, 1)
    ]


def counted(row: Occurrence, items: Collection[OccurrenceItem]) -> Occurrence:
    """An occurrence with its items counted by their rows, as the service does until an attempt is settled: what was
    selected and has no row is done."""
    if row.state is OccurrenceState.COMPLETED or not items:
        return row
    kept, outcomes = row.items, [each.outcome for each in items]
    selected = max(kept.done + kept.refused + kept.failed + kept.unfinished, len(items))
    refused = max(kept.refused, outcomes.count(OutcomeKind.REFUSED))
    failed = max(kept.failed, outcomes.count(OutcomeKind.FAILED) + outcomes.count(OutcomeKind.UNCERTAIN))
    unfinished = outcomes.count(None)
    done = max(kept.done, selected - refused - failed - unfinished)
    counts = {"done": done, "refused": refused, "failed": failed, "unfinished": unfinished}
    return row.model_copy(update={"items": kept.model_copy(update=counts)})


def ended_words(row: Occurrence) -> str:
    """How it ended."""
    at = "" if row.ended_at is None else f" at {row.ended_at:%Y-%m-%d %H:%M:%S} UTC"
    if row.cause is None:
        return f"was completed{at}"
    return f"was cancelled{at}" if row.cause is DeadCause.CANCELLED else f"became a dead letter{at} ({row.cause})"
