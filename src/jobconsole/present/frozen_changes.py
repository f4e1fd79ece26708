"""Owns how it is said that what was frozen, a plan or a recovery, is not what is there any more. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.plans import counted

if TYPE_CHECKING:
    from jobcontract.plans import PlanChange

SHOWN_CHANGES = 12
"""Most changed rows that a dialog lists; the rest are counted."""


def change_lines(changes: Sequence[PlanChange], frozen: str, then: str) -> list[Line]:
    """One line a field, before and now; then what that means and what to do. `frozen`: what changed, `the plan`."""
    rows = len({change.number for change in changes})
    lines: list[Line] = [(Piece(f"▲ {counted(rows, 'row')} changed since {frozen} was frozen:", Tone.WARN),)]
    for change in changes[:SHOWN_CHANGES]:
        lines.append(
            (
                Piece(f"{change.number:,} {change.field}  ", Tone.QUIET),
                Piece(change.before or "nothing", Tone.QUIET),
                Piece(" → ", Tone.QUIET),
                Piece(change.after or "nothing", Tone.STRONG),
                Piece(f"  {change.title}", Tone.QUIET),
            )
        )
    if len(changes) > SHOWN_CHANGES:
        lines.append((Piece(f"and {len(changes) - SHOWN_CHANGES:,} more", Tone.QUIET),))
    return [*lines, (Piece(then),)]
