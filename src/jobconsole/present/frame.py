"""Owns what the top and the bottom line of every screen say, fitted to a width in cells. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from jobconsole.commands.command import Command
from jobconsole.commands.keymap import Keymap, shown
from jobconsole.present.link import SIGNS, STYLES, Link, words
from jobconsole.present.text import line

MOST_KEYS = 7
"""Most keys of the key line; the rest is behind `?`."""
NARROW = 60
"""Below this many cells the marks are said as short as they can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Who looks at what: the left part of the top line."""

    profile: str
    production: bool = False
    read_only: bool = False
    tenant: str = ""
    person: str = ""
    role: str = ""
    zone: tzinfo = UTC
    stopped: str = ""
    """Who stopped all money of the tenant, when and why; empty while it moves."""
    plan: str = ""
    """How far a live plan of the person is; empty where there is none."""
    alarms: str = ""
    """How many alarms nobody looks after; empty where there is none."""


def top_line(frame: Frame, link: Link, now: float, width: int) -> Content:
    """Profile, tenant, person and role at the left; the link at the right. The marks and the link are never cut; a
    live plan stands before the link where there is room."""
    right = f"{SIGNS[link.state]} {words(link, now, frame.zone)}"
    marks = _marks(frame, narrow=width < NARROW)
    marks_width = sum(cell_len(mark) + 1 for mark, _ in marks)
    if cell_len(right) + marks_width + 24 > width:
        right = f"{SIGNS[link.state]} {words(link, now, frame.zone, short=True)}"
    plan = line(frame.plan)
    plan = f"{plan}   " if plan and cell_len(right) + marks_width + cell_len(plan) + 27 <= width else ""
    alarms = f"{frame.alarms}   " if frame.alarms else ""
    if cell_len(alarms + plan + right) + marks_width + 27 > width:
        alarms = ""
    room = max(0, width - cell_len(alarms + plan + right) - marks_width - 4)
    left = fit(_who(frame, room), room)
    parts: list[Content | str | tuple[str, str]] = [" "]
    for mark, style in marks:
        parts.extend(((mark, style), " "))
    parts.append((left, "bold"))
    used = 1 + marks_width + cell_len(left)
    parts.append(" " * max(1, width - used - cell_len(alarms + plan + right) - 1))
    parts.append((alarms, "bold $text-warning"))
    parts.append((plan, "bold $text-primary"))
    parts.append((right, STYLES.get(link.state, "$text-muted")))
    return Content.assemble(*parts)


def key_line(hints: Sequence[tuple[Command, bool]], keymap: Keymap, width: int) -> Content:
    """Key and word of each command, as many as fit; the last (help) always. One that is not possible now is struck
    through and grey."""
    keyed = [
        (shown(keys[0]), command.hint, on) for command, on in hints if (keys := keymap.get(command.id, command.keys))
    ]
    room = width - 1
    kept: list[tuple[str, str, bool]] = []
    for key, word, possible in [*keyed[-1:], *keyed[:-1]]:
        cells = cell_len(key) + 1 + cell_len(word) + (3 if kept else 0)
        if cells <= room and len(kept) < MOST_KEYS:
            room -= cells
            kept.append((key, word, possible))
    parts: list[Content | str | tuple[str, str]] = [" "]
    for key, word, possible in [*kept[1:], *kept[:1]]:
        parts.append("" if len(parts) == 1 else " · ")
        parts.append((key, "bold $accent" if possible else "$text-disabled"))
        parts.append((f" {word}", "" if possible else "strike $text-disabled"))
    return Content.assemble(*parts)


def fit(text: str, room: int) -> str:
    """`text` in at most `room` cells, with an ellipsis where it was cut; widths are cells, never characters."""
    text = line(text)
    if cell_len(text) <= room:
        return text
    return set_cell_size(text, room - 1).rstrip() + "…" if room > 1 else ""


def _marks(frame: Frame, *, narrow: bool) -> list[tuple[str, str]]:
    marks: list[tuple[str, str]] = []
    if frame.production:
        marks.append(("PROD" if narrow else " PRODUCTION ", "bold $text on $error"))
    if frame.read_only:
        marks.append(("READ-ONLY" if narrow else " READ-ONLY ", "bold $text on $warning"))
    return marks


def _who(frame: Frame, room: int) -> str:
    person = f"{frame.person} ({frame.role})" if frame.role else frame.person
    whole = "  ".join(part for part in (frame.profile, " · ".join(p for p in (frame.tenant, person) if p)) if part)
    if cell_len(line(whole)) <= room:
        return whole
    return " · ".join(part for part in (frame.tenant, frame.person) if part) or frame.profile
