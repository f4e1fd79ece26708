"""Owns what an operator's acts say before they are done, and what became of them: on a schedule, an occurrence, a Worker.
Pure; what enabling makes up for is the service's sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.occurrences import CAUSES, STATES
from jobconsole.present.schedules import At, disabled_text, planned_line, utc_text, zone_of
from jobconsole.present.times import ago, both
from jobcontract.states import OccurrenceState

if TYPE_CHECKING:
    from jobcontract.acts import Enabling, MadeUp
    from jobcontract.occurrences import Occurrence
    from jobcontract.schedules import Schedule
    from jobcontract.workers import Worker

SHORT_ID = 8
"""Characters of an incarnation that are shown."""
RUNS_MOST = 4
"""Most runs of instants of one fate that a dialog lists; the rest are counted."""


def _labelled(label: str, *pieces: Piece) -> Line:
    return (Piece(f"{label} ".ljust(10), Tone.QUIET), *pieces)


# On a schedule


def run_lines(schedule: Schedule) -> Sequence[Line]:
    """What is run, and by whom, when and where it may be: the guard of its record."""
    guard = schedule.guard
    head: list[Line] = [
        (Piece(schedule.id, Tone.STRONG), Piece(f" {schedule.title}", Tone.QUIET)),
        _labelled("runs", Piece(f"{schedule.runs_title} ({schedule.runs})")),
    ]
    if guard is not None:
        head += [
            _labelled("who", Piece(f"whoever has {guard.permission}")),
            _labelled("when", Piece(guard.windows)),
            _labelled("where", Piece(", ".join(guard.where) or "in every deployment")),
        ]
    return [*head, (Piece("It starts once a Worker is free, never twice together."),)]


def disable_lines(schedule: Schedule, at: At) -> Sequence[Line]:
    """What disabling does to the schedule; of one that is disabled, who did that and until when."""
    if schedule.disabled is not None:
        return (
            (Piece(schedule.id, Tone.STRONG), Piece(f" {schedule.title}", Tone.QUIET)),
            (Piece(f"‖ {disabled_text(schedule.disabled, at)}", Tone.WARN),),
            (Piece("It stays disabled for longer: until the time below, or without one until a person enables it."),),
        )
    return (
        (Piece(schedule.id, Tone.STRONG), Piece(f" {schedule.title}", Tone.QUIET)),
        (Piece("Nothing of it starts any more. What runs goes on to its end."),),
        (Piece("What it misses counts as downtime, for its misfire policy."),),
    )


def enable_lines(enabling: Enabling, schedule: Schedule, at: At) -> Sequence[Line]:
    """What enabling now would make up for and skip, and when it runs next: before it is confirmed."""
    off = schedule.disabled
    lines: list[Line] = [(Piece(schedule.id, Tone.STRONG), Piece(f" {schedule.title}", Tone.QUIET))]
    if off is not None:
        lines.append((Piece(f'‖ by {off.by.id} {ago(off.at, at.now)}: "{off.reason}"', Tone.WARN),))
    lines.append((Piece(enabling.words, Tone.STRONG),))
    lines += _fates("makes up", enabling.runs, Tone.GOOD) + _fates("skips", enabling.skips, Tone.WARN)
    if enabling.next is not None:
        lines.append(_labelled("then", *planned_line(enabling.next, zone_of(schedule.rhythm), at)))
    return lines


def _fates(label: str, fates: Sequence[MadeUp], tone: Tone) -> list[Line]:
    lines: list[Line] = []
    for each in fates[:RUNS_MOST]:
        span = utc_text(each.first_at)
        if each.count > 1:
            span = f"{each.count:,} from {span} to {utc_text(each.last_at)}"
        words = f" · {each.words}" if each.words else ""
        lines.append(_labelled("" if lines else label, Piece(span, tone), Piece(words, Tone.QUIET)))
    rest = sum(each.count for each in fates[RUNS_MOST:])
    return [*lines, *([_labelled("", Piece(f"and {rest:,} more", Tone.QUIET))] if rest else [])]


def disabled_words(schedule: Schedule, at: At) -> str:
    """That it was disabled, and until when."""
    off = schedule.disabled
    until = f" until {both(off.until, at.zone)}" if off is not None and off.until is not None else ""
    return f"{schedule.id} is disabled{until}; what runs goes on to its end."


# On an occurrence


def replay_lines(occurrence: Occurrence, at: At) -> Sequence[Line]:
    """What replaying does to the occurrence as it stands: which items run again, which do not."""
    word, tone = STATES[occurrence.state]
    cause = f" · {CAUSES[occurrence.cause]}" if occurrence.cause is not None else ""
    ended = f" {ago(occurrence.ended_at, at.now)}" if occurrence.ended_at is not None else ""
    counts = occurrence.items
    again = counts.refused + counts.failed + counts.unfinished
    if again:
        what = f"{again:,} {'item runs' if again == 1 else 'items run'} again; {counts.done:,} done stay done."
    elif counts.done and counts.selected_all:
        what = f"All {counts.done:,} items are done and stay done: it runs again and finds nothing to do."
    else:
        what = "Its items are selected where the selection stopped; what is done stays done."
    lines: list[Line] = [
        (Piece(occurrence.name, Tone.STRONG),),
        (Piece(word, tone), Piece(f"{ended}{cause}")),
        (Piece(what),),
    ]
    if counts.failed + counts.refused and not counts.selected_all:
        lines.append((Piece("The selection goes on behind where it stopped."),))
    if occurrence.discarded_at is not None:
        lines.append((Piece("It was discarded; replayed it counts again.", Tone.WARN),))
    return [*lines, (Piece("It starts as a new attempt, with the attempts that its schedule allows.", Tone.QUIET),)]


def discard_lines(occurrence: Occurrence, at: At) -> Sequence[Line]:
    """What discarding does to the dead letter."""
    cause = CAUSES[occurrence.cause] if occurrence.cause is not None else "no machine tries it again"
    ended = f" {ago(occurrence.ended_at, at.now)}" if occurrence.ended_at is not None else ""
    open_items = occurrence.items.failed + occurrence.items.unfinished
    items = "1 item of it stays" if open_items == 1 else f"{open_items:,} items of it stay"
    return [
        (Piece(occurrence.name, Tone.STRONG),),
        (Piece(STATES[OccurrenceState.DEAD_LETTER][0], Tone.BAD), Piece(f"{ended} · {cause}")),
        *([(Piece(f"{items} undone.", Tone.WARN),)] if open_items else []),
        (
            Piece(
                "It is discarded: it stays to be read, and neither counts nor alarms any more. It can still be replayed."
            ),
        ),
    ]


def replayed_words(occurrence: Occurrence) -> str:
    """That it runs again, and under which number."""
    return f"{occurrence.name} runs again: replay {occurrence.replays:,}. It starts once a Worker is free."


# On a Worker


def drain_lines(worker: Worker) -> Sequence[Line]:
    """What draining does to the Worker."""
    held = worker.processing
    holds = "1 occurrence" if held == 1 else f"{held:,} occurrences"
    return (
        (Piece(f"Worker {worker.incarnation[:SHORT_ID]} on {worker.host}", Tone.STRONG), Piece(f" · {worker.version}")),
        (Piece("It takes nothing new, of no tenant, and ends what it has without a limit of time. It stays alive."),),
        (Piece(f"Of this tenant it holds {holds} now." if held else "Of this tenant it holds nothing now."),),
    )


def undrain_lines(worker: Worker, at: At) -> Sequence[Line]:
    """What letting it take work again does, and who had asked it to drain."""
    by = worker.drain_asked_by.id if worker.drain_asked_by is not None else "somebody"
    asked = f" {ago(worker.drain_asked_at, at.now)}" if worker.drain_asked_at is not None else ""
    return (
        (Piece(f"Worker {worker.incarnation[:SHORT_ID]} on {worker.host}", Tone.STRONG), Piece(f" · {worker.version}")),
        (Piece(f'‖ asked to drain by {by}{asked}: "{worker.drain_reason or ""}"', Tone.WARN),),
        (Piece("It takes work again, of every tenant, within a few seconds."),),
    )
