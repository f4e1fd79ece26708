"""Owns how the attempts at an occurrence are written, with the late writes that were refused, and the items of its run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone
from jobconsole.present.occurrences import CAUSES, SHORT_ID, STATES, host_text, times_text
from jobconsole.present.schedules import At, utc_text
from jobconsole.present.times import both, brief_span, lasted
from jobcontract.states import AttemptEnding, OutcomeKind

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.occurrences import Attempt, Lease, Occurrence, OccurrenceItem, RefusedCompletion, Replay

ENDINGS: Mapping[AttemptEnding, tuple[str, Tone]] = {
    AttemptEnding.COMPLETED: ("✓ completed", Tone.GOOD),
    AttemptEnding.RETRY: ("◌ to be retried", Tone.WARN),
    AttemptEnding.FAILED: ("✗ failed", Tone.BAD),
    AttemptEnding.OVER_BOUND: ("✗ over its bound", Tone.BAD),
    AttemptEnding.CANCELLED: ("– cancelled", Tone.WARN),
    AttemptEnding.LOST: ("✗ Worker lost", Tone.BAD),
    AttemptEnding.HANDED_BACK: ("– handed back", Tone.QUIET),
}
RUNS_NOW = ("◆ holds it now", Tone.MINE)
REFUSED_LATE = ("! late, refused", Tone.WARN)
REPLAYED = "↻ replay"
OUTCOMES: Mapping[OutcomeKind | None, tuple[str, Tone]] = {
    OutcomeKind.DONE: ("✓ done", Tone.GOOD),
    OutcomeKind.REFUSED: ("– refused", Tone.WARN),
    OutcomeKind.RETRY: ("◌ to be retried", Tone.WARN),
    OutcomeKind.FAILED: ("✗ failed", Tone.BAD),
    OutcomeKind.UNCERTAIN: ("? uncertain", Tone.WARN),
    None: ("· no outcome", Tone.QUIET),
}


# Attempts


def attempts_columns() -> tuple[Column, ...]:
    """The columns of the attempts: a line for each holder of its lease, and each late write that was refused."""
    return (
        Column(id="attempt", label="try", least=3, right=True, whole=True),
        Column(id="ending", label="how it ended", least=14, whole=True),
        Column(id="fence", label="fence", least=5, right=True, whole=True),
        Column(id="worker", label="Worker", least=8, uncut=True, most=8, yields=5),
        Column(id="host", label="host", least=6, uncut=True, most=18, yields=2),
        Column(id="taken", label="taken", least=9, uncut=True, most=20, yields=4),
        Column(id="lasted", label="lasted", least=6, uncut=True, most=12, yields=3),
        Column(id="renewed", label="renewed", least=7, right=True, uncut=True, most=9, yields=3),
        Column(id="error", label="", least=8, yields=1),
    )


def attempt_cells(attempt: Attempt) -> Mapping[str, Piece]:
    """The cells of one attempt that ended."""
    word, tone = ENDINGS[attempt.ending]
    began = attempt.started_at or attempt.taken_at
    return {
        "attempt": Piece(f"{attempt.attempt:,}"),
        "ending": Piece(word, tone),
        "fence": Piece(f"{attempt.fence:,}"),
        "worker": Piece(attempt.worker[:SHORT_ID]),
        "host": Piece(attempt.host),
        "taken": Piece(_clock(attempt.taken_at)),
        "lasted": Piece(lasted((attempt.ended_at - began).total_seconds())),
        "renewed": Piece(f"{attempt.renewals:,}"),
        "error": Piece(attempt.error or ""),
    }


def holder_cells(attempts: int, lease: Lease, at: At) -> Mapping[str, Piece]:
    """The cells of the attempt that runs now, which is number `attempts`."""
    word, tone = RUNS_NOW
    return {
        "attempt": Piece(f"{attempts:,}"),
        "ending": Piece(word, tone),
        "fence": Piece(f"{lease.fence:,}"),
        "worker": Piece(lease.worker[:SHORT_ID]),
        "host": Piece(lease.host),
        "taken": Piece(_clock(lease.taken_at)),
        "lasted": Piece(brief_span((at.now - lease.taken_at).total_seconds())),
        "renewed": Piece(f"{lease.renewals:,}"),
    }


def refused_cells(refused: RefusedCompletion) -> Mapping[str, Piece]:
    """The cells of a late write that was refused: it came under a lease that was not its Worker's any more."""
    word, tone = REFUSED_LATE
    return {
        "ending": Piece(word, tone),
        "fence": Piece(f"{refused.fence:,}"),
        "worker": Piece(refused.worker[:SHORT_ID]),
        "host": Piece(refused.host),
        "taken": Piece(_clock(refused.at)),
        "error": Piece(refused.what),
    }


def replay_cells(replay: Replay) -> Mapping[str, Piece]:
    """The cells of a replay, which parts one course from the next; who and why: `replay_text`."""
    return {
        "ending": Piece(f"{REPLAYED} {replay.replay:,}", Tone.MINE),
        "taken": Piece(_clock(replay.at)),
    }


def replay_text(replay: Replay) -> str:
    """`replayed by o.lind 12:04Z in pine-7: "bank is back"`."""
    plan = f" in {replay.recovery}" if replay.recovery is not None else ""
    return f'replayed by {replay.person.id} {_clock(replay.at)}{plan}: "{replay.reason}"'


def replayed_lines(replay: Replay, at: At) -> list[Line]:
    """A replay in full: by whom, when, why, and how it had ended before."""
    cause = f", {CAUSES[replay.cause_before]}" if replay.cause_before is not None else ""
    tries = f"{replay.attempts_before:,} {'attempt' if replay.attempts_before == 1 else 'attempts'}"
    again = f"{replay.not_done:,} {'item' if replay.not_done == 1 else 'items'} ran again"
    plan = f" · in recovery {replay.recovery}" if replay.recovery is not None else ""
    who = f" · {replay.person.name} ({replay.person.id}) · {both(replay.at, at.zone)}{plan}"
    before = f"Before: {STATES[replay.state_before][0]}{cause}, {both(replay.ended_before, at.zone)}, after {tries}; {again}."
    return [
        (Piece(f"{REPLAYED} {replay.replay:,}", Tone.MINE), Piece(who)),
        (Piece(f'"{replay.reason}"'),),
        (Piece(before, Tone.QUIET),),
    ]


def _clock(instant: datetime) -> str:
    return utc_text(instant.replace(microsecond=0)).partition(" ")[2]


def attempt_lines(attempt: Attempt, at: At) -> list[Line]:
    """One attempt in full: when, by whom, under which fence, and its error."""
    word, tone = ENDINGS[attempt.ending]
    started = f" · started {_clock(attempt.started_at)}" if attempt.started_at is not None else " · never started"
    told = (
        f" · fence {attempt.fence:,} · taken {both(attempt.taken_at, at.zone)}{started} · ended {_clock(attempt.ended_at)}"
        f" · renewed {times_text(attempt.renewals) if attempt.renewals else 'never'}"
    )
    return [
        (Piece(f"{word}", tone), Piece(f" · Worker {attempt.worker} on {host_text(attempt.host)}{told}")),
        *([(Piece(attempt.error, Tone.BAD),)] if attempt.error else []),
    ]


def holder_lines(lease: Lease, at: At) -> list[Line]:
    """The attempt that runs now in full."""
    word, tone = RUNS_NOW
    told = (
        f" · Worker {lease.worker} on {host_text(lease.host)} · fence {lease.fence:,} · taken {both(lease.taken_at, at.zone)}"
        f" · renewed {times_text(lease.renewals) if lease.renewals else 'never'} · holds it until {_clock(lease.expires_at)}"
    )
    return [(Piece(word, tone), Piece(told))]


def refused_lines(refused: RefusedCompletion, at: At) -> list[Line]:
    """One late write in full."""
    word, tone = REFUSED_LATE
    who = f" · Worker {refused.worker} on {host_text(refused.host)} · fence {refused.fence:,} · {both(refused.at, at.zone)}"
    return [
        (Piece(word, tone), Piece(who)),
        (Piece(f"{refused.what} It changed nothing: the lease was not its any more."),),
    ]


def cancel_words(occurrence: Occurrence) -> Sequence[str]:
    """What cancelling does to the occurrence as it stands."""
    if occurrence.lease is None:
        first = "It waits for its next attempt: that is" if occurrence.attempts else "It has not started: it is"
        told = [f"{first} never made."] if occurrence.attempts else [f"{first} never started."]
    else:
        told = [f"It runs on {host_text(occurrence.lease.host)}: its Worker stops it within a second."]
    if occurrence.items.done or occurrence.lease is not None:
        told.append("Items that are done stay done; the others are left.")
    return [*told, "It becomes a dead letter: no machine tries it again. Later occurrences run as planned."]


# Items


def run_lists(attempts: int, late: int, listed: int, occurrence: Occurrence, chosen: str) -> Line:
    """`3 attempts, 1 late write  [120 items]  tab  what failed first`: the lists of a run, the chosen one in brackets.

    `listed`: how many items are in the list; a run in batches lists none that went well.
    """
    counts = occurrence.items
    count = counts.done + counts.refused + counts.failed + counts.unfinished
    tried = f"{attempts:,} {'attempt' if attempts == 1 else 'attempts'}" if attempts else "no attempt yet"
    refused = f", {late:,} late {'write' if late == 1 else 'writes'}" if late else ""
    items = f"{count:,} {'item' if count == 1 else 'items'}" if count else "no items"
    pieces: list[Piece] = []
    for name, text in (("attempts", tried + refused), ("items", items)):
        here = name == chosen
        pieces += [Piece(f"[{text}]" if here else text, Tone.STRONG if here else Tone.QUIET), Piece("  ")]
    notes = "what failed first" if listed and counts.failed else ""
    if count and not listed:
        notes = "in batches: those that went well are not listed"
    return (*pieces, Piece("tab", Tone.MINE), Piece("  "), Piece(notes, Tone.QUIET))


def items_columns() -> tuple[Column, ...]:
    """The columns of the items of a run."""
    return (
        Column(id="outcome", label="outcome", least=12, whole=True),
        Column(id="number", label="#", least=3, right=True, uncut=True, most=9, yields=3),
        Column(id="key", label="item", least=8, uncut=True, most=24, yields=4),
        Column(id="label", label="what", least=10, most=22, yields=2),
        Column(id="attempts", label="tries", least=5, right=True, uncut=True, most=6, yields=2),
        Column(id="sentence", label="how it ended", least=10, yields=1),
    )


def item_cells(item: OccurrenceItem, at: At) -> Mapping[str, Piece]:
    """The cells of one item of a run."""
    word, tone = OUTCOMES[item.outcome]
    sentence = item.sentence or ""
    if item.try_at is not None and item.try_at > at.now:
        sentence = (
            f"again in {brief_span((item.try_at - at.now).total_seconds())}{f' · {sentence}' if sentence else ''}"
        )
    return {
        "outcome": Piece(word, tone),
        "number": Piece(f"{item.number:,}", Tone.QUIET),
        "key": Piece(item.key, Tone.STRONG),
        "label": Piece(item.label),
        "attempts": Piece(f"{item.attempts:,}"),
        "sentence": Piece(sentence, tone if item.outcome is OutcomeKind.FAILED else Tone.PLAIN),
    }


def item_lines(item: OccurrenceItem, at: At) -> list[Line]:
    """One item in full."""
    word, tone = OUTCOMES[item.outcome]
    ended = f" · {utc_text(item.ended_at.replace(microsecond=0))}" if item.ended_at is not None else ""
    again = f" · again {both(item.try_at, at.zone)}" if item.try_at is not None else ""
    tries = f" · {item.attempts:,} {'attempt' if item.attempts == 1 else 'attempts'}"
    return [
        (Piece(word, tone), Piece(f" · {item.key} · {item.label}{tries}{ended}{again}")),
        *([(Piece(item.sentence, tone),)] if item.sentence else []),
    ]
