"""Owns how occurrences are written: their list, where one stands, who holds it under which fence, who asked to
cancel it, how far its items are. Pure. Its attempts and items one by one: `attempts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined
from jobconsole.present.schedules import CLOCKS, LATE_SECONDS, At, is_utc, utc_text
from jobconsole.present.times import ago, both, brief_span, countdown, lasted
from jobcontract.states import DeadCause, OccurrenceOrigin, OccurrenceState

if TYPE_CHECKING:
    from jobcontract.occurrences import ItemCounts, Lease, Occurrence

LABEL = 10
"""Cells of a label in the detail."""
SHORT_ID = 8
"""Characters of an incarnation that are shown in a list."""
STATES: Mapping[OccurrenceState, tuple[str, Tone]] = {
    OccurrenceState.SCHEDULED: ("○ scheduled", Tone.PLAIN),
    OccurrenceState.PROCESSING: ("◆ processing", Tone.MINE),
    OccurrenceState.COMPLETED: ("✓ completed", Tone.GOOD),
    OccurrenceState.DEAD_LETTER: ("✗ dead letter", Tone.BAD),
}
"""Sign and word of each of the four states."""
CAUSES: Mapping[DeadCause, str] = {
    DeadCause.FAILED: "its attempts are used up",
    DeadCause.OVER_BOUND: "it took longer than it may",
    DeadCause.WORKER_LOST: "its Worker was lost",
    DeadCause.CANCELLED: "cancelled",
    DeadCause.UNRUNNABLE: "the records do not have it any more",
}
FILTERS: Sequence[tuple[str, tuple[OccurrenceState, ...]]] = (
    ("all", ()),
    ("scheduled", (OccurrenceState.SCHEDULED,)),
    ("processing", (OccurrenceState.PROCESSING,)),
    ("dead letters", (OccurrenceState.DEAD_LETTER,)),
    ("completed", (OccurrenceState.COMPLETED,)),
)
"""What the key of states goes through."""


# The list


def occurrences_columns() -> tuple[Column, ...]:
    """The columns of the occurrences of a schedule."""
    return (
        Column(id="state", label="state", least=12, whole=True),
        Column(id="scheduled", label="scheduled", least=17, whole=True),
        Column(id="when", label="when", least=7, uncut=True, most=16, yields=0),
        Column(id="attempts", label="tries", least=5, right=True, uncut=True, most=9, yields=3),
        Column(id="items", label="items", least=5, uncut=True, most=30, yields=4),
        Column(id="what", label="what happened", least=20, yields=1),
    )


def occurrences_cells(occurrence: Occurrence, at: At) -> Mapping[str, Piece]:
    """The cells of one occurrence's row by column id."""
    word, tone = STATES[occurrence.state]
    failed = occurrence.items.failed > 0
    return {
        "state": Piece(word, tone),
        "scheduled": Piece(utc_text(occurrence.scheduled_at), Tone.STRONG),
        "when": Piece(ago(occurrence.scheduled_at, at.now), Tone.QUIET),
        "attempts": Piece(attempts_text(occurrence)),
        "items": Piece(counts_text(occurrence.items), Tone.BAD if failed else Tone.PLAIN),
        "what": Piece(
            what_text(occurrence, at),
            Tone.WARN if occurrence.cancel_asked_at or overdue(occurrence, at) else Tone.PLAIN,
        ),
    }


def attempts_text(occurrence: Occurrence) -> str:
    """`2 of 3`; only the count where the records do not say how many there may be."""
    most = occurrence.attempts_most
    return f"{occurrence.attempts:,} of {most:,}" if most is not None else f"{occurrence.attempts:,}"


def counts_text(counts: ItemCounts) -> str:
    """`2 of 120 failed`, `41 of 120`, `120 done`: what matters most of the items; a dash where none was selected."""
    whole = counts.done + counts.refused + counts.failed + counts.unfinished
    if counts.failed:
        return f"{counts.failed:,} of {whole:,} failed"
    if counts.unfinished:
        return f"{whole - counts.unfinished:,} of {whole:,}"
    refused = f", {counts.refused:,} refused" if counts.refused else ""
    return f"{counts.done:,} done{refused}" if whole else "–"


def what_text(occurrence: Occurrence, at: At) -> str:
    """What a reader of the list wants to know of it beyond its state."""
    if occurrence.discarded_at is not None:
        by = occurrence.discarded_by.id if occurrence.discarded_by is not None else "somebody"
        return f'discarded by {by}: "{occurrence.discard_reason or ""}"'
    if occurrence.state is OccurrenceState.DEAD_LETTER:
        return occurrence.error or (CAUSES[occurrence.cause] if occurrence.cause is not None else "")
    if occurrence.cancel_asked_at is not None:
        return "cancelling …"
    if occurrence.state is OccurrenceState.PROCESSING and occurrence.lease is not None:
        return f"on {host_text(occurrence.lease.host)} since {ago(occurrence.lease.taken_at, at.now)}"
    if occurrence.state is OccurrenceState.SCHEDULED and occurrence.attempts:
        return f"next attempt {_due(occurrence, at)}"
    if overdue(occurrence, at):
        return late_text(occurrence, at)
    if occurrence.state is OccurrenceState.COMPLETED and occurrence.started_at and occurrence.ended_at:
        took = lasted((occurrence.ended_at - occurrence.started_at).total_seconds())
        again = f" · replayed {times_text(occurrence.replays)}" if occurrence.replays else ""
        return f"took {took}{started_late(occurrence)}{_origin(occurrence)}{again}"
    return _origin(occurrence).removeprefix(" · ")


def overdue(occurrence: Occurrence, at: At) -> bool:
    """Whether it waits although its time, or that of its next attempt, is over."""
    waits = occurrence.state is OccurrenceState.SCHEDULED
    return waits and (at.now - occurrence.due_at).total_seconds() > LATE_SECONDS


def late_text(occurrence: Occurrence, at: At) -> str:
    """`not started, due since 45 s`, `next attempt since 45 s`, `started 37 s late`; empty where it is not late."""
    if not overdue(occurrence, at):
        return started_late(occurrence).removeprefix(" · ")
    if occurrence.cancel_asked_at is not None:
        return ""
    return f"{'next attempt' if occurrence.attempts else 'not started, due'} {_due(occurrence, at)}"


def started_late(occurrence: Occurrence) -> str:
    """By how much its first attempt began after its time; nothing where that is as it should be."""
    if occurrence.started_at is None or occurrence.origin is OccurrenceOrigin.MANUAL:
        return ""
    late = (occurrence.started_at - occurrence.scheduled_at).total_seconds()
    return f" · started {brief_span(late)} late" if late > LATE_SECONDS else ""


def _origin(occurrence: Occurrence) -> str:
    return {
        OccurrenceOrigin.PLANNED: "",
        OccurrenceOrigin.MADE_UP: " · made up for missed ones",
        OccurrenceOrigin.MANUAL: " · started by a person",
    }[occurrence.origin]


def _due(occurrence: Occurrence, at: At) -> str:
    seconds = (occurrence.due_at - at.now).total_seconds()
    if seconds >= 1:
        return f"in {brief_span(seconds)}"
    return f"since {brief_span(-seconds)}" if overdue(occurrence, at) else "now"


def occurrences_title(schedule: str, shown: int, loaded: int, *, more: bool, key: str) -> list[Line]:
    """`Occurrences of statements.nightly · 50 rows, more follow`, then `[all]  scheduled  …  v`; `shown` is an index of
    `FILTERS`."""
    states = [
        Piece(f"[{word}]" if at == shown else word, Tone.STRONG if at == shown else Tone.QUIET)
        for at, (word, _) in enumerate(FILTERS)
    ]
    rows = f"{loaded:,} {'row' if loaded == 1 else 'rows'}{', more follow' if more else ''}"
    return [
        (Piece("Occurrences of ", Tone.QUIET), Piece(schedule, Tone.STRONG), Piece(f" · {rows}", Tone.QUIET)),
        (*joined(states, "  "), Piece("  "), Piece(key, Tone.MINE)),
    ]


def row_lines(occurrence: Occurrence, at: At) -> list[Line]:
    """What is to know of the occurrence under the cursor, in full."""
    word, tone = STATES[occurrence.state]
    what = what_text(occurrence, at)
    head = joined([Piece(word, tone), Piece(occurrence.name, Tone.STRONG), Piece(ago(occurrence.scheduled_at, at.now))])
    return [head, *([(Piece(what, tone if occurrence.error else Tone.PLAIN),)] if what else [])]


def empty_words(schedule: str, shown: int, key: str) -> str:
    """Why there is nothing to see, and what to do next."""
    word = FILTERS[shown][0]
    if shown == 0:
        return f"{schedule} has no occurrence that is kept. The next one appears here by itself, once it is planned."
    kind = "dead letter" if word == "dead letters" else word
    return f"No occurrence of {schedule} is {'a ' if word == 'dead letters' else ''}{kind}. {key} shows the next state."


# One occurrence


def occurrence_title(occurrence: Occurrence) -> Line:
    """`✗ dead letter · statements.nightly@2026-10-26T01:30:00Z`."""
    word, tone = STATES[occurrence.state]
    return (Piece(word, tone), Piece(" · ", Tone.QUIET), Piece(occurrence.name, Tone.STRONG))


def occurrence_lines(occurrence: Occurrence, at: At) -> list[Line]:
    """Where it stands: why it ended, who holds it, when it was scheduled, how far its items are."""
    lines: list[Line] = []
    if occurrence.state is OccurrenceState.DEAD_LETTER:
        cause = CAUSES[occurrence.cause] if occurrence.cause is not None else "no machine tries it again"
        lines.append(_labelled("cause", Piece(cause, Tone.BAD)))
    if occurrence.error:
        lines.append(_labelled("error", Piece(occurrence.error, Tone.BAD)))
    lines += _cancel_lines(occurrence, at) + _discard_lines(occurrence, at)
    if occurrence.lease is not None:
        lines.append(_labelled("lease", *lease_pieces(occurrence.lease, at)))
    elif occurrence.state is OccurrenceState.SCHEDULED:
        waits = (
            f"for its next attempt, {_due(occurrence, at)}" if occurrence.attempts else f"due {_due(occurrence, at)}"
        )
        tone = Tone.WARN if overdue(occurrence, at) else Tone.PLAIN
        lines.append(_labelled("waits", Piece(f"{waits} ({utc_text(occurrence.due_at)})", tone)))
    return [
        *lines,
        _labelled("scheduled", *_scheduled_pieces(occurrence, at)),
        *_run_lines(occurrence, at),
        _labelled("items", *_counts_pieces(occurrence)),
    ]


def lease_pieces(lease: Lease, at: At) -> Line:
    """Who holds it, under which fence, since when, how often renewed, until when."""
    left = (lease.expires_at - at.now).total_seconds()
    until = f"expires in {countdown(left)}" if left > 0 else f"ran out {ago(lease.expires_at, at.now)}"
    renewed = "not renewed yet" if not lease.renewals else f"renewed {times_text(lease.renewals)}"
    return (
        Piece(f"Worker {lease.worker[:SHORT_ID]} on {host_text(lease.host)}", Tone.MINE),
        Piece(f" · fence {lease.fence:,} · taken {ago(lease.taken_at, at.now)} · {renewed} · "),
        Piece(until, Tone.PLAIN if left > 0 else Tone.WARN),
    )


def host_text(host: str) -> str:
    """The host of a Worker, in words where it is not known any more."""
    return host or "a host not known any more"


def times_text(count: int) -> str:
    """`once`, `3 times`."""
    return "once" if count == 1 else f"{count:,} times"


def _cancel_lines(occurrence: Occurrence, at: At) -> list[Line]:
    if occurrence.cancel_asked_at is None:
        return []
    by = occurrence.cancelled_by.id if occurrence.cancelled_by is not None else "somebody"
    why = f": {occurrence.cancel_reason}" if occurrence.cancel_reason else ""
    told = f"asked for by {by} {ago(occurrence.cancel_asked_at, at.now)}{why}"
    return [_labelled("cancelled" if occurrence.state.ended else "cancelling", Piece(told, Tone.WARN))]


def _discard_lines(occurrence: Occurrence, at: At) -> list[Line]:
    if occurrence.discarded_at is None:
        return []
    by = occurrence.discarded_by.id if occurrence.discarded_by is not None else "somebody"
    told = f'by {by} {ago(occurrence.discarded_at, at.now)}: "{occurrence.discard_reason or ""}"'
    return [_labelled("discarded", Piece(told, Tone.WARN))]


def _scheduled_pieces(occurrence: Occurrence, at: At) -> Sequence[Piece]:
    local = ""
    if occurrence.local is not None and not is_utc(occurrence.zone):
        same = occurrence.local.date() == occurrence.scheduled_at.astimezone(UTC).date()
        local = f" = {occurrence.local:{'%a %H:%M' if same else '%a %Y-%m-%d %H:%M'}} in {occurrence.zone}"
    clock = f", {CLOCKS[occurrence.clock]}" if occurrence.clock is not None else ""
    return (
        Piece(f"{utc_text(occurrence.scheduled_at)}{local}"),
        Piece(clock, Tone.WARN),
        Piece(f" · {ago(occurrence.scheduled_at, at.now)}{_origin(occurrence)}", Tone.QUIET),
    )


def _run_lines(occurrence: Occurrence, at: At) -> list[Line]:
    tries = f"{attempts_text(occurrence)} {'attempt' if occurrence.attempts_most == 1 else 'attempts'}"
    if occurrence.replays:
        tries += f" · replayed {times_text(occurrence.replays)}"
    if occurrence.started_at is None:
        # The start is written when the lease is first renewed, or at the end: until then only the lease tells of it.
        began = f"taken {ago(lease.taken_at, at.now)}" if (lease := occurrence.lease) is not None else "not started"
        return [_labelled("ran", Piece(began), Piece(f" · {tries}", Tone.QUIET))]
    started = both(occurrence.started_at, at.zone)
    took = ""
    if occurrence.ended_at is not None:
        took = f" · took {lasted((occurrence.ended_at - occurrence.started_at).total_seconds())}"
    late = Piece(started_late(occurrence), Tone.WARN)
    return [_labelled("ran", Piece(started), late, Piece(took), Piece(f" · {tries}", Tone.QUIET))]


def _counts_pieces(occurrence: Occurrence) -> Sequence[Piece]:
    counts = occurrence.items
    told = [
        Piece(f"✗ {counts.failed:,} failed" if counts.failed else "", Tone.BAD),
        Piece(f"✓ {counts.done:,} done" if counts.done else "", Tone.GOOD),
        Piece(f"– {counts.refused:,} refused" if counts.refused else "", Tone.WARN),
        Piece(f"{counts.unfinished:,} without an outcome" if counts.unfinished else ""),
    ]
    pieces = joined(told)
    left = left_text(occurrence)
    return (*pieces, Piece(f"{' · ' if pieces and left else ''}{left}", Tone.QUIET))


def left_text(occurrence: Occurrence) -> str:
    """What is to say of the selection beside the counts: `more to select`; empty where it came to its end."""
    counts, ended = occurrence.items, occurrence.state.ended
    some = counts.done + counts.refused + counts.failed + counts.unfinished > 0
    if counts.selected_all or (ended and not some):
        return "" if some else "none was selected"
    if not some and occurrence.started_at is None:
        return "selected once it starts"
    return "not all were selected" if ended else "more to select"


def _labelled(label: str, *pieces: Piece) -> Line:
    return (Piece(f"{label} ".ljust(LABEL), Tone.QUIET), *pieces)
