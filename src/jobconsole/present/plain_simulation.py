"""Owns plain aligned text about a simulated schedule for its headless twin. Pure; never cuts a value.

Every instant stands in UTC, on the clock of the schedule's zone where it has one, and on the reader's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from jobconsole.present.plain import pairs, table
from jobconsole.present.text import line
from jobconsole.present.times import local, utc
from jobcontract.operating import Fate
from jobcontract.simulation import Course, SimulatedInstant, Simulation

FATES: Mapping[Fate, str] = {
    Fate.FIRES: "runs",
    Fate.MADE_UP: "made up for",
    Fate.SKIPPED: "skipped",
    Fate.MERGED: "merged",
    Fate.GAP: "left out: skipped by the clock",
    Fate.REPEAT_LEFT: "left out: repeated by the clock",
}
"""What becomes of an instant, in words."""


def simulation_lines(simulation: Simulation, zone: tzinfo) -> list[str]:
    """The course by the record, and the one by the edit with what is different."""
    head = pairs(
        (
            ("schedule", simulation.schedule),
            ("from", f"{utc(simulation.since)} ({local(simulation.since, zone)})"),
            ("to", f"{utc(simulation.until)} ({local(simulation.until, zone)}), not included"),
            ("zone", f"{simulation.zone} (tzdata {simulation.tzdata})"),
        )
    )
    lines = [*head, "", *course_lines("as it is", simulation.current, (), zone)]
    if simulation.edited is not None:
        marked = [each.isoformat() for each in simulation.differs]
        lines += ["", *course_lines("edited", simulation.edited, marked, zone), "", line(simulation.words)]
    return lines


def course_lines(name: str, course: Course, differs: Sequence[str], zone: tzinfo) -> list[str]:
    """One course: its rhythm and policy, how many instants have which fate, and a line an instant."""
    counts = ", ".join(f"{each.count:,} {FATES[each.fate]}" for each in course.counts) or "no instant"
    head = pairs(((name, course.rhythm), ("missed", course.misfire or None), ("in all", counts)))
    heads = ("", "instant", "count", "its clock", "on your clock", "what becomes of it", "starts", "why")
    rows = [_row(each, "≠" if each.at.isoformat() in differs else "", zone) for each in course.instants]
    more = [] if course.whole else ["There are more than are listed; the counts are over all of them."]
    return [*head, *(table(heads, rows, right=(2,)) if rows else []), *more]


def _row(each: SimulatedInstant, mark: str, zone: tzinfo) -> tuple[str, ...]:
    many = each.count > 1 and each.last_at != each.at
    clock = (
        "" if each.local is None else f"{each.local:%a %H:%M:%S}{f' {each.abbreviation}' if each.abbreviation else ''}"
    )
    fate = FATES[each.fate]
    if each.merged_into is not None:
        fate = f"{fate} into {utc(each.merged_into)}"
    return (
        mark,
        f"{utc(each.at)} to {utc(each.last_at)}" if many else utc(each.at),
        f"{each.count:,}" if each.count > 1 else "",
        clock,
        local(each.at, zone),
        fate,
        "" if each.runs_at is None or each.runs_at == each.at else utc(each.runs_at),
        each.words,
    )
