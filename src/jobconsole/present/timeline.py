"""Owns how the timeline of an incident is written: rows, the stretch as a form, and the whole as Markdown for a report.
Pure; needs no client.

In Markdown every text of the service is escaped: nothing of it becomes a link, a heading or HTML where it is pasted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined, plain, width_of
from jobconsole.present.line_fields import LineField, Unfit, instant_in, typed_instant
from jobconsole.present.text import line
from jobconsole.present.times import both, brief_span, local, utc
from jobcontract.operating import TimelineKind

if TYPE_CHECKING:
    from jobconsole.present.schedules import At
    from jobcontract.timeline import TimelineEntry

DAYS_MOST = 31
USUAL = timedelta(hours=12)
"""How far back a timeline begins where nobody says."""
KINDS: Mapping[TimelineKind, tuple[str, Tone]] = {
    TimelineKind.ACT: ("› act", Tone.PLAIN),
    TimelineKind.OCCURRENCE: ("✗ run", Tone.BAD),
    TimelineKind.SKIP: ("△ skip", Tone.WARN),
    TimelineKind.LEASE: ("◌ lease", Tone.WARN),
    TimelineKind.SCHEDULE: ("‖ schedule", Tone.WARN),
    TimelineKind.WORKER: ("◆ worker", Tone.QUIET),
    TimelineKind.STOP: ("■ stop", Tone.BAD),
    TimelineKind.ALARM: ("▲ alarm", Tone.WARN),
    TimelineKind.PLAN: ("¤ plan", Tone.PLAIN),
    TimelineKind.RECOVERY: ("↻ recovery", Tone.PLAIN),
    TimelineKind.JOB: ("✗ job", Tone.BAD),
}
"""Sign and word of each kind."""
FIELDS = (
    LineField(name="from", label="from", hint="2026-12-01 22:00 · yesterday 22:00 · -12h"),
    LineField(name="to", label="to", hint="before then: 2026-12-02 08:00 · -1h; empty: now"),
    LineField(
        name="kinds", label="only", hint="act occurrence skip lease schedule worker stop alarm plan recovery job"
    ),
)
_MARKED = re.compile(r"[\\`*_{}\[\]<>#|~&@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
"""What Markdown, or a page that shows it, could take for more than text; without them an address is no link either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What of the past is told: from `since` on, before `until`, of these kinds (empty: all)."""

    since: datetime
    until: datetime
    kinds: tuple[TimelineKind, ...] = ()


def usual(at: At) -> Stretch:
    """The last twelve hours."""
    return Stretch(since=at.now - USUAL, until=at.now)


def typed_stretch(stretch: Stretch, at: At) -> Mapping[str, str]:
    """What stands in the form for a stretch."""
    return {
        "from": typed_instant(stretch.since, at),
        "to": typed_instant(stretch.until, at),
        "kinds": " ".join(kind.value for kind in stretch.kinds),
    }


def read_stretch(typed: Mapping[str, str], at: At) -> Stretch:
    """The stretch that was typed; Unfit names the field that cannot be read."""
    since = instant_in(typed, "from", at)
    until = instant_in(typed, "to", at) or at.now
    if since is None:
        raise Unfit("from", "It needs a beginning, like -12h or yesterday 22:00.")
    if until <= since:
        raise Unfit("to", "That is not later than from: nothing is in between.")
    if until - since > timedelta(days=DAYS_MOST):
        raise Unfit("from", f"A timeline is of {DAYS_MOST} days at most.")
    return Stretch(since=since, until=until, kinds=_kinds(typed.get("kinds", "")))


def _kinds(text: str) -> tuple[TimelineKind, ...]:
    words = text.replace(",", " ").split()
    known = {kind.value: kind for kind in TimelineKind}
    unknown = next((word for word in words if word not in known), None)
    if unknown is not None:
        raise Unfit("kinds", f"{unknown} is no kind. It takes: {' '.join(known)}.")
    return tuple(known[word] for word in dict.fromkeys(words))


def next_kinds(kinds: tuple[TimelineKind, ...]) -> tuple[TimelineKind, ...]:
    """The filter after this one: all, then each kind alone, then all again."""
    order = list(TimelineKind)
    if not kinds:
        return (order[0],)
    place = order.index(kinds[0]) + 1
    return (order[place],) if place < len(order) else ()


def timeline_title(stretch: Stretch, rows: int, *, more: bool, at: At, width: int) -> Line:
    """`Timeline · 12 h until … · 40 read, there is more · alarm only`, as much of it as fits."""
    kinds = f"{' '.join(kind.value for kind in stretch.kinds)} only" if stretch.kinds else ""
    length = brief_span((stretch.until - stretch.since).total_seconds())
    told = [
        Piece("Timeline", Tone.STRONG),
        Piece(f"{length} from {local(stretch.since, at.zone)}"),
        Piece(kinds, Tone.WARN),
        Piece(f"{rows:,} read, there is more" if more else f"{rows:,} told", Tone.QUIET),
    ]
    while width_of(plain(joined(told))) > width and len(told) > 2:
        told.pop()
    return joined(told)


def timeline_columns() -> tuple[Column, ...]:
    """The columns of a timeline."""
    return (
        Column(id="at", label="when", least=8, whole=True),
        Column(id="kind", label="about", least=6, uncut=True, most=11, yields=4),
        Column(id="subject", label="what", least=12, most=42, yields=3),
        Column(id="sentence", label="happened", least=30, yields=5),
    )


def timeline_cells(entry: TimelineEntry, at: At, *, days: bool) -> Mapping[str, Piece]:
    """The cells of one entry's row; `days`: the stretch is of more than one day."""
    word, tone = KINDS[entry.kind]
    there = entry.at.astimezone(at.zone)
    when = f"{there.day} {there:%b %H:%M:%S}" if days else f"{there:%H:%M:%S}"
    return {
        "at": Piece(when, Tone.QUIET),
        "kind": Piece(word, tone),
        "subject": Piece(entry.subject, Tone.STRONG),
        "sentence": Piece(entry.sentence),
    }


def several_days(stretch: Stretch, zone: tzinfo) -> bool:
    """Whether the stretch touches more than one day of the reader."""
    return stretch.since.astimezone(zone).date() != stretch.until.astimezone(zone).date()


def timeline_lines(entry: TimelineEntry, at: At) -> list[Line]:
    """One entry in full."""
    word, tone = KINDS[entry.kind]
    return [
        joined((Piece(word, tone), Piece(entry.subject, Tone.STRONG), Piece(both(entry.at, at.zone), Tone.QUIET))),
        (Piece(entry.sentence),),
    ]


def plain_timeline(entries: Sequence[TimelineEntry], zone: tzinfo) -> list[str]:
    """Plain lines for the headless twin: instant in UTC, kind, what, what happened."""
    return [
        f"{utc(each.at)}  {each.kind.value:<10}  {line(each.subject)}  {line(each.sentence)}" for each in entries
    ] or [f"Nothing happened then, that is told of ({zone})."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Who made the report, when, and of which tenant."""

    tenant: str
    person: str
    at: datetime
    zone: tzinfo


def markdown(entries: Sequence[TimelineEntry], stretch: Stretch, made: Made) -> str:
    """The timeline as Markdown: title, stretch, who made it, counts by kind, a table a day. Instants stand in UTC and in the
    reader's zone, which is named; once where that is UTC."""
    zone = escaped(str(made.zone))
    counts = Counter(entry.kind for entry in entries)
    told = ", ".join(f"{counts[kind]:,} {kind.value}" for kind in TimelineKind if counts[kind]) or "nothing"
    same = str(made.zone) == "UTC"
    there = "" if same else f" ({local(stretch.since, made.zone)} until {local(stretch.until, made.zone)})"
    only = f" Only: {', '.join(kind.value for kind in stretch.kinds)}." if stretch.kinds else ""
    parts = [
        f"# Timeline of {escaped(made.tenant)}",
        "",
        f"From {utc(stretch.since)} until {utc(stretch.until)}{there}.{only}",
        "",
        f"Made by {escaped(made.person)} at {utc(made.at)}. Times are in UTC{'' if same else f' and in {zone}'}.",
        "",
        f"{len(entries):,} entries: {told}.",
    ]
    columns = ("UTC", *(() if same else (zone,)), "about", "what", "happened")
    day = None
    for entry in entries:
        today = entry.at.astimezone(UTC).date()
        if today != day:
            day = today
            parts += ["", f"## {today:%A %Y-%m-%d} (UTC)", "", f"| {' | '.join(columns)} |"]
            parts.append(f"|{'---|' * len(columns)}")
        cells = (
            f"{entry.at.astimezone(UTC):%H:%M:%S}",
            *(() if same else (f"{entry.at.astimezone(made.zone):%a %H:%M:%S}",)),
            entry.kind.value,
            escaped(entry.subject),
            escaped(entry.sentence),
        )
        parts.append(f"| {' | '.join(cells)} |")
    return "\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """A text of the service as Markdown that shows it, in one line, and does nothing else."""
    return _MARKED.sub(r"\\\g<0>", line(text))


def file_stem(stretch: Stretch) -> str:
    """`timeline-20261130-2200z-20261201-0800z`: what a file of it is called."""
    first, last = stretch.since.astimezone(UTC), stretch.until.astimezone(UTC)
    return f"timeline-{first:%Y%m%d-%H%M}z-{last:%Y%m%d-%H%M}z"
