"""Owns how a refusal is said where something was to be done. Pure. The sentence is the service's; it is data."""

from __future__ import annotations

from collections.abc import Iterable

from jobconsole.present.columns import Line, Piece, Tone

SHOWN_CHANGES = 8
"""Most changes that a dialog lists; the rest are counted."""


def refusal_sentence(sentence: str, reference: str | None = None) -> str:
    """The service's sentence, with the reference to give to an engineer where there is one."""
    return f"{sentence} Reference {reference}." if reference else sentence


def change_lines(changes: Iterable[tuple[str, str, str]]) -> list[Line]:
    """What changed since the item was on the screen: one line a field, before and after."""
    listed = list(changes)
    lines: list[Line] = [(Piece("▲ Changed since you looked:", Tone.WARN),)]
    for name, before, after in listed[:SHOWN_CHANGES]:
        moved = (
            Piece(before or "nothing", Tone.QUIET),
            Piece(" → ", Tone.QUIET),
            Piece(after or "nothing", Tone.STRONG),
        )
        lines.append((Piece(f"  {name:<12} ", Tone.QUIET), *moved))
    if len(listed) > SHOWN_CHANGES:
        lines.append((Piece(f"  and {len(listed) - SHOWN_CHANGES} more", Tone.QUIET),))
    return lines
