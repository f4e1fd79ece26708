"""Owns how *why is it not running?* is written: one sentence, the causes with their evidence and what to do, then what was
checked and is not the cause. Pure; the service ranks the causes, no time is computed here but ages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.schedules import At
from jobconsole.present.times import ago, both
from jobcontract.operating import WhyKind

if TYPE_CHECKING:
    from jobcontract.why import Cause, Evidence, Why

LABEL = 14
"""Cells before the value of a piece of evidence."""
KINDS: Mapping[WhyKind, str] = {
    WhyKind.RUNNING: "it runs",
    WhyKind.ENDED: "it has ended",
    WhyKind.CANCELLED: "cancelled by a person",
    WhyKind.TENANT_STOPPED: "the tenant is stopped",
    WhyKind.DISABLED: "disabled",
    WhyKind.RETIRED: "not in the records any more",
    WhyKind.ELSEWHERE: "runs elsewhere",
    WhyKind.PARKED: "parked",
    WhyKind.UNPLANNED: "not planned yet",
    WhyKind.SKIPPED: "left out by a policy",
    WhyKind.MISSED: "missed",
    WhyKind.NO_WORKER: "no Worker takes work",
    WhyKind.LOCK_HELD: "another one holds its lock",
    WhyKind.BACKING_OFF: "waits for its next attempt",
    WhyKind.WORKERS_FULL: "every slot is taken",
    WhyKind.NOT_DUE: "not due yet",
    WhyKind.MANUAL: "started by a person alone",
}
"""What each cause is, in two to five words."""
CALM = frozenset({WhyKind.RUNNING, WhyKind.NOT_DUE, WhyKind.ENDED, WhyKind.MANUAL})
"""Causes that are as it should be."""
COMMANDS: Mapping[WhyKind, str] = {
    WhyKind.ENDED: "occurrence.replay",
    WhyKind.CANCELLED: "occurrence.replay",
    WhyKind.TENANT_STOPPED: "stop.list",
    WhyKind.DISABLED: "schedule.enable",
    WhyKind.MANUAL: "schedule.run",
    WhyKind.SKIPPED: "schedule.simulate",
    WhyKind.MISSED: "schedule.simulate",
    WhyKind.PARKED: "schedule.simulate",
    WhyKind.RETIRED: "runbook.show",
}
"""Which command that can be run from there does what the remedy says, or leads to it."""
PLACES: Mapping[WhyKind, str] = dict.fromkeys(
    (WhyKind.NO_WORKER, WhyKind.WORKERS_FULL, WhyKind.UNPLANNED, WhyKind.RUNNING, WhyKind.LOCK_HELD),
    "6 shows the Workers",
)
"""Where the remedy is; the key is the place's, which no keymap changes."""


def why_lines(why: Why, at: At, keys: Mapping[str, str]) -> list[Line]:
    """The whole answer. `keys`: for a command id what to press and what that does, of those that can be run now."""
    causes = [each for each in why.causes if each.applies]
    first = causes[0] if causes else None
    tone = Tone.STRONG if first is None or first.kind in CALM else Tone.WARN
    lines: list[Line] = [(Piece(why.sentence, tone),)]
    if why.occurrence is not None and why.occurrence != why.subject:
        lines.append((Piece("about ", Tone.QUIET), Piece(why.occurrence)))
    for cause in causes:
        lines += [(), *cause_lines(cause, at, keys, alone=cause.sentence == why.sentence)]
    others = [each for each in why.causes if not each.applies]
    if others:
        lines += [(), (Piece(f"Checked, and not the cause ({len(others)}):", Tone.QUIET),)]
        lines += [(Piece("  · ", Tone.QUIET), Piece(_checked(each.sentence), Tone.QUIET)) for each in others]
    return lines


def cause_lines(cause: Cause, at: At, keys: Mapping[str, str], *, alone: bool = False) -> list[Line]:
    """One cause that applies: its sentence, the evidence, what a person can do."""
    calm = cause.kind in CALM
    mark, tone, words = "●" if calm else "▲", Tone.GOOD if calm else Tone.WARN, KINDS[cause.kind]
    if alone:
        head: Line = (Piece(f"{mark} {words}", tone),)
    elif words.casefold() in cause.sentence.casefold():  # said once
        head = (Piece(f"{mark} ", tone), Piece(cause.sentence))
    else:
        head = (Piece(f"{mark} {words}", tone), Piece(f": {cause.sentence}"))
    lines: list[Line] = [head, *(_evidence_line(each, at) for each in cause.evidence)]
    key = keys.get(COMMANDS.get(cause.kind, ""), "") or PLACES.get(cause.kind, "")
    if cause.remedy or key:
        told = [Piece(cause.remedy)] if cause.remedy else []
        lines.append(
            (_label("what to do"), *told, *([Piece(f"{' ' if told else ''}{key}.", Tone.MINE)] if key else []))
        )
    return lines


def _checked(sentence: str) -> str:
    """What was found, without the word that stands above all of them."""
    found = sentence.removeprefix("Checked: ")
    return found[:1].upper() + found[1:]


def _evidence_line(evidence: Evidence, at: At) -> Line:
    when = f"{both(evidence.at, at.zone)}, {ago(evidence.at, at.now)}" if evidence.at is not None else ""
    gap = " · " if evidence.value and when else ""
    return (_label(evidence.label), Piece(evidence.value), Piece(f"{gap}{when}", Tone.QUIET))


def _label(text: str) -> Piece:
    return Piece(f"  {text} ".ljust(LABEL), Tone.QUIET)
