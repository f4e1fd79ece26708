"""Owns plain aligned text about an operator's acts and runbooks for the headless twins. Pure; never cuts a value.

Every instant stands in UTC, and in the zone that is named beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from jobconsole.present.plain import pairs, table
from jobconsole.present.plain_schedules import occurrence_lines, planned_lines, workers_lines
from jobconsole.present.text import line
from jobconsole.present.times import local, utc
from jobcontract.acts import Enabling, MadeUp
from jobcontract.occurrences import Occurrence
from jobcontract.runbooks import Runbook, Runbooks, Transcript
from jobcontract.schedules import Disabled, Schedule
from jobcontract.workers import Worker


def _both(instant: datetime, zone: tzinfo) -> str:
    return f"{utc(instant)} ({local(instant, zone)})"


def made_lines(occurrence: Occurrence, zone: tzinfo) -> list[str]:
    """The occurrence that a person started."""
    return ["It was made, and starts once a Worker is free.", "", *occurrence_lines(occurrence, zone)]


def schedule_lines(schedule: Schedule, zone: tzinfo) -> list[str]:
    """A schedule after it was disabled or enabled."""
    return pairs(
        (
            ("schedule", f"{schedule.id} ({schedule.title})"),
            ("state", f"{schedule.standing}{f': {schedule.standing_words}' if schedule.standing_words else ''}"),
            *_disabled(schedule.disabled, zone),
            ("next", schedule.next_at and _both(schedule.next_at, zone)),
        )
    )


def _disabled(off: Disabled | None, zone: tzinfo) -> tuple[tuple[str, str | None], ...]:
    """Who disabled it, when, why, and until when; nothing where nobody did."""
    if off is None:
        return (("disabled", None), ("until", None))
    until = _both(off.until, zone) if off.until is not None else "until a person enables it"
    return (("disabled", f"by {off.by.id} ({off.by.name}), {_both(off.at, zone)}: {off.reason}"), ("until", until))


def enabling_lines(enabling: Enabling, off: Disabled | None, zone: tzinfo) -> list[str]:
    """Who disabled it, until when and why; what enabling would make up for and skip."""
    head = pairs(
        (
            ("schedule", enabling.schedule),
            *(_disabled(off, zone) if off is not None else (("disabled", "no"),)),
            ("enabling", enabling.words),
        )
    )
    rows = [*(_fate("runs", each) for each in enabling.runs), *(_fate("skipped", each) for each in enabling.skips)]
    listed = table(("what", "from", "to", "count", "why"), rows, right=(3,)) if rows else []
    following = planned_lines([enabling.next], "", zone) if enabling.next is not None else []
    return [*head, *(["", *listed] if listed else []), *(["", *following] if following else [])]


def _fate(word: str, each: MadeUp) -> Sequence[object]:
    return (word, utc(each.first_at), utc(each.last_at), f"{each.count:,}", each.words)


def replayed_lines(occurrence: Occurrence, zone: tzinfo) -> list[str]:
    """An occurrence that runs again."""
    head = f"It runs again: replay {occurrence.replays:,}. What is done stays done."
    return [head, "", *occurrence_lines(occurrence, zone)]


def discarded_lines(occurrence: Occurrence, zone: tzinfo) -> list[str]:
    """A dead letter that was put away."""
    return ["It is discarded: it counts and alarms no more.", "", *occurrence_lines(occurrence, zone)]


def worker_lines(worker: Worker, zone: tzinfo) -> list[str]:
    """A Worker after an order."""
    asked = worker.drain_asked_at is not None
    head = "It takes nothing new, and ends what it has." if asked else "It takes work again."
    return [head, "", *workers_lines((worker,), zone)]


def runbooks_lines(answer: Runbooks, zone: tzinfo) -> list[str]:
    """The procedures with their steps, then what was done, the latest first."""
    lines = [f"Runbooks of {line(answer.schedule)}"]
    for each in answer.runbooks:
        lines += ["", *_runbook_lines(each)]
    lines += ["", "What was done, the latest first:"]
    if not answer.transcript:
        return [*lines, "Nothing yet."]
    return [
        *lines,
        *table(("at", "on your clock", "who", "act", "of", "outcome", "said"), _done(answer.transcript, zone)),
    ]


def _runbook_lines(each: Runbook) -> list[str]:
    named = f"{each.procedure}: {line(each.title)}"
    steps = [f"  {number}. {line(step)}" for number, step in enumerate(each.steps, 1)]
    head = pairs(
        (
            ("  request", each.request),
            ("  command", each.command),
            ("  who may", f"{each.permission} ({', '.join(each.roles)})"),
            ("  not you", each.refused),
            ("  claimed", each.claimed),
        )
    )
    return [named, *steps, *head]


def _done(transcript: Sequence[Transcript], zone: tzinfo) -> list[Sequence[object]]:
    return [
        (
            utc(each.at),
            local(each.at, zone),
            each.person.id if each.person is not None else "the service",
            each.action,
            each.subject,
            each.outcome,
            each.sentence,
        )
        for each in transcript
    ]
