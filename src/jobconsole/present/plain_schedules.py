"""Owns plain aligned text about schedules, occurrences and Workers for the headless twins. Pure; never cuts a value.

Every instant stands in UTC, and in the zone that is named beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from jobconsole.present.attempts import cancel_words
from jobconsole.present.occurrences import CAUSES, attempts_text, late_text, left_text, started_late, times_text
from jobconsole.present.plain import pairs, table
from jobconsole.present.schedules import CLOCKS, WHERE, At, clock_words, signs, skip_words, utc_text, wall_text, zone_of
from jobconsole.present.text import line
from jobconsole.present.times import brief_span, local, utc
from jobcontract.occurrences import Attempt, Occurrence, OccurrenceDetail, OccurrenceItem, RefusedCompletion, Replay
from jobcontract.schedules import NextInstants, Planned, Schedule, ScheduleDetail, SkippedInstants
from jobcontract.workers import Worker


def schedules_lines(schedules: Sequence[Schedule], zone: tzinfo) -> list[str]:
    """One line a schedule: how it is doing, its rhythm in words, its next instant, its last outcomes."""
    rows = (
        (
            each.id,
            each.standing,
            each.rhythm.words if each.rhythm is not None else "started by a person",
            utc(each.next_at) if each.next_at is not None else "",
            local(each.next_at, zone) if each.next_at is not None else "",
            "".join(signs(each.recent)),
            each.standing_words,
        )
        for each in schedules
    )
    return table(("schedule", "state", "rhythm", "next", "on your clock", "last", "how it is doing"), rows)


def counts_line(total: int, late: int, parked: int, disabled: int) -> str:
    """`14 schedules: 1 late, 1 parked`."""
    told = [
        f"{count:,} {word}" for count, word in ((late, "late"), (parked, "parked"), (disabled, "disabled")) if count
    ]
    return f"{total:,} {'schedule' if total == 1 else 'schedules'}{': ' if told else ''}{', '.join(told)}"


def schedule_lines(detail: ScheduleDetail, zone: tzinfo) -> list[str]:
    """Everything of one schedule, its next five instants, and what was skipped of late."""
    schedule = detail.schedule
    off, misfire = schedule.disabled, schedule.misfire
    switched = None
    if off is not None:
        until = f"until {_both(off.until, zone)}" if off.until is not None else "until it is switched on"
        switched = f"by {off.by.id} ({off.by.name}), {_both(off.at, zone)}, {until}: {off.reason}"
    head = pairs(
        (
            ("schedule", f"{schedule.id} ({schedule.title})"),
            ("state", f"{schedule.standing}{f': {schedule.standing_words}' if schedule.standing_words else ''}"),
            ("look at", "the Workers: jobconsole workers" if schedule.standing in WHERE else None),
            ("disabled", switched),
            ("rhythm", schedule.rhythm.words if schedule.rhythm is not None else "started by a person"),
            *(("clock", words) for words in clock_words(schedule.rhythm)),
            ("zone", _zone_words(schedule)),
            ("missed", misfire and misfire.words),
            ("runs", f"{schedule.runs_title} ({schedule.runs})"),
            ("on", schedule.selection),
            ("batches", f"of {schedule.batch_size:,}{', each one transaction' if schedule.batch_path else ''}"),
            ("attempts", f"{schedule.attempts:,} of at most {brief_span(schedule.bound)}"),
            ("lock", schedule.lock),
            ("cursor", schedule.cursor and f"{schedule.cursor} stands at {schedule.position or 'its beginning'}"),
            ("kept", brief_span(schedule.retention)),
            ("due, not started", f"{schedule.waiting:,}" if schedule.waiting else None),
            ("dead letters", f"{schedule.dead:,}" if schedule.dead else None),
            ("last scheduled", schedule.last_scheduled_at and _both(schedule.last_scheduled_at, zone)),
            ("last started", schedule.last_started_at and _both(schedule.last_started_at, zone)),
            ("last completed", schedule.last_completed_at and _both(schedule.last_completed_at, zone)),
            ("last outcomes", "".join(signs(schedule.recent)) or "none so far"),
        )
    )
    following = planned_lines(detail.next, zone_of(schedule.rhythm), zone)
    words = [line(detail.next_words)] if detail.next_words else []
    skipped = ["", *skipped_lines(detail.skipped, zone)] if detail.skipped else []
    return [*head, "", *following, *words, *skipped]


def _zone_words(schedule: Schedule) -> str | None:
    rhythm = schedule.rhythm
    if rhythm is None:
        return None
    return f"{rhythm.zone}{f': {rhythm.reason}' if rhythm.reason else ''}"


def next_lines(answer: NextInstants, zone: tzinfo) -> list[str]:
    """What a rhythm does after an instant: each in UTC, on the zone's clock and on one's own."""
    zoned = zone_of(answer.rhythm) or ("" if answer.zone.upper() == "UTC" else answer.zone)
    head = pairs(
        (
            ("schedule", answer.schedule),
            ("rhythm", answer.rhythm.words if answer.rhythm is not None else "started by a person"),
            ("after", _both(answer.after, zone)),
            ("zone", f"{answer.zone} (tzdata {answer.tzdata})"),
        )
    )
    return [
        *head,
        "",
        *planned_lines(answer.instants, zoned, zone),
        *([line(answer.words)] if answer.words else []),
    ]


def planned_lines(instants: Sequence[Planned], zoned: str, zone: tzinfo) -> list[str]:
    """One line an instant; a local time that does not run says why."""
    rows = [
        (
            utc(each.at),
            wall_text(each, zoned),
            local(each.at, zone),
            "" if each.runs else "does not run",
            each.words or (CLOCKS[each.clock] if each.clock is not None else ""),
        )
        for each in instants
    ]
    if not instants:
        return []
    if zoned:
        return table(("next", zoned, "on your clock", "", "clock"), rows)
    return table(("next", "on your clock"), ((at, own) for at, _, own, *_ in rows))


def skipped_lines(skipped: Sequence[SkippedInstants], zone: tzinfo) -> list[str]:
    """One line a run of instants that never ran, and what ran in their place."""
    rows = (
        (
            utc_text(each.first_at),
            utc_text(each.last_at),
            f"{each.count:,}",
            each.policy,
            skip_words(each),
            utc_text(each.merged_into) if each.merged_into is not None else "",
            local(each.decided_at, zone),
        )
        for each in skipped
    )
    return table(("skipped from", "to", "count", "policy", "why", "ran as", "decided"), rows, right=(2,))


def occurrences_lines(occurrences: Sequence[Occurrence], at: At) -> list[str]:
    """One line an occurrence, the latest scheduled first; what is late says by how much."""
    rows = (
        (
            each.name,
            each.state,
            local(each.scheduled_at, at.zone),
            attempts_text(each),
            f"{each.items.done:,}",
            f"{each.items.refused:,}",
            f"{each.items.failed:,}",
            f"{each.items.unfinished:,}",
            late_text(each, at),
            "" if each.ended_at is None else local(each.ended_at, at.zone),
            each.cause or "",
            each.error or "",
            each.id,
        )
        for each in occurrences
    )
    counts = ("done", "refused", "failed", "without an outcome")
    heads = ("occurrence", "state", "on your clock", "attempts", *counts, "late", "ended", "cause", "error", "id")
    return table(heads, rows, right=(4, 5, 6, 7))


def occurrence_lines(occurrence: Occurrence, zone: tzinfo) -> list[str]:
    """Where one occurrence stands."""
    lease, asked = occurrence.lease, occurrence.cancel_asked_at
    cancelled = None
    if asked is not None:
        by = occurrence.cancelled_by
        who = f"by {by.id} ({by.name})" if by is not None else "by somebody"
        cancelled = f"{who}, {_both(asked, zone)}: {occurrence.cancel_reason or ''}"
    clock = f", {CLOCKS[occurrence.clock]}" if occurrence.clock is not None else ""
    wall = f" = {occurrence.local:%a %Y-%m-%d %H:%M:%S} in {occurrence.zone}{clock}" if occurrence.local else ""
    return pairs(
        (
            ("occurrence", f"{occurrence.name} ({occurrence.id})"),
            ("tenant", occurrence.tenant),
            ("zone", f"{occurrence.zone} (tzdata {occurrence.tzdata}{_policy(occurrence)})"),
            ("state", occurrence.state),
            ("cause", _cause(occurrence)),
            ("error", occurrence.error),
            ("cancel asked", cancelled),
            ("discarded", _discarded(occurrence, zone)),
            ("replayed", times_text(occurrence.replays) if occurrence.replays else None),
            ("scheduled", f"{_both(occurrence.scheduled_at, zone)}{wall}"),
            ("origin", occurrence.origin),
            ("due", None if occurrence.state.ended else _both(occurrence.due_at, zone)),
            ("attempts", attempts_text(occurrence)),
            (
                "lease",
                lease
                and f"Worker {lease.worker} on {lease.host}, fence {lease.fence:,}, taken {_both(lease.taken_at, zone)}, "
                f"renewed {lease.renewals:,} times, expires {_both(lease.expires_at, zone)}",
            ),
            (
                "started",
                occurrence.started_at and f"{_both(occurrence.started_at, zone)}{started_late(occurrence)}",
            ),
            ("ended", occurrence.ended_at and _both(occurrence.ended_at, zone)),
            ("items", _items(occurrence)),
        )
    )


def _discarded(occurrence: Occurrence, zone: tzinfo) -> str | None:
    if occurrence.discarded_at is None:
        return None
    by = occurrence.discarded_by
    who = f"by {by.id} ({by.name})" if by is not None else "by somebody"
    return f"{who}, {_both(occurrence.discarded_at, zone)}: {occurrence.discard_reason or ''}"


def _items(occurrence: Occurrence) -> str:
    counts, left = occurrence.items, left_text(occurrence)
    if not counts.done + counts.refused + counts.failed + counts.unfinished:
        return left
    told = (
        f"{counts.done:,} done, {counts.refused:,} refused, {counts.failed:,} failed, {counts.unfinished:,} without an "
        "outcome"
    )
    return f"{told}; {left}" if left else told


def _policy(occurrence: Occurrence) -> str:
    """What its schedule stated for skipped and for repeated times, as it was when it was planned."""
    return "" if occurrence.clock_policy is None else f"; skipped and repeated times: {occurrence.clock_policy}"


def _cause(occurrence: Occurrence) -> str | None:
    cause = occurrence.cause
    if cause is None:
        return None
    words = CAUSES[cause]
    return cause.value if words == cause.value else f"{cause}: {words}"


def detail_lines(detail: OccurrenceDetail, zone: tzinfo) -> list[str]:
    """One occurrence with its attempts, the late writes that were refused, and the first of its items."""
    return [
        *occurrence_lines(detail.occurrence, zone),
        *(["", *attempts_lines(detail.attempts, zone)] if detail.attempts else []),
        *(["", *refused_lines(detail.refused, zone)] if detail.refused else []),
        *(["", *replays_lines(detail.replays, zone)] if detail.replays else []),
        *(["", *items_lines(detail.items, zone)] if detail.items else []),
    ]


def attempts_lines(attempts: Sequence[Attempt], zone: tzinfo) -> list[str]:
    """One line an attempt that ended, newest first."""
    rows = (
        (
            f"{each.attempt:,}",
            each.ending,
            f"{each.fence:,}",
            each.worker,
            each.host,
            _both(each.taken_at, zone),
            utc(each.ended_at),
            f"{each.renewals:,}",
            each.error or "",
        )
        for each in attempts
    )
    heads = ("attempt", "ended", "fence", "Worker", "host", "taken", "until", "renewed", "error")
    return table(heads, rows, right=(0, 2, 7))


def refused_lines(refused: Sequence[RefusedCompletion], zone: tzinfo) -> list[str]:
    """One line a write that came too late and changed nothing."""
    rows = ((f"{each.fence:,}", each.worker, each.host, _both(each.at, zone), each.what) for each in refused)
    return table(("late fence", "Worker", "host", "refused", "what it wanted to write"), rows, right=(0,))


def replays_lines(replays: Sequence[Replay], zone: tzinfo) -> list[str]:
    """One line a replay, the latest first: who had it run again and why, and how it had ended before."""
    rows = (
        (
            f"{each.replay:,}",
            each.person.id,
            _both(each.at, zone),
            each.recovery or "",
            each.reason,
            each.state_before,
            each.cause_before or "",
            utc(each.ended_before),
            f"{each.attempts_before:,}",
            f"{each.not_done:,}",
        )
        for each in replays
    )
    heads = ("replay", "by", "at", "recovery", "why", "before", "cause", "had ended", "attempts", "items again")
    return table(heads, rows, right=(0, 8, 9))


def items_lines(items: Sequence[OccurrenceItem], zone: tzinfo) -> list[str]:
    """One line an item of a run, what failed first."""
    rows = (
        (
            f"{each.number:,}",
            each.key,
            each.label,
            each.outcome or "none so far",
            f"{each.attempts:,}",
            _both(each.try_at, zone) if each.try_at is not None else "",
            each.sentence or "",
        )
        for each in items
    )
    return table(("item", "key", "what", "outcome", "attempts", "again", "how it ended"), rows, right=(0, 4))


def cancelled_lines(occurrence: Occurrence, zone: tzinfo) -> list[str]:
    """What cancelling does, then where it stands."""
    told = [] if occurrence.state.ended else [*cancel_words(occurrence)[:1], ""]
    return [*(line(each) for each in told), *occurrence_lines(occurrence, zone)]


def workers_lines(workers: Sequence[Worker], zone: tzinfo) -> list[str]:
    """One line a Worker, the newest first."""
    rows = (
        (
            each.incarnation,
            each.host,
            each.standing,
            f"{each.processing:,}",
            f"{each.slots:,}",
            _both(each.started_at, zone),
            _both(each.beat_at, zone),
            each.version,
            _drained(each, zone),
        )
        for each in workers
    )
    heads = ("Worker", "host", "state", "processing", "slots", "since", "last heard", "version", "drained")
    return table(heads, rows, right=(3, 4)) if workers else ["No Worker lives, and none stopped within the last day."]


def _drained(worker: Worker, zone: tzinfo) -> str:
    if worker.drain_asked_at is None:
        return ""
    by = worker.drain_asked_by.id if worker.drain_asked_by is not None else "somebody"
    return f"by {by}, {_both(worker.drain_asked_at, zone)}: {worker.drain_reason or ''}"


def _both(instant: datetime, zone: tzinfo) -> str:
    return f"{utc(instant)} ({local(instant, zone)})"
