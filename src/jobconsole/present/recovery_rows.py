"""Owns how the rows of a recovery are written, before it is confirmed and while it is applied, and what it leaves out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined
from jobconsole.present.jobs import STATES as JOB_STATES
from jobconsole.present.occurrences import CAUSES, STATES
from jobconsole.present.plan_progress import TURNS
from jobconsole.present.plans import counted
from jobconsole.present.recoveries import reason_words
from jobconsole.present.schedules import utc_text
from jobconsole.present.times import both
from jobcontract.job_states import JobStatus
from jobcontract.operating import LeftOut, RecoveryTarget
from jobcontract.states import Moves

if TYPE_CHECKING:
    from datetime import tzinfo

    from jobcontract.recoveries import RecoveryLeftOut, RecoveryRow

SKIPPED_WORD = ("– skipped", Tone.QUIET)
SCHEDULE_WORD = ("● schedule", Tone.PLAIN)


def not_done(row: RecoveryRow) -> int:
    """Items of the row that run again."""
    return 0 if row.items is None else row.items.refused + row.items.failed + row.items.unfinished


def undone_words(rows: Sequence[RecoveryRow]) -> str:
    """`12 items not done`, and that it may be more where an occurrence ended before it had selected all of its items."""
    left = sum(not_done(row) for row in rows)
    if all(row.items is None or row.items.selected_all for row in rows):
        return f"{counted(left, 'item')} not done"
    return f"{counted(left, 'item')} not done, not all were selected" if left else "not all items were selected"


def items_text(row: RecoveryRow) -> str:
    """`41 of 120 not done`, `120 done`, a dash where it has none."""
    items = row.items
    if items is None:
        return "–"
    whole, left = items.done + items.refused + items.failed + items.unfinished, not_done(row)
    if not whole:
        return "none" if items.selected_all else "not selected"
    return f"{left:,} of {whole:,} not done" if left else f"{whole:,} done"


def rows_columns(*, confirmed: bool, jobs: bool = False) -> tuple[Column, ...]:
    """The columns of the rows; once confirmed how each turn went stands where the state was. `jobs`: they are jobs, which
    have no items; when each was asked for stands there."""
    first = Column(id="turn" if confirmed else "state", label="turn" if confirmed else "state", least=13, whole=True)
    if jobs:
        return (
            Column(id="number", label="#", least=2, right=True, uncut=True, most=7, yields=3),
            first,
            Column(id="name", label="job", least=14, most=24, yields=5),
            Column(id="items", label="asked for", least=8, uncut=True, most=18, yields=1),
            Column(id="told", label="how it went" if confirmed else "why it failed", least=16, yields=6),
        )
    return (
        Column(id="number", label="#", least=2, right=True, uncut=True, most=7, yields=2),
        first,
        Column(id="name", label="what", least=16, uncut=True, most=48, yields=5),
        Column(
            id="items",
            label="before" if confirmed else "items",
            least=8,
            uncut=True,
            most=26,
            yields=1 if confirmed else 3,
        ),
        Column(id="told", label="how it went" if confirmed else "why it ended", least=10, yields=3 if confirmed else 1),
    )


def rows_cells(row: RecoveryRow, *, confirmed: bool) -> Mapping[str, Piece]:
    """The cells of one row by column id; once confirmed nothing is told of a turn that has not ended but its own sentence."""
    word, tone = TURNS[row.turn]
    state, state_tone = state_word(row)
    money = " ¤" if row.moves is Moves.MONEY else ""
    cause = CAUSES[row.cause] if row.cause is not None else ""
    told = row.sentence if confirmed or row.turn.ended or row.sentence else row.error or cause
    return {
        "number": Piece(f"{row.number:,}", Tone.QUIET),
        "turn": Piece(word, tone),
        "state": Piece(state, state_tone),
        "name": Piece(f"{row.name}{money}", Tone.STRONG),
        "items": Piece(_before_text(row), Tone.WARN if not_done(row) else Tone.QUIET),
        "told": Piece(told or ""),
    }


def _before_text(row: RecoveryRow) -> str:
    if row.target is RecoveryTarget.JOB and row.scheduled_at is not None:
        there = row.scheduled_at.astimezone(UTC)
        return f"{there.day} {there:%b %H:%M}Z"
    return items_text(row)


def state_word(row: RecoveryRow) -> tuple[str, Tone]:
    """Sign and word of what the row was when it was frozen."""
    if row.target is RecoveryTarget.SKIPPED_INSTANT:
        return SKIPPED_WORD
    if isinstance(row.state, JobStatus):
        return JOB_STATES[row.state]
    return SCHEDULE_WORD if row.state is None else STATES[row.state]


def row_lines(row: RecoveryRow, zone: tzinfo, *, confirmed: bool) -> list[Line]:
    """Everything of the row under the cursor: what it was, its items, how its turn went, in full."""
    word, tone = TURNS[row.turn] if confirmed else state_word(row)
    when = both(row.scheduled_at, zone) if row.scheduled_at is not None else ""
    money = Piece("moves money" if row.moves is Moves.MONEY else "", Tone.WARN)
    head = joined([Piece(word, tone), Piece(row.name, Tone.STRONG), Piece(when, Tone.QUIET), money])
    cause = CAUSES[row.cause] if row.cause is not None else ""
    items = "" if row.target is RecoveryTarget.JOB else items_text(row)
    was = joined([Piece(items), Piece(row.error or cause, Tone.BAD)])
    lines = [head, *([was] if row.items is not None or row.error else [])]
    if confirmed:
        times = [
            f"{label} {utc_text(at.replace(microsecond=0))}"
            for label, at in (("began", row.started_at), ("ended", row.ended_at))
            if at is not None
        ]
        lines.append(joined([Piece(row.sentence or "", tone), *(Piece(text, Tone.QUIET) for text in times)]))
    return [line for line in lines if line]


def left_columns() -> tuple[Column, ...]:
    """The columns of what is left out."""
    return (
        Column(id="reason", label="left out", least=14, uncut=True, most=24, yields=4),
        Column(id="name", label="what", least=16, uncut=True, most=48, yields=5),
        Column(id="sentence", label="why", least=12, yields=1),
    )


def left_cells(row: RecoveryLeftOut) -> Mapping[str, Piece]:
    """The cells of one thing that is left out."""
    tone = Tone.WARN if row.reason in (LeftOut.MONEY, LeftOut.PERMISSION) else Tone.QUIET
    return {
        "reason": Piece(reason_words(row.reason), tone),
        "name": Piece(row.name, Tone.STRONG),
        "sentence": Piece(row.sentence),
    }


def left_lines(row: RecoveryLeftOut, zone: tzinfo) -> list[Line]:
    """One thing that is left out, in full."""
    when = both(row.scheduled_at, zone) if row.scheduled_at is not None else ""
    head = joined([Piece(reason_words(row.reason), Tone.WARN), Piece(row.name, Tone.STRONG), Piece(when, Tone.QUIET)])
    return [head, (Piece(row.sentence),)]
