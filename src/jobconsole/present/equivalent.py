"""Owns the headless command that does what a dialog does, filled in with what was typed. Pure; runs nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from jobconsole.present.columns import Line, Piece, Tone

UNSAID = "…"
"""Stands for what was not typed yet."""


def equivalent(
    words: Sequence[str], options: Mapping[str, str | None], *, where: Mapping[str, str] | None = None
) -> str:
    """`jobconsole occurrences replay NAME --reason 'the bank is back'`: every word quoted as a shell takes it.

    An option of None is left out, an empty one stands as a gap. `where`: options that say in which profile and tenant.
    """
    parts = ["jobconsole", *(shlex.quote(word) for word in words)]
    for name, value in {**options, **(where or {})}.items():
        if value is not None:
            parts += [f"--{name}", shlex.quote(value) if value.strip() else UNSAID]
    return " ".join(parts)


def typed_instant(instant: datetime | None) -> str | None:
    """An instant as every option takes it, whatever the profile's zone is: `2026-12-01T09:00:00Z`."""
    return (
        None if instant is None else instant.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    )


def equivalent_lines(command: str) -> list[Line]:
    """The command as a dialog shows it, with the key that copies it."""
    return [
        (Piece("the same without a screen, ^c copies it:", Tone.QUIET),),
        (Piece("$ ", Tone.QUIET), Piece(command)),
    ]
