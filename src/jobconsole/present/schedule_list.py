"""Owns how the list of schedules is written: its columns, its rows, its heading. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined, plain, width_of
from jobconsole.present.queues import WIDE
from jobconsole.present.schedules import (
    MONEY_SIGN,
    STANDINGS,
    STRIP_MOST,
    URGENT,
    At,
    disabled_text,
    next_words,
    signs,
)
from jobcontract.states import Moves, OccurrenceState, ScheduleStanding

if TYPE_CHECKING:
    from jobcontract.schedules import Recent, Schedule, Schedules


def strip_of(width: int) -> int:
    """Most cells that the last outcomes have in the list on a screen of `width` cells; from `WIDE` on the detail stands
    beside the list."""
    least, spare = (8, (width - 80) // 2) if width < WIDE else (10, width - 140)
    return min(STRIP_MOST, least + max(0, spare))


def schedules_columns(strip: int = STRIP_MOST) -> tuple[Column, ...]:
    """The columns of the list; the rhythm, which the detail tells in full, is the one that is cut. `strip`: cells that
    the last outcomes have at most. The state takes what is left: who disabled it and why stands there."""
    return (
        Column(id="name", label="schedule", least=8, uncut=True, most=34, yields=5),
        Column(id="rhythm", label="rhythm", least=10, most=24, yields=1),
        Column(id="next", label="next", least=6, uncut=True, most=14, yields=4),
        Column(id="last", label="last", least=min(8, strip), most=strip, right=True, yields=3),
        Column(id="state", label="state", least=10, yields=6),
    )


def schedules_cells(
    schedule: Schedule, at: At, room: int = STRIP_MOST, state: int | None = None
) -> Mapping[str, Piece]:
    """The cells of one schedule's row by column id; `room`: cells of the strip, `state`: of the state (None: any)."""
    word, tone = STANDINGS[schedule.standing]
    money = f" {MONEY_SIGN}" if schedule.moves is Moves.MONEY else ""
    return {
        "state": Piece(_state_text(schedule, at, state) if schedule.disabled is not None else word, tone),
        "name": Piece(f"{schedule.id}{money}", tone if schedule.standing in URGENT else Tone.STRONG),
        "rhythm": Piece(schedule.rhythm.words if schedule.rhythm is not None else "started by a person"),
        "next": Piece(next_words(schedule, at)),
        "last": Piece("".join(signs(schedule.recent, room)), _strip_tone(schedule.recent)),
    }


def _state_text(schedule: Schedule, at: At, room: int | None) -> str:
    """Of a disabled one who did it, until when and why; as much as stands whole, or at least the most of the reason."""
    if schedule.disabled is None:
        return ""
    whole = f"‖ {disabled_text(schedule.disabled, at)}"
    head = whole.partition(": ")[0]
    if room is None or width_of(head) <= room:
        return whole
    return STANDINGS[ScheduleStanding.DISABLED][0]


def _strip_tone(recent: Sequence[Recent]) -> Tone:
    ended = [each.state for each in recent if each.state.ended]
    return Tone.BAD if ended and ended[-1] is OccurrenceState.DEAD_LETTER else Tone.PLAIN


def schedules_title(
    page: Schedules | None, rows: Sequence[Schedule], urgent: Schedule | None, key: str, width: int
) -> Line:
    """`Schedules 14 · 1 late · 7 dead letters · u most urgent: payouts.rescore`, as much of it as fits whole; dead letters
    are those of the rows that were read."""
    if page is None:
        return (Piece("Schedules", Tone.STRONG),)
    told = [
        Piece(f"Schedules {page.total:,}", Tone.STRONG),
        Piece(f"{page.late:,} late" if page.late else "", Tone.WARN),
        Piece(f"{page.parked:,} parked" if page.parked else "", Tone.BAD),
        Piece(f"{page.disabled:,} disabled" if page.disabled else "", Tone.WARN),
    ]
    dead = sum(each.dead for each in rows)
    if dead:
        told.append(Piece(f"{dead:,} dead {'letter' if dead == 1 else 'letters'}", Tone.BAD))
    named = Piece(f"{key} most urgent: {urgent.id}" if urgent is not None else "", Tone.QUIET)
    if page.total and not (page.late or page.parked or page.disabled or dead or urgent is not None):
        told.append(Piece("none late, parked or retrying", Tone.GOOD))
    whole = joined([*told, named])
    if dead and width_of(plain(whole)) > width:  # the most urgent one is worth more than a whole word
        whole = joined([*told[:-1], Piece(f"{dead:,} dead", Tone.BAD), named])
    return whole if width_of(plain(whole)) <= width else joined(told)
